"""Readers of files: each file may export READER."""
