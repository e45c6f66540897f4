"""Autoencoders with a code of two numbers: plain, denoising and contractive.

References: G. Hinton, R. Salakhutdinov, "Reducing the Dimensionality of Data with Neural Networks" (2006); P. Vincent,
H. Larochelle, Y. Bengio, P.-A. Manzagol, "Extracting and Composing Robust Features with Denoising Autoencoders"
(2008); S. Rifai, P. Vincent, X. Muller, X. Glorot, Y. Bengio, "Contractive Auto-Encoders" (2011), equation 2.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.examples import Examples
from explorer.declare.params import Param
from explorer.spaces.grid.network.form import InputSpec
from explorer.spaces.grid.samples.sets import digits
from models.layers.autoencoding import SIDES, Decoder, encoder
from models.training.images.autoencoders import Parts, Recipe, cross_entropy, train

DIMS, HIDDEN = 2, 64
NOISE = 0.4  # that a denoising autoencoder learns to take away
WEIGHT = 2.0  # of the contraction, beside the nats of the reconstruction


class Corrupt(nn.Module):
    """Add noise of a fixed pattern, the same to every image; black and white stay the limits."""

    pattern: Tensor

    def __init__(self, noise: float) -> None:
        super().__init__()
        self.noise = noise
        pattern = torch.randn(1, SIDES[0], SIDES[0], generator=torch.Generator().manual_seed(29))
        self.register_buffer("pattern", pattern, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return (x + self.noise * self.pattern.to(x)).clamp(0.0, 1.0)


class Autoencoder(nn.Module):
    """x̂ = g(f(x)) with a code z = f(x) of two numbers; (N, 1, 29, 29) -> (N, 1, 29, 29)."""

    def __init__(self, noise: float | None = None) -> None:
        super().__init__()
        self.corrupt = None if noise is None else Corrupt(noise)
        self.encoder = encoder(HIDDEN)
        self.fold = nn.Sequential(nn.Linear(HIDDEN, HIDDEN), nn.ReLU())  # without it 4 and 5 came back as 9 and 0
        self.code = nn.Linear(HIDDEN, DIMS)
        self.decoder = Decoder(DIMS, HIDDEN, deep=True)

    def encode(self, x: Tensor) -> Tensor:
        """Return the codes of images, without any noise, (N, 2)."""
        return self.code(self.fold(self.encoder(x)))

    def logits(self, z: Tensor) -> Tensor:
        """Return the decoded images before the logistic function."""
        return self.decoder.logits(z)

    def decode(self, z: Tensor) -> Tensor:
        """Return the images that codes stand for."""
        return self.decoder(z)

    def examples(self) -> Examples:
        """Return the images whose codes are shown."""
        return digits()

    def forward(self, x: Tensor) -> Tensor:
        if self.corrupt is not None:
            x = self.corrupt(x)
        return self.decode(self.encode(x))


def reconstruction(network: Autoencoder, x: Tensor, labels: Tensor) -> Parts:
    """Return −log p(x|f(x))."""
    return {"reconstruction": cross_entropy(network.logits(network.encode(x)), x)}


def denoising(network: Autoencoder, x: Tensor, labels: Tensor) -> Parts:
    """Return −log p(x|f(x̃)), with noise of its own for each image: x̃ = x + 0.4 ε, cut at black and white."""
    noisy = (x + NOISE * torch.randn_like(x)).clamp(0.0, 1.0)
    return {"reconstruction": cross_entropy(network.logits(network.encode(noisy)), x)}


def contraction(network: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the codes and ‖∂f/∂x‖², the squared entries of the Jacobian summed, the mean over images."""
    x = x.detach().requires_grad_()
    z = network.encode(x)
    rows = [torch.autograd.grad(z[:, k].sum(), x, create_graph=True)[0] for k in range(z.shape[1])]
    return z, sum((row.square().sum() for row in rows), z.new_zeros(())) / len(x)


def contractive(network: Autoencoder, x: Tensor, labels: Tensor) -> Parts:
    """Return −log p(x|f(x)) + λ ‖∂f/∂x‖²."""
    z, norm = contraction(network, x)
    return {"reconstruction": cross_entropy(network.logits(z), x), "contraction": WEIGHT * norm}


def build() -> nn.Module:
    """Build the network without noise."""
    return Autoencoder()


def build_denoising(noise: float = NOISE) -> nn.Module:
    """Build the network behind noise of a fixed pattern."""
    return Autoencoder(noise)


