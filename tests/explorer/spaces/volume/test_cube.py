"""The 48 symmetries of the cube act on volumes as a group, and on every field that volumes have."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import NoAction, chain, chain_element, inverse_steps, parse_chain, transforms
from explorer.declare.inputs import Inputs
from explorer.declare.registry import scan
from explorer.declare.symmetries import Situation, find_symmetry
from explorer.declare.types.field_text import parse_field
from explorer.declare.types.fields import FieldType
from explorer.equivariance import measure
from explorer.spaces.volume.cube import cube_group
from explorer.spaces.volume.elements.cube_map import CubeMap, linear
from explorer.spaces.volume.fields import VOLUME
from explorer.state.state import State

OH = cube_group("Oh")
FIELDS = [
    parse_field(text)
    for text in ("voxel scalar", "voxel regular(Oh)", "voxel polar vector", "voxel axial vector", "voxel pseudoscalar")
]
SIDES = (4, 5, 6)


def element(g: int, shift: tuple[float, float, float] = (0.0, 0.0, 0.0), boundary: str = "circular") -> CubeMap:
    return CubeMap(linear(OH.matrices[g]), shift, boundary)


def values(field: FieldType, sides: tuple[int, ...] = SIDES) -> torch.Tensor:
    torch.manual_seed(0)
    return torch.randn(2, 2 * field.rep.size, *sides, dtype=torch.float64)


def test_the_groups_are_those_of_the_cube() -> None:
    assert cube_group("O").order == 24 and OH.order == 48 and len(set(OH.labels)) == 48
    assert np.allclose(np.linalg.det(OH.matrices[:24]), 1) and np.allclose(OH.matrices[24:], -OH.matrices[:24])
    assert OH.labels[0] == "identity" and OH.labels[24] == "inversion"
    for h, label in enumerate(OH.labels):
        order = next(n for n in range(1, 7) if np.allclose(np.linalg.matrix_power(OH.matrices[h], n), np.eye(3)))
        assert order == {"identity": 1, "inversion": 2}.get(label) or order in (2, 3, 4, 6)
        assert not label.startswith("mirror") or (np.trace(OH.matrices[h]) == 1 and order == 2)
        assert not label.endswith("120") or order == (6 if label.startswith("inverted") else 3)


@pytest.mark.parametrize("name", ["O", "Oh"])
def test_a_group_is_pickled_and_copied_by_its_name(name: str) -> None:
    group = cube_group(name)
    assert pickle.loads(pickle.dumps(group)) is group and copy.deepcopy(group) is group
    field = parse_field(f"voxel regular({name}) /2")
    assert parse_field(str(field)) == field and pickle.loads(pickle.dumps(field)) == field


@pytest.mark.parametrize("text", ["grid regular(Oh)", "voxel regular(Ih)", "voxel scalar /0", "vertex polar vector"])
def test_fields_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"field type|unknown group"):
        parse_field(text)


@pytest.mark.parametrize("field", FIELDS, ids=str)
def test_the_action_is_that_of_the_group(field: FieldType) -> None:
    f = values(field)
    assert torch.equal(element(0).act(f, field), f)
    for g in range(48):
        moved = element(g).act(f, field)
        assert torch.equal(element(g).inverse().act(moved, field), f)
        h = (7 * g + 5) % 48
        assert torch.equal(element(h).act(moved, field), element(OH.compose(h, g)).act(f, field))


@pytest.mark.parametrize("boundary", ["circular", "zero"])
def test_shifts_merge_with_symmetries(boundary: str) -> None:
    f = values(VOLUME, (5, 5, 5))
    for g, shift in ((7, (1.0, 0.0, 0.0)), (23, (0.0, -2.0, 1.0)), (40, (1.0, 2.0, 3.0))):
        first, then = element(g), CubeMap(shift=shift, boundary=boundary)
        one_by_one = then.act(first.act(f, VOLUME), VOLUME)
        assert torch.equal(chain([first, then]).act(f, VOLUME), one_by_one)
        back = chain([first, then]).inverse().act(one_by_one, VOLUME)
        known = chain([first, then]).inverse().known(one_by_one, VOLUME)
        if boundary == "circular":
            assert known is None and torch.equal(back, f)
        else:
            assert known is not None and 0 < known.sum() < known.numel()


def test_the_conventions_are_those_of_images() -> None:
    f = values(VOLUME)
    turned = element(OH.labels.index("z90")).act(f, VOLUME)
    assert torch.equal(turned, torch.rot90(f, 1, (-2, -1)))  # counter-clockwise as displayed
    assert torch.equal(CubeMap(shift=(1.0, 2.0, 3.0)).act(f, VOLUME), f.roll((3, -2, 1), (-3, -2, -1)))
    assert torch.equal(element(24).act(f, VOLUME), f.flip(-3, -2, -1))


def test_a_vector_field_is_the_gradient_of_what_moves() -> None:
    """A polar vector moves as a gradient does, an axial one as a curl: differences along the axes say so."""
    field = parse_field("voxel polar vector")

    def gradient(f: torch.Tensor) -> torch.Tensor:
        along = [f.roll(-1, axis) - f.roll(1, axis) for axis in (-1, -2, -3)]
        along[1] = -along[1]  # y points up
        return torch.stack(along, 2).flatten(1, 2)

    f = values(VOLUME)
    for g in range(48):
        assert torch.equal(gradient(element(g).act(f, VOLUME)), element(g).act(gradient(f), field))
    det = [float(np.linalg.det(m)) for m in OH.matrices]
    axial, polar = parse_field("voxel axial vector"), parse_field("voxel polar vector")
    v = values(polar)
    assert all(torch.equal(element(g).act(v, axial), round(det[g]) * element(g).act(v, polar)) for g in range(48))


def test_places_go_where_their_values_go() -> None:
    x = torch.arange(120.0).view(1, 1, *SIDES)
    inputs = Inputs((x,), (VOLUME,))
    for g in range(0, 48, 5):
        for boundary in ("circular", "zero"):
            bound = element(g, (2.0, -1.0, 1.0), boundary).on(inputs)
            moved = bound.act(x, VOLUME).flatten()
            places = [bound.place_of(k, 120) for k in range(120)]
            assert all(moved[to] == k for k, to in enumerate(places) if to >= 0)
            assert (boundary == "circular") == all(to >= 0 for to in places)


def test_a_rotation_group_has_no_mirrored_orientations() -> None:
    field = parse_field("voxel regular(O)")
    with pytest.raises(NoAction, match="no mirrored orientations"):
        element(24).act(values(field), field)
    assert not element(24).exact(field, ()) and element(5).exact(field, ())


def test_a_shift_between_places_is_an_isometry_on_a_torus_and_none_with_a_border() -> None:
    coarse = parse_field("voxel scalar /2")
    f = values(coarse)
    half = CubeMap(shift=(1.0, 0.0, 0.0))
    assert not half.exact(coarse, ()) and half.exact(VOLUME, ())
    twice = half.act(half.act(f, coarse), coarse)
    even = torch.fft.rfft(f, dim=-1)
    even[..., -1] = 0  # the Nyquist frequency of an even side knows no half a step
    banded = torch.fft.irfft(even, n=f.shape[-1], dim=-1)
    torch.testing.assert_close(half.act(half.act(banded, coarse), coarse), banded.roll(1, -1))
    assert twice.shape == f.shape
    with pytest.raises(NoAction, match="2 voxels apart"):
        CubeMap(shift=(1.0, 0.0, 0.0), boundary="zero").act(f, coarse)


def test_the_mask_leaves_out_what_was_cut_off() -> None:
    moved = CubeMap(shift=(2.0, 0.0, 0.0), boundary="zero")
    where = measure.mask(moved, values(VOLUME, (9, 9, 9)), VOLUME, receptive=1.0)
    assert where.places is not None
    inner = torch.zeros(9, 9, 9, dtype=torch.float64)
    inner[1:-1, 1:-1, 3:-1] = 1  # two columns came from outside, and one voxel more on all sides
    assert torch.equal(where.places, inner)


@pytest.mark.parametrize(("name", "count"), [("O", 23), ("Oh", 47), ("Z3", 6)])
def test_a_group_is_checked_by_its_elements(name: str, count: int) -> None:
    situation = Situation((9, 9), 2, "circular", np.random.default_rng(0), 6)
    elements = find_symmetry(name).elements(name, situation)
    assert len(elements) == count and len({label for label, _ in elements}) == count
    assert not any(e.identity for _, e in elements) and all(e.exact(VOLUME, ()) for _, e in elements)
    assert {e.group for _, e in elements} <= {name, "O"}


@pytest.mark.parametrize("text", ["cube:mirror-x", "cube:inverted-xyz120", "quarter-turn:1,y", "shift3d:1,-2,3"])
def test_a_chain_is_undone_by_its_inverse(text: str) -> None:
    steps, f = parse_chain(text), values(VOLUME)
    there = chain_element(steps).act(f, VOLUME)
    assert not torch.equal(there, f) if there.shape == f.shape else True
    assert torch.equal(chain_element(inverse_steps(steps)).act(there, VOLUME), f)


def test_quarter_turns_are_about_their_axis() -> None:
    for axis, name in enumerate("xyz"):
        (step,) = parse_chain(f"quarter-turn:1,{name}")
        made = chain_element((step,))
        assert made == element(OH.labels.index(f"{name}90")), axis


def test_the_nearest_turns_of_the_cube_permute_voxels() -> None:
    transform = transforms()["rotate-volume"]
    assert transform.near is not None
    found = transform.near(85.0, 4.0, 2.0)
    turns = [transform.element(*values) for values in found]
    assert found[0] == (90.0, 0.0, 0.0) and len(set(turns)) == 23
    assert all(turn.exact(VOLUME, (1, 1, 8, 8, 8)) and not turn.identity for turn in turns)
    assert not transform.element(85.0, 4.0, 2.0).exact(VOLUME, (1, 1, 8, 8, 8))


def test_the_nearest_exact_element_of_a_turned_volume() -> None:
    import models

    engine = LocalEngine(scan(models, "CARD"))
    state = State(model="plain-cnn-3d", sample="corner-3d", steps=parse_chain("rotate-volume:3,-84,5"))
    assert engine.nearest_exact(state) == parse_chain("rotate-volume:0,-90,0")
    both = replace(state, steps=parse_chain("shift3d:2,0,0+rotate-volume:66,73,64"))
    found = engine.nearest_exact(both)
    assert found is not None and [step.name for step in found] == ["shift3d", "rotate-volume"]
    assert found[0].values[0] == 2.0 and np.abs(np.array(found[1].values) - 120 / 3**0.5).max() < 1e-6
