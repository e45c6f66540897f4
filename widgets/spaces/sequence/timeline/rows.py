"""Content of the rows of a timeline: the input, the gates, what moved and the difference, worked out of a TimePart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.sequence.drawing.values import TimePart
from explorer.square.frame import Square
from widgets.base.text.words import figure
from widgets.spaces.sequence.timeline.pyramids.pyramid import Pyramid

LINES = 4  # channels of an input up to which each is a line
GATED = ("gate", "reset", "update", "attention", "alpha", "gamma", "leak")
SIDES = ("before", "after", "difference")


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One line of the timeline.

    `kind` is "line", "heat", "tokens", "gradient", "link" or "head"; `scale` is "gate" (0 to 1), "positive" (0 to
    limit) or "signed"; `layer` is what a click on the name selects; `own` says whether it is the selected layer;
    `written` is the text of each step where it is the network's own; `units` what each curve is, where that is known.
    """

    key: str
    kind: str
    side: str
    name: str
    pyramid: Pyramid | None = None
    scale: str = "signed"
    limit: float = 1.0
    layer: str = ""
    own: bool = False
    square: int = 0
    keeps: bool = False  # the input, which is shifted by dragging it
    block: str = ""  # of several that are built alike: what stands above its rows
    written: tuple[str, ...] = ()
    units: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name where no heading stands above it."""
        return f"{self.block} {self.name}".strip()


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """The rows of the timeline, and `order`, which links steps of x with those of rho(g) x."""

    rows: tuple[Row, ...] = ()
    steps: int = 0
    after: int = 0
    names: tuple[str, ...] = ()
    moved_names: tuple[str, ...] = ()
    times: NDArray[Any] | None = None
    order: NDArray[Any] = field(default_factory=lambda: np.zeros(0))
    known: NDArray[np.bool_] | None = None
    gradient: NDArray[Any] | None = None
    selected: int | None = None
    tint: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # (T,) by side: what tokens are coloured by
    tint_scale: tuple[str, float] = ("", 1.0)
    tint_name: str = ""  # what the colours mean, in words
    _backs: dict[int, int | None] = field(default_factory=dict)  # every row asks for the same step while one points

    @property
    def longest(self) -> int:
        return max(self.steps, self.after if any(r.side != "before" for r in self.rows) else 0)

    def there(self, step: int) -> float | None:
        """Return where a step of x is in rho(g) x; None where it was cut off."""
        if 0 <= step < len(self.order) and np.isfinite(self.order[step]):
            place = float(self.order[step])
            return place if -0.5 <= place < self.after - 0.5 + 1e-9 else None
        return None

    def back(self, step: int) -> int | None:
        """Return the step of x that is nearest to a step of rho(g) x; None where padding came in."""
        if step not in self._backs:
            self._backs[step] = self._back(step)
        return self._backs[step]

    def _back(self, step: int) -> int | None:
        if not np.isfinite(self.order).any():
            return None
        away = np.abs(self.order - step)
        nearest = int(np.nanargmin(away))
        spread = np.abs(np.diff(self.order[max(0, nearest - 1) : nearest + 2]))
        reach = max(0.5, float(np.nanmax(spread)) / 2) if spread.size and np.isfinite(spread).any() else 0.5
        return nearest if away[nearest] <= reach else None

    def at(self, row: Row, step: int, side: str) -> int | None:
        """Return the step of `row` that belongs to `step` of `side`."""
        if (row.side == "before") == (side == "before"):
            return step
        if side == "before":
            place = self.there(step)
            return None if place is None else round(place)
        return self.back(step)


def short_names(names: Sequence[str]) -> list[str]:
    """Return as few of the last parts of layer names as tell them apart, with spaces for underscores."""
    ends = Counter(end for name in set(names) for end in _ends(name))
    chosen = [next((end for end in _ends(name) if ends[end] == 1), name) for name in names]
    return [end.replace(".", " ").replace("_", " ") for end in chosen]


def _ends(name: str) -> list[str]:
    """Return the ends of a layer's name, the shortest first; a number alone names nothing: "encoder.0"."""
    parts = name.split(".")
    return [".".join(parts[k:]) for k in reversed(range(len(parts))) if k == 0 or not parts[k].isdigit()]


def block_of(name: str) -> str:
    """Return the numbered block that a layer lies in: "stacks.encoder.0" of "stacks.encoder.0.norm1"; "" without."""
    parts = name.split(".")
    numbered = [k for k, part in enumerate(parts) if part.isdigit() and 0 < k < len(parts) - 1]
    return ".".join(parts[: numbered[0] + 1]) if numbered else ""


