"""Greeting of a person who has never seen the program."""
