"""Meshes: spheres, a torus, a knot, open sheets, a tip, and bodies in several poses; all computed.

Spheres are subdivided icosahedra, tubes and sheets are grids cut into triangles as even as they can be.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.mesh.sample import mesh_sample
from explorer.spaces.mesh.samples.body_shape import BUILDS, FOLDER, LABELS, POSES, SIDES, UNIT

Floats = NDArray[np.float64]
Index = NDArray[np.int64]
Surface = tuple[Floats, Index]  # vertices (V, 3), faces (F, 3)

TUBE, PIPE = 0.45, 0.19  # radii of the torus and of the knot
SHEET = (2 * np.pi, 3.0)  # the sheet's length, which closes a circle of radius 1, and its width
ROLLED = 0.75  # of the circle


def icosphere(times: int) -> Surface:
    """Return the unit sphere: an icosahedron whose faces are cut into four `times` times, 10 * 4^times + 2 vertices."""
    golden = (1 + np.sqrt(5)) / 2
    base = [(s, t * golden, 0.0) for s in (-1.0, 1.0) for t in (-1.0, 1.0)]
    vertices = np.array([corner[k:] + corner[:k] for k in range(3) for corner in base])
    vertices /= np.linalg.norm(vertices[0])
    gaps = np.linalg.norm(vertices[:, None] - vertices[None], axis=2)
    near = (gaps > 0.1) & (gaps < 1.1)  # the edges
    found = [
        (i, j, k) for i in range(12) for j in range(i) for k in range(j) if near[i, j] and near[j, k] and near[i, k]
    ]
    faces = outwards(vertices, np.array(found))
    for _ in range(times):
        sides = np.sort(np.stack([faces, np.roll(faces, -1, 1)], 2).reshape(-1, 2), 1)
        edges, number = np.unique(sides[:, 0] * len(vertices) + sides[:, 1], return_inverse=True)
        a, b = np.divmod(edges, len(vertices))
        middle = vertices[a] + vertices[b]
        mid = (number.reshape(-1, 3) + len(vertices)).T
        vertices = np.concatenate([vertices, middle / np.linalg.norm(middle, axis=1, keepdims=True)])
        x, y, z = faces.T
        parts = ((x, mid[0], mid[2]), (y, mid[1], mid[0]), (z, mid[2], mid[1]), (mid[0], mid[1], mid[2]))
        faces = np.stack([np.stack(part, 1) for part in parts], 1).reshape(-1, 3)
    return vertices, faces


def outwards(vertices: Floats, faces: Index) -> Index:
    """Turn faces about a convex body around 0 so that they are counter-clockwise seen from outside."""
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    return np.where((np.einsum("fi,fi->f", a, np.cross(b, c)) < 0)[:, None], faces[:, ::-1], faces)


def lattice(rows: int, columns: int, rows_close: bool, columns_close: bool) -> tuple[Index, Floats, Floats]:
    """Return triangles of a lattice with every other row shifted by half, and (V,) row and column of its vertices.

    A direction that closes ends where it begins. Rows that close must be even in number, so that the shifts meet.
    """
    row, column = np.divmod(np.arange(rows * columns), columns)
    i = np.arange(rows if rows_close else rows - 1)[:, None]
    j = np.arange(columns if columns_close else columns - 1)

    def at(r: Index, c: Index) -> Index:
        return np.asarray((r % rows) * columns + c % columns)

    here, right = at(i, j), at(i, j + 1)
    up, up_right = at(i + 1, j), at(i + 1, j + 1)
    odd = i % 2 == 1
    first = np.stack([here, right, np.where(odd, up_right, up)], 2)
    second = np.stack([np.where(odd, here, right), up_right, up], 2)
    faces = np.concatenate([first, second], 1).reshape(-1, 3)
    return faces, row.astype(np.float64), column + 0.5 * (row % 2)


def sheet() -> Surface:
    """Return a flat strip of triangles that are nearly equilateral, straight at both ends, 49 x 29 vertices."""
    rows, columns = 29, 49
    faces, row, column = lattice(rows, columns, False, False)
    # the ends of shifted rows are pulled to the border
    x = np.where(column >= columns - 1, columns - 1.0, np.where((row % 2 == 1) & (column < 1), 0.0, column))
    x, y = x / (columns - 1) * SHEET[0], row / (rows - 1) * SHEET[1]
    return np.stack([x - SHEET[0] / 2, y - SHEET[1] / 2, np.zeros_like(x)], 1), faces


def rolled(vertices: Floats) -> Floats:
    """Return the sheet's vertices rolled up to a part of a cylinder: lengths on the surface stay."""
    radius = SHEET[0] / (2 * np.pi * ROLLED)
    angle = vertices[:, 0] / radius
    return np.stack([radius * np.sin(angle), vertices[:, 1], radius * (np.cos(angle) - 1)], 1)


