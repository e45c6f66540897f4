"""From a Transformer to a graph convolution: an encoder layer simplified step by step, its matrix beside the adjacency.

Odom, "Transformers viewed as generalizations of GCNs", 2020. A single head, and every step keeps those before it:

    transformer            z = W_o A (W_v h), A = softmax(q k^T / sqrt(d));  h <- norm(h + z);  h <- norm(h + ff(h))
    identity weights       q = k = v = h and W_o = 1: scaled dot-product attention, A = softmax(h h^T / sqrt(d))
    no residual            h <- A h;  h <- ff(h): where Layer(h) is large, h + Layer(h) is Layer(h), and the
                           normalisation, which only rescales, goes with the sum
    one linear layer       h <- relu(W A h + b) in place of two linear layers with a relu between
    pointwise activation   A = relu(h h^T / sqrt(d)): no row is normalised any more, so A is symmetric
    given adjacency        A = D^-1/2 (adjacency + 1) D^-1/2: Kipf and Welling, 2017, a graph convolution

The last step is no simplification: an adjacency matrix cannot be computed from the features alone, so it is given. At
every step four properties of A are measured, those in which the text compares it with an adjacency matrix: static,
square, sparse and symmetric.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.declare.types.fields import INVARIANT, PAIR
from explorer.spaces.graph.fields import NODE
from explorer.spaces.graph.network.form import GraphInput
from models.layers.attention.steps import Logits, Residual
from models.layers.attention.within_graphs import SoftmaxWithinGraphs, WeightedSum, same_graph
from models.layers.seeded import seeded
from models.layers.taps import Tap

STEPS = (
    "transformer",
    "identity weights",
    "no residual",
    "one linear layer",
    "pointwise activation",
    "given adjacency",
)
IDENTITY_WEIGHTS, NO_RESIDUAL, ONE_LINEAR_LAYER, POINTWISE_ACTIVATION, GIVEN_ADJACENCY = range(1, len(STEPS))
WIDTH = 24
MOST = 2000
DEPTH = 2
NEAR_ZERO = 0.01  # an entry smaller than this share of the largest one counts as zero


def properties(matrix: Tensor, moved_input_matrix: Tensor) -> Tensor:
    """Measure how far a matrix is from an adjacency matrix; (..., N, M) -> (4,).

    Args:
        matrix: attention or adjacency.
        moved_input_matrix: the same for other features of the nodes.

    Returns:
        change: |A - A'| / |A| (Frobenius), 0 for a static matrix, larger the more it depends on the features;
        square: 1 if it has as many rows as columns, else 0;
        sparse: the share of entries smaller than NEAR_ZERO times the largest;
        asymmetry: |A - A^T| / |A|, 0 for a symmetric matrix; infinite if it is not square.
        A matrix of zeros is static, sparse and symmetric; one without entries too.
    """
    size = matrix.norm()
    square = matrix.shape[-1] == matrix.shape[-2]
    if not matrix.numel() or size == 0:
        asymmetry = 0.0 if square else math.inf
        change = 0.0 if not matrix.numel() or moved_input_matrix.norm() == 0 else math.inf
        return matrix.new_tensor([change, float(square), 1.0, asymmetry])
    change = (matrix - moved_input_matrix).norm() / size
    sparse = (matrix.abs() < NEAR_ZERO * matrix.abs().max()).to(matrix.dtype).mean()
    skew = (matrix - matrix.mT).norm() / size if square else matrix.new_tensor(math.inf)
    return torch.stack([change, matrix.new_tensor(float(square)), sparse, skew])


class Adjacency(nn.Module):
    """D^-1/2 (A + 1) D^-1/2, as torch_geometric's GCNConv has it; (N, C), (2, E) -> (1, N to, N from).

    Edges listed twice count twice, self-loops once. The degree of a node counts what comes in.
    """

    out_field = PAIR

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        n = len(x)
        source, target = edge_index[:, edge_index[0] != edge_index[1]]
        a = torch.eye(n, dtype=x.dtype, device=x.device)
        a.index_put_((target, source), x.new_ones(len(source)), accumulate=True)
        scale = a.sum(1).rsqrt()
        return (scale[:, None] * a * scale)[None]


class PointwiseActivation(nn.Module):
    """relu of the logits, zero between different graphs; (1, N, N), (N,) -> (1, N, N)."""

    out_field = PAIR

    def forward(self, logits: Tensor, batch: Tensor) -> Tensor:
        return logits.relu() * same_graph(batch, batch)


class Properties(nn.Module):
    """change, square, sparse, asymmetry of a matrix (`properties`); (1, N, N), (1, N, N) -> (1, 4)."""

    out_field = INVARIANT
    out_names = ("change", "square", "sparse", "asymmetry")

    def forward(self, matrix: Tensor, moved: Tensor) -> Tensor:
        return properties(matrix, moved)[None]


class SteppedLayer(nn.Module):
    """One layer at one of STEPS; h (N, C), adjacency (1, N, N), batch (N,) -> (N, C).

    All steps have all parameters, so that the same weights fit every step; a step calls the layers that it has.
    """

    out_field = NODE

    def __init__(self, step: int, width: int) -> None:
        super().__init__()
        self.step = step
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.logits = Logits(heads=1)
        self.attention = PointwiseActivation() if step >= POINTWISE_ACTIVATION else SoftmaxWithinGraphs()
        self.matrix = Tap(PAIR)
        self.properties = Properties()
        self.aggregated = WeightedSum()
        self.out = nn.Linear(width, width)
        self.residual1 = Residual()
        self.norm1 = nn.LayerNorm(width)
        self.linear1 = nn.Linear(width, 2 * width)
        self.linear2 = nn.Linear(2 * width, width)
        self.linear = nn.Linear(width, width)
        self.activation = nn.ReLU()
        self.residual2 = Residual()
        self.norm2 = nn.LayerNorm(width)

    def forward(self, h: Tensor, adjacency: Tensor, batch: Tensor) -> Tensor:
        with_weights = self.step < IDENTITY_WEIGHTS
        matrix = self.matrix(self.infer(h, adjacency, batch))
        self.properties(matrix, self.infer(2 * h, adjacency, batch, as_layers=False))
        z = self.aggregated(matrix, self.value(h) if with_weights else h)
        if with_weights:
            z = self.out(z)
        if self.step < NO_RESIDUAL:
            z = self.norm1(self.residual1(h, z))
        if self.step >= ONE_LINEAR_LAYER:
            return self.activation(self.linear(z))
        y = self.linear2(self.activation(self.linear1(z)))
        return self.norm2(self.residual2(z, y)) if self.step < NO_RESIDUAL else y

    def infer(self, h: Tensor, adjacency: Tensor, batch: Tensor, as_layers: bool = True) -> Tensor:
        """Return the matrix by which the nodes exchange features, (1, N, N); not `as_layers` goes past the hooks."""

        def layer(module: nn.Module) -> Callable[..., Tensor]:
            return module if as_layers else module.forward

        if self.step == GIVEN_ADJACENCY:
            return adjacency
        query, key = (layer(self.query)(h), layer(self.key)(h)) if self.step < IDENTITY_WEIGHTS else (h, h)
        return layer(self.attention)(layer(self.logits)(query, key), batch)


class TransformerToGCN(nn.Module):
    """Two layers at one of STEPS between an embedding and a classifier; x (N, channels) -> (N, outputs)."""

    def __init__(self, step: int, channels: int = 6, width: int = WIDTH, outputs: int = 4) -> None:
        super().__init__()
        self.adjacency = Adjacency()
        self.embed = nn.Linear(channels, width)
        self.layers = nn.ModuleList(SteppedLayer(step, width) for _ in range(DEPTH))
        self.classifier = nn.Linear(width, outputs)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        adjacency = self.adjacency(x, edge_index)
        h = self.embed(x)
        for layer in self.layers:
            h = layer(h, adjacency, batch)
        return self.classifier(h)


def build(step: float = 0) -> TransformerToGCN:
    """Build the network at one of STEPS, always with the same fresh parameters."""
    return seeded(lambda: TransformerToGCN(int(step)))


CARD = Card(
    name="transformer-to-gcn",
    title="From a Transformer to a graph convolution",
    rows=("S4",),
    groups=("permutation",),
    reference=(
        'Odom, "Transformers viewed as generalizations of GCNs", 2020; Vaswani et al., 2017, section 3.1; '
        "Kipf and Welling, 2017, equation 2"
    ),
    equation=(
        "transformer: A = softmax(q kᵀ / √d),  h ← norm(h + W_o A W_v h),  h ← norm(h + W₂ relu(W₁ h))\n"
        "identity weights: A = softmax(h hᵀ / √d),  W_v = W_o = 1\n"
        "no residual: h ← W₂ relu(W₁ A h)\n"
        "one linear layer: h ← relu(W A h)\n"
        "pointwise activation: A = relu(h hᵀ / √d)\n"
        "given adjacency: A = D^−½ (adjacency + 1) D^−½"
    ),
    summary=(
        "Go through the steps and compare layers.0.matrix with adjacency. layers.0.properties gives four numbers: how "
        "much the matrix changes when the features are doubled (0: static), 1 if it is square, the share of "
        f"entries below {NEAR_ZERO:.0%} of the largest, and how far it is from symmetric. The softmax is never "
        "symmetric, a pointwise activation always is; only the given adjacency is static."
    ),
    build=build,
    input=GraphInput(channels=6, signals=("x", "edge_index", "batch"), most=MOST),
    domain="graph",
    params=(Param("step", "Simplified to", 0, 0, len(STEPS) - 1, choices=STEPS),),
    sample="karate",
    source=(SteppedLayer, Adjacency, properties),
    notes=(
        "the last step is not a simplification: an adjacency matrix cannot be inferred from the features, it is given",
    ),
)
