"""Layers of vision transformers and of models that make images token by token."""
