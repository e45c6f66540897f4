"""Link each place of f with its place in rho(g) f: a selection in one panel is a selection in all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.declare.elements import Step, transforms
from explorer.declare.groups import group
from explorer.declare.telling.numerals import with_minus
from explorer.declare.types.field_text import parse_field

Place = tuple[int, int, int]  # channel, row, column


class Link:
    """The map of places that an element makes, forwards and back. This one pairs places by index."""

    def forward(self, place: Place, source: Places, target: Places) -> Place | None:
        """Return the place of rho(g) f whose value comes from `place` of f; None when it falls outside."""
        return place if place[1] < target.height and place[2] < target.width else None

    def back(self, place: Place, source: Places, target: Places) -> Place | None:
        """Return the place of f from which the value at `place` of rho(g) f comes; None when from outside."""
        return self.forward(place, source, target)


class Places:
    """The places of one panel: its size, its pixels' spacing in input pixels, its orientations' group.

    `kind` is that of a layer's places: "node", "edge", "step".
    """

    def __init__(self, height: int, width: int, spacing: float = 1.0, group: str = "", kind: str = "") -> None:
        self.height, self.width, self.spacing, self.group, self.kind = height, width, spacing, group, kind

    def point(self, place: Place) -> NDArray[np.float64]:
        """Return right and up of a pixel from the centre, in input pixels."""
        _, row, column = place
        centre_y, centre_x = (self.height - 1) / 2, (self.width - 1) / 2
        return np.array([column - centre_x, centre_y - row]) * self.spacing

    def place(self, channel: int, point: NDArray[np.float64], wrap: bool) -> Place | None:
        # halves are rounded up at every place, so that neighbours stay neighbours
        column = int(np.floor(point[0] / self.spacing + (self.width - 1) / 2 + 0.5 + 1e-9))
        row = int(np.floor((self.height - 1) / 2 - point[1] / self.spacing + 0.5 + 1e-9))
        if wrap:
            return channel, row % self.height, column % self.width
        return (channel, row, column) if 0 <= row < self.height and 0 <= column < self.width else None


def spacing_of(field: str) -> float:
    """Return the spacing in a field type's text; 1 when it says none."""
    try:
        return parse_field(field).spacing
    except ValueError:
        return 1.0


def element_text(steps: Sequence[Step]) -> str:
    """Return a chain of steps for reading: "rotate 30°, translate 4 px"."""
    parts = []
    for step in steps:
        params = transforms()[step.name].params
        values = list(zip(params, step.values, strict=True))
        while len(values) > 1 and values[-1][1] == values[-1][0].default:
            values.pop()
        unit = values[0][0].unit if values else ""
        # blanks that do not break: a unit must not stand alone on a line
        # a minus sign stands before numbers alone: names keep their hyphens
        written = ",\N{NO-BREAK SPACE}".join(
            p.text(v) if p.choices else with_minus(p.text(v)) for p, v in values if not p.choices or len(values) == 1
        )
        written += unit if unit in ("", "°", "×") else f"\N{NO-BREAK SPACE}{unit}"
        written += "".join(f" ({p.text(v)})" for p, v in values[1:] if p.choices)
        parts.append(f"{step.name} {written}")
    return ", ".join(parts) or "identity"


def channel_text(channel: int, order_name: str) -> str:
    """Return "channel 13" or, for orientation channels, "channel 13 (field 1, r90 m)"."""
    if not order_name:
        return f"channel {channel}"
    fibre = group(order_name)
    field, h = divmod(channel, fibre.order)
    return f"channel {channel} (field {field}, {fibre.labels[h]})"


def precise(value: float) -> str:
    """Return a value under the cursor, with the digits that a float32 deserves beside its neighbours."""
    return with_minus(f"{value:.5g}")
