"""Spaces: what the program must know of one kind of data."""

from explorer.declare.space import Known, Space, space_of
from explorer.network.inputs import Inputs

__all__ = [
    "Inputs",
    "Known",
    "Space",
    "space_of",
]
