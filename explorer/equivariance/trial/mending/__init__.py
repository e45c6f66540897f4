"""Trials in which layers give what their laws ask for."""
