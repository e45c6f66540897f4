"""Models: the card that a model's file exports as CARD, what a network is called with, equations it states."""

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.declare.telling.equations import Equation, Number, Term, at_step, beside, call, every, fixed, given, once
from explorer.spaces.graph.network.form import GraphInput
from explorer.spaces.grid.network.form import InputSpec
from explorer.spaces.mesh.network.form import MeshInput
from explorer.spaces.sequence.network.form import SequenceInput
from explorer.spaces.sphere.network.form import SphereInput
from explorer.spaces.volume.network.form import VolumeInput
from explorer.work.training.course import Course
from models.layers.taps import Alignment, Mark, Tap

__all__ = [
    "Alignment",
    "Card",
    "Course",
    "Equation",
    "GraphInput",
    "InputSpec",
    "Mark",
    "MeshInput",
    "Number",
    "Param",
    "SequenceInput",
    "SphereInput",
    "Tap",
    "Term",
    "VolumeInput",
    "at_step",
    "beside",
    "call",
    "every",
    "fixed",
    "given",
    "once",
]
