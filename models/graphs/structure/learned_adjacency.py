"""Neural relational inference: read from the nodes' features alone which pairs interact, then let them interact.

Kipf, Fetaya, Wang, Welling, Zemel, "Neural Relational Inference for Interacting Systems", 2018. Encoder, eq. (5)-(8),
on all pairs of different nodes of a graph, and one step of the decoder, eq. (10)-(11):

    h_j = f_emb(x_j),   h_(i,j) = f_e1([h_i, h_j])
    h'_j = f_v(mean over i of h_(i,j)),   h'_(i,j) = f_e2([h'_i, h'_j])
    q(z_ij | x) = softmax(h'_(i,j))
    m_(i,j) = Σ_k z_ij,k g_k([x_i, x_j]),   x'_j = x_j + g_v([x_j, mean over i of m_(i,j)])

The first type of edge is "no edge": g_0 = 0. As in the authors' code, sums over the others are divided by their number.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.declare.types.fields import PAIR
from explorer.spaces.graph.fields import NODE
from explorer.spaces.graph.network.form import GraphInput
from models.layers.taps import Tap

CHOICES = ("probabilities", "the likeliest type")


class PairMLP(nn.Module):
    """f([h_from, h_to]) = W₂ ELU(W_from h_from + W_to h_to + b) + b₂: (N, C) -> (D, N, N), to and from."""

    def __init__(self, inputs: int, hidden: int, outputs: int) -> None:
        super().__init__()
        # the product with [h_from, h_to] is a sum of two products with nodes: N of them instead of N²
        self.sender = nn.Linear(inputs, hidden, bias=False)
        self.receiver = nn.Linear(inputs, hidden)
        self.mix = nn.Linear(hidden, outputs)
        self.out_field = PAIR

    def forward(self, h: Tensor) -> Tensor:
        hidden = F.elu(self.receiver(h)[:, None, :] + self.sender(h)[None, :, :])  # (to, from, hidden)
        # not as a layer: (to, from, channel) is no field
        return F.linear(hidden, self.mix.weight, self.mix.bias).movedim(-1, 0)


class FromOthers(nn.Module):
    """Mean over the other nodes of the same graph of what arrives: (D, N, N), (N,) -> (N, D)."""

    def __init__(self) -> None:
        super().__init__()
        self.out_field = NODE

    def forward(self, pairs: Tensor, batch: Tensor) -> Tensor:
        others = different(batch).to(pairs.dtype)
        return ((pairs * others).sum(dim=-1) / others.sum(dim=-1).clamp_min(1.0)).T


class EdgeTypes(nn.Module):
    """q(z | x): softmax over the types, and 0 for pairs that cannot be joined: (K, N, N), (N,) -> (K, N, N).

    While training, a sample of it by the Gumbel-softmax, eq. (9), at temperature `tau`.
    """

    def __init__(self, tau: float = 0.5) -> None:
        super().__init__()
        self.tau = tau
        self.out_field = PAIR

    def forward(self, logits: Tensor, batch: Tensor) -> Tensor:
        drawn = F.gumbel_softmax(logits, self.tau, dim=0) if self.training else logits.softmax(dim=0)
        return drawn * different(batch).to(logits.dtype)


def different(batch: Tensor) -> Tensor:
    """Return (N, N), true for two different nodes of one graph."""
    return (batch[:, None] == batch[None, :]).fill_diagonal_(False)


class RelationalInference(nn.Module):
    """Encoder on all pairs, the inferred graph, one step of the decoder on it: (N, 3), (N,) -> (N, 3).

    Layers on pairs: `edge_types` (K, N, N), the probability of each type, the first of which is "no edge";
    `inferred` (1, N, N), the probability that there is an edge at all, or 0 and 1.
    """

    def __init__(self, types: int, hard: bool, channels: int = 3, width: int = 16) -> None:
        super().__init__()
        self.hard = hard
        self.embed = nn.Sequential(nn.Linear(channels, width), nn.ELU(), nn.Linear(width, width))
        self.pairs1 = PairMLP(width, width, width)
        self.incoming = FromOthers()
        self.nodes = nn.Sequential(nn.Linear(width, width), nn.ELU(), nn.Linear(width, width))
        self.logits = PairMLP(width, width, types)
        self.edge_types = EdgeTypes()
        self.inferred = Tap(PAIR)
        self.kinds = nn.ModuleList(PairMLP(channels, width, width) for _ in range(types - 1))
        self.messages = Tap(PAIR)
        self.received = FromOthers()
        self.change = nn.Sequential(nn.Linear(channels + width, width), nn.ELU(), nn.Linear(width, channels))
        self.next = Tap(NODE)

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        h = self.nodes(self.incoming(self.pairs1(self.embed(x)), batch))
        types = self.edge_types(self.logits(h), batch)
        if self.hard and len(x):
            likeliest = F.one_hot(types.argmax(dim=0), len(types)).movedim(-1, 0).to(x.dtype)
            types = likeliest * different(batch).to(x.dtype)
        self.inferred(types[1:].sum(dim=0, keepdim=True))
        messages = torch.stack([types[k] * kind(x) for k, kind in enumerate(self.kinds, start=1)]).sum(dim=0)
        received = self.received(self.messages(messages), batch)
        return self.next(x + self.change(torch.cat([x, received], dim=1)))


def build(types: float = 2, decision: float = 0) -> nn.Module:
    """Build the network with a number of edge types, "no edge" among them."""
    return RelationalInference(int(types), CHOICES[int(decision)] == CHOICES[1])


CARD = Card(
    name="learned-adjacency",
    title="Learned adjacency: edges inferred from the nodes",
    rows=("S3",),
    groups=("permutation",),
    reference=(
        'Kipf, Fetaya, Wang, Welling, Zemel, "Neural Relational Inference for Interacting Systems", ICML 2018, '
        "eq. (5)-(11)"
    ),
    equation=(
        "h_j = f_emb(x_j),   h_(i,j) = f_e¹([h_i, h_j])\n"
        "h′_j = f_v(mean_{i≠j} h_(i,j)),   h′_(i,j) = f_e²([h′_i, h′_j])\n"
        "q(z_ij | x) = softmax(h′_(i,j))\n"
        "m_(i,j) = Σ_{k>0} z_ij,k g_k([x_i, x_j]),   x′_j = x_j + g_v([x_j, mean_{i≠j} m_(i,j)])"
    ),
    summary=(
        "No edge is given. Nodes are read into pairs, pairs into nodes, and nodes into pairs again: `edge_types` are "
        "the probabilities of each type of edge for every ordered pair, and `inferred` the graph that the last step "
        "runs on. Shuffle the nodes: rows and columns move together."
    ),
    build=build,
    input=GraphInput(channels=3, signals=("x", "batch"), features="position", most=512),
    domain="set",
    sample="sphere",
    params=(
        Param("types", "Types of edges", 2, 2, 4, whole=True),
        Param("decision", "The inferred graph", 0, 0, len(CHOICES) - 1, choices=CHOICES),
    ),
    source=(PairMLP, FromOthers, EdgeTypes, RelationalInference),
    notes=("shown with fresh parameters: what it infers follows the law, and means nothing yet",),
)
