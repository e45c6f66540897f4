"""Least squares in place of the cross-entropy: what is on the right side of D, but far from the data, is pulled back.

Mao, Li, Xie, Lau, Wang, Smolley, "Least Squares Generative Adversarial Networks", 2017, equations (2), (8) and (9).
"""

from __future__ import annotations

from functools import partial

from explorer.declare.card import Card
from explorer.spaces.graph.network.form import GraphInput
from models.layers.adversarial.densities import Densities, matrix
from models.layers.adversarial.losses import SQUARES, discriminator_loss, generator_loss
from models.layers.adversarial.quadrature import RING, pearson
from models.training.adversarial.densities import Recipe, played, train

WIDE = 64


def build() -> Densities:
    """Build the pair on the plane; D has no sigmoid."""
    return Densities(RING, WIDE, SQUARES)


RECIPE = Recipe(SQUARES, d_steps=2, rate=5e-3, g_rate=1e-3, batch=256, epochs=60, settle=0.4)

# Of the shipped weights (seed 0); test_gan_densities.py measures them again.
FIGURES = {"Pearson": 0.6667, "Pearson from D": 0.6478, "|D − D*|": 0.0379, "modes": 6}

CARD = Card(
    name="lsgan",
    title="Least-squares GAN on the plane (LSGAN)",
    rows=("L4",),
    groups=("permutation",),
    reference='Mao et al., "Least Squares Generative Adversarial Networks", 2017, eq. (2), (8) and (9)',
    equation=(
        "D: min ½ E_data (D(x) − b)² + ½ E_z (D(G(z)) − a)²\n"
        "G: min ½ E_z (D(G(z)) − c)²,   a = −1, b = 1, c = 0\n"
        "D*(x) = (p_data(x) − p_g(x)) / (p_data(x) + p_g(x))\n"
        "2 C(G) = χ²(p_data + p_g ‖ 2 p_g)   (8)"
    ),
    summary=(
        "D says how true a point is with a number and no sigmoid. Open Density: the arrows say where G would be pulled "
        "from any place, by least squares and, from the same D, by the non-saturating loss. Far on the right side the "
        "one pulls back to where D is c, the other pushes on, or lets go."
    ),
    build=build,
    input=GraphInput(channels=2, signals=("x",)),
    domain="set",
    sample="latents-2",
    weights="lsgan.safetensors",
    train=partial(train, build, RECIPE),
    source=(Densities, discriminator_loss, generator_loss, played, pearson),
    matrix=matrix,
    notes=(
        f"By quadrature: χ² {FIGURES['Pearson']:.3f}, and {FIGURES['Pearson from D']:.3f} from D; the mean of "
        f"|D − D*|, on a scale from 0 to 1, is {FIGURES['|D − D*|']:.3f}; {FIGURES['modes']:.0f} of 8 modes are made.",
    ),
)
