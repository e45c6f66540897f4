"""Train a card step by step: an iterator that whoever advances it can stop, steer and take back."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from queue import Queue
from typing import Any

from torch import nn

from explorer.app.training.driving import Diverged, Drive, Steers, Step, Trained
from explorer.declare.card import Card
from explorer.work.progress import Cancelled
from explorer.work.training.course import Course

__all__ = ["Diverged", "Step", "Trained", "Training", "training"]


def training(card: Card, epochs: int | None = None, seed: int = 0, rate: float = 1.0) -> Training:
    """Return the steps of a card's training; with the last one come the network and its figures.

    The training stands still between two steps until the next one is asked for. Closing it ends it.

    Args:
        rate: what the card's own learning rates are multiplied by.

    Raises:
        Diverged: the loss is no number any more.
    """
    return Training(card, epochs, seed, rate)


class Training(Steers):
    """The steps of a training that stands still between them.

    While it stands, its network can be looked at, its state taken out and put back, and its learning rate, its loss and
    its seed exchanged. The value of StopIteration is the trained network with its figures.
    """

    def __init__(self, card: Card, epochs: int | None = None, seed: int = 0, rate: float = 1.0) -> None:
        self._drive = Drive(card, epochs, seed, rate, self)
        self._said: Queue[Step | Trained | BaseException] = Queue(1)
        self._go_on: Queue[bool] = Queue(1)
        self._thread = threading.Thread(target=self._work, name="equiscope-training", daemon=True)
        self._thread.start()
        self._over = False

    def __iter__(self) -> Training:
        return self

    def __next__(self) -> Step:
        if self._over:
            raise StopIteration
        self._go_on.put(True)
        found = self._said.get()
        if isinstance(found, Step):
            return found
        self._over = True
        self._thread.join()
        if isinstance(found, BaseException):
            raise found
        raise StopIteration(found)

    def close(self) -> None:
        """End the training."""
        self._over = True
        if self._thread.is_alive():
            self._go_on.put(False)
            self._thread.join()

    # while it stands ------------------------------------------------------------------------------------------
    @property
    def network(self) -> nn.Module | None:
        """Return the network that learns; None before the first step."""
        return self._drive.network

    @property
    def rate(self) -> float:
        return self._drive.rate

    @rate.setter
    def rate(self, rate: float) -> None:
        self._drive.rate = rate

    @property
    def losses(self) -> tuple[str, ...]:
        """Return the names of the losses that can be chosen, () where none can."""
        return tuple(self._drive.course.named_losses) if self._drive.course is not None else ()

    def choose(self, loss: str) -> None:
        """Make another loss small from the next step on.

        Raises:
            ValueError: there is none of that name.
        """
        self._standing().choose(loss)

    def reseed(self, seed: int) -> None:
        """Draw what is left to chance from another seed from the next step on."""
        self._standing().reseed(seed)

    def state(self) -> dict[str, Any]:
        """Return the state, of which the tensors change with the next step."""
        return self._standing().state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Put a state in place of the present one."""
        self._drive.restore(state)

    def finish(self) -> None:
        """Let the next step be no step but the end."""
        self._standing().over = True

    def _standing(self) -> Course:
        if self._drive.course is None:
            raise ValueError("this training can be neither kept nor changed: its trainer loops by itself")
        return self._drive.course

    # on the training's own thread -----------------------------------------------------------------------------
    def _work(self) -> None:
        if not self._go_on.get():
            return
        try:
            answer: Step | Trained | BaseException = self._drive.run()
        except BaseException as error:  # of a trainer of any kind: whoever advances it hears of it
            answer = error
        self._said.put(answer)

    def stepped(self, drive: Drive) -> None:
        self._said.put(drive.step)
        if not self._go_on.get():
            raise Cancelled
