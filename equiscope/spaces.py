"""Spaces: what a package of one's own must say of a new kind of data."""

from explorer.declare.card import Form
from explorer.declare.space import Domains, Inference, Kind, Known, Representations, Scene, Space, space_of
from explorer.declare.telling.asking import Question
from explorer.declare.types.written import Written, bare
from explorer.network.input.inputs import Inputs, from_signals
from explorer.network.input.recognise import Recognised
from explorer.square.drawing.answer import Answer

__all__ = [
    "Answer",
    "Domains",
    "Form",
    "Inference",
    "Inputs",
    "Kind",
    "Known",
    "Question",
    "Recognised",
    "Representations",
    "Scene",
    "Space",
    "Written",
    "bare",
    "from_signals",
    "space_of",
]
