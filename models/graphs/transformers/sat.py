"""SAT, the structure-aware Transformer: nodes are compared by the graph around them, not by their features alone.

Chen, O'Bray, Borgwardt, "Structure-aware Transformer for graph representation learning", 2022, section 4:

    SA-attention(u) = sum_v k(u, v) / sum_w k(u, w)  f(x_v),   k(u, v) = exp(W_Q phi_u . W_K phi_v / sqrt(d))   eq. 6, 7
    k-subtree    phi_u = GNN(u), k layers on the whole graph: what is seen from u in k steps                   eq. 8
    k-subgraph   phi_u = sum over v in N_k(u) of GNN(v), run inside the subgraph of the nodes within k steps   eq. 9
    x <- norm(x + SA-attention(x) / sqrt(1 + degree)),   x <- norm(x + ff(x))                                  eq. 10

f is linear. The GNN is k graph convolutions (Kipf and Welling, 2017), relu(D^-1/2 (A + 1) D^-1/2 h W + b), with the
degrees of the graph it runs on. Query and key come from phi, the value from x.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.graph.fields import NODE
from explorer.spaces.graph.network.form import GraphInput
from models.layers.attention.steps import Logits, Residual
from models.layers.attention.within_graphs import SoftmaxWithinGraphs, WeightedSum
from models.layers.graph.structure import Array, adjacency, as_array, remembered
from models.layers.seeded import seeded
from models.training.graphs.nodes import RECIPES, measured, train

HIDDEN = 32
HEADS = 4
DEPTH = 2
OUTPUTS = 4
MOST = 2000
EXTRACTORS = ("k-subtree", "k-subgraph")
HOPS = 2


def convolve(h: Tensor, edge_index: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return D^-1/2 (A + 1) D^-1/2 h W^T + b on a list of edges; (N, C), (2, E) -> (N, C')."""
    source, target = edge_index[:, edge_index[0] != edge_index[1]]
    degree = h.new_ones(len(h)).index_add(0, target, h.new_ones(len(target)))
    scale = degree.rsqrt()[:, None]
    sent = scale * (h @ weight.T)
    return scale * sent.index_add(0, target, sent[source]) + bias


@remembered
def reach(edges: Array, nodes: int, hops: int) -> Array:
    """Return the pairs (u, v) where v leads to u in at most `hops` edges, itself included, sorted by u; (2, M)."""
    from scipy.sparse import identity

    step = (adjacency(edges, nodes).T + identity(nodes)).tocsr()  # row: to
    near = identity(nodes, format="csr")
    for _ in range(hops):
        near = near @ step
        near.data[:] = 1.0
    near.sort_indices()
    return np.stack([np.repeat(np.arange(nodes), np.diff(near.indptr)), near.indices.astype(np.int64)])


@remembered
def edges_within(edges: Array, nodes: int, hops: int) -> Array:
    """Return the edges of all subgraphs side by side, (2, E'): numbers are columns of `reach`."""
    owner, member = reach(edges, nodes, hops)
    key = owner * nodes + member  # ascending, for `reach` is sorted
    first = np.searchsorted(edges[0], np.arange(nodes + 1), sorter=(order := np.argsort(edges[0], kind="stable")))
    count = np.diff(first)[member]
    place = np.repeat(np.arange(len(member)), count)  # every member sends along all its edges ...
    offset = np.arange(len(place)) - np.repeat(np.cumsum(count) - count, count)
    target = edges[1][order[first[member[place]] + offset]]
    wanted = owner[place] * nodes + target
    found = np.searchsorted(key, wanted)
    inside = key[np.minimum(found, len(key) - 1)] == wanted  # ... of which those count that end in the same subgraph
    return np.stack([place[inside], found[inside]])


class Structure(nn.Module):
    """phi of every node by one of EXTRACTORS; (N, C), (2, E) -> (N, C)."""

    out_field = NODE

    def __init__(self, extractor: str, width: int, hops: int) -> None:
        super().__init__()
        self.extractor = extractor
        self.convolutions = nn.ModuleList(nn.Linear(width, width) for _ in range(hops))

    def gnn(self, h: Tensor, edge_index: Tensor) -> Tensor:
        """Return k convolutions with relu on any graph; (M, C), (2, E') -> (M, C)."""
        for layer in self.convolutions:
            assert isinstance(layer, nn.Linear)
            h = convolve(h, edge_index, layer.weight, layer.bias).relu()
        return h

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        if self.extractor == "k-subtree":
            return self.gnn(x, edge_index)
        edges, hops = as_array(edge_index), len(self.convolutions)
        pairs = torch.tensor(reach(edges, len(x), hops), device=x.device)
        within = torch.tensor(edges_within(edges, len(x), hops), device=x.device)
        return torch.zeros_like(x).index_add(0, pairs[0], self.gnn(x[pairs[1]], within))


