"""Refuse what is no model that can be made, each in one sentence."""

from __future__ import annotations


class ModelError(ValueError):
    """A model that cannot be made; one sentence, with `where`: the card, file or parameter."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(message)
        self.where = where


class Untrusted(ModelError):
    """A file of code that nobody has said may be executed."""


class Unknown(ModelError):
    """A network of which nobody knows what it takes, or of which it is said wrongly."""


class Misfit(ModelError):
    """Weights of which some fit the network and others do not."""
