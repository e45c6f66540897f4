"""Graphormer: a Transformer that reads the graph as terms of the attention logits, each of which can be looked at.

Ying et al., "Do Transformers really perform badly for graph representation?", 2021, section 3:

    h_u = W x_u + z-[in-degree of u] + z+[out-degree of u]                      centrality, equation 5
    logits_uv = (W_q h_u) . (W_k h_v) / sqrt(d) + b[dist(u, v)] + c_uv          spatial and edge bias, equations 6 and 7
    c_uv = mean over the edges e_1 .. e_n of the shortest path of x_{e_k} . w_k
    h <- h + attention(norm(h)),   h <- h + ff(norm(h))                         equations 8 and 9
    a virtual node, one for each graph, joined to every node with a bias b of its own

Where there are several shortest paths the paper takes the one that its algorithm finds first, which depends on the
order of the nodes. Here c_uv is the mean over all shortest paths, so the law of permutations holds; where the path is
unique both agree. Paths run from v, which is attended to, to u, as messages do; on undirected graphs it is the same.
Pairs more than PATH edges apart have no edge bias; the official code keeps the first edges of their path.

The virtual node is no node of the graph, so it is kept beside them: its state is (graphs, C), the attention of a node
to it is one number for each head beside the N of the row, which all together sum to 1.
"""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.declare.types.fields import INVARIANT, PAIR
from explorer.spaces.graph.fields import NODE
from explorer.spaces.graph.network.form import GraphInput
from models.layers.attention.steps import Logits, Residual, split_heads
from models.layers.attention.within_graphs import same_graph
from models.layers.graph.aggregation import graphs_in
from models.layers.graph.structure import as_array, shortest_paths
from models.layers.seeded import seeded
from models.layers.taps import Tap
from models.training.graphs.nodes import RECIPES, measured, train

HIDDEN = 32
HEADS = 4
DEPTH = 2
OUTPUTS = 4
MOST_DEGREE = 31  # larger degrees share the last embedding
FARTHEST = 12  # distances beyond it share one bias; one more stands for pairs without a path
MOST = 1000  # nodes; edge biases of 2000 take seconds
PATH = 5  # edges of a path that have weights of their own, "multi_hop_max_dist" in the official code


class Centrality(nn.Module):
    """x + z-[in-degree] + z+[out-degree]; (N, C), (2, E) -> (N, C)."""

    out_field = NODE

    def __init__(self, width: int) -> None:
        super().__init__()
        self.incoming = nn.Parameter(torch.randn(MOST_DEGREE + 1, width) * 0.1)
        self.outgoing = nn.Parameter(torch.randn(MOST_DEGREE + 1, width) * 0.1)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        source, target = (end.bincount(minlength=len(x)).clamp(max=MOST_DEGREE) for end in edge_index)
        return x + self.incoming[target] + self.outgoing[source]


class Distance(nn.Module):
    """Edges on a shortest path, -1 where there is none; (N, C), (2, E) -> (1, N to, N from)."""

    out_field = PAIR

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return torch.tensor(shortest_paths(as_array(edge_index), len(x)), dtype=x.dtype, device=x.device)[None]


class SpatialBias(nn.Module):
    """b[distance], one number for each head; (1, N, N) -> (heads, N, N)."""

    out_field = PAIR

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.randn(FARTHEST + 2, heads))

    def forward(self, distance: Tensor) -> Tensor:
        bucket = distance[0].long().clamp(max=FARTHEST)  # -1 is the last row
        return self.bias[bucket].movedim(-1, 0)


class EdgeBias(nn.Module):
    """Mean of x_e . w_k over the edges of a shortest path, and over all shortest paths.

    edge_index (2, E), edge_attr (E, D), distance (1, N, N) -> (heads, N, N). Paths are counted by their last edge: the
    paths of n edges to u are those of n - 1 edges to its neighbours, if that is the shortest way.
    """

    out_field = PAIR

    def __init__(self, heads: int, channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(PATH, heads, channels))

    def forward(self, edge_index: Tensor, edge_attr: Tensor, distance: Tensor) -> Tensor:
        n, heads = distance.shape[-1], self.weight.shape[1]
        ends = edge_index.flip(0)  # to, from
        step = torch.sparse_coo_tensor(ends, edge_attr.new_ones(ends.shape[1]), (n, n), check_invariants=False)
        steps = [torch.sparse_coo_tensor(ends, c, (n, n), check_invariants=False) for c in edge_attr.unbind(1)]
        paths = torch.eye(n, dtype=edge_attr.dtype, device=edge_attr.device)
        total = paths.new_zeros(n, heads, n)
        bias = paths.new_zeros(heads, n, n)
        for length, weight in enumerate(self.weight, start=1):
            reached = (distance[0] == length).to(paths.dtype)
            if not reached.any():
                break
            last = torch.stack([torch.sparse.mm(s, paths) for s in steps], -1) @ weight.T  # (to, from, heads)
            total = torch.sparse.mm(step, total.flatten(1)).view(n, heads, n) + last.transpose(1, 2)
            total = total * reached[:, None]
            paths = torch.sparse.mm(step, paths) * reached
            bias = bias + (total / (length * paths.clamp(min=1))[:, None]).transpose(0, 1)
        return bias


