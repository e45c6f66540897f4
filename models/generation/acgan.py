"""A generator that is told the class, and a discriminator that also has to name it (row L4).

Odena, Olah, Shlens, "Conditional Image Synthesis with Auxiliary Classifier GANs", 2017, equations (2) and (3).
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.declare.types.fields import INVARIANT
from explorer.spaces.grid.network.form import InputSpec
from explorer.spaces.grid.samples.sets import digits
from models.layers.adversarial.convolutional import FLAT, LATENT, Adversarial, Parts, features, generator
from models.layers.adversarial.losses import discriminator_loss, generator_loss, source_and_class
from models.layers.taps import Tap
from models.training.adversarial.digits import class_figures
from models.training.adversarial.images import Batch, Phase, Recipe, code_phase, train
from models.training.images.digits import DIGITS

CLASSES = len(DIGITS)
AS_READ = "as read"


class ACGAN(Adversarial):
    """D(x) and its class, the code [class, z], and G of that; (N, 1, 29, 29) -> (N, 1, 29, 29).

    Args:
        digit: which class G is told, None for that which D reads.
    """

    def __init__(self, digit: int | None = None, truncation: float = 1.0) -> None:
        super().__init__(digits, CLASSES + LATENT, truncation)
        self.digit = digit
        self.score = nn.Linear(FLAT, 1)
        self.classes = nn.Linear(FLAT, CLASSES)
        self.read = nn.Softmax(1)
        self.told = Tap(INVARIANT)

    def joined(self, h: Tensor) -> Tensor:
        """Return the class and z, (N, 10 + d)."""
        read = self.read(self.classes(h))
        if self.digit is not None:
            read = F.one_hot(torch.full((len(h),), self.digit, device=h.device), CLASSES).to(h)
        return self.told(torch.cat([read, self.code(h)], 1))

    def encode(self, x: Tensor) -> Tensor:
        return self.joined(self.features(x))

    def decode(self, z: Tensor) -> Tensor:
        return self.generator(torch.cat([z[:, :CLASSES], self.truncate(z[:, CLASSES:])], 1))

    def draw_codes(self, count: int, seed: int) -> tuple[Tensor, str]:
        """Draw the same z for every class, one class after the other."""
        each = -(-count // CLASSES)
        z = torch.randn(each, LATENT, generator=torch.Generator().manual_seed(seed)).repeat(CLASSES, 1)
        told = F.one_hot(torch.arange(CLASSES).repeat_interleave(each), CLASSES).to(z)
        return torch.cat([told, z], 1)[:count], f"class after class, {each} each, the same z from N(0, 1) for all"

    def code_names(self, z: Tensor) -> list[str]:
        """Return the classes that are asked for."""
        return [str(k) for k in z[:, :CLASSES].argmax(1).tolist()]

    def given(self, z: Tensor, chance: torch.Generator) -> Tensor:
        return torch.cat([F.one_hot(torch.randint(CLASSES, (len(z),), generator=chance), CLASSES).to(z), z], 1)

    def of_classes(self, labels: Tensor, chance: torch.Generator) -> Tensor:
        """Make an image of each class, of z that is drawn."""
        z = torch.randn(len(labels), LATENT, generator=chance)
        return self.generator(torch.cat([F.one_hot(labels, CLASSES).to(z), z], 1))

    def forward(self, x: Tensor) -> Tensor:
        h = self.features(x)
        self.score(h)
        return self.decode(self.joined(h))


def judged(network: ACGAN, batch: Batch) -> Parts:
    """Return what D pays: -(L_S + L_C)."""
    wanted = torch.randint(CLASSES, (len(batch),), generator=batch.chance)
    with torch.no_grad():
        made = network.of_classes(wanted, batch.chance)
    real, fake = network.features(batch.x), network.features(made)
    return source_and_class(
        network.score(real), network.classes(real), batch.labels,
        network.score(fake), network.classes(fake), wanted,
    )  # fmt: skip


def passed(network: ACGAN, batch: Batch) -> Parts:
    """Return what G pays: L_S in its non-saturating form, and -L_C of what it makes."""
    wanted = torch.randint(CLASSES, (len(batch),), generator=batch.chance)
    h = network.features(network.of_classes(wanted, batch.chance))
    return {"source": generator_loss(network.score(h)), "class": F.cross_entropy(network.classes(h), wanted)}


def build(digit: float = 0, truncation: float = 1.0) -> ACGAN:
    """Build the network; `digit` is 0 for the class that D reads, else one more than the digit."""
    return ACGAN(int(digit) - 1 if digit else None, truncation)


PHASES = (
    Phase(0.85, lambda n: (n.generator,), passed, lambda n: (n.features, n.score, n.classes), judged),
    code_phase(),
)  # fmt: skip
RECIPE = Recipe("digits", epochs=60)

# Of the shipped weights (seed 0); test_adversarial_images.py measures them again.
FIGURES = {"told": 0.989, "error": 0.026, "precision": 0.71, "recall": 0.087, "frechet": 11.27, "frechet_data": 1.27}

CARD = Card(
    name="acgan",
    title="Auxiliary classifier GAN of digits (ACGAN)",
    rows=("L4",),
    reference=(
        'Odena, Olah, Shlens, "Conditional Image Synthesis with Auxiliary Classifier GANs", 2017, eq. (2) and (3)'
    ),
    equation=(
        "L_S = E log P(real | x) + E log P(made | G(c, z))\n"
        "L_C = E log P(c | x) + E log P(c | G(c, z))\n"
        "D: max L_S + L_C,   G: max L_C − L_S"
    ),
    summary=(
        "G is told a digit and draws it; D says whether it is real, and which digit it is. Choose the digit below "
        "Model: the style of the input, written as another figure. Samples is a grid of classes, the same z in each."
    ),
    build=build,
    input=InputSpec(shape=(1, 29, 29)),
    boundary="zero",
    weights="acgan.safetensors",
    params=(
        Param("digit", "Digit", 0, 0, CLASSES, choices=(AS_READ, *DIGITS)),
        Param("truncation", "Truncation ψ", 1.0, 0.0, 1.5, step=0.05),
    ),
    train=partial(train, build, PHASES, RECIPE, class_figures),
    source=(generator, features, ACGAN, source_and_class, discriminator_loss, generator_loss),
    notes=(
        f"{RECIPE.epochs} epochs on 1,297 digits. The shipped plain-cnn reads {FIGURES['told']:.1%} of 1,000 made "
        f"digits as what G was told; D names {1 - FIGURES['error']:.1%} of the 500 test digits. Precision "
        f"{FIGURES['precision']:.2f}, recall {FIGURES['recall']:.2f}.",
        f"Fréchet distance {FIGURES['frechet']:.2f} in features of plain-cnn, {FIGURES['frechet_data']:.2f} between "
        "test and training digits: not comparable to published FID, which has another network.",
    ),
)
