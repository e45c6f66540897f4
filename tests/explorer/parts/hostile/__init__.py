"""Files to try readers on: accepted ones of each format, changes of them, and files that must be refused."""
