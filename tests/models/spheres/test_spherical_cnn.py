"""The spherical CNN commutes with rotations up to its band limit; convolutions are the integrals they stand for."""

from __future__ import annotations

import pytest
import torch

import models
from explorer.data.finding import find_sample
from explorer.declare.inputs import Inputs
from explorer.declare.registry import scan
from explorer.equivariance.check import check_equivariance
from explorer.spaces.sphere.fields import Coefficients, signal
from explorer.spaces.sphere.harmonics import on_sphere, rotation_grid, sphere_grid, wigner
from models.spheres.spherical_cnn import QuadraticOnRotations, ReluOnRotations, RotationConv, SphereToRotations

CARDS = {name: card for name, card in scan(models, "CARD").items() if card.domain == "sphere"}


def report(name: str):  # type: ignore[no-untyped-def]
    x = torch.from_numpy(find_sample("sphere-noise").x.values[:, :49].copy())[None]
    return check_equivariance(
        CARDS[name].build(), Inputs((x,), (signal(6),)), "sphere-SO3", declared=True, details=False
    )


@pytest.mark.parametrize("name", ["sphere-cnn", "sphere-solids"])
def test_the_law_holds_to_the_band_limit(name: str) -> None:
    found = report(name)
    assert found.verdict == "holds" and all((row.cumulative_max or 0.0) < 1e-9 for row in found.layers), found.text()


def test_a_relu_has_no_band_limit() -> None:
    found = report("sphere-cnn-relu")
    rows = {row.name: row for row in found.layers}
    assert found.verdict == "broken" and set(found.guilty) <= {"act1", "act2"}
    assert 1e-4 < rows["act1"].cumulative_max < 0.3 and rows["conv2"].local_max < 1e-9


@pytest.mark.parametrize("whole", [12, 24])
def test_a_finer_grid_breaks_the_law_of_a_relu_less(whole: int) -> None:
    torch.manual_seed(0)
    f = torch.randn(1, 1, Coefficients(4, True).count, dtype=torch.float64)
    layer = ReluOnRotations(4, whole)
    turn = (0.36, 0.48, -0.8, -0.8, 0.6, 0.0, 0.48, 0.64, 0.6)
    domain = Coefficients(4, True)

    def turned(v: torch.Tensor) -> torch.Tensor:
        return torch.cat([(wigner(k, turn) @ b).flatten(-2) for k, b in enumerate(domain.blocks(v))], -1)

    apart = float((layer(turned(f)) - turned(layer(f))).norm() / layer(f).norm())
    assert (1e-2 < apart < 0.2) if whole == 12 else apart < 2e-2


def test_the_fault_is_found_where_it_was_planted() -> None:
    found = report("fault-degree-bias")
    assert found.verdict == "broken" and found.guilty == ("shift",)
    assert CARDS["fault-degree-bias"].notes == ("planted fault: layer shift",)


def test_lifting_is_the_integral_over_the_sphere() -> None:
    """y(R) = ∫ x(p) ψ(R⁻¹p) dp at rotations of a grid, with x of degree 3 and ψ of degree 2."""
    torch.manual_seed(0)
    layer = SphereToRotations(1, 1, 2).double()
    x = torch.randn(1, 1, 16, dtype=torch.float64)
    points, weights = sphere_grid(8)
    turn = (0.36, 0.48, -0.8, -0.8, 0.6, 0.0, 0.48, 0.64, 0.6)
    r = torch.tensor(turn, dtype=torch.float64).view(3, 3)
    scale = torch.cat([torch.full((2 * k + 1,), (2 * k + 1) ** -0.5, dtype=torch.float64) for k in range(3)])
    with torch.no_grad():
        psi = (layer.weight[0, 0] * scale) @ on_sphere(2, points @ r).T
        integral = float((weights * psi * (x[0, 0] @ on_sphere(3, points).T)).sum())
        parts = zip(Coefficients(2, True).blocks(layer(x)[0, 0]), range(3), strict=True)
        assert sum(float((wigner(k, turn) * block).sum()) for block, k in parts) == pytest.approx(integral)


def test_convolution_is_the_integral_over_rotations() -> None:
    """The product of matrices is f correlated with a filter: a delta at a rotation Q turns f from the right."""
    torch.manual_seed(0)
    layer = RotationConv(1, 1, 2).double()
    f = torch.randn(1, 1, Coefficients(2, True).count, dtype=torch.float64)
    turn = (0.36, 0.48, -0.8, -0.8, 0.6, 0.0, 0.48, 0.64, 0.6)
    basis, _ = rotation_grid(2, 4)
    with torch.no_grad():
        parts = [wigner(k, turn) * (2 * k + 1) ** 0.5 for k in range(3)]
        layer.weight.copy_(torch.cat([p.flatten() for p in parts]).view_as(layer.weight))
        answer = layer(f)[0, 0]
        # D(R) D(Q)ᵀ are the matrices at R Q⁻¹
        at_r = [b @ wigner(k, turn).T for k, b in enumerate(Coefficients(2, True).blocks(basis))]
        expected = sum((a * c).sum((-2, -1)) for a, c in zip(at_r, Coefficients(2, True).blocks(f[0, 0]), strict=True))
    torch.testing.assert_close(basis @ answer, expected)


def test_paths_of_the_nonlinearity_add_up_to_it() -> None:
    layer = QuadraticOnRotations(3, 9).double()
    x = torch.randn(2, 3, Coefficients(3, True).count, dtype=torch.float64)
    made, alone = torch.zeros_like(x), {}
    for name, first, value in layer.by_path(x):
        assert first == 0 and name not in alone
        alone[name] = value
        made += value
    torch.testing.assert_close(made, layer(x), rtol=1e-10, atol=1e-10)
    # a function of degree 1 alone makes degrees 0, 1 (by the one) and 2, and nothing else
    only = torch.zeros_like(x)
    only[..., 1:10] = x[..., 1:10]
    carried = {name for name, _, value in layer.by_path(only) if value.abs().max() > 1e-9}
    assert carried == {"1_x_0_to_1", "1_x_1_to_0", "1_x_1_to_1", "1_x_1_to_2"}
