"""Influence of one node's input on another's value inside a network: the Jacobian, block by block.

Xu et al., "Representation Learning on Graphs with Jumping Knowledge Networks", 2018, definition 3.1: the influence
of j on i is the sum of the absolute entries of d h_i / d x_j. That it vanishes with the distance across a bottleneck is
over-squashing (Topping et al., "Understanding over-squashing and bottlenecks on graphs via curvature", 2022, lemma 1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

MOST = 32  # channels of the layer that are differentiated; one backward pass each

SLOW = "Each channel takes a backward pass, and the network is too slow for that: forwards it takes {:.2g} s."
Run = Callable[..., Mapping[str, Tensor]]


def influence(run: Run, inputs: tuple[Tensor, ...], layer: str, node: int, most: int = MOST) -> NDArray[np.float64]:
    """Return (N,) the sum over channels of |d h_node / d x_j| at a layer.

    Args:
        run: takes `inputs`, the first of which is x (N, C), and returns {layer: (N, ...) tensor}, still attached.
        most: of more channels evenly spaced ones stand for all, scaled to their number.

    Raises:
        ValueError: a layer that was not run or is no field on these nodes, or a node that is not there.
    """
    x = inputs[0].detach().clone().requires_grad_(True)
    with torch.inference_mode(False), torch.enable_grad():
        made = run(x, *inputs[1:])
        if layer not in made:
            raise ValueError(f"the network has not run {layer!r}; it ran {', '.join(made) or 'nothing'}")
        value = made[layer]
        if value.ndim < 1 or len(value) != len(x):
            raise ValueError(f"{layer!r} has shape {tuple(value.shape)}: no field on {len(x)} nodes")
        if not 0 <= node < len(x):
            raise ValueError(f"there is no node {node}; there are {len(x)} (from 0)")
        row = value[node].reshape(-1)
        total = torch.zeros(len(x), dtype=torch.float64, device=x.device)
        if not row.requires_grad or not x.numel():
            return _array(total)
        count = len(row)
        picked = sorted({round(float(c)) for c in np.linspace(0, count - 1, min(count, most))})
        for k, channel in enumerate(picked):
            (slope,) = torch.autograd.grad(
                row[channel], x, retain_graph=k + 1 < len(picked), allow_unused=True, materialize_grads=True
            )
            total += slope.reshape(len(x), -1).abs().to(torch.float64).sum(1)
        return _array(total * (count / len(picked)))


def _array(values: Tensor) -> NDArray[Any]:
    return np.asarray(values.detach().cpu().numpy())
