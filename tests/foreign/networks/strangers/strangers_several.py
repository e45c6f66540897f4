"""Networks with several arguments: images with a time or with conditions, two images, nodes of two kinds."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from tests.foreign.case import Case, Given, drawn, pair
from tests.foreign.their_files import their_file

FILE = Path(__file__).parent / "theirs" / "several.py"
IMAGE, TIMES, VECTOR = drawn(2, 3, 16, 16), torch.tensor([1, 3]), drawn(2, 4, seed=1)


class Denoiser(nn.Module):
    """Noise from an image and a time, as a diffusion learns it; the fault: a ramp from left to right."""

    def __init__(self, ramp: bool) -> None:
        super().__init__()
        self.time, self.ramp = nn.Embedding(10, 6), ramp
        self.first, self.last = nn.Conv2d(3, 6, 3, padding=1, padding_mode="circular"), nn.Conv2d(6, 3, 1)

    def forward(self, t: Tensor, x: Tensor) -> Tensor:
        h = self.first(x) + self.time(t)[:, :, None, None]
        if self.ramp:
            h = h * torch.linspace(0.9, 1.1, h.shape[-1], dtype=h.dtype, device=h.device)
        return self.last(torch.relu(h))


class Conditioned(nn.Module):
    """Channels scaled by conditions (FiLM); the fault: scaled only in the upper half."""

    def __init__(self, half: bool) -> None:
        super().__init__()
        self.conv, self.film = nn.Conv2d(3, 8, 3, padding=1, padding_mode="circular"), nn.Linear(4, 8)
        self.out, self.half = nn.Conv2d(8, 1, 1), half

    def forward(self, image: Tensor, cond: Tensor) -> Tensor:
        h, by = self.conv(image), self.film(cond)[:, :, None, None]
        h = torch.cat([h[:, :, :8] * by, h[:, :, 8:]], 2) if self.half else h * by
        return self.out(torch.relu(h))


def made(name: str, fault: int) -> nn.Module:
    found: nn.Module = getattr(their_file(FILE), name)(fault=fault)
    return found


def timed(form: str) -> Given:
    return Given((TIMES, IMAGE), ("fixed", "grid"), form=form, names=("t", "x"))


SIAMESE = pair(
    "two images", partial(made, "Siamese", 0), partial(made, "Siamese", 1), ["last"],
    lambda: Given((drawn(2, 1, 16, 16), drawn(2, 1, 16, 16, seed=1)), ("grid", "grid")), ("grid",), "translation",
    hooks=False,
)  # fmt: skip

CASES: tuple[Case, ...] = (
    *pair("a time", lambda: Denoiser(False), lambda: Denoiser(True), ["last"], lambda: timed("call"), ("grid",),
          "translation", hooks=False),
    *pair("a time, by name", lambda: Denoiser(False), lambda: Denoiser(True), ["last"], lambda: timed("mapping"),
          ("grid",), "translation", hooks=False),
    *pair("conditions", lambda: Conditioned(False), lambda: Conditioned(True), ["out"],
          lambda: Given((IMAGE, VECTOR), ("grid", "fixed")), ("grid",), "translation", hooks=False),
    *SIAMESE,
    *(replace(case, name=f"{case.name}, from a file", door=f"{FILE}:Siamese(fault={k})", twin="")
      for k, case in enumerate(SIAMESE)),
    Case("two kinds of nodes, from a file", partial(made, "Bipartite", 0),
         lambda: Given((drawn(7, 5), drawn(9, 3), torch.tensor([[0, 1, 2, 6], [3, 4, 5, 0]])),
                       ("nodes", "others", "between")),
         "permutation", ("others",), hooks=False, door=f"{FILE}:Bipartite"),
)  # fmt: skip
