"""Parts of a frame about a network's codes: frozen values and arrays, for the views that draw them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.declare.states.latent import LatentChoice

Array = NDArray[np.floating]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """The way from the input to an example in equal steps: means of the images, and what means of the codes decode to.

    Attributes:
        pixels, decoded: (k, height, width) each.
        line: (k, 2), where the codes lie in the plane.
        roughness: of both, the longest step from image to image in units of the mean step.
    """

    pixels: Array
    decoded: Array
    line: Floats
    roughness: tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Turned:
    """The way of the code along the orbit of the input.

    Attributes:
        values: the parameter of the orbit's transform, (m,), and `unit`.
        path: (m, 2), where the codes lie in the plane.
        exact: which elements permute the pixels.
        expected: (m, 2), where the code's own representation would bring it; NaN where that has no such element.
        kind: "rotates", "stands still", "jumps" or "wanders".
        told: that with its figures, in one sentence.
        transform: the transform's name.
    """

    values: Floats
    unit: str
    path: Floats
    exact: NDArray[np.bool_]
    expected: Floats
    kind: str
    told: str
    transform: str


@dataclass(frozen=True, slots=True, eq=False)
class Latent:
    """The codes of a network.

    Attributes:
        choice: what the person looks at, with the projection that was taken.
        offered: the projections that there are.
        layer, code_field, dims: of the code; "" where no layer is called so.
        code, moved, expected: f(x), f(ρ(g) x) and ρ′(g) f(x), (dims,); None where there is no such action.
        title, names: of the examples and their classes.
        busy: what is being worked on, or why there is no plane; "" where all is there.
        points, labels: (n, 2) and (n,), of the examples; empty while they are being encoded.
        axes: names of the two axes.
        linear: whether the plane is a linear map of codes, which places decode back to.
        here, there, wanted: the places of `code`, `moved` and `expected`.
        grid, extent: (rows, columns, height, width) of images decoded at places of the plane, from the top left, and
            (left, right, bottom, top) of their cells.
        decoded: (height, width), what the chosen place is decoded to.
        picture, nearest: of the input, and of the example nearest to the chosen place with its number.
        orbit, walk: the ways through the plane.
        divergence: (dims,) KL of each number to N(0, 1), the mean over the examples; empty where nothing is drawn.
        terms: of the bound on the log-likelihood, in nats an image.
        samples: (n, height, width) uint8, decoded from random codes; `drawn` says from which.
        asked: what the code of each sample asks for in words; empty where codes say nothing in words.
        few: whether these are the first few of them.
        laid: whether nothing more of the plane will come of this frame; the samples may still become more.
        whole: whether nothing more at all will come of it.
    """

    choice: LatentChoice
    offered: tuple[str, ...]
    layer: str
    code_field: str
    dims: int
    code: Floats
    moved: Floats
    expected: Floats | None
    title: str = ""
    names: tuple[str, ...] = ()
    busy: str = ""
    points: Floats = field(default_factory=lambda: np.zeros((0, 2)))
    labels: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    axes: tuple[str, str] = ("", "")
    linear: bool = False
    here: Floats | None = None
    there: Floats | None = None
    wanted: Floats | None = None
    grid: Array | None = None
    extent: tuple[float, float, float, float] = (0.0, 1.0, 0.0, 1.0)
    decoded: Array | None = None
    picture: Array | None = None
    nearest: tuple[int, Array] | None = None
    orbit: Turned | None = None
    walk: Walk | None = None
    divergence: Floats = field(default_factory=lambda: np.zeros(0))
    terms: Mapping[str, float] = field(default_factory=dict)
    samples: NDArray[np.uint8] | None = None
    drawn: str = ""
    asked: tuple[str, ...] = ()
    few: bool = False
    laid: bool = False
    whole: bool = False

    @property
    def ready(self) -> bool:
        """Return whether there is a plane to draw."""
        return len(self.points) > 0

    def numbers(self) -> dict[str, NDArray[Any]]:
        """Return what there is as named arrays."""
        found: dict[str, NDArray[Any]] = {"examples": self.points, "class": self.labels, "code": self.code}
        optional = {
            "here": self.here, "moved": self.there, "expected": self.wanted, "decoded": self.decoded,
            "divergence": self.divergence if self.divergence.size else None,
            "orbit": self.orbit.path if self.orbit else None, "orbit_value": self.orbit.values if self.orbit else None,
            "walk_pixels": self.walk.pixels if self.walk else None, "walk": self.walk.decoded if self.walk else None,
        }  # fmt: skip
        return found | {name: value for name, value in optional.items() if value is not None}
