"""Attention between steps, in the ways that people write it: its mask or its bias is where the faults are planted."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import Case, Given, drawn

STEPS = 11


def series():
    return Given((drawn(1, STEPS, 3),), ("steps@1",), layout="NTC")


def band(shift=0):
    """Return who sees whom: steps at most two away; shifted by one it looks farther back than ahead."""
    at = torch.arange(STEPS)
    return (at[:, None] - at + shift).abs() <= 2


def bias(by_position=False):
    """Return what is added to the logits: less for farther steps, or for later ones."""
    at = torch.arange(STEPS, dtype=torch.float32)
    return -0.3 * (at.expand(STEPS, STEPS) if by_position else (at[:, None] - at).abs())


class Fused(nn.Module):
    """torch's own function; keys serve two heads each."""

    def __init__(self, mask=None, scale=None):
        super().__init__()
        self.q, self.kv, self.out = nn.Linear(8, 16), nn.Linear(8, 16), nn.Linear(16, 8)
        self.register_buffer("mask", mask)
        self.scale = scale

    def forward(self, x):
        q, (k, v) = self.q(x), self.kv(x).chunk(2, -1)
        q, k, v = (t.unflatten(-1, (-1, 4)).transpose(1, 2) for t in (q, k, v))
        mask = None if self.mask is None else self.mask.to(x.dtype) if self.mask.is_floating_point() else self.mask
        y = F.scaled_dot_product_attention(q, k, v, mask, scale=self.scale, enable_gqa=True)
        return self.out(y.transpose(1, 2).flatten(2))


class Module(nn.Module):
    """torch's own module."""

    def __init__(self, mask=None):
        super().__init__()
        self.heads = nn.MultiheadAttention(8, 2, batch_first=True)
        self.register_buffer("mask", mask)

    def forward(self, x):
        mask = self.mask.to(x.dtype) if self.mask.is_floating_point() else ~self.mask
        return self.heads(x, x, x, attn_mask=mask, need_weights=False)[0]


class ByHand(nn.Module):
    """Two products and a softmax."""

    def __init__(self, mask):
        super().__init__()
        self.qkv, self.drop = nn.Linear(8, 24), nn.Dropout(0.1)
        self.register_buffer("mask", mask)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        w = torch.einsum("btc,bsc->bts", q, k) / 8**0.5
        w = w + self.mask if self.mask.is_floating_point() else w.masked_fill(~self.mask, float("-inf"))
        return self.drop(w.softmax(-1)) @ v


class Network(nn.Module):
    def __init__(self, attend):
        super().__init__()
        self.enter, self.norm, self.leave = nn.Linear(3, 8), nn.LayerNorm(8), nn.Linear(8, 2)
        self.attend = attend()

    def forward(self, x):
        h = self.enter(x)
        return self.leave(h + self.attend(self.norm(h)))


def cases():
    found = []
    inside = {Fused: "attend", Module: "attend.heads", ByHand: "attend"}
    for kind, owner in inside.items():
        # what is worked out of queries, keys and the mask alone is named; by hand, the module that makes it
        culprit = ("attend", owner) if kind is ByHand else (owner, f"{owner}.attention")
        culprit = (*culprit, "attend") if kind is Module else culprit  # it holds the mask
        for what, sound, fault in (
            ("mask shifted by one", band(), band(1)), ("bias by position", bias(), bias(True)),
        ):  # fmt: skip
            one = Case(
                f"{kind.__name__.lower()}, {what.split()[0]}", partial(Network, partial(kind, sound)), series,
                "reversal", ("steps@1",),
            )  # fmt: skip
            found += [one, one.broken(what, partial(Network, partial(kind, fault)), *culprit)]
    return found


CASES = tuple(cases())
