"""Train the network in use: a process of its own, its loss as a curve, its weights opened when it is done."""
