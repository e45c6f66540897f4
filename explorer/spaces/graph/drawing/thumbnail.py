"""A small picture of a graph or a set: drawn where its places are given or it is small, else its adjacency."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample
from explorer.spaces.graph.chemistry.atoms import element_of, one_hot
from explorer.spaces.graph.drawing.layout.given import set_apart
from explorer.work.eigenspaces import signed

Floats = NDArray[np.float64]

MOST_DRAWN = 120  # nodes that are laid out here; more without places are shown as a matrix
_MOST_EDGES = 1500
_MOST_POINTS = 2000
_FINER = 3  # drawn that much larger and averaged
_GROUND, _LINE, _DOT = (250, 250, 250), (150, 156, 168), (52, 101, 164)
# Okabe and Ito, told apart by colour-blind eyes too
_COLOURS = (_DOT, (230, 120, 0), (0, 158, 115), (204, 121, 167), (86, 180, 233), (213, 94, 0), (240, 200, 40))


def graph_thumbnail(sample: Sample, side: int = 48) -> NDArray[np.uint8]:
    """Return a picture (side, side, 3) uint8, the same for the same sample."""
    index, nodes = np.asarray(sample.signals["edge_index"].values, np.int64), len(sample.x.values)
    colour = "label" if "label" in sample.signals else "batch"
    kinds = sample.signals[colour].values if colour in sample.signals else np.zeros(nodes, np.int64)
    if "label" not in sample.signals and sample.names and all(map(element_of, sample.names)):
        kinds = one_hot([element_of(name) for name in sample.names]).argmax(1)
    if "position" in sample.signals:
        batch = np.asarray(sample.signals["batch"].values, np.int64) if "batch" in sample.signals else None
        places = _flattened(set_apart(np.asarray(sample.signals["position"].values, np.float64), batch))
    elif nodes <= MOST_DRAWN:
        places = layout(index, nodes) if index.size else _rows(nodes)
    else:
        return _matrix(index, np.asarray(kinds, np.int64), side)
    return _drawn(places, index, np.asarray(kinds, np.int64), side)


def _rows(nodes: int) -> Floats:
    across = int(np.ceil(np.sqrt(nodes)))
    row, column = np.divmod(np.arange(nodes, dtype=np.float64), max(across, 1))
    return np.stack([column, -row], 1)


def _flattened(position: Floats) -> Floats:
    """Look at three dimensions from a little above and aside."""
    if position.shape[1] == 2:
        return position
    turn, lean = 0.5, 0.45
    x, y, z = position.T
    across, deep = np.cos(turn) * x - np.sin(turn) * y, np.sin(turn) * x + np.cos(turn) * y
    return np.stack([across, np.cos(lean) * z + np.sin(lean) * deep], 1)


def layout(index: NDArray[np.integer], nodes: int) -> Floats:
    """Return (nodes, 2) places by springs, begun at the slowest vectors of the Laplacian so that it is repeatable.

    T. M. J. Fruchterman, E. M. Reingold, 1991.
    """
    if nodes < 3:
        return np.stack([np.arange(nodes, dtype=np.float64), np.zeros(nodes)], 1)
    joined = np.zeros((nodes, nodes))
    joined[index[0], index[1]] = joined[index[1], index[0]] = 1.0
    np.fill_diagonal(joined, 0.0)
    laplacian = np.diag(joined.sum(1)) - joined
    # a weak spring to the mean keeps parts together, and a distinct weight on each node settles ties
    _, vectors = np.linalg.eigh(laplacian + 1e-3 * np.diag(np.linspace(0, 1, nodes)))
    places = signed(vectors[:, 1:3] / np.abs(vectors[:, 1:3]).max(0))
    angle = 2 * np.pi * np.arange(nodes) / nodes
    places = places + 0.05 * np.stack([np.cos(angle), np.sin(angle)], 1)
    ideal = 1.5 / np.sqrt(nodes)
    steps = int(np.clip(25 * (50 / nodes) ** 2, 3, 25))  # the pairs of nodes are what takes time
    for step in range(steps):
        apart = places[:, None] - places[None]
        squared = np.einsum("ijk,ijk->ij", apart, apart) + 1e-6
        push = ideal**2 / squared - joined * np.sqrt(squared) / ideal
        move = np.einsum("ij,ijk->ik", push, apart) - 0.3 * places
        length = np.sqrt(np.einsum("ik,ik->i", move, move)) + 1e-9
        places = places + move * (np.minimum(length, 0.2 * (1 - step / steps)) / length)[:, None]
    return np.asarray(places)


def _drawn(places: Floats, index: NDArray[np.integer], kinds: NDArray[np.integer], side: int) -> NDArray[np.uint8]:
    from PIL import Image, ImageDraw

    whole, nodes = side * _FINER, len(places)
    image = Image.new("RGB", (whole, whole), _GROUND)
    if not nodes:
        return np.asarray(image.resize((side, side)))
    draw = ImageDraw.Draw(image)
    middle = (places.max(0) + places.min(0)) / 2
    reach = float(np.abs(places - middle).max()) or 1.0
    radius = float(np.clip(whole / (3.2 * np.sqrt(nodes)), 2.0, 9.0))
    at = (places - middle) * np.array([1, -1]) / reach * (whole / 2 - radius - 3) + whole / 2
    pairs = index.T[index[0] < index[1]] if len(index.T) else index.T
    pairs = np.concatenate([pairs, index.T[index[0] > index[1]]]) if len(pairs) * 2 != len(index.T) else pairs
    for a, b in pairs[:: max(1, len(pairs) // _MOST_EDGES)]:
        draw.line((*at[a], *at[b]), fill=_LINE, width=2)
    for i in range(0, nodes, max(1, nodes // _MOST_POINTS)):
        x, y = at[i]
        fill = _COLOURS[int(kinds[i]) % len(_COLOURS)] if kinds[i] >= 0 else _LINE
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=fill)
    return np.asarray(image.resize((side, side), Image.Resampling.BOX))


def _matrix(index: NDArray[np.integer], kinds: NDArray[np.integer], side: int) -> NDArray[np.uint8]:
    """Draw how densely the nodes are joined, class by class, the highest degree first."""
    nodes = len(kinds)
    degree = np.bincount(index.ravel(), minlength=nodes)
    rank = np.empty(nodes, np.int64)
    rank[np.lexsort((-degree, kinds))] = np.arange(nodes)
    cell = rank * side // nodes
    some = index[:, :: max(1, index.shape[1] // 200_000)]
    count = np.bincount(cell[some[1]] * side + cell[some[0]], minlength=side * side).reshape(side, side)
    share = np.sqrt(count / max(1, int(count.max())))[..., None]
    picture = (1 - share) * np.array(_GROUND) + share * np.array(_DOT)
    return np.asarray(picture.round(), np.uint8)
