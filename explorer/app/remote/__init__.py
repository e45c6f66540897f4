"""Run the networks of a person's own files in a process of their own, which may hang, crash or run out of memory."""
