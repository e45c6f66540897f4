"""Train and judge networks that encode images and decode them again.

Grey values in [0, 1] count as the mean of a Bernoulli variable: the loss of a reconstruction is the cross-entropy
summed over pixels, in nats an image (D. Kingma, M. Welling, "Auto-Encoding Variational Bayes", 2014, appendix C).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.spaces.grid.samples import digit_images
from explorer.spaces.grid.samples.sprites import FACTORS, TWO, sprites
from explorer.work.training.course import Course
from models.layers.seeded import round_to_half, seeded
from models.training.adversarial.quality import read_digits
from models.training.learning import Progress, learning, one_cycle

LEARNED, JUDGED = 3000, 1000  # sprites
GLANCE = 100  # images that a network is judged by while it learns
Parts = dict[str, Tensor]  # of the loss, by name, each in its own unit; a recipe weighs them
Loss = Callable[[Any, Tensor, Tensor], Parts]
Set = tuple[Tensor, Tensor]  # images, classes


@dataclass(frozen=True, slots=True)
class Recipe:
    """The training of an autoencoder on one of SETS.

    Attributes:
        weights: of parts of the loss, 1 where none is given; one of weight 0 is drawn and not learned from.
    """

    data: str = "digits"
    epochs: int = 100
    batch: int = 64
    rate: float = 3e-3
    weights: Mapping[str, float] = field(default_factory=dict)

    def total(self, parts: Parts) -> Tensor:
        """Return what is made small: the sum of the parts, weighed."""
        return torch.stack([value * self.weights.get(name, 1.0) for name, value in parts.items()]).sum()


def _digits(split: Any) -> Set:
    images, labels = digit_images.load(split)
    return torch.tensor(images), torch.tensor(labels)


def _sprites(split: str, varied: tuple[str, ...]) -> Set:
    images, factors = sprites(*((LEARNED, 0) if split == "train" else (JUDGED, 1)), varied)
    return torch.tensor(images), torch.tensor(factors[:, 0], dtype=torch.int64)


SETS: Mapping[str, Callable[[str], Set]] = {
    "digits": _digits,
    "sprites": lambda split: _sprites(split, FACTORS),
    "two-factor sprites": lambda split: _sprites(split, TWO),
}


def cross_entropy(logits: Tensor, x: Tensor) -> Tensor:
    """Return −log p(x|z) summed over pixels, the mean over images."""
    return F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / len(x)


def divergence(mean: Tensor, log_variance: Tensor) -> Tensor:
    """Return KL(N(μ, σ²) ‖ N(0, 1)) of each dimension, (N, d): ½ (μ² + σ² − 1 − log σ²)."""
    return 0.5 * (mean.square() + log_variance.exp() - 1.0 - log_variance)


def train(
    build: Callable[[], nn.Module],
    loss: Loss,
    recipe: Recipe,
    epochs: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    subset: int | None = None,
) -> tuple[nn.Module, dict[str, float]]:
    """Build a network, train it and return it with what `judged` says of it.

    The same seed gives the same parameters on the same kind of machine. Parameters are rounded to half precision at
    the end, so that a small file holds exactly what was judged.
    """
    epochs = recipe.epochs if epochs is None else epochs
    with learning(), torch.random.fork_rng(devices=[]):
        images, labels = (t[:subset] for t in SETS[recipe.data]("train"))
        network = seeded(build, seed)
        torch.manual_seed(seed + 1)  # noise of the losses, and the order of the images
        optimizer = torch.optim.Adam(network.parameters(), lr=recipe.rate)
        course = Course(
            network, optimizer, one_cycle(0.2), torch.default_generator, epochs=epochs, examples=len(images),
            batch=recipe.batch, judge=_glance(recipe.data), progress=progress, told="loss {:.3f}".format,
        )  # fmt: skip
        network.train()
        for rows in course:
            parts = loss(network, images[rows], labels[rows])
            course.learn(
                recipe.total(parts), weight=len(rows), clip=100.0, parts=parts if len(parts) > 1 else None,
            )  # fmt: skip
        round_to_half(network, statistics=True)
        network.eval()
        with torch.no_grad():
            return network, judged(network, recipe.data)


def _glance(data: str) -> Callable[[Any], dict[str, float]]:
    """Return what measures how some other images of a set come back: in a tenth of a second, while it learns."""

    def error(network: Any) -> dict[str, float]:
        images = SETS[data]("test")[0][:GLANCE]
        return {"pixel_error": float(F.mse_loss(torch.sigmoid(network.logits(network.encode(images))), images))}

    return error


def judged(network: Any, data: str) -> dict[str, float]:
    """Return what a network does with the images of a set that it has not learned.

    reconstruction: nats an image; pixel_error: mean square; neighbours: the fraction of images whose class is that of
    the learned image of the nearest code; read: of digits, the fraction in which `plain-cnn` reads, decoded again, the
    digit that they are; divergence and used: of a variational one, the KL in all, and how many dimensions have more
    than 0.01 nats of it.
    """
    (learned, classes), (images, labels) = SETS[data]("train"), SETS[data]("test")
    codes = torch.cat([network.encode(x) for x in images.split(250)])
    known = torch.cat([network.encode(x) for x in learned.split(250)])
    logits = torch.cat([network.logits(z) for z in codes.split(250)])
    nearest = torch.cdist(codes, known).argmin(1)
    found = {
        "reconstruction": float(cross_entropy(logits, images)),
        "pixel_error": float(F.mse_loss(torch.sigmoid(logits), images)),
        "neighbours": float((classes[nearest] == labels).double().mean()),
    }
    if data == "digits":
        found["read"] = float((read_digits(torch.sigmoid(logits)) == labels).double().mean())
    if hasattr(network, "posterior"):
        kl = divergence(*network.posterior(images)).mean(0)
        found |= {"divergence": float(kl.sum()), "used": float((kl > 0.01).sum())}
    return found


def gap(codes: NDArray[np.float64], factors: Mapping[str, NDArray[np.float64]], bins: int = 20) -> dict[str, float]:
    """Return the mutual-information gap of each factor, in shares of its entropy (R. Chen and others, 2018).

    It is the information that the best dimension of the code has of the factor, less that of the second best: 1 where
    one dimension alone tells all of it, 0 where two tell it equally well. Codes and factors are counted in `bins`
    of equal numbers.
    """
    found = {}
    for name, values in factors.items():
        told = sorted((_information(codes[:, k], values, bins) for k in range(codes.shape[1])), reverse=True)
        entropy = _information(values, values, bins)
        found[name] = (told[0] - (told[1] if len(told) > 1 else 0.0)) / entropy
    return found


def _information(a: NDArray[np.float64], b: NDArray[np.float64], bins: int) -> float:
    """Return the mutual information of two numbers in nats, each counted in bins of equal numbers."""
    ranks = [np.argsort(np.argsort(v, kind="stable"), kind="stable") * bins // len(v) for v in (a, b)]
    joint = np.zeros((bins, bins))
    np.add.at(joint, tuple(ranks), 1.0 / len(a))
    alone = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    there = joint > 0
    return float((joint[there] * np.log(joint[there] / alone[there])).sum())