def torus() -> Surface:
    """Return a torus of radii 1 and 0.45 about the z axis, 26 x 60 vertices."""
    faces, row, column = lattice(26, 60, True, True)
    u, v = 2 * np.pi * column / 60, 2 * np.pi * row / 26
    ring = 1 + TUBE * np.cos(v)
    return np.stack([ring * np.cos(u), ring * np.sin(u), TUBE * np.sin(v)], 1), faces


def trefoil() -> Surface:
    """Return a tube along a trefoil knot, 14 x 150 vertices."""
    around, along = 14, 150
    faces, row, column = lattice(around, along, True, True)

    def knot(t: Floats) -> Floats:
        return np.stack([np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)], -1)

    fine = knot(np.linspace(0, 2 * np.pi, 4001))
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(fine, axis=0), axis=1))])
    t = np.interp(column / along * length[-1], length, np.linspace(0, 2 * np.pi, 4001))
    tangent = knot(t + 1e-4) - knot(t - 1e-4)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    # level and across: a frame that closes by itself, since the knot is nowhere upright
    across = np.stack([-tangent[:, 1], tangent[:, 0], np.zeros(len(t))], 1)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    above = np.cross(tangent, across)
    v = 2 * np.pi * row[:, None] / around
    return knot(t) / 3 + PIPE * (np.cos(v) * across + np.sin(v) * above), faces[:, ::-1]


def bumpy_sphere(seed: int) -> Surface:
    """Return a sphere with 24 smooth bumps and dents at random places, 2562 vertices."""
    vertices, faces = icosphere(4)
    chance = np.random.default_rng(seed)
    at = chance.standard_normal((24, 3))
    at /= np.linalg.norm(at, axis=1, keepdims=True)
    height = chance.uniform(-0.16, 0.24, 24)
    radius = 1 + np.exp(14 * (vertices @ at.T - 1)) @ height
    return vertices * radius[:, None], faces


def disc(rings: int) -> Surface:
    """Return the unit disc: a vertex in the middle and 6 k on ring k, 1 + 3 n (n + 1) vertices."""
    start = np.concatenate([[0], 1 + 3 * np.arange(rings + 1) * np.arange(1, rings + 2)])
    ring = np.repeat(np.arange(rings + 1), np.maximum(6 * np.arange(rings + 1), 1))
    place = np.arange(len(ring)) - start[ring]
    angle = 2 * np.pi * place / np.maximum(6 * ring, 1)
    faces = []
    for k in range(1, rings + 1):
        inner, outer = max(6 * (k - 1), 1), 6 * k
        j = np.arange(outer)
        # the sector of side s has k outer vertices and k - 1 inner ones
        sector, within = np.divmod(j, k)
        below = (sector * (k - 1) + within) % inner + start[k - 1]
        faces.append(np.stack([below, start[k] + j, start[k] + (j + 1) % outer], 1))
        some = within > 0
        before = (sector * (k - 1) + within - 1) % inner + start[k - 1]
        faces.append(np.stack([before, start[k] + j, below], 1)[some])
    at = np.stack([ring * np.cos(angle), ring * np.sin(angle)], 1) / rings
    return np.pad(at, ((0, 0), (0, 1))), np.concatenate(faces)


def saddle() -> Surface:
    """Return z = 0.8 (x^2 - y^2) over the unit disc, 1261 vertices."""
    vertices, faces = disc(20)
    vertices[:, 2] = 0.8 * (vertices[:, 0] ** 2 - vertices[:, 1] ** 2)
    return vertices, faces


def cone() -> Surface:
    """Return a cone of height 1.6 above the unit disc, open below, 1261 vertices; the tip is vertex 0."""
    vertices, faces = disc(20)
    vertices[:, 2] = 1.6 * (0.5 - np.linalg.norm(vertices[:, :2], axis=1))
    return vertices, faces


