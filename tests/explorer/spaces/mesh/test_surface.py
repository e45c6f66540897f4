"""Frames, log maps of neighbours, transport, curvature and gauges: against closed forms, potpourri3d and libigl."""

from __future__ import annotations

import subprocess
import sys

import igl
import numpy as np
import potpourri3d
import pytest

from explorer.spaces.mesh.surface import GAUGES, Surface
from explorer.spaces.mesh.surface.topology import Halfedges, SurfaceError
from tests.explorer.parts.surfaces import bumpy, cone, disc, great_circle, grid, icosphere, sphere, torus, wrapped

LAW = 1e-12
MESHES = {
    "sphere": sphere(300),
    "bumpy": bumpy(400),
    "torus": torus(),
    "grid": grid(),
    "disc": disc(),
    "cone": cone(4.0),
}

mesh = pytest.mark.parametrize("mesh", MESHES.values(), ids=MESHES.keys())


def column(surface: Surface, source: int, target: int) -> int:
    """Return the column of an edge."""
    return int(np.flatnonzero((surface.edges[0] == source) & (surface.edges[1] == target))[0])


def rotation(seed: int) -> np.ndarray:
    """Return a random rotation of space."""
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    return turn * np.linalg.det(turn)


def across(surface: Surface) -> np.ndarray:
    """Return the column of each edge in the other direction, by brute force."""
    place = {(j, i): k for k, (j, i) in enumerate(surface.edges.T.tolist())}
    return np.array([place[i, j] for j, i in surface.edges.T.tolist()])


# What the arrays are.


@mesh
def test_each_edge_is_listed_in_both_directions_sorted_by_target(mesh) -> None:
    surface = Surface(*mesh)
    wanted = {(int(f[k]), int(f[k - 1])) for f in mesh[1] for k in range(3)}
    wanted |= {(i, j) for j, i in wanted}
    assert list(map(tuple, surface.edges.T.tolist())) == sorted(wanted, key=lambda e: (e[1], e[0]))
    np.testing.assert_allclose(
        surface.radius, np.linalg.norm(np.subtract(*mesh[0][surface.edges]), axis=1), rtol=LAW, atol=0
    )


@mesh
@pytest.mark.parametrize("gauge", GAUGES)
def test_frames_are_right_handed_and_orthonormal(mesh, gauge) -> None:
    surface = Surface(*mesh, gauge)
    x, y = surface.frames[:, 0], surface.frames[:, 1]
    whole = np.stack([x, y, surface.normals], 1)
    assert np.abs(whole @ whole.swapaxes(1, 2) - np.eye(3)).max() < LAW
    assert np.abs(np.cross(x, y) - surface.normals).max() < LAW


@mesh
def test_the_gauge_edge_is_that_of_geometry_central(mesh) -> None:
    v, f = mesh
    surface = Surface(v, f)
    solver = potpourri3d.MeshVectorHeatSolver(v, f, 1.0, False)
    inside = ~surface.boundary  # at a boundary theirs are scaled to π
    x, _, n = solver.get_tangent_frames()
    assert np.abs(n - surface.normals).max() < 1e-12
    assert np.abs(x - surface.frames[:, 0])[inside].max() < 1e-11
    j, i = surface.edges
    entry = -np.asarray(solver.get_connection_laplacian().tocsr()[i, j]).ravel()
    known = inside[i] & inside[j] & (np.abs(entry) > 1e-6)
    theirs = np.angle(entry * np.sign(surface.cotan))[known]
    assert known.any() and np.abs(wrapped(theirs - surface.transport[known])).max() < 1e-11


def test_arrays_are_read_only_and_computed_once() -> None:
    surface = Surface(*bumpy(60))
    for name in ("vertices", "faces", "edges", "radius", "angle", "transport", "frames", "normals", "mass", "cotan"):
        array = getattr(surface, name)
        assert array is getattr(surface, name)
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        surface.turned(1.0).angle[0] = 0


