"""Every element acts as its group says: identity, products, inverses, on every field type that accepts it."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from explorer.declare.elements import Chain, Element, NoAction, chain, transforms
from explorer.declare.groups import group, rotation_matrix
from explorer.declare.types.fields import INVARIANT, FieldType, Point, Regular, Scalar
from explorer.spaces.grid.elements import resampling as grid_action
from explorer.spaces.grid.elements.affine import IDENTITY, Affine, as_linear, fibre_matrix
from explorer.spaces.grid.fields import Grid, grid, regular

DATA = Path(__file__).resolve().parents[2] / "models" / "data"
EXAMPLES: dict[str, list[tuple[float, ...]]] = {
    "rotate": [(90.0,), (180.0,), (-90.0,), (30.0,), (-77.5,)],
    "reflect": [(0.0,), (1.0,), (2.0,), (3.0,)],
    "translate": [(4.0, -2.0, 0.0), (1.5, 0.25, 0.0), (2.0, 4.0, 1.0), (0.5, 0.0, 1.0)],
    "dilate": [(1.25,), (0.8,)],
    "brightness": [(2.0, 0.5)],
}
ON_GRIDS = [t for t in transforms().values() if "grid" in t.domains]
ELEMENTS = {
    f"{t.name}:{','.join(f'{v:g}' for v in values)}": t.element(*values)
    for t in ON_GRIDS
    for values in EXAMPLES.get(t.name, [t.defaults])
}
SQUARE = [(16, 16), (17, 17)]
SPLINE = 5e-3  # relative 2-norm, two interpolations of waves no shorter than 8 pixels, inside the known mask


def fields(size: tuple[int, int]) -> dict[str, FieldType]:
    return {
        "scalar": grid(),
        "intensity": grid(Scalar(intensity=True)),
        "regular C4": regular("C4"),
        "regular D4": regular("D4"),
        "regular C8, spacing 2": regular("C8", 2),
        "spacing 2": grid(spacing=2),
        "flat": FieldType(Grid(1, size)),
        "flat regular D4": FieldType(Grid(1, size), Regular(group("D4"))),
        "point regular C4": FieldType(Point(), Regular(group("C4"))),
        "invariant": INVARIANT,
    }


FIELDS = list(fields((16, 16)))
each_field = pytest.mark.parametrize("kind", FIELDS)
each_size = pytest.mark.parametrize("size", SQUARE, ids=lambda s: f"{s[0]}x{s[1]}")


def smooth(field: FieldType, size: tuple[int, int], blocks: int = 2) -> Tensor:
    """Return periodic values with no high frequency in the plane, nor the highest one among the orientations."""
    h, w = size
    rng = np.random.default_rng(0)
    on_grid = isinstance(field.domain, Grid)
    order = field.rep.size
    values = rng.normal(size=(2, blocks, order, h, w) if on_grid else (2, blocks, order, 1, 1))
    if on_grid:
        fy, fx = np.fft.fftfreq(h)[:, None] * h, np.fft.fftfreq(w) * w
        values = np.fft.ifft2(np.fft.fft2(values) * ((np.abs(fy) <= h // 8) & (np.abs(fx) <= w // 8))).real
    if isinstance(field.rep, Regular):
        turns = sum(np.linalg.det(m) > 0 for m in field.rep.group.matrices)
        circles = values.reshape(2, blocks, -1, turns, *values.shape[3:])
        keep = (np.abs(np.fft.fftfreq(turns)) < 0.5)[:, None, None]
        values = np.fft.ifft(np.fft.fft(circles, axis=3) * keep, axis=3).real
    values = torch.from_numpy(values)
    values = values.reshape(2, blocks * order, *values.shape[-2:]) / values.std()
    return values if len(field.axes) == 4 else values.flatten(1)


def apply(element: Element, values: Tensor, field: FieldType) -> Tensor | None:
    try:
        return element.act(values, field)
    except NoAction:
        return None


def places(values: Tensor, field: FieldType, *masks: Tensor | None) -> Tensor:
    """Return `values` where all masks are one."""
    flat = field.domain.flat if isinstance(field.domain, Grid) else None
    values = values.unflatten(1, (-1, *flat)) if flat else values
    for mask in masks:
        values = values if mask is None else values * mask
    return values


def apart(one: Tensor, other: Tensor, field: FieldType, *masks: Tensor | None) -> float:
    one, other = places(one, field, *masks), places(other, field, *masks)
    return float((one - other).norm() / other.norm())


def test_every_transform_is_tried() -> None:
    """The others are held to their laws elsewhere, which assert the same of themselves: what acts on graphs and sets
    in test_relabelling.py, on sequences in test_time_map.py, on meshes in test_surface_map.py, on points in
    test_isometry.py, on volumes in test_cube.py, on spheres in test_sphere.py."""
    assert set(EXAMPLES) == {t.name for t in ON_GRIDS}, "a transform without an example, or the other way round"
    assert all(
        t.domains and set(t.domains) <= {"grid", "graph", "set", "sequence", "mesh", "points", "volume", "sphere"}
        for t in transforms().values()
    )
    assert len(ON_GRIDS) >= 5 and not any(element.identity for element in ELEMENTS.values())


@each_field
@each_size
def test_the_identity_changes_no_bit(kind: str, size: tuple[int, int]) -> None:
    field = fields(size)[kind]
    x = smooth(field, size)
    still = [t.element(*t.defaults) for t in ON_GRIDS if t.name != "reflect"]
    for element in (IDENTITY, chain([]), *still):
        assert element.identity and element.exact(field, tuple(x.shape))
        assert torch.equal(element.act(x, field), x)
        assert element.known(x, field) is None


@each_field
@each_size
def test_inverses_undo(kind: str, size: tuple[int, int]) -> None:
    field = fields(size)[kind]
    x = smooth(field, size)
    for label, element in ELEMENTS.items():
        there = apply(element, x, field)
        back = element.inverse()
        if there is None:
            with pytest.raises(NoAction):
                back.act(x, field)
            continue
        again = back.act(there, field)
        both = Chain((element, back)).known(x, field)
        if label.startswith("brightness"):
            assert torch.allclose(again, x, rtol=0, atol=1e-14)
        elif element.exact(field, tuple(x.shape)):
            assert torch.equal(places(again, field, both), places(x, field, both)), label
        else:
            assert apart(again, x, field, both) < SPLINE, label
        assert chain([element, back]).identity, label


@each_field
@each_size
def test_products_act_one_after_the_other(kind: str, size: tuple[int, int]) -> None:
    field = fields(size)[kind]
    x = smooth(field, size)
    moved = {label: apply(e, x, field) for label, e in ELEMENTS.items()}
    compared = 0
    for (first, h), (second, g) in itertools.product(ELEMENTS.items(), repeat=2):
        if moved[first] is None or moved[second] is None:
            continue
        product = chain([h, g])
        in_turn = g.act(moved[first], field)
        masks = Chain((h, g)).known(x, field), product.known(x, field)
        at_once = product.act(x, field)
        if g.exact(field, tuple(x.shape)) and h.exact(field, tuple(x.shape)):
            assert product.exact(field, tuple(x.shape))
            close = torch.allclose(places(in_turn, field, *masks), places(at_once, field, *masks), rtol=0, atol=1e-12)
            assert close, (first, second)
        elif all(m is None or float(m.mean()) > 0.2 for m in masks):
            assert apart(in_turn, at_once, field, *masks) < SPLINE, (first, second)
        compared += 1
    assert compared > 80


@each_field
def test_a_law_that_is_broken_on_purpose_fails(kind: str) -> None:
    """Acting in the wrong order, or turning the wrong way, is far outside the tolerances above."""
    size = (16, 16)
    field = fields(size)[kind]
    x = smooth(field, size)
    g, h = ELEMENTS["rotate:30"], ELEMENTS["translate:4,-2,0"]
    if isinstance(field.domain, Grid):
        right, wrong = chain([h, g]), chain([g, h])
        masks = right.known(x, field), wrong.known(x, field)
        assert apart(wrong.act(x, field), right.act(x, field), field, *masks) > 10 * SPLINE
    if not field.invariant:
        quarter = ELEMENTS["rotate:90"]
        assert apart(quarter.act(x, field), quarter.inverse().act(x, field), field) > 10 * SPLINE


@each_size
def test_exact_elements_only_permute(size: tuple[int, int]) -> None:
    for kind, field in fields(size).items():
        x = smooth(field, size)
        for label, element in ELEMENTS.items():
            if label.startswith("brightness") or not element.exact(field, tuple(x.shape)):
                continue
            known = element.known(x, field)
            moved = element.act(x, field)
            if known is None:
                assert torch.equal(moved.flatten().sort().values, x.flatten().sort().values), (kind, label)
            else:
                assert torch.isin(places(moved, field, known), torch.cat([x.flatten(), torch.zeros(1)])).all()


def test_turns_and_mirrors_are_what_a_person_sees() -> None:
    x = torch.arange(12.0).reshape(1, 1, 3, 4)
    act = {label: e.act(x, grid()) for label, e in ELEMENTS.items() if label.split(":")[0] in ("rotate", "reflect")}
    assert torch.equal(act["rotate:90"], torch.rot90(x, 1, (-2, -1)))
    assert torch.equal(act["rotate:-90"], torch.rot90(x, -1, (-2, -1)))
    assert torch.equal(act["reflect:0"], x.flip(-1))
    assert torch.equal(act["reflect:1"], x.flip(-2))
    assert torch.equal(act["reflect:2"], x.mT)
    assert torch.equal(act["reflect:3"], x.mT.flip(-1, -2))
    shift = transforms()["translate"].element(1.0, 2.0)  # right and down
    assert torch.equal(shift.act(x, grid()), x.roll((2, 1), (-2, -1)))
    zero = transforms()["translate"].element(1.0, 0.0, 1.0)
    assert torch.equal(zero.act(x, grid()), torch.nn.functional.pad(x, (1, 0))[..., :4])
    assert torch.equal(transforms()["translate"].element(9.0, 0.0, 1.0).act(x, grid()), torch.zeros_like(x))


def test_exact_elements_on_a_grid_that_is_not_square() -> None:
    d4 = [Affine(as_linear(m)) for m in group("D4").matrices]
    for field in (grid(), grid(spacing=2), regular("D4")):
        x = torch.randn(1, field.rep.size, 4, 7, dtype=torch.float64)
        for (a, g), (b, h) in itertools.product(enumerate(d4), repeat=2):
            product = d4[group("D4").compose(a, b)]
            assert torch.equal(g.act(h.act(x, field), field), product.act(x, field))
            assert chain([h, g]) == product
    shifted = chain([d4[1], transforms()["translate"].element(2.0, 0.0, 1.0)])
    x = torch.randn(1, 1, 4, 7)
    known = shifted.known(x, grid())
    assert known is not None and known.shape == (7, 4)
    assert known.tolist() == [[0.0, 0.0, 1.0, 1.0]] * 7


@pytest.mark.parametrize("label", ["rotate:180", "reflect:0", "reflect:1", "translate:1.5,0.25,0", "dilate:1.25"])
def test_elements_that_keep_the_sides_on_a_grid_that_is_not_square(label: str) -> None:
    element, field = ELEMENTS[label], grid()
    x = smooth(field, (15, 20))
    again = element.inverse().act(element.act(x, field), field)
    assert apart(again, x, field, Chain((element, element.inverse())).known(x, field)) < SPLINE


@pytest.mark.parametrize("angle", [30.0, 45.0, -110.0])
def test_the_known_mask_is_what_the_outside_cannot_change(angle: float) -> None:
    turn = transforms()["rotate"].element(angle)
    wide = smooth(grid(), (40, 40))
    x = wide[..., 12:28, 12:28]
    known = turn.known(x, grid())
    assert known is not None and 0.55 < float(known.mean()) < 0.8
    moved, true = turn.act(x, grid()), turn.act(wide, grid())[..., 12:28, 12:28]
    assert apart(moved, true, grid(), known) < 2e-2
    assert apart(moved, true, grid()) > 0.3  # what is cut off is really missing
    shift = transforms()["translate"].element(3.0, 5.0, 1.0)
    exact = shift.known(x, grid())
    assert exact is not None and int(exact.sum()) == 13 * 11
    moved, true = shift.act(x, grid()), shift.act(wide, grid())[..., 12:28, 12:28]
    assert torch.equal(moved * exact, true * exact)
    assert bool(((moved != true) == (exact == 0)).all())


def test_chains_remember_what_was_lost_on_the_way() -> None:
    away, back = (transforms()["translate"].element(v, 0.0, 1.0) for v in (3.0, -3.0))
    x = torch.ones(1, 1, 5, 5)
    known = Chain((away, back)).known(x, grid())
    assert known is not None and known[0].tolist() == [1, 1, 0, 0, 0]
    for field in (FieldType(Grid(1, (5, 5))), FieldType(Grid(1, (5, 5)), Regular(group("C4")))):
        flat = torch.ones(1, 25 * field.rep.size)
        assert torch.equal(Chain((away, back)).known(flat, field), known)
    assert Chain((away, back)).known(torch.ones(1, 3), INVARIANT) is None


def test_what_is_merged_is_merged_only_where_that_is_faithful() -> None:
    rotate, translate = transforms()["rotate"].element, transforms()["translate"].element
    assert chain([rotate(30.0), rotate(60.0)]) == Affine(as_linear(rotation_matrix(90)), boundary="zero")
    assert isinstance(chain([rotate(30.0), translate(3.0)]), Chain)  # what wraps round would be cut off
    assert isinstance(chain([translate(3.0), translate(1.0, 0.0, 1.0)]), Chain)
    assert isinstance(chain([rotate(90.0), translate(3.0), transforms()["reflect"].element(0.0)]), Affine)
    assert chain([rotate(30.0), translate(3.0), translate(-3.0), rotate(-30.0)]).identity
    assert isinstance(chain([rotate(30.0), translate(3.0), translate(-3.0), rotate(-30.0)]), Affine)
    x = torch.arange(25.0).reshape(1, 1, 5, 5)
    mixed = chain([translate(3.0), translate(1.0, 0.0, 1.0)])
    assert torch.equal(mixed.act(x, grid()), torch.nn.functional.pad(x.roll(3, -1), (1, 0))[..., :5])


def test_a_shear_is_no_turn() -> None:
    shear = Affine((1.0, 1.0, 0.0, 1.0), boundary="zero")
    assert not shear.lattice and grid_action.lattice_index(shear.matrix) is None
    x = smooth(grid(), (16, 16))
    assert apart(shear.act(x, grid()), x, grid(), shear.known(x, grid())) > 0.1


@pytest.mark.parametrize("field", [regular("C4"), regular("C8"), FieldType(Point(), Regular(group("C4")))], ids=str)
def test_a_reflection_has_no_action_on_orientations_without_mirrors(field: FieldType) -> None:
    x = smooth(field, (8, 8))
    for axis in range(4):
        with pytest.raises(NoAction, match=r"regular\(C\d\) field has no mirrored orientations"):
            transforms()["reflect"].element(float(axis)).act(x, field)
    mirrored = Affine(as_linear(rotation_matrix(30) @ group("D1").matrices[1]), boundary="zero")
    with pytest.raises(NoAction):
        mirrored.act(x, field)
    assert not mirrored.exact(field, tuple(x.shape))


@pytest.mark.parametrize("name", ["C4", "C8", "D4", "C3", "D3"])
def test_orientations_between_the_groups_elements(name: str) -> None:
    g = group(name)
    for h in g.elements():
        assert np.allclose(fibre_matrix(g, g.matrices[h]), np.eye(g.order)[g.regular_permutation(h)])
    a, b = rotation_matrix(17.0), rotation_matrix(-100.0)
    turns = sum(np.linalg.det(m) > 0 for m in g.matrices)
    low = np.fft.ifft(np.fft.fft(np.eye(turns), axis=0) * (np.abs(np.fft.fftfreq(turns)) < 0.5)[:, None], axis=0).real
    low = np.kron(np.eye(g.order // turns), low)  # all but the highest frequency, which has no sign
    assert np.allclose(fibre_matrix(g, a) @ fibre_matrix(g, b) @ low, fibre_matrix(g, a @ b) @ low)
    assert np.allclose(fibre_matrix(g, a.T) @ fibre_matrix(g, a) @ low, low)
    if name[0] == "D":
        mirror = g.matrices[turns]
        assert np.allclose(fibre_matrix(g, a @ mirror) @ low, fibre_matrix(g, a) @ fibre_matrix(g, mirror) @ low)


def test_brightness_acts_on_measured_values_alone() -> None:
    element = transforms()["brightness"].element(2.0, 0.5)
    x = torch.randn(1, 2, 3, 3)
    assert torch.equal(element.act(x, grid(Scalar(intensity=True))), 2 * x + 0.5)
    for field in (grid(), INVARIANT):
        assert element.act(x, field) is x
    darker = transforms()["brightness"].element(0.5, 0.0)
    both = chain([element, darker])
    assert torch.equal(both.act(x, grid(Scalar(True))), x + 0.25)


def test_one_place_that_stands_for_the_whole_image_stays() -> None:
    pooled = grid(spacing=float("inf"))
    x = torch.randn(1, 3, 1, 1, dtype=torch.float64)
    for label, element in ELEMENTS.items():
        assert torch.allclose(element.act(x, pooled), x), label
        assert element.known(x, pooled) is None, label


@pytest.mark.parametrize("name", ["c4", "d4"])
def test_the_action_is_that_of_escnn(name: str) -> None:
    with np.load(DATA / f"escnn_{name}.npz") as data:
        g = group(name.upper())
        table = np.array([[g.compose(a, b) for b in g.elements()] for a in g.elements()])
        assert np.array_equal(table, data["mult"])
        assert [g.inverse(a) for a in g.elements()] == data["inv"].tolist()
        for key in ("x", "y1", "y2", "z", "y3"):
            field = grid() if key == "x" else regular(g.name)
            values = torch.from_numpy(data[key])
            for h in g.elements():
                element = Affine(as_linear(g.matrices[h]))
                assert element.exact(field, tuple(values.shape))
                theirs = torch.from_numpy(data[f"{key}_transformed"][h])
                assert float((element.act(values, field) - theirs).abs().max()) < 1e-13
            turned = Affine(as_linear(g.matrices[g.inverse(1)]))  # clockwise would be noticed
            assert apart(turned.act(values, field), torch.from_numpy(data[f"{key}_transformed"][1]), field) > 0.1


@pytest.mark.parametrize(
    "label", ["rotate:30", "rotate:90", "translate:1.5,0.25,0", "translate:0.5,0,1", "dilate:1.25"]
)
@pytest.mark.parametrize("field", [grid(), regular("C4"), FieldType(Grid(1, (4, 4)), Regular(group("C4")))], ids=str)
def test_gradients_flow_through_an_action(label: str, field: FieldType) -> None:
    shape = (1, field.rep.size, 4, 4) if len(field.axes) == 4 else (1, 16 * field.rep.size)
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda v: ELEMENTS[label].act(v, field), (x,))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_dtype_is_kept(dtype: torch.dtype) -> None:
    x = smooth(regular("C4"), (16, 16))
    for label in ("rotate:30", "rotate:90", "translate:1.5,0.25,0", "dilate:1.25"):
        moved = ELEMENTS[label].act(x.to(dtype), regular("C4"))
        assert moved.dtype == dtype
        close = torch.allclose(moved.double(), ELEMENTS[label].act(x, regular("C4")), atol=40 * torch.finfo(dtype).eps)
        assert close, label
