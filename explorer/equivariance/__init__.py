"""Measure symmetry. One definition, used by the window, the command line, the tests and as a library."""