RECIPE = Recipe("digits", epochs=200)
_SOURCE = (encoder, Decoder, Autoencoder)


def _figures(name: str) -> tuple[str, ...]:
    figures = FIGURES[name]
    return (
        f"143,283 parameters, {RECIPE.epochs} epochs on 1,297 digits. On 500 others: reconstruction "
        f"{figures['reconstruction']:.1f} nats an image, mean square error {figures['pixel_error']:.4f} a pixel; the "
        f"nearest learned code is of the same digit for {100 * figures['neighbours']:.1f} %, and plain-cnn reads "
        f"{100 * figures['read']:.1f} % of what is decoded as the digit that it was, of the digits themselves 99.4 %.",
    )


# Of the shipped weights (seed 0); test_autoencoders.py measures them again.
FIGURES = {
    "autoencoder": {
        "reconstruction": 120.32,
        "pixel_error": 0.00881,
        "neighbours": 0.838,
        "read": 0.884,
        "contraction": 34.15,
    },
    "denoising-autoencoder": {
        "reconstruction": 119.15,
        "pixel_error": 0.00836,
        "neighbours": 0.908,
        "read": 0.900,
        "contraction": 20.19,
    },
    "contractive-autoencoder": {
        "reconstruction": 120.36,
        "pixel_error": 0.00885,
        "neighbours": 0.866,
        "read": 0.872,
        "contraction": 0.117,
    },
}

CARD = (
    Card(
        name="autoencoder",
        title="Autoencoder, a code of two numbers",
        rows=("L2",),
        reference='Hinton, Salakhutdinov, "Reducing the Dimensionality of Data with Neural Networks", 2006',
        equation="z = f(x),   z ∈ ℝ²\nx̂ = g(z)\nL = −log p(x|z) = −Σ x log x̂ + (1 − x) log(1 − x̂)",
        summary=(
            "An image becomes two numbers and an image again. Open Latent plane: every dot is the code of a digit, and "
            "a click anywhere shows what the decoder makes of it. Turn the digit: its code wanders and obeys no law."
        ),
        build=build,
        input=InputSpec(shape=(1, 29, 29)),
        weights="autoencoder.safetensors",
        boundary="zero",
        train=partial(train, build, reconstruction, RECIPE),
        source=_SOURCE,
        notes=_figures("autoencoder"),
    ),
    Card(
        name="denoising-autoencoder",
        title="Denoising autoencoder",
        rows=("L2",),
        reference=(
            'Vincent, Larochelle, Bengio, Manzagol, "Extracting and Composing Robust Features with Denoising '
            'Autoencoders", 2008'
        ),
        equation="x̃ = x + s ε,   ε ~ N(0, 1)\nz = f(x̃)\nx̂ = g(z)\nL = −log p(x|z): what is decoded is compared with x",
        summary=(
            "Noise is added before the encoder, and the decoder is asked for the image without it. Raise the noise: "
            "`corrupt` shows what comes in, the output what the network takes it for."
        ),
        build=build_denoising,
        input=InputSpec(shape=(1, 29, 29)),
        weights="denoising-autoencoder.safetensors",
        boundary="zero",
        params=(Param("noise", "Noise s", NOISE, 0.0, 1.0, 0.1),),
        train=partial(train, build_denoising, denoising, RECIPE),
        source=(*_SOURCE, Corrupt, denoising),
        notes=_figures("denoising-autoencoder"),
    ),
    Card(
        name="contractive-autoencoder",
        title="Contractive autoencoder",
        rows=("L2",),
        reference='Rifai, Vincent, Muller, Glorot, Bengio, "Contractive Auto-Encoders", 2011, equation 2',
        equation="z = f(x)\nx̂ = g(z)\nL = −log p(x|z) + λ ‖∂f(x)/∂x‖²",
        summary=(
            "The encoder pays for each direction of the image in which its code moves. What is left are the directions "
            "in which digits differ: small changes of an image hardly move its code."
        ),
        build=build,
        input=InputSpec(shape=(1, 29, 29)),
        weights="contractive-autoencoder.safetensors",
        boundary="zero",
        train=partial(train, build, contractive, RECIPE),
        source=(*_SOURCE, contraction, contractive),
        notes=(
            *_figures("contractive-autoencoder"),
            f"The mean of ‖∂f/∂x‖² over test digits is {FIGURES['contractive-autoencoder']['contraction']:.3f}, and "
            f"{FIGURES['autoencoder']['contraction']:.2f} in `autoencoder`.",
        ),
    ),
)