class Sum(nn.Module):
    """Content, spatial bias and edge bias added up; (heads, N, N) each."""

    out_field = PAIR

    def forward(self, content: Tensor, spatial_bias: Tensor, edge_bias: Tensor) -> Tensor:
        return content + spatial_bias + edge_bias


class VirtualLogits(nn.Module):
    """Logits between each node and the virtual node of its graph; (N, C), (G, C), (1, heads), (N,) -> (N, heads)."""

    out_field = NODE

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.heads = heads

    def forward(self, nodes: Tensor, virtual: Tensor, bias: Tensor, batch: Tensor) -> Tensor:
        products = (nodes * virtual[batch]).unflatten(1, (self.heads, -1))
        return products.sum(-1) / math.sqrt(products.shape[-1]) + bias


class AttentionWithVirtual(nn.Module):
    """Softmax over the nodes of the same graph and its virtual node.

    (heads, N, N), (N, heads), (N,) -> attention to the nodes, (heads, N, N). What is missing in a row goes to the
    virtual node.
    """

    out_field = PAIR

    def forward(self, logits: Tensor, virtual_logits: Tensor, batch: Tensor) -> Tensor:
        within = logits.masked_fill(~same_graph(batch, batch), -math.inf)
        return torch.cat([within, virtual_logits.T[:, :, None]], dim=-1).softmax(-1)[..., :-1]


class AggregatedWithVirtual(nn.Module):
    """sum_v a_uv v_v with the virtual node; (heads, N, N), (N, C), (N, heads), (G, C), (N,) -> (N, C)."""

    out_field = NODE

    def forward(
        self, attention: Tensor, value: Tensor, to_virtual: Tensor, virtual_value: Tensor, batch: Tensor
    ) -> Tensor:
        heads = len(attention)
        own = (attention @ split_heads(value, heads)).transpose(0, 1)  # (N, heads, d)
        return (own + to_virtual[:, :, None] * virtual_value[batch].unflatten(1, (heads, -1))).flatten(1)


class ReadOut(nn.Module):
    """The attention of each virtual node to the nodes of its graph; what is missing to 1 is its attention to itself.

    Logits (N, heads), those of the virtual nodes to themselves (G, heads), (N,) -> (N, heads).
    """

    out_field = NODE

    def forward(self, logits: Tensor, own: Tensor, batch: Tensor) -> Tensor:
        mine = same_graph(torch.arange(len(own), device=own.device), batch)  # (G, N)
        table = logits.T[:, None].masked_fill(~mine, -math.inf)  # (heads, G, N)
        return torch.cat([table, own.T[..., None]], -1).softmax(-1)[..., :-1].sum(1).T


class VirtualAggregated(nn.Module):
    """sum_v a_v v_v for the virtual nodes; (N, heads), (N, C), (G, C), (N,) -> (G, C)."""

    out_field = INVARIANT

    def forward(self, attention: Tensor, value: Tensor, virtual_value: Tensor, batch: Tensor) -> Tensor:
        heads = attention.shape[1]
        weighted = attention[:, :, None] * value.unflatten(1, (heads, -1))
        own = virtual_value.unflatten(1, (heads, -1))
        rest = 1 - attention.new_zeros(len(own), heads).index_add(0, batch, attention)
        return (rest[:, :, None] * own).index_add(0, batch, weighted).flatten(1)


