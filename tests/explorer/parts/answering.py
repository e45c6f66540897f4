"""Ask an engine for a frame until nothing more comes."""

from __future__ import annotations

from explorer.app.answering.engine import LocalEngine
from explorer.square.frame import Frame
from explorer.state.state import State


def complete(engine: LocalEngine, wanted: State) -> Frame:
    """Return the last frame of a state: all errors are measured in it."""
    frame = engine.answer(wanted, lambda: False)
    for more in engine.refine(frame):
        frame = more
    return frame
