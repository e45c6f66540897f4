"""Recurrent layers, their state at rest, their gates, and the network around them."""
