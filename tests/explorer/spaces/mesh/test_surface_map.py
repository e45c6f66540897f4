"""Elements that move meshes: frames, space and the surface itself, and what each does to every kind of field."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.data.finding import find_sample, fitted
from explorer.declare.elements import Element, NoAction, chain_element, parse_chain
from explorer.declare.groups import group
from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import FieldType, Regular
from explorer.network.input.inputs import inputs_from
from explorer.spaces.mesh.elements.surface_map import SurfaceMap
from explorer.spaces.mesh.fields import (
    EDGE_DIRECTION,
    EDGE_TRANSPORTER,
    VERTEX,
    VERTEX_FRAME,
    VERTEX_POSITION,
    Ambient,
    Tangent,
    Vertices,
)
from explorer.spaces.mesh.network.fit import surface_of
from explorer.spaces.mesh.network.form import MeshInput

ALL = MeshInput(
    channels=4,
    signals=("x", "edge_index", "radius", "angle", "transport", "mass", "cotan", "patch_index", "patch_weight"),
    directions=8,
    radii=2,
)
TANGENT = FieldType(Vertices(), Tangent((0, 1, 2)))
REGULAR = FieldType(Vertices(), Regular(group("C8")))
VECTOR = FieldType(Vertices(), Ambient("vector"))
FIELDS = ((TANGENT, 10), (REGULAR, 16), (VECTOR, 3), (VERTEX_POSITION, 3), (VERTEX, 2))
EXACT = ("gauge:45,3", "gauge:90", "random-gauge:3,8", "rotate3d:30,50,-20", "translate3d:1,-2,3", "mirror3d:x")
CHANGING = ("bend:40", "shake:0.02", "remesh:0.05", "pose:1,0.5")


@pytest.fixture(scope="module")
def mesh() -> Inputs:
    sample = fitted(find_sample("mesh-sphere-small"), ALL)
    return inputs_from(sample, ALL, torch.device("cpu"), torch.float64)


def bound(text: str, inputs: Inputs) -> Element:
    return chain_element(parse_chain(text)).on(inputs)


def values(inputs: Inputs, channels: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(len(inputs.x), channels, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("text", EXACT)
@pytest.mark.parametrize(("field", "channels"), FIELDS, ids=lambda v: str(v))
def test_there_and_back_is_the_identity(mesh: Inputs, text: str, field: FieldType, channels: int) -> None:
    element, x = bound(text, mesh), values(mesh, channels)
    assert element.exact(field, tuple(x.shape))
    back = element.inverse().act(element.act(x, field), field)
    assert torch.allclose(back, x, atol=1e-12)


@pytest.mark.parametrize("first", EXACT)
@pytest.mark.parametrize("second", EXACT)
@pytest.mark.parametrize(("field", "channels"), FIELDS, ids=lambda v: str(v))
def test_a_product_acts_as_one_after_the_other(
    mesh: Inputs, first: str, second: str, field: FieldType, channels: int
) -> None:
    g, h, x = bound(first, mesh), bound(second, mesh), values(mesh, channels)
    both = bound(f"{first}+{second}", mesh)
    assert torch.allclose(both.act(x, field), h.act(g.act(x, field), field), atol=1e-12)


def test_turned_frames_lower_angles_and_change_transporters(mesh: Inputs) -> None:
    element = bound("random-gauge:5", mesh)
    assert isinstance(element, SurfaceMap)
    source, target = mesh.values[mesh.names.index("edge_index")].numpy()
    angle, transport = (mesh.get(n) for n in ("angle", "transport"))
    assert angle is not None and transport is not None
    phi = torch.from_numpy(element.turn)
    assert torch.allclose(element.act(angle, EDGE_DIRECTION), angle - phi[target])
    assert torch.allclose(element.act(transport, EDGE_TRANSPORTER), transport + phi[source] - phi[target])


def test_a_turned_surface_gives_what_the_action_says(mesh: Inputs) -> None:
    """The same frames by another road: geometry is made anew in turned frames."""
    element = bound("random-gauge:5", mesh)
    assert isinstance(element, SurfaceMap)
    position, faces = (mesh.values[mesh.names.index(n)].numpy() for n in ("position", "faces"))
    surface = surface_of(position, faces).turned(element.turn)
    moved = mesh.moved(element)
    for name in ("angle", "transport"):
        found, expected = moved.get(name), torch.from_numpy(np.array(getattr(surface, name)))
        assert found is not None
        assert torch.allclose(torch.polar(torch.ones_like(found), found - expected).real, torch.ones_like(found))
    axes = moved.get("axes")
    assert axes is not None and np.allclose(axes.numpy(), surface.frames, atol=1e-12)
    weight = moved.get("patch_weight")
    index = moved.get("patch_index")
    assert weight is not None and index is not None
    again_index, again = surface.patch_arrays(2, 8, ALL.reach * math.sqrt(surface.mass.sum()))
    points = (surface.vertices[index.numpy()] * weight.numpy()[..., None]).sum(-2)
    assert np.allclose(points, (surface.vertices[again_index] * again[..., None]).sum(-2), atol=1e-9)


@pytest.mark.parametrize("text", ["rotate3d:37", "translate3d:3,1,-2", "mirror3d:z", "mirror3d:y+rotate3d:0,0,80"])
def test_motions_of_space_leave_the_inside_alone(mesh: Inputs, text: str) -> None:
    """Lengths and angles measured on the moved surface are what the action says, in the frames moved along."""
    moved = mesh.moved(bound(text, mesh))
    position, faces, axes = (moved.values[moved.names.index(n)].numpy() for n in ("position", "faces", "axes"))
    surface = surface_of(position, faces)
    surface = surface.with_frames(axes[:, 0])
    assert np.allclose(surface.frames, axes, atol=1e-9)
    order = np.lexsort(moved.values[moved.names.index("edge_index")].numpy())
    for name in ("radius", "cotan", "angle", "transport"):
        found, expected = moved.get(name), np.asarray(getattr(surface, name))
        assert found is not None
        given = found.numpy()[order]
        apart = (
            np.abs(np.exp(1j * given) - np.exp(1j * expected)) if name in ("angle", "transport") else given - expected
        )
        assert np.abs(apart).max() < 1e-9, name


def test_a_patch_rolls_by_whole_steps(mesh: Inputs) -> None:
    weight = mesh.get("patch_weight")
    assert weight is not None
    field = mesh.fields[mesh.names.index("patch_weight")]
    turned = bound("gauge:90", mesh).act(weight, field)
    assert torch.equal(turned, weight.roll(-2, 2))
    with pytest.raises(NoAction, match="multiples of 45"):
        bound("gauge:30", mesh).act(weight, field)


def test_axes_turn_with_their_gauge(mesh: Inputs) -> None:
    axes = mesh.get("axes")
    assert axes is not None
    turned = bound("gauge:90", mesh).act(axes, VERTEX_FRAME)
    assert torch.allclose(turned[:, 0], axes[:, 1], atol=1e-12)
    assert torch.allclose(turned[:, 1], -axes[:, 0], atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(angle=st.floats(-360, 360), order=st.integers(0, 5))
def test_a_tangent_vector_in_space_does_not_notice_the_gauge(angle: float, order: int) -> None:
    """Coordinates turn against their frame: the arrow v_1 X + v_2 Y stays where it is."""
    inputs = inputs_from(fitted(find_sample("mesh-sphere-small"), SMALL), SMALL, torch.device("cpu"), torch.float64)
    element = bound(f"gauge:{angle % 360}", inputs)
    axes = inputs.values[inputs.names.index("axes")]
    v = values(inputs, 2)
    before = torch.einsum("vc,vcx->vx", v, axes)
    after = torch.einsum(
        "vc,vcx->vx", element.act(v, FieldType(Vertices(), Tangent((1,)))), element.act(axes, VERTEX_FRAME)
    )
    assert torch.allclose(before, after, atol=1e-11)
    z = torch.view_as_complex(values(inputs, 2)).mul(
        torch.polar(torch.tensor(1.0), torch.tensor(-order * math.radians(angle))).to(torch.complex128)
    )
    if order:
        moved = element.act(values(inputs, 2), FieldType(Vertices(), Tangent((order,))))
        assert torch.allclose(torch.view_as_complex(moved), z, atol=1e-6)


SMALL = MeshInput(channels=1, features="constant", signals=("x", "edge_index"))


@pytest.mark.parametrize("text", CHANGING)
def test_what_changes_the_surface_gives_no_verdict_and_keeps_the_places(mesh: Inputs, text: str) -> None:
    sample = fitted(find_sample("sheet"), SMALL)
    inputs = inputs_from(sample, SMALL, torch.device("cpu"), torch.float64)
    element = bound(text, inputs)
    assert isinstance(element, SurfaceMap) and element.remade is not None
    assert not element.exact(VERTEX, (len(inputs.x), 1))
    moved = inputs.moved(element)
    assert moved.names == inputs.names and moved.x.shape == inputs.x.shape
    with pytest.raises(NoAction):
        element.inverse()
    # a tangent vector along each vertex's first shared edge still points along it
    assert np.isfinite(element.turn).all()


def test_a_rolled_sheet_keeps_lengths_and_transport() -> None:
    """Bending a sheet is an isometry: its edges keep their length to second order, its curvature stays 0."""
    spec = MeshInput(channels=1, features="constant")
    inputs = inputs_from(fitted(find_sample("sheet"), spec), spec, torch.device("cpu"), torch.float64)
    element = bound("bend:90", inputs)
    assert isinstance(element, SurfaceMap)
    assert element.stretch < 0.005
    moved = inputs.moved(element)
    turned = element.act(inputs.values[inputs.names.index("x")].expand(-1, 2), FieldType(Vertices(), Tangent((1,))))
    assert turned.shape == (len(inputs.x), 2)
    phi = torch.from_numpy(element.turn)
    source, target = inputs.values[inputs.names.index("edge_index")]
    before, after = inputs.get("transport"), moved.get("transport")
    assert before is not None and after is not None
    apart = before + phi[source] - phi[target] - after
    assert float(torch.polar(torch.ones_like(apart), apart).imag.abs().max()) < 0.02


@pytest.mark.parametrize("later", ["bend:30", "remesh:0.05", "shake:0.05"])
def test_the_numbering_and_the_gauge_do_not_matter_to_a_bend(mesh: Inputs, later: str) -> None:
    """Renumbered or turned first, the same surface is bent the same way: invariant distances agree."""
    plain = mesh.moved(bound(later, mesh))
    turned = mesh.moved(bound(f"random-gauge:3+{later}", mesh))
    assert torch.allclose(plain.values[plain.names.index("position")], turned.values[turned.names.index("position")])


def test_a_mesh_in_one_pose_says_so(mesh: Inputs) -> None:
    with pytest.raises(NoAction, match="one pose"):
        bound("pose:1,1", mesh)
