"""Read files in a process of their own, which may crash, hang or run out of memory in a library."""
