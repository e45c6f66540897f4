"""LieConv: points lifted to a Lie group, and convolution there by functions of a logarithm.

Finzi, Stanton, Izmailov, Wilson, "Generalizing Convolutional Neural Networks for Equivariance to Lie Groups on
Arbitrary Continuous Data", 2020, sections 3 and 4:

    u = (R, x),   a_uv = log(v⁻¹u),   d(u, v) = α |turn| + (1 - α) |shift|
    h_u <- mean over the v with d(u, v) <= r of k(a_uv) h_v

v⁻¹u = (gv)⁻¹(gu), so the law is exact where g moves the frames R along, or there are none. Frames that a network draws
itself do not move: then F(gx) and F(x) are alike in distribution, and one draw misses the law by as much as few
frames stand badly for all.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.points.fields import PARTICLE
from explorer.spaces.points.network.form import PointsInput
from models.layers.points.lie import (
    Distance,
    Drawn,
    LieConvolution,
    Lift,
    LiftedMean,
    Logs,
    Near,
    PairPerceptron,
    Spread,
    Upright,
    exp_motion,
    log_motion,
)

CHANNELS, HIDDEN, MIDDLE, INPUTS = 32, 16, 8, 8
ALPHA, REACH = 0.2, 2.5  # weight of the turn; radius of the ball in ångström, where π of turn count as .63
MOST = 120  # points: all pairs of lifted points are kept


class Block(nn.Module):
    """h + W' σ(conv(σ(W σ(h)))), the convolution between a quarter of the channels: (N, K, C) -> (N, K, C)."""

    out_field = PARTICLE

    def __init__(self, channels: int) -> None:
        super().__init__()
        narrow = channels // 4
        self.act1, self.act2, self.act3 = nn.SiLU(), nn.SiLU(), nn.SiLU()
        self.inward = nn.Linear(channels, narrow)
        self.kernel = PairPerceptron((6, HIDDEN, HIDDEN, MIDDLE))
        self.conv = LieConvolution(narrow, narrow, MIDDLE)
        self.outward = nn.Linear(narrow, channels)

    def forward(self, h: Tensor, logs: Tensor, near: Tensor) -> Tensor:
        narrow = self.act2(self.inward(self.act1(h)))
        return h + self.outward(self.act3(self.conv(narrow, self.kernel(logs), near)))


class LieNetwork(nn.Module):
    """Points lifted, blocks on the group, one number of the whole: x (N, 8), position, frames -> (1, 1).

    `frames` may be left out where the network makes them.
    """

    def __init__(
        self, lift: nn.Module, lifts: int, layers: int, logs: Logs | None = None, reach: float = REACH
    ) -> None:
        super().__init__()
        self.lift, self.logs = lift, logs or Logs()
        self.distance, self.near = Distance(ALPHA), Near(reach)
        self.embedding, self.spread = nn.Linear(INPUTS, CHANNELS), Spread(lifts)
        self.blocks = nn.ModuleList(Block(CHANNELS) for _ in range(layers))
        self.act, self.head, self.total = nn.SiLU(), nn.Linear(CHANNELS, 1), LiftedMean()

    def lifted(self, position: Tensor, frames: Tensor | None = None) -> tuple[Tensor, Tensor, float, float]:
        """Return logarithms of all pairs, their distances, α and the reach: a view shows who sees whom."""
        logs = self.logs(position, self.lift(position if frames is None else frames))
        return logs, self.distance(logs), self.distance.alpha, self.near.reach

    def forward(self, x: Tensor, position: Tensor, frames: Tensor | None = None) -> Tensor:
        logs = self.logs(position, self.lift(position if frames is None else frames))
        near = self.near(self.distance(logs))
        h = self.spread(self.embedding(x))
        for block in self.blocks:
            h = block(h, logs, near)
        return self.total(self.head(self.act(h)))


class OtherSide(Logs):
    """log(u v⁻¹): the same numbers on the wrong side, which a rotation from the left changes."""

    def pairs(self, position: Tensor, frames: Tensor) -> tuple[Tensor, Tensor]:
        columns = frames.unflatten(1, (-1, 3, 3))
        turned = torch.einsum("iakp,jbkq->abijpq", columns, columns)
        shift = position[:, None] - torch.einsum("abijpq,jq->abijp", turned, position)
        return turned, shift


def build(lifts: float = 2, layers: float = 2) -> LieNetwork:
    """Build the network with frames as arguments."""
    return LieNetwork(Lift(int(lifts)), int(lifts), int(layers))


