"""The equations of a block at one step, ready to be drawn: values of both sides, scales, differences. No Qt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.sequence.drawing.values import TimePart
from explorer.square.drawing.equation_values import BARRED, Line, Working, written
from widgets.base.text.words import figure
from widgets.spaces.sequence.timeline.pyramids.pyramid import Pyramid
from widgets.spaces.sequence.timeline.rows import scale_of

Array = NDArray[Any]
Place = tuple[int, ...]
DIFFERS = 1e-4  # of the scale: what is marked as a difference
_INDEX = re.compile(r"_(\{[^{}]*\}|\w+)")


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One equation with its numbers.

    Attributes:
        key: the name of the left side; `layer` the same where it is a layer, else "".
        words: (text, layer or "") of left side, equals sign and right side.
        before, after: the equation at the step of x, and at the step of rho(g) x where that one is; None if unknown.
        scale, limit: of the colours, over all steps and both sides.
        apart: where the values of rho(g) x are others, in their shape; None where there is nothing to compare.
        moves: of a row over steps, where each step of x is in rho(g) x, -1 if nowhere; None where units stay.
    """

    key: str
    layer: str
    heading: str
    words: tuple[tuple[str, str], ...]
    before: Line | None
    after: Line | None
    scale: str
    limit: float
    apart: Array | None = None
    moves: Array | None = None

    @property
    def lines(self) -> list[tuple[str, Line]]:
        """Return ("before" or "after", line) of the sides that are known."""
        pairs = (("before", self.before), ("after", self.after))
        return [(side, line) for side, line in pairs if line is not None]

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the values at a step: (units,), or (heads, steps)."""
        lines = self.lines
        return lines[0][1].shown.shape if lines else ()

    def at(self, place: Place | None, channel: int | None) -> Place:
        """Return the unit that is put into numbers: `place` if there is one, else the selected channel's.

        Of a row over steps it is the largest.
        """
        shape = self.shape
        if place is not None and len(place) == len(shape) and all(i < n for i, n in zip(place, shape, strict=True)):
            return place
        own = channel if channel is not None and channel < shape[0] else 0
        if len(shape) < 2:
            return (own,)
        return own, int(np.argmax(self.lines[0][1].shown[own]))

    def there(self, place: Place, side: str) -> Place:
        """Return where a unit of x is on one of the sides: a step of a row moves with rho(g)."""
        if side == "before" or self.moves is None or self.moves[place[1]] < 0:
            return place
        return place[0], int(self.moves[place[1]])

    def back(self, place: Place, side: str) -> Place:
        """Return which unit of x is at `place` of a side; the same one where none is."""
        if side == "before" or self.moves is None or place[1] not in self.moves:
            return place
        return place[0], int(np.flatnonzero(self.moves == place[1])[0])

    def differs(self, place: Place) -> bool:
        """Say whether the value at `place` of rho(g) x is another one."""
        return self.apart is not None and bool(self.apart[place])


def cells_of(part: TimePart, working: Working, step: int, moved: bool, kept: dict[int, Any]) -> list[Cell]:
    """Return the equations at a step of x, with those of rho(g) x beside them if `moved`.

    `kept` remembers the scales of arrays.
    """
    there = part.order[step]
    after = round(float(there)) if moved and np.isfinite(there) else None
    lines = working.at(step)
    others = working.at(after, True) if after is not None else [None] * len(lines)
    cells, path = [], None
    told = any(one.heading for one in working.equations)
    for one, line, other in zip(working.equations, lines, others, strict=True):
        known = one.left.name in working.values
        name = one.left.name if known else ""
        words = [(one.left.symbol, name), (" = ", "")]
        words += [(text, layer if layer in working.values else "") for text, layer in written(one.right)]
        scale, limit = _scale(working, one.left.name, kept) if known else _own_scale(line, other)
        heading, path = _heading(one.heading, one.left.name if known else "", path, told)
        cells.append(
            Cell(
                one.left.name, name, heading, tuple(words), line, other, scale, limit, *_apart(part, line, other, limit)
            )
        )
    return cells


def _heading(own: str, name: str, before: str | None, told: bool) -> tuple[str, str | None]:
    """Return the heading of an equation: its own one, or, where none has any, the module where another one begins."""
    if not name:
        return own, before
    module = name.rpartition(".")[0]
    where = module.rpartition(".")[2].replace("_", " ")
    if own:
        return (f"{own} · {where}" if where and not where.isdigit() else own), module
    return ("" if told or module == before else where), module


def _scale(working: Working, name: str, kept: dict[int, Any]) -> tuple[str, float]:
    """Return the scale of a layer over all steps, which stays as it is while the mouse moves."""
    arrays = [a for a in (working.values.get(name), working.moved.get(name)) if a is not None]
    found = []
    for array in arrays:
        if id(array) not in kept or kept[id(array)][0] is not array:
            flat = np.asarray(array).reshape(-1, 1)
            kept[id(array)] = (array, Pyramid(shown(flat)))
        found.append(kept[id(array)][1])
    return scale_of(name, *found)


def _own_scale(*lines: Line | None) -> tuple[str, float]:
    most = max((float(np.abs(line.shown).max(initial=0.0)) for line in lines if line is not None), default=0.0)
    return "signed", most or 1.0


def _apart(part: TimePart, line: Line | None, other: Line | None, limit: float) -> tuple[Array | None, Array | None]:
    """Return where the values of rho(g) x are others than those of x, and where the steps of a row have gone."""
    if line is None or other is None or line.shown.ndim != other.shown.ndim:
        return None, None
    mine, theirs = line.shown, other.shown
    moves = None
    if mine.ndim == 2 and mine.shape[1] == part.steps:
        places = np.nan_to_num(np.round(part.order), nan=-1.0)
        moves = np.where((places >= 0) & (places < theirs.shape[1]), places, -1.0).astype(np.int64)
        followed = np.full(theirs.shape, np.nan)
        followed[:, moves[moves >= 0]] = mine[:, moves >= 0]
        mine = followed
    if mine.shape != theirs.shape:
        return None, moves
    both = (mine < BARRED) & (theirs < BARRED)
    with np.errstate(invalid="ignore"):
        return np.asarray((np.abs(mine - theirs) > DIFFERS * limit) & ~both), moves


def shown(values: Array) -> NDArray[np.float32]:
    """Return values for colours: barred logits are no numbers."""
    return np.where(values < BARRED, np.nan, values).astype(np.float32)


def number(value: float) -> str:
    """Return a value in words; a barred logit is minus infinity."""
    return "−∞" if value < BARRED else figure(value)


def in_words(cell: Cell, side: str, place: Place) -> tuple[str, str]:
    """Return (the right side with its numbers in place, the value of the left side) for one unit."""
    line = dict(cell.lines)[side]
    return "start" if line.initial else line.numbers(place, figure), number(float(line.shown[place]))


def place_name(place: Place, names: tuple[str, ...]) -> str:
    """Return "unit 3", or "head 0, j = 7 “c”"."""
    if len(place) < 2:
        return f"unit {place[0]}"
    letter = f" “{names[place[1]]}”" if place[1] < len(names) and names[place[1]] else ""
    return f"head {place[0]}, j = {place[1]}{letter}"


@cache
def runs(symbol: str) -> list[tuple[str, bool]]:
    """Return a symbol as (text, whether it is an index): "W_i x" is W, i as index, x."""
    found, end = [], 0
    for match in _INDEX.finditer(symbol):
        found += [(symbol[end : match.start()], False), (match[1].strip("{}"), True)]
        end = match.end()
    found.append((symbol[end:], False))
    return [(text, index) for text, index in found if text]


def numbers_of(cells: list[Cell]) -> Mapping[str, Array]:
    """Return both sides of every equation at the step, by name, for exports."""
    out: dict[str, Array] = {}
    for cell in cells:
        for side, line in cell.lines:
            after = " after" if side == "after" else ""
            out[f"{cell.key}{after}"] = line.shown
            out[f"{cell.key} right side{after}"] = line.right
    return out
