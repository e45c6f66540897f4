"""Lessons as a test sees them: the frame of each, after the person has done this or that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import models
from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.declare.registry import scan
from explorer.square.frame import Frame, Measure, Square
from explorer.state.catalogue import Catalogue
from explorer.state.session import load_session
from explorer.state.state import State

FOLDER = Path(__file__).resolve().parents[3] / "resources" / "lessons"
LESSONS = {path.stem[:2]: path for path in sorted(FOLDER.glob("*.json"))}
EXACT, BROKEN = 1e-4, 0.05


@cache
def engine() -> LocalEngine:
    return LocalEngine(scan(models, "CARD"))


@cache
def catalogue() -> Catalogue:
    return engine().catalogue()


@cache
def answer(state: State) -> Frame:
    """Return the frame of a state with every layer measured, on the CPU."""
    frame = engine().answer(replace(state, device="cpu"), lambda: False)
    for more in engine().refine(frame):
        frame = more
    return frame


@cache
def lesson(number: str) -> State:
    return load_session(LESSONS[number]).state


def at(number: str, transform: str | None = None, /, params: Mapping[str, float] | None = None, **more: Any) -> Frame:
    """Return the frame of a lesson after the person has changed the element, parameters or anything else."""
    state = lesson(number)
    if transform is not None:
        more["steps"] = parse_chain(transform)
    if params is not None:
        more["params"] = tuple({**dict(state.params), **params}.items())
    return answer(replace(state, **more))


def measured(frame: Frame, layer: str = "", which: int = 0) -> Measure:
    """Return the measure of a layer; "" is the one on the stage."""
    square = frame.squares[which]
    return square.measures[layer or square.layer.name]


def error(frame: Frame, layer: str = "", which: int = 0) -> float:
    value = measured(frame, layer, which).cumulative
    assert value is not None
    return value


def local(frame: Frame, layer: str, which: int = 0) -> float:
    value = measured(frame, layer, which).local
    assert value is not None
    return value


def guilty(square: Square, limit: float = EXACT) -> list[str]:
    """Return the leaves whose own error is above `limit`."""
    leaves = [layer.name for layer in square.layers if layer.leaf]
    return [name for name in leaves if (value := square.measures[name].local) is not None and value > limit]


def distance(a: NDArray[Any], b: NDArray[Any]) -> float:
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))
