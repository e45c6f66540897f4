"""Lay out the rows of a timeline: heights that fill what there is, down to a least one, and what is folded away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from widgets.spaces.sequence.timeline.rows import Row

GUTTER, MARGIN, FOOT, FOLDED, GAP = 148.0, 12.0, 32.0, 17.0, 2.0
LOW, LITTLE = 26.0, 1.2  # of a curve among the layers: the input, which is held and dragged, needs more
LEAST = {"head": 20.0, "tokens": 26.0, "line": 44.0, "gradient": 38.0, "link": 24.0, "heat": 20.0}
MOST = {"head": 20.0, "tokens": 30.0, "line": 120.0, "gradient": 80.0, "link": 34.0, "heat": 150.0}
SHARE = {"line": 2.4, "gradient": 1.3, "tokens": 0.3, "link": 0.4, "heat": 1.0}


@dataclass(frozen=True, slots=True)
class Slot:
    """One row from `top`, so high, before scrolling."""

    row: Row
    top: float
    height: float
    folded: bool

    def unit_at(self, y: float) -> int | None:
        """Return which unit of a heat map is drawn at a height."""
        if self.row.kind != "heat" or self.folded or self.row.pyramid is None:
            return None
        units = self.row.pyramid.channels
        return min(units - 1, max(0, int((y - self.top) / self.height * units)))


def _least(row: Row) -> tuple[float, float]:
    """Return the least height of an open row, and its share of what is left."""
    if row.kind == "line" and not row.keeps:
        return LOW, LITTLE
    return LEAST[row.kind], SHARE.get(row.kind, 0.0)


def slots_of(rows: Sequence[Row], folded: Iterable[str], height: float) -> list[Slot]:
    """Return the rows' places in a column of that height; they need more where it is too low for them."""
    shut = set(folded)
    shares = [0.0 if r.key in shut else _least(r)[1] * (1.8 if r.own else 1.0) for r in rows]
    heights = [FOLDED if r.key in shut else _least(r)[0] for r in rows]
    most = [FOLDED if r.key in shut else MOST[r.kind] for r in rows]
    for _ in range(4):  # what one may not take goes to the others
        rest = height - sum(heights) - GAP * len(rows)
        open_ = [i for i, s in enumerate(shares) if s > 0 and heights[i] < most[i] - 1e-6]
        if rest <= 0.5 or not open_:
            break
        total = sum(shares[i] for i in open_)
        for i in open_:
            heights[i] = min(most[i], heights[i] + rest * shares[i] / total)
    slots, top = [], 0.0
    for row, own in zip(rows, heights, strict=True):
        slots.append(Slot(row, top, float(int(own)), row.key in shut))  # whole pixels, never more than there are
        top += int(own) + GAP
    return slots
