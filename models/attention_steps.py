"""Multi-head attention in its six steps, each a layer of its own: q, k, v, logits, mask, softmax, weighted sum.

Vaswani et al., "Attention is all you need", 2017, section 3.2:

    Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V (1)
    MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O

Layers take (..., T, C): one sequence or the nodes of a graph, or a batch of them. Parameters fit
nn.MultiheadAttention, whose in_proj_weight is the three matrices of q, k and v one below the other.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from explorer.fields import PAIR, STEP

BARRED = -1e9  # as in the authors' program: the exponential of it is exactly 0, and unlike -inf it can be drawn


def split_heads(x: Tensor, heads: int) -> Tensor:
    """Cut the channels into heads; (..., T, h d) -> (..., h, T, d)."""
    return x.unflatten(-1, (heads, -1)).transpose(-2, -3)


class Logits(nn.Module):
    """q_i . k_j / sqrt(d_k) for each head; (..., T, C), (..., S, C) -> (..., h, T to, S from)."""

    out_field = PAIR

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.heads = heads

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        q, k = split_heads(query, self.heads), split_heads(key, self.heads)
        return q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])


class CausalMask(nn.Module):
    """Bar what comes later: logits above the diagonal become BARRED; (..., T, S) -> the same."""

    out_field = PAIR

    def forward(self, logits: Tensor) -> Tensor:
        later = torch.ones(logits.shape[-2:], dtype=torch.bool, device=logits.device).triu(1)
        return logits.masked_fill(later, BARRED)


class Softmax(nn.Module):
    """The share of each step in a row, which sums to 1; (..., T, S) -> the same."""

    out_field = PAIR

    def forward(self, logits: Tensor) -> Tensor:
        return logits.softmax(-1)


class WeightedSum(nn.Module):
    """sum_j a_ij v_j, heads side by side; (..., h, T, S), (..., S, C) -> (..., T, C)."""

    out_field = STEP

    def forward(self, attention: Tensor, value: Tensor) -> Tensor:
        return (attention @ split_heads(value, attention.shape[-3])).transpose(-2, -3).flatten(-2)


class Attention(nn.Module):
    """Attention of x to `memory`; (..., T, C), (..., S, C) -> (..., T, C)."""

    out_field = STEP

    def __init__(self, width: int, heads: int, causal: bool = False) -> None:
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.logits = Logits(heads)
        self.masked_logits = CausalMask() if causal else None
        self.attention = Softmax()
        self.context = WeightedSum()
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        q, k, v = self.query(x), self.key(memory), self.value(memory)
        logits = self.logits(q, k)
        if self.masked_logits is not None:
            logits = self.masked_logits(logits)
        return self.out(self.context(self.attention(logits), v))


class Residual(nn.Module):
    """x + change."""

    def forward(self, x: Tensor, change: Tensor) -> Tensor:
        return x + change
