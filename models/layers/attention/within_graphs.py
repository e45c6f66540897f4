"""Attention between the nodes of a graph, and not between two graphs of a batch.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.4, equation 36, and Vaswani et al.,
"Attention is all you need", 2017, section 3.2, where u and v run over the nodes of one graph:

    a_uv = softmax over v of the logits,   z_u = sum over v of a_uv v_v
"""

from __future__ import annotations

import math

from torch import Tensor, nn

from explorer.declare.types.fields import PAIR
from explorer.spaces.graph.fields import NODE
from models.layers.attention.steps import split_heads


def same_graph(to: Tensor, of: Tensor) -> Tensor:
    """Return which pairs belong to one graph of the batch; (M,), (N,) -> (M, N) bool."""
    return to[:, None] == of


class SoftmaxWithinGraphs(nn.Module):
    """Attention: the exponential of the logits divided by its sum over a row, zero between different graphs."""

    out_field = PAIR

    def forward(self, logits: Tensor, batch: Tensor) -> Tensor:
        return logits.masked_fill(~same_graph(batch, batch), -math.inf).softmax(-1)


class WeightedSum(nn.Module):
    """sum_v a_uv v_v, head by head; (heads, N, N), (N, C) -> (N, C)."""

    out_field = NODE

    def forward(self, attention: Tensor, value: Tensor) -> Tensor:
        return (attention @ split_heads(value, len(attention))).transpose(0, 1).flatten(1)
