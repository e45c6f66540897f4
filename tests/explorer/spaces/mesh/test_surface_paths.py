"""Straight lines, patches, log maps, transport along paths and loops, and what is kept on disk."""

from __future__ import annotations

from itertools import pairwise

import igl
import numpy as np
import potpourri3d
import pytest

from explorer.spaces.mesh.surface import Surface
from explorer.spaces.mesh.surface.topology import SurfaceError
from explorer.spaces.mesh.surface.trace import trace, triangles
from explorer.work.files import disk_cache as cache
from explorer.work.progress import Cancelled
from tests.explorer.parts.surfaces import bumpy, cone, disc, great_circle, grid, icosphere, sphere, torus, wrapped

NONE = np.zeros(0, np.int64)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Keep the user's cache out of the tests, and everything in theirs."""
    monkeypatch.setenv("EQUISCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "WORTH", 0.0)
    return tmp_path / "cache"


def ends(surface: Surface, index: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the points in space that a patch reads, (V, R, D, 3)."""
    return (weight[..., None] * surface.vertices[index]).sum(-2)


# Lines and patches.


@pytest.mark.parametrize("mesh", [sphere(300), bumpy(400), torus()], ids=["sphere", "bumpy", "torus"])
def test_lines_end_where_those_of_geometry_central_end(mesh) -> None:
    surface = Surface(*mesh)
    tracer = potpourri3d.GeodesicTracer(*mesh)
    rng = np.random.default_rng(0)
    start, angle = np.arange(0, len(mesh[0]), 3), rng.uniform(-np.pi, np.pi, -(-len(mesh[0]) // 3))
    lengths = np.array([0.02, 0.3, 1.7])
    shape = surface.shape
    where, weight = trace(shape.triangles, start, angle, lengths)
    corners = shape.halfedges.faces.reshape(-1)[where // 3 * 3 + (where % 3 + np.arange(3)[:, None, None]) % 3]
    whole = np.concatenate([1 - weight.sum(-1, keepdims=True), weight], -1)
    found = (np.moveaxis(whole, -1, 0)[..., None] * surface.vertices[corners]).sum(0)
    x, y = surface.frames[start, 0], surface.frames[start, 1]
    heading = np.cos(angle)[:, None] * x + np.sin(angle)[:, None] * y
    for k, vertex in enumerate(start):
        for r, length in enumerate(lengths):
            theirs = tracer.trace_geodesic_from_vertex(int(vertex), length * heading[k])[-1]
            assert np.abs(theirs - found[k, r]).max() < 1e-10


def test_patches_of_the_sphere_end_on_great_circles() -> None:
    means = []
    for halvings in (2, 3, 4):
        surface = Surface(*icosphere(halvings)).turned(0.7)
        index, weight = surface.patch_arrays(5, 16, 0.6)
        assert index.shape == weight.shape == (len(surface.vertices), 5, 16, 3)
        assert np.abs(weight.sum(-1) - 1).max() < 1e-14 and weight.min() > -1e-12
        angle, r = 2 * np.pi * np.arange(16) / 16, 0.6 * np.arange(1, 6) / 5
        heading = np.einsum("kd,vkx->vdx", np.stack([np.cos(angle), np.sin(angle)]), surface.frames)
        n = surface.vertices
        exact = np.cos(r)[:, None, None] * n[:, None, None] + np.sin(r)[:, None, None] * heading[:, None]
        found = ends(surface, index, weight)
        found /= np.linalg.norm(found, axis=-1, keepdims=True)
        means.append(np.linalg.norm(found - exact, axis=-1).mean())
    assert means[0] < 4e-3 and means[1] < means[0] / 1.8 and means[2] < means[1] / 1.8


def test_the_corners_are_those_of_one_face() -> None:
    surface = Surface(*bumpy(200))
    index, _ = surface.patch_arrays(2, 6, 0.5)
    faces = {tuple(sorted(f)) for f in surface.faces.tolist()}
    assert {tuple(sorted(t)) for t in index.reshape(-1, 3).tolist()} <= faces


def test_on_a_flat_piece_lines_are_straight_to_the_boundary_and_stop_there() -> None:
    """Directions along edges and diagonals meet vertices exactly; some start on the boundary and run along it."""
    for v, f in (grid(), disc()):
        surface = Surface(v, f).with_frames(np.tile([1.0, 0, 0], (len(v), 1)))
        for directions in (8, 7):
            index, weight = surface.patch_arrays(3, directions, 2.5 if v.max() > 2 else 0.4)
            angle = 2 * np.pi * np.arange(directions) / directions
            r = (2.5 if v.max() > 2 else 0.4) * np.arange(1, 4) / 3
            heading = np.stack([np.cos(angle), np.sin(angle), 0 * angle], 1)
            exact = v[:, None, None] + r[:, None, None] * heading
            alive = weight.sum(-1) > 0.5
            assert np.abs(ends(surface, index, weight) - exact)[alive].max() < 1e-11
            assert (weight[~alive] == 0).all()
            np.testing.assert_array_equal(index[~alive][:, 0], np.nonzero(~alive)[0])
            if v.max() > 2:
                low, high = exact[..., :2] > -1e-9, exact[..., :2] < np.array([11, 8]) + 1e-9
                np.testing.assert_array_equal(alive, (low & high).all(-1))
            else:  # a polygon of 40 sides
                far = np.linalg.norm(exact, axis=-1)
                assert alive[far < np.cos(np.pi / 40)].all() and not alive[far > 1 + 1e-9].any()


def test_a_line_through_the_apex_of_a_cone_has_equal_angles_on_both_sides() -> None:
    surface = Surface(*cone(4.0, sides=12, rings=5))
    shape = surface.shape
    down = np.flatnonzero((surface.edges[0] == 0) & (surface.edges[1] == 1))[0]
    where, weight = trace(shape.triangles, np.array([1]), surface.angle[[down]], np.array([3.0]))
    corners = shape.halfedges.faces.reshape(-1)[where[0, 0] // 3 * 3 + (where[0, 0] % 3 + np.arange(3)) % 3]
    whole = np.array([1 - weight[0, 0].sum(), *weight[0, 0]])
    # up to the apex is 1; two further is the corner of the second ring opposite, 6 of 12 sides on
    np.testing.assert_allclose(
        (whole[:, None] * surface.vertices[corners]).sum(0), surface.vertices[1 + 12 + 6], atol=1e-9
    )


def test_turning_the_frames_by_one_direction_rolls_the_directions() -> None:
    surface = Surface(*bumpy(300), "principal")
    for steps in (1, 3, -2):
        index, weight = surface.patch_arrays(3, 8, 0.5)
        rolled, weights = surface.turned(2 * np.pi * steps / 8).patch_arrays(3, 8, 0.5)
        one, two = ends(surface, index, weight), ends(surface, rolled, weights)
        assert np.abs(np.roll(one, -steps, 2) - two).max() < 1e-11
        assert np.abs(np.roll(one, steps, 2) - two).max() > 0.1  # the other way round is wrong


def test_single_patches_are_those_of_all() -> None:
    surface = Surface(*bumpy(200))
    index, weight = surface.patch_arrays(2, 5, 0.4)
    some, weights = surface.patch_arrays(2, 5, 0.4, vertices=[7, 150])
    np.testing.assert_array_equal(some, index[[7, 150]])
    np.testing.assert_array_equal(weights, weight[[7, 150]])
    for wrong in ((0, 5, 0.4), (2, 0, 0.4), (2, 5, 0.0), (2, 5, float("nan"))):
        with pytest.raises(SurfaceError, match="a patch needs"):
            surface.patch_arrays(*wrong)
    with pytest.raises(SurfaceError, match="there is no vertex 200"):
        surface.patch_arrays(2, 5, 0.4, vertices=[200])


def test_patches_tell_how_far_they_are_and_can_be_cancelled(monkeypatch) -> None:
    monkeypatch.setattr("explorer.spaces.mesh.surface.patches.CHUNK", 160)
    surface = Surface(*bumpy(200))
    *steps, last = surface.patches(2, 4, 0.4)
    assert steps[0] == 0 and steps[-1] == 1 and len(steps) == 6 and steps == sorted(steps)
    assert isinstance(last, tuple)
    asked = []
    with pytest.raises(Cancelled):
        for step in surface.turned(1.0).patches(2, 4, 0.4, lambda: len(asked) > 2):
            asked.append(step)
    assert len(asked) == 3


# Kept on disk.


def test_patches_come_back_from_disk_bit_for_bit(own_cache, monkeypatch) -> None:
    surface = Surface(*bumpy(150))
    first = surface.patch_arrays(3, 6, 0.5)
    assert len(list(own_cache.iterdir())) == 1
    monkeypatch.setattr("explorer.spaces.mesh.surface.patches.trace", None)  # whoever traced again would fail
    again = Surface(*bumpy(150)).patch_arrays(3, 6, 0.5)
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)
    with pytest.raises(TypeError):
        surface.patch_arrays(3, 6, 0.51)
    with pytest.raises(TypeError):
        surface.turned(0.1).patch_arrays(3, 6, 0.5)


@pytest.mark.parametrize("broken", [b"", b"nonsense", b"\xff" * 2000, None], ids=["empty", "text", "bytes", "cut"])
def test_a_broken_file_is_made_again(own_cache, broken) -> None:
    first = Surface(*bumpy(150)).patch_arrays(3, 6, 0.5)
    (path,) = own_cache.iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if broken is None else broken)
    again = Surface(*bumpy(150)).patch_arrays(3, 6, 0.5)
    np.testing.assert_array_equal(first[1], again[1])
    assert path.read_bytes() == whole


def test_arrays_of_another_size_under_the_same_key_are_not_believed(own_cache) -> None:
    first = Surface(*bumpy(150)).patch_arrays(3, 6, 0.5)
    (path,) = own_cache.iterdir()
    cache.store(path.stem, {"where": np.full((150, 3, 6), 10**6, np.int32), "weight": np.zeros((150, 3, 6, 2))}, 9.0)
    np.testing.assert_array_equal(first[0], Surface(*bumpy(150)).patch_arrays(3, 6, 0.5)[0])


def test_the_folder_is_bounded_and_what_was_not_used_goes_first(own_cache, monkeypatch) -> None:
    import os

    monkeypatch.setattr(cache, "LIMIT", 25_000)
    for k in range(4):
        cache.store(f"k{k}", {"a": np.full(1000, k, np.float64)}, 1.0)
        if k < 3:
            os.utime(own_cache / f"k{k}.safetensors", (k, k))
    assert sorted(p.stem for p in own_cache.iterdir()) == ["k1", "k2", "k3"]
    cache.store("huge", {"a": np.zeros(10_000)}, 1.0)
    assert not (own_cache / "huge.safetensors").exists() and cache.load("k3")["a"][0] == 3
    assert not [p for p in own_cache.iterdir() if p.name.endswith(".part")]


def test_what_was_quick_is_not_kept_and_a_folder_that_cannot_be_written_is_no_error(own_cache, monkeypatch) -> None:
    monkeypatch.setattr(cache, "WORTH", 0.5)
    cache.store("quick", {"a": np.zeros(3)}, 0.1)
    assert not own_cache.exists() and cache.load("quick") == {}
    own_cache.write_text("a file where the folder should be")
    cache.store("slow", {"a": np.zeros(3)}, 9.0)
    assert cache.load("slow") == {}


# Seen from a vertex.


def test_the_log_map_of_the_sphere_finds_distance_and_direction() -> None:
    for halvings, off, turn in ((3, 0.013, 0.4), (4, 0.007, 0.2)):
        surface = Surface(*icosphere(halvings)).turned(1.1)
        for vertex in (0, 17, 100):
            n, (x, y) = surface.vertices[vertex], surface.frames[vertex]
            q = surface.vertices
            exact = np.arccos(np.clip(q @ n, -1, 1))
            near = (exact > 0) & (exact < 2)
            r, angle = surface.log_map(vertex).T
            assert np.abs(r / np.where(near, exact, 1) - 1)[near].max() < off
            heading = q - (q @ n)[:, None] * n
            assert np.abs(wrapped(angle - np.arctan2(heading @ y, heading @ x)))[near].max() < np.deg2rad(turn)
            assert r[vertex] == 0


def test_the_log_map_of_a_closed_surface_is_that_of_geometry_central() -> None:
    v, f = bumpy(800)
    surface = Surface(v, f)
    solver = potpourri3d.MeshVectorHeatSolver(v, f, 1.0, False)
    for vertex in (3, 400):
        theirs = solver.compute_log_map(vertex, "AffineLocal")
        r, angle = surface.log_map(vertex).T
        apart = np.linalg.norm(theirs - np.stack([r * np.cos(angle), r * np.sin(angle)], 1), axis=1)
        # in the frame of the turned gauge only the angle changes
        np.testing.assert_allclose(
            wrapped(surface.turned(0.5).log_map(vertex)[:, 1] - angle + 0.5)[r > 0], 0, atol=1e-9
        )
        exact = np.asarray(igl.exact_geodesic(v, f, np.array([vertex]), NONE, np.arange(len(v)), NONE)).reshape(-1)
        near = (exact < 0.5 * surface.injectivity_radius(vertex)) & (exact > 0)
        assert near.sum() > 100 and apart[near].max() < 0.02
        # what is left is no more than theirs, and is theirs
        whole = (exact < surface.injectivity_radius(vertex)) & (exact > 0)
        ours, others = (np.abs(size / np.where(whole, exact, 1) - 1)[whole] for size in (r, np.hypot(*theirs.T)))
        assert ours.mean() < 0.01 and ours.mean() < 1.1 * others.mean() and ours.max() < 0.1


def test_the_injectivity_radius_of_spheres_and_tubes() -> None:
    # diffusion rounds the fold off over some h log(4 r / h), with h the mean edge: so much is the estimate below
    for surface, exact in (
        (Surface(*icosphere(4)), np.pi),
        (Surface(*torus(80, 24, 6.0, 0.8)), 0.8 * np.pi),
        (Surface(*torus(160, 48, 6.0, 0.8)), 0.8 * np.pi),
    ):
        h = surface.radius.mean()
        below = exact - surface.injectivity_radius(0)
        assert -h < below < 1.5 * h * np.log(4 * exact / h)
    flat = Surface(*grid())
    assert flat.injectivity_radius(0) == pytest.approx(flat.distance(0).max())


def test_distances_on_the_sphere() -> None:
    surface = Surface(*icosphere(4))
    exact = np.arccos(np.clip(surface.vertices @ surface.vertices[9], -1, 1))
    assert np.abs(surface.distance(9) - exact).max() < 0.05
    with pytest.raises(SurfaceError, match="there is no vertex -1"):
        surface.distance(-1)


# Along paths and around loops.


def test_a_vector_carried_along_one_edge_turns_by_its_transport() -> None:
    surface = Surface(*bumpy(300)).turned(np.random.default_rng(0).normal(size=300))
    shortest = 0
    for k in range(0, surface.edges.shape[1], 37):
        j, i = surface.edges[:, k].tolist()
        carried = surface.carry(j, i, [0.6, 0.8])
        if len(carried.points) == 2:  # else there is a shorter way than the edge
            shortest += 1
            assert abs(wrapped(carried.turn - surface.transport[k])) < 1e-9
            assert abs(wrapped(carried.angle - np.arctan2(0.8, 0.6) - carried.turn)) < 1e-9
    assert shortest > 20


@pytest.mark.parametrize("unit", [1e-49, 1e-30, 1e-9, 1e9, 1e30, 1e49])
def test_a_vector_is_carried_in_any_unit(unit: float) -> None:
    vertices, faces = bumpy(200)
    carried, other = (Surface(k * vertices, faces).carry(0, 150, [0.6, 0.8]) for k in (1.0, unit))
    np.testing.assert_allclose(other.points / unit, carried.points, atol=1e-9)
    assert abs(wrapped(other.turn - carried.turn)) < 1e-9


def test_a_vector_is_carried_far_away_from_the_origin() -> None:
    vertices, faces = bumpy(200)
    carried, other = (Surface(vertices + k, faces).carry(0, 150, [0.6, 0.8]) for k in (0.0, 2.0**20))
    np.testing.assert_allclose(other.points - 2.0**20, carried.points, atol=1e-6)
    assert abs(wrapped(other.turn - carried.turn)) < 1e-6


def test_a_vector_carried_over_the_sphere_comes_near_to_the_great_circle() -> None:
    means = []
    for halvings in (3, 5):
        surface = Surface(*icosphere(halvings))
        off = []
        for b in range(20, len(surface.vertices), len(surface.vertices) // 12):
            if abs(surface.vertices[5] @ surface.vertices[b]) > 0.9:
                continue
            carried = surface.carry(5, b, [1.0, 2.0])
            start = np.array([1.0, 2.0]) @ surface.frames[5]
            there = great_circle(surface.vertices, np.array([5]), np.array([b]), start[None])[0] @ surface.frames[b].T
            off.append(abs(wrapped(carried.angle - np.arctan2(there[1], there[0]))))
            np.testing.assert_allclose(np.linalg.norm(carried.vectors, axis=1), np.sqrt(5), rtol=1e-9)
            np.testing.assert_allclose(carried.points[[0, -1]], surface.vertices[[5, b]], atol=1e-12)
            np.testing.assert_allclose(carried.arrived @ surface.frames[b], carried.vectors[-1], atol=1e-9)
        means.append(np.mean(off))
    # a path passes each vertex on one side, and so misses its defect 4π / V or not
    assert means[0] < np.deg2rad(3) and means[1] < means[0] / 5


def test_a_path_over_a_saddle_passes_its_vertices_and_adds_up_their_transports() -> None:
    """Shortest paths run through vertices where angles add up to more than 2π: inside of a torus, along the edges."""
    around, across = 30, 12
    rng = np.random.default_rng(8)
    v, f = torus(around, across, 2.0, 0.8)
    ring = [k * across + across // 2 for k in range(6)]
    beside = np.setdiff1d(np.arange(len(v)), ring)
    v[beside] += 0.03 * rng.standard_normal((len(beside), 3))
    surface = Surface(v, f).turned(rng.normal(size=len(v)))
    carried = surface.carry(ring[0], ring[-1], [1.0, 0.0])
    np.testing.assert_allclose(carried.points, surface.vertices[ring], atol=1e-9)
    place = {edge: k for k, edge in enumerate(map(tuple, surface.edges.T.tolist()))}
    added = sum(surface.transport[place[edge]] for edge in pairwise(ring))
    assert abs(wrapped(carried.turn - added)) < 1e-9
    # the angles on both sides of the path are not equal, so that its direction alone would not do
    sides = [surface.angle[place[ring[k + 1], ring[k]]] - surface.angle[place[ring[k - 1], ring[k]]] for k in (1, 2, 3)]
    assert np.abs(wrapped(np.array(sides) - np.pi)).max() > 1e-3


def test_on_a_flat_piece_a_carried_vector_does_not_turn() -> None:
    v, f = disc()
    surface = Surface(v, f).with_frames(np.tile([1.0, 0, 0], (len(v), 1)))
    for a, b in ((0, 20), (50, 300), (3, 100)):
        carried = surface.carry(a, b, [0.3, -0.4])
        np.testing.assert_allclose(carried.vectors, np.tile([0.3, -0.4, 0], (len(carried.points), 1)), atol=1e-7)
        np.testing.assert_allclose(carried.arrived, [0.3, -0.4], atol=1e-7)
        assert np.abs(np.cross(carried.points - carried.points[0], v[b] - v[a])).max() < 1e-6


def test_paths_need_one_connected_part() -> None:
    v, f = sphere(60)
    two = Surface(np.vstack([v, v + 4]), np.vstack([f, f + 60]))
    with pytest.raises(SurfaceError, match="vertices 3 and 70 lie on parts that are not connected"):
        two.path(3, 70)
    assert len(two.path(3, 3)) == 1 and two.carry(3, 3, [1, 0]).turn == 0


@pytest.mark.parametrize(
    "mesh", [sphere(400), bumpy(500), torus(), grid(), disc()], ids="sphere bumpy torus grid disc".split()
)
def test_a_loop_turns_a_vector_by_the_curvature_inside(mesh) -> None:
    surface = Surface(*mesh).turned(np.random.default_rng(3).uniform(-4, 4, len(mesh[0])))
    for vertex in (0, 57, 100):
        for rings in (1, 2, 3):
            loop = surface.loop(vertex, rings, [0.0, 2.0])
            assert loop.vertices[0] == loop.vertices[-1]
            assert abs(wrapped(loop.holonomy - loop.curvature)) < 1e-10
            steps = set(map(tuple, surface.edges.T.tolist()))
            assert all(step in steps for step in zip(loop.vertices[:-1].tolist(), loop.vertices[1:].tolist()))
            first, last = loop.vectors[0], loop.vectors[-1]
            n = surface.normals[loop.vertices[0]]
            turned = np.cos(loop.holonomy) * first + np.sin(loop.holonomy) * np.cross(n, first)
            np.testing.assert_allclose(last, turned, atol=1e-9)
            np.testing.assert_allclose(np.linalg.norm(loop.vectors, axis=1), 2, rtol=1e-9)


def test_a_loop_runs_around_a_tower_and_not_into_it() -> None:
    v, f = grid(14, 14)
    corners = np.array([6 * 14 + 6, 6 * 14 + 7, 7 * 14 + 7, 7 * 14 + 6])
    floors = [corners, *(196 + 4 * k + np.arange(4) for k in range(20))]
    walls = [
        [[low[k], low[m], high[m]], [low[k], high[m], high[k]]]
        for low, high in pairwise(floors)
        for k, m in ((0, 1), (1, 2), (2, 3), (3, 0))
    ]
    roof = [floors[-1][[0, 1, 2]], floors[-1][[0, 2, 3]]]
    ground = f[~np.isin(f, corners).all(1)]
    points = [v, *(v[corners] + [0, 0, 0.7 * k] for k in range(1, 21))]
    surface = Surface(np.concatenate(points), np.concatenate([ground, np.reshape(walls, (-1, 3)), roof]))
    for rings in (3, 4, 5):
        loop = surface.loop(6 * 14 + 4 + 1, rings)
        assert abs(wrapped(loop.holonomy)) < 1e-9 and abs(loop.curvature) < 1e-9  # whole, a tower has no curvature
        assert len(ground) + np.arange(len(walls) * 2 + 2).max() in loop.faces  # the roof is inside
        assert np.abs(surface.vertices[loop.vertices, 2]).max() == 0


def test_around_a_cap_of_the_sphere_the_curvature_is_its_area() -> None:
    surface = Surface(*icosphere(4))
    for rings in (2, 6, 12):
        loop = surface.loop(0, rings)
        corners = surface.vertices[surface.faces[loop.faces]]
        area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum() / 2
        assert loop.curvature == pytest.approx(area, rel=0.02)


def test_a_loop_that_goes_around_is_refused() -> None:
    with pytest.raises(SurfaceError, match="cover the whole surface"):
        Surface(*sphere(100)).loop(0, 50)
    with pytest.raises(SurfaceError, match="reach around the surface"):
        Surface(*torus(40, 8, 4.0, 0.5)).loop(0, 6)
    with pytest.raises(SurfaceError, match="one ring or more"):
        Surface(*sphere(100)).loop(0, 0)


def test_flat_triangles_keep_the_lengths_of_their_sides() -> None:
    surface = Surface(*bumpy(100))
    flat = triangles(surface.shape.halfedges, surface.shape.connection)
    h = np.arange(len(flat.length))
    third = np.where(h % 3 == 0, h + 2, h - 1)
    second = np.where(h % 3 == 2, h - 2, h + 1)
    np.testing.assert_allclose(np.hypot(*flat.apex), flat.length[third], rtol=1e-12)
    np.testing.assert_allclose(np.hypot(flat.apex[0] - flat.length, flat.apex[1]), flat.length[second], rtol=1e-9)
