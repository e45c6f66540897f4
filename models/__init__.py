"""The gallery: one paper, one file; each file exports one constant, CARD (one card or a tuple of them).

Imports go one way: explorer, then layers, then training, then the files with cards. `layers` holds what networks are
built of and imports no more than the core; `training` holds tasks, losses and loops, and may know layers; a file with
a card may know both, and no other file with a card. What two cards share therefore stands in layers or training, with a
docstring, paper and equation of its own. Nothing imports in a circle. tests/structure/test_architecture.py holds all of
this.
"""
