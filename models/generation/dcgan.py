"""A deep convolutional adversarial network on faces of known factors, and arithmetic with its codes (row L4).

Radford, Metz, Chintala, "Unsupervised Representation Learning with Deep Convolutional Generative Adversarial Networks",
2016, sections 3 and 6.3.2.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.grid.network.form import InputSpec
from explorer.spaces.grid.samples.faces import TRAITS, all_faces
from models.layers.adversarial.convolutional import FLAT, LATENT, Adversarial, Parts, features, generator
from models.layers.adversarial.losses import discriminator_loss, generator_loss
from models.training.adversarial.faces import arithmetic, directions, face_figures
from models.training.adversarial.images import Batch, Phase, Recipe, code_phase, train


class Directions(nn.Module):
    """Go along directions of the code that stand for traits; (N, d) -> (N, d).

    Args:
        amounts: how far along each, 1 from a face without the trait to one with it.
    """

    ways: Tensor

    def __init__(self, amounts: tuple[float, ...]) -> None:
        super().__init__()
        self.amounts = amounts
        self.register_buffer("ways", torch.zeros(len(amounts), LATENT))

    def forward(self, z: Tensor) -> Tensor:
        return z + torch.tensor(self.amounts).to(z) @ self.ways.to(z)


class DCGAN(Adversarial):
    """D(x), a code of D's features, and G(z); (N, 1, 29, 29) -> (N, 1, 29, 29), what D takes the image for."""

    def __init__(self, truncation: float = 1.0, amounts: tuple[float, ...] = (0.0, 0.0, 0.0)) -> None:
        super().__init__(all_faces, truncation=truncation)
        self.score = nn.Linear(FLAT, 1)
        self.add = Directions(amounts)

    def decode(self, z: Tensor) -> Tensor:
        return self.generator(self.truncate(self.add(z)))

    def forward(self, x: Tensor) -> Tensor:
        h = self.features(x)
        self.score(h)  # a layer to look at: log D / (1 - D)
        return self.decode(self.code(h))


def judged(network: DCGAN, batch: Batch) -> Parts:
    """Return what D pays."""
    with torch.no_grad():
        fake = network.made(len(batch), batch.chance)
    scores = (network.score(network.features(x)) for x in (batch.x, fake))
    return {"-V": discriminator_loss(*scores)}


def passed(network: DCGAN, batch: Batch) -> Parts:
    """Return what G pays."""
    fake = network.made(len(batch), batch.chance)
    return {"-log D(G(z))": generator_loss(network.score(network.features(fake)))}


def build(truncation: float = 1.0, glasses: float = 0.0, smile: float = 0.0, square: float = 0.0) -> DCGAN:
    """Build the network; `glasses`, `smile` and `square` say how much of a trait is added to the code."""
    return DCGAN(truncation, (glasses, smile, square))


PHASES = (
    Phase(0.85, lambda n: (n.generator,), passed, lambda n: (n.features, n.score), judged),
    code_phase(),
)  # fmt: skip
RECIPE = Recipe("faces", epochs=30)

# Of the shipped weights (seed 0); test_adversarial_images.py measures them again.
FIGURES = {"arithmetic": 0.433, "precision": 0.009, "recall": 0.701, "frechet": 7.99, "frechet_data": 0.37}


def _trait(name: str, title: str) -> Param:
    return Param(name, title, 0.0, -1.5, 1.5, step=0.1)


CARD = Card(
    name="dcgan",
    title="Deep convolutional GAN of faces (DCGAN)",
    rows=("L4",),
    reference=(
        'Radford, Metz, Chintala, "Unsupervised Representation Learning with Deep Convolutional Generative Adversarial '
        'Networks", 2016, sections 3 and 6.3.2'
    ),
    equation=(
        "V(D, G) = E_data log D(x) + E_z log(1 − D(G(z)))\n"
        "D: max V,   G: min −log D(G(z))\n"
        "z = E(features of D(x)),   x̂ = G(ψ (z + Σ a_k w_k))\n"
        "w_k = mean z with the trait − mean z without"
    ),
    summary=(
        "Faces of a few lines, with glasses or without, smiling or sad, round or square. The output is the face that "
        "D's features take the input for. Add glasses with the control below Model, shorten all codes with the "
        "truncation, and see thousands of faces in Samples. On the Stage, D's maps under any transform."
    ),
    build=build,
    input=InputSpec(shape=(1, 29, 29)),
    sample="face-1",
    boundary="zero",
    weights="dcgan.safetensors",
    params=(
        Param("truncation", "Truncation ψ", 1.0, 0.0, 1.5, step=0.05),
        _trait("glasses", "Glasses"),
        _trait("smile", "Smile"),
        _trait("square", "Square head"),
    ),
    train=partial(train, build, PHASES, RECIPE, face_figures, finish=directions),
    source=(generator, features, DCGAN, Directions, discriminator_loss, generator_loss, arithmetic),
    notes=(
        f"Of 300 sums (mean of three with a trait) − (without) + (another kind without), {FIGURES['arithmetic']:.0%} "
        f"are read as the kind meant; an eighth would be chance. Precision {FIGURES['precision']:.2f}, recall "
        f"{FIGURES['recall']:.2f}, {len(TRAITS)} traits.",
        f"Fréchet distance {FIGURES['frechet']:.2f} in features of plain-cnn, {FIGURES['frechet_data']:.2f} "
        "between two halves of the data: not comparable to published FID, which has another network.",
    ),
)
