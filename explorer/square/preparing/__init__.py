"""Prepare an epoch: the network, its trace, and every layer of F(x)."""
