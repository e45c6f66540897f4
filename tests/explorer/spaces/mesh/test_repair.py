"""Repair of lists of triangles: libigl says whether they became a surface, the vector heat method has to work on it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import igl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from explorer.data.finding import find_sample
from explorer.spaces.mesh.surface.repair import Repaired, repair

ROOT = Path(__file__).resolve().parents[4]
CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], np.float64)
CUBE_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
     [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)  # fmt: skip


def strip(count: int, twist: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a closed band; half a turn of twist makes it a Möbius strip."""
    t = 2 * np.pi * np.arange(count) / count
    width = np.array([-0.3, 0.0, 0.3])[None]
    ring = 1 + width * np.cos(twist * t / 2)[:, None]
    points = np.stack(
        [ring * np.cos(t)[:, None], ring * np.sin(t)[:, None], width * np.sin(twist * t / 2)[:, None]], -1
    ).reshape(-1, 3)
    faces = []
    for i in range(count):
        for k in range(2):
            a, b = 3 * i + k, 3 * i + k + 1
            last = i == count - 1
            c, d = (2 - k, 1 - k) if last and twist else (k, k + 1) if last else (a + 3, b + 3)
            faces += [[a, b, c], [b, d, c]]
    return points, np.array(faces)


def is_surface(made: Repaired) -> bool:
    """Ask libigl, and look whether every directed side occurs once and every vertex is in use."""
    a, b = made.faces.ravel(), np.roll(made.faces, -1, 1).ravel()
    sides = set(zip(a.tolist(), b.tolist()))
    return (
        bool(igl.is_edge_manifold(made.faces)[0])
        and bool(np.all(igl.is_vertex_manifold(made.faces)))
        and len(sides) == len(a)
        and len(np.unique(made.faces)) == len(made.vertices)
    )


def volume(made: Repaired) -> float:
    a, b, c = np.moveaxis(made.vertices[made.faces], 1, 0)
    return float(np.einsum("fi,fi->", a, np.cross(b, c)) / 6)


def test_what_is_whole_stays() -> None:
    for name in ("mesh-torus", "body", "saddle"):
        sample = find_sample(name)
        vertices, faces = (np.array(sample.signals[key].values) for key in ("position", "faces"))
        made = repair(vertices, faces)
        assert_array_equal(made.vertices, vertices)
        assert_array_equal(made.faces, faces)
        assert_array_equal(made.vertex, np.arange(len(vertices)))
        assert not [note for note in made.notes if "open boundary" not in note]


def test_soup_is_welded() -> None:
    made = repair(CUBE[CUBE_FACES].reshape(-1, 3), np.arange(36).reshape(-1, 3))
    assert len(made.vertices) == 8 and is_surface(made) and volume(made) == pytest.approx(1)
    assert made.notes == ("28 vertices merged with others at the same place",)
    # 0.0 and -0.0 are one place
    signed = CUBE[CUBE_FACES].reshape(-1, 3)
    signed[::2] = np.where(signed[::2] == 0, -0.0, 1.0)
    assert len(repair(signed, np.arange(36).reshape(-1, 3)).vertices) == 8


def test_a_needle_has_no_area() -> None:
    for height, kept in ((1e-5, 2), (1e-7, 1)):
        vertices = np.array([[0, 0, 0], [1, 0, 0], [0.5, height, 0], [0.5, -1, 0]])
        assert len(repair(vertices, np.array([[0, 1, 2], [0, 3, 1]])).faces) == kept


def test_empty_repeated_and_unused_are_left_out_and_counted() -> None:
    vertices = np.concatenate([CUBE, [[5.0, 5, 5], [0.5, 0, 0]]])
    faces = np.concatenate([[[0, 0, 1]], CUBE_FACES, [[0, 9, 4], [7, 6, 4], [1, 3, 0]]])
    made = repair(vertices, faces, face_place=lambda k: f"line {k + 1}", vertex_place=lambda k: f"v {k}")
    assert is_surface(made) and volume(made) == pytest.approx(1)
    assert_array_equal(made.face, np.arange(1, 13))
    assert made.notes == (
        "1 vertex left out that no face uses, the first at v 8",
        "2 faces without area left out, the first is line 1",
        "2 faces that stand twice left out, the first is line 15",
    )


def test_orientation_is_mended_and_looks_outwards() -> None:
    turned = CUBE_FACES.copy()
    turned[[1, 4, 7]] = turned[[1, 4, 7], ::-1]
    made = repair(CUBE, turned)
    assert is_surface(made) and volume(made) == pytest.approx(1)
    assert made.notes == ("3 faces turned over to agree with the others",)
    inside_out = repair(CUBE, CUBE_FACES[:, ::-1])
    assert volume(inside_out) == pytest.approx(1) and inside_out.notes == ("1 closed part turned, inside was outside",)
    half = repair(CUBE, CUBE_FACES[2:, ::-1])  # open: as it was given
    assert_array_equal(half.faces, CUBE_FACES[2:, ::-1])


def test_a_strip_with_one_side_is_cut() -> None:
    band, moebius = repair(*strip(30, 0)), repair(*strip(30, 1))
    assert not any("cut" in note for note in band.notes) and "2 open boundaries of 60 edges in all" in band.notes
    assert is_surface(moebius) and len(moebius.vertices) == 93
    assert any(note.startswith("a side that is the other side: cut along 2 edges") for note in moebius.notes)
    assert "1 open boundary of 64 edges in all" in moebius.notes


