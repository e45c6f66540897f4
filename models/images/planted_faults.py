"""Three networks that look symmetric and are not, beside the one that is: exercises in finding a fault.

Each is three blocks sigma(F(x)) of "Geometric Deep Learning" (Bronstein, Bruna, Cohen, Veličković, 2021,
section 5.1, eq. 29) between scalar fields. If every filter equals all eight turned and mirrored copies of
itself, the padding is the same on all sides, and a stride of 2 starts at one end of an odd row and stops at
the other, then the network commutes with D4. Each faulty network gives up exactly one of the three
conditions; all four have the same weights, but for the one filter.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.spaces.grid.network.form import InputSpec
from models.layers.global_pooling import GlobalMean
from models.layers.seeded import seeded

CHANNELS = 8
ODD, EVEN = 29, 32
FAULTS = {"fault-filter": "conv2", "fault-stride": "conv3", "fault-padding": "pad2"}


def symmetrise(weight: Tensor) -> Tensor:
    """Return the mean of the eight turned and mirrored copies of each filter; (..., k, k) -> the same."""
    # In double precision, so that the copies of a float32 filter agree to the last bit once rounded back.
    turned = [torch.rot90(weight.double(), r, (-2, -1)) for r in range(4)]
    return torch.stack([*turned, *(copy.flip(-1) for copy in turned)]).mean(0).to(weight.dtype)


class SymmetricCNN(nn.Module):
    """Three convolutions with D4-symmetric filters, the last with stride 2, and the mean over all places.

    Args:
        padding: zeros left, right, above and below before the second convolution.
        asymmetric_filter: leave the second filter as it was drawn.
    Shapes: (N, 1, h, w) -> (N, 10); invariant under D4 for odd h = w and the defaults.
    """

    def __init__(self, padding: tuple[int, int, int, int] = (1, 1, 1, 1), asymmetric_filter: bool = False) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, CHANNELS, 5, padding=2)
        self.relu1 = nn.ReLU()
        self.pad2 = nn.ZeroPad2d(padding)
        self.conv2 = nn.Conv2d(CHANNELS, CHANNELS, 3)
        self.relu2 = nn.ReLU()
        self.conv3 = nn.Conv2d(CHANNELS, CHANNELS, 3, stride=2, padding=1)
        self.relu3 = nn.ReLU()
        self.global_mean = GlobalMean()
        self.classifier = nn.Linear(CHANNELS, 10)
        with torch.no_grad():
            for conv in (self.conv1, self.conv2, self.conv3):
                symmetric = symmetrise(conv.weight)
                symmetric *= conv.weight.std() / symmetric.std()  # averaging takes contrast away
                if conv is not self.conv2 or not asymmetric_filter:
                    conv.weight.copy_(symmetric)

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu1(self.conv1(x))  # (N, 8, h, w)
        x = self.relu2(self.conv2(self.pad2(x)))  # (N, 8, h, w)
        x = self.relu3(self.conv3(x))  # (N, 8, (h+1)/2, (w+1)/2)
        return self.classifier(self.global_mean(x))


def build() -> nn.Module:
    """Build the network without a fault."""
    return _seeded()


def build_filter() -> nn.Module:
    """Build it with an asymmetric filter in the second convolution."""
    return _seeded(asymmetric_filter=True)


def build_padding() -> nn.Module:
    """Build it with all zeros before the second convolution on the right and below."""
    return _seeded(padding=(0, 2, 0, 2))


def _seeded(**fault: Any) -> nn.Module:
    return seeded(lambda: SymmetricCNN(**fault))


def matrix(model: nn.Module) -> dict[str, Tensor]:
    """Return the filters of each convolution: outputs down, inputs across, a margin round each."""
    assert isinstance(model, SymmetricCNN)
    drawn = {}
    for name in ("conv1", "conv2", "conv3"):
        conv = model.get_submodule(name)
        assert isinstance(conv, nn.Conv2d)
        filters = F.pad(conv.weight.detach(), (0, 1, 0, 1))
        drawn[f"{name}: outputs down, inputs across"] = torch.cat([torch.cat(list(row), 1) for row in filters])
    return drawn


def _card(name: str, title: str, summary: str, note: str, build: Any, size: int = ODD) -> Card:
    return Card(
        name=name,
        title=title,
        rows=("G3",),
        groups=("D4",),
        reference=(
            'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.1, eq. (29), '
            "with filters averaged over D4"
        ),
        equation="h = σ(F(x)), three times;  F's filters θ(g⁻¹u) = θ(u) for all g in D4",
        summary=summary,
        build=build,
        input=InputSpec(shape=(1, size, size)),
        source=(symmetrise, SymmetricCNN, build),
        matrix=matrix,
        notes=(note,),
    )


CARD = (
    _card(
        "symmetric-cnn",
        "CNN with D4-symmetric filters",
        "Three convolutions whose filters look the same turned and mirrored: turn the image, and every map "
        "turns with it. The control for the three networks with a planted fault.",
        "no fault: zero padding is alike on all sides, and stride 2 meets both ends of a row of 29",
        build,
    ),
    _card(
        "fault-filter",
        "Planted fault: a filter",
        "One filter is not symmetric. Turn the image by 90 degrees: the cumulative error stays from there "
        "on, the local error names the layer.",
        f"planted fault: layer {FAULTS['fault-filter']}",
        build_filter,
    ),
    _card(
        "fault-stride",
        "Planted fault: a stride",
        "The very network of the control, on images of an even size: stride 2 keeps the first row and skips "
        "the last one, and no weight can make up for that.",
        f"planted fault: layer {FAULTS['fault-stride']}",
        build,
        EVEN,
    ),
    _card(
        "fault-padding",
        "Planted fault: padding",
        "All zeros are added on the right and below. Inside the image nothing seems wrong: everything is "
        "shifted by one pixel, which turning does not forgive, though the mean over all places hardly "
        "notices.",
        f"planted fault: layer {FAULTS['fault-padding']}",
        build_padding,
    ),
)