def scale_of(name: str, *pyramids: Pyramid) -> tuple[str, float]:
    """Return the kind of colour scale and its limit, shared by what is compared."""
    spans = [p.span() for p in pyramids]
    low, high = min(s[0] for s in spans), max(s[1] for s in spans)
    if low >= -1e-6 and high <= 1 + 1e-6 and any(word in name.lower() for word in GATED):
        return "gate", 1.0
    if low >= 0 and high > 0:
        return "positive", high
    return "signed", max(abs(low), abs(high)) or 1.0


def aligned(values: NDArray[Any], order: NDArray[Any], steps: int) -> NDArray[Any]:
    """Return values (T, C) of x moved to the steps of rho(g) x, NaN where no step of x is."""
    moved = np.full((steps, values.shape[1]), np.nan, np.float32)
    place = np.round(order)
    with np.errstate(invalid="ignore"):
        there = np.isfinite(order) & (place >= 0) & (place < steps) & (np.abs(order - place) < 1e-6)
    moved[place[there].astype(np.int64)] = values[there]
    return moved


def one_hot(x: NDArray[Any]) -> bool:
    """Say whether the rows are letters: zeros and ones (or shares of the unknown) that add up to one."""
    part = x[:: 1 + len(x) // 2000]
    return x.shape[1] > 1 and bool(((part >= 0) & (part <= 1)).all() and np.allclose(part.sum(1), 1, atol=1e-4))


def moved_names(part: TimePart) -> tuple[str, ...]:
    """Return the text of each step of rho(g) x.

    Where steps are letters it is read off rho(g) x itself, for g may exchange letters (the complement of DNA);
    else the text goes where its step goes.
    """
    names, unknown = np.array(part.names, object), ""
    if one_hot(part.x):
        spoken = dict(zip(part.x.argmax(1)[::-1].tolist(), names[::-1], strict=True))
        sure = part.x.max(1) > 0.5
        spoken |= dict(zip(part.x.argmax(1)[sure][::-1].tolist(), names[sure][::-1], strict=True))
        if not sure.all():
            unknown = str(names[~sure][0])
        best, top, low = part.gx.argmax(1), part.gx.max(1), part.gx.max(1) <= 0.5
        return tuple(
            (unknown if shown > 0 else "") if doubt else str(spoken.get(int(k), ""))
            for k, shown, doubt in zip(best, top, low, strict=True)
        )
    letters = np.arange(part.steps, dtype=np.float64)[:, None]
    back = aligned(letters, np.asarray(part.order, np.float64), len(part.gx))[:, 0]
    return tuple(str(names[int(k)]) if np.isfinite(k) else "" for k in back)


def attention_row(part: TimePart, values: NDArray[Any], step: int | None, head: int | None) -> NDArray[Any] | None:
    """Return what `step` attends to, (T,): one head's or the mean; without a step, what each one receives."""
    if part.kind != "pair" or values.ndim != 3 or values.shape[-1] != values.shape[-2]:
        return None
    table = values[head] if head is not None and head < len(values) else values.mean(0)
    return np.asarray(table[step] if step is not None and step < len(table) else table.mean(0), np.float32)


def layers_of(square: Square, part: TimePart) -> list[str]:
    """Return the layers that have a row, in the order of the network."""
    own = square.layer.name
    names = list(part.gates)
    if part.kind == "step" and own not in names:
        names.append(own)
        order = {layer.name: i for i, layer in enumerate(square.layers)}
        names.sort(key=lambda name: order.get(name, len(order)))
    return names


def rows_of(
    found: Sequence[tuple[Square, TimePart]],
    sides: Sequence[str],
    pyramid: Callable[[NDArray[Any]], Pyramid],
    selected: bool = False,
) -> list[Row]:
    """Return the rows, from above to below: x, its gates, the links, rho(g) x, its gates, the differences.

    Args:
        selected: a step is, so that a gradient that is not there yet will come; it has its row, and no row moves then.
    """
    rows: list[Row] = []
    first = found[0][1]
    text = bool(first.names) and len(first.names) == first.steps
    x, gx = pyramid(first.x), pyramid(first.gx)
    limits = scale_of("x", x, gx)
    kind = "tokens" if text else "line" if first.x.shape[1] <= LINES else "heat"
    scales: dict[tuple[int, str], tuple[str, float]] = {}
    for side in ("before", "after"):
        if side not in sides:
            continue
        if side == "after" and rows:
            rows.append(Row("link", "link", "after", "steps matched"))
        source, title = (x, "x") if side == "before" else (gx, "ρ(g)x")
        units = first.channels if kind == "line" else ()
        rows.append(Row(f"{side}/x", kind, side, title, source, *limits, keeps=True, units=units))
        if text and not one_hot(first.x):
            rows.append(Row(f"{side}/values", "heat", side, f"{title} values", source, *limits, keeps=True))
        comes = selected and first.kind == "step" and not first.missing
        if side == "before" and (comes or first.gradient is not None):
            known = None if first.gradient is None else pyramid(first.gradient)
            rows.append(Row("gradient", "gradient", side, "gradient", known, "positive"))
        for k, (_, part) in enumerate(found):
            rows += _attended(k, part, side, pyramid)
        for k, (square, part) in enumerate(found):
            mark = "F(x)" if side == "before" else "F(ρ(g)x)"
            who = f" · {square.title}" if len(found) > 1 else ""
            names = layers_of(square, part)
            written = part.written if side == "before" else part.moved_written
            if names or written:
                rows.append(Row(f"{side}/{k}/head", "head", side, mark + who, square=k))
            blocks, block = _blocks(names), ""
            for name in names:
                over, short = blocks[name]
                if over != block:
                    block = over
                    head = " · ".join(filter(None, (mark + who, block)))
                    rows.append(Row(f"{side}/{k}/head/{name}", "head", side, head, square=k))
                own, gates = name == square.layer.name and part.kind == "step", part.gates
                one: NDArray[Any] = part.values if own else gates[name]
                two: NDArray[Any] | None = part.moved if own else part.moved_gates.get(name)
                values = one if side == "before" else two
                if values is None:
                    continue
                if (k, name) not in scales:
                    every = [pyramid(v) for v in (one, two if "after" in sides else None) if v is not None]
                    scales[k, name] = scale_of(name, *every)
                scale, limit = scales[k, name]
                key = f"{side}/{k}/{name}"
                rows.append(
                    Row(key, _form(values), side, short, pyramid(values), scale, limit, name, own, k, False, block)
                )
            if written:
                last = part.writer
                own = last == square.layer.name
                rows.append(
                    Row(f"{side}/{k}/written", "tokens", side, "answer", layer=last, own=own, square=k, written=written)
                )
    if "difference" in sides:
        rows += _differences(found, pyramid)
    return rows


def _form(values: NDArray[Any]) -> str:
    """Return how a layer is drawn: one number a step is read off a curve, many off colours."""
    return "line" if values.shape[1] == 1 else "heat"


def _blocks(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return for each layer its block, where there are several, and its name within it."""
    of = {name: block_of(name) for name in names}
    several = len(set(of.values()) - {""}) > 1
    titles = dict(zip(of, short_names([of[name] for name in of]), strict=True))
    inside: dict[str, list[str]] = {}
    for name in names:
        inside.setdefault(of[name] if several else "", []).append(name)
    found: dict[str, tuple[str, str]] = {}
    for block, within in inside.items():
        for name, short in zip(within, short_names(within), strict=True):
            found[name] = (titles[name] if block else "", short)
    return found


def _attended(
    square: int, part: TimePart, side: str, pyramid: Callable[[NDArray[Any]], Pyramid]
) -> list[Row]:  # fmt: skip
    """Return the row of attention that the selected step has, each head a line, where no matrix could be formed."""
    found = part.attended
    values = None if found is None else found.row if side == "before" else found.moved
    if found is None or values is None:
        return []
    limit = largest_share(part)
    return [
        Row(f"{side}/{square}/row", "heat", side, "attention given", pyramid(values), "positive", limit, square=square)
    ]


def largest_share(part: TimePart) -> float:
    """Return the end of the scale on which both rows of attention are drawn."""
    found = part.attended
    rows = () if found is None else (found.row, found.moved)
    return max((float(r.max(initial=0.0)) for r in rows if r is not None), default=0.0) or 1.0


def _differences(found: Sequence[tuple[Square, TimePart]], pyramid: Callable[[NDArray[Any]], Pyramid]) -> list[Row]:
    rows: list[Row] = []
    for k, (square, part) in enumerate(found):
        if part.kind != "step" or part.difference is None:
            continue
        who = f" · {square.title}" if len(found) > 1 else ""
        difference = pyramid(part.difference)
        limit = _largest(part, difference)
        size = f" · up to {figure(limit)}" if limit else " · 0 wherever it is compared"
        rows.append(Row(f"difference/{k}/head", "head", "difference", "ρ′(g)F(x) − F(ρ(g)x)" + who + size, square=k))
        name = short_names([*part.gates, square.layer.name])[-1]
        form, own = _form(part.difference), square.layer.name
        rows.append(Row(f"difference/{k}", form, "difference", name, difference, "signed", limit, own, True, k))
    return rows


def _largest(part: TimePart, difference: Pyramid) -> float:
    """Return the largest difference at the steps that are compared; of all steps where there are too many to look."""
    values, known = difference.values, part.known
    if known is not None and len(known) == len(values) and values.size <= 1 << 22:
        values = np.abs(values[known])
        return float(values[np.isfinite(values)].max(initial=0.0))
    return max(abs(v) for v in difference.span())
