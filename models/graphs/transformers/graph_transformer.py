"""The Transformer as a graph network: attention on the complete graph, with and without knowing where a node is.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.4, equation 36:

    h_u = phi(x_u, sum over all v of a(x_u, x_v) psi(x_v))

and Vaswani et al., "Attention is all you need", 2017, sections 3.1 and 3.2:

    q, k, v = W_q x, W_k x, W_v x
    logits_uv = q_u . k_v / sqrt(d),   a = softmax over v of the logits,   z_u = W_o sum_v a_uv v_v
    x <- norm(x + z),   x <- norm(x + W_2 relu(W_1 x))

a is a soft adjacency matrix that the network infers from x. Nothing above knows the edges or the order of the nodes:
what the network knows of the structure it knows from the encoding that is added to x (`positions`).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.graph.fields import NODE
from explorer.spaces.graph.network.form import GraphInput
from models.layers.attention.steps import Logits, Residual
from models.layers.attention.within_graphs import SoftmaxWithinGraphs, WeightedSum
from models.layers.graph.positions import ENCODINGS, WIDTH
from models.layers.seeded import seeded
from models.training.graphs import nodes as graph_training
from models.training.learning import Progress

HIDDEN = 32
HEADS = 4
DEPTH = 2
OUTPUTS = 4
MOST = 2000
TRAINED = ("Laplacian", "Laplacian", "Laplacian", "random walk", "none")  # drawn from


class SelfAttention(nn.Module):
    """Equation 36 with the scaled dot product for a and a linear map for psi; (N, C), (N,) -> (N, C)."""

    out_field = NODE

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.logits = Logits(heads)
        self.attention = SoftmaxWithinGraphs()
        self.aggregated = WeightedSum()
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        logits = self.logits(self.query(x), self.key(x))
        return self.out(self.aggregated(self.attention(logits, batch), self.value(x)))


class EncoderLayer(nn.Module):
    """Attention, then a small network at every node, each added to its input and normalised; (N, C), (N,) -> (N, C)."""

    out_field = NODE

    def __init__(self, width: int, heads: int, inner: int) -> None:
        super().__init__()
        self.self_attention = SelfAttention(width, heads)
        self.residual1 = Residual()
        self.norm1 = nn.LayerNorm(width)
        self.linear1 = nn.Linear(width, inner)
        self.relu = nn.ReLU()
        self.linear2 = nn.Linear(inner, width)
        self.residual2 = Residual()
        self.norm2 = nn.LayerNorm(width)

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        x = self.norm1(self.residual1(x, self.self_attention(x, batch)))
        return self.norm2(self.residual2(x, self.linear2(self.relu(self.linear1(x)))))


class GraphTransformer(nn.Module):
    """Encoder layers on the complete graph, every node classified; x (N, channels) -> (N, outputs)."""

    def __init__(
        self, encoding: str, channels: int = 6, width: int = HIDDEN, heads: int = HEADS, outputs: int = OUTPUTS
    ) -> None:
        super().__init__()
        self.positions = ENCODINGS[encoding](WIDTH)
        self.embed_positions = nn.Linear(WIDTH, width, bias=False)  # no bias: no encoding is then exactly nothing
        self.embed = nn.Linear(channels, width)
        self.add_positions = Residual()
        self.layers = nn.ModuleList(EncoderLayer(width, heads, 2 * width) for _ in range(DEPTH))
        self.classifier = nn.Linear(width, outputs)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        where = self.embed_positions(self.positions(x, edge_index, batch))
        h = self.add_positions(self.embed(x), where)
        for layer in self.layers:
            h = layer(h, batch)
        return self.classifier(h)


def build(encoding: float = 0) -> GraphTransformer:
    """Build the network with one of ENCODINGS; the parameters are the same for all of them."""
    return seeded(lambda: GraphTransformer(tuple(ENCODINGS)[int(encoding)]))


INPUT = GraphInput(channels=6, signals=("x", "edge_index", "batch"), most=MOST)


def any_encoding(network: nn.Module, chance: torch.Generator) -> None:
    """Give the network one of the encodings TRAINED: one set of weights comes to serve all that obey the law."""
    assert isinstance(network, GraphTransformer)
    drawn = int(torch.randint(len(TRAINED), (), generator=chance))
    network.positions = ENCODINGS[TRAINED[drawn]](WIDTH)


def accuracies(network: nn.Module, encoding: str, judged: int = graph_training.JUDGED) -> dict[str, float]:
    """Return what it finds with one of ENCODINGS, which it then keeps; see `graph_training.evaluate`."""
    assert isinstance(network, GraphTransformer)
    network.positions = ENCODINGS[encoding](WIDTH)
    return graph_training.evaluate(network, INPUT.signals, judged)


def train(
    epochs: int | None = None, seed: int = 0, progress: Progress | None = None
) -> tuple[nn.Module, dict[str, float]]:
    """Train with encodings drawn anew for each step; return the network with the return probabilities of a walk."""
    recipe = graph_training.RECIPES["graph-transformer"]
    network, _ = graph_training.train(build, INPUT.signals, recipe, epochs, seed, progress, any_encoding, judged=1)
    laplacian = accuracies(network, "Laplacian")
    return network, {
        **accuracies(network, "random walk"),
        **{f"laplacian_{name}": value for name, value in laplacian.items()},
    }


_EIGENVECTORS = graph_training.FIGURES["graph-transformer, Laplacian"]

CARD = Card(
    name="graph-transformer",
    title="Transformer encoder on the complete graph",
    rows=("S2", "R6"),
    groups=("permutation",),
    reference=(
        'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.4, equation 36; '
        'Vaswani et al., "Attention is all you need", 2017, sections 3.1, 3.2 and 3.5; Dwivedi and Bresson, 2020 '
        "(Laplacian eigenvectors); Dwivedi et al., 2022 (random walks)"
    ),
    equation=(
        "h_u = φ(x_u, ⊕_{v∈V} a(x_u, x_v) ψ(x_v))\n"
        "a_uv = softmax_v(q_u · k_v / √d),   z_u = W_o Σ_v a_uv v_v\n"
        "x ← norm(x + z),   x ← norm(x + W₂ relu(W₁ x))"
    ),
    summary=(
        "Look at attention, a soft adjacency matrix inferred from x, and change the encoding. With none, and with the "
        "return probabilities of a random walk, permuting the nodes permutes everything. With sinusoids of the "
        "node's number the law breaks at `positions`. Laplacian eigenvectors keep it as far as a graph determines "
        "them: not in repeated eigenvalues, nor where a symmetry of the graph turns one into its negative."
    ),
    build=build,
    input=INPUT,
    domain="graph",
    params=(Param("encoding", "Position encoding", 0, 0, len(ENCODINGS) - 1, choices=tuple(ENCODINGS)),),
    sample="karate",
    weights="graph-transformer.safetensors",
    train=train,
    source=(SelfAttention, EncoderLayer),
    notes=(
        *graph_training.measured("graph-transformer"),
        "Measured with the return probabilities of a walk, which say little of where a node is. With Laplacian "
        f"eigenvectors, seen in 3 of 5 steps, it finds {100 * _EIGENVECTORS.accuracy:.1f} % and "
        f"{round(32 * _EIGENVECTORS.karate)} of the 32 members.",
    ),
)
