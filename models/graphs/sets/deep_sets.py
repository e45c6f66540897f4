"""Deep Sets: the functions of a set are those of a sum over its elements; a graph network without any edge (A = I).

Zaheer, Kottur, Ravanbakhsh, Póczos, Salakhutdinov, Smola, "Deep Sets", 2017:

    invariant (Theorem 2)     f(X) = rho(Σ_x phi(x))
    equivariant (Lemma 3)     f(x) = σ(Θ x),   Θ = lambda I + gamma 1 1^T

The digit sum of section 4.1.2 (text) is trained here: lists of 1 to 9 digits, judged on up to 95.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.graph.fields import NODE
from explorer.spaces.graph.network.form import GraphInput
from explorer.work.training.course import Course
from models.layers.graph.pooling import Readout
from models.training.learning import Progress, learning
from models.training.points.shapes import SHAPES, Recipe, measured
from models.training.points.shapes import train as train_on_shapes

DIGITS = 10
LENGTHS = range(5, 100, 10)  # of the lists that are judged
POOLS = ("max", "mean", "sum")


class DigitSum(nn.Module):
    """f(X) = rho(Σ_x phi(x)), phi = tanh(W E x + b): one-hot digits (N, 10), (N,) -> (G, 1)."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Linear(DIGITS, 100, bias=False)  # of a one-hot digit: nn.Embedding
        self.dense = nn.Linear(100, 30)
        self.phi = nn.Tanh()
        self.sum = Readout("sum")
        self.rho = nn.Linear(30, 1)

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        return self.rho(self.sum(self.phi(self.dense(self.embedding(x))), batch))


def lists(count: int, length: int | range, chance: torch.Generator) -> list[Tensor]:
    """Draw lists of digits 0 to 9, all of one length or of lengths drawn from a range."""
    if isinstance(length, int):
        return list(torch.randint(DIGITS, (count, length), generator=chance))
    lengths = torch.randint(length.start, length.stop, (count,), generator=chance).tolist()
    return list(torch.randint(DIGITS, (sum(lengths),), generator=chance).split(lengths))


