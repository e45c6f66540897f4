"""Shipped meshes against what they are said to be: closed forms, libigl, and poses of the same vertices."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import igl
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from explorer.data.finding import find_sample, samples
from explorer.declare.samples import Sample
from explorer.spaces.mesh.drawing.thumbnail import LEAN, TURN, mesh_thumbnail
from explorer.spaces.mesh.fields import FACES, VERTEX, VERTEX_POSITION
from explorer.spaces.mesh.sample import mesh_sample
from explorer.spaces.mesh.samples.body_shape import BUILDS, LABELS, POSES, inside, posed, skeleton
from explorer.spaces.mesh.samples.surfaces import PIPE, ROLLED, SHEET, TUBE, UPRIGHT, stretch
from explorer.spaces.mesh.surface.repair import repair

ROOT = Path(__file__).resolve().parents[4]
NAMES = [name for name, spec in samples().items() if spec.domain == "mesh"]
CLOSED = [name for name in NAMES if "closed" in samples()[name].tags]
BODIES = [name for name in NAMES if "classes" in samples()[name].tags]


def shape(sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    return np.array(sample.signals["position"].values), np.array(sample.signals["faces"].values)


def euler(faces: np.ndarray) -> int:
    sides = np.unique(np.sort(np.stack([faces, np.roll(faces, -1, 1)], 2).reshape(-1, 2), 1), axis=0)
    return len(np.unique(faces)) - len(sides) + len(faces)


def enclosed(vertices: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    return float(np.einsum("fi,fi->", a, np.cross(b, c)) / 6)


def roundness(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return 4 √3 area / sum of squared sides: 1 for an equilateral triangle."""
    at = vertices[faces]
    sides = np.roll(at, -1, 1) - at
    area = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) / 2
    return np.asarray(4 * np.sqrt(3) * area / (sides**2).sum((1, 2)))


@pytest.mark.parametrize("name", NAMES)
def test_every_mesh_is_a_surface_and_keeps_its_word(name: str) -> None:
    spec = samples()[name]
    sample = spec.make()
    assert sample.name == name and sample.domain == "mesh" and sample.source and spec.title and spec.summary
    assert list(sample.signals)[:2] == ["position", "faces"]
    vertices, faces = shape(sample)
    assert vertices.dtype == np.float64 and faces.dtype == np.int64
    assert sample.x.field == VERTEX_POSITION and sample.signals["faces"].field == FACES
    assert not any(signal.values.flags.writeable for signal in sample.signals.values())
    made = repair(vertices, faces)
    assert_array_equal(made.faces, faces)  # there was nothing to repair
    assert_array_equal(made.vertices, vertices)
    assert igl.is_edge_manifold(faces)[0] and np.all(igl.is_vertex_manifold(faces))
    closed = not any("open" in note for note in made.notes)
    assert closed == (name in CLOSED) and not any("parts" in note for note in made.notes)
    assert not closed or enclosed(vertices, faces) > 0
    good = roundness(vertices, faces)
    assert good.mean() > 0.75 and good.min() > 0.3
    assert 600 < len(vertices) < 3000 or (name, len(vertices)) == ("mesh-sphere-fine", 10242)
    again = spec.make()
    assert_array_equal(again.x.values, vertices)


def test_every_kind_of_shape_is_there() -> None:
    expected = {"mesh-sphere", "mesh-torus", "bumpy-sphere", "trefoil", "saddle", "cone", "sheet", "rolled-sheet"}
    assert expected | {"body", "body-tall", *(f"body-{pose}" for pose in POSES[1:])} <= set(NAMES)
    assert {name: euler(shape(find_sample(name))[1]) for name in CLOSED} == {
        name: 0 if name in ("mesh-torus", "trefoil") else 2 for name in CLOSED
    }
    assert all(euler(shape(find_sample(name))[1]) == 1 for name in set(NAMES) - set(CLOSED))


