"""Hold what a network is called with, and find out what it takes."""
