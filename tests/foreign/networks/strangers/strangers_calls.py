"""Ways to call and to write: hooks, arguments by name, several graphs in one, masks, dictionaries, checkpoints,
caches."""

from __future__ import annotations

import functools
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.foreign.case import Case, Given, drawn, pair
from tests.foreign.networks.strangers.strangers_graphs import E, GCNLayer, N, joined

PICTURE = lambda: Given((drawn(1, 3, 12, 12),), ("grid",))  # noqa: E731


def batched() -> Given:
    """Two graphs in one, numbered 0 and 1."""
    index = joined()
    second = joined(7) + N
    batch = torch.tensor([0] * N + [1] * N)
    return Given((drawn(2 * N, 5), torch.cat([index, second], 1), batch), ("nodes", "index", "nodes"), form="mapping",
                 names=("x", "edge_index", "batch"))  # fmt: skip


def weighted(form: str = "mapping") -> Given:
    names = ("x", "edge_index", "edge_weight")
    return Given((drawn(N, 5), joined(), drawn(E, seed=3).abs()), ("nodes", "index", "edges"), form=form, names=names)


def conv(i: int, o: int) -> nn.Conv2d:
    return nn.Conv2d(i, o, 3, padding=1, padding_mode="circular")


def hooked(tilted: bool) -> nn.Module:
    """Somebody's debugging hook was left on a layer: it clamps, or it fades to the right."""
    net = nn.Sequential(conv(3, 6), nn.ReLU(), conv(6, 6), nn.Sigmoid(), conv(6, 2))

    def clamp(_: nn.Module, __: Any, out: Tensor) -> Tensor:
        return out.clamp(-1, 1)

    def fade(_: nn.Module, __: Any, out: Tensor) -> Tensor:
        return out * torch.linspace(1, 0.999, out.shape[-1], dtype=out.dtype, device=out.device)

    net[2].register_forward_hook(fade if tilted else clamp)
    return net


class Cached(nn.Module):
    """A grid of places that is made once for each size and kept; what is made of it is the same for all, or is not."""

    def __init__(self, used: bool) -> None:
        super().__init__()
        self.conv, self.used = conv(3, 6), used

    @functools.lru_cache(maxsize=4)  # noqa: B019
    def grid(self, h: int, w: int) -> Tensor:
        y, x = torch.meshgrid(torch.linspace(-1, 1, h), torch.linspace(-1, 1, w), indexing="ij")
        return (y.cos() + x) if self.used else (y + x).abs().mean().expand(h, w)

    def forward(self, x: Tensor) -> Tensor:
        h = self.conv(x)
        return h * self.grid(*h.shape[-2:]).to(h)


class Checkpointed(nn.Module):
    def __init__(self, late: bool) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(conv(6, 6) for _ in range(3))
        self.first, self.shift = conv(3, 6), Lag(late)

    def run(self, k: int, x: Tensor) -> Tensor:
        return x + F.gelu(self.blocks[k](x))

    def forward(self, x: Tensor) -> Tensor:
        from torch.utils.checkpoint import checkpoint

        x = self.first(x)
        for k in range(3):
            x = checkpoint(self.run, k, x, use_reentrant=False)
        return self.shift(x)


class Lag(nn.Module):
    """A shift by one pixel to the side does not matter; one that leaves the last column where it was does."""

    def __init__(self, late: bool) -> None:
        super().__init__()
        self.late = late

    def forward(self, x: Tensor) -> Tensor:
        if self.late:
            return torch.cat([x[..., :1], x[..., :-1]], -1)
        return x.roll(1, -1)


class Pooled(nn.Module):
    """The mean of each graph; the fault: a graph's nodes are counted by where the first and the last one stand."""

    def __init__(self, by_ends: bool) -> None:
        super().__init__()
        self.by_ends = by_ends

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        graphs = int(batch.max()) + 1
        total = x.new_zeros(graphs, x.shape[1]).index_add(0, batch, x)
        if self.by_ends:
            at = torch.arange(len(x), device=x.device)
            count = torch.stack([at[batch == g].max() - at[batch == g].min() + 1 for g in range(graphs)])
        else:
            count = torch.bincount(batch, minlength=graphs)
        return total / count[:, None].to(x.dtype)


