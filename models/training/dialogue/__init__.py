"""Turns of dialogues for training, and how networks on them are judged."""
