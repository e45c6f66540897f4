"""Means to make large meshes bearable: the order of elimination, nothing run or traced twice, progress, cancelling."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import meshio
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy.sparse.linalg import splu, spsolve

from explorer.app.answering.engine import LocalEngine
from explorer.data.writers import write_file
from explorer.declare.elements import chain_element, parse_chain, transforms
from explorer.declare.registry import scan
from explorer.declare.samples import Sample, Signal
from explorer.equivariance.measure import unmoved
from explorer.spaces.mesh.drawing.values import MeshPart
from explorer.spaces.mesh.elements.word import SurfaceWord
from explorer.spaces.mesh.fields import FACES, VERTEX_POSITION
from explorer.spaces.mesh.network.fit import surface_of
from explorer.spaces.mesh.surface import Surface, curvature
from explorer.spaces.mesh.surface.dissection import nested_dissection
from explorer.spaces.mesh.surface.topology import SurfaceError
from explorer.spaces.mesh.surface.trace import trace
from explorer.square.analyses.orbits import orbit, orbit_values
from explorer.square.frame import Frame
from explorer.state.state import State
from explorer.work import progress
from explorer.work.budget import held_bytes, materials
from explorer.work.eigenspaces import Factors
from explorer.work.progress import Cancelled
from tests.explorer.parts.surfaces import bumpy, sphere, torus
from tests.widgets.soak.holdings import heap

MESH = "mesh-sphere-small"


@pytest.fixture(scope="module")
def engine() -> LocalEngine:
    import models

    return LocalEngine(scan(models, "CARD"))


def answer(engine: LocalEngine, chain: str = "", model: str = "gem-cnn", **more: Any) -> Frame:
    steps = parse_chain(chain) if chain else ()
    return engine.answer(State(model=model, sample=MESH, steps=steps, **more), lambda: False)


# The order of elimination.


@pytest.mark.parametrize("mesh", [bumpy(3000), torus(), sphere(20), sphere(5)], ids=["bumpy", "torus", "20", "5"])
def test_every_vertex_is_eliminated_once(mesh: Any) -> None:
    surface = Surface(*mesh)
    order = nested_dissection(surface.vertices, surface.edges)
    assert sorted(order) == list(range(len(surface.vertices)))


def test_vertices_in_one_place_and_separate_parts_are_ordered_too() -> None:
    v, f = sphere(200)
    two = Surface(np.concatenate([v, v + 5]), np.concatenate([f, f + len(v)]))
    assert sorted(nested_dissection(two.vertices, two.edges)) == list(range(400))
    assert sorted(nested_dissection(np.zeros((200, 3)), Surface(v, f).edges)) == list(range(200))
    assert len(nested_dissection(np.zeros((0, 3)), np.zeros((2, 0), np.int64))) == 0


def fan(number: int) -> tuple[Any, Any]:
    """Return the vertices and faces of a cone of that many faces round its tip."""
    turn = np.linspace(0, 6, number + 1)
    rim = np.stack([np.cos(turn), np.sin(turn), 0 * turn], 1)
    ring = np.arange(1, number + 1)
    return np.concatenate([[[0, 0, 1.0]], rim]), np.stack([0 * ring, ring, ring + 1], 1)


def shuffled(number: int) -> tuple[Any, Any]:
    """Return a surface whose neighbours lie anywhere."""
    v, f = bumpy(number)
    return np.random.default_rng(0).permutation(v), f


@pytest.mark.parametrize("mesh", [fan(6000), shuffled(6000)], ids=["fan", "noise"])
def test_little_fills_in_where_places_do_not_tell_what_to_cut(mesh: Any) -> None:
    """Tens of millions of numbers did, of 6,000 vertices: minutes during which nothing could be cancelled."""
    surface = Surface(*mesh)
    matrix = (sp.diags(surface.mass) + 0.01 * surface.shape.laplacian).tocsc()
    order = nested_dissection(surface.vertices, surface.edges)
    assert sorted(order) == list(range(len(surface.vertices)))
    assert Factors(matrix, order).entries < 100 * len(surface.vertices)


def test_curvature_piece_by_piece_is_that_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library keeps the interpreter, so that the window stands still while one piece is measured."""
    surface = Surface(*bumpy(3000))
    whole = curvature.principal_curvatures(surface.vertices, surface.shape.halfedges)
    monkeypatch.setattr(curvature, "PIECE", 500)
    heard: list[float] = []
    with progress.listening(lambda text, share: heard.append(share)):
        pieces = curvature.principal_curvatures(surface.vertices, surface.shape.halfedges)
    assert len(heard) > 5
    for one, other in zip(whole, pieces, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_tip_of_too_many_faces_has_no_principal_curvature() -> None:
    with pytest.raises(SurfaceError, match="vertex 0 has 3,001 neighbours"):
        Surface(*fan(3000), "principal").turn  # noqa: B018  # 45 s of 10,000


def test_more_parts_than_eigenvectors_are_told() -> None:
    """They were searched for without an end: 0 is an eigenvalue as often as there are parts."""
    v, f = sphere(20)
    many = [(v + np.array([3 * k, 0, 0]), f + k * len(v)) for k in range(30)]
    surface = Surface(np.concatenate([v for v, _ in many]), np.concatenate([f for _, f in many]))
    with pytest.raises(SurfaceError, match="in 30 parts, which 20 eigenvectors"):
        surface.spectrum(20)
    whole = surface.heat_kernel_signature([0.1, 1e4], 40)  # in the end heat is spread over its part
    np.testing.assert_allclose(surface.heat_kernel_signature([0.1, 1e4], 20), whole[:, [1, 1]], rtol=1e-6)


@pytest.mark.slow
def test_fewer_numbers_fill_in_than_in_the_order_of_the_library() -> None:
    surface = Surface(*bumpy(4000))
    matrix = (sp.diags(surface.mass) + 0.01 * surface.shape.laplacian).tocsc()
    order = nested_dissection(surface.vertices, surface.edges)
    ours, theirs = Factors(matrix, order), splu(matrix, permc_spec="COLAMD", diag_pivot_thresh=0.0)
    mixed = Factors(matrix, np.random.default_rng(0).permutation(4000))
    assert ours.entries < 0.85 * theirs.nnz < 0.5 * mixed.entries


@pytest.mark.parametrize("kind", [float, complex])
def test_factors_solve_what_they_are_asked(kind: type) -> None:
    surface = Surface(*bumpy(700))
    matrix = (sp.diags(surface.mass) + 0.01 * surface.shape.laplacian).tocsc().astype(kind)
    right: Any = np.random.default_rng(1).normal(size=(700, 3)).astype(kind)
    factors = Factors(matrix, surface.shape.elimination)
    expected = spsolve(matrix, right)
    np.testing.assert_allclose(factors.solve(right), expected, rtol=0, atol=1e-12 * abs(expected).max())
    np.testing.assert_allclose(factors.solve(right[:, 1]), expected[:, 1], rtol=0, atol=1e-12 * abs(expected).max())


# Nothing is run twice.


@pytest.mark.parametrize(
    ("model", "chain", "times"),
    [
        ("gem-cnn", "rotate3d:0,30", 0),
        ("gem-cnn", "translate3d:1,2,3", 0),
        ("gem-cnn", "mirror3d:x", 1),  # angles are seen the other way round
        ("gem-cnn", "gauge:20,4", 1),
        ("mesh-heat", "gauge:20,4", 0),  # has no frames
        ("mesh-heat", "permute:3", 1),
    ],
)
def test_a_network_runs_only_where_it_is_given_something_else(
    engine: LocalEngine, model: str, chain: str, times: int
) -> None:
    answer(engine, chain, model)  # what is asked once of an epoch is known then
    network = engine.prepared(State(model=model, sample=MESH), model).model
    calls: list[int] = []
    handle = network.register_forward_pre_hook(lambda *_: calls.append(1))
    try:
        answer(engine, chain, model)
    finally:
        handle.remove()
    assert len(calls) == times


def test_the_answer_that_is_not_computed_again_is_the_one_that_would_be(engine: LocalEngine) -> None:
    frame = answer(engine, "rotate3d:0,30,10", layer="act1")
    p = engine.prepared(frame.state, "gem-cnn")
    element = chain_element(frame.state.steps).on(p.inputs)
    again = p.run(p.inputs.moved(element))["act1"].detach()
    part = frame.squares[0].of(MeshPart)
    assert part is not None
    np.testing.assert_array_equal(part.answer, again.numpy().reshape(len(again), -1))
    assert not np.array_equal(part.moved.vertices, part.shape.vertices)
    assert part.moved.faces is part.shape.faces and part.moved.edges is part.shape.edges


def test_tensors_are_unmoved_only_when_all_numbers_are_equal() -> None:
    a, b = torch.rand(5), torch.rand(5)
    assert unmoved((a, b), (a, b.clone()))
    assert not unmoved((a, b), (b, a))
    assert not unmoved((a,), (a, b))
    other = b.clone()
    other[3] += 1e-6
    assert not unmoved((a, b), (a, other))
    assert not unmoved((a * float("nan"),), (a.clone() * float("nan"),))


# Nothing is traced twice.


def test_only_the_patches_of_turned_frames_are_traced_again(monkeypatch: pytest.MonkeyPatch) -> None:
    mesh = bumpy(600)
    lines: list[int] = []
    surface = Surface(*mesh)
    reach = 4 * float(surface.radius.mean())
    before = surface.patch_arrays(3, 8, reach)

    def counted(flat: Any, vertex: Any, *rest: Any) -> Any:
        lines.append(len(vertex))
        return trace(flat, vertex, *rest)

    monkeypatch.setattr("explorer.spaces.mesh.surface.patches.trace", counted)
    phi = np.zeros(600)
    phi[[4, 77]] = 0.3, -1.0
    phi[9] = 2 * np.pi  # no turn at all
    here = surface.turned(phi).patch_arrays(3, 8, reach)
    assert lines == [2 * 8]
    fresh = Surface(*mesh).turned(phi).patch_arrays(3, 8, reach)
    np.testing.assert_array_equal(here[0], fresh[0])
    np.testing.assert_allclose(here[1], fresh[1], atol=1e-9)
    # what was traced before is left as it was
    lines.clear()
    for old, new in zip(before, surface.patch_arrays(3, 8, reach), strict=True):
        np.testing.assert_array_equal(old, new)
    assert not lines
    surface.turned(np.full(600, 0.2)).patch_arrays(3, 8, reach)
    assert sum(lines) == 600 * 8  # all are turned


# The orbit.
@pytest.mark.slow
def test_an_orbit_makes_its_surfaces_as_it_goes(engine: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    state = State(model="mesh-heat", sample=MESH, orbit="bend")
    p = engine.prepared(state, "mesh-heat")
    bound, on = 0, SurfaceWord.on

    def counted(self: SurfaceWord, inputs: Any) -> Any:
        nonlocal bound
        bound += 1
        return on(self, inputs)

    monkeypatch.setattr(SurfaceWord, "on", counted)
    curves = orbit(p, state, batch=2, count=6)
    first = next(curves)
    assert bound == 2 == first.done
    *_, last = curves
    assert bound == last.done == len(last.values) == 7  # each once, the floors included
    assert last.exact.tolist() == (last.values == 0).tolist() and np.isfinite(last.errors[p.trace.output]).all()


@pytest.mark.parametrize("name", [t.name for t in transforms().values() if t.orbit is not None])
def test_an_orbit_has_elements_and_the_one_that_does_nothing_among_them(name: str) -> None:
    transform = transforms()[name]
    assert transform.orbit is not None
    param, values = transform.params[transform.orbit], orbit_values(transform, 100)
    assert len(values) > 40 and (np.diff(values) > 0).all()
    assert param.minimum <= values[0] and values[-1] <= param.maximum
    if param.minimum < 0 and not param.periodic and name not in ("shift", "translate", "shift3d"):
        assert param.default in values and values[0] == -values[-1] == param.minimum


# Progress and cancelling.


def test_eigenvectors_and_patches_say_how_far_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EQUISCOPE_CACHE", str(tmp_path))
    surface = Surface(*bumpy(3000))
    heard: list[tuple[str, float]] = []
    with progress.listening(lambda text, share: heard.append((text, share))):
        surface.spectrum(40)
        surface.patch_arrays(2, 16, 0.2)
    texts = list(dict.fromkeys(text for text, _ in heard))
    assert texts == ["Eigenvectors of 3,000 vertices", "Patches of 3,000 vertices"]
    for text in texts:
        shares = [share for said, share in heard if said == text]
        assert shares == sorted(shares) and 0 <= shares[0] < 0.1 and 0.4 < shares[-1] <= 1
    progress.step("nobody", 0.5)  # listens


def test_what_nobody_waits_for_is_given_up(
    engine: LocalEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EQUISCOPE_CACHE", str(tmp_path / "kept"))
    v, f = bumpy(2500)
    path = tmp_path / "large.ply"
    write_file(Sample("large", "mesh", {"position": Signal(v, VERTEX_POSITION), "faces": Signal(f, FACES)}), path)
    heard = 0

    def told(text: str, share: float) -> None:
        nonlocal heard
        heard += 1
        if heard == 5:
            raise Cancelled

    state = State(model="gem-cnn", sample=str(path))
    with pytest.raises(Cancelled), progress.listening(told):
        engine.answer(state, lambda: False)
    assert heard == 5
    assert engine.answer(state, lambda: False).squares[0].of(MeshPart) is not None


# Files.


def test_a_layer_is_written_at_the_vertices_of_a_mesh(engine: LocalEngine, tmp_path: Path) -> None:
    frame = answer(engine, layer="act1")
    part = frame.squares[0].of(MeshPart)
    assert part is not None
    engine.export_captures(frame.state, str(tmp_path / "out.ply"))
    read = meshio.read(tmp_path / "out.ply")
    np.testing.assert_allclose(read.points, part.shape.vertices)
    np.testing.assert_array_equal(read.cells_dict["triangle"], part.shape.faces)
    np.testing.assert_array_equal(np.stack([read.point_data[f"act1_{k}"] for k in range(36)], 1), part.values)
    for state in (State(model="c4-cnn"), State(model="sage-nothing")):
        with pytest.raises(ValueError):
            engine.export_captures(state, str(tmp_path / "none.ply"))
    assert not (tmp_path / "none.ply").exists()


def _used(count: int) -> Surface:
    """Return a kept surface of `count` x `count` places, asked for all that it keeps solvers for."""
    x, y = (axis.ravel() / count for axis in np.meshgrid(*[np.arange(count, dtype=float)] * 2, indexing="ij"))
    at = np.arange(count * count).reshape(count, count)
    a, b, c, d = (corner.ravel() for corner in (at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]))
    faces = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    surface = surface_of(np.stack([x, y, x * y], 1), faces)
    surface.shape.log_map(0, 0.0)
    surface.shape.distance(0)
    surface.shape.path(0, count)
    return surface


@pytest.mark.skipif(not heap().live, reason="the figures are glibc's")
def test_what_solvers_of_a_surface_take_is_counted() -> None:
    _used(20)  # what is imported and made once
    materials.forget()
    gc.collect()
    before = heap().live
    surface = _used(70)
    taken = heap().live - before
    assert 0.5 * taken < held_bytes((surface,)) < 2 * taken


def test_surfaces_are_kept_as_long_as_they_have_room_and_go_with_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    materials.forget()
    one = held_bytes((_used(30),))
    monkeypatch.setattr(materials, "most", int(1.5 * one))
    kept = [weakref.ref(_used(count)) for count in (30, 31, 32, 33)]
    gc.collect()
    assert [ref() is None for ref in kept] == [True, False, False, False], "two are in use, and one has room"
    LocalEngine({}).close()
    gc.collect()
    assert all(ref() is None for ref in kept)
