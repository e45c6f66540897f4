"""Volumes that come with the program, made when they are asked for."""
