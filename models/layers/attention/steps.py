"""Multi-head attention in its six steps, each a layer of its own: q, k, v, logits, mask, softmax, weighted sum.

Vaswani et al., "Attention is all you need", 2017, section 3.2:

    Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V (1)
    MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O

For a long sequence the matrix is never formed: a fused kernel goes from q, k and v to the weighted sum by blocks, and
`Attention.row` makes one row again of the q and k that are kept.

Layers take (..., T, C): one sequence or the nodes of a graph, or a batch of them. Parameters fit
nn.MultiheadAttention, whose in_proj_weight is the three matrices of q, k and v one below the other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.telling.equations import (
    Equation,
    Number,
    at_step,
    barred,
    dots,
    every,
    fixed,
    given,
    softmax,
    weighed,
)
from explorer.declare.types.fields import PAIR
from explorer.spaces.sequence.fields import STEP

BARRED = -1e9  # as in the authors' program: the exponential of it is exactly 0, and unlike -inf it can be drawn
MOST_PAIRS = 2**22  # entries of the matrix of one head; of a larger one only rows are made


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


class Context(WeightedSum):
    """The weighted sum, of the attention and v or, without the matrix, of q, k and v; -> (..., T, C)."""

    def __init__(self, heads: int, causal: bool) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal

    def forward(self, first: Tensor, *rest: Tensor) -> Tensor:
        if len(rest) == 1:
            return super().forward(first, rest[0])
        q, k, v = (split_heads(x, self.heads) for x in (first, *rest))
        # with more batch axes than one, or none, torch would take the way that forms the matrix
        q1, k1, v1 = (x.reshape(-1, *x.shape[-3:]) for x in (q, k, v))
        summed = F.scaled_dot_product_attention(q1, k1, v1, is_causal=self.causal)
        return summed.reshape(q.shape).transpose(-2, -3).flatten(-2)


class Attention(nn.Module):
    """Attention of x to `memory`; (..., T, C), (..., S, C) -> (..., T, C).

    Where the matrix has more than MOST_PAIRS entries logits, mask and attention are no layers: ask for a `row`.
    """

    out_field = STEP
    row_of = ("query", "key")  # the layers that `row` takes

    def __init__(self, width: int, heads: int, causal: bool = False, rows: str = "", columns: str = "") -> None:
        """Make an attention; `rows` and `columns` of its matrices are as `models.layers.taps.Alignment` says."""
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.logits = Logits(heads)
        self.masked_logits = CausalMask() if causal else None
        self.attention = Softmax()
        for matrix in (self.logits, self.masked_logits, self.attention):
            if matrix is not None:
                vars(matrix).update(rows=rows, columns=columns)  # no tensors: not for torch to keep
        self.context = Context(heads, causal)
        self.out = nn.Linear(width, width)

    @property
    def equations(self) -> tuple[Equation, ...]:
        """Return the first five steps; of keys and values those of the same step are written out."""
        x, m, heads = at_step(given(0), "x⁽ᵗ⁾"), at_step(given(1), "m⁽ᵗ⁾"), Number(self.logits.heads)
        q, k, v = (at_step(n, s) for n, s in (("query", "q⁽ᵗ⁾"), ("key", "k⁽ᵗ⁾"), ("value", "v⁽ᵗ⁾")))
        e, s, a = at_step("logits", "e_tj"), at_step("masked_logits", "ẽ_tj"), at_step("attention", "a_tj")
        c, o = at_step("context", "c⁽ᵗ⁾"), at_step("out", "o⁽ᵗ⁾")
        causal = self.masked_logits is not None
        mask = (Equation(s, barred(e, Number(BARRED)), "3 Mask: nothing from later steps"),) if causal else ()
        return (
            Equation(q, fixed("W_q") @ x + fixed("b_q"), "1 Project to query, key and value"),
            Equation(k, fixed("W_k") @ m + fixed("b_k")),
            Equation(v, fixed("W_v") @ m + fixed("b_v")),
            Equation(e, dots(q, every("key", "k⁽ʲ⁾"), heads), "2 Logits" if causal else "2 Logits (3: no mask)"),
            *mask,
            Equation(a, softmax(s if causal else e), "4 Softmax over j"),
            Equation(c, weighed(a, every("value", "v⁽ʲ⁾")), "5 Weighted sum, heads side by side, projection"),
            Equation(o, fixed("W_o") @ c + fixed("b_o")),
        )

    @property
    def constants(self) -> Mapping[str, Tensor]:
        """Return the four projections."""
        named = {"q": self.query, "k": self.key, "v": self.value, "o": self.out}
        return {f"{n}_{s}": w for s, m in named.items() for n, w in (("W", m.weight), ("b", m.bias))}

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        q, k, v = self.query(x), self.key(memory), self.value(memory)
        if q.shape[-2] * k.shape[-2] > MOST_PAIRS:
            return self.out(self.context(q, k, v))
        logits = self.logits(q, k)
        if self.masked_logits is not None:
            logits = self.masked_logits(logits)
        return self.out(self.context(self.attention(logits), v))

    def row(self, query: Tensor, key: Tensor, step: int) -> Tensor:
        """Return what one step attends to, of all queries and keys; (..., T, C), (..., S, C) -> (..., h, S)."""
        logits = self.logits(query[..., step : step + 1, :], key).squeeze(-2)
        if self.masked_logits is not None:
            logits[..., step + 1 :] = BARRED
        return self.attention(logits)


class Residual(nn.Module):
    """x + change."""

    def forward(self, x: Tensor, change: Tensor) -> Tensor:
        return x + change
