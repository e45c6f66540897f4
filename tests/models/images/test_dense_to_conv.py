"""Row G1: each step is the matrix that is drawn, the counts are the text's, sharing ends the error."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from models.images.dense_to_conv import (
    BOUNDARIES,
    CARD,
    CHANNELS,
    SIZE,
    STEPS,
    DenseToConv,
    SharedLayer,
    build,
    offset_index,
    offsets,
    parameter_counts,
    share,
    spread,
)

DENSE, SHARED, LOCAL, MANY = range(4)
SHIFTS = [(1, 0), (0, 3), (-4, 5)]


@torch.no_grad()
def shift_error(model: DenseToConv) -> float:
    x = torch.rand(2, 1, SIZE, SIZE, dtype=torch.float64)
    errors = []
    for shift in SHIFTS:
        moved = model.layer(x).roll(shift, (-2, -1))
        errors.append((model.layer(x.roll(shift, (-2, -1))) - moved).norm() / moved.norm())
    return float(torch.stack(errors).max())


def double(step: int, boundary: int = 0, delta: int = 2, sharing: float = 0.0) -> DenseToConv:
    model = build(step, delta, boundary, sharing).double()
    assert isinstance(model, DenseToConv)
    return model


def test_the_counts_are_those_of_the_text() -> None:
    for delta in (1, 5, 10):
        counts = parameter_counts(1000, 1000, delta)
        assert counts["dense W"] == 10**12
        assert counts["shift-invariant V"] == 4 * 10**6
        assert counts["local Delta"] == 4 * delta**2
        exact = parameter_counts(1000, 1000, delta, exact=True)
        assert exact["dense W"] == 10**12
        assert exact["shift-invariant V"] == (2 * 1000 - 1) ** 2
        assert exact["local Delta"] == (2 * delta + 1) ** 2
        assert tuple(counts) == tuple(exact) == STEPS


@pytest.mark.parametrize("delta", [0, 1, 5])
def test_the_layers_have_that_many_weights(delta: int) -> None:
    exact = parameter_counts(SIZE, SIZE, delta, exact=True)
    zero = BOUNDARIES.index("zero")
    for step in (DENSE, SHARED, LOCAL):
        assert double(step, zero, delta).layer.weight.numel() == exact[STEPS[step]]
    assert double(MANY, zero, delta).layer.weight.numel() == CHANNELS * exact["channels"]
    # on the torus an offset and the one a turn further are the same
    assert double(SHARED).layer.weight.numel() == SIZE**2


def test_the_error_under_shifts_falls_to_zero_when_weights_are_shared() -> None:
    assert shift_error(double(DENSE)) > 0.1
    for step in (SHARED, LOCAL, MANY):
        assert shift_error(double(step)) < 1e-14


def test_the_error_falls_in_proportion_to_what_is_not_shared() -> None:
    places = torch.eye(SIZE * SIZE).unflatten(1, (SIZE, SIZE))
    shift = places.roll((2, 3), (1, 2)).flatten(1).double()

    def commutator(sharing: float) -> float:
        matrix = double(DENSE, sharing=sharing).layer.matrix().detach()
        return float((matrix @ shift - shift @ matrix).norm())

    assert commutator(0) > 1
    assert commutator(0.25) == pytest.approx(0.75 * commutator(0), rel=1e-6)
    assert commutator(0.5) == pytest.approx(0.5 * commutator(0), rel=1e-6)
    assert commutator(1) == 0


def test_one_weight_that_is_not_shared_breaks_the_law() -> None:
    model = double(LOCAL)
    weight = model.layer.matrix().detach().clone()
    weight[60, 61] += 0.01
    model.layer.matrix = lambda: weight  # type: ignore[method-assign]
    assert shift_error(model) > 1e-5


@pytest.mark.parametrize(("step", "boundary"), [*product(range(4), range(2))])
def test_forward_multiplies_by_the_drawn_matrix(step: int, boundary: int) -> None:
    model = double(step, boundary)
    title, drawn = next(iter(CARD.matrix(model).items()))  # type: ignore[misc]
    assert title.startswith(STEPS[step])
    assert drawn.ndim == 2
    x = torch.rand(3, 1, SIZE, SIZE, dtype=torch.float64)
    expected = (x.flatten(1) @ drawn.T).unflatten(1, (-1, SIZE, SIZE))
    torch.testing.assert_close(model.layer(x), expected + model.layer.bias, rtol=1e-13, atol=1e-13)
    torch.testing.assert_close(model(x), model.layer(x).clamp(min=0))


def convolved(x: Tensor, kernel: Tensor, rows: range, columns: range, boundary: str) -> Tensor:
    """Correlate with V by torch's own convolution."""
    reach = (-columns.start, columns.stop - 1, -rows.start, rows.stop - 1)
    return F.conv2d(F.pad(x, reach, mode="circular" if boundary == "circular" else "constant"), kernel)


