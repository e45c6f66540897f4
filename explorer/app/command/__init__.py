"""The command line: its words, its verbs, and what they write."""
