"""Classifiers of bodies of four cubes: a group CNN on O and a plain 3D CNN, both trained on upright bodies alone.

References: M. Bronstein, J. Bruna, T. Cohen, P. Veličković, "Geometric Deep Learning" (2021), section 5.2, eq. 31-32;
D. Worrall, G. Brostow, "CubeNet" (2018); the task of N. Thomas et al., "Tensor Field Networks" (2018).
"""

from __future__ import annotations

from functools import partial

from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.types.fields import INVARIANT
from explorer.spaces.volume.cube import cube_group
from explorer.spaces.volume.network.form import VolumeInput
from explorer.spaces.volume.samples.tetris import NAMES, SIDE
from models.layers.convolution.volumes import GroupConv3d, LiftingConv3d, OrientationPool, TransformConvolve3d
from models.training.volumes import measured, train

FIELDS, LAST, CHANNELS = 2, 10, 20  # about as many parameters in both networks
TURNING, PLAIN = (
    (1.0, 1.0, 0.4),
    (1.0, 0.2583, 0.1625),
)  # shares of the shipped weights; upright, by the cube, by any angle


class VolumeMax(nn.Module):
    """The strongest answer at any voxel: (N, C, Z, Y, X) -> (N, C); a body fills a small part of its volume."""

    out_field = INVARIANT

    def forward(self, x: Tensor) -> Tensor:
        return x.amax((-3, -2, -1))


class TetrisGroupCNN(nn.Module):
    """Lift to O, two convolutions on the group, the maximum over orientations: (N, 1, 13, 13, 13) -> (N, 8)."""

    def __init__(self) -> None:
        super().__init__()
        group = cube_group("O")
        self.lift = LiftingConv3d(group, 1, FIELDS)
        self.relu1 = nn.ReLU()
        self.pool1 = nn.AvgPool3d(3, stride=2, padding=1)
        self.conv2 = GroupConv3d(group, FIELDS, FIELDS)
        self.relu2 = nn.ReLU()
        self.conv3 = GroupConv3d(group, FIELDS, LAST)
        self.relu3 = nn.ReLU()
        self.group_pool = OrientationPool(group)
        self.most = VolumeMax()
        self.head = nn.Linear(LAST, len(NAMES))

    def forward(self, x: Tensor) -> Tensor:
        x = self.pool1(self.relu1(self.lift(x)))
        x = self.relu3(self.conv3(self.relu2(self.conv2(x))))
        return self.head(self.most(self.group_pool(x)))


class TetrisCNN(nn.Module):
    """The same blocks with ordinary filters: (N, 1, 13, 13, 13) -> (N, 8)."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv3d(1, CHANNELS, 3, padding=1)
        self.relu1 = nn.ReLU()
        self.pool1 = nn.AvgPool3d(3, stride=2, padding=1)
        self.conv2 = nn.Conv3d(CHANNELS, CHANNELS, 3, padding=1)
        self.relu2 = nn.ReLU()
        self.conv3 = nn.Conv3d(CHANNELS, CHANNELS, 3, padding=1)
        self.relu3 = nn.ReLU()
        self.most = VolumeMax()
        self.head = nn.Linear(CHANNELS, len(NAMES))

    def forward(self, x: Tensor) -> Tensor:
        x = self.pool1(self.relu1(self.conv1(x)))
        return self.head(self.most(self.relu3(self.conv3(self.relu2(self.conv2(x))))))


def build_turning() -> nn.Module:
    """Build the network on O."""
    return TetrisGroupCNN()


def build_plain() -> nn.Module:
    """Build the plain network."""
    return TetrisCNN()


_card = partial(
    Card, rows=("G8",), sample="tetris-hand", labels=NAMES, boundary="zero",
    reference=(
        'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.2, eq. (31)-(32); the task of '
        'Thomas et al., "Tensor Field Networks", 2018'
    ),
    input=VolumeInput((1, SIDE, SIDE, SIDE)),
)  # fmt: skip

CARD = (
    _card(
        name="tetris-o",
        title="Bodies of four cubes, by a group CNN on O",
        groups=("O",),
        equation="(x ⋆ θ)(kh) = Σ_u x_u (ρ(h)θ)_{u−k},   k ∈ ℤ³,   h ∈ O   (32)\nF(ρ(g)x) = F(x)   for g ∈ O",
        summary=(
            "Trained on upright bodies alone, it names them in all 24 rotations as surely, but not in a mirror: "
            "it tells the two hands apart. Put it beside `tetris-plain` and turn the body."
        ),
        build=build_turning,
        weights="tetris-o.safetensors",
        train=partial(train, build_turning),
        notes=measured(TURNING),
        source=(TransformConvolve3d, TetrisGroupCNN),
    ),
    _card(
        name="tetris-plain",
        title="Bodies of four cubes, by a plain 3D CNN",
        equation="h = σ(F(x))   (29), three times, then the maximum over all voxels",
        summary=(
            "It has seen upright bodies alone, and has no reason to know them once they are turned. Read *Output* as "
            "you change **Element**."
        ),
        build=build_plain,
        weights="tetris-plain.safetensors",
        train=partial(train, build_plain),
        notes=measured(PLAIN),
        source=(TetrisCNN,),
    ),
)
