"""Losses that stop a training because they have grown, and others that do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from torch import nn

from explorer.app.training.driving import Drive, Steers
from explorer.work.training.course import Course
from tests.explorer.parts.small_cards import card

STEPS = 60
ZERO = torch.zeros(())
SMALL, LARGE = "small", "large"


def told(losses: Callable[[int, str], float]) -> Any:
    """Return a training that tells losses as a function of the step and the loss that is chosen gives them."""

    def train(epochs: int | None = None, seed: int = 0, progress: Any = None) -> tuple[nn.Module, Mapping[str, float]]:
        network = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(network.parameters(), lr=0.0)
        ways = dict.fromkeys((SMALL, LARGE), lambda found, wanted: ZERO)
        course = Course(network, optimizer, epochs=1, steps=STEPS, losses=ways)
        for _ in course:
            course.descend(losses(course.at, course.loss_name))
        return network, {}

    return card("told", lambda: nn.Linear(1, 1), train=train)


class Hears(Steers):
    def __init__(self, choose_at: int = STEPS) -> None:
        self.heard, self._choose_at = "", choose_at

    def stepped(self, drive: Drive) -> None:
        if drive.step.step == self._choose_at and drive.course is not None:
            drive.course.choose(LARGE)

    def diverged(self, drive: Drive, error: Exception) -> None:  # type: ignore[override]
        self.heard = self.heard or str(error)
        drive.finish()


@pytest.mark.parametrize(
    ("losses", "said"),
    [
        (lambda at, _: 1.0 if at < 10 else 500.0, "the loss has grown to 500, 500 times the first"),
        (lambda at, _: 1.0 if at < 10 else -500.0, ""),  # a log-likelihood of a density that gets ever sharper
        (lambda at, _: -1.0 if at < 10 else 500.0, "the loss has grown to 500, 500 times the first"),
        (lambda at, _: -500.0, ""),
    ],
)
def test_a_loss_diverges_upwards_alone(losses: Callable[[int, str], float], said: str) -> None:
    steers = Hears()
    Drive(told(losses), 1, 0, 1.0, steers).run()
    assert steers.heard.startswith(said) and bool(steers.heard) == bool(said)


def test_a_loss_in_place_of_another_is_compared_with_its_own_first_value() -> None:
    steers = Hears(choose_at=5)
    Drive(told(lambda _, loss: {SMALL: 1e-3, LARGE: 2.0}[loss]), 1, 0, 1.0, steers).run()
    assert not steers.heard
    steers = Hears(choose_at=5)
    Drive(told(lambda at, loss: 1e-3 if loss == SMALL else 2.0 if at < 10 else 900.0), 1, 0, 1.0, steers).run()
    assert steers.heard.startswith("the loss has grown to 900, 450 times the first")


def test_a_loss_that_has_grown_is_told_with_the_parameter_that_holds_the_largest_values() -> None:
    """Only of a loss that is no number a parameter was named."""

    def train(epochs: int | None = None, seed: int = 0, progress: Any = None) -> tuple[nn.Module, Mapping[str, float]]:
        network = nn.Linear(1, 1)
        nn.init.constant_(network.weight, 1.0)
        nn.init.constant_(network.bias, 0.0)
        with torch.inference_mode(False), torch.enable_grad():
            optimizer = torch.optim.SGD(network.parameters(), lr=0.15)
            course = Course(network, optimizer, epochs=1, steps=STEPS)
            for _ in course:
                course.learn((3.0 * network.weight).square().sum() + 0 * network.bias.sum())
        return network, {}

    steers = Hears()
    Drive(card("grows", lambda: nn.Linear(1, 1), train=train), 1, 0, 1.0, steers).run()
    assert "times the first, after" in steers.heard and ": weight holds the largest values, up to " in steers.heard
    assert steers.heard.endswith("; a smaller learning rate may help")
