"""Widgets of one kind of data each, as the packages of explorer/spaces; `pairs` serves graphs, sequences and images."""
