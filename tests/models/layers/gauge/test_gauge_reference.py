"""The gauge-equivariant convolution against arrays that its authors' own layer has computed (tests/models/data)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.layers.gauge.conv import GaugeConv

FILE = Path(__file__).resolve().parents[2] / "data" / "gauge_conv.npz"
cases = pytest.mark.parametrize("case", [0, 1, 2])


@cache
def stored() -> dict[str, NDArray[np.float64]]:
    with np.load(FILE) as arrays:
        return dict(arrays)


def tensor(name: str) -> Tensor:
    return torch.from_numpy(stored()[name])


def connection(dtype: torch.dtype, reversed_part: str = "") -> tuple[Tensor, ...]:
    """Return edges, lengths, angles and transporters, one of them with the other sign if it is named."""
    found = [tensor(n) * (-1 if n == reversed_part else 1) for n in ("edge_index", "radius", "angle", "transport")]
    return found[0], *(value.to(dtype) for value in found[1:])


def layer(case: int, dtype: torch.dtype) -> GaugeConv:
    """Return our layer with their weights: theirs are listed by rings, channels in, size in, channels out, size out."""
    weight = tensor(f"weight{case}").permute(0, 3, 1, 4, 2)
    into, out = (tuple(range(int(highest) + 1)) for highest in stored()[f"orders{case}"])
    made = GaugeConv(weight.shape[2], weight.shape[1], into, out, len(weight)).to(dtype)
    with torch.no_grad():
        made.weight.copy_(weight)
        made.self_weight.copy_(tensor(f"self_weight{case}").mT)
        made.bias.copy_(tensor(f"bias{case}"))
    return made


@torch.no_grad()
def answered(made: GaugeConv, x: Tensor, given: tuple[Tensor, ...]) -> Tensor:
    """Return what our layer answers when the vertex itself is one more neighbour in the mean, as it is in theirs."""

    def with_only(*names: str) -> Tensor:
        kept = {name: value.clone() for name, value in made.named_parameters()}
        for name, parameter in made.named_parameters():
            if name not in names:
                parameter.zero_()
        answer: Tensor = made(x, *given)
        for name, parameter in made.named_parameters():
            parameter.copy_(kept[name])
        return answer

    degree = given[0][1].bincount().to(x.dtype)[:, None]
    return (with_only("self_weight") + degree * with_only("weight")) / (degree + 1) + with_only("bias")


@cases
@pytest.mark.parametrize(("dtype", "close"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_the_answer_is_that_of_the_authors_layer(case: int, dtype: torch.dtype, close: float) -> None:
    expected = tensor(f"out{case}").flatten(1)
    found = answered(layer(case, dtype), tensor(f"x{case}").to(dtype).flatten(1), connection(dtype)).double()
    assert float((found - expected).abs().max()) < close * float(expected.abs().max())


@cases
@pytest.mark.parametrize("part", ["weight", "self_weight", "angle", "transport"])
def test_every_part_of_it_matters(case: int, part: str) -> None:
    """Rings exchanged, the other sign of weights, angles or transporters: the comparison can fail."""
    made, expected = layer(case, torch.float64), tensor(f"out{case}").flatten(1)
    with torch.no_grad():
        if part == "weight":
            made.weight.copy_(made.weight.flip(0))
        elif part == "self_weight":
            made.self_weight.neg_()
    found = answered(made, tensor(f"x{case}").flatten(1), connection(torch.float64, part))
    difference = float((found - expected).abs().max())
    if part == "transport" and int(stored()[f"orders{case}"][0]) == 0:
        assert difference < 1e-12, "scalars are carried as they are"
    else:
        assert difference > 0.1
