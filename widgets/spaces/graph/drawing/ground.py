"""Values that all pictures of one graph share while painted, some of them kept from one picture to the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widgets.spaces.graph.drawing.geometry import SAMPLES, Eye, Strands

Array = NDArray[Any]


@dataclass(slots=True, eq=False)
class Ground:
    """One graph in one panel: pixels, not units."""

    eye: Eye
    places: Array  # (N, 2) in the units of the layout
    lines: Strands
    width: float
    height: float
    radius: float
    directed: bool
    arrows: bool  # whether lines with values of their own lead somewhere, in undirected graphs too
    names: Sequence[str]  # of the nodes; empty: numbers
    labels: str
    selected: int | None
    pins: tuple[int, ...]
    chosen: Array  # nodes in the lasso
    hulls: Sequence[tuple[Array, str]]  # members and colour of each cluster
    graphs: Sequence[Array]  # members of each graph of a batch
    rank: Array  # nodes in the order in which they get a label
    ratio: float = 1.0
    colours: str = ""  # name of the theme
    budget: int = SAMPLES  # for the picture of the lines
    kept: dict[str, tuple[object, Any]] | None = None  # what panels and successive pictures share
    beyond: tuple[float, float] = (0.0, 0.0)  # pixels on each side, across and up, that are out of sight at rest

    @property
    def view(self) -> tuple[object, ...]:
        return id(self.places), self.eye, self.width, self.height, self.ratio

    def once(self, name: str, key: object, make: Callable[[], Any], *alive: object) -> Any:
        """Return what was made last under that name if the key is the same; `alive` are those whose id is in it."""
        if self.kept is None:
            return make()
        if self.kept.get(name, (None,))[0] != key:
            self.kept[name] = key, (make(), alive)
        return self.kept[name][1][0]

    @property
    def points(self) -> Array:
        """Return where the nodes are in the panel, (N, 2) pixels."""
        if self._points is None:

            def make() -> Array:
                return self.eye.screen(self.places, self.width, self.height)

            self._points = self.once("points", self.view, make, self.places)
        return self._points

    _points: Array | None = None

    def seen_nodes(self, margin: float = 24.0) -> Array:
        def make() -> Array:
            x, y = self.points[:, 0], self.points[:, 1]
            return np.flatnonzero(
                (x > -margin) & (y > -margin) & (x < self.width + margin) & (y < self.height + margin)
            )

        return np.asarray(self.once("nodes", self.view, make, self.places))

    def ends(self, lines: Array) -> tuple[Array, Array]:
        """Return where lines begin and end, in pixels."""
        return self.points[self.lines.start[lines]], self.points[self.lines.end[lines]]