@pytest.mark.parametrize(("step", "boundary"), [*product((SHARED, LOCAL, MANY), range(2))])
def test_the_shared_steps_are_convolutions(step: int, boundary: int) -> None:
    layer = double(step, boundary, delta=3).layer
    name = BOUNDARIES[boundary]
    reach = offsets(SIZE, name) if step == SHARED else range(-3, 4)
    x = torch.rand(2, 1, SIZE, SIZE, dtype=torch.float64)
    expected = convolved(x, layer.weight, reach, reach, name) + layer.bias
    torch.testing.assert_close(layer(x), expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("size", "boundary"), [*product([(6, 4), (5, 8), (1, 3)], BOUNDARIES)])
def test_any_size_and_several_channels_in_and_out(size: tuple[int, int], boundary: str) -> None:
    rows, columns = offsets(size[0], boundary), offsets(size[1], boundary)
    index = offset_index(*size, rows, columns, boundary)
    kernel = torch.randn(3, 2, len(rows), len(columns), dtype=torch.float64)
    layer = SharedLayer(kernel, torch.randn(3, 1, 1, dtype=torch.float64), index)
    x = torch.rand(2, 2, *size, dtype=torch.float64)
    expected = convolved(x, kernel, rows, columns, boundary) + layer.bias
    torch.testing.assert_close(layer(x), expected, rtol=1e-13, atol=1e-13)
    back = share(spread(kernel, index), index, (len(rows), len(columns)))
    torch.testing.assert_close(back, kernel)


@pytest.mark.parametrize(("step", "boundary"), [*product((SHARED, LOCAL, MANY), range(2))])
def test_the_matrix_is_constant_along_its_diagonals_and_banded(step: int, boundary: int) -> None:
    layer = double(step, boundary, delta=2).layer
    blocks = layer.matrix().detach().reshape(-1, SIZE, SIZE, SIZE, SIZE)  # (d, i, j, k, l)
    if BOUNDARIES[boundary] == "circular":
        assert torch.equal(blocks.roll((1, 1), (1, 3)), blocks)  # block-circulant,
        assert torch.equal(blocks.roll((1, 1), (2, 4)), blocks)  # with circulant blocks
    else:
        assert torch.equal(blocks[:, 1:, :, 1:], blocks[:, :-1, :, :-1])  # block-Toeplitz,
        assert torch.equal(blocks[:, :, 1:, :, 1:], blocks[:, :, :-1, :, :-1])  # with Toeplitz blocks
    apart = (torch.arange(SIZE)[:, None] - torch.arange(SIZE)).abs()
    if BOUNDARIES[boundary] == "circular":
        apart = torch.minimum(apart, SIZE - apart)
    far = (apart > 2)[:, None, :, None] | (apart > 2)[None, :, None, :]
    banded = step != SHARED
    assert bool((blocks[:, far] == 0).all()) is banded
    assert (blocks[:, ~far] != 0).all()


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_sharing_is_the_nearest_shift_invariant_matrix(boundary: str) -> None:
    """The mean over the diagonals takes away a part that is orthogonal to all that it could keep."""
    reach = offsets(5, boundary)
    index = offset_index(5, 5, reach, reach, boundary)
    weight = torch.randn(2, 25, 3, 25, dtype=torch.float64)
    nearest = spread(share(weight, index, (len(reach), len(reach))), index)
    other = spread(torch.randn(2, 3, len(reach), len(reach), dtype=torch.float64), index)
    assert abs(float(((weight - nearest) * other).sum())) < 1e-12
    again = spread(share(nearest, index, (len(reach), len(reach))), index)
    torch.testing.assert_close(again, nearest, rtol=1e-13, atol=1e-13)


def test_each_step_is_made_from_the_one_before() -> None:
    dense, shared, local, many = (double(step).layer for step in range(4))
    reach = offsets(SIZE, "circular")
    index = offset_index(SIZE, SIZE, reach, reach, "circular")
    mean = share(dense.weight.detach(), index, (SIZE, SIZE))
    torch.testing.assert_close(shared.weight.detach(), mean, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(shared.bias.detach().squeeze(), dense.bias.detach().mean())
    middle = SIZE // 2
    near = shared.weight[..., middle - 2 : middle + 3, middle - 2 : middle + 3]
    assert torch.equal(local.weight, near)
    assert many.weight.shape == (CHANNELS, 1, 5, 5)


def test_a_gradient_step_keeps_the_constraint() -> None:
    model = double(LOCAL)
    model(torch.rand(1, 1, SIZE, SIZE, dtype=torch.float64)).square().sum().backward()
    with torch.no_grad():
        for parameter in model.parameters():
            assert parameter.grad is not None
            parameter -= 0.1 * parameter.grad
    assert shift_error(model) < 1e-14
