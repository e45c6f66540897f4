"""Every training lies in the open: taken back between any two steps, it goes on to the same bits."""

from __future__ import annotations

import io
from typing import Any

import pytest
import torch

import main
from explorer.app.training.driving import Drive, Steers

CARDS = {name: card for name, card in main.cards().items() if card.train is not None}
BY_FORMULA = {"autoregressive"}  # fitted at once, by least squares
LONG = {"egnn-velocity"}  # draws thousands of orbits before it begins
KEPT, END = 2, 4


class Enough(Exception):
    """Raised when there is nothing left to see."""


class Back(Steers):
    """Keeps the state after some steps, goes on, takes it back, and goes on again."""

    def __init__(self) -> None:
        self.kept = b""
        self.ends: list[dict[str, torch.Tensor]] = []

    def begun(self, drive: Drive) -> None:
        assert drive.course is not None, "it loops by itself: it can be neither kept nor taken back"

    def stepped(self, drive: Drive) -> None:
        course = drive.course
        assert course is not None
        if course.at == KEPT and not self.ends:
            buffer = io.BytesIO()
            torch.save(course.state(), buffer)
            self.kept = buffer.getvalue()
        if course.at == END:
            self.ends.append({name: value.clone() for name, value in course.network.state_dict().items()})
            if len(self.ends) == 2:
                raise Enough
            drive.restore(torch.load(io.BytesIO(self.kept), weights_only=True))


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in LONG)) for n in sorted(CARDS)])
@pytest.mark.timeout(400)
def test_a_training_that_is_taken_back_is_the_same_to_the_bit(name: str) -> None:
    if name in BY_FORMULA:
        pytest.skip("it has no steps")
    steers = Back()
    with pytest.raises(Enough):
        Drive(CARDS[name], END, 3, 1.0, steers).run()
    first, second = steers.ends
    assert any(not torch.equal(value, load(steers.kept)[key]) for key, value in first.items()), "it has learned"
    assert all(torch.equal(value, second[key]) for key, value in first.items())


def load(kept: bytes) -> dict[str, torch.Tensor]:
    found: dict[str, Any] = torch.load(io.BytesIO(kept), weights_only=True)
    network: dict[str, torch.Tensor] = found["network"]
    return network
