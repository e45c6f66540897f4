"""Variational autoencoders: of digits, of digits by their class, and of sprites with two factors.

References: D. Kingma, M. Welling, "Auto-Encoding Variational Bayes" (2014), equation 10; D. Kingma, D. Rezende,
S. Mohamed, M. Welling, "Semi-Supervised Learning with Deep Generative Models" (2014); I. Higgins and others,
"beta-VAE" (2017), equation 4.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.examples import Examples
from explorer.declare.params import Param
from explorer.spaces.grid.network.form import InputSpec
from explorer.spaces.grid.samples.sets import digits, two_sprites
from models.layers.autoencoding import SAMPLING, Decoder, Sampling, encoder
from models.training.images.autoencoders import Parts, Recipe, cross_entropy, divergence, train

HIDDEN = 32
CLASSES = 10
BETA = 4.0  # of the sprites
FREE = 1.5  # nats of each number of a code whose decoder is told the class


class Variational(nn.Module):
    """q(z|x) = N(μ(x), σ²(x)), z = μ + σ ε, p(x|z) = Bernoulli(g(z)); (N, 1, 29, 29) -> (N, 1, 29, 29).

    Args:
        given: how many numbers the decoder is given besides z.
        shown: the images whose codes are shown.
        deep: twice as many features, and another layer of them on either side of the code.
    """

    def __init__(
        self, dims: int, sampling: str, shown: Callable[[], Examples], given: int = 0, deep: bool = False
    ) -> None:
        super().__init__()
        hidden = 2 * HIDDEN if deep else HIDDEN
        self.examples = shown
        self.encoder = encoder(hidden)
        self.fold = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU()) if deep else None
        self.mean = nn.Linear(hidden, dims)
        self.log_variance = nn.Linear(hidden, dims)
        self.code = Sampling(dims, sampling)
        self.decoder = Decoder(dims + given, hidden, deep)

    def posterior(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return μ and log σ² of q(z|x), (N, d) each."""
        h = self.encoder(x)
        h = h if self.fold is None else self.fold(h)
        return self.mean(h), self.log_variance(h)

    def encode(self, x: Tensor) -> Tensor:
        """Return the means of the codes, (N, d)."""
        return self.posterior(x)[0]

    def logits(self, z: Tensor) -> Tensor:
        """Return the decoded images before the logistic function."""
        return self.decoder.logits(z)

    def decode(self, z: Tensor) -> Tensor:
        """Return the images that codes stand for."""
        return self.decoder(z)

    def forward(self, x: Tensor) -> Tensor:
        return self.decode(self.code(*self.posterior(x)))


class WithClass(nn.Module):
    """Append the class as ten numbers, of which one is 1, to a code; (N, d) -> (N, d + 10)."""

    def __init__(self, digit: int) -> None:
        super().__init__()
        self.digit = digit

    def forward(self, z: Tensor, labels: Tensor | None = None) -> Tensor:
        if labels is None:
            labels = torch.full((len(z),), self.digit, device=z.device)
        return torch.cat([z, F.one_hot(labels, CLASSES).to(z)], dim=1)


class Conditional(Variational):
    """A variational autoencoder whose decoder is told the class: z has to say only what the class leaves open.

    The encoder is not told it, so that a digit can be decoded as another one.
    """

    def __init__(self, digit: int, sampling: str) -> None:
        super().__init__(2, sampling, digits, CLASSES)
        self.with_class = WithClass(digit)

    def logits(self, z: Tensor, labels: Tensor | None = None) -> Tensor:
        return self.decoder.logits(self.with_class(z, labels))

    def decode(self, z: Tensor) -> Tensor:
        return self.decoder(self.with_class(z))


def negative_elbo(network: Variational, x: Tensor, labels: Tensor) -> Parts:
    """Return the terms of −ELBO = −log p(x|z) + KL(q(z|x) ‖ N(0, 1)), with one draw of z."""
    mean, log_variance = network.posterior(x)
    return {
        "reconstruction": cross_entropy(network.logits(network.code(mean, log_variance)), x),
        "divergence": divergence(mean, log_variance).sum() / len(x),
    }


def told(network: Conditional, x: Tensor, labels: Tensor) -> Parts:
    """Return −ELBO of a network whose decoder is told the classes, with FREE nats of each number of the code for free.

    What it is charged is at least that; the divergence itself is drawn beside it.

    Told the class, a decoder soon makes do without the code, and then the code says nothing for good. Nothing is gained
    by saying less than what is free (D. Kingma and others, "Improving Variational Inference with Inverse Autoregressive
    Flow", 2016, appendix C.8).
    """
    mean, log_variance = network.posterior(x)
    logits = network.logits(network.code(mean, log_variance), labels)
    nats = divergence(mean, log_variance).mean(0)
    return {
        "reconstruction": cross_entropy(logits, x),
        "divergence": nats.sum(),
        "charged divergence": nats.clamp(min=FREE).sum(),
    }


def build(sampling: float = 0) -> nn.Module:
    """Build the network of digits with a code of two numbers."""
    return Variational(2, SAMPLING[int(sampling)], digits, deep=True)  # else 5 is decoded as 0, 3 or 8


def build_conditional(digit: float = 3, sampling: float = 0) -> nn.Module:
    """Build the network that decodes every code as a given digit."""
    return Conditional(int(digit), SAMPLING[int(sampling)])


def build_sprites(sampling: float = 0) -> nn.Module:
    """Build the network of sprites, with six numbers for two factors."""
    return Variational(6, SAMPLING[int(sampling)], two_sprites)


