"""Row G2: two bases, one operator; coefficients convert exactly, both ways (eq. 26-28)."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from models.images.conv_bases import (
    BASES,
    CARD,
    FILTERS,
    ConvInBasis,
    Generator,
    build,
    generators,
    to_derivatives,
    to_peaks,
)

SIZES = [(3, 3), (5, 5), (3, 5), (7, 1), (1, 1)]
TIGHT = {"rtol": 0.0, "atol": 1e-12}


@pytest.mark.parametrize("size", SIZES)
def test_coefficients_convert_both_ways(size: tuple[int, int]) -> None:
    alpha = torch.randn(4, 2, *size, dtype=torch.float64)
    before = alpha.clone()
    torch.testing.assert_close(to_peaks(to_derivatives(alpha)), alpha, **TIGHT)
    torch.testing.assert_close(to_derivatives(to_peaks(alpha)), alpha, **TIGHT)
    assert torch.equal(alpha, before)


@pytest.mark.parametrize("size", SIZES)
def test_the_conversion_solves_the_linear_system(size: tuple[int, int]) -> None:
    """alpha = sum_k beta_k theta_k, solved by LAPACK instead of by the closed form."""
    theta = generators("derivatives and mean", *size, torch.float64).flatten(1)
    alpha = torch.randn(*size, dtype=torch.float64)
    beta = np.linalg.solve(theta.numpy().T, alpha.flatten().numpy())
    torch.testing.assert_close(to_derivatives(alpha).flatten(), torch.from_numpy(beta), rtol=0, atol=1e-10)


def generator(offset: tuple[int, int], kind: str, height: int = 3, width: int = 3) -> Tensor:
    """Write a generator from its definition, with offsets from the middle."""
    theta = torch.zeros(height, width)
    v, w = offset
    if kind == "unit peaks":
        theta[height // 2 + v, width // 2 + w] = 1
    elif offset == (0, 0):
        theta[:] = 1 / (height * width)
    else:
        theta[height // 2, width // 2] = 1
        theta[height // 2 + v, width // 2 + w] = -1
    return theta


@pytest.mark.parametrize("basis", BASES)
def test_the_generators_are_those_of_the_text(basis: str) -> None:
    offsets = [(v, w) for v in (-1, 0, 1) for w in (-1, 0, 1)]
    expected = torch.stack([generator(offset, basis) for offset in offsets])
    assert torch.equal(generators(basis, 3, 3), expected)


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("size", SIZES)
def test_either_basis_is_torchs_convolution(basis: str, size: tuple[int, int]) -> None:
    """Eq. (28), three channels in and five out, against nn.Conv2d with the same weights."""
    conv = nn.Conv2d(3, 5, size, padding=(size[0] // 2, size[1] // 2), padding_mode="circular", bias=False).double()
    ours = ConvInBasis(conv.weight.detach(), basis)
    x = torch.randn(2, 3, 9, 8, dtype=torch.float64)
    torch.testing.assert_close(ours(x), conv(x), **TIGHT)


@torch.no_grad()
def test_the_bases_agree_and_the_coefficients_do_not() -> None:
    peaks, slopes = build(0), build(1)
    x = torch.rand(1, 1, 29, 29)
    torch.testing.assert_close(peaks(x), slopes(x), rtol=0, atol=1e-6)
    assert isinstance(peaks, ConvInBasis) and isinstance(slopes, ConvInBasis)
    alpha, beta = peaks.weighted_sum.coefficients, slopes.weighted_sum.coefficients
    assert not torch.allclose(alpha, beta)
    blur, edge = list(FILTERS).index("local mean"), list(FILTERS).index("vertical edge (Sobel)")
    only_mean = torch.zeros(3, 3)
    only_mean[1, 1] = 1
    torch.testing.assert_close(beta[blur, 0], only_mean, rtol=0, atol=1e-6)
    assert abs(float(beta[edge, 0, 1, 1])) < 1e-6


def test_what_each_generator_answers() -> None:
    x = torch.rand(1, 1, 6, 7)
    peaks, slopes = build(0).get_submodule("generators"), build(1).get_submodule("generators")
    east, south = x.roll(-1, -1), x.roll(-1, -2)  # x at the place to the right, and below
    assert torch.equal(peaks.get_submodule("peak_e")(x), east)
    assert torch.equal(peaks.get_submodule("peak_s")(x), south)
    assert torch.equal(slopes.get_submodule("slope_e")(x), x - east)
    constant = torch.full((1, 1, 6, 7), 3.0)
    assert slopes.get_submodule("slope_nw")(constant).abs().max() == 0
    torch.testing.assert_close(slopes.get_submodule("mean")(constant), constant)


def test_beta_zero_is_the_answer_to_a_constant_image() -> None:
    model = build(1)
    assert isinstance(model, ConvInBasis)
    answer = model(torch.ones(1, 1, 5, 5))[0, :, 2, 2].detach()
    beta = model.weighted_sum.coefficients.detach()
    torch.testing.assert_close(answer, beta[:, 0, 1, 1], rtol=0, atol=1e-6)


def circulant(operator: nn.Module, height: int, width: int) -> Tensor:
    """Return the matrix of a linear operator on images, column by column."""
    impulses = torch.eye(height * width, dtype=torch.float64).unflatten(1, (1, height, width))
    return operator(impulses).flatten(1).T.reshape(height, width, height, width)


def test_c_of_theta_is_circulant() -> None:
    operator = Generator(torch.randn(3, 5, dtype=torch.float64))
    matrix = circulant(operator, 6, 7)
    assert torch.equal(matrix.roll((1, 1), (0, 2)), matrix)
    assert torch.equal(matrix.roll((1, 1), (1, 3)), matrix)


@pytest.mark.parametrize("basis", BASES)
def test_shifts_commute_and_a_weight_that_depends_on_the_place_breaks_it(basis: str) -> None:
    model = ConvInBasis(torch.randn(2, 1, 3, 3, dtype=torch.float64), basis)
    x = torch.rand(1, 1, 8, 9, dtype=torch.float64)

    @torch.no_grad()
    def error(f: nn.Module) -> float:
        moved = f(x).roll((3, -2), (-2, -1))
        return float((f(x.roll((3, -2), (-2, -1))) - moved).norm() / moved.norm())

    assert error(model) < 1e-14
    uneven = torch.linspace(0.9, 1.1, 9, dtype=torch.float64)
    model.generators.register_forward_hook(lambda module, args, out: out * uneven)
    assert error(model) > 1e-2


def test_the_matrices_fit_together() -> None:
    for basis in range(2):
        alpha, beta, change = CARD.matrix(build(basis)).values()  # type: ignore[misc]
        assert alpha.shape == beta.shape == (4, 9) and change.shape == (9, 9)
        np.testing.assert_allclose(beta @ change.T, alpha, atol=1e-6)
