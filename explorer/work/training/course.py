"""The steps of a training, whose state lies in the open: between any two it can be kept, and taken back.

A trainer that loops over a `Course` holds nothing of its own from one step to the next: the network, the optimizer, the
schedule of rates, the generators of chance and the order of the examples are all known here. Whoever drives the
training (`driven_by`) is called between two steps and may keep the state, put another one in its place, or end it.
Where nobody drives, a course is a loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor, nn

Chance = torch.Generator | np.random.Generator
Loss = Callable[..., Tensor]


class Driver(Protocol):
    """Whoever stands between two steps."""

    def begun(self, course: Course) -> None: ...

    def stepped(self, course: Course) -> None: ...


_driver: ContextVar[Driver | None] = ContextVar("driver", default=None)


@contextmanager
def driven_by(driver: Driver) -> Iterator[None]:
    """Let `driver` stand between the steps of every course within."""
    token = _driver.set(driver)
    try:
        yield
    finally:
        _driver.reset(token)


@runtime_checkable
class Scheduled(Protocol):
    """The rates of an optimizer, step by step."""

    def step(self) -> None: ...

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> None: ...


Schedule = Callable[[torch.optim.Optimizer, int], Scheduled]  # for so many steps, at least one


class Course:
    """A loop over the steps of a training.

        course = Course(network, optimizer, one_cycle(), chance, epochs=30, examples=len(x), batch=32)
        for rows in course:
            course.learn(course.loss(network(x[rows]), y[rows]), weight=len(rows))

    Attributes:
        at: the steps that are over.
        losses: "loss" and its parts at the last step.
        loss_name: which of `named_losses` is made small; the first one, until somebody chooses another.
        over: whether the training is to end here, as if all its steps were done.
    """

    def __init__(
        self,
        network: nn.Module,
        optimizer: torch.optim.Optimizer,
        schedule: Schedule | None = None,
        *chances: Chance,
        epochs: int,
        steps: int = 0,
        examples: int = 0,
        batch: int = 1,
        losses: Mapping[str, Loss] | None = None,
        judge: Callable[[nn.Module], Mapping[str, float]] | None = None,
        progress: Callable[[int, int, str], None] | None = None,
        told: Callable[[float], str] = "loss {:.4f}".format,
        told_every: int = 1,
    ) -> None:
        """Begin.

        Args:
            schedule: makes the rates of all steps of this course.
            chances: all generators that the steps draw from; the first one also draws the order of `examples`.
            steps: of an epoch, where the examples are not a given set in an order.
            examples, batch: each epoch goes through that many, in an order drawn anew, some at a time.
            losses: functions that can be exchanged while the network learns, by name.
            judge: figures of the network as it is, in a fraction of a second: asked now and then, as it learns.
            progress: called after every epoch (of `told_every`) with what `told` says of the mean loss.

        Raises:
            ValueError: there are neither examples nor steps.
        """
        self.network, self.optimizer = network, optimizer
        self.chances = (*chances, *(c for c in _chances_in(network) if all(c is not known for known in chances)))
        self.epochs, self._examples, self._batch = epochs, examples, batch
        self.steps = -(-examples // batch) if examples else steps
        if self.steps < 1:
            raise ValueError("there is no example to learn from: give the training at least one")
        self.schedule = None if schedule is None else schedule(optimizer, max(1, self.total))
        self.named_losses = dict(losses or {})
        self.loss_name = next(iter(self.named_losses), "")
        self.at = 0
        self.losses: dict[str, float] = {}
        self.over = False
        self.judge = judge
        self._progress, self._told, self._told_every = progress, told, told_every
        self._order: Tensor | None = None
        self._sum, self._weight = 0.0, 0.0
        self._driver = _driver.get()

    @property
    def total(self) -> int:
        return self.epochs * self.steps

    @property
    def epoch(self) -> int:
        """Return how many epochs are over."""
        return self.at // self.steps if self.steps else 0

    def __iter__(self) -> Iterator[Tensor]:
        """Yield the rows of the examples of each step, none where they are not given."""
        if self._driver is not None:
            self._driver.begun(self)
        while self.at < self.total and not self.over:
            before = self.at
            yield self._rows()
            if self.at == before:
                raise RuntimeError("a step of the training was not told to its course")
            if self._driver is not None:
                self._driver.stepped(self)

    def loss(self, found: Tensor, wanted: Tensor) -> Tensor:
        """Return the loss by the function that is chosen."""
        return self.named_losses[self.loss_name](found, wanted)

    def choose(self, loss: str) -> None:
        """Make another loss small from here on.

        Raises:
            ValueError: this training has no such loss.
        """
        if loss not in self.named_losses:
            known = ", ".join(self.named_losses) or "none that can be exchanged"
            raise ValueError(f"this training has no loss {loss!r}; it has {known}")
        self.loss_name = loss

    def reseed(self, seed: int) -> None:
        """Draw all that is left to chance from another seed, from here on."""
        for k, chance in enumerate(self.chances):
            if isinstance(chance, torch.Generator):
                chance.manual_seed(seed + k)
            else:
                chance.bit_generator.state = type(chance.bit_generator)([seed, k]).state
        torch.manual_seed(seed)

    def learn(
        self, loss: Tensor, weight: float = 1.0, clip: float | None = None, parts: Mapping[str, Tensor] | None = None
    ) -> None:
        """Take one step down `loss`; `clip` is the longest gradient, `parts` are what the loss is made of."""
        self.optimizer.zero_grad()
        loss.backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(self.network.parameters(), clip)
        self.descend(loss.item(), weight, {k: v.item() for k, v in parts.items()} if parts else {})

    def descend(self, loss: float, weight: float = 1.0, parts: Mapping[str, float] | None = None) -> None:
        """Take one step along the gradients that are there, those of a loss of this value."""
        self.losses = {"loss": loss, **(parts or {})}
        self.optimizer.step()
        if self.schedule is not None:
            self.schedule.step()
        self.at += 1
        self._sum += loss * weight
        self._weight += weight
        if self.at % self.steps == 0:
            mean, self._sum, self._weight = self._sum / self._weight, 0.0, 0.0
            if self._progress is not None and self.epoch % self._told_every == 0:
                self._progress(self.epoch, self.epochs, self._told(mean))

    def _rows(self) -> Tensor:
        if not self._examples:
            return torch.empty(0, dtype=torch.long, device="cpu")
        k = self.at % self.steps
        if k == 0:
            chance = self.chances[0]
            if isinstance(chance, torch.Generator):
                self._order = torch.randperm(self._examples, generator=chance, device="cpu")
            else:
                self._order = torch.from_numpy(chance.permutation(self._examples))
        assert self._order is not None
        return self._order[k * self._batch : (k + 1) * self._batch]

    # its state ------------------------------------------------------------------------------------------------
    def state(self) -> dict[str, Any]:
        """Return all that the next steps depend on: plain values and tensors, which the next step changes."""
        return {
            "at": self.at,
            "losses": dict(self.losses),
            "loss_name": self.loss_name,
            "sum": [self._sum, self._weight],
            "order": self._order,
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": None if self.schedule is None else self.schedule.state_dict(),
            "chances": [_state_of(chance) for chance in self.chances],
            "chance": torch.get_rng_state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Put a state in the place of this one; the next step is the one that followed it.

        Raises:
            ValueError: it is the state of another training.
        """
        state = deepcopy(dict(state))
        if len(state["chances"]) != len(self.chances):
            raise ValueError("this is the state of another training")
        try:
            self.network.load_state_dict(state["network"])
            self.optimizer.load_state_dict(state["optimizer"])
        except (RuntimeError, ValueError, KeyError) as error:
            raise ValueError("this is the state of another training") from error
        if self.schedule is not None:
            self.schedule.load_state_dict(state["schedule"])
        for chance, kept in zip(self.chances, state["chances"], strict=True):
            if isinstance(chance, torch.Generator):
                chance.set_state(kept)
            else:
                chance.bit_generator.state = kept
        torch.set_rng_state(state["chance"])
        self.at, self.losses, self._order = int(state["at"]), dict(state["losses"]), state["order"]
        self.loss_name = state["loss_name"]
        self._sum, self._weight = state["sum"]

    def finite(self) -> bool:
        """Say whether every parameter is a number."""
        return first_strange(self.network) == ""


def first_strange(network: nn.Module) -> str:
    """Return the first parameter that holds a value that is no finite number; "" where all are finite."""
    for name, parameter in network.named_parameters():
        if parameter.is_floating_point() and not math.isfinite(
            float(parameter.detach().abs().sum(dtype=torch.float64))
        ):
            return name
    return ""


def _chances_in(network: nn.Module) -> Iterator[Chance]:
    """Yield the generators that the modules of a network draw from."""
    for module in network.modules():
        for value in vars(module).values():
            if isinstance(value, torch.Generator | np.random.Generator):
                yield value


def _state_of(chance: Chance) -> Any:
    return chance.get_state() if isinstance(chance, torch.Generator) else chance.bit_generator.state
