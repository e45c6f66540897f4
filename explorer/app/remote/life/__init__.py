"""Start a process, watch it, end it, and say how it has ended."""