def test_fins_and_touching_parts_come_apart() -> None:
    fin = repair(np.concatenate([CUBE, [[-1.0, -1, 0.5]]]), np.concatenate([CUBE_FACES, [[0, 1, 8]]]))
    assert is_surface(fin) and len(fin.vertices) == 11
    assert fin.notes == (
        "1 edge of three faces or more cut open, the first from vertex 0 to vertex 1", "2 separate parts",
        "1 open boundary of 3 edges in all",
    )  # fmt: skip
    two = repair(np.concatenate([CUBE, CUBE + 1]), np.concatenate([CUBE_FACES, CUBE_FACES + 8]))
    assert is_surface(two) and len(two.vertices) == 16 and volume(two) == pytest.approx(2)
    assert "1 vertex added where parts touch in a single vertex, the first at vertex 7" in two.notes


@pytest.mark.parametrize(
    ("vertices", "faces", "says"),
    [
        (CUBE, np.zeros((0, 3)), "8 vertices and no faces"),
        (np.zeros((0, 3)), np.zeros((0, 3)), "no vertices and no faces"),
        (CUBE, [[0, 1, 2], [0, 1, 8]], "face 1 has vertex 8, and there are 8 vertices"),
        (CUBE, [[0, -1, 2]], "face 0 has vertex -1"),
        (np.where(np.arange(24).reshape(8, 3) == 7, np.nan, CUBE), CUBE_FACES, "the first is vertex 2"),
        (CUBE * 1e200, CUBE_FACES, "1e+200 large"),
        (CUBE * 0, CUBE_FACES, "none of its 12 faces has an area"),
        (np.concatenate([CUBE, [[1e9, 0, 0], [0, 1e9, 0]]]), [*CUBE_FACES, [0, 8, 9]], "times its shortest"),
    ],
)
def test_what_cannot_be_repaired_is_said(vertices: np.ndarray, faces: np.ndarray, says: str) -> None:
    with pytest.raises(ValueError) as caught:
        repair(np.asarray(vertices, np.float64), np.asarray(faces, np.int64))
    assert says in str(caught.value) and "\n" not in str(caught.value)


@settings(max_examples=300)
@given(data=st.data())
@pytest.mark.slow
def test_garbage_becomes_a_surface_or_one_sentence(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 9))
    number = st.integers(0, 2) | st.floats(-1e3, 1e3) | st.sampled_from([np.nan, np.inf, 1e-200, 1e300])
    vertices = np.array(data.draw(st.lists(st.tuples(*[number] * 3), min_size=count, max_size=count)), np.float64)
    corner = st.integers(0, count - 1)
    faces = np.array(data.draw(st.lists(st.tuples(corner, corner, corner), max_size=24)), np.int64)
    try:
        made = repair(vertices, faces.reshape(-1, 3))
    except ValueError as error:
        assert str(error) and "\n" not in str(error)
        return
    assert is_surface(made)
    assert_array_equal(made.vertices, vertices[made.vertex] + 0.0)
    kept = np.sort(vertices[faces[made.face]], 1)
    assert_array_equal(np.sort(made.vertices[made.faces], 1), kept + 0.0)  # nothing is moved
    again = repair(made.vertices, made.faces)
    assert len(again.faces) == len(made.faces)


# in a process of its own, which an abort inside the library would end
HEAT = """
import numpy as np, potpourri3d as pp
from explorer.spaces.mesh.surface.repair import repair
chance = np.random.default_rng(0)
worked = 0
for k in range(400):
    count, many = chance.integers(3, 12), chance.integers(1, 30)
    places = chance.standard_normal((count, 3))
    places = (chance.integers(0, 3, (count, 3)) * 1.0, places, places * 10.0 ** chance.integers(-9, 9, (count, 1)),
              places * 10.0 ** chance.integers(-30, 30))[k % 4]
    try:
        made = repair(places, chance.integers(0, count, (many, 3)))
    except ValueError:
        continue
    found = pp.MeshVectorHeatSolver(made.vertices, made.faces).transport_tangent_vector(0, [1.0, 0.0])
    assert np.isfinite(found).all() or any("parts" in note for note in made.notes), made.notes
    worked += 1
print(worked)
"""


@pytest.mark.slow
def test_the_vector_heat_method_works_on_whatever_comes_out() -> None:
    done = subprocess.run([sys.executable, "-c", HEAT], cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 200


@pytest.mark.slow
def test_a_million_triangles_take_seconds() -> None:
    side = 708
    at = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), -1).reshape(-1, 2)
    corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    lower = np.stack([corner, corner + side, corner + 1], 1)
    faces = np.concatenate([lower, np.stack([corner + 1, corner + side, corner + side + 1], 1)])
    faces[::7] = faces[::7, ::-1]
    soup = np.concatenate([at, np.sin(at[:, :1] / 10)], 1)[faces].reshape(-1, 3)
    start = time.process_time()
    made = repair(soup, np.arange(len(soup)).reshape(-1, 3))
    assert time.process_time() - start < 12 and len(made.vertices) == side**2 and len(made.faces) == len(faces)
