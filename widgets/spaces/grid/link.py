"""Link the pixels of f and of rho(g) f, where g is a map of the plane."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.declare.elements import Step, transforms
from explorer.declare.groups import group
from explorer.spaces.grid.elements.affine import Affine
from widgets.maps.linking import Link, Place, Places


class PlaneLink(Link):
    """The map of places that a chain of steps makes, forwards and back; nearest pixels where it resamples."""

    def __init__(self, steps: Sequence[Step] = ()) -> None:
        elements = [transforms()[s.name].element(*s.values) for s in steps]
        # an element that is not a map of the plane leaves no link between places: they are paired by index
        self._parts = [e for e in elements if isinstance(e, Affine)]
        linear = np.eye(2)
        for part in self._parts:
            linear = np.asarray(part.matrix) @ linear
        self.linear: NDArray[np.float64] = linear
        still = np.eye(2)  # a ring is turned a hundred times a second: np.allclose would take half of this
        moving = [p for p in self._parts if any(p.shift) or np.abs(np.asarray(p.matrix) - still).max() > 1e-8]
        self._circular = all(p.boundary == "circular" for p in moving)

    def forward(self, place: Place, source: Places, target: Places) -> Place | None:
        point = source.point(place)
        for part in self._parts:
            point = part.matrix @ point + np.array(part.shift)
        return target.place(self._orient(place[0], source, False), point, self._circular)

    def back(self, place: Place, source: Places, target: Places) -> Place | None:
        point = source.point(place)
        for part in reversed(self._parts):
            point = np.linalg.solve(part.matrix, point - np.array(part.shift))
        return target.place(self._orient(place[0], source, True), point, self._circular)

    def _orient(self, channel: int, grid: Places, back: bool) -> int:
        if not grid.group:
            return channel
        fibre = group(grid.group)
        turn = self.linear / np.sqrt(abs(np.linalg.det(self.linear)))
        g = fibre.find(turn, 1e-6)
        if g is None:
            return channel  # between the group's elements orientations are mixed: none is the source
        field, h = divmod(channel, fibre.order)
        return field * fibre.order + fibre.compose(fibre.inverse(g) if back else g, h)
