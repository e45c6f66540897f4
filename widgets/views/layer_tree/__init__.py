"""The tree of layers."""
