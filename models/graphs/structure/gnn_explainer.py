"""GNNExplainer: the few edges and features that one prediction of a graph network rests on.

Ying, Bourgeois, You, Zitnik, Leskovec, "GNNExplainer: Generating Explanations for Graph Neural Networks", 2019:
masks M of the edges and F of the features are learned, so that the network still says the same with both applied,

    min over M, F of   - log P(Y = y | A ⊙ σ(M), X ⊙ σ(F))      sections 4.1 and 4.2
                       + size and entropy of σ(M) and σ(F)      section 4.2, weighted as in torch_geometric

Here M and F start at 0, that is with every mask at one half, and not at random values: so the explanation does not
depend on the order of the nodes and edges. A mask acts on the messages, after any normalisation, as in torch_geometric.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.graph.fields import EDGE, NODE
from explorer.spaces.graph.form import GraphInput
from explorer.spaces.graph.samples import ba_shapes
from models.layers.taps import Mark, Tap
from models.training.digits import Progress, one_thread

RATE = 0.01
SMALL = 1e-15  # keeps logarithms finite, as in torch_geometric
MESSAGES = ("messages", "attention")  # what a mask multiplies, the first that a layer has


@dataclass(frozen=True, slots=True)
class Weights:
    """Of the terms of the loss: sum of the edge mask, its mean entropy, mean of the feature mask, its mean entropy."""

    edge_size: float = 0.005
    edge_entropy: float = 1.0
    feature_size: float = 1.0
    feature_entropy: float = 0.1


def entropy(mask: Tensor) -> Tensor:
    """Return the mean entropy of masks in [0, 1], in nats."""
    return -(mask * (mask + SMALL).log() + (1 - mask) * (1 - mask + SMALL).log()).mean()


def regularisation(edges: Tensor, features: Tensor, weights: Weights) -> Tensor:
    """Return size and entropy of an edge mask (n,) and a feature mask (C,), both in [0, 1]."""
    size = weights.edge_size * edges.sum() + weights.feature_size * features.mean()
    return size + weights.edge_entropy * entropy(edges) + weights.feature_entropy * entropy(features)


def masked_layers(model: nn.Module) -> list[nn.Module]:
    """Return the taps on edges through which messages run: of each layer "messages", or else "attention"."""
    found = []
    for parent in model.modules():
        taps = {name: child for name, child in parent.named_children() if getattr(child, "out_field", None) == EDGE}
        found += [taps[name] for name in MESSAGES if name in taps][:1]
    return found


@contextmanager
def applied(model: nn.Module, mask: Sequence[Tensor]) -> Iterator[None]:
    """Multiply all messages by mask[0], (E,), while the context lasts."""
    edges = len(mask[0])

    def weigh(_module: nn.Module, _args: Any, messages: Tensor) -> Tensor:
        if len(messages) != edges:
            raise ValueError(f"a layer has {len(messages)} messages for {edges} edges, so that none can be masked")
        return messages * mask[0].reshape(-1, *[1] * (messages.ndim - 1)).to(messages.dtype)

    handles = [layer.register_forward_hook(weigh) for layer in masked_layers(model)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


class Adam:
    """Kingma, Ba, 2015, algorithm 1, on plain tensors: nothing but these is touched, and no gradient is kept."""

    def __init__(self, values: Sequence[Tensor], rate: float = RATE) -> None:
        self.values, self.rate, self.steps = list(values), rate, 0
        self.mean = [torch.zeros_like(v) for v in values]
        self.square = [torch.zeros_like(v) for v in values]

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor]) -> None:
        self.steps += 1
        for value, gradient, mean, square in zip(self.values, gradients, self.mean, self.square, strict=True):
            mean.lerp_(gradient, 0.1)
            square.lerp_(gradient**2, 0.001)
            unbiased = (square / (1 - 0.999**self.steps)).sqrt() + 1e-8
            value.sub_(self.rate / (1 - 0.9**self.steps) * mean / unbiased)


def explain(
    model: nn.Module,
    inputs: Sequence[Tensor],
    node: int | Tensor = 0,
    epochs: int = 200,
    seed: int | None = None,
    edge_index: int = 1,
    edge_weight: int | None = None,
    weights: Weights | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the edge mask (E,) and the feature mask (C,), in [0, 1], of the class that the model predicts.

    Args:
        model: called as model(*inputs), with scores of classes for every node, (N, K), or graph, (G, K), or one
            number for each, whose value is then to be kept. Its layers pass their messages, one for each listed edge,
            through a tap of edges called "messages" (or "attention"), unless `edge_weight` is given.
        node: the row of the scores to be explained, or several: then what they have in common.
        epochs: steps of Adam.
        seed: None starts with all masks at one half; a number, at random as torch_geometric does.
        edge_index: which of the inputs lists the edges.
        edge_weight: which of the inputs, (E,) or (E, 1), weighs the edges: then the mask multiplies these weights,
            before any normalisation, as in the paper, and not the messages.

    Edges that the prediction does not depend on get 0. Works within inference mode too; the model is left as it is.

    Raises:
        ValueError: no layer shows its messages, and there are no weights.
    """
    weights = Weights() if weights is None else weights
    with torch.inference_mode(False), torch.enable_grad():
        x, *others = (value.detach().clone() for value in inputs)
        edges = others[edge_index - 1].shape[1]
        if edge_weight is None and not masked_layers(model):
            raise ValueError("no layer of this network shows its messages, so there is nothing to mask")
        rows = torch.as_tensor(node, device=x.device).reshape(-1)
        with torch.no_grad():
            wanted = model(x, *others)[rows]
        edge, feature = (x.new_zeros(n) for n in (edges, x.shape[1]))
        if seed is not None:
            chance = torch.Generator().manual_seed(seed)
            spread = (2 / max(1, len(x))) ** 0.5  # torch_geometric's
            edge = (spread * torch.randn(edges, generator=chance)).to(x)
            feature = (0.1 * torch.randn(x.shape[1], generator=chance)).to(x)
        edge.requires_grad_()
        feature.requires_grad_()
        adam = Adam((edge, feature))
        matters: Tensor | None = None
        for _ in range(max(1, epochs)):
            mask = [edge.sigmoid()]
            arguments = [x * feature.sigmoid(), *others]
            if edge_weight is None:
                with applied(model, mask):
                    scores = model(*arguments)[rows]
            else:
                weight = others[edge_weight - 1]
                arguments[edge_weight] = weight * mask[0].reshape(weight.shape)
                scores = model(*arguments)[rows]
            loss = F.cross_entropy(scores, wanted.argmax(dim=1)) if scores.shape[1] > 1 else F.mse_loss(scores, wanted)
            if matters is None:
                (gradient,) = torch.autograd.grad(loss, edge, retain_graph=True, allow_unused=True)
                matters = torch.zeros_like(edge, dtype=torch.bool) if gradient is None else gradient != 0
            if matters.any():
                loss = loss + regularisation(mask[0][matters], feature.sigmoid(), weights)
            adam.step(torch.autograd.grad(loss, (edge, feature), materialize_grads=True))
        assert matters is not None
        return (edge.sigmoid() * matters).detach(), feature.sigmoid().detach()


