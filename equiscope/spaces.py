"""Spaces: what a package of one's own must say of a new kind of data."""

from explorer.declare.card import Form
from explorer.declare.inputs import Inputs
from explorer.declare.space import Domains, Kind, Representations, Scene
from explorer.declare.telling.asking import Question
from explorer.declare.types.written import Written, bare
from explorer.network.input.inputs import from_signals
from explorer.network.input.recognise import Recognised
from explorer.network.space import Inference, Known
from explorer.square.drawing.answer import Answer
from explorer.square.space import Space, space_of

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
