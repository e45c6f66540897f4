"""Recurrent networks: one update, shared by all steps."""
