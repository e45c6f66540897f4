"""The numerics under the planar action: splines, spectral shifts, and the matrices that are kept."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.ndimage
import torch

from explorer.declare.elements import transforms
from explorer.declare.groups import rotation_matrix
from explorer.declare.types.fields import FieldType
from explorer.equivariance.measure import there_and_back
from explorer.spaces.grid.elements import resampling as grid_action
from explorer.spaces.grid.elements.affine import Affine, as_linear
from explorer.spaces.grid.fields import Pixels, grid
from explorer.work.budget import results


@pytest.mark.parametrize("matrix", [rotation_matrix(30), rotation_matrix(-71) * 1.3], ids=["rotation", "similarity"])
@pytest.mark.parametrize("n", [40, 41])
def test_the_spline_is_that_of_scipy(matrix: np.ndarray, n: int) -> None:
    x = np.random.default_rng(0).normal(size=(n, n))
    ours = Affine(as_linear(matrix), boundary="zero").act(torch.from_numpy(x)[None, None], grid())[0, 0].numpy()
    row, column = np.mgrid[0:n, 0:n]
    c = (n - 1) / 2
    right, up = np.tensordot(np.linalg.inv(matrix), np.stack([column - c, c - row]), 1)
    inside = np.maximum(abs(right), abs(up)) < c - 11  # the two differ in what they assume beyond the edge
    assert inside.sum() > 200
    theirs = {k: scipy.ndimage.map_coordinates(x, [c - up, c + right], order=k, mode="mirror") for k in (1, 3)}
    assert np.abs(ours - theirs[3])[inside].max() < 1e-5
    assert np.abs(ours - theirs[1])[inside].max() > 0.1  # linear interpolation is another thing


def test_the_spline_reaches_its_accuracy_up_to_the_edge() -> None:
    n, k = 24, np.array([0.5, -0.3])
    x, y = torch.meshgrid(*[torch.arange(n, dtype=torch.float64) - (n - 1) / 2] * 2, indexing="xy")
    y = -y
    for angle in (10.0, 45.0):
        element = transforms()["rotate"].element(angle)
        wave = torch.cos(k[0] * x + k[1] * y + 1)[None, None]
        a, b = element.matrix @ k  # the wave vector turns along
        true = torch.cos(a * x + b * y + 1)[None, None]
        known = element.known(wave, grid())
        assert float(((element.act(wave, grid()) - true) * known).abs().max()) < 4e-3


@pytest.mark.parametrize("n", [15, 16])
def test_fractional_circular_shifts_of_a_sine_are_exact(n: int) -> None:
    u = torch.arange(n, dtype=torch.float64)
    for frequency in range(1, (n + 1) // 2):
        for shift in (0.5, -1.25, 7.3):
            wave = torch.sin(2 * torch.pi * frequency * u / n + 0.4).expand(n, n)
            true = torch.sin(2 * torch.pi * frequency * (u - shift) / n + 0.4).expand(n, n)
            right = Affine(shift=(shift, 0.0)).act(wave[None, None], grid())[0, 0]
            up = Affine(shift=(0.0, -shift)).act(wave.mT[None, None], grid())[0, 0]  # y points up, rows down
            assert torch.allclose(right, true, rtol=0, atol=1e-12)
            assert torch.allclose(up, true.mT, rtol=0, atol=1e-12)
            coarse = Affine(shift=(3 * shift, 0.0)).act(wave[None, None], grid(spacing=3))[0, 0]
            assert torch.allclose(coarse, true, rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", [(8, 8), (7, 8), (8, 7), (1, 6)])
def test_fractional_circular_shifts_commute_with_mirrors(size: tuple[int, int]) -> None:
    """White noise has the highest frequency of an even size, which has no direction, in every mixture."""
    x = torch.randn(1, 1, *size, dtype=torch.float64)
    for right, up in ((0.3, 0.0), (0.0, -1.6), (0.4, 0.7)):
        moved = Affine(shift=(right, up)).act(x, grid())
        mirrored = Affine(shift=(-right, up)).act(x.flip(-1), grid())
        upside_down = Affine(shift=(right, -up)).act(x.flip(-2), grid())
        assert torch.allclose(moved.flip(-1), mirrored, atol=1e-12)
        assert torch.allclose(moved.flip(-2), upside_down, atol=1e-12)


def test_the_highest_frequency_of_an_even_size_stays_real() -> None:
    wave = torch.tensor([1.0, -1.0], dtype=torch.float64).repeat(8).expand(16, 16)[None, None]
    moved = Affine(shift=(0.25, 0.0)).act(wave, grid())
    assert torch.allclose(moved, wave * np.cos(np.pi / 4))


def test_gradients_flow_after_the_matrix_was_made_in_inference_mode() -> None:
    element = transforms()["rotate"].element(12.34)
    with torch.inference_mode():
        element.act(torch.randn(1, 1, 6, 6), grid())
    x = torch.randn(1, 1, 6, 6, requires_grad=True)
    element.act(x, grid()).sum().backward()
    assert x.grad is not None and bool(x.grad.any())


def test_gradients_flow_to_the_distance_of_a_shift() -> None:
    x = torch.randn(1, 1, 5, 6, dtype=torch.float64)
    t = torch.tensor([0.3, -0.7], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda v: grid_action.spectral_shift(x, v[0], v[1]), (t,))


@pytest.mark.parametrize("size", [(5, 9), (1, 1), (2, 30)])
def test_small_and_large_grids_are_filtered_alike(size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.randn(2, 3, *size, dtype=torch.float64)
    small = grid_action.spline_coefficients(x)
    monkeypatch.setattr(grid_action, "LARGEST_MATRIX", 0)
    assert torch.allclose(small, grid_action.spline_coefficients(x), rtol=0, atol=1e-12)


def test_an_orbit_is_its_elements_one_by_one() -> None:
    matrices = [rotation_matrix(a) for a in (0.0, 20.0, 90.0, 135.0)]
    x = torch.randn(3, 9, 12, dtype=torch.float64)
    together = grid_action.StackedElements(
        [rotation_matrix(a) for a in (0.0, 20.0, 135.0)], (9, 12), "cpu", torch.float64
    ).act(x)
    for k, a in enumerate((0.0, 20.0, 135.0)):
        assert torch.allclose(together[k], Affine(as_linear(rotation_matrix(a))).act(x[None], grid())[0], atol=1e-12)
    square = torch.randn(3, 8, 8, dtype=torch.float64)
    exact = grid_action.StackedElements(matrices, (8, 8), "cpu", torch.float64).act(square)
    assert torch.equal(exact[0], square) and torch.equal(exact[2], torch.rot90(square, 1, (-2, -1)))


def test_resampling_matrices_are_kept_within_the_bytes_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(angle: float) -> torch.Tensor:
        return grid_action.operator(8, 8, as_linear(rotation_matrix(angle)), (0.0, 0.0), "cpu", torch.float64)

    results.forget()
    made = asked(1)
    one = results.nbytes
    assert asked(1) is made and one >= 16 * 64 * 12, "indices and values count"
    monkeypatch.setattr(results, "most", 3 * one)
    rest = [asked(angle) for angle in range(2, 9)]
    assert asked(8) is rest[-1] and asked(1) is not made and len(results) == 3 and results.nbytes <= results.most
    results.forget()


def test_a_grid_with_its_channels_last_moves_as_one_with_them_first() -> None:
    x, last = torch.rand(2, 3, 8, 8), FieldType(Pixels(2.0))
    for element in (Affine((0.0, -1.0, 1.0, 0.0)), Affine(shift=(4.0, -2.0), boundary="zero")):
        moved = element.act(x.movedim(1, -1), last)
        assert torch.equal(moved.movedim(-1, 1), element.act(x, grid(spacing=2.0)))
        known, plain = element.known(x.movedim(1, -1), last), element.known(x, grid(spacing=2.0))
        assert (known is None) is (plain is None) and (known is None or torch.equal(known, plain))  # type: ignore[arg-type]


@pytest.mark.parametrize(("n", "by"), [(7, 0.15625), (14, 0.3125), (28, 0.625), (13, 0.3125), (27, 0.5)])
def test_the_floor_of_a_part_of_a_pixel_is_what_the_highest_frequency_loses(n: int, by: float) -> None:
    """There and back multiplies it by cos^2(pi by): maps of an even size have it, of an odd size there is none."""
    x = torch.randn(2, 3, n, n, dtype=torch.float64, generator=torch.Generator().manual_seed(n))
    floor = there_and_back(transforms()["translate"].element(by, 0.0), x, grid())
    spectrum = torch.fft.fft(x, dim=-1)
    spectrum[..., [k for k in range(n) if 2 * k != n]] = 0
    lost = torch.fft.ifft(spectrum, dim=-1).real.flatten(1).norm(dim=1) * np.sin(np.pi * by) ** 2
    np.testing.assert_allclose(floor, lost / x.flatten(1).norm(dim=1), atol=1e-12)
    assert bool((floor > 0.01).all()) == (n % 2 == 0)
