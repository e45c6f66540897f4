"""Transformers on nodes without an order: tokens with a batch axis inside, masks, biases, positions."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import Case, Given, drawn
from tests.foreign.networks.on_graphs.graphs import edges, matrix


def nodes(count=9, channels=4):
    return Given((drawn(count, channels),), ("nodes",))


class Place(nn.Module):
    def __init__(self, kind, count=9, c=8):
        super().__init__()
        at = torch.arange(count).float()[:, None]
        rate = 10000.0 ** (-torch.arange(0, c, 2) / c)
        table = torch.cat([torch.sin(at * rate), torch.cos(at * rate)], 1)
        if kind == "learnt":
            self.table = nn.Parameter(torch.randn(count, c))
        elif kind == "one":
            self.table = nn.Parameter(torch.cat([torch.randn(1, c), torch.zeros(count - 1, c)]))
        else:
            self.register_buffer("table", 0.01 * table if kind == "faint" else table)

    def forward(self, x):
        return x + self.table[: x.shape[-2]].to(x.dtype)


class Rotary(nn.Module):
    def forward(self, x):
        at = torch.arange(x.shape[-2], dtype=x.dtype)[:, None] * 10.0 ** -torch.arange(4, dtype=x.dtype)
        a, b = x[..., :4], x[..., 4:]
        return torch.cat([a * at.cos() - b * at.sin(), a * at.sin() + b * at.cos()], -1)


PLACES = {"learnt": partial(Place, "learnt"), "sines": partial(Place, "sines"), "faint": partial(Place, "faint"),
          "one": partial(Place, "one"), "rotary": Rotary}  # fmt: skip


class Encoder(nn.Module):
    """torch's own layers on (1, nodes, channels), (nodes, 1, channels) or (nodes, channels)."""

    def __init__(self, axis="first", place=None, at=0, act=F.relu, norm_first=False, read="each", depth=2, c=8):
        super().__init__()
        self.embed = nn.Linear(4, c)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(c, 2, 16, activation=act, batch_first=axis == "first", norm_first=norm_first)
            for _ in range(depth)
        )
        self.place = place() if place else None
        self.out = nn.Linear(c, 3)
        self.axis, self.at, self.read = axis, at, read

    def forward(self, x):
        x = self.embed(x)
        x = {"first": x[None], "second": x[:, None], "none": x}[self.axis]
        for k, layer in enumerate(self.layers):
            if k == self.at and self.place is not None:
                x = self.place(x.squeeze(1))[:, None] if self.axis == "second" else self.place(x)
            x = layer(x)
        x = x[0] if self.axis == "first" else x[:, 0] if self.axis == "second" else x
        if self.read == "row":
            x = x.mean(0, keepdim=True)
        elif self.read == "first":
            x = x[0]
        return self.out(x)


def encoder_cases():
    found = []
    for k, axis in enumerate(("first", "second", "none")):
        act = (F.relu, F.gelu, F.mish)[k]
        sound = Case(f"encoder, batch axis {axis}", partial(Encoder, axis, act=act), nodes, "permutation", ("nodes",))
        found.append(sound)
        for j in (2 * k, 2 * k + 1):
            name = list(PLACES)[j % 5]
            at = (j + k) % 2
            found.append(sound.broken(f"{name} before {at}", partial(Encoder, axis, PLACES[name], at, act), "place"))
    before = Case("encoder, norm first", partial(Encoder, norm_first=True), nodes, "permutation", ("nodes",))
    row = Case("encoder, mean", partial(Encoder, read="row"), nodes, "permutation", ("fixed",))
    nine = Case("encoder, as many tokens as channels", Encoder, partial(nodes, 8), "permutation", ("nodes",))
    return [
        *found,
        before,
        before.broken("rotary before 1", partial(Encoder, place=Rotary, at=1, norm_first=True), "place"),
        row,
        row.broken("first read", partial(Encoder, read="first")),
        row.broken("learnt before 1", partial(Encoder, place=PLACES["learnt"], at=1, read="row"), "place"),
        nine,
        nine.broken("sines before 1", partial(Encoder, place=partial(Place, "sines", 8), at=1), "place", hooks=False),
        Case("encoder of torch alone", lambda: nn.TransformerEncoderLayer(4, 2, 8), nodes, "permutation", ("nodes",)),
    ]


class Heads(nn.Module):
    def __init__(self, c, kind, fault=""):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(c, c) for _ in range(4))
        self.kind, self.fault = kind, fault
        self.slope = nn.Parameter(torch.tensor([0.5, 1.5]))
        self.norm = nn.LayerNorm(c)

    def forward(self, x, adj=None):
        n, c = x.shape
        q, k, v = (m(x).view(n, 2, c // 2).transpose(0, 1) for m in (self.q, self.k, self.v))
        score = q @ k.transpose(-1, -2) / math.sqrt(c // 2)
        if self.kind == "distance":
            score = score - self.slope.view(2, 1, 1) * torch.cdist(x, x)
        if adj is not None and self.kind == "mask":
            score = score.masked_fill((adj == 0) & ~torch.eye(n, dtype=torch.bool), -math.inf)
        elif adj is not None:
            score = score + self.slope.view(2, 1, 1) * adj
        if self.fault == "causal":
            score = score.masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), -math.inf)
        elif self.fault == "window":
            at = torch.arange(n)
            score = score.masked_fill((at[:, None] - at).abs() > 5, -math.inf)
        elif self.fault == "alibi":
            at = torch.arange(n)
            score = score - 0.1 * (at[:, None] - at).abs()
        elif self.fault == "no self" and n:
            score = score.masked_fill(torch.eye(n, dtype=torch.bool).roll(1, 0), -math.inf)
        w = score.softmax(-1)
        return self.norm(x + self.o((w @ v).transpose(0, 1).reshape(n, c)))


class Own(nn.Module):
    def __init__(self, kind="", fault="", at=1, depth=3):
        super().__init__()
        self.embed = nn.Linear(4, 8)
        self.blocks = nn.ModuleList(Heads(8, kind, fault if k == at else "") for k in range(depth))
        self.out = nn.Linear(8, 2)

    def forward(self, x, adj=None):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x) if adj is None else block(x, adj)
        return self.out(x)


