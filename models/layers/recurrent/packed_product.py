"""A matrix that many vectors are multiplied by: laid out for the processor once, not again in every product.

A recurrent network multiplies by the same U at every step. torch.addmm lays U out in blocks for the cache each time,
which with batches of some dozens takes as long as the product itself. oneDNN, which comes with torch, keeps the blocks;
nn.LSTM does so inside. Only single precision on a CPU has this, and no derivative flows through it.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from models.layers.derivatives import differentiated

Product = Callable[[Tensor, Tensor], Tensor]

LEAST_WORK = 2**21  # multiplications of one product; smaller ones cost less than the call
LEAST_ROWS = 512  # of all products together, which pay for putting the matrix into blocks


def packed(weight: Tensor, rows: int, times: int = 1) -> Product | None:
    """Return (given, h) -> given + h W^T for products of `rows` rows, so many `times`; None where torch's own serves.

    `given` is (units,) or (rows, units), h is (rows, inputs), W is (units, inputs). The answer is a new tensor.
    """
    large = rows * weight.numel() >= LEAST_WORK and rows * times >= LEAST_ROWS
    if not large or weight.dtype != torch.float32 or weight.device.type != "cpu" or not available():
        return None
    blocks = torch.ops.mkldnn._reorder_linear_weight(weight.detach().contiguous(), rows)
    linear = torch.ops.mkldnn._linear_pointwise

    def product(given: Tensor, h: Tensor) -> Tensor:
        if given.ndim == 1:
            made: Tensor = linear(h, blocks, given, "none", [], "")
        else:
            made = linear.binary(h, given, blocks, None, "add")
        return made

    return product


def available() -> bool:
    there = torch.backends.mkldnn.is_available() and bool(torch.backends.mkldnn.enabled)
    return there and all(hasattr(torch.ops.mkldnn, name) for name in ("_reorder_linear_weight", "_linear_pointwise"))


def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return x W^T + b, as F.linear does; (..., inputs) -> (..., units)."""
    rows = x.numel() // max(1, x.shape[-1])
    product = None if differentiated(x, weight, bias) or x.dtype != weight.dtype else packed(weight, rows)
    return F.linear(x, weight, bias) if product is None else product(bias, x)
