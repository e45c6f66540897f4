"""3D steerable CNN: scalars, vectors and values of degree 2 at voxels; kernels are shells times harmonics.

Weiler, Geiger, Welling, Boomsma, Cohen, "3D Steerable CNNs", 2018, with parity, so that mirrors hold as well:

    f' = gate(K ⋆ f),   K(u) = sum of w φ(|u|) C(Y(u / |u|), ·),   K(R u) = D_out(R) K(u) D_in(R)⁻¹

The constraint on K holds for every rotation R. On a grid the voxels themselves allow 48 symmetries alone; between them
the law is kept as far as the grid samples the field.
"""

from __future__ import annotations

from functools import partial

from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.types.fields import FieldType, Point
from explorer.spaces.points.fields import irreps
from explorer.spaces.volume.network.form import VolumeInput
from models.layers.convolution.steerable_volumes import SteerableConv3d, VoxelGate, shells
from models.layers.seeded import seeded

SIDE, SEED = 25, 1
HIDDEN, LAST = "6x0e+4x1o+2x2e", "4x0e+1x1o"


class WholeMean(nn.Module):
    """Average over all voxels: (N, C, Z, Y, X) -> (N, C), values of the same degrees."""

    def __init__(self, values: str) -> None:
        super().__init__()
        self.out_field = FieldType(Point(), irreps(values))

    def forward(self, x: Tensor) -> Tensor:
        return x.mean((-3, -2, -1))


class Coarser(nn.AvgPool3d):
    """A mean over 3 x 3 x 3 voxels, every second one: the same for each channel, so degrees stay."""

    def __init__(self, values: str) -> None:
        super().__init__(3, stride=2, padding=1)
        self.out_rep = irreps(values)


class SteerableCNN(nn.Module):
    """Two gated convolutions and a last one: (N, 1, z, y, x) -> (N, 7), four scalars and a vector."""

    def __init__(self, gate: type[nn.Module] = VoxelGate) -> None:
        super().__init__()
        self.gate1 = gate(HIDDEN)
        self.conv1 = SteerableConv3d("1x0e", VoxelGate(HIDDEN).needed)
        self.pool1 = Coarser(HIDDEN)
        self.gate2 = VoxelGate(HIDDEN)
        self.conv2 = SteerableConv3d(HIDDEN, self.gate2.needed)
        self.conv3 = SteerableConv3d(HIDDEN, LAST)
        self.mean = WholeMean(LAST)

    def forward(self, x: Tensor) -> Tensor:
        x = self.pool1(self.gate1(self.conv1(x)))
        return self.mean(self.conv3(self.gate2(self.conv2(x))))


class BrokenGate(VoxelGate):
    """A gate that forgets what its numbers are: each component of a vector goes through a ReLU by itself."""

    def forward(self, values: Tensor) -> Tensor:
        return F.relu(super().forward(values))


def build() -> nn.Module:
    """Build the network."""
    return seeded(SteerableCNN, SEED)


def build_broken() -> nn.Module:
    """Build it with a fault in its first gate."""
    return seeded(lambda: SteerableCNN(BrokenGate), SEED)


REFERENCE = 'Weiler, Geiger, Welling, Boomsma, Cohen, "3D Steerable CNNs", NeurIPS 2018, section 4, eq. (11)-(14)'
_card = partial(
    Card, rows=("E2",), reference=REFERENCE, sample="phantom-3d", boundary="zero",
    equation=(
        "(K ⋆ f)(k) = Σ_u K(u) f(k + u),   K(u) = Σ w φₘ(|u|) C(Y_l(u/|u|), ·)\n"
        "K(Ru) = D_out(R) K(u) D_in(R)⁻¹   for every R ∈ O(3)\n"
        "f′ = gate(K ⋆ f)"
    ),
    input=VolumeInput((1, SIDE, SIDE, SIDE)),
)  # fmt: skip

CARD = (
    _card(
        name="steerable-cnn-3d",
        title="3D steerable CNN: values of each degree at voxels",
        groups=("Oh",),
        summary=(
            "Channels of `gate1` are six scalars, four vectors and two values of degree 2. A quarter turn mixes them "
            "by Wigner blocks, exactly. Other rotations are resampled: try **Rotation of a volume**, and compare the "
            "error with its floor and with `plain-cnn-3d`. The parameters are not trained."
        ),
        build=build,
        source=(shells, SteerableConv3d, VoxelGate, SteerableCNN),
    ),
    _card(
        name="fault-steerable-3d",
        title="Fault: a ReLU on the components of vectors",
        summary="It looks like the steerable CNN. Shift the volume and all is well; turn it. Which layer is guilty?",
        build=build_broken,
        notes=("planted fault: layer gate1",),
        source=(BrokenGate, SteerableConv3d, SteerableCNN),
    ),
)