RECIPE = Recipe("digits", epochs=300)
TOLD = Recipe("digits", epochs=60, weights={"divergence": 0.0})  # it pays what it is charged
SPRITES = Recipe("two-factor sprites", epochs=30, weights={"divergence": BETA})
_SAMPLING = Param("sampling", "Code", 0, 0, len(SAMPLING) - 1, choices=SAMPLING)
_ELBO = (
    "q(z|x) = N(μ(x), σ²(x))\nz = μ + σ ε,   ε ~ N(0, 1)\nx̂ = g(z)\n"
    "ELBO = log p(x|z) − KL(q(z|x) ‖ p(z)),   p(z) = N(0, 1)\nKL = ½ Σ (μ² + σ² − 1 − log σ²)"
)
_SOURCE = (encoder, Sampling, Decoder, Variational, negative_elbo, divergence)

# Of the shipped weights (seed 0); test_variational.py measures them again.
FIGURES: dict[str, dict[str, float]] = {
    "vae": {"reconstruction": 118.72, "divergence": 5.23, "neighbours": 0.886, "read": 0.892},
    "conditional-vae": {"reconstruction": 161.53, "divergence": 3.19, "neighbours": 0.276},
    "sprite-vae": {"reconstruction": 15.44, "divergence": 2.51, "used": 2.0, "gap_size": 0.239, "gap_x": 0.525},
}

CARD = (
    Card(
        name="vae",
        title="Variational autoencoder",
        rows=("L2",),
        reference='Kingma, Welling, "Auto-Encoding Variational Bayes", 2014, equation 10',
        equation=_ELBO,
        summary=(
            "Each digit becomes a Gaussian in the plane, and all of them together are held near N(0, 1): so what is "
            "drawn from that decodes to digits. Samples shows thousands. With the code `stopped`, z is drawn without "
            "the reparametrisation: in Weights, no gradient reaches the encoder."
        ),
        build=build,
        input=InputSpec(shape=(1, 29, 29)),
        weights="vae.safetensors",
        boundary="zero",
        params=(_SAMPLING,),
        train=partial(train, build, negative_elbo, RECIPE),
        source=_SOURCE,
        notes=(
            f"143,413 parameters, {RECIPE.epochs} epochs on 1,297 digits. On 500 others: reconstruction from the mean "
            f"{FIGURES['vae']['reconstruction']:.1f} nats an image, divergence {FIGURES['vae']['divergence']:.2f} "
            f"nats; the nearest learned code is of the same digit for {100 * FIGURES['vae']['neighbours']:.1f} %, and "
            f"plain-cnn reads {100 * FIGURES['vae']['read']:.1f} % of what is decoded as the digit that it was.",
        ),
    ),
    Card(
        name="conditional-vae",
        title="Conditional variational autoencoder",
        rows=("L2",),
        reference=(
            'Kingma, Rezende, Mohamed, Welling, "Semi-Supervised Learning with Deep Generative Models", 2014, '
            "with an encoder that is not told the class"
        ),
        equation=_ELBO.replace("x̂ = g(z)", "x̂ = g(z, c),   c the class").replace("p(x|z)", "p(x|z, c)"),
        summary=(
            "The decoder is told which digit it is, so the plane no longer holds the classes apart: it holds slant and "
            "thickness. Change the digit in the model's parameters: the same code, written as another figure."
        ),
        build=build_conditional,
        input=InputSpec(shape=(1, 29, 29)),
        weights="conditional-vae.safetensors",
        boundary="zero",
        params=(Param("digit", "Digit c", 3, 0, CLASSES - 1, whole=True), _SAMPLING),
        train=partial(train, build_conditional, told, TOLD),
        source=(*_SOURCE, WithClass, Conditional, told),
        notes=(
            f"{RECIPE.epochs} epochs on 1,297 digits. On 500 others, told their class: divergence "
            f"{FIGURES['conditional-vae']['divergence']:.2f} nats. The nearest learned code is of the same digit for "
            f"{100 * FIGURES['conditional-vae']['neighbours']:.1f} % only: the class has left the code.",
        ),
    ),
    Card(
        name="sprite-vae",
        title="β-VAE of sprites with two factors",
        rows=("L2",),
        reference='Higgins and others, "beta-VAE", 2017, equation 4',
        equation=_ELBO.replace("− KL", "− β KL").replace("ELBO", "−L") + f"\nβ = {BETA:g}",
        summary=(
            "Triangles differ in two things, their size and their place along x. Of six numbers the network uses two; "
            "the others collapse: their KL is zero, and the decoder has learned not to look at them."
        ),
        build=build_sprites,
        input=InputSpec(shape=(1, 29, 29)),
        weights="sprite-vae.safetensors",
        sample="sprite-triangle",
        boundary="zero",
        params=(_SAMPLING,),
        train=partial(train, build_sprites, negative_elbo, SPRITES),
        source=_SOURCE,
        notes=(
            f"{SPRITES.epochs} epochs on 3,000 triangles. On 1,000 others: reconstruction from the mean "
            f"{FIGURES['sprite-vae']['reconstruction']:.1f} nats, divergence {FIGURES['sprite-vae']['divergence']:.2f} "
            f"nats in {FIGURES['sprite-vae']['used']:.0f} of 6 dimensions.",
            "Mutual-information gap, 1 where one number alone tells a factor: size "
            f"{FIGURES['sprite-vae']['gap_size']:.2f}, x {FIGURES['sprite-vae']['gap_x']:.2f}.",
        ),
    ),
)