# Closed forms.


def test_transport_on_the_sphere_is_that_of_great_circles() -> None:
    worst = []
    for halvings in (3, 4):
        surface = Surface(*icosphere(halvings))
        j, i = surface.edges
        moved = great_circle(surface.vertices, j, i, surface.frames[j, 0])
        exact = np.arctan2((moved * surface.frames[i, 1]).sum(1), (moved * surface.frames[i, 0]).sum(1))
        worst.append(np.abs(wrapped(exact - surface.transport)).max())
        # log map: the exact direction, and the chord instead of the arc
        (q, p), (x, y) = surface.vertices[[j, i]], np.moveaxis(surface.frames[i], 1, 0)
        heading = q - (q * p).sum(1, keepdims=True) * p
        off = wrapped(surface.angle - np.arctan2((heading * y).sum(1), (heading * x).sum(1)))
        assert np.abs(off).max() < np.deg2rad(0.6 if halvings == 3 else 0.15)
        arc = np.arccos((q * p).sum(1))
        np.testing.assert_allclose(surface.radius, 2 * np.sin(arc / 2), rtol=1e-9)
    assert worst[0] < np.deg2rad(0.06) and worst[1] < worst[0] / 3.5  # of second order in the length of an edge


@pytest.mark.parametrize("flat", [grid(), disc()], ids=["grid", "disc"])
def test_a_flat_piece_has_no_transport_and_its_log_map_is_its_coordinates(flat) -> None:
    v, f = flat
    surface = Surface(v, f).with_frames(np.tile([1.0, 0, 0], (len(v), 1)))
    j, i = surface.edges
    assert np.abs(surface.transport).max() < LAW
    apart = (v[j] - v[i])[:, :2]
    np.testing.assert_allclose(
        surface.radius[:, None] * np.stack([np.cos(surface.angle), np.sin(surface.angle)], 1), apart, atol=LAW
    )
    for vertex in (0, 5, len(v) // 2, len(v) - 1):
        r, angle = surface.log_map(vertex).T
        found = np.stack([r * np.cos(angle), r * np.sin(angle)], 1)
        assert np.abs(found - (v - v[vertex])[:, :2]).max() < 1e-9


@pytest.mark.parametrize("total", [5.5, 4.0, 2.5])
def test_the_apex_of_a_cone_holds_all_its_curvature(total) -> None:
    surface = Surface(*cone(total, rings=5))
    inside = ~surface.boundary
    assert surface.angle_defect[0] == pytest.approx(2 * np.pi - total, abs=LAW)
    assert np.abs(surface.angle_defect[inside][1:]).max() < LAW
    # angles at the apex are scaled to 2π: neighbours stand evenly around
    at = np.sort(surface.angle[surface.edges[1] == 0])
    np.testing.assert_allclose(np.diff(at), 2 * np.pi / 12, atol=LAW)
    for rings in (2, 3, 4):
        around = surface.loop(0, rings)
        assert abs(wrapped(around.holonomy - (2 * np.pi - total))) < LAW
        assert around.curvature == pytest.approx(2 * np.pi - total, abs=LAW)


def test_bending_changes_nothing_of_the_intrinsic_geometry() -> None:
    flat, rolled = Surface(*grid(bend=0.0)), Surface(*grid(bend=0.4))
    assert np.abs(rolled.vertices[:, 2]).max() > 1
    for name in ("radius", "angle", "transport", "angle_defect", "mass", "cotan"):
        np.testing.assert_allclose(getattr(rolled, name), getattr(flat, name), atol=LAW, err_msg=name)
    v, f = bumpy(300)
    one, two = Surface(v, f, "gradient"), Surface(3 * v @ rotation(0).T, f, "gradient")
    np.testing.assert_allclose(wrapped(one.angle - two.angle), 0, atol=1e-7)
    np.testing.assert_allclose(one.ambiguity, two.ambiguity, atol=1e-7)


# Composition, gauge changes, mirrors.


@mesh
def test_there_and_back_is_the_identity(mesh) -> None:
    surface = Surface(*mesh).turned(np.random.default_rng(1).uniform(-9, 9, len(mesh[0])))
    back = across(surface)
    assert np.abs(wrapped(surface.transport + surface.transport[back])).max() < LAW
    # along an edge its direction is carried into itself
    assert np.abs(wrapped(surface.angle[back] + surface.transport - surface.angle - np.pi)).max() < LAW


@mesh
def test_a_gauge_change_follows_its_formulas(mesh) -> None:
    surface = Surface(*mesh)
    phi = np.random.default_rng(2).uniform(-7, 7, len(mesh[0]))
    turned = surface.turned(phi)
    j, i = surface.edges
    assert np.abs(wrapped(turned.angle - (surface.angle - phi[i]))).max() < LAW
    assert np.abs(wrapped(turned.transport - (surface.transport + phi[j] - phi[i]))).max() < LAW
    x, y = surface.frames[:, 0], surface.frames[:, 1]
    assert np.abs(turned.frames[:, 0] - (np.cos(phi)[:, None] * x + np.sin(phi)[:, None] * y)).max() < LAW
    again = surface.with_frames(turned.frames[:, 0])
    assert np.abs(wrapped(again.angle - turned.angle)).max() < LAW and again.gauge == "given"
    assert turned.shape is surface.shape and np.abs(wrapped(turned.turned(-phi).angle - surface.angle)).max() < LAW
    # the opposite sign is wrong, and seen to be
    assert np.abs(wrapped(turned.transport - (surface.transport - phi[j] + phi[i]))).max() > 0.1


@mesh
def test_a_mirror_turns_angles_and_transport_around(mesh) -> None:
    v, f = mesh
    flip = np.array([-1.0, 1, 1])
    surface = Surface(v, f)
    image = Surface(v * flip, f[:, ::-1]).with_frames(surface.frames[:, 0] * flip)
    np.testing.assert_array_equal(image.edges, surface.edges)
    assert np.abs(wrapped(image.angle + surface.angle)).max() < 1e-11
    assert np.abs(wrapped(image.transport + surface.transport)).max() < 1e-11


@pytest.mark.parametrize("gauge", ["principal", "gradient"])
def test_a_gauge_from_the_shape_moves_with_it(gauge) -> None:
    v, f = bumpy(500)
    turn = rotation(4)
    order = np.random.default_rng(5).permutation(len(f))
    one, two = Surface(v, f, gauge), Surface(v @ turn.T + 1.0, f[order], gauge)
    clear = one.ambiguity < 0.9
    off = np.linalg.norm(one.frames[:, 0] @ turn.T - two.frames[:, 0], axis=1)
    assert clear.mean() > 0.5 and np.median(off) < 1e-9 and (off[clear] < 1e-4).mean() > 0.99
    edge = Surface(v, f).frames[:, 0] @ turn.T - Surface(v @ turn.T + 1.0, f[order]).frames[:, 0]
    assert np.median(np.linalg.norm(edge, axis=1)) > 0.1  # that of "edge" depends on the list of faces


def test_principal_frames_point_to_where_the_mean_curvature_grows() -> None:
    v, f = bumpy(800)
    surface = Surface(v, f, "principal")
    _, _, k1, k2, _ = igl.principal_curvature(v, f)
    mean = (k1 + k2) / 2
    j, i = surface.edges
    ahead = np.bincount(i, np.cos(surface.angle) / surface.radius * (mean[j] - mean[i]), minlength=len(v))
    assert (ahead[surface.ambiguity < 0.9] > 0).mean() > 0.97


# Curvature.


@mesh
def test_the_curvature_adds_up_as_gauss_and_bonnet_say(mesh) -> None:
    surface = Surface(*mesh)
    chi = 2 * np.pi * surface.shape.halfedges.euler
    assert surface.angle_defect.sum() == pytest.approx(chi, abs=1e-9)
    rim = surface.angle_defect[surface.boundary].sum()
    assert surface.shape.connection.curvature.sum() == pytest.approx(chi - rim, abs=1e-9)
    assert surface.shape.halfedges.euler == igl.euler_characteristic(mesh[1])


@mesh
def test_transport_around_a_face_turns_by_its_curvature(mesh) -> None:
    surface = Surface(*mesh).turned(np.random.default_rng(6).normal(size=len(mesh[0])))
    for k, (a, b, c) in enumerate(surface.faces[:40].tolist()):
        around = sum(surface.transport[column(surface, p, q)] for p, q in ((a, b), (b, c), (c, a)))
        assert abs(wrapped(around - surface.shape.connection.curvature[k])) < LAW


@mesh
def test_the_defect_inside_is_the_curvature_of_libigl(mesh) -> None:
    surface = Surface(*mesh)
    theirs = igl.gaussian_curvature(*mesh)
    assert np.abs(surface.angle_defect - theirs)[~surface.boundary].max() < 1e-11


@pytest.mark.parametrize("gauge", ["principal", "gradient"])
@pytest.mark.parametrize(("name", "chi"), [("sphere", 2), ("bumpy", 2), ("torus", 0)])
def test_the_indices_of_a_direction_field_add_up(gauge, name, chi) -> None:
    found = Surface(*MESHES[name], gauge).singularities
    assert sum(index for _, index in found) == pytest.approx(chi)
    assert all(index % (0.5 if gauge == "principal" else 1) == 0 for _, index in found)
    assert Surface(*MESHES[name]).singularities == []


def test_principal_frames_follow_the_meridians_of_a_torus_and_are_lost_on_a_sphere() -> None:
    surface = Surface(*torus(60, 30, 3.0, 0.7), "principal")
    x, y, z = surface.vertices.T
    ring = np.hypot(x, y)
    away = np.stack([x / ring, y / ring, 0 * z], 1)
    meridian = ((ring - 3.0) / 0.7)[:, None] * [0, 0, 1.0] - (z / 0.7)[:, None] * away
    assert np.abs((surface.frames[:, 0] * meridian).sum(1)).min() > 0.99
    # along the outermost and the innermost circle the mean curvature does not grow: a line, but neither of its arrows
    turning, outside = np.abs(z) < 1e-9, (np.abs(z) > 1e-9) & (ring > 3.0)
    assert surface.ambiguity[outside].max() < 0.6 < 0.99 < surface.ambiguity[turning].min()
    assert Surface(*sphere(500), "principal").ambiguity.min() > 0.9
    assert (Surface(*grid(), "principal").ambiguity == 1).all() and (Surface(*grid()).ambiguity == 0).all()


# Laplacian.


@mesh
def test_the_laplacian_is_that_of_libigl(mesh) -> None:
    surface = Surface(*mesh)
    theirs = -igl.cotmatrix(*mesh)
    assert np.abs(surface.shape.laplacian - theirs).max() < 1e-10
    j, i = surface.edges
    np.testing.assert_allclose(surface.cotan, -np.asarray(theirs.tocsr()[i, j]).ravel(), atol=1e-10)
    barycentric = igl.massmatrix(*mesh, igl.MASSMATRIX_TYPE_BARYCENTRIC).diagonal()
    np.testing.assert_allclose(surface.mass, barycentric, rtol=1e-12)


def test_the_spectrum_of_the_sphere_is_that_of_the_harmonics() -> None:
    surface = Surface(*sphere(2000))
    values, vectors = surface.spectrum(16)
    degree = np.repeat(np.arange(4), 2 * np.arange(4) + 1)
    np.testing.assert_allclose(values, degree * (degree + 1), rtol=0.02, atol=1e-9)
    np.testing.assert_allclose(vectors.T @ (surface.mass[:, None] * vectors), np.eye(16), atol=1e-9)
    residual = surface.shape.laplacian @ vectors - surface.mass[:, None] * vectors * values
    assert np.abs(residual).max() < 1e-9
    dense = Surface(*sphere(300)).spectrum(300)[0]
    np.testing.assert_allclose(Surface(*sphere(300)).spectrum(5)[0], dense[:5], atol=1e-9)


def test_the_heat_kernel_signature_knows_no_scale() -> None:
    v, f = bumpy(500)
    one, large = Surface(v, f), Surface(40 * v, f)
    times = [0.05, 0.3, 2.0]
    np.testing.assert_allclose(large.heat_kernel_signature(times), one.heat_kernel_signature(times), rtol=1e-7)
    # on the unit sphere Σ_l (2 l + 1) exp(−l (l + 1) t), everywhere
    degree = np.arange(60)
    exact = ((2 * degree + 1) * np.exp(-degree * (degree + 1) * 0.3)).sum()
    np.testing.assert_allclose(Surface(*sphere(2000)).heat_kernel_signature([0.3])[:, 0], exact, rtol=0.01)


# The object.


def test_the_key_follows_from_the_content() -> None:
    v, f = bumpy(100)
    surface = Surface(v, f)
    assert surface.key == Surface(v.copy(), f.astype(np.int32)).key and len(surface.key) == 32
    others = [surface.turned(0.1), surface.moved(v + 1e-9), Surface(v, f, "principal"), Surface(v, np.roll(f, 1, 1))]
    assert len({surface.key, *(other.key for other in others)}) == 5


def test_moving_keeps_faces_and_rule() -> None:
    v, f = bumpy(200)
    moved = Surface(v, f, "gradient").turned(0.3).moved(2 * v)
    fresh = Surface(2 * v, f, "gradient").turned(0.3)
    np.testing.assert_allclose(moved.angle, fresh.angle, atol=LAW)
    assert moved.gauge == "gradient" and moved.faces is not None and moved.key == fresh.key


def test_importing_the_surface_imports_no_solver() -> None:
    heavy = ("igl", "potpourri3d", "torch", "scipy.sparse")
    code = f"import sys, explorer.spaces.mesh.surface; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# What is refused: much of it would end the process inside of geometry-central.

V, F = sphere(40)


def edited(change) -> tuple[np.ndarray, np.ndarray]:
    v, f = V.copy(), F.copy()
    return change(v, f) or (v, f)


def put(array, at, value) -> None:
    array[at] = value


REFUSED = {
    "isolated": (lambda v, f: (np.vstack([v, [[5.0, 5, 5]]]), f), "vertex 40 belongs to no face"),
    "three faces at an edge": (
        lambda v, f: (np.vstack([v, [[5.0, 5, 5]]]), np.vstack([f, [*f[0, :2][::-1], 40]])),
        "has 3 faces",
    ),
    "two fans at a vertex": (
        lambda v, f: (np.vstack([v, v[1:] + 3]), np.vstack([f, np.where(f == 0, 0, f + 39)])),
        "vertex 0 form more than one fan",
    ),
    "inside out": (
        lambda v, f: put(f, 3, f[3][::-1].copy()),
        "in the same direction, so that one of them is inside out",
    ),
    "no area": (lambda v, f: put(v, f[2, 0], v[f[2, 1]]), "has no area"),
    "on a line": (lambda v, f: put(v, f[2, 0], (v[f[2, 1]] + v[f[2, 2]]) / 2), r"face 2 .* has no area"),
    "a vertex twice": (lambda v, f: put(f, (4, 0), f[4, 1]), "face 4 names a vertex twice"),
    "no such vertex": (lambda v, f: put(f, (4, 0), 40), "face 4 names a vertex outside of 0 to 39"),
    "a negative number": (lambda v, f: put(f, (4, 0), -1), "face 4 names a vertex outside"),
    "no number": (lambda v, f: put(v, (7, 1), np.nan), "vertex 7 has a position that is no number"),
    "a face twice": (lambda v, f: (v, np.vstack([f, f[:1]])), "has 3 faces"),
    "no faces": (lambda v, f: (v, f[:0]), "one face or more"),
    "flat positions": (lambda v, f: (v[:, :2], f), "must be \\(V, 3\\)"),
    "broken numbers": (lambda v, f: (v, f + 0.5), "whole numbers"),
}


@pytest.mark.parametrize(("change", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_surface_is_refused_in_one_sentence(change, words) -> None:
    with pytest.raises(SurfaceError, match=words) as refusal:
        Surface(*edited(change))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("unit", [1e-300, 1e-60, 1e60, 1e100, 1e300])
def test_lengths_whose_areas_are_no_numbers_are_refused(unit: float) -> None:
    """The curvature of libigl ends the process there, and the solvers of potpourri3d speak of entries of matrices."""
    vertices, faces = icosphere(1)
    with pytest.raises(SurfaceError, match="large, and areas of that size cannot be computed"):
        Surface(unit * vertices, faces)


@pytest.mark.parametrize("unit", [1e-49, 1e49])
@pytest.mark.filterwarnings("error")
def test_what_is_measured_of_a_surface_is_measured_in_any_unit(unit: float) -> None:
    vertices, faces = bumpy(200)
    plain, other = (Surface(k * vertices, faces) for k in (1.0, unit))
    for gauge in ("principal", "gradient"):
        turns = [one.shape.rule_turn(gauge) for one in (plain, other)]
        assert np.abs(wrapped(turns[1] - turns[0])).max() < 1e-6
    np.testing.assert_allclose(other.shape.distance(3) / unit, plain.shape.distance(3), rtol=1e-9)
    away = other.shape.log_map(3, 0.0)[:, 0]
    np.testing.assert_allclose(away / unit, plain.shape.log_map(3, 0.0)[:, 0], rtol=1e-6, atol=1e-9)
    values = [one.shape.spectrum(5)[0] for one in (plain, other)]
    np.testing.assert_allclose(values[1] * unit**2, values[0], rtol=1e-6, atol=1e-9)


def test_a_coin_without_thickness_has_frames_too() -> None:
    """Its two sides share the rim, where their normals cancel out."""
    v, f = disc()
    rim = np.unique(Surface(v, f).boundary.nonzero()[0])
    other = np.arange(len(v)) + len(v)
    other[rim] = rim
    both = np.concatenate([f, other[f[:, ::-1]]])
    used, both = np.unique(both, return_inverse=True)
    coin = Surface(np.concatenate([v, v])[used], both.reshape(-1, 3))
    assert not coin.boundary.any() and np.isfinite(coin.frames).all()
    np.testing.assert_allclose(np.linalg.norm(coin.frames, axis=-1), 1, atol=LAW)
    assert np.abs(np.einsum("vkx,vx->vk", coin.frames, coin.normals)).max() < LAW
    assert coin.angle_defect.sum() == pytest.approx(4 * np.pi)


def test_small_and_open_and_several_surfaces_are_fine() -> None:
    one = Surface(np.eye(3), [[0, 1, 2]])
    assert one.boundary.all() and one.angle_defect.sum() == pytest.approx(2 * np.pi)
    v, f = sphere(60)
    two = Surface(np.vstack([v, v + 4]), np.vstack([f, f + 60]), "principal")
    np.testing.assert_array_equal(two.components, np.repeat([0, 1], 60))
    assert np.isnan(two.log_map(3)[60:]).all() and np.isinf(two.distance(3)[60:]).all()
    assert np.isfinite(two.angle).all() and two.shape.halfedges.euler == 4
    with pytest.raises(SurfaceError, match="there is no gauge 'best'"):
        Surface(v, f, "best")
    with pytest.raises(SurfaceError, match="positions for 60 vertices"):
        Surface(v, f).moved(v[1:])
    assert isinstance(two.shape.halfedges, Halfedges)
