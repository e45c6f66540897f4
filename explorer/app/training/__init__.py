"""Train a card: driven step by step, kept on the disk, logged, steered from the window, resumed."""
