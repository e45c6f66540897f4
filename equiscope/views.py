"""Views: what a file exports as VIEW, and the frames that it shows. Importing this imports Qt."""

from explorer.square.frame import Frame, LayerInfo, Measure, OrbitCurve, Square
from explorer.state.catalogue import Catalogue
from explorer.state.state import State
from widgets.base.text.words import figure, subject
from widgets.base.view import View, ViewSpec, Wish
from widgets.maps.linking import Link, Place, Places
from widgets.stage.hands import Hands

__all__ = [
    "Catalogue",
    "Frame",
    "Hands",
    "LayerInfo",
    "Link",
    "Measure",
    "OrbitCurve",
    "Place",
    "Places",
    "Square",
    "State",
    "View",
    "ViewSpec",
    "Wish",
    "figure",
    "subject",
]
