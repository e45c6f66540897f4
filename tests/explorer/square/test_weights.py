"""Parameters of a layer are drawn as they are, and gradients by them are those of torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from explorer.square.drawing.weights import MOST_SIDE
from explorer.square.evaluate import square
from explorer.state.state import State
from tests.explorer.square.test_evaluate import prepared


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 3, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(3 * 29 * 29, 5), nn.Dropout(0.5)
    )


@pytest.mark.parametrize("target", ["norm", "3"])
def test_the_gradient_is_that_of_the_chosen_number(target: str) -> None:
    p = prepared(network())
    for q in p.model.parameters():
        q.requires_grad_(False)
    found, _ = square(p, State(layer="0", gradient=target))
    weight, bias = found.weights.parameters
    assert (weight.name, weight.shape, bias.name) == ("weight", (3, 1, 3, 3), "bias")
    conv = p.model.get_submodule("0")
    assert isinstance(conv, nn.Conv2d)
    w = conv.weight.detach().clone().requires_grad_(True)
    maps = nn.functional.conv2d(p.x, w, conv.bias, padding=1)
    out = p.model[1:](maps)  # type: ignore[index]
    (slope,) = torch.autograd.grad(out.norm() if target == "norm" else out[0, 3], w)
    assert weight.gradient is not None and bias.gradient is not None
    assert np.abs(weight.gradient - slope[:, 0].numpy()).max() < 1e-6
    assert np.array_equal(weight.values, conv.weight.detach()[:, 0].numpy())
    assert weight.slope == pytest.approx(float(slope.norm()), rel=1e-5)
    assert not any(q.requires_grad for q in p.model.parameters())
    assert found.weights.entries == 5


def test_without_a_target_there_is_no_gradient_and_large_matrices_are_pooled() -> None:
    p = prepared(network())
    found, _ = square(p, State(layer="3"))
    weight, bias = found.weights.parameters
    assert weight.gradient is None and weight.slope is None
    assert weight.shape == (5, 3 * 29 * 29) and weight.values.shape == (1, 5, MOST_SIDE)
    assert bias.values.shape == (1, 1, 5)
    assert not square(p, State(layer="1"))[0].weights.parameters  # an activation has none


def test_what_the_number_does_not_depend_on_has_no_gradient() -> None:
    class Beside(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.unused = nn.Conv2d(1, 2, 3), nn.Conv2d(1, 2, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.unused(x)
            used: torch.Tensor = self.used(x)
            return used

    p = prepared(Beside())
    found, _ = square(p, State(layer="unused", gradient="norm"))
    assert [q.gradient for q in found.weights.parameters] == [None, None]


def test_an_entry_that_the_output_lacks_has_no_gradient() -> None:
    found, _ = square(prepared(network()), State(layer="0", gradient="99"))
    assert found.weights.parameters[0].gradient is None
