"""A discriminator that names the class, with one more class for what is made: it learns from few labels (row L4).

Odena, "Semi-Supervised Learning with Generative Adversarial Networks", 2016; Salimans, Goodfellow, Zaremba, Cheung,
Radford, Chen, "Improved Techniques for Training GANs", 2016, section 5.
"""

from __future__ import annotations

from functools import cache, partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.grid.network.form import InputSpec
from explorer.spaces.grid.samples import digit_images
from explorer.spaces.grid.samples.sets import digits
from models.layers.adversarial.convolutional import FLAT, Adversarial, Parts, features, generator
from models.layers.adversarial.losses import one_more_class, passed_off, true_of
from models.training.adversarial.digits import plain_figures
from models.training.adversarial.images import Batch, Phase, Recipe, code_phase, train
from models.training.images.digits import DIGITS

EACH = 10  # digits of every class that have a label
MADE = "made"


class SGAN(Adversarial):
    """Scores of ten digits and of "made"; (N, 1, 29, 29) -> (N, 11). G makes digits of no class."""

    def __init__(self, truncation: float = 1.0) -> None:
        super().__init__(digits, truncation=truncation)
        self.classes = nn.Linear(FLAT, len(DIGITS) + 1)

    def scores(self, x: Tensor) -> Tensor:
        """Return what D says of images."""
        return self.classes(self.features(x))

    def forward(self, x: Tensor) -> Tensor:
        h = self.features(x)
        self.decode(self.code(h))  # layers to look at: what D takes the image for
        return self.classes(h)


@cache
def labelled() -> tuple[Tensor, Tensor]:
    """Return the digits that have a label, the first ones of every class."""
    images, labels = digit_images.load("train")
    classes = torch.tensor(labels)
    rows = torch.cat([torch.nonzero(classes == k)[:EACH, 0] for k in range(len(DIGITS))])
    return torch.tensor(images)[rows], classes[rows]


def judged(network: SGAN, batch: Batch) -> Parts:
    """Return what D pays: for digits with a label, for all others, and for what is made."""
    with torch.no_grad():
        fake = network.made(len(batch), batch.chance)
    images, labels = labelled()
    rows = torch.randint(len(images), (len(batch),), generator=batch.chance)
    scores = network.scores(images[rows]), network.scores(batch.x), network.scores(fake)
    return one_more_class(scores[0], labels[rows], scores[1], scores[2])


def passed(network: SGAN, batch: Batch) -> Parts:
    """Return what G pays: -log(1 - p(made))."""
    return {"-log(1 - p(made))": passed_off(network.scores(network.made(len(batch), batch.chance)))}


def by_labels_alone(network: SGAN, batch: Batch) -> Parts:
    """Return what the same network pays that learns from the labelled digits only, to compare with."""
    images, labels = labelled()
    rows = torch.randint(len(images), (len(batch),), generator=batch.chance)
    return {"labelled": F.cross_entropy(network.scores(images[rows])[:, :-1], labels[rows])}


def build(truncation: float = 1.0) -> SGAN:
    """Build the network."""
    return SGAN(truncation)


PHASES = (
    Phase(0.85, lambda n: (n.generator,), passed, lambda n: (n.features, n.classes), judged),
    code_phase(),
)  # fmt: skip
ALONE = (Phase(1.0, lambda n: (n.features, n.classes), by_labels_alone),)
RECIPE = Recipe("digits", epochs=60)

# Of the shipped weights (seed 0); test_adversarial_images.py measures them again. "alone": without the other digits,
# after as many epochs.
FIGURES = {"alone": 0.22, "error": 0.138, "precision": 0.411, "recall": 0.643, "frechet": 22.52, "frechet_data": 1.27}

CARD = Card(
    name="sgan",
    title="Semi-supervised GAN of digits (SGAN)",
    rows=("L4",),
    reference=(
        'Odena, "Semi-Supervised Learning with Generative Adversarial Networks", 2016; Salimans et al., "Improved '
        'Techniques for Training GANs", 2016, section 5'
    ),
    equation=(
        "D(x) = softmax over K digits and “made”\n"
        "D: min −log p(y | x) of 100 labelled − log(1 − p(made | x)) of all − log p(made | G(z))\n"
        "G: min −log(1 − p(made | G(z)))"
    ),
    summary=(
        "Only ten digits of each class have a label. All others teach D what a digit looks like: it has to tell "
        "them from what G makes. Output has eleven bars, ten digits and “made”: turn the digit and see where it goes."
    ),
    build=build,
    input=InputSpec(shape=(1, 29, 29)),
    boundary="zero",
    weights="sgan.safetensors",
    labels=(*DIGITS, MADE),
    params=(Param("truncation", "Truncation ψ", 1.0, 0.0, 1.5, step=0.05),),
    train=partial(train, build, PHASES, RECIPE, plain_figures),
    source=(generator, features, SGAN, one_more_class, true_of, passed_off),
    notes=(
        f"{RECIPE.epochs} epochs, 1,297 digits, 100 with a label: {FIGURES['error']:.1%} of 500 others misread, "
        f"by the same network from the 100 alone, {FIGURES['alone']:.1%}. Precision {FIGURES['precision']:.2f}, recall "
        f"{FIGURES['recall']:.2f}.",
        f"Fréchet distance {FIGURES['frechet']:.2f} in features of plain-cnn, {FIGURES['frechet_data']:.2f} between "
        "test and training digits: not comparable to published FID, which has another network.",
    ),
)
