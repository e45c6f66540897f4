"""Frames of points, by real networks with untrained parameters."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import models
from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.declare.registry import scan
from explorer.spaces.points.drawing.values import PointsPart
from explorer.square.frame import Frame
from explorer.state.state import State
from widgets.base.view import View

TENSOR, MOVING = "tensor-field-network", "egnn-velocity"
TURN = "rotation:40,25,10"


@cache
def _engine() -> LocalEngine:
    return LocalEngine(scan(models, "CARD"))


@cache
def points_frame(
    model: str = TENSOR, chain: str = "", layer: str = "layer1.gate", sample: str = "ethanol-3d",
    node: int | None = None, compare: str = "", untransform: bool = False,
) -> Frame:  # fmt: skip
    """Return the frame of a network on points; the same one for the same arguments."""
    state = State(model=model, compare=compare, sample=sample, steps=parse_chain(chain), layer=layer, node=node)
    state = replace(state, untransform=untransform)
    return _engine().answer(state, lambda: False)


def give(view: View, frame: Frame) -> PointsPart:
    """Show a frame in a view until it is drawn, and return what it tells of its points."""
    view.set_state(frame.state)
    view.set_frame(frame)
    view.settle()
    view.grab()
    part = frame.squares[0].of(PointsPart)
    assert part is not None
    return part
