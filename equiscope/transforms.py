"""Group elements: what a file exports as TRANSFORM or SYMMETRY, and the elements of each kind of data."""

from explorer.declare.elements import Chain, Element, NoAction, Transform, chain_element, parse_chain
from explorer.declare.params import Param
from explorer.declare.symmetries import Situation, Symmetry
from explorer.spaces.graph.elements.relabelling import GraphMap, Word, words
from explorer.spaces.grid.elements.affine import Affine
from explorer.spaces.mesh.elements.surface_map import SurfaceMap
from explorer.spaces.mesh.elements.word import Motion, word
from explorer.spaces.sequence.elements.time_map import TimeMap

__all__ = [
    "Affine",
    "Chain",
    "Element",
    "GraphMap",
    "Motion",
    "NoAction",
    "Param",
    "Situation",
    "SurfaceMap",
    "Symmetry",
    "TimeMap",
    "Transform",
    "Word",
    "chain_element",
    "parse_chain",
    "word",
    "words",
]