def test_shapes_lie_where_their_equations_say() -> None:
    for name, count in (("mesh-sphere-small", 642), ("mesh-sphere", 2562), ("mesh-sphere-fine", 10242)):
        vertices, faces = shape(find_sample(name))
        assert len(vertices) == count
        assert_allclose(np.linalg.norm(vertices, axis=1), 1, atol=1e-12)
        assert enclosed(vertices, faces) == pytest.approx(4 / 3 * np.pi, rel=16 / count)
    vertices, faces = shape(find_sample("mesh-torus"))
    x, y, z = vertices.T
    assert_allclose((np.hypot(x, y) - 1) ** 2 + z**2, TUBE**2, atol=1e-12)
    assert enclosed(vertices, faces) == pytest.approx(2 * np.pi**2 * TUBE**2, rel=0.02)
    x, y, z = shape(find_sample("saddle"))[0].T
    assert_allclose(z, 0.8 * (x**2 - y**2), atol=1e-12)
    x, y, z = shape(find_sample("cone"))[0].T
    assert_allclose(z, 0.8 - 1.6 * np.hypot(x, y), atol=1e-12)
    # the length of the knot times the tube's section (Pappus)
    t = np.linspace(0, 2 * np.pi, 100_001)
    knot = np.stack([np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)]) / 3
    length = np.linalg.norm(np.diff(knot), axis=0).sum()
    assert enclosed(*shape(find_sample("trefoil"))) == pytest.approx(length * np.pi * PIPE**2, rel=0.05)


def test_the_tip_of_the_cone_holds_its_curvature() -> None:
    """The angles around the tip fall short of a full turn by 2π (1 - sin of half the opening)."""
    vertices, faces = shape(find_sample("cone"))
    defect = igl.gaussian_curvature(vertices, faces)
    assert_allclose(vertices[0], [0, 0, 0.8])
    assert defect[0] == pytest.approx(2 * np.pi * (1 - 1 / np.hypot(1, 1.6)), rel=0.05)
    inner = np.hypot(*vertices[:, :2].T) < 0.99
    inner[0] = False
    assert np.abs(defect[inner]).max() < 0.05


def test_rolling_up_stretches_nothing() -> None:
    flat, rolled = find_sample("sheet"), find_sample("rolled-sheet")
    vertices, faces = shape(flat)
    assert_array_equal(shape(rolled)[1], faces)
    assert_array_equal(flat.signals["pose:rolled"].values, rolled.x.values)
    assert_array_equal(rolled.signals["pose:flat"].values, vertices)
    assert_allclose(vertices.max(0) - vertices.min(0), [SHEET[0], SHEET[1], 0])
    radius = SHEET[0] / (2 * np.pi * ROLLED)
    x, _, z = np.array(rolled.x.values).T
    assert_allclose(np.hypot(x, z + radius), radius)
    assert 0 < stretch(vertices, np.array(rolled.x.values), faces) < 5e-4
    inner = ~np.array(igl.is_border_vertex(faces))
    assert np.abs(igl.gaussian_curvature(np.array(rolled.x.values), faces)[inner]).max() < 3e-3


@pytest.mark.parametrize("name", BODIES)
def test_bodies_have_parts_on_both_sides(name: str) -> None:
    sample = find_sample(name)
    label, side = (np.array(sample.signals[key].values) for key in ("label", "label:side"))
    assert sample.label_names == LABELS and sample.signals["label"].field == VERTEX
    assert set(label) == set(range(8)) and set(side) == {0, 1, 2}
    assert set(side[label <= 1]) == {0} and set(side[label > 1]) == {1, 2}
    pairs = np.array([[np.count_nonzero((label == k) & (side == s)) for s in (1, 2)] for k in range(2, 8)])
    assert (np.abs(pairs[:, 0] / pairs[:, 1] - 1) < 0.15).all()
    # each part on each side is in one piece
    _, faces = shape(sample)
    for k in range(8):
        for s in (0, 1, 2):
            some = (label == k) & (side == s)
            if some.any():
                inside = faces[some[faces].all(1)]
                assert len(set(igl.vertex_components(inside)[np.unique(inside)])) == 1


