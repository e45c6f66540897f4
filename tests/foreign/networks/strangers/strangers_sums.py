"""Networks whose short sight is computed the long way, so that rounding is everywhere: running sums, transforms."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.foreign.case import Case, Given, drawn, pair


def NTC() -> Given:
    return Given((drawn(1, 48, 3),), ("steps@1",), layout="NTC")


def ZEROS() -> Given:
    return Given((drawn(2, 1, 20, 20),), ("grid",), boundary="zero")


class MovingMean(nn.Module):
    """Mean of the last steps, as a difference of two running sums."""

    def forward(self, x: Tensor) -> Tensor:
        sums = F.pad(x.cumsum(1), (0, 0, 1, 0))
        return (sums - F.pad(sums, (0, 0, 4, 0))[:, : sums.shape[1]])[:, 1:] / 4


class LongWay(nn.Module):
    """A causal convolution by Fourier transforms of twice the length (Gu et al. 2022), here with few taps."""

    def __init__(self, taps: int) -> None:
        super().__init__()
        self.kernel = nn.Parameter(torch.randn(8, taps) / taps)

    def forward(self, x: Tensor) -> Tensor:
        steps = x.shape[1]
        transformed = torch.fft.rfft(x.mT, 2 * steps) * torch.fft.rfft(self.kernel, 2 * steps)
        return torch.fft.irfft(transformed, 2 * steps)[..., :steps].mT


class Steps(nn.Module):
    """A layer on steps between two dense ones; the fault: steps are weighted by their number."""

    def __init__(self, layer: nn.Module, weighted: bool, bias: bool = True) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(3, 8, bias=bias), nn.Linear(8, 2)
        self.layer, self.weighted = layer, weighted

    def forward(self, x: Tensor) -> Tensor:
        h = self.layer(torch.tanh(self.first(x)))
        if self.weighted:
            h = h * (1 + 0.01 * torch.arange(h.shape[1], dtype=h.dtype, device=h.device))[:, None]
        return self.last(torch.relu(h))


class Boxed(nn.Module):
    """Means of 3 x 3 pixels by an integral image (Crow 1984); the fault: columns are weighted."""

    def __init__(self, weighted: bool) -> None:
        super().__init__()
        self.first, self.last, self.weighted = nn.Conv2d(1, 4, 1), nn.Conv2d(4, 2, 1), weighted

    def forward(self, x: Tensor) -> Tensor:
        h = F.pad(torch.tanh(self.first(x)), (1, 1, 1, 1))
        s = F.pad(h.cumsum(-1).cumsum(-2), (1, 0, 1, 0))
        h = (s[..., 3:, 3:] - s[..., :-3, 3:] - s[..., 3:, :-3] + s[..., :-3, :-3]) / 9
        if self.weighted:
            h = h * torch.linspace(0.9, 1.1, h.shape[-1], dtype=h.dtype, device=h.device)
        return self.last(h)


CASES: tuple[Case, ...] = (
    *pair("moving mean", lambda: Steps(MovingMean(), False), lambda: Steps(MovingMean(), True), ["last"], NTC,
          ("steps@1",), "shift", hooks=False, inside=4),
    *pair("few taps by transforms", lambda: Steps(LongWay(5), False), lambda: Steps(LongWay(5), True), ["last"], NTC,
          ("steps@1",), "shift", hooks=False, inside=5),
    *pair("integral image", lambda: Boxed(False), lambda: Boxed(True), ["last"], ZEROS, ("grid",), "translation",
          hooks=False, inside=2, options={"boundary": "zero"}),
)  # fmt: skip
