"""Trials that tell how elements act on hidden tensors of which nothing is declared."""
