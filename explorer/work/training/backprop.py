"""Back-propagation written out, for networks of dense layers: z, a, delta and every gradient, without autograd.

With C the loss and σ the activation of a layer, from the output L back to the first layer:

    delta^L = grad_a C * σ'(z^L)
    delta^l = σ'(z^l) * (W^(l+1)^T delta^(l+1))
    dC/db^l = delta^l,   dC/dW^l = delta^l (a^(l-1))^T

All in double precision, and for complex numbers too: a step of 1e-30 i gives second derivatives without cancellation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
TINY = 1e-30


def _sigmoid(z: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-z)))


ACTIVATIONS: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
    "sigmoid": (_sigmoid, lambda z: _sigmoid(z) * (1 - _sigmoid(z))),
    "tanh": (np.tanh, lambda z: 1 - np.tanh(z) ** 2),
    "relu": (lambda z: np.where(z.real > 0, z, 0), lambda z: np.where(z.real > 0, 1.0, 0.0)),
    "none": (lambda z: z, np.ones_like),
}


def _cross_entropy(a: Array, y: Array) -> Any:
    return -(y * np.log(a) + (1 - y) * np.log(1 - a)).sum()


LOSSES: dict[str, tuple[Callable[[Array, Array], Any], Callable[[Array, Array], Array]]] = {
    "squared error": (lambda a, y: ((a - y) ** 2).sum() / 2, lambda a, y: a - y),
    "cross-entropy": (_cross_entropy, lambda a, y: (a - y) / (a * (1 - a))),
}


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """One layer: a = σ(W a' + b); W (out, in), b (out,)."""

    name: str
    weight: Array
    bias: Array
    activation: str


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """A whole network of dense layers with what it is given, x (in,), and the names of its outputs."""

    layers: tuple[Dense, ...]
    x: Array
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Rung:
    """Quantities of a layer for one example: z, a, delta (out,), the gradients of W (out, in) and b (out,)."""

    layer: Dense
    given: Array
    z: Array
    a: Array
    delta: Array
    weight_gradient: Array
    bias_gradient: Array


def forward(layers: Sequence[Dense], x: Array) -> list[tuple[Array, Array, Array]]:
    """Return (what a layer is given, z, a) of each layer."""
    found, given = [], x
    for layer in layers:
        z = layer.weight @ given + layer.bias
        a = ACTIVATIONS[layer.activation][0](z)
        found.append((given, z, a))
        given = a
    return found


def ladder(layers: Sequence[Dense], x: Array, target: Array, loss: str) -> list[Rung]:
    """Return the rungs of every layer, first layer first.

    A sigmoid under the cross-entropy has delta = a - y, as σ' cancels: so it is computed, for 0/0 is no number.
    """
    values = forward(layers, x)
    rungs: list[Rung] = []
    back: Array = np.zeros(0)
    for layer, (given, z, a) in zip(reversed(layers), reversed(values), strict=True):
        slope = ACTIVATIONS[layer.activation][1](z)
        if rungs:
            delta = slope * back
        elif loss == "cross-entropy" and layer.activation == "sigmoid":
            delta = a - target
        else:
            delta = LOSSES[loss][1](a, target) * slope
        rungs.append(Rung(layer, given, z, a, delta, np.outer(delta, given), delta))
        back = layer.weight.T @ delta
    return rungs[::-1]


def loss_of(layers: Sequence[Dense], x: Array, target: Array, loss: str) -> float:
    """Return the loss of one example."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.real(LOSSES[loss][0](forward(layers, x)[-1][2], target)))


def stepped(layers: Sequence[Dense], rungs: Sequence[Rung], rate: complex) -> list[Dense]:
    """Return the layers after a step down the gradient."""
    return [
        replace(layer, weight=layer.weight - rate * r.weight_gradient, bias=layer.bias - rate * r.bias_gradient)
        for layer, r in zip(layers, rungs, strict=True)
    ]


# how far a step goes --------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Steps:
    """A step of each size down the gradient: what Taylor's first and second order say of it, and what it does.

    Attributes:
        rates: the sizes.
        first, second, real: the decrease of the loss.
        slope: the squared length of the gradient.
        curvature: g^T H g.
    """

    rates: Array
    first: Array
    second: Array
    real: Array
    slope: float
    curvature: float

    @property
    def best(self) -> float:
        """Return the size of step that the second order says is best, infinite where it sees no bottom."""
        return self.slope / self.curvature if self.curvature > 0 else math.inf


def steps(layers: Sequence[Dense], x: Array, target: Array, loss: str, rates: Array) -> Steps:
    """Return predicted and real decreases of the loss: eta |g|^2 - eta^2 g^T H g / 2, and L(θ) - L(θ - eta g)."""
    rungs = ladder(layers, x, target, loss)
    gradients = [g for r in rungs for g in (r.weight_gradient, r.bias_gradient)]
    slope = float(sum((g**2).sum() for g in gradients))
    # the gradient a hair's breadth along itself, in the imaginary direction: H g without a difference
    moved = ladder(stepped(layers, rungs, -1j * TINY), x, target, loss)
    along = [g.imag / TINY for r in moved for g in (r.weight_gradient, r.bias_gradient)]
    curvature = float(sum((h * g).sum() for h, g in zip(along, gradients, strict=True)))
    now = loss_of(layers, x, target, loss)
    real = np.array([now - loss_of(stepped(layers, rungs, rate), x, target, loss) for rate in rates])
    return Steps(rates, rates * slope, rates * slope - rates**2 * curvature / 2, real, slope, curvature)


# a single neuron --------------------------------------------------------------------------------------------------
STARTS = ((0.6, 0.9), (2.0, 2.0))  # weight, bias: Nielsen, "Neural Networks and Deep Learning", chapter 3
RATE, EPOCHS = 0.15, 300


@dataclass(frozen=True, slots=True)
class Learned:
    """One neuron with a sigmoid that learns to answer 0 to 1: after 0, 1, ... steps."""

    loss: str
    start: tuple[float, float]
    output: Array
    losses: Array
    delta: Array


def neuron(loss: str, start: tuple[float, float], rate: float = RATE, epochs: int = EPOCHS) -> Learned:
    """Train a neuron from a weight and a bias on the input 1 and the target 0."""
    layers = [Dense("neuron", np.array([[start[0]]]), np.array([start[1]]), "sigmoid")]
    x, y = np.ones(1), np.zeros(1)
    found = []
    for _ in range(epochs + 1):
        rungs = ladder(layers, x, y, loss)
        found.append((rungs[0].a[0], loss_of(layers, x, y, loss), rungs[0].delta[0]))
        layers = stepped(layers, rungs, rate)
    output, losses, delta = (np.array(column) for column in zip(*found, strict=True))
    return Learned(loss, start, output, losses, delta)


# what a loss says of the output ------------------------------------------------------------------------------------
def gaussian(mean: float, y: Array, spread: float = 1.0) -> Array:
    """Return -log p(y) where the output is the mean of a Gaussian: a squared error, and what does not depend on it."""
    return np.asarray((y - mean) ** 2 / (2 * spread**2) + math.log(spread * math.sqrt(2 * math.pi)))


def bernoulli(chance: float, y: Array) -> Array:
    """Return -log p(y) where the output is the probability of 1: the cross-entropy."""
    return np.asarray(-(y * math.log(chance) + (1 - y) * math.log(1 - chance)))