def build_drawn(lifts: float = 4, layers: float = 2, seed: float = 0) -> LieNetwork:
    """Build the network that draws its frames."""
    return LieNetwork(Drawn(int(lifts), int(seed)), int(lifts), int(layers))


def build_translations(layers: float = 2) -> LieNetwork:
    """Build the network on the group of translations, with one frame that never turns."""
    return LieNetwork(Upright(), 1, int(layers))


def build_broken(lifts: float = 2, layers: float = 2) -> LieNetwork:
    """Build the network with its logarithm on the wrong side."""
    return LieNetwork(Lift(int(lifts)), int(lifts), int(layers), OtherSide())


EQUATION = (
    "u = (R, x),   aᵤᵥ = log(v⁻¹u) ∈ 𝔰𝔢(3),   d(u, v) = α |turn| + (1 − α) |shift|\n"
    "hᵤ ← mean_{v : d(u,v) ≤ r} k(aᵤᵥ) hᵥ\n"
    "(gv)⁻¹(gu) = v⁻¹u"
)
REFERENCE = (
    'Finzi, Stanton, Izmailov, Wilson, "Generalizing Convolutional Neural Networks for Equivariance to Lie Groups", '
    "2020, sections 3 and 4"
)
INPUT = PointsInput(channels=INPUTS, signals=("x", "position", "frames"), most=MOST)
NO_FRAMES = PointsInput(channels=INPUTS, signals=("x", "position"), most=MOST)
LIFTS = Param("lifts", "Frames at each point", 2, 1, 8, whole=True)
LAYERS = Param("layers", "Blocks", 2, 1, 4, whole=True)
SOURCE = (log_motion, exp_motion, Logs, Distance, Near, LieConvolution, Block, LieNetwork)
_card = partial(Card, rows=("E4",), reference=REFERENCE, equation=EQUATION, domain="points", sample="ethanol-3d")

CARD = (
    _card(
        name="lieconv",
        title="LieConv on SE(3): points with frames",
        groups=("SE3", "permutation"),
        summary=(
            "Each atom is lifted to motions that carry the origin to it: `lift` shows their frames as arrows. What one "
            "lifted atom is to another is a logarithm, and *Lifted* draws whom it sees. The frames are arguments and "
            "turn along, so the law is exact for this sample of them. The parameters are not trained."
        ),
        build=build,
        input=INPUT,
        params=(LIFTS, LAYERS),
        source=(Lift, *SOURCE),
    ),
    _card(
        name="lieconv-drawn",
        title="LieConv that draws its frames: a law in distribution",
        groups=("R3", "permutation"),
        summary=(
            "The same network draws its frames itself, so they do not turn along. Shifts are exact; of rotations the "
            "law holds for the mean over all draws alone. Turn the molecule, then raise **Frames at each point**, or "
            "draw others by **Draw**: the error is that of a sample. The parameters are not trained."
        ),
        build=build_drawn,
        input=NO_FRAMES,
        params=(
            Param("lifts", "Frames at each point", 4, 1, 16, whole=True), LAYERS,
            Param("seed", "Draw", 0, 0, 99, whole=True),
        ),
        source=(Drawn, *SOURCE),
    ),
    _card(
        name="lieconv-translations",
        title="LieConv on translations",
        groups=("R3", "permutation"),
        equation="u = x,   aᵤᵥ = xᵤ − xᵥ\nhᵤ ← mean_{v : |xᵤ − xᵥ| ≤ r} k(xᵤ − xᵥ) hᵥ",
        summary=(
            "The group of translations lifts a point to itself, and its logarithm is the way between two points: a "
            "convolution on a cloud, exact for shifts and for nothing else. Turn the molecule beside `lieconv`. The "
            "parameters are not trained."
        ),
        build=build_translations,
        input=NO_FRAMES,
        params=(LAYERS,),
        source=(Upright, *SOURCE),
    ),
    _card(
        name="fault-lie-side",
        title="LieConv, with a planted fault",
        summary=(
            "It looks like LieConv on SE(3) and is none: one quotient of the group is taken on the wrong side. "
            "Renumber the atoms and all is well; shift or turn them and it is not. Which layer?"
        ),
        build=build_broken,
        input=INPUT,
        params=(LIFTS, LAYERS),
        notes=("planted fault: layer logs",),
        source=(OtherSide, Logs, LieConvolution),
    ),
)  # fmt: skip
