"""Networks on volumes that look symmetric and are not, beside the one that is: exercises in finding a fault.

Three blocks σ(F(x)) of "Geometric Deep Learning" (Bronstein, Bruna, Cohen, Veličković, 2021, section 5.1, eq. 29)
between scalar fields. If every filter equals all 48 turned and mirrored copies of itself, the padding is the same on
all sides, and a stride of 2 stays centred, the network commutes with O_h. Each faulty one gives up one condition; the
weights are those of the sound one.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.spaces.volume.cube import cube_group
from explorer.spaces.volume.network.form import VolumeInput
from models.layers.convolution.volumes import VolumeMean, transformed_indices
from models.layers.seeded import seeded

CHANNELS = 6
ODD, EVEN = 25, 24


def symmetrise(weight: Tensor) -> Tensor:
    """Return the mean of the 48 copies of each filter; (..., k, k, k) -> the same."""
    index = torch.from_numpy(transformed_indices(cube_group("Oh"), weight.shape[-1], lifted=False))
    flat = weight.double().flatten(-3)
    # in double precision, so that the copies of a float32 filter agree to the last bit once rounded back
    mean = torch.stack([flat[..., order] for order in index]).mean(0)
    # of values at places that a symmetry exchanges the sums differ in their order: one stands for all
    return mean[..., index.amin(0)].view(weight.shape).to(weight.dtype)


class SymmetricCNN3d(nn.Module):
    """Three convolutions with symmetric filters, the last with stride 2, and the mean over all voxels.

    Args:
        padding: zeros before and behind x, y and z before the second convolution.
        asymmetric_filter: leave the second filter as it was drawn.
    Shapes: (N, 1, z, y, x) -> (N, 4); invariant under O_h for odd and equal sides and the defaults.
    """

    def __init__(
        self, padding: tuple[int, int, int, int, int, int] = (1,) * 6, asymmetric_filter: bool = False
    ) -> None:
        super().__init__()
        self.conv1 = nn.Conv3d(1, CHANNELS, 3, padding=1)
        self.relu1 = nn.ReLU()
        self.pad2 = nn.ConstantPad3d(padding, 0.0)
        self.conv2 = nn.Conv3d(CHANNELS, CHANNELS, 3)
        self.relu2 = nn.ReLU()
        self.conv3 = nn.Conv3d(CHANNELS, CHANNELS, 3, stride=2, padding=1)
        self.relu3 = nn.ReLU()
        self.mean = VolumeMean()
        self.head = nn.Linear(CHANNELS, 4)
        with torch.no_grad():
            for conv in (self.conv1, self.conv2, self.conv3):
                symmetric = symmetrise(conv.weight)
                symmetric = symmetric * (conv.weight.std() / symmetric.std())  # averaging takes contrast away
                if conv is not self.conv2 or not asymmetric_filter:
                    conv.weight.copy_(symmetric)

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu1(self.conv1(x))  # (N, 6, z, y, x)
        x = self.relu2(self.conv2(self.pad2(x)))  # (N, 6, z, y, x)
        x = self.relu3(self.conv3(x))  # (N, 6, (z+1)/2, ...)
        return self.head(self.mean(x))


def build() -> nn.Module:
    """Build the network without a fault."""
    return seeded(SymmetricCNN3d)


def build_padding() -> nn.Module:
    """Build it with all zeros before the second convolution behind x."""
    return seeded(lambda: SymmetricCNN3d(padding=(0, 2, 1, 1, 1, 1)))


def build_filter() -> nn.Module:
    """Build it with an asymmetric filter in the second convolution."""
    return seeded(lambda: SymmetricCNN3d(asymmetric_filter=True))


_card = partial(
    Card,
    rows=("G8",),
    reference='Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.1, eq. (28)-(29)',
    equation="θ = mean of ρ(h)θ over all h ∈ O_h\nh = σ(F(x))   (29), three times",
    sample="phantom-3d",
    source=(symmetrise, SymmetricCNN3d),
)

CARD = (
    _card(
        name="symmetric-cnn-3d",
        title="3D CNN with symmetric filters",
        groups=("Oh",),
        summary="Every filter equals its 48 copies, so every layer commutes with every symmetry of the cube.",
        build=build,
        input=VolumeInput((1, ODD, ODD, ODD)),
        boundary="zero",
    ),
    _card(
        name="fault-stride-3d",
        title="Fault: a stride on an even size",
        summary="The sound network on 24 voxels a side: a stride of 2 has no centre there. Which layer is guilty?",
        build=build,
        input=VolumeInput((1, EVEN, EVEN, EVEN)),
        boundary="zero",
        notes=("planted fault: layer conv3",),
    ),
    _card(
        name="fault-padding-3d",
        title="Fault: padding on one side",
        summary="Two zeros behind x and none before: the sum is right, and the volume moves by a voxel. Where?",
        build=build_padding,
        input=VolumeInput((1, ODD, ODD, ODD)),
        boundary="zero",
        notes=("planted fault: layer pad2",),
    ),
    _card(
        name="fault-filter-3d",
        title="Fault: one asymmetric filter",
        summary="One of three layers has filters as they were drawn. The error is seen in two and made in one.",
        build=build_filter,
        input=VolumeInput((1, ODD, ODD, ODD)),
        boundary="zero",
        notes=("planted fault: layer conv2",),
    ),
)
