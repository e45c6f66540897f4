"""Group convolution on volumes, Z³ ⋊ O and Z³ ⋊ O_h: transform the filter, then convolve; and a plain 3D CNN beside.

References: M. Bronstein, J. Bruna, T. Cohen, P. Veličković, "Geometric Deep Learning" (2021), section 5.2, eq. 31-32;
D. Worrall, G. Brostow, "CubeNet: Equivariance to 3D Rotation and Translation" (2018); M. Winkels, T. Cohen, "3D
G-CNNs for Pulmonary Nodule Detection" (2018).
"""

from __future__ import annotations

from functools import partial

from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.groups import FiniteGroup
from explorer.spaces.volume.cube import cube_group
from explorer.spaces.volume.network.form import VolumeInput
from models.layers.convolution.volumes import (
    GroupConv3d,
    LiftingConv3d,
    OrientationPool,
    OrientationVectors,
    TransformConvolve3d,
    VolumeMean,
    transformed_indices,
)
from models.layers.seeded import seeded

SIDE = 25  # odd: windows of 3 with stride 2 are centred on 25 and 13 voxels
OUTPUTS = 4
SEED = 4  # of weights with which no layer falls silent


class OctahedralCNN(nn.Module):
    """Three blocks h = P(σ(F(x))) (eq. 29) with F on the group, then the maximum over H and the mean over voxels."""

    def __init__(self, group: FiniteGroup, fields: int) -> None:
        super().__init__()
        self.lift = LiftingConv3d(group, 1, fields)
        self.relu1 = nn.ReLU()
        self.pool1 = nn.AvgPool3d(3, stride=2, padding=1)
        self.conv2 = GroupConv3d(group, fields, fields)
        self.relu2 = nn.ReLU()
        self.pool2 = nn.AvgPool3d(3, stride=2, padding=1)
        self.conv3 = GroupConv3d(group, fields, 2 * fields)
        self.relu3 = nn.ReLU()
        self.group_pool = OrientationPool(group)
        self.mean = VolumeMean()
        self.head = nn.Linear(2 * fields, OUTPUTS)

    def forward(self, x: Tensor) -> Tensor:
        """Return four scores, (N, 1, 25, 25, 25) -> (N, 4)."""
        x = self.pool1(self.relu1(self.lift(x)))  # (N, C*|H|, 13, 13, 13)
        x = self.pool2(self.relu2(self.conv2(x)))  # (N, C*|H|, 7, 7, 7)
        x = self.group_pool(self.relu3(self.conv3(x)))  # (N, 2C, 7, 7, 7)
        return self.head(self.mean(x))


class TorusCNN(nn.Module):
    """Lift, convolve on the group and pool, on a torus and without strides: every whole shift is exact as well."""

    def __init__(self, group: FiniteGroup, fields: int) -> None:
        super().__init__()
        self.lift = LiftingConv3d(group, 1, fields, circular=True)
        self.relu1 = nn.ReLU()
        self.conv2 = GroupConv3d(group, fields, 2 * fields, circular=True)
        self.relu2 = nn.ReLU()
        self.group_pool = OrientationPool(group)
        self.mean = VolumeMean()
        self.head = nn.Linear(2 * fields, OUTPUTS)

    def forward(self, x: Tensor) -> Tensor:
        """Return four scores, (N, 1, Z, Y, X) -> (N, 4)."""
        x = self.relu2(self.conv2(self.relu1(self.lift(x))))  # (N, C*|H|, Z, Y, X)
        return self.head(self.mean(self.group_pool(x)))


class VectorFieldCNN(nn.Module):
    """Lift to O_h, and let the orientations of each voxel add up to a vector there."""

    def __init__(self, group: FiniteGroup, fields: int) -> None:
        super().__init__()
        self.lift = LiftingConv3d(group, 1, fields, circular=True)
        self.relu1 = nn.ReLU()
        self.vectors = OrientationVectors(group)

    def forward(self, x: Tensor) -> Tensor:
        """Return a vector for each field at each voxel, (N, 1, Z, Y, X) -> (N, 3*C, Z, Y, X)."""
        return self.vectors(self.relu1(self.lift(x)))


