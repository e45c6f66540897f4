"""Laws of motions of space: a representation, of each degree and parity, in double precision."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from explorer.declare.elements import NoAction, chain, parse_chain, transforms
from explorer.declare.groups import group
from explorer.declare.symmetries import Situation, find_symmetry, symmetries
from explorer.declare.types.field_text import parse_field
from explorer.declare.types.fields import FieldType, Regular
from explorer.spaces.points.elements.isometry import Isometry, isometry, rotation, turn_of
from explorer.spaces.points.elements.wigner import wigner
from explorer.spaces.points.fields import POSITION, Particles, irreps, particle
from explorer.spaces.points.harmonics import spherical

FIELDS = {
    "coordinates": POSITION,
    "vector": particle("1x1o"),
    "several": particle("2x0e+1x0o+3x1o+1x1e+2x2e+1x3o+1x4e"),
}
CLOSE = 1e-12


def drawn(seed: int, mirrored: bool = False) -> Isometry:
    rng = np.random.default_rng(seed)
    matrix = Rotation.random(rng=rng).as_matrix()
    return isometry(-matrix if mirrored else matrix, rng.normal(size=3))


def values(field: FieldType, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(7, 2 * field.rep.size, dtype=torch.float64, generator=generator)


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("mirrored", [(False, False), (True, False), (True, True)])
def test_motions_are_a_representation(name: str, mirrored: tuple[bool, bool]) -> None:
    field = FIELDS[name]
    g, h, x = drawn(1, mirrored[0]), drawn(2, mirrored[1]), values(field)
    both = g.merge(h)
    assert both is not None
    assert_allclose(both.act(x, field), g.act(h.act(x, field), field), atol=CLOSE)
    assert_allclose(g.inverse().act(g.act(x, field), field), x, atol=CLOSE)
    assert chain([g, g.inverse()]).identity
    assert torch.equal(isometry(np.eye(3)).act(x, field), x)
    assert g.exact(field, tuple(x.shape)) and not g.resamples


@pytest.mark.parametrize("degree", range(7))
@pytest.mark.parametrize("mirrored", [False, True])
def test_harmonics_turn_by_their_wigner_block(degree: int, mirrored: bool) -> None:
    """Y_l(R v) = D_l(R) Y_l(v), where l odd changes its sign under inversion: by harmonics at other directions."""
    g = drawn(degree, mirrored)
    v = torch.randn(9, 3, dtype=torch.float64)
    block = torch.from_numpy(wigner(degree, "eo"[degree % 2], g.linear))
    moved = spherical(degree, v @ torch.from_numpy(g.matrix).T)
    assert_allclose(moved, spherical(degree, v) @ block.T, atol=1e-11)


def test_parity_is_what_inversion_tells() -> None:
    inversion = isometry(-np.eye(3))
    signs = {"1x0e": 1, "1x0o": -1, "1x1o": -1, "1x1e": 1, "1x2e": 1, "1x2o": -1}
    for text, sign in signs.items():
        x = values(particle(text))
        assert_allclose(inversion.act(x, particle(text)), sign * x, atol=CLOSE, err_msg=text)


def test_only_places_are_shifted_and_scaled() -> None:
    g = isometry(np.eye(3), (1.0, 2.0, 3.0), 2.0)
    x = values(POSITION)[:, :3]
    assert_allclose(g.act(x, POSITION), 2 * x + torch.tensor([1.0, 2.0, 3.0]))
    assert torch.equal(g.act(x, FIELDS["vector"]), x)
    assert_allclose(g.inverse().act(g.act(x, POSITION), POSITION), x, atol=CLOSE)


def test_quarter_turns_are_exact_and_turns_are_read_back() -> None:
    assert np.array_equal(rotation(np.array([0, 0, 90.0])), [[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    for turn in ([20.0, -50.0, 30.0], [0.0, 180.0, 0.0], [0.0, 0.0, 0.0], [0, 120.0, -120.0]):
        assert_allclose(rotation(turn_of(rotation(np.array(turn)))), rotation(np.array(turn)), atol=1e-12)


def test_nothing_is_moved_where_there_is_nothing() -> None:
    for field in FIELDS.values():
        assert drawn(0).act(torch.zeros(0, field.rep.size), field).shape == (0, field.rep.size)


def test_what_has_no_action_says_so() -> None:
    with pytest.raises(NoAction, match="directions of C4"):
        drawn(0).act(torch.zeros(3, 4), FieldType(Particles(), Regular(group("C4"))))
    with pytest.raises(NoAction, match="5 channels are no whole number of blocks of 3"):
        drawn(0).act(torch.zeros(3, 5), particle("1x1o"))


@pytest.mark.parametrize("text", ["particle irreps(2x0e+1x1o)", "edge irreps(1x2e)", "graph irreps(1x0e+1x1o)",
                                  "particle coordinates", "particle scalar"])  # fmt: skip
def test_fields_are_read_as_they_are_written(text: str) -> None:
    assert str(parse_field(text)) == text


@pytest.mark.parametrize(("text", "said"), [("1x1p", "no irreducible"), ("99o", "degree 99"), ("0x1o", "no values")])
def test_irreps_that_are_none(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        irreps(text)


@pytest.mark.parametrize(("name", "mirrors", "shifts"), [("SO3", 0, False), ("O3", 1, False), ("SE3", 0, True),
                                                         ("E3", 1, True)])  # fmt: skip
def test_a_group_is_drawn_at_random(name: str, mirrors: int, shifts: bool) -> None:
    situation = Situation((9, 1), 1, "zero", np.random.default_rng(0), 6, "points")
    made = [element for _, element in find_symmetry(name).elements(name, situation)]
    assert len(made) == 6 and all(isinstance(element, Isometry) for element in made)
    for element in made:
        assert isinstance(element, Isometry)
        assert_allclose(element.matrix @ element.matrix.T, np.eye(3), atol=CLOSE)
        assert any(element.shift) == shifts
    assert any(e.mirrored for e in made if isinstance(e, Isometry)) == bool(mirrors)


def test_groups_of_the_same_name_keep_apart() -> None:
    """E3 moves meshes and points, each by the elements of its own space."""
    found = find_symmetry("E3")
    assert found.domains == ("mesh", "points")
    rng = np.random.default_rng(0)
    on_meshes = found.elements("E3", Situation((9, 1), 1, "zero", rng, 4, "mesh"))
    assert not any(isinstance(element, Isometry) for _, element in on_meshes)
    assert find_symmetry("gauge") is symmetries()["gauge"]
    assert "points" in find_symmetry("permutation").domains


def test_every_transform_of_points_undoes_itself() -> None:
    ours = [t for t in transforms().values() if t.domains == ("points",)]
    assert {t.name for t in ours} == {"rotation", "reflection", "displacement", "dilation"}
    for text in ("rotation:10,20,30", "reflection:origin", "displacement:1,2,3", "dilation:2"):
        (step,) = parse_chain(text)
        t = transforms()[step.name]
        x = values(POSITION)[:, :3]
        back = t.element(*t.inverse(*step.values))  # type: ignore[misc]
        assert_allclose(back.act(t.element(*step.values).act(x, POSITION), POSITION), x, atol=CLOSE)
        assert not t.element(*step.values).identity


@pytest.mark.parametrize("seed", range(50))
def test_an_element_and_its_inverse_are_the_identity(seed: int) -> None:
    """Rounding decides on no processor whether there is something to test."""
    rng = np.random.default_rng(seed)
    g = isometry(Rotation.random(rng=rng).as_matrix(), 10 * rng.normal(size=3), float(rng.uniform(0.1, 60)))
    assert chain([g, g.inverse()]).identity and chain([g.inverse(), g]).identity and not g.identity
