"""Make a surface of a list of triangles: welded, without empty faces, manifold, oriented, every vertex in use.

What comes out has at most two faces at each edge, one fan of faces around each vertex, and both faces of an edge run
along it in opposite directions, as differential operators on meshes take for granted. Nothing is moved: vertices are
merged or doubled, faces are left out or turned over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.mesh.surface.topology import LEAST, MOST

Floats = NDArray[np.float64]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]

THIN = 1e-6  # a face whose height is less than this part of its longest side counts as one without area
UNLIKE = 1e6  # how many times the shortest edge the longest may be: beyond, Laplacians cannot be factorised


@dataclass(frozen=True, eq=False, slots=True)
class Repaired:
    """A surface and where it comes from: `vertex` and `face` number the given vertices and faces."""

    vertices: Floats  # (V, 3)
    faces: Index  # (F, 3)
    vertex: Index  # (V,)
    face: Index  # (F,)
    notes: tuple[str, ...] = ()


def repair(
    vertices: Floats,
    faces: Index,
    *,
    vertex_place: Callable[[int], str] = lambda k: f"vertex {k}",
    face_place: Callable[[int], str] = lambda k: f"face {k}",
) -> Repaired:
    """Return the surface that (V, 3) vertices and (F, 3) faces stand for, with a note of every change.

    The places say where a vertex or face stands in a file ("line 7"); vertices and faces keep their order.

    Raises:
        ValueError: a clause saying which number is not finite, which vertex is not there, or that no face is left.
    """
    vertices = np.ascontiguousarray(vertices, np.float64).reshape(-1, 3) + 0.0  # no -0.0
    faces = np.ascontiguousarray(faces, np.int64).reshape(-1, 3)
    _refuse(vertices, faces, vertex_place, face_place)
    notes: list[str] = []
    first, same = _merged(vertices)
    if len(first) < len(vertices):
        notes.append(f"{_count(len(vertices) - len(first), 'vertex', 'vertices')} merged with others at the same place")
        faces = same[faces]
    used = np.unique(faces)
    if len(used) < len(first):
        lost = np.setdiff1d(np.arange(len(first)), used)
        notes.append(
            f"{_count(len(lost), 'vertex', 'vertices')} left out that no face uses, "
            f"the first at {vertex_place(int(first[lost[0]]))}"
        )
    kept = _without(faces, _empty(vertices[first], faces), "without area", face_place, notes)
    kept = kept[
        _without(faces[kept], _repeated(faces[kept]), "that stand twice", lambda k: face_place(int(kept[k])), notes)
    ]
    if not len(kept):
        raise ValueError(f"none of its {_count(len(faces), 'face', 'faces')} has an area")
    origin, faces = first, faces[kept]
    _refuse_unlike(vertices[origin[faces]])
    faces, origin = _manifold(faces, origin, vertex_place, notes)
    faces, origin = _oriented(vertices, faces, origin, notes)
    used = np.unique(faces)
    number = np.empty(len(origin), np.int64)
    number[used] = np.arange(len(used))
    faces, origin = number[faces], origin[used]
    notes += _shape(faces, len(origin))
    return Repaired(vertices[origin], faces, origin, kept, tuple(notes))


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _refuse(
    vertices: Floats, faces: Index, vertex_place: Callable[[int], str], face_place: Callable[[int], str]
) -> None:
    if not len(faces):
        points = _count(len(vertices), "vertex", "vertices") if len(vertices) else "no vertices"
        raise ValueError(f"it has {points} and no faces")
    outside = (faces < 0) | (faces >= len(vertices))
    if outside.any():
        row, corner = (int(i) for i in np.argwhere(outside)[0])
        raise ValueError(
            f"{face_place(row)} has vertex {faces[row, corner]}, and there are {len(vertices)} vertices (from 0)"
        )
    finite: Mask = np.asarray(np.isfinite(vertices).all(1))
    if not finite.all():
        bad = int(np.argmin(finite))
        more = len(finite) - int(np.count_nonzero(finite))
        raise ValueError(
            f"{_count(more, 'vertex has', 'vertices have')} a coordinate that is NaN or infinite, "
            f"the first is {vertex_place(bad)}"
        )
    low, high = vertices[faces].min((0, 1)), vertices[faces].max((0, 1))
    extent = float(np.abs(np.concatenate([low, high])).max())
    if not LEAST < extent < MOST and extent:
        raise ValueError(f"it is {extent:.0e} large, and areas of that size cannot be computed")


def _refuse_unlike(at: Floats) -> None:
    """Refuse (F, 3, 3) faces whose edges are of sizes that no computation holds together."""
    sides = np.linalg.norm(np.roll(at, -1, 1) - at, axis=2)
    if (ratio := float(sides.max() / sides.min())) > UNLIKE:
        raise ValueError(f"its longest edge is {ratio:.1g} times its shortest, and the most is {UNLIKE:.0f}")


def _merged(vertices: Floats) -> tuple[Index, Index]:
    """Return which vertex comes first at each place, in the order of the vertices, and (V,) its rank."""
    bits = vertices.view(np.uint64)
    # one sort of mixed bits instead of three sorts of coordinates
    key = bits[:, 0] * np.uint64(0x9E3779B97F4A7C15)
    for axis, factor in ((1, np.uint64(0xC2B2AE3D27D4EB4F)), (2, np.uint64(0x165667B19E3779F9))):
        key = (key ^ (key >> np.uint64(29))) + bits[:, axis] * factor
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    if not (vertices[first[inverse]] == vertices).all():  # two places with one key
        _, first, inverse = np.unique(vertices, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(first), np.int64)
    rank[order] = np.arange(len(first))
    return np.asarray(first[order], np.int64), rank[inverse.ravel()]


def _empty(vertices: Floats, faces: Index) -> Mask:
    """Return (F,) which faces are a point or a line."""
    at = vertices[faces]
    sides = np.roll(at, -1, 1) - at
    longest = np.einsum("fki,fki->fk", sides, sides).max(1)
    twice = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    pair = (faces == np.roll(faces, 1, 1)).any(1)
    return np.asarray(pair | (twice <= THIN * longest))


def _repeated(faces: Index) -> Mask:
    """Return (F,) which faces have the same three corners as one before them."""
    if not len(faces):
        return np.zeros(0, np.bool_)
    corners = np.sort(faces, 1)
    order = np.lexsort((corners[:, 2], corners[:, 1], corners[:, 0]))  # stable: the first stays first
    again = np.zeros(len(faces), np.bool_)
    again[order[1:]] = (corners[order[1:]] == corners[order[:-1]]).all(1)
    return again


def _without(faces: Index, wrong: Mask, what: str, place: Callable[[int], str], notes: list[str]) -> Index:
    """Return which faces stay, and note how many do not."""
    if wrong.any():
        count = int(np.count_nonzero(wrong))
        notes.append(f"{_count(count, 'face', 'faces')} {what} left out, the first is {place(int(np.argmax(wrong)))}")
    return np.flatnonzero(~wrong)


@dataclass(frozen=True, eq=False, slots=True)
class _Sides:
    """The sides of faces, side k of face f from corner k to corner k + 1, gathered by the edge on which they lie."""

    order: Index  # (3 F,) sides sorted by edge; side = 3 f + k
    start: Index  # (E,) where each edge begins in `order`
    number: Index  # (E,) how many sides lie on it

    def pairs(self) -> Index:
        """Return (P, 2) the two sides of every edge that has two."""
        at = self.start[self.number == 2]
        return np.stack([self.order[at], self.order[at + 1]], 1)


def _sides(faces: Index) -> _Sides:
    a, b = faces.ravel(), np.roll(faces, -1, 1).ravel()
    key = np.minimum(a, b) * (int(faces.max()) + 1) + np.maximum(a, b)
    order = np.argsort(key, kind="stable")
    run = key[order]
    start = np.flatnonzero(np.concatenate([[True], run[1:] != run[:-1]]))
    return _Sides(order, start, np.diff(np.concatenate([start, [len(run)]])))


def _along(faces: Index, pairs: Index) -> Mask:
    """Return (P,) whether two sides of an edge run in the same direction, as those of well oriented faces do not."""
    return np.asarray(faces.ravel()[pairs[:, 0]] == faces.ravel()[pairs[:, 1]])


def _components(count: int, pairs: Index) -> tuple[int, Index]:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(pairs), np.int8)
    found, label = connected_components(coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(count, count)), False)
    return int(found), np.asarray(label, np.int64)


def _glued(faces: Index, origin: Index, pairs: Index) -> tuple[Index, Index]:
    """Take all faces apart and glue them along `pairs` of sides alone; return new faces and origin.

    The corners of a new vertex are those that glued edges join, so they are one fan. A fan has two ends at most, so
    no edge of the result has more than two faces.
    """
    begin, end = pairs, pairs // 3 * 3 + (pairs + 1) % 3
    along = _along(faces, pairs)[:, None]
    joined = np.concatenate(
        [
            np.stack([begin[:, 0], np.where(along, begin, end)[:, 1]], 1),
            np.stack([end[:, 0], np.where(along, end, begin)[:, 1]], 1),
        ]
    )
    count, fan = _components(faces.size, joined)
    # a vertex's first fan keeps its number, so that vertices stay in order; the others come after
    old = np.empty(count, np.int64)
    first = np.full(count, faces.size, np.int64)
    np.minimum.at(first, fan, np.arange(faces.size))
    old[fan] = faces.ravel()
    rank = np.lexsort((first, old))
    leads = np.concatenate([[True], old[rank][1:] != old[rank][:-1]])
    number = np.empty(count, np.int64)
    number[rank[leads]] = old[rank[leads]]
    number[rank[~leads]] = len(origin) + np.arange(count - int(np.count_nonzero(leads)))
    return number[fan].reshape(-1, 3), np.concatenate([origin, origin[old[rank[~leads]]]])


def _manifold(faces: Index, origin: Index, place: Callable[[int], str], notes: list[str]) -> tuple[Index, Index]:
    """Cut open edges of three faces and more, and split vertices at which several fans meet."""
    sides = _sides(faces)
    many = np.flatnonzero(sides.number > 2)
    pairs = sides.pairs()
    split, fresh = _glued(faces, origin, pairs)
    if many.size:
        side = sides.order[sides.start[many]]
        at = np.argmin(side)  # the edge of the earliest face
        ends = [int(origin[faces.ravel()[s]]) for s in (side[at], side[at] // 3 * 3 + (side[at] + 1) % 3)]
        notes.append(
            f"{_count(len(many), 'edge', 'edges')} of three faces or more cut open, "
            f"the first from {place(ends[0])} to {place(ends[1])}"
        )
    elif len(fresh) > len(origin):
        notes.append(
            f"{_count(len(fresh) - len(origin), 'vertex', 'vertices')} added where parts touch in a single vertex, "
            f"the first at {place(int(fresh[len(origin)]))}"
        )
    return split, fresh


def _oriented(vertices: Floats, faces: Index, origin: Index, notes: list[str]) -> tuple[Index, Index]:
    """Turn faces over until neighbours agree, closed parts outwards; cut where that cannot be (a Möbius strip)."""
    pairs = _sides(faces).pairs()
    against = _along(faces, pairs)
    turned = np.zeros(len(faces), np.bool_)
    if against.any():
        turned, torn = _turns(len(faces), pairs // 3, against)
        if torn.any():
            notes.append(f"a side that is the other side: cut along {_count(int(torn.sum()), 'edge', 'edges')}")
            faces, origin = _glued(faces, origin, pairs[~torn])
            pairs = _sides(faces).pairs()
    parts, part = _components(len(faces), pairs // 3)
    # of both ways to orient a part, the one that turns fewer faces ...
    most = 2 * np.bincount(part[turned], minlength=parts) > np.bincount(part, minlength=parts)
    turned ^= most[part]
    if turned.any():
        notes.append(f"{_count(int(turned.sum()), 'face', 'faces')} turned over to agree with the others")
        faces = np.where(turned[:, None], faces[:, ::-1], faces)
    # ... unless it is closed: then the one that looks outwards
    closed = 2 * np.bincount(part[pairs[:, 0] // 3], minlength=parts) == 3 * np.bincount(part, minlength=parts)
    at = vertices[origin[faces]]
    middle = np.stack([np.bincount(part, at[:, 0, i], parts) for i in range(3)], 1) / np.bincount(part)[:, None]
    a, b, c = np.moveaxis(at - middle[part][:, None], 1, 0)
    inside = closed & (np.bincount(part, np.einsum("fi,fi->f", a, np.cross(b, c)), parts) < 0)
    if inside.any():
        notes.append(f"{_count(int(inside.sum()), 'closed part', 'closed parts')} turned, inside was outside")
        faces = np.where(inside[part][:, None], faces[:, ::-1], faces)
    return np.ascontiguousarray(faces), origin


def _turns(count: int, pairs: Index, against: Mask) -> tuple[Mask, Mask]:
    """Return (F,) which faces to turn over and (P,) which pairs disagree even then.

    Along a forest that spans the pairs of neighbours, a face is turned when an odd number of disagreements leads to it:
    in the double cover of the forest it is joined with the turned copy of the first face.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    # two faces may share two edges: an entry stands for one pair, found again by its number
    weight = np.arange(1, len(pairs) + 1, dtype=np.float64)
    key = np.sort(pairs, 1)
    _, first = np.unique(key[:, 0] * count + key[:, 1], return_index=True)
    graph = coo_array((weight[first], (key[first, 0], key[first, 1])), shape=(count, count))
    tree = minimum_spanning_tree(graph.tocsr()).data.round().astype(np.int64) - 1
    one, other, crossed = pairs[tree, 0], pairs[tree, 1], against[tree] * count
    cover = np.concatenate([np.stack([one, other + crossed], 1), np.stack([one + count, other + count - crossed], 1)])
    _, sheet = _components(2 * count, cover)
    turned = np.asarray(sheet[:count] > sheet[count:])
    return turned, np.asarray(against ^ turned[pairs[:, 0]] ^ turned[pairs[:, 1]])


def _shape(faces: Index, count: int) -> list[str]:
    """Count separate parts and open boundaries."""
    notes = []
    ends = np.stack([faces.ravel(), np.roll(faces, -1, 1).ravel()], 1)
    parts, _ = _components(count, ends)
    if parts > 1:
        notes.append(f"{parts} separate parts")
    sides = _sides(faces)
    open_ends = ends[sides.order[sides.start[sides.number == 1]]]
    if len(open_ends):
        loops, _ = _components(count, open_ends)
        loops -= count - len(np.unique(open_ends))
        notes.append(f"{_count(loops, 'open boundary', 'open boundaries')} of {len(open_ends)} edges in all")
    return notes