class StructureAwareAttention(nn.Module):
    """Equation 7 for all nodes; x (N, C), phi (N, C), batch (N,) -> (N, C)."""

    out_field = NODE

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.logits = Logits(heads)  # the logarithm of the kernel k(u, v)
        self.attention = SoftmaxWithinGraphs()
        self.aggregated = WeightedSum()
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor, structure: Tensor, batch: Tensor) -> Tensor:
        logits = self.logits(self.query(structure), self.key(structure))
        return self.out(self.aggregated(self.attention(logits, batch), self.value(x)))


class DegreeScaled(nn.Module):
    """x / sqrt(1 + degree), so that hubs do not outweigh the rest; (N, C), (2, E) -> (N, C)."""

    out_field = NODE

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        degree = edge_index[1].bincount(minlength=len(x)).to(x.dtype)
        return x * (1 + degree).rsqrt()[:, None]


class SATLayer(nn.Module):
    """Equation 10; x (N, C), edge_index (2, E), batch (N,) -> (N, C)."""

    out_field = NODE

    def __init__(self, extractor: str, width: int, heads: int, hops: int) -> None:
        super().__init__()
        self.structure = Structure(extractor, width, hops)
        self.self_attention = StructureAwareAttention(width, heads)
        self.degree_scaled = DegreeScaled()
        self.residual1 = Residual()
        self.norm1 = nn.LayerNorm(width)
        self.linear1 = nn.Linear(width, 2 * width)
        self.relu = nn.ReLU()
        self.linear2 = nn.Linear(2 * width, width)
        self.residual2 = Residual()
        self.norm2 = nn.LayerNorm(width)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        z = self.self_attention(x, self.structure(x, edge_index), batch)
        x = self.norm1(self.residual1(x, self.degree_scaled(z, edge_index)))
        return self.norm2(self.residual2(x, self.linear2(self.relu(self.linear1(x)))))


class SAT(nn.Module):
    """Layers of structure-aware attention, every node classified; x (N, channels) -> (N, outputs)."""

    def __init__(
        self, extractor: str, hops: int = HOPS, channels: int = 6, width: int = HIDDEN, heads: int = HEADS
    ) -> None:
        super().__init__()
        self.embed = nn.Linear(channels, width)
        self.layers = nn.ModuleList(SATLayer(extractor, width, heads, hops) for _ in range(DEPTH))
        self.classifier = nn.Linear(width, OUTPUTS)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        h = self.embed(x)
        for layer in self.layers:
            h = layer(h, edge_index, batch)
        return self.classifier(h)


def build(extractor: float = 0) -> SAT:
    """Build the network with one of EXTRACTORS; the parameters are the same for both."""
    return seeded(lambda: SAT(EXTRACTORS[int(extractor)]))


INPUT = GraphInput(channels=6, signals=("x", "edge_index", "batch"), most=MOST)

CARD = Card(
    name="sat",
    title="Structure-aware Transformer",
    rows=("N8",),
    groups=("permutation",),
    reference=(
        'Chen, O\'Bray, Borgwardt, "Structure-aware Transformer for graph representation learning", 2022, section 4, '
        "equations 6 to 10"
    ),
    equation=(
        "SA-attn(u) = Σ_v κ(u, v) / Σ_w κ(u, w) f(x_v),   κ(u, v) = exp(W_Q φ_u · W_K φ_v / √d)\n"
        "k-subtree: φ_u = GNN(u)\n"
        "k-subgraph: φ_u = Σ_{v∈N_k(u)} GNN on the subgraph within k steps of u\n"
        "x ← norm(x + SA-attn(x) / √(1 + deg)),   x ← norm(x + ff(x))"
    ),
    summary=(
        "Attention compares what surrounds two nodes: layers.0.structure is phi, from which query and key are made, "
        "while the value comes from x. Change the extractor: k-subtree sees what k steps of message passing see, "
        "k-subgraph looks at each node's surroundings as a graph of its own."
    ),
    build=build,
    input=INPUT,
    domain="graph",
    params=(Param("extractor", "Structure extractor", 0, 0, len(EXTRACTORS) - 1, choices=EXTRACTORS),),
    sample="karate",
    weights="sat.safetensors",
    train=partial(train, build, INPUT.signals, RECIPES["sat"]),
    notes=measured("sat"),
    source=(Structure, StructureAwareAttention, SATLayer),
)