class MaskableGCN(nn.Module):
    """One layer: Σ over j -> i, and i itself, of W x_j / sqrt(d_i d_j), plus b; (N, C), (2, E) -> (N, D).

    Kipf, Welling, 2017, eq. (2); torch_geometric.nn.GCNConv, with every message shown.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.lin = nn.Linear(inputs, outputs, bias=False)
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.messages = Tap(EDGE)
        self.out_field = NODE
        nn.init.xavier_uniform_(self.lin.weight)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        sender, receiver = edge_index
        own = x.new_ones(len(x)).index_fill(0, sender[sender == receiver], 0.0)  # listed loops stand for themselves
        scale = own.index_add(0, receiver, x.new_ones(len(receiver))).rsqrt()[:, None]
        h = scale * self.lin(x)
        messages = self.messages(scale[receiver] * h[sender])
        return (scale * own[:, None] * h).index_add(0, receiver, messages) + self.bias


class RoleGCN(nn.Module):
    """Three layers that read the role of a node off the graph alone: (N, 1), (2, E) -> (N, 4)."""

    def __init__(self, width: int = 20, classes: int = 4) -> None:
        super().__init__()
        self.conv1 = MaskableGCN(1, width)
        self.relu1 = nn.ReLU()
        self.conv2 = MaskableGCN(width, width)
        self.relu2 = nn.ReLU()
        self.conv3 = MaskableGCN(width, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = self.relu1(self.conv1(x, edge_index))
        x = self.relu2(self.conv2(x, edge_index))
        return self.conv3(x, edge_index)


class EdgeMask(nn.Module):
    """The explanation of a network's classes at the nodes marked in x: (N, 1), (2, E), (N, 1) -> (E, 1).

    Computed in float64, so that the rounding of another order of the nodes cannot grow over the steps.
    """

    def __init__(self, network: RoleGCN, epochs: int) -> None:
        super().__init__()
        self.network = (network,)  # in a tuple: its parameters belong to the network, and are not listed twice
        self.epochs = epochs
        self.out_field = EDGE

    def forward(self, x: Tensor, edge_index: Tensor, explained: Tensor) -> Tensor:
        rows = explained[:, 0].nonzero()[:, 0]
        if not len(rows) or not edge_index.shape[1]:
            return x.new_zeros(edge_index.shape[1], 1)
        with torch.inference_mode(False):
            # a network of its own: the hooks of whoever watches the other one must not see hundreds of passes
            twin = RoleGCN().double().requires_grad_(False)
            twin.load_state_dict({k: v.detach().cpu().clone() for k, v in self.network[0].state_dict().items()})
            given = (x.detach().double().clone(), edge_index.clone())
            mask, _ = explain(twin.to(x.device), given, rows.clone(), self.epochs)
        return mask[:, None].to(x.dtype)


class Explained(nn.Module):
    """A network that classifies all nodes, and an explanation of what it says of one: (N, 2), (2, E) -> (N, 4).

    The first column of x is the input of the network; the second marks the node to be explained, and moves with it.
    """

    def __init__(self, node: int, epochs: int) -> None:
        super().__init__()
        self.node = node
        self.gcn = RoleGCN()
        self.explained = Mark(NODE)
        self.edge_mask = EdgeMask(self.gcn, epochs)
        self.scores = Tap(NODE)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        scores = self.gcn(x[:, :1], edge_index)
        marked = (x[:, 1:2] != 0).to(x.dtype)
        if self.node >= 0 and len(x):
            marked = torch.zeros_like(marked).index_fill(0, torch.tensor([min(self.node, len(x) - 1)]).to(x.device), 1)
        self.edge_mask(x[:, :1], edge_index, self.explained(marked))
        return self.scores(scores)


def build(node: float = -1, epochs: float = 100) -> nn.Module:
    """Build the network; `node` -1 explains the node that x marks."""
    return Explained(int(node), int(epochs))


def train(
    epochs: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    random: float = ba_shapes.RANDOM,
) -> tuple[nn.Module, dict[str, float]]:
    """Train on four fifths of the nodes of BA-Shapes; return the fractions of right roles, train and test.

    Adam with rate 0.01, all nodes at once. Parameters are rounded to half precision at the end. Random edges at a
    house change what its nodes look like, so that some roles cannot be known: without them all are learned.
    """
    epochs = 2000 if epochs is None else epochs
    with torch.inference_mode(False), torch.enable_grad(), one_thread():
        made = ba_shapes.houses(random=random)
        edge_index, role = torch.from_numpy(made.edge_index), torch.from_numpy(made.role)
        ones = torch.ones(len(role), 1)
        chance = torch.Generator().manual_seed(seed)
        test, learn = torch.randperm(len(role), generator=chance).split([len(role) // 5, len(role) - len(role) // 5])
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            network = Explained(-1, 100)
        optimizer = torch.optim.Adam(network.gcn.parameters(), lr=0.01)
        for epoch in range(epochs):
            loss = F.cross_entropy(network.gcn(ones, edge_index)[learn], role[learn])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if progress is not None and (epoch + 1) % 50 == 0:
                progress(epoch + 1, epochs, f"loss {loss.item():.4f}")
        with torch.no_grad():
            for tensor in network.parameters():
                tensor.copy_(tensor.half())
            right = (network.gcn(ones, edge_index).argmax(dim=1) == role).double()
        network.eval()
        return network, {"train_accuracy": float(right[learn].mean()), "test_accuracy": float(right[test].mean())}


CARD = Card(
    name="gnn-explainer",
    title="GNNExplainer: which edges a prediction rests on",
    rows=("N9",),
    groups=("permutation",),
    reference=(
        'Ying, Bourgeois, You, Zitnik, Leskovec, "GNNExplainer: Generating Explanations for Graph Neural Networks", '
        "NeurIPS 2019, sections 4.1 and 4.2"
    ),
    equation=(
        "min over M, F of  − log P(Y = y | A ⊙ σ(M), X ⊙ σ(F))\n"
        "  + 0.005 Σ σ(M) + mean H(σ(M)) + mean σ(F) + 0.1 mean H(σ(F))\n"
        "H(p) = − p log p − (1 − p) log(1 − p)"
    ),
    summary=(
        "A graph convolution knows the role of each node in a house: top, middle, bottom, or outside. `edge_mask` "
        "says which edges that knowledge rests on for the node marked by `explained`; it should be the house. Shuffle "
        "the nodes: the explanation moves with them."
    ),
    build=build,
    input=GraphInput(channels=2, features="constant", most=20_000),
    domain="graph",
    weights="gnn-explainer.safetensors",
    sample="ba-shapes",
    params=(
        Param("node", "Node explained (-1: as marked in x)", -1, -1, 699, whole=True),
        Param("epochs", "Steps", 100, 1, 500, 10, whole=True),
    ),
    train=train,
    source=(explain, regularisation, entropy, MaskableGCN, EdgeMask),
    notes=(
        "masks start at one half and not at random, so that nothing depends on an order",
        "a node chosen by its number is another node after a shuffle: only the marked one moves along",
        "accuracy 96.8 % on the nodes learned from, 94.3 % on the others: random edges hide some roles",
        "edge masks of 30 nodes of houses against the walls: AUC 0.955, published 0.925",
    ),
)