class PlainCNN3d(nn.Module):
    """Three plain convolutions on a torus (eq. 28) and the mean over all voxels: it moves with shifts alone."""

    def __init__(self, channels: int = 8) -> None:
        super().__init__()
        self.conv1 = nn.Conv3d(1, channels, 3, padding=1, padding_mode="circular")
        self.relu1 = nn.ReLU()
        self.conv2 = nn.Conv3d(channels, channels, 3, padding=1, padding_mode="circular")
        self.relu2 = nn.ReLU()
        self.conv3 = nn.Conv3d(channels, channels, 3, padding=1, padding_mode="circular")
        self.relu3 = nn.ReLU()
        self.mean = VolumeMean()
        self.head = nn.Linear(channels, OUTPUTS)

    def forward(self, x: Tensor) -> Tensor:
        """Return four scores, (N, 1, Z, Y, X) -> (N, 4)."""
        x = self.relu3(self.conv3(self.relu2(self.conv2(self.relu1(self.conv1(x))))))
        return self.head(self.mean(x))


def build_oh() -> nn.Module:
    """Build the network on Z³ ⋊ O_h: a field of 48 orientations in each layer but the last, which has two."""
    return seeded(lambda: OctahedralCNN(cube_group("Oh"), 1), SEED)


def build_o() -> nn.Module:
    """Build the network on Z³ ⋊ O, on a torus: a field of 24 orientations, then two."""
    return seeded(lambda: TorusCNN(cube_group("O"), 1), SEED)


def build_vectors() -> nn.Module:
    """Build the network that answers a vector at each voxel."""
    return seeded(lambda: VectorFieldCNN(cube_group("Oh"), 1))


def build_plain() -> nn.Module:
    """Build the plain network."""
    return seeded(PlainCNN3d)


REFERENCE = (
    'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.2, eq. (31)-(32); '
    'Worrall, Brostow, "CubeNet", 2018; Winkels, Cohen, "3D G-CNNs for Pulmonary Nodule Detection", 2018'
)
LIFT = (
    "(x ⋆ θ)(kh) = Σ_{u∈Ω} x_u (ρ(h)θ)_{u−k},   k ∈ ℤ³,   h ∈ H = %s   (32)\n"
    "transform θ_h = ρ(h)θ, then convolve: (x ⋆ θ)(kh) = (x ⋆ θ_h)(k)\n"
    "(ρ(g)x) ⋆ θ = ρ(g)(x ⋆ θ)"
)
SOURCE = (transformed_indices, TransformConvolve3d, LiftingConv3d, GroupConv3d, OrientationPool)

_card = partial(Card, rows=("G8",), reference=REFERENCE, sample="phantom-3d")

CARD = (
    _card(
        name="oh-cnn",
        title="Group CNN on volumes, all 48 symmetries (O_h)",
        groups=("Oh",),
        equation=LIFT % "O_h" + "\nh = P(σ(F(x)))   (29), three times, with F = ⋆ θ",
        summary=(
            "Each filter is used in 48 orientations. Turn or mirror the volume by any symmetry of the cube: every "
            "orientation of `lift` turns and changes its place with another one, after `group_pool` nothing permutes "
            "any more, and the scores stay exactly the same."
        ),
        build=build_oh,
        input=VolumeInput((1, SIDE, SIDE, SIDE)),
        boundary="zero",
        source=(*SOURCE, OctahedralCNN),
    ),
    _card(
        name="o-cnn",
        title="Group CNN on volumes, rotations of the cube (O)",
        groups=("O", "Z3"),
        equation=LIFT % "O",
        summary=(
            "Each filter is used in 24 orientations, turned and never mirrored: a right-handed and a left-handed helix "
            "are two things to it. On a torus and without strides, whole shifts are exact as well."
        ),
        build=build_o,
        input=VolumeInput(),
        source=(*SOURCE, TorusCNN),
    ),
    _card(
        name="oh-vectors",
        title="Vectors at voxels (O_h)",
        groups=("Oh", "Z3"),
        equation=LIFT % "O_h" + "\nv_u = Σ_h σ(x ⋆ θ)(uh) h w,   (ρ(g)v)_u = g v_{g⁻¹u}",
        summary=(
            "The orientations of a voxel add up to one vector there. Its components x, y and z are channels that a "
            "quarter turn exchanges and a mirror gives another sign: pick `vectors` and turn the volume."
        ),
        build=build_vectors,
        input=VolumeInput(),
        source=(*SOURCE[:3], OrientationVectors, VectorFieldCNN),
    ),
    _card(
        name="plain-cnn-3d",
        title="Plain 3D CNN",
        groups=("Z3",),
        equation="F(x)_uj = Σ_a,c α_jac x_{u+a, c},   u ∈ ℤ³   (28)\nh = σ(F(x))   (29), three times",
        summary=(
            "Ordinary filters on a torus: whole shifts commute with every layer, and nothing ties the answer to a "
            "turned volume to that to the volume. Compare it with `oh-cnn` under any symmetry of the cube."
        ),
        build=build_plain,
        input=VolumeInput(),
        source=(PlainCNN3d,),
    ),
)
