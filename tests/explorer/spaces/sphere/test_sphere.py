"""Functions on the sphere: harmonics, Wigner matrices, quadrature, the action, samples and panoramas."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from explorer.data.finding import find_sample, samples
from explorer.declare.elements import chain_element, inverse_steps, parse_chain
from explorer.declare.types.field_text import parse_field
from explorer.spaces.sphere.elements.turn import Turn, about
from explorer.spaces.sphere.fields import Coefficients, harmonic, rotation
from explorer.spaces.sphere.harmonics import analysed, map_basis, on_sphere, rotation_grid, sphere_grid, wigner
from explorer.spaces.sphere.network.fit import fit_sphere
from explorer.spaces.sphere.network.form import SphereInput
from explorer.square.space import space_of_kind

SPHERES = [name for name, spec in samples().items() if spec.domain == "sphere"]
TURNS = [about(90, 0, 90), about(37, -120, 15), about(180, 45, -60), about(1e-7, 10, 0)]
EXACT = 1e-12


def test_harmonics_are_orthonormal_under_the_quadrature() -> None:
    points, weights = sphere_grid(12)
    basis = on_sphere(6, points)
    torch.testing.assert_close(basis.T @ (weights[:, None] * basis), torch.eye(49, dtype=torch.float64))
    assert float(weights.sum()) == pytest.approx(4 * math.pi)


def test_wigner_matrices_are_orthogonal_under_the_quadrature() -> None:
    """∫ D^l_mn D^k_pq dR is 1 / (2 l + 1) where all indices agree and 0 elsewhere (Peter and Weyl)."""
    basis, weights = rotation_grid(3, 6)
    sizes = torch.cat([torch.full(((2 * k + 1) ** 2,), 2.0 * k + 1, dtype=torch.float64) for k in range(4)])
    torch.testing.assert_close(basis.T @ (weights[:, None] * basis), torch.diag(1 / sizes), atol=EXACT, rtol=0)


@pytest.mark.parametrize("degree", [0, 1, 4, 10])
def test_wigner_matrices_are_a_representation(degree: int) -> None:
    for one in TURNS:
        d = wigner(degree, one.linear)
        torch.testing.assert_close(d @ d.T, torch.eye(2 * degree + 1, dtype=torch.float64), atol=EXACT, rtol=0)
        for other in TURNS:
            both = one.merge(other)
            assert both is not None
            product = d @ wigner(degree, other.linear)
            torch.testing.assert_close(wigner(degree, both.linear), product, atol=EXACT, rtol=0)


@pytest.mark.parametrize("turn", TURNS)
def test_the_action_is_that_on_points(turn: Turn) -> None:
    """(ρ(g)f)(p) = f(g⁻¹p), on points; and a turn mixes within a degree, so that the power of each stands still."""
    torch.manual_seed(0)
    f = torch.randn(1, 2, 49, dtype=torch.float64)
    moved = turn.act(f, harmonic(6))
    points = torch.nn.functional.normalize(torch.randn(40, 3, dtype=torch.float64), dim=1)
    back = points @ torch.from_numpy(turn.matrix.copy())
    torch.testing.assert_close(moved[0] @ on_sphere(6, points).T, f[0] @ on_sphere(6, back).T, atol=EXACT, rtol=0)
    domain = Coefficients(6)
    for before, after in zip(domain.blocks(f), domain.blocks(moved), strict=True):
        torch.testing.assert_close(before.square().sum((-2, -1)), after.square().sum((-2, -1)))
    torch.testing.assert_close(turn.inverse().act(moved, harmonic(6)), f, atol=EXACT, rtol=0)
    wide = torch.randn(1, 2, Coefficients(3, True).count, dtype=torch.float64)
    torch.testing.assert_close(turn.inverse().act(turn.act(wide, rotation(3)), rotation(3)), wide, atol=EXACT, rtol=0)


@pytest.mark.parametrize("text", ["harmonic scalar to 6", "rotation scalar to 4"])
def test_fields_are_read_as_they_are_written(text: str) -> None:
    assert str(parse_field(text)) == text
    with pytest.raises(ValueError, match="unknown field type"):
        parse_field(text.split(" to ")[0])


def test_a_turn_is_undone_by_its_inverse_steps() -> None:
    steps = parse_chain("turn-sphere:75,30,-20")
    f = torch.randn(1, 1, 25, dtype=torch.float64)
    there = chain_element(steps).act(f, harmonic(4))
    torch.testing.assert_close(chain_element(inverse_steps(steps)).act(there, harmonic(4)), f, atol=EXACT, rtol=0)


@pytest.mark.parametrize("name", SPHERES)
def test_every_function_keeps_its_word(name: str) -> None:
    sample = samples()[name].make()
    values = sample.x.values
    assert sample.name == name and values.dtype == np.float32 and values.shape == (1, 121)
    assert not values.flags.writeable and np.isfinite(values).all() and np.ptp(values) > 0.1
    picture = space_of_kind("sphere").thumbnail(sample, 48)
    assert picture is not None and picture.shape == (48, 48, 3) and len(np.unique(picture)) > 10


def test_a_panorama_is_expanded_to_the_nearest_function() -> None:
    truth = np.random.default_rng(0).standard_normal((2, 25))
    picture = (map_basis(4, 32).numpy() @ truth.T).T.reshape(2, 32, 64)
    np.testing.assert_allclose(analysed(picture, 4), truth, atol=1e-10)


def test_pictures_twice_as_wide_as_high_are_taken(tmp_path: Path) -> None:
    y, x = np.mgrid[:128, :256]
    Image.fromarray((127 + 100 * np.sin(x / 40) * np.cos(y / 30)).astype(np.uint8)).save(tmp_path / "pano.png")
    fitted = fit_sphere(find_sample(str(tmp_path / "pano.png")), SphereInput(1, 6))
    assert fitted.domain == "sphere" and fitted.x.values.shape == (1, 49)
    assert "a panorama of 256x128" in fitted.notes[-2] and "degrees above 6 left out" in fitted.notes[-1]
    with pytest.raises(ValueError, match="'digit-3' is 29x29, and a panorama is twice as wide as it is high"):
        fit_sphere(find_sample("digit-3"), SphereInput(1, 6))
    with pytest.raises(ValueError, match="lies on a graph, and this network takes a function on the sphere"):
        fit_sphere(find_sample("karate"), SphereInput(1, 6))


def test_the_power_of_a_degree_stands_still_while_its_coefficients_mix() -> None:
    from explorer.spaces.sphere.drawing.part import powers, spectrum

    for wide in (False, True):
        domain = Coefficients(3, wide)
        values = torch.randn(2, sum(domain.width(k) for k in range(4)), dtype=torch.float64)
        field = rotation(3) if wide else harmonic(3)
        moved = about(60.0, 20.0, 30.0).act(values[None], field)[0]
        before, after = powers(values, domain), powers(moved, domain)
        assert [len(p) for p in before] == [1, 3, 5, 7]
        np.testing.assert_allclose([p.sum() for p in after], spectrum(values, domain), rtol=1e-9)
        assert all(np.abs(a - b).max() > 1e-3 for a, b in zip(before[1:], after[1:], strict=True))