class GraphormerLayer(nn.Module):
    """Equations 8 and 9 for the nodes and, with the same weights, for the virtual nodes.

    x (N, C), virtual (G, C), spatial and edge bias (heads, N, N), virtual bias (1, heads), batch (N,) -> both states.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.content = Logits(heads)
        self.logits = Sum()
        self.virtual_logits = VirtualLogits(heads)
        self.attention = AttentionWithVirtual()
        self.virtual_attention = Tap(NODE)
        self.aggregated = AggregatedWithVirtual()
        self.read_out_logits = VirtualLogits(heads)
        self.read_out = ReadOut()
        self.virtual_aggregated = VirtualAggregated()
        self.out = nn.Linear(width, width)
        self.residual1 = Residual()
        self.norm2 = nn.LayerNorm(width)
        self.linear1 = nn.Linear(width, 2 * width)
        self.gelu = nn.GELU()
        self.linear2 = nn.Linear(2 * width, width)
        self.residual2 = Residual()

    def forward(
        self, x: Tensor, virtual: Tensor, spatial_bias: Tensor, edge_bias: Tensor, virtual_bias: Tensor, batch: Tensor
    ) -> tuple[Tensor, Tensor]:
        h, token = self.norm1(x), self.norm1(virtual)
        query, key, value = self.query(h), self.key(h), self.value(h)
        token_query, token_key, token_value = self.query(token), self.key(token), self.value(token)

        logits = self.logits(self.content(query, key), spatial_bias, edge_bias)
        virtual_logits = self.virtual_logits(query, token_key, virtual_bias, batch)
        attention = self.attention(logits, virtual_logits, batch)
        to_virtual = self.virtual_attention(1 - attention.sum(-1).T)
        z = self.aggregated(attention, value, to_virtual, token_value, batch)

        # the official code adds the bias to the virtual node's own entry too, where the softmax cancels it
        read_out_logits = self.read_out_logits(key, token_query, virtual_bias, batch)
        heads = self.content.heads
        own = (token_query * token_key).unflatten(1, (heads, -1))
        own = own.sum(-1) / math.sqrt(own.shape[-1]) + virtual_bias
        read_out = self.read_out(read_out_logits, own, batch)
        token_z = self.virtual_aggregated(read_out, value, token_value, batch)
        return self.update(x, z), self.update(virtual, token_z)

    def update(self, x: Tensor, z: Tensor) -> Tensor:
        """Return what the rest of the layer makes of a state and its attention, (..., C)."""
        x = self.residual1(x, self.out(z))
        return self.residual2(x, self.linear2(self.gelu(self.linear1(self.norm2(x)))))


class Graphormer(nn.Module):
    """Layers that share the biases, every node classified; x (N, channels) -> (N, outputs)."""

    def __init__(
        self, channels: int = 6, edge_channels: int = 1, width: int = HIDDEN, heads: int = HEADS, depth: int = DEPTH
    ) -> None:
        super().__init__()
        self.embed = nn.Linear(channels, width)
        self.centrality = Centrality(width)
        self.distance = Distance()
        self.spatial_bias = SpatialBias(heads)
        self.edge_bias = EdgeBias(heads, edge_channels)
        self.token = nn.Parameter(torch.randn(1, width))
        self.token_bias = nn.Parameter(torch.randn(1, heads))
        self.virtual_bias = Tap(INVARIANT)
        self.virtual = Tap(INVARIANT)
        self.layers = nn.ModuleList(GraphormerLayer(width, heads) for _ in range(depth))
        self.graph_state = Tap(INVARIANT)
        self.norm = nn.LayerNorm(width)
        self.classifier = nn.Linear(width, OUTPUTS)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor) -> Tensor:
        h = self.centrality(self.embed(x), edge_index)
        distance = self.distance(x, edge_index)
        spatial_bias = self.spatial_bias(distance)
        edge_bias = self.edge_bias(edge_index, edge_attr, distance)
        virtual_bias = self.virtual_bias(self.token_bias)
        virtual = self.virtual(self.token.expand(graphs_in(batch), -1))
        for layer in self.layers:
            h, virtual = layer(h, virtual, spatial_bias, edge_bias, virtual_bias, batch)
        self.graph_state(virtual)
        return self.classifier(self.norm(h))


def build(depth: float = DEPTH) -> Graphormer:
    """Build the network with fresh parameters."""
    return seeded(lambda: Graphormer(depth=int(depth)))


INPUT = GraphInput(channels=6, signals=("x", "edge_index", "edge_attr", "batch"), edge_channels=1, most=MOST)

CARD = Card(
    name="graphormer",
    title="Graphormer: the graph in the attention logits",
    rows=("N8",),
    groups=("permutation",),
    reference=(
        'Ying, Cai, Luo, Zheng, Ke, He, Shen, Liu, "Do Transformers really perform badly for graph representation?", '
        "2021, section 3, equations 5 to 9"
    ),
    equation=(
        "h_u = W x_u + z⁻[deg⁻(u)] + z⁺[deg⁺(u)]\n"
        "logits_uv = (W_q h_u) · (W_k h_v) / √d + b[dist(u, v)] + c_uv\n"
        "c_uv = mean over shortest paths of (1/n) Σ_k x_{e_k} · w_k\n"
        "h ← h + attention(norm(h)),   h ← h + ff(norm(h))"
    ),
    summary=(
        "Compare the terms of the logits, each a matrix for every head: content, spatial_bias (how far two nodes are "
        "apart) and edge_bias (what lies between them), and their sum. virtual_attention is what each node gives to "
        "the virtual node, read_out what that gives back, graph_state where it ends up: unmoved by permutations."
    ),
    build=build,
    input=INPUT,
    domain="graph",
    params=(Param("depth", "Layers", DEPTH, 1, 4, whole=True),),
    sample="karate",
    weights="graphormer.safetensors",
    train=partial(train, build, INPUT.signals, RECIPES["graphormer"]),
    source=(Centrality, SpatialBias, EdgeBias, Sum, GraphormerLayer),
    notes=(
        *measured("graphormer"),
        "edge_bias is the mean over all shortest paths: the paper's single path depends on the order of the nodes",
    ),
)
