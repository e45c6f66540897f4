"""Frames of points, by real networks with untrained parameters."""

from __future__ import annotations

from functools import cache

import models
from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.declare.registry import scan
from explorer.square.frame import Frame
from explorer.state.state import State

TENSOR, MOVING = "tensor-field-network", "egnn-velocity"


@cache
def _engine() -> LocalEngine:
    return LocalEngine(scan(models, "CARD"))


@cache
def points_frame(
    model: str = TENSOR, chain: str = "", layer: str = "layer1.gate", sample: str = "ethanol-3d",
    node: int | None = None, compare: str = "",
) -> Frame:  # fmt: skip
    """Return the frame of a network on points; the same one for the same arguments."""
    state = State(model=model, compare=compare, sample=sample, steps=parse_chain(chain), layer=layer, node=node)
    return _engine().answer(state, lambda: False)
