"""Values at the joints of a binary tree, under swaps of children: no group of shifts, and two kinds of places."""
