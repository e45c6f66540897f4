"""A generative adversarial network on densities of one and two dimensions, where everything can be drawn (row L3).

Goodfellow et al., "Generative Adversarial Nets", 2014, sections 3 and 4. The network that is looked at takes latent
values z as a set, maps each to x = G(z) and asks D(x) of it: points are mapped one by one, so every order is as good.
"""

from __future__ import annotations

from functools import partial

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.graph.network.form import GraphInput
from models.layers.adversarial.densities import Densities, matrix
from models.layers.adversarial.losses import LOSSES, discriminator_loss, generator_loss
from models.layers.adversarial.quadrature import RING, TWO, best, jsd, pushed
from models.layers.seeded import seeded
from models.training.adversarial.densities import Recipe, by_turns, played, train
from models.training.learning import learning

WIDE = 64  # of the networks on the plane


def build_line() -> Densities:
    """Build the pair on the line."""
    return Densities(TWO)


def build_plane() -> Densities:
    """Build the pair on the plane."""
    return Densities(RING, WIDE)


def by_hand(
    loss: float = 0, together: float = 0, d_alone: float = 0, g_alone: float = 0, rate: float = 2, seed: float = 0
) -> Densities:
    """Build a pair on the line and let it learn: both together, then D alone, then G alone, so many rounds each."""
    network = seeded(build_line, int(seed))
    recipe = Recipe(LOSSES[int(loss)], rate=rate / 1000, g_rate=rate / 1000)
    with learning():
        done, total = 0, max(1, int(together) + int(d_alone) + int(g_alone))
        for rounds, turns in ((int(together), "DG"), (int(d_alone), "D"), (int(g_alone), "G")):
            by_turns(network, recipe, rounds, turns, int(seed), (done / total, (done + rounds) / total))
            done += rounds
    return network.eval()


LINE = Recipe(d_steps=2, rate=8e-3, g_rate=2e-3, batch=256, epochs=30, settle=0.3)
PLANE = Recipe(d_steps=2, rate=5e-3, g_rate=1e-3, batch=256, epochs=60, settle=0.4)
COLLAPSE = Recipe(g_steps=5, rate=1e-2, g_rate=2e-3, epochs=5)

# Of the shipped weights (seed 0); test_gan_densities.py measures them again.
FIGURES: dict[str, dict[str, float]] = {
    "gan-line": {"JSD": 0.0309, "JSD from D": 0.0296, "|D − D*|": 0.0147},
    "gan-plane": {"JSD": 0.0798, "JSD from D": 0.0443, "|D − D*|": 0.0944, "modes": 8},
    "gan-collapse": {"JSD": 0.6663, "JSD from D": 0.0043, "|D − D*|": 0.4919, "modes": 1},
}

REFERENCE = 'Goodfellow et al., "Generative Adversarial Nets", 2014, eq. (1), (2) and (6), section 3'
EQUATION = (
    "V(D, G) = E_data log D(x) + E_z log(1 − D(G(z)))   (1)\n"
    "D*(x) = p_data(x) / (p_data(x) + p_g(x))   (2)\n"
    "V(D*, G) = 2 JSD(p_data ‖ p_g) − log 4   (6)\n"
    "G: min log(1 − D(G(z)))   minimax;   min −log D(G(z))   non-saturating"
)
_SOURCE = (Densities, discriminator_loss, generator_loss, played, best, jsd, pushed)
_ONE, _TWO = GraphInput(channels=1, signals=("x",)), GraphInput(channels=2, signals=("x",))


def _stated(name: str) -> tuple[str, ...]:
    f = FIGURES[name]
    modes = f"; {f['modes']:.0f} of 8 modes are made" if "modes" in f else ""
    return (
        f"By quadrature: JSD {f['JSD']:.3f} nats, and {f['JSD from D']:.3f} from V(D, G); the mean of |D − D*| is "
        f"{f['|D − D*|']:.3f}{modes}.",
    )


CARD = (
    Card(
        name="gan-by-hand",
        title="GAN on the line, trained by hand",
        rows=("L3",),
        groups=("permutation",),
        reference=REFERENCE,
        equation=EQUATION,
        summary=(
            "Untrained until you move the controls below Model: rounds of both together, then of D alone with G "
            "fixed, then of G alone with D fixed. With G fixed D comes to D*. Early on, D is sure of itself: choose "
            "minimax and see how little gradient G gets, beside that of the non-saturating loss."
        ),
        build=by_hand,
        input=_ONE,
        domain="set",
        sample="latents-1",
        params=(
            Param("loss", "Loss of G", 0, 0, 1, choices=LOSSES),
            Param("together", "Rounds together", 0, 0, 1000, step=20, whole=True),
            Param("d_alone", "Then D alone", 0, 0, 500, step=20, whole=True),
            Param("g_alone", "Then G alone", 0, 0, 500, step=20, whole=True),
            Param("rate", "Learning rate, thousandths", 2, 0.1, 20, step=0.1),
            Param("seed", "Seed", 0, 0, 99, whole=True),
        ),
        train=partial(train, build_line, LINE),
        source=_SOURCE,
        matrix=matrix,
        notes=("2,306 parameters; no weights are shipped, it learns as its controls say.",),
    ),
    Card(
        name="gan-line",
        title="GAN on the line, trained",
        rows=("L3",),
        groups=("permutation",),
        reference=REFERENCE,
        equation=EQUATION,
        summary=(
            "Two Gaussians, and what G makes of even values of z. Open Density: p_g lies on p_data, D is near a half, "
            "and the lines from z to x crowd where the density is high. Train it in the window, and switch the loss to "
            "D alone or G alone to hold one of them still."
        ),
        build=build_line,
        input=_ONE,
        domain="set",
        sample="latents-1",
        weights="gan-line.safetensors",
        train=partial(train, build_line, LINE),
        source=_SOURCE,
        matrix=matrix,
        notes=_stated("gan-line"),
    ),
    Card(
        name="gan-plane",
        title="GAN on the plane: eight modes on a ring",
        rows=("L3",),
        groups=("permutation",),
        reference=REFERENCE,
        equation=EQUATION,
        summary=(
            "A square of latent values is bent into eight Gaussians. Open Density: the two densities, D beside its "
            "optimum, the net of z as G lays it over the plane, and where G would be pulled from any place."
        ),
        build=build_plane,
        input=_TWO,
        domain="set",
        sample="latents-2",
        weights="gan-plane.safetensors",
        train=partial(train, build_plane, PLANE),
        source=_SOURCE,
        matrix=matrix,
        notes=_stated("gan-plane"),
    ),
    Card(
        name="gan-collapse",
        title="Mode collapse, provoked",
        rows=("L3",),
        groups=("permutation",),
        reference=REFERENCE + '; Metz et al., "Unrolled Generative Adversarial Networks", 2017, section 3.3',
        equation=EQUATION,
        summary=(
            "The same ring, but G makes five steps for each one of D: it runs to where D believes most, D follows, and "
            "G runs on. All z end in few modes, while the others are never made. Open Density and see the net of z."
        ),
        build=build_plane,
        input=_TWO,
        domain="set",
        sample="latents-2",
        weights="gan-collapse.safetensors",
        train=partial(train, build_plane, COLLAPSE),
        source=_SOURCE,
        matrix=matrix,
        notes=_stated("gan-collapse"),
    ),
)
