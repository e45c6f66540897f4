"""Cards of networks small enough for a command line that is tried a hundred times; nothing of models/ is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from explorer.app.command.doors import Doors
from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.grid.network.form import InputSpec
from tests.explorer.parts.networks import GlobalMean, conv


def symmetric_net(fault: bool = False, width: float = 4) -> nn.Module:
    """Return a D4-invariant classifier of ten classes; with `fault`, one whose second convolution is not."""
    torch.manual_seed(0)
    return nn.Sequential(
        conv(1, int(width)), nn.ReLU(), conv(int(width), 4, fault=fault), nn.ReLU(), GlobalMean(), nn.Linear(4, 10)
    )


class Talkative(nn.Module):
    """Prints from its forward."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = conv(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        print("hello from the forward")
        return self.conv(x)  # type: ignore[no-any-return]


def train(epochs: int | None = None, seed: int = 0, progress: Any = None) -> tuple[nn.Module, Mapping[str, float]]:
    for epoch in range(epochs or 2):
        progress(epoch + 1, epochs or 2, "loss 1")
    return symmetric_net(), {"error": 0.25}


def card(name: str, build: Callable[..., nn.Module], *groups: str, **more: Any) -> Card:
    defaults: dict[str, Any] = {
        "title": name.title(), "rows": ("X1",), "reference": "nobody, nowhere", "equation": "h = P(σ(F(x)))",
        "summary": "A test.", "groups": groups, "input": InputSpec((1, 29, 29)),
    }  # fmt: skip
    return Card(name=name, build=build, **(defaults | more))


DIGITS = tuple("0123456789")
CARDS = {
    c.name: c
    for c in (
        card("fine", symmetric_net, "D4", "C4", labels=DIGITS, train=train, boundary="zero"),
        card("faulty", lambda: symmetric_net(fault=True), "C4", "D4", labels=DIGITS),
        card("modest", symmetric_net),
        card("talkative", Talkative, "D4"),
        card("wide", symmetric_net, "D4", params=(Param("width", "Width", 4, 2, 8, whole=True),)),
        card("fixed-size", lambda: nn.Sequential(nn.Flatten(), nn.Linear(29 * 29, 3))),
    )
}


def doors(**more: Any) -> Doors:
    """Return what main.py would hand in, without Qt; each can be replaced."""

    def never(*_: Any) -> Any:
        raise AssertionError("this door was not to be opened")

    given: dict[str, Any] = {
        "cards": lambda: CARDS, "window": never, "pictures": never, "gallery": never,
        "views": lambda: [("stage", "Stage")], "bench": lambda: {"quick": lambda: [{"what": "nothing", "ratio": 1.0}]},
    }  # fmt: skip
    return Doors(**(given | more))