def together(drawn: Sequence[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Return lists of digits as one batch: one-hot digits (N, 10), which list they are of (N,), the sums (G, 1)."""
    lengths = torch.tensor([len(one) for one in drawn])
    digits = torch.cat(list(drawn))
    batch = torch.arange(len(drawn)).repeat_interleave(lengths)
    sums = torch.zeros(len(drawn)).index_add(0, batch, digits.float())
    return F.one_hot(digits, DIGITS).float(), batch, sums[:, None]


def accuracy(network: nn.Module, length: int, count: int = 1000, seed: int = 1) -> float:
    """Return how many of `count` random lists of that length have a prediction that rounds to their sum."""
    x, batch, sums = together(lists(count, length, torch.Generator().manual_seed(1000 * seed + length)))
    with torch.no_grad():
        return float((network(x, batch).round() == sums).double().mean())


def train(
    epochs: int | None = None, seed: int = 0, progress: Progress | None = None, count: int = 100_000
) -> tuple[nn.Module, dict[str, float]]:
    """Train on `count` lists of 1 to 9 digits as the paper's text experiment does; return the accuracies by length.

    Mean absolute error, Adam with rate 1e-4 and ε = 1e-3, batches of 128, 10 epochs.
    """
    epochs = 10 if epochs is None else epochs
    with learning():
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            network = DigitSum()
            nn.init.normal_(network.embedding.weight)  # as nn.Embedding starts
        chance = torch.Generator().manual_seed(seed)
        drawn = lists(count, range(1, 10), chance)
        optimizer = torch.optim.Adam(network.parameters(), lr=1e-4, eps=1e-3)
        course = Course(
            network, optimizer, None, chance, epochs=epochs, examples=count, batch=128,
            losses={"absolute error": F.l1_loss, "squared error": F.mse_loss},
            progress=progress, told="mean error {:.4f}".format,
        )  # fmt: skip
        for rows in course:
            x, batch, sums = together([drawn[k] for k in rows.tolist()])
            course.learn(course.loss(network(x, batch), sums), weight=len(rows))
        network.eval()
        return network, {f"accuracy_{length}": accuracy(network, length) for length in LENGTHS}


class EquivariantLayer(nn.Module):
    """x_i Λ + g · pool_j(x_j) Γ + b in each set: (N, C), (N,) -> (N, D).

    With the sum as pool and one channel it is Θ x with Θ = λ I + γ 1 1ᵀ; g = 0 leaves every element alone.
    """

    def __init__(self, inputs: int, outputs: int, pool: str, gamma: float) -> None:
        super().__init__()
        self.own = nn.Linear(inputs, outputs)
        self.shared = nn.Linear(inputs, outputs, bias=False)
        self.pool = Readout(pool)  # type: ignore[arg-type]
        self.gamma = gamma
        self.out_field = NODE

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        everyone = self.shared(self.pool(x, batch))  # (G, D)
        return self.own(x) + self.gamma * everyone[batch]

    def theta(self, size: int) -> Tensor:
        """Return Θ of the first input and output channel on a set of `size` elements, as if the pool were the sum."""
        own, shared = self.own.weight[0, 0], self.gamma * self.shared.weight[0, 0]
        return torch.diag(own.expand(size)) + shared.expand(size, size)


class EquivariantSet(nn.Module):
    """Three equivariant layers, then rho of the sum: (N, 3), (N,) -> (G, 4)."""

    def __init__(self, pool: str, gamma: float, channels: int = 3, width: int = 32, classes: int = 4) -> None:
        super().__init__()
        self.layer1 = EquivariantLayer(channels, width, pool, gamma)
        self.tanh1 = nn.Tanh()
        self.layer2 = EquivariantLayer(width, width, pool, gamma)
        self.tanh2 = nn.Tanh()
        self.layer3 = EquivariantLayer(width, width, pool, gamma)
        self.tanh3 = nn.Tanh()
        self.sum = Readout("sum")
        self.rho = nn.Linear(width, classes)

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        x = self.tanh1(self.layer1(x, batch))
        x = self.tanh2(self.layer2(x, batch))
        x = self.tanh3(self.layer3(x, batch))
        return self.rho(self.sum(x, batch))


def build_equivariant(pool: float = 0, gamma: float = 1.0) -> nn.Module:
    """Build the network of equivariant layers; `gamma` scales what an element hears of the others."""
    return EquivariantSet(POOLS[int(pool)], gamma)


def matrix(model: nn.Module, size: int = 8) -> dict[str, Tensor]:
    """Return Θ of the first layer for a small set."""
    assert isinstance(model, EquivariantSet)
    with torch.no_grad():
        return {"Θ = λ I + γ 1 1ᵀ of layer1 (first channel, sum)": model.layer1.theta(size)}


REFERENCE = (
    'Zaheer, Kottur, Ravanbakhsh, Póczos, Salakhutdinov, Smola, "Deep Sets", NeurIPS 2017, {}; Bronstein, Bruna, '
    'Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.4'
)

RECIPE = Recipe(steps=1500)
ACCURACY = 1.0000  # of the shipped weights

CARD = (
    Card(
        name="digit-sum",
        title="Deep Sets: the sum of a set of digits",
        rows=("S1",),
        groups=("permutation",),
        reference=REFERENCE.format("Theorem 2 and section 4.1.2"),
        equation="f(X) = ρ(Σ_{x∈X} φ(x))\nφ(x) = tanh(W E x + b),   ρ(s) = w·s + c",
        summary=(
            "Every element is treated alone (A = I) until `sum`: its features say which digit it is and nothing of "
            "the others. Shuffle the set: the rows of `phi` move, `sum` and the answer stand still. Trained on at "
            "most nine digits, it adds up ninety-five."
        ),
        build=DigitSum,
        input=GraphInput(channels=DIGITS, signals=("x", "batch"), features="constant"),
        domain="set",
        weights="digit-sum.safetensors",
        sample="digit-set-40",
        train=train,
        source=(DigitSum, Readout, train),
        notes=("trained on lists of 1 to 9 digits; accuracy 100 % at every length from 5 to 95",),
    ),
    Card(
        name="deep-sets",
        title="Deep Sets: equivariant layers",
        rows=("S1",),
        groups=("permutation",),
        reference=REFERENCE.format("Lemma 3"),
        equation=(
            "f(x) = σ(Θ x),   Θ = λ I + γ (1 1ᵀ)\n"
            "with channels: σ(x Λ + γ 1 pool(x) Γ + b)\n"
            "f(P x) = P f(x)   ⟺   Θ of this form"
        ),
        summary=(
            "The only linear maps of a set to itself that commute with every permutation: keep the own value, add the "
            "same summary to all. The weight matrix shows one number on the diagonal and one off it. With γ = 0 no "
            "element hears of another, and the influence of the selected one is a single dot."
        ),
        build=build_equivariant,
        input=GraphInput(channels=3, signals=("x", "batch"), features="position"),
        domain="set",
        sample="torus",
        weights="deep-sets.safetensors",
        labels=SHAPES,
        train=partial(train_on_shapes, build_equivariant, RECIPE),
        notes=measured(4516, RECIPE, ACCURACY),
        params=(
            Param("pool", "Summary of the set", 0, 0, len(POOLS) - 1, choices=POOLS),
            Param("gamma", "γ", 1.0, 0.0, 2.0, 0.1),
        ),
        source=(EquivariantLayer, EquivariantSet),
        matrix=matrix,
    ),
)