def test_poses_are_of_the_same_vertices() -> None:
    bodies = {pose: find_sample("body" if pose == POSES[0] else f"body-{pose}") for pose in POSES}
    for pose, body in bodies.items():
        assert_array_equal(body.signals["faces"].values, bodies["standing"].signals["faces"].values)
        for other in set(POSES) - {pose}:
            assert_array_equal(body.signals[f"pose:{other}"].values, bodies[other].x.values)
            change = stretch(*(np.array(bodies[p].x.values) for p in (pose, other)), shape(body)[1])
            assert 0.01 < change < 0.1 and any(f"{100 * change:.1f} % to {other}" in note for note in body.notes)
    part = np.array(bodies["standing"].signals["label"].values)
    height = {pose: np.array(body.x.values)[:, 1] for pose, body in bodies.items()}
    assert height["standing"].max() == pytest.approx(1.75, abs=0.1) and height["sitting"].max() < 1.5
    assert height["raised"][part == 4].min() > height["raised"][part == 0].mean() - 0.1
    assert all(abs(h.min()) < 1e-9 for h in height.values())
    feet = np.array(bodies["walking"].x.values)[part == 7][:, 2]
    assert np.ptp(feet) > 0.6
    tall = find_sample("body-tall")
    assert len(tall.x.values) != len(part) and np.array(tall.x.values)[:, 1].max() > 1.9


# how the bodies were made
@pytest.mark.slow
def test_a_body_lies_on_its_surface_and_its_parts_move_as_rigid_ones() -> None:
    for build, name in zip(BUILDS, ("body", "body-tall")):
        bones, sample = skeleton(build), find_sample(name)
        at = np.array(sample.x.values) @ UPRIGHT.T
        shift = np.array([inside(bones, at + np.array([0, 0, z])) for z in np.linspace(-0.02, 0.02, 81)])
        assert np.abs(shift).max(1).min() < 1e-3, "on the zero set, but for the height of the ground"
        assert (inside(bones, np.stack([bone.joint for bone in bones.values()])) < 0).all()
    bones = skeleton(BUILDS[0])
    points = np.random.default_rng(0).normal(size=(len(bones) * 5, 3))
    owner = np.repeat(np.arange(len(bones)), 5)
    for pose in POSES:
        moved = posed(bones, points, np.eye(len(bones))[owner], pose)
        for k in range(len(bones)):
            a, b = points[owner == k], moved[owner == k]
            gaps = [np.linalg.norm(some[:, None] - some[None], axis=2) for some in (a, b)]
            assert_allclose(gaps[0], gaps[1], atol=1e-12)
    # a joint is where both bones that meet there put it
    child = list(bones).index("shank left")
    joint, both = bones["shank left"].joint, np.zeros((2, len(bones)))
    both[[0, 1], [child, bones["shank left"].parent]] = 1
    assert_allclose(*posed(bones, np.stack([joint, joint]), both, "sitting"), atol=1e-12)


# in a process of its own, which an abort inside the library would end
HEAT = """
import numpy as np, potpourri3d as pp
from explorer.data.finding import samples
for name, spec in samples().items():
    if spec.domain == "mesh":
        made = spec.make()
        solver = pp.MeshVectorHeatSolver(*(np.array(made.signals[key].values) for key in ("position", "faces")))
        assert np.isfinite(solver.transport_tangent_vector(0, [1.0, 0.0])).all(), name
        assert np.isfinite(solver.compute_log_map(0, "VectorHeat")).all(), name
"""


