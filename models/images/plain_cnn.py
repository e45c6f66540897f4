"""The same convolutional network twice: trained on upright digits, and on turned and mirrored ones (row G6).

Reference: M. Bronstein, J. Bruna, T. Cohen, P. Veličković, "Geometric Deep Learning" (2021), section 5.1,
equations 27-29 and "Data augmentation". The network is that of models/images/group_cnn.py with ordinary convolutions
and about the same number of parameters: what augmentation has to teach to one, the other has by construction.
"""

from __future__ import annotations

from functools import partial

from torch import nn

from explorer.declare.card import Card
from explorer.spaces.grid.network.form import InputSpec
from models.layers.convolution.plain_cnn import PlainCNN
from models.training.images.digits import DIGITS, SIZE, Recipe, augmented, measured, train, turned


def build() -> nn.Module:
    """Build the network."""
    return PlainCNN()


REFERENCE = 'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.1, eq. (28)-(29)'
BLOCK = "F(x)_uvj = Σ_abc α_jabc x_{u+a, v+b, c}   (28)\nh = P(σ(F(x)))   (29), three times"

# Recipes, and the test errors of the shipped weights (seed 0); test_digits.py measures them again.
RECIPES = {
    "plain-cnn": Recipe(epochs=20),
    "augmented-cnn": Recipe(epochs=60, augment=True),
}
ERRORS = {
    "plain-cnn": {
        "upright_error": 0.006,
        "rotated_error": 0.6575,
        "quarter_turn_error": 0.782,
        "mirrored_error": 0.694,
    },
    "augmented-cnn": {
        "upright_error": 0.032,
        "rotated_error": 0.031,
        "quarter_turn_error": 0.034,
        "mirrored_error": 0.026,
    },
}

CARD = (
    Card(
        name="plain-cnn",
        title="CNN, trained on upright digits",
        rows=("G6",),
        reference=REFERENCE,
        equation=BLOCK,
        summary=(
            "An ordinary convolutional network that has only seen upright digits. Turn the digit: from conv1 "
            "on no map is the turned map any more, and the scores soon name another digit. Compare its error "
            "along the orbit with augmented-cnn and d4-cnn."
        ),
        build=build,
        input=InputSpec(shape=(1, SIZE, SIZE)),
        weights="plain-cnn.safetensors",
        labels=DIGITS,
        boundary="zero",
        train=partial(train, build, RECIPES["plain-cnn"]),
        source=(PlainCNN,),
        notes=measured(31362, RECIPES["plain-cnn"], ERRORS["plain-cnn"]),
    ),
    Card(
        name="augmented-cnn",
        title="CNN, trained on turned and mirrored digits",
        rows=("G6",),
        reference=REFERENCE + "; Data augmentation",
        equation=BLOCK + "\ntrained on ρ(g)x for g drawn from O(2) instead of x",
        summary=(
            "The very network of plain-cnn, but every image was turned by a random angle, and half of them "
            "mirrored, before it was learned from. Its answer holds at all angles, but only nearly: no layer "
            "inside is equivariant, the scores move with every degree, and upright digits pay for it."
        ),
        build=build,
        input=InputSpec(shape=(1, SIZE, SIZE)),
        weights="augmented-cnn.safetensors",
        labels=DIGITS,
        boundary="zero",
        train=partial(train, build, RECIPES["augmented-cnn"]),
        source=(PlainCNN, augmented, turned),
        notes=measured(31362, RECIPES["augmented-cnn"], ERRORS["augmented-cnn"]),
    ),
)