def own_cases():
    found = []
    for k, kind in enumerate(("", "distance")):
        sound = Case(
            f"attention by hand{', ' * bool(kind)}{kind}", partial(Own, kind), nodes, "permutation", ("nodes",)
        )
        found.append(sound)
        for j, fault in enumerate(("causal", "window", "alibi", "no self")):
            at = (j + k) % 3
            found.append(sound.broken(f"{fault} in {at}", partial(Own, kind, fault, at), f"blocks.{at}"))
    data = partial(matrix, 9, 4)
    for kind in ("mask", "bias"):
        sound = Case(f"attention on a graph, {kind}", partial(Own, kind), data, "permutation", ("nodes",))
        found += [sound, sound.broken("alibi in 2", partial(Own, kind, "alibi", 2), "blocks.2")]
    return found


class Decoder(nn.Module):
    """Queries of its own listen to the nodes."""

    def __init__(self, place=False):
        super().__init__()
        self.embed = nn.Linear(4, 8)
        self.queries = nn.Parameter(torch.randn(1, 3, 8))
        self.place = Place("learnt") if place else nn.Identity()
        self.dec = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), 2)
        self.out = nn.Linear(8, 2)

    def forward(self, x):
        return self.out(self.dec(self.queries, self.place(self.embed(x))[None]))[0]


class Padded(nn.Module):
    """Adds empty tokens up to sixteen and masks them."""

    def __init__(self, mask=True):
        super().__init__()
        self.embed = nn.Linear(4, 8)
        self.attend = nn.MultiheadAttention(8, 2, batch_first=True)
        self.out = nn.Linear(8, 2)
        self.mask = mask

    def forward(self, x):
        n = len(x)
        h = F.pad(self.embed(x), (0, 0, 0, 16 - n))[None]
        empty = torch.arange(16)[None] >= (n if self.mask else n - 1)
        y = self.attend(h, h, h, key_padding_mask=empty, need_weights=False)[0]
        return self.out(y[0, :n])


class Linear(nn.Module):
    """Attention without a softmax, and its causal form."""

    def __init__(self, causal=False):
        super().__init__()
        self.qkv, self.out = nn.Linear(4, 18), nn.Linear(6, 2)
        self.causal = causal

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k = F.elu(q) + 1, F.elu(k) + 1
        outer = k[:, :, None] * v[:, None]
        total = outer.cumsum(0) if self.causal else outer.sum(0)
        norm = k.cumsum(0) if self.causal else k.sum(0)
        y = torch.einsum("nc,ncd->nd" if self.causal else "nc,cd->nd", q, total)
        return self.out(y / (q * norm).sum(-1, keepdim=True))


class Laplacian(nn.Module):
    """Positions from eigenvectors of the graph: their squares have no sign."""

    def __init__(self, raw=False):
        super().__init__()
        self.embed = nn.Linear(4, 8)
        self.pe = nn.Linear(3, 8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.raw = raw

    def forward(self, x, edge_index):
        n = len(x)
        a = torch.zeros(n, n, dtype=x.dtype)
        a[edge_index[0], edge_index[1]] = 1
        a = ((a + a.t()) > 0).to(x.dtype)
        vectors = torch.linalg.eigh(torch.diag(a.sum(1)) - a).eigenvectors
        vectors = vectors[:, 1:4]
        vectors = vectors * vectors[0].sign() if self.raw else vectors.abs()
        return self.layer((self.embed(x) + self.pe(vectors))[None])[0]


def graph():
    return Given((drawn(9, 4), edges(9, 24)), ("nodes", "index"))


def other_cases():
    queries = Case("queries listen to nodes", Decoder, nodes, "permutation", ("fixed",))
    padded = Case("padded tokens", Padded, nodes, "permutation", ("nodes",))
    linear = Case("linear attention", Linear, nodes, "permutation", ("nodes",))
    spectral = Case("eigenvectors as positions", Laplacian, graph, "permutation", ("nodes",), limit=1e-7)
    return [
        queries, queries.broken("places of the nodes", partial(Decoder, True), "place"),
        padded, padded.broken("one too many masked", partial(Padded, False)),
        linear, linear.broken("causal", partial(Linear, True)),
        spectral, spectral.broken("the first node's sign", partial(Laplacian, True)),
        replace(padded, name="padded tokens, twelve", given=partial(nodes, 12)),
        replace(linear, name="linear attention, as many tokens as numbers", given=partial(nodes, 18)),
    ]  # fmt: skip


CASES = (*encoder_cases(), *own_cases(), *other_cases())
