"""Frames of meshes for view tests, answered by the real engine and refined until nothing more comes."""

from __future__ import annotations

from functools import cache
from typing import Any

import models
from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.declare.registry import scan
from explorer.square.frame import Frame
from explorer.state.state import State


@cache
def engine() -> LocalEngine:
    return LocalEngine(scan(models, "CARD"))


@cache
def mesh_frame(model: str = "gem-cnn", chain: str = "", refined: bool = True, **state: Any) -> Frame:
    """Return the frame of a model on the small sphere."""
    known = {"layer": "act1", "sample": "mesh-sphere-small", "steps": parse_chain(chain) if chain else ()}
    frame = engine().answer(State(model=model, orbit="gauge", **(known | state)), lambda: False)
    assert isinstance(frame, Frame)
    for better in engine().refine(frame) if refined else ():
        frame = better
    return frame