@pytest.mark.slow
def test_the_vector_heat_method_works_on_every_mesh() -> None:
    done = subprocess.run([sys.executable, "-c", HEAT], cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize(
    ("vertices", "faces", "more", "says"),
    [
        (np.zeros((3, 2)), [[0, 1, 2]], {}, "vertices must be"),
        (np.eye(3), [[0, 1]], {}, "faces must be"),
        (np.eye(3), [[0, 1, 2], [0, 1, 3]], {}, "face 1 joins vertices 0, 1, 3, but there are 3 vertices"),
        (np.eye(3), [[0, 1, 1]], {}, "face 0 joins vertices 0, 1, 1, twice the same"),
        (np.eye(3), np.zeros((0, 3)), {}, "no faces"),
        (np.diag([1, np.nan, 1]), [[0, 1, 2]], {}, "the position of vertex 1 is not finite"),
        (np.eye(3), [[0, 1, 2]], {"labels": np.zeros(4)}, "label has shape (4,), and there are 3 vertices"),
        (np.eye(3), [[0, 1, 2]], {"labels": [0, 1, 2], "label_names": ("a", "b")}, "class 2, and 2 names"),
        (np.eye(3), [[0, 1, 2]], {"poses": {"up": np.zeros((4, 3))}}, "pose:up has shape (4, 3)"),
        (np.eye(3), [[0, 1, 2]], {"poses": {"up": np.full((3, 3), np.inf)}}, "the pose:up of vertex 0"),
        (np.eye(3), [[0, 1, 2]], {"more": {"scalar:a": np.zeros(2)}}, "scalar:a has shape (2,)"),
    ],
)
def test_what_is_no_mesh_is_refused(vertices: np.ndarray, faces: np.ndarray, more: dict, says: str) -> None:
    with pytest.raises(ValueError, match=r"^m: ") as caught:
        mesh_sample("m", vertices, np.asarray(faces, np.int64), **more)
    assert says in str(caught.value)


# thumbnails


@pytest.mark.parametrize("name", NAMES)
def test_thumbnails_show_the_whole_mesh(name: str) -> None:
    picture = mesh_thumbnail(find_sample(name))
    assert picture.shape == (48, 48, 3) and picture.dtype == np.uint8
    assert_array_equal(mesh_thumbnail(find_sample(name)), picture)
    drawn = (picture != 250).any(2)
    rows, columns = np.flatnonzero(drawn.any(1)), np.flatnonzero(drawn.any(0))
    assert 1 <= min(rows[0], columns[0]) <= 6 and drawn.mean() > 0.08
    assert mesh_thumbnail(find_sample(name), 20).shape == (20, 20, 3)


def test_a_sphere_is_a_full_disc_and_the_near_side_hides_the_far_one() -> None:
    drawn = (mesh_thumbnail(find_sample("mesh-sphere-small"), 60) != 250).any(2)
    assert drawn.mean() == pytest.approx(np.pi / 4 * 0.84**2, rel=0.06), "no holes"
    vertices, faces = shape(find_sample("mesh-sphere-small"))
    away = -np.array([np.sin(TURN) * np.cos(LEAN), np.cos(TURN) * np.cos(LEAN), np.sin(LEAN)])
    two = np.concatenate([faces, faces + len(vertices)])
    for first, second in ((0.0, 2.5), (2.5, 0.0)):  # one right behind the other and smaller, whichever is listed first
        places = [(1 - 0.1 * gap) * vertices + gap * away for gap in (first, second)]
        sample = mesh_sample("two", np.concatenate(places), two, labels=np.repeat([0, 1], len(vertices)))
        picture = mesh_thumbnail(sample, 96).astype(int)
        blue = (picture[..., 2] > picture[..., 0]).any()
        orange = (picture[..., 0] > picture[..., 2]).any()
        assert (blue, orange) == ((True, False) if first == 0 else (False, True))


def test_odd_meshes_have_thumbnails() -> None:
    for scale in (1e-30, 1.0, 1e30):
        assert mesh_thumbnail(mesh_sample("one", scale * np.eye(3), np.array([[0, 1, 2]]))).shape == (48, 48, 3)
    assert mesh_thumbnail(mesh_sample("none", np.zeros((3, 3)), np.array([[0, 1, 2]]))).shape == (48, 48, 3)


def test_thumbnails_take_ten_milliseconds() -> None:
    for name in ("mesh-sphere", "body"):
        sample, times = find_sample(name), []
        for _ in range(5):
            start = time.perf_counter()
            mesh_thumbnail(sample)
            times.append(time.perf_counter() - start)
        assert min(times) < 0.01
