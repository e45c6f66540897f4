"""Back-propagation in a network that is small enough to be read number by number (row L1).

Nielsen, "Neural Networks and Deep Learning", 2015, chapter 2, equations BP1 to BP4. Three dense layers say
whether a row or a column of three by three pixels is alight. All that the equations name is drawn by *Delta ladder*.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.grid.network.form import InputSpec
from explorer.spaces.grid.samples.bars import LABELS, SIDE, bar
from explorer.work.training.course import Course
from models.layers.seeded import round_to_half, seeded
from models.training.learning import Progress, learning

SIZES = (SIDE * SIDE, 6, 4, len(LABELS))
EPOCHS, RATE = 400, 1.0
ACTIVATIONS = ("sigmoid", "tanh", "relu")


def build(activation: float = 0) -> nn.Module:
    """Build 9 - 6 - 4 - 2; the hidden layers have one of ACTIVATIONS, the outputs a sigmoid."""
    hidden = {"sigmoid": nn.Sigmoid, "tanh": nn.Tanh, "relu": nn.ReLU}[ACTIVATIONS[int(activation)]]

    def made() -> nn.Module:
        layers: OrderedDict[str, nn.Module] = OrderedDict(flatten=nn.Flatten())
        for k, (inputs, outputs) in enumerate(pairwise(SIZES), 1):
            layers[f"dense{k}"] = nn.Linear(inputs, outputs)
            layers[f"act{k}"] = nn.Sigmoid() if k == len(SIZES) - 1 else hidden()
        network = nn.Sequential(layers)
        started(network)
        return network

    return seeded(made)


def started(network: nn.Module) -> None:
    """Draw weights from a Gaussian of spread 1, biases are 0: with smaller weights nothing is learned for long."""
    for module in network.modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight)
            nn.init.zeros_(module.bias)


def bars() -> tuple[Tensor, Tensor]:
    """Return the six images (6, 1, 3, 3), and 1 for the label of each (6, 2)."""
    images = np.stack([bar(label, k) for label in LABELS for k in range(SIDE)])[:, None]
    return torch.tensor(images, dtype=torch.float32), torch.eye(2).repeat_interleave(SIDE, 0)


def squared_error(found: Tensor, wanted: Tensor) -> Tensor:
    """Return |a - y|^2 / 2, the mean over examples: the mean of a Gaussian of spread 1."""
    return (found - wanted).square().sum(1).mean() / 2


def cross_entropy(found: Tensor, wanted: Tensor) -> Tensor:
    """Return the negative log-likelihood of probabilities of yes and no, the mean over examples."""
    return F.binary_cross_entropy(found, wanted, reduction="none").sum(1).mean()


def accuracy(network: nn.Module) -> dict[str, float]:
    """Return the fraction of the six images whose label has the larger output."""
    x, y = bars()
    with torch.no_grad():
        return {"accuracy": float((network(x).argmax(1) == y.argmax(1)).double().mean())}


def train(
    epochs: int | None = None, seed: int = 0, progress: Progress | None = None
) -> tuple[nn.Module, Mapping[str, float]]:
    """Train on the six images, one at a time, by gradient descent alone; return the network with its accuracy."""
    epochs = EPOCHS if epochs is None else epochs
    with learning():
        with torch.random.fork_rng(devices=[]):
            network = build()
            torch.manual_seed(seed)
            started(network)
        x, y = bars()
        chance = torch.Generator().manual_seed(seed)
        optimizer = torch.optim.SGD(network.parameters(), lr=RATE)
        course = Course(
            network, optimizer, None, chance, epochs=epochs, examples=len(x),
            losses={"cross-entropy": cross_entropy, "squared error": squared_error}, judge=accuracy, progress=progress,
        )  # fmt: skip
        for rows in course:
            course.learn(course.loss(network(x[rows]), y[rows]))
        round_to_half(network)
        network.eval()
        return network, accuracy(network)


CARD = Card(
    name="back-propagation",
    title="Back-propagation in three dense layers",
    rows=("L1",),
    reference='Nielsen, "Neural Networks and Deep Learning", 2015, chapter 2, BP1 to BP4; chapter 3 (cross-entropy)',
    equation=(
        "z^l = W^l a^(l−1) + b^l,   a^l = σ(z^l)\n"
        "δ^L = ∇_a C ⊙ σ′(z^L)\n"
        "δ^l = σ′(z^l) ⊙ ((W^(l+1))ᵀ δ^(l+1))\n"
        "∂C/∂b^l = δ^l,   ∂C/∂W^l = δ^l (a^(l−1))ᵀ"
    ),
    summary=(
        "Is a row or a column alight? Small enough to read every number: open Delta ladder and go down the layers with "
        "the example, then up again with its error. Train it and watch delta shrink; change the loss and see where it "
        "freezes. A quarter turn swaps row and column: no dense layer knows that."
    ),
    build=build,
    input=InputSpec(shape=(1, SIDE, SIDE)),
    weights="back-propagation.safetensors",
    labels=LABELS,
    params=(Param("activation", "Activation", 0, 0, len(ACTIVATIONS) - 1, choices=ACTIVATIONS),),
    sample="bar-row-2",
    train=train,
    notes=(
        "98 parameters, 400 epochs of plain gradient descent on all six images, which it then names rightly; there is "
        "nothing to be judged on besides.",
    ),
)