class Batched(nn.Module):
    def __init__(self, by_ends: bool) -> None:
        super().__init__()
        self.one, self.two, self.pool, self.mlp = GCNLayer(5, 8), GCNLayer(8, 8), Pooled(by_ends), nn.Linear(8, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.two(self.one(x, edge_index).relu(), edge_index).relu()
        return self.mlp(self.pool(x, batch))


class Weighted(nn.Module):
    def __init__(self, normed: bool) -> None:
        super().__init__()
        self.lin, self.norm = nn.Linear(5, 6), Share(normed)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> dict[str, Any]:
        w = self.norm(edge_weight, edge_index[1], len(x))
        h = torch.zeros_like(self.lin(x)).index_add(0, edge_index[1], w[:, None] * self.lin(x)[edge_index[0]])
        return {"states": h, "extra": {"weights": w, "norms": [h.norm(dim=1)]}}


class Share(nn.Module):
    """Of all that a node hears; the fault: a running share."""

    def __init__(self, running: bool) -> None:
        super().__init__()
        self.running = running

    def forward(self, w: Tensor, to: Tensor, n: int) -> Tensor:
        if self.running:
            return w / w.cumsum(0)
        return w / w.new_zeros(n).index_add(0, to, w)[to]


class Data2(nn.Module):
    """torch_geometric's way: forward(data)."""

    def __init__(self, sorted_: bool) -> None:
        super().__init__()
        self.lin, self.sorted, self.out = nn.Linear(5, 6), Arranged(sorted_), nn.Linear(6, 2)

    def forward(self, data: Any) -> Tensor:
        h = self.lin(data.x)
        w = data.edge_weight[:, None]
        return self.out(
            self.sorted(h + torch.zeros_like(h).index_add(0, data.edge_index[1], w * h[data.edge_index[0]]))
        )


class Arranged(nn.Module):
    """Ranks of nodes by a channel, counted at each; the fault: they are sorted and not put back."""

    def __init__(self, sorted_: bool) -> None:
        super().__init__()
        self.sorted = sorted_

    def forward(self, h: Tensor) -> Tensor:
        order = h[:, 0].argsort()
        return h[order] if self.sorted else h + order.argsort()[:, None].to(h.dtype) / len(h)


class Named(nn.Module):
    """Arguments by name alone, in an order of one's own."""

    def __init__(self, last: bool) -> None:
        super().__init__()
        self.q, self.kv, self.read = nn.Linear(6, 6), nn.Linear(6, 12), Read(last)

    def forward(self, *, mask: Tensor, x: Tensor) -> Tensor:
        k, v = self.kv(x).chunk(2, -1)
        scores = (self.q(x) @ k.mT).masked_fill(mask[:, None] < 0.5, -1e9)
        return self.read(scores.softmax(-1) @ v, mask)


class Read(nn.Module):
    """The mean over those that are there; the fault: the last one that is there."""

    def __init__(self, last: bool) -> None:
        super().__init__()
        self.last = last

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        if self.last:
            at = (mask * torch.arange(x.shape[1], device=x.device)).argmax(1)
            return x[torch.arange(len(x)), at]
        return (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)


def masked() -> Given:
    mask = torch.ones(1, 9)
    mask[0, [1, 4]] = 0
    return Given((mask, drawn(1, 9, 6)), ("nodes@1", "nodes@1"), form="mapping", names=("mask", "x"))


class Sparse(nn.Module):
    """A sparse matrix made of the edges; the fault: its entries are not added up but the first of a row is kept."""

    def __init__(self, first: bool) -> None:
        super().__init__()
        self.lin, self.first = nn.Linear(5, 6), first

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        keep = torch.ones(edge_index.shape[1], dtype=torch.bool, device=x.device)
        if self.first:
            seen: set[int] = set()
            for k, to in enumerate(edge_index[1].tolist()):
                keep[k] = to not in seen
                seen.add(to)
        index = edge_index.flip(0)[:, keep]
        a = torch.sparse_coo_tensor(index, torch.ones(index.shape[1], dtype=x.dtype, device=x.device), (len(x), len(x)))
        return torch.sparse.mm(a, self.lin(x)).tanh()


class TwoHops(nn.Module):
    def __init__(self, first: bool) -> None:
        super().__init__()
        self.a, self.b, self.out = Sparse(False), Sparse(first), nn.Linear(6, 2)
        self.b.lin = nn.Linear(6, 6)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.out(self.b(self.a(x, edge_index), edge_index))


SAME = "permutation"
CASES: tuple[Case, ...] = (
    *pair("a hook left on", lambda: hooked(False), lambda: hooked(True), ["2"], PICTURE, ("grid",), "translation",
          hooks=False),
    *pair("a cache", lambda: nn.Sequential(conv(3, 3), Cached(False)), lambda: nn.Sequential(conv(3, 3),
          Cached(True)), ["1"],
          PICTURE, ("grid",), "translation", hooks=False),
    *pair("checkpoints", lambda: Checkpointed(False), lambda: Checkpointed(True), ["shift"], PICTURE, ("grid",),
          "translation",
          hooks=False),
    *pair("two graphs in one", lambda: Batched(False), lambda: Batched(True), ["pool"], batched, ("fixed",), SAME,
          hooks=False),
    *pair("weights of edges", lambda: Weighted(False), lambda: Weighted(True), ["norm"], weighted, ("nodes", "edges",
          "nodes"),
          SAME, hooks=False),
    *pair("one object", lambda: Data2(False), lambda: Data2(True), ["sorted"], lambda: weighted("data"), ("nodes",),
          SAME,
          hooks=False),
    *pair("names alone", lambda: Named(False), lambda: Named(True), ["read"], masked, ("fixed",), SAME, hooks=False),
    *pair("sparse matrices", lambda: TwoHops(False), lambda: TwoHops(True), ["b"],
          lambda: Given((drawn(N, 5), joined()), ("nodes", "index")), ("nodes",), SAME, hooks=False),
)  # fmt: skip
