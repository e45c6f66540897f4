"""Places of the parts of a drawn graph: what is seen, what is under the cursor, hulls, curves. Numpy only, no Qt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
SAMPLES = 1_500_000  # points that a picture of very many edges is made of
BOW = 5.0  # pixels between two edges that join the same nodes
BOWED = 200_000  # lines up to which those that share their ends part
PARTED = 500  # nodes up to which none is drawn over another
LARGEST = 13.0  # pixels of the radius of a node
# of a node, in the order in which a text is tried there
SIDES = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), (0.71, -0.71), (0.71, 0.71), (-0.71, -0.71), (-0.71, 0.71)])
STEPS = 6  # straight pieces of a bowed edge, for hits


@dataclass(frozen=True, slots=True)
class Eye:
    """The section that is seen: the place in the middle of a panel, and pixels to a unit of the layout. Up is up.

    Places that mean nothing may be stretched: `wide` is by how much more in width than in height.
    """

    x: float = 0.0
    y: float = 0.0
    scale: float = 40.0
    wide: float = 1.0

    @property
    def units(self) -> tuple[float, float]:
        """Return the pixels of a unit to the right and up."""
        return self.scale * max(self.wide, 1.0), self.scale * max(1 / self.wide, 1.0)

    def screen(self, places: Array, width: float, height: float) -> Array:
        """Return pixels right and down from the upper left corner of a panel of that size."""
        points = np.empty((len(places), 2), np.float32 if len(places) > 5000 else float)
        right, up = self.units
        points[:, 0] = (places[:, 0] - self.x) * right + width / 2
        points[:, 1] = (places[:, 1] - self.y) * -up + height / 2
        return points

    def world(self, at: tuple[float, float], width: float, height: float) -> tuple[float, float]:
        right, up = self.units
        return self.x + (at[0] - width / 2) / right, self.y - (at[1] - height / 2) / up

    def shift(self, other: Eye) -> tuple[float, float]:
        """Return where the middle of another eye is seen, in pixels right and down from one's own."""
        right, up = self.units
        return (other.x - self.x) * right, (self.y - other.y) * up

    def panned(self, right: float, down: float) -> Eye:
        across, up = self.units
        return replace(self, x=self.x - right / across, y=self.y + down / up)

    def zoomed(self, at: tuple[float, float], factor: float, width: float, height: float) -> Eye:
        """Return the eye with what is at that pixel kept there."""
        x, y = self.world(at, width, height)
        grown = replace(self, scale=min(max(self.scale * factor, 1e-3), 1e4))
        across, up = grown.units
        return replace(grown, x=x - (at[0] - width / 2) / across, y=y + (at[1] - height / 2) / up)


def fitted(
    low: tuple[float, float], high: tuple[float, float], width: float, height: float, margin: float, most: float = 1.0
) -> Eye:
    """Return the eye that sees a box of places with a margin in pixels, stretched up to `most` times to fill it."""
    across, up = max(high[0] - low[0], 1e-6), max(high[1] - low[1], 1e-6)
    room_x, room_y = max(width - 2 * margin, 8.0), max(height - 2 * margin, 8.0)
    wide = min(max(room_x / across / (room_y / up), 1 / most), most)
    eye = Eye((low[0] + high[0]) / 2, (low[1] + high[1]) / 2, 1.0, wide)
    right, upright = eye.units
    return replace(eye, scale=min(room_x / (across * right), room_y / (up * upright), 140.0))


def beside_in(width: float, margin: float, label: float) -> float:
    """Return the room at either side of a graph beyond its margin, for a number of that width beside a node."""
    return min(max(LARGEST + 6.0 + label - margin, 0.0), 0.05 * width) if label else 0.0


def margin_in(width: float, height: float, labelled: bool, *more: float) -> float:
    """Return the margin round a graph in a panel of that size, with more for what is drawn outside of its nodes.

    Of a small panel most is for the graph, not for the labels of the outermost nodes.
    """
    least = min(width, height)
    usual = min(22.0, 10 + 0.05 * least)
    labels = min(max(0.12 * least - usual, 0.0), 10.0) if labelled else 0.0
    return usual + labels + sum(more)


