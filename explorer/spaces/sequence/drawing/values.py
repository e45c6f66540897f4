"""Frozen values that a frame says of a sequence: gates over time, where steps have gone, how states come to rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from explorer.square.drawing.equation_values import Working
from explorer.square.frame import Array, Frame, Square


@dataclass(frozen=True, slots=True, eq=False)
class Settling:
    """The path of a recurrent state to its fixed point while nothing but zeros comes in.

    Attributes:
        layers: the names under which the state is a layer.
        orbit: h_0 = 0, h_1, ..., (k + 1, units).
        contraction: by what factor small distances to the fixed point shrink in an iteration; 1 or more: they do not,
            or there is another fixed point.
        converged: whether it came to rest, or a fixed point was found from where it had come to.
    """

    layers: tuple[str, ...]
    orbit: Array
    contraction: float
    converged: bool


@dataclass(frozen=True, slots=True, eq=False)
class Attended:
    """The attention of the selected step: a row of a matrix of attention that is too large to be formed.

    Attributes:
        name: of the module.
        row: (S, H) that of F(x), a column for each head.
        moved: (S', H) that of F(rho(g) x), at the place where the step has gone; None where it was cut off.
    """

    name: str
    row: Array
    moved: Array | None


@dataclass(frozen=True, slots=True, eq=False)
class TimePart:
    """The data that views of sequences draw, beside the images of the Square.

    Attributes:
        steps: T, the number of steps of x; rho(g) x may have another number.
        times: (T,) the time of each step where sampling is irregular, ascending; None where it is regular. Of a dated
            series they are datetime64.
        names: the text of each step (letters, words), or empty.
        kind: where the selected layer's values sit: "step", "pair" or "invariant".
        x, gx: the input, (T, C), before and after.
        order: (T,) at which step of rho(g) x step t of x is found, between two steps where time is bent; NaN where it
            was cut off.
        values, moved, expected, difference: F(x), F(rho(g) x), rho'(g) F(x) and their difference at the layer: (T, C),
            (H, T, T) or (1, C). None where there is no action.
        gates: {layer: (T, C)} of every step field with at most 64 channels, leaves only, in the order of the layers.
        moved_gates: the same of F(rho(g) x); may be empty.
        known: (T,) the steps of rho(g) x that are compared: not padding, nor what hangs on it.
        gradient: (T,) |d layer(selected step) / d x_t|, original steps; None without selection.
        missing: why a gradient that is not there will not come, a sentence; "" where it may.
        truncated: (T,) the same with the recurrent state detached every State.truncate steps; None without truncation.
        cuts: how many recurrent modules the truncation found; 0: there is no state to detach.
        settlings: how each recurrent state comes to rest while zeros come in; empty where there is none.
        working: the equations of the block that the selected layer lies in, with their values; None where none are
            stated.
        attended: what the selected step attends to, in the attention that the selected layer lies in, else in the last
            one before it; None without selection, without attention, and where the matrix is a layer.
        written, moved_written: what the network writes at each step of x and of rho(g) x; empty where its answers are
            no words of the sequence.
        writer: the layer that `written` is read off.
        channels: what each column of x is, or empty.
        rows, columns: how the steps of a layer on pairs are called in F(x) and in F(rho(g) x); None for those of x.
        answering: whether its rows are steps of the answer.
    """

    data: ClassVar[str] = "sequence"

    steps: int
    times: NDArray[Any] | None
    names: tuple[str, ...]
    kind: str
    x: Array
    gx: Array
    order: Array
    values: Array
    moved: Array
    expected: Array | None
    difference: Array | None
    gates: Mapping[str, Array] = field(default_factory=dict)
    moved_gates: Mapping[str, Array] = field(default_factory=dict)
    known: NDArray[np.bool_] | None = None
    gradient: Array | None = None
    missing: str = ""
    truncated: Array | None = None
    cuts: int = 0
    working: Working | None = None
    settlings: tuple[Settling, ...] = ()
    attended: Attended | None = None
    written: tuple[str, ...] = ()
    moved_written: tuple[str, ...] = ()
    writer: str = ""
    channels: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    columns: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    answering: bool = False


def parts_of_one_time(frame: Frame | None) -> list[tuple[Square, TimePart]]:
    """Return the squares that live on the first one's sequence, which has steps."""
    found = frame.parts(TimePart) if frame is not None else []
    return [(s, t) for s, t in found if t.steps == found[0][1].steps and t.steps]
