"""Convolutions on grids: plain ones, on groups, on volumes."""
