"""Run a command line in a process of its own."""
