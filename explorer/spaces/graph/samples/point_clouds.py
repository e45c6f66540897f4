"""Sets: point clouds, their kNN graphs, multisets that aggregators cannot tell apart, a sum of digits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.graph.sample import graph_sample
from explorer.spaces.graph.samples.edges import both_ways

Floats = NDArray[np.float64]
NO_EDGES = np.zeros((2, 0), np.int64)
COUNT = 256
TIED = 1e-9  # share by which squared distances may differ and be the same


def cloud(
    name: str, title: str, points: Floats, notes: tuple[str, ...] = (), label: NDArray[np.int64] | None = None
) -> Sample:
    """Wrap points (count, 2 or 3) as a set, centred and within the unit ball; x and position are the coordinates."""
    points = points - points.mean(0)
    points = points / np.linalg.norm(points, axis=1).max()
    return graph_sample(
        name, points.astype(np.float32), NO_EDGES, title=title, position=points, label=label, domain="set",
        source="computed", notes=notes,
    )  # fmt: skip


def torus_points(count: int = COUNT, seed: int = 1) -> Floats:
    """Return (count, 3) points spread evenly over a torus, by rejection: the outside has more room than the inside."""
    generator = np.random.default_rng(seed)
    angle = np.empty((0, 2))
    while len(angle) < count:
        drawn = generator.uniform(0, 2 * np.pi, (2 * count, 2))
        kept = generator.uniform(0, 1.4, len(drawn)) < 1 + 0.4 * np.cos(drawn[:, 1])
        angle = np.concatenate([angle, drawn[kept]])
    around, tube = angle[:count].T
    radius = 1 + 0.4 * np.cos(tube)
    return np.stack([radius * np.cos(around), radius * np.sin(around), 0.4 * np.sin(tube)], 1)


def sphere_points(count: int = COUNT, seed: int = 2) -> Floats:
    """Return (count, 3) points spread evenly over a sphere."""
    points = np.random.default_rng(seed).standard_normal((count, 3))
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True))


_CHAIR = (  # centre and size of the boxes: seat, back, four legs
    ((0, 0, 0), (1, 1, 0.12)),
    ((0, 0.45, 0.6), (1, 0.1, 1.1)),
    *(((x, y, -0.5), (0.12, 0.12, 0.9)) for x in (-0.42, 0.42) for y in (-0.42, 0.42)),
)


def chair_points(count: int = COUNT, seed: int = 3) -> tuple[Floats, NDArray[np.int64]]:
    """Return (count, 3) points on the faces of six boxes, by area, and which part each is on: seat, back, legs."""
    generator = np.random.default_rng(seed)
    sizes = np.array([size for _, size in _CHAIR])
    sides = np.stack([sizes[:, [1, 2]].prod(1), sizes[:, [0, 2]].prod(1), sizes[:, [0, 1]].prod(1)], 1)
    area = np.repeat(sides, 2, axis=1).ravel()
    face = generator.choice(len(area), count, p=area / area.sum())
    box, side = np.divmod(face, 6)
    points = generator.uniform(-0.5, 0.5, (count, 3))
    points[np.arange(count), side // 2] = np.where(side % 2, 0.5, -0.5)
    return points * sizes[box] + np.array([centre for centre, _ in _CHAIR])[box], np.minimum(box, 2)


_STROKES = {  # x0 y0 x1 y1, y up
    "F": ((0, 0, 0, 2), (0, 2, 1.2, 2), (0, 1.05, 0.9, 1.05)),
    "A": ((0, 0, 0.8, 2), (0.8, 2, 1.6, 0), (0.3, 0.75, 1.3, 0.75)),
    "Z": ((0, 2, 1.3, 2), (1.3, 2, 0, 0), (0, 0, 1.3, 0)),
}


def letter_points(letter: str, count: int = 120, seed: int = 5) -> Floats:
    """Return (count, 2) points along the strokes of a letter, a little off them."""
    generator = np.random.default_rng(seed)
    strokes = np.array(_STROKES[letter], np.float64)
    length = np.hypot(strokes[:, 2] - strokes[:, 0], strokes[:, 3] - strokes[:, 1])
    stroke = strokes[generator.choice(len(strokes), count, p=length / length.sum())]
    share = generator.uniform(0, 1, (count, 1))
    return np.asarray(stroke[:, :2] * (1 - share) + stroke[:, 2:] * share + generator.normal(0, 0.04, (count, 2)))


def _torus() -> Sample:
    return cloud("torus", "Torus", torus_points(), (f"{COUNT} points spread evenly",))


def _sphere() -> Sample:
    return cloud("sphere", "Sphere", sphere_points(), (f"{COUNT} points spread evenly",))


def _chair() -> Sample:
    points, part = chair_points()
    return cloud("chair", "Chair", points, ("six boxes", "classes: 0 seat, 1 back, 2 legs"), part)


def _letter(letter: str) -> Sample:
    points = letter_points(letter)
    return cloud(f"points-{letter.lower()}", f"Points of the letter {letter}", points)


def nearest(points: Floats, count: int) -> NDArray[np.int64]:
    """Return undirected edge_index of the graph that joins every point with its `count` nearest others.

    Two points are joined when either is among the nearest of the other; ties go to the lower number. Distances tie that
    rounding alone tells apart, of which a regular cloud has many.
    """
    squared = ((points[:, None] - points[None]) ** 2).sum(-1)
    np.fill_diagonal(squared, np.inf)
    order = np.argsort(squared, 1, kind="stable")
    ascending = np.take_along_axis(squared, order, 1)
    rank = np.zeros(squared.shape, np.int64)
    farther = ascending[:, 1:] > (1 + TIED) * ascending[:, :-1]
    np.put_along_axis(rank, order[:, 1:], np.cumsum(farther, 1), 1)
    chosen = np.argsort(rank, 1, kind="stable")[:, :count]
    pairs = np.stack([np.repeat(np.arange(len(points)), count), chosen.ravel()], 1)
    return both_ways(np.unique(np.sort(pairs, 1), axis=0))[0]


def _knn(name: str, title: str, points: Callable[[], Floats], count: int) -> Sample:
    at = points()
    at = (at - at.mean(0)) / np.linalg.norm(at - at.mean(0), axis=1).max()
    return graph_sample(
        name, at.astype(np.float32), nearest(at, count), title=title, position=at, source="computed",
        notes=(f"each point is joined with its {count} nearest", "x: the coordinates"),
    )  # fmt: skip


def _multisets(name: str, title: str, first: tuple[float, ...], second: tuple[float, ...], note: str) -> Sample:
    values = np.array(first + second, np.float32)[:, None]
    batch = np.repeat([0, 1], [len(first), len(second)])
    place = np.concatenate([np.arange(len(first)), np.arange(len(second))]).astype(np.float32)
    return graph_sample(
        name, values, NO_EDGES, title=title, batch=batch, position=np.stack([place, -1.5 * batch], 1), domain="set",
        names=tuple(f"{v:g}" for v in values[:, 0]), source="K. Xu et al., 2019, fig. 3", notes=(note,),
    )  # fmt: skip


def _digits() -> Sample:
    digits = np.random.default_rng(9).integers(1, 10, 9)
    x = np.eye(10, dtype=np.float32)[digits]
    place = np.stack([np.arange(9.0), np.zeros(9)], 1)
    return graph_sample(
        "digit-sum", x, NO_EDGES, title="Nine digits to add", position=place, label=digits, domain="set",
        names=tuple(map(str, digits)), source="seed 9; the task of M. Zaheer et al., 2017, section 4.1",
        notes=(f"x: one-hot of the digit, ten columns; the sum is {digits.sum()}",),
    )  # fmt: skip


_MEAN = partial(
    _multisets, "multisets-mean", "Two multisets, one mean", (1, 2), (1, 1, 2, 2),
    "the mean and the maximum are the same, the sum is not",
)  # fmt: skip
_MAX = partial(
    _multisets, "multisets-max", "Two multisets, one maximum", (1, 2, 2), (1, 1, 2),
    "the maximum is the same, the mean and the sum are not",
)  # fmt: skip
_SUM = partial(
    _multisets, "multisets-sum", "Two multisets, one sum", (1, 3, 3), (1, 2, 4),
    "sum and mean of the bare numbers are the same: a network must transform each element before it adds",
)  # fmt: skip


def _spec(name: str, title: str, domain: str, make: Callable[[], Sample], summary: str, *tags: str) -> SampleSpec:
    return SampleSpec(name, title, domain, make, summary, tags)


SAMPLES = (
    _spec("torus", "Torus", "set", _torus, "256 points on a torus; the order in which they come means nothing.", "3D"),
    _spec("sphere", "Sphere", "set", _sphere, "256 points on a sphere.", "3D"),
    _spec("chair", "Chair", "set", _chair, "256 points on six boxes; the parts are the classes.", "3D", "classes"),
    *(
        _spec(
            f"points-{letter.lower()}", f"Points of the letter {letter}", "set", partial(_letter, letter),
            f"120 points along the strokes of the letter {letter}.",
            "2D",
        )
        for letter in _STROKES
    ),
    _spec(
        "knn-torus", "Torus, 6 nearest", "graph", partial(_knn, "knn-torus", "Torus, 6 nearest", torus_points, 6),
        "The torus with every point joined with its six nearest.", "3D",
    ),
    _spec(
        "knn-chair", "Chair, 6 nearest", "graph",
        partial(_knn, "knn-chair", "Chair, 6 nearest", lambda: chair_points()[0], 6),
        "The chair with every point joined with its six nearest.", "3D",
    ),
    _spec(
        "multisets-mean", "Two multisets, one mean", "set", _MEAN,
        "{1, 2} and {1, 1, 2, 2}: only a sum tells.", "batch",
    ),
    _spec(
        "multisets-max", "Two multisets, one maximum", "set", _MAX,
        "{1, 2, 2} and {1, 1, 2}: the maximum is blind.", "batch",
    ),
    _spec(
        "multisets-sum", "Two multisets, one sum", "set", _SUM,
        "{1, 3, 3} and {1, 2, 4}: the plain sum is blind, the maximum is not.", "batch",
    ),
    _spec("digit-sum", "Nine digits to add", "set", _digits, "The sum depends on all elements and on no order."),
)  # fmt: skip