def node_radius(nodes: int, across: float, up: float, scale: float, apart: float = math.inf) -> float:
    """Return the radius in pixels of a node of ordinary size, for so many in a box of that size.

    `apart` is the distance of the two nearest ones: they do not overlap, unless that left nothing to see of them.
    """
    if nodes < 2:
        return 12.0
    # nodes in a row have the row's length to share, however flat their box is
    room = scale * math.sqrt(max(across, up / nodes) * max(up, across / nodes) / nodes)
    wanted = min(max(0.22 * room, 8.0 if room >= 26 else 1.0), LARGEST)
    return min(wanted, max(0.46 * apart * scale, 2.5))


def nearest(places: Array) -> float:
    """Return the distance of the two nodes that are nearest to each other."""
    if not 2 <= len(places) <= PARTED or not np.isfinite(places).all():
        return math.inf
    from scipy.spatial import cKDTree

    return float(cKDTree(places).query(places, k=2, workers=1)[0][:, 1].min())


def room_between(places: Array, pins: Sequence[int], lines: Strands) -> float:
    """Return the distance that the radius of nodes follows: of the two nearest ones, of a molecule the usual bond.

    Hands may put nodes upon others, and of a molecule in space some atoms lie behind others.
    """
    if lines.kinds is not None and len(lines.start) and int(max(lines.start.max(), lines.end.max())) < len(places):
        return float(np.median(np.hypot(*(places[lines.start] - places[lines.end]).T)))
    return nearest(np.delete(places, [i for i in pins if i < len(places)], axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class Strands:
    """The edges that are drawn: `listed` are their columns in `edges`, `lane` how far each one bows, in lanes.

    `single` are those that stand for both ways of an undirected edge where the ways do not differ, `lane_single` how
    far they bow then. `kinds` are those of chemical bonds, 1 to 3 and 4 for aromatic, None where edges are none.
    `under` (2, E) are the edges of the graph where the lines are none of them: they are seen faintly below.
    """

    start: Array
    end: Array
    listed: Array
    lane: Array
    single: Array
    lane_single: Array
    loop: Array
    loops: bool  # whether there is one
    kinds: Array | None = None
    under: Array | None = None


def strands(edges: Array, directed: bool, both: bool = False, bonds: Array | None = None) -> Strands:
    """Return the lines of a graph: of an undirected edge one, unless `both` ways carry values of their own."""
    index = np.arange(edges.shape[1])
    keep = index if directed or both else np.flatnonzero(edges[0] <= edges[1])
    start, end = edges[0, keep], edges[1, keep]
    single = np.ones(len(keep), bool) if directed else start <= end
    lane_single = np.zeros(len(keep))
    lane_single[single] = _lanes(start[single], end[single])
    loop = start == end
    kinds = None if bonds is None else bonds[keep]
    return Strands(start, end, keep, _lanes(start, end), single, lane_single, loop, bool(loop.any()), kinds)


def _lanes(start: Array, end: Array) -> Array:
    """Return the places of lines among those that join the same two nodes, 0 being straight."""
    if len(start) > BOWED:
        return np.zeros(len(start), np.float32)
    low, high = np.minimum(start, end), np.maximum(start, end)
    key = low * (int(high.max(initial=0)) + 1) + high
    order = np.lexsort((start, key))
    ordered = key[order]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(ordered) else np.zeros(0, np.int64)
    sizes = np.diff(np.r_[first, len(ordered)])
    rank = np.arange(len(ordered)) - np.repeat(first, sizes)
    lane = np.empty(len(ordered))
    lane[order] = rank - (np.repeat(sizes, sizes) - 1) / 2
    # the side is that of the pair, not of the direction: the two ways of one edge must part, not coincide
    lane *= np.where(start <= end, 1.0, -1.0)
    loops = start == end
    lane[loops] = np.abs(lane[loops])
    return lane


def control(a: Array, b: Array, lane: Array) -> Array:
    """Return the control points of edges from a to b, (n, 2) pixels: half of it is how far they bow."""
    along = b - a
    length = np.maximum(np.hypot(*along.T), 1e-9)
    normal = np.stack([-along[:, 1], along[:, 0]], 1) / length[:, None]
    bow = 2 * BOW * lane * np.minimum(1.0, length / 40)
    return np.asarray((a + b) / 2 + normal * bow[:, None])


def along(a: Array, c: Array, b: Array, t: float) -> Array:
    """Return the points of the curves at t from 0 to 1."""
    return np.asarray((1 - t) ** 2 * a + 2 * t * (1 - t) * c + t * t * b)


def seen(points: Array, start: Array, end: Array, width: float, height: float, margin: float = 20.0) -> Array:
    """Return which lines may cross a panel: those not wholly beyond one of its sides."""
    x, y = points[:, 0], points[:, 1]
    # a bit for each side that a node is beyond: a line with both ends beyond the same one is not seen
    side = (x < -margin) + 2 * (x > width + margin) + 4 * (y < -margin) + 8 * (y > height + margin)
    side = side.astype(np.uint8)
    if not side.any():
        return np.ones(len(start), bool)
    return np.asarray((side[start] & side[end]) == 0)


def node_under(places: Array, at: tuple[float, float], eye: Eye, reach: float) -> int | None:
    """Return the node nearest to a place, among those within `reach` pixels of it."""
    units = np.array(eye.units)
    near = np.flatnonzero(np.abs(places[:, 0] - at[0]) <= reach / units[0])
    if not len(near):
        return None
    away = np.hypot(*((places[near] - np.array(at)) * units).T)
    best = int(away.argmin())
    return int(near[best]) if away[best] <= reach else None


def edge_under(
    points: Array, lines: Strands, at: tuple[float, float], radius: float = 6.0, reach: float = 5.0
) -> int | None:
    """Return the line within `reach` pixels of a point, as an index into `lines`; the nearest."""
    a, b = points[lines.start], points[lines.end]
    spot = np.array(at)
    low, high = np.minimum(a, b) - 24, np.maximum(a, b) + 24
    near = np.flatnonzero(((spot >= low) & (spot <= high)).all(axis=1))
    if not len(near):
        return None
    a, b, lane = a[near], b[near], lines.lane[near]
    c = control(a, b, lane)
    best = np.full(len(near), np.inf)
    for k in range(STEPS):
        p, q = along(a, c, b, k / STEPS), along(a, c, b, (k + 1) / STEPS)
        d = q - p
        t = (((spot - p) * d).sum(1) / np.maximum((d * d).sum(1), 1e-9)).clip(0, 1)
        best = np.minimum(best, np.hypot(*(p + d * t[:, None] - spot).T))
    loop = lines.loop[near]
    if loop.any():
        middle, big = loop_circles(a[loop], lane[loop], radius, points)
        best[loop] = np.abs(np.hypot(*(middle - spot).T) - big)
    found = int(best.argmin())
    return int(near[found]) if best[found] <= reach else None


def loop_circles(at: Array, lane: Array, radius: float, points: Array) -> tuple[Array, Array]:
    """Return centre and radius of the circles that are self-loops, on the side away from the whole graph."""
    out = at - points.mean(axis=0)
    length = np.hypot(*out.T)[:, None]
    out = np.where(length > 1e-6, out / np.maximum(length, 1e-6), np.array([0.0, -1.0]))
    big = np.maximum(radius, 3.0) * (1.0 + 0.45 * np.abs(lane))
    return at + out * (0.6 * max(radius, 3.0) + big)[:, None], big


def hull(points: Array) -> Array:
    """Return the corners of the convex hull in order; fewer than three where there is none."""
    from scipy.spatial import ConvexHull, QhullError

    distinct = np.unique(points, axis=0)
    if len(distinct) < 3:
        return np.asarray(distinct)
    try:
        return np.asarray(distinct[ConvexHull(distinct).vertices])
    except QhullError:  # all on one line
        line = distinct[np.lexsort(distinct.T[::-1])]
        return np.asarray(line[[0, -1]])


def inside(points: Array, polygon: Array) -> Array:
    """Return which points lie in a closed polygon (even-odd rule)."""
    result = np.zeros(len(points), bool)
    x, y = points[:, 0], points[:, 1]
    for (ax, ay), (bx, by) in zip(polygon, np.roll(polygon, -1, axis=0)):
        if ay != by:
            crossing = (ay > y) != (by > y)
            result ^= crossing & (x < (bx - ax) * (y - ay) / (by - ay) + ax)
    return result


def clipped(a: Array, b: Array, width: float, height: float) -> tuple[Array, Array, Array]:
    """Return which lines cross a panel, and where those enter and leave it (Liang and Barsky)."""
    d = b - a
    low, high = np.zeros(len(a), np.float32), np.ones(len(a), np.float32)
    with np.errstate(divide="ignore", invalid="ignore"):
        for axis, size in ((0, width), (1, height)):
            first, second = -a[:, axis] / d[:, axis], (size - a[:, axis]) / d[:, axis]
            still = d[:, axis] == 0
            beyond = still & ((a[:, axis] < 0) | (a[:, axis] > size))
            near, far = np.minimum(first, second), np.maximum(first, second)
            low = np.where(still, np.where(beyond, 2.0, low), np.maximum(low, near))
            high = np.where(still, high, np.minimum(high, far))
    index = np.flatnonzero(low < high)
    low, high, a, d = low[index, None], high[index, None], a[index], d[index]
    return index, a + d * low, a + d * high


def ink(
    a: Array, b: Array, weight: Array | None, width: int, height: int, budget: int = SAMPLES
) -> tuple[Array, Array | None]:
    """Return how much line crosses each pixel, and its mean weight (None without weights): (height, width) each.

    Every line is sampled at even distances, so often as its share of all length allows: at each pixel if it can be.
    """
    index, a, b = clipped(a.astype(np.float32), b.astype(np.float32), width, height)
    weight = None if weight is None else weight[index].astype(np.float32)
    d = b - a
    length = np.hypot(*d.T)
    density = min(1.0, budget / max(float(length.sum()), 1.0))
    rng = np.random.default_rng(0)
    offset = rng.random(len(a), dtype=np.float32)
    # few different numbers of samples, so that all lines with one of them are worked out together
    steps = np.unique(np.round(1.3 ** np.arange(34)).astype(np.int64))
    which = np.searchsorted(steps, np.floor(length * density + rng.random(len(a), dtype=np.float32)), side="right") - 1
    total, heavy = np.zeros(width * height + 1), np.zeros(width * height + 1)
    order = np.argsort(which, kind="stable")
    bounds = np.searchsorted(which[order], np.arange(len(steps) + 1))
    for k, count in enumerate(steps.tolist()):
        for low in range(bounds[k], bounds[k + 1], max(1, 400_000 // count)):
            mine = order[low : min(low + max(1, 400_000 // count), bounds[k + 1])]
            t = (np.arange(count, dtype=np.float32) + offset[mine, None]) / count
            x = (a[mine, :1] + d[mine, :1] * t).astype(np.int32)
            y = (a[mine, 1:] + d[mine, 1:] * t).astype(np.int32)
            cell = (np.minimum(y, height - 1) * width + np.minimum(x, width - 1)).ravel()
            amount = np.repeat(np.minimum(length[mine] / count, 2 / density), count)
            total += np.bincount(cell, amount, width * height + 1)
            if weight is not None:
                heavy += np.bincount(cell, amount * np.repeat(weight[mine], count), width * height + 1)
    # a line too short for its share is drawn or left out by chance, as which == -1 says
    shade, mean = total[:-1].reshape(height, width).astype(np.float32), None
    strong = heavy[:-1].reshape(height, width).astype(np.float32)
    if density < 0.7:  # what was sampled thinly is smoothed, so that it reads as shade and not as grain
        from scipy.ndimage import uniform_filter

        size = 3 if density > 0.15 else 5
        shade = uniform_filter(shade, size)
        strong = uniform_filter(strong, size) if weight is not None else strong
    if weight is not None:
        mean = strong / np.maximum(shade, 1e-6)
    return shade, mean


def legible(
    boxes: Array, order: Array, width: float, height: float, most: int = 400, taken: Array | None = None
) -> list[int]:
    """Return which boxes (n, 4: x, y, width, height) can stand together, the first in `order` first.

    `taken` (m, 4: left, top, right, bottom) is not to be written on.
    """
    kept: list[int] = []
    used = np.zeros((0, 4)) if taken is None else taken
    for i in order:
        x, y, w, h = boxes[i]
        if x < 0 or y < 0 or x + w > width or y + h > height:
            continue
        clash = (used[:, 0] < x + w) & (used[:, 2] > x) & (used[:, 1] < y + h) & (used[:, 3] > y)
        if clash.any():
            continue
        kept.append(int(i))
        used = np.concatenate([used, [[x, y, x + w, y + h]]])
        if len(kept) >= most:
            break
    return kept


def _ways(points: Array, lines: Strands) -> dict[int, Array]:
    """Return the unit vectors (k, 2) along the lines of each node, away from it."""
    start, end = np.concatenate([lines.start, lines.end]), np.concatenate([lines.end, lines.start])
    along = points[end] - points[start]
    length = np.hypot(*along.T)
    order = np.argsort(start[length > 0], kind="stable")
    nodes, first = np.unique(start[length > 0][order], return_index=True)
    units = (along[length > 0] / length[length > 0, None])[order]
    return dict(zip(nodes.tolist(), np.split(units, first[1:]), strict=True)) if len(nodes) else {}


def beside(
    points: Array, radii: Array, order: Array, sizes: Array, seen: Array, room: tuple[float, float], taken: Array,
    must: int = 0, most: int = 250, lines: Strands | None = None,
) -> dict[int, Array]:  # fmt: skip
    """Return boxes (x, y, width, height) for texts beside their nodes and over none, the first in `order` first.

    Of the sides with room the one is taken that the node's lines leave free, as far as one does.

    Args:
        radii: of all nodes, (N,).
        sizes: width and height of each text, in the order of `order`.
        seen: the nodes that are drawn.
        taken: (m, 4: left, top, right, bottom) that are not to be written on.
        must: how many of the first have a text even where there is no room.
    """
    ways = _ways(points, lines) if lines is not None else {}
    used, found = taken, dict[int, Array]()
    centres, around = points[seen], radii[seen]
    for rank, (i, (wide, high)) in enumerate(zip(order.tolist(), sizes.tolist(), strict=True)):
        gap, (x, y) = float(radii[i]) + 2.0, points[i]
        slant = 0.71 * gap
        corners = np.array([
            (x + gap, y - high / 2), (x - gap - wide, y - high / 2), (x - wide / 2, y + gap - 2),
            (x - wide / 2, y - gap - high + 2), (x + slant, y - slant - high + 2), (x + slant, y + slant - 2),
            (x - slant - wide, y - slant - high + 2), (x - slant - wide, y + slant - 2),
        ])  # fmt: skip
        ends = corners + np.array([wide, high])
        ok = (corners >= 0).all(1) & (ends <= room).all(1)
        if len(used):
            apart = (used[:, :2] >= ends[:, None]) | (used[:, 2:] <= corners[:, None])
            ok &= apart.any(2).all(1)
        away = np.maximum(np.maximum(corners[:, None] - centres, centres - ends[:, None]), 0)
        ok &= ((away**2).sum(2) >= (0.9 * around) ** 2).all(1)
        if not ok.any() and rank >= must:
            continue
        chosen = int(ok.argmax())
        if i in ways and ok.any():
            near = np.round((SIDES @ ways[i].T).max(1), 1)  # the cosine of the angle to the nearest line
            chosen = int(np.where(ok, np.maximum(near, 0.4), np.inf).argmin())
        corner = corners[chosen]
        found[i] = np.array([*corner, wide, high])
        used = np.concatenate([used, [[*corner, *ends[chosen]]]])
        if len(found) >= most:
            break
    return found