UPRIGHT = np.array([[-1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])  # (x, y, z) -> (-x, z, y), a rotation


@cache
def _body(name: str) -> dict[str, NDArray[np.integer]]:
    with np.load(FOLDER / f"{name}.npz", allow_pickle=False) as arrays:
        return {key: arrays[key] for key in arrays.files}


def stretch(first: Floats, second: Floats, faces: Index) -> float:
    """Return by what part the length of an edge changes from one pose to another, in the mean over all edges."""
    sides = np.sort(np.stack([faces, np.roll(faces, -1, 1)], 2).reshape(-1, 2), 1)
    ends = np.divmod(np.unique(sides[:, 0] * len(first) + sides[:, 1]), len(first))
    a, b = (np.linalg.norm(at[ends[0]] - at[ends[1]], axis=1) for at in (first, second))
    return float(np.abs(b / a - 1).mean())


def _bodies(name: str, build: str, title: str, pose: str) -> Sample:
    arrays = _body(build)
    # built with z up and looking along y; y up and looking along z is how most viewers and files have it
    places: dict[str, Floats] = {key: arrays[key].astype(np.float64) @ UPRIGHT * UNIT for key in POSES}
    faces = arrays["faces"].astype(np.int64)
    changes = ", ".join(
        f"{100 * stretch(places[pose], places[key], faces):.1f} % to {key}" for key in POSES if key != pose
    )
    return mesh_sample(
        name, places[pose], faces, labels=arrays["label"], label_names=LABELS, title=title,
        poses={key: at for key, at in places.items() if key != pose},
        more={"label:side": arrays["side"].astype(np.int64)}, source="computed: body_shape.py",
        notes=(
            "metres, y up; the body looks along z",
            "classes: " + ", ".join(f"{k} {label}" for k, label in enumerate(LABELS)),
            "label:side: " + ", ".join(f"{k} {side}" for k, side in enumerate(SIDES)),
            f"the same vertices in {len(POSES)} poses; mean change of an edge's length: {changes}",
        ),
    )  # fmt: skip


def _mesh(name: str, title: str, make: Callable[[], Surface], *notes: str) -> Sample:
    return mesh_sample(name, *make(), title=title, source="computed", notes=notes)


def _sheet(name: str, title: str, is_rolled: bool) -> Sample:
    flat, faces = sheet()
    round_ = rolled(flat)
    change = stretch(flat, round_, faces)
    own, other = (round_, {"flat": flat}) if is_rolled else (flat, {"rolled": round_})
    return mesh_sample(
        name, own, faces, poses=other, title=title, source="computed",
        notes=(f"lengths on the surface stay; edges, as they cut corners, change by {100 * change:.2f} %",),
    )  # fmt: skip


def _spec(name: str, title: str, summary: str, make: Callable[[], Surface], *tags: str) -> SampleSpec:
    return SampleSpec(name, title, "mesh", partial(_mesh, name, title, make), summary, tags)


SAMPLES = (
    _spec("mesh-sphere", "Sphere, 2562 vertices", "Curved alike everywhere.", partial(icosphere, 4), "closed"),
    _spec("mesh-sphere-small", "Sphere, 642 vertices", "The coarse sphere.", partial(icosphere, 3), "closed"),
    _spec("mesh-sphere-fine", "Sphere, 10242 vertices", "The fine sphere.", partial(icosphere, 5), "closed"),
    _spec("mesh-torus", "Torus, as a mesh", "Curved outwards outside, like a saddle inside.", torus, "closed"),
    _spec("bumpy-sphere", "Bumpy sphere", "No place like the other.", partial(bumpy_sphere, 6), "closed"),
    _spec("trefoil", "Trefoil knot", "A torus from within: only space sees the knot.", trefoil, "closed"),
    _spec("saddle", "Saddle", "Curved up one way and down the other.", saddle, "open"),
    _spec("cone", "Cone", "Flat everywhere but at the tip, where a turn remains.", cone, "open"),
    SampleSpec("sheet", "Sheet", "mesh", partial(_sheet, "sheet", "Sheet", False),
               "A flat strip, to be rolled up without stretching.", ("open", "poses")),
    SampleSpec("rolled-sheet", "Rolled sheet", "mesh", partial(_sheet, "rolled-sheet", "Rolled sheet", True),
               "The strip, rolled up: from within nothing has changed.", ("open", "poses")),
    *(
        SampleSpec(
            build.name if pose == POSES[0] else f"{build.name}-{pose}", f"{title}, {pose}", "mesh",
            partial(_bodies, build.name if pose == POSES[0] else f"{build.name}-{pose}", build.name,
                    f"{title}, {pose}", pose),
            summary, ("closed", "poses", "classes"),
        )
        for build, title, summary, poses in (
            (BUILDS[0], "Body", "Eight parts as classes; the same vertices in every pose.", POSES),
            (BUILDS[1], "Tall body", "Other proportions and other triangles than the body.", POSES[:1]),
        )
        for pose in poses
    ),
)  # fmt: skip
