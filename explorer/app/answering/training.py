"""Train a card step by step: a generator that whoever advances it can stop, and that says when the loss diverges."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Queue
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from explorer.declare.card import Card
from explorer.work.progress import Cancelled

Trained = tuple[nn.Module, Mapping[str, float]]


class Diverged(ValueError):
    """A loss that is no number any more; one sentence."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the optimizer: its number, how many epochs are over of how many (0: not known yet), the losses."""

    step: int
    epoch: int = 0
    epochs: int = 0
    losses: Mapping[str, float] = field(default_factory=dict)


Training = Generator[Step, None, Trained]


def training(card: Card, epochs: int | None = None, seed: int = 0, rate: float = 1.0) -> Training:
    """Yield every step of a card's training; return the network and its figures. Closing it ends the training.

    The training stands still between two steps until the next one is asked for.

    Args:
        rate: what the card's own learning rates are multiplied by.

    Raises:
        Diverged: the loss is no number any more.
    """
    if card.train is None:
        raise ValueError(f"{card.name} has no training: it is shown with its initial parameters")
    said: Queue[Step | Trained | BaseException] = Queue(1)
    go_on: Queue[bool] = Queue(1)
    watch = _Watch(said, go_on, rate)
    train = card.train

    def work() -> None:
        try:
            if not go_on.get():
                return
            with watch.watching():
                answer: Step | Trained | BaseException = train(epochs=epochs, seed=seed, progress=watch.progress)
        except BaseException as error:  # of a trainer of any kind: whoever advances it hears of it
            answer = error
        said.put(answer)

    thread = threading.Thread(target=work, name="equiscope-training", daemon=True)
    thread.start()
    try:
        while True:
            go_on.put(True)
            found = said.get()
            if isinstance(found, BaseException):
                raise found
            if not isinstance(found, Step):
                return found
            yield found
    finally:
        if thread.is_alive():
            go_on.put(False)
            thread.join()


class _Watch:
    """Follows the steps of whatever optimizer the training's own thread uses."""

    def __init__(self, said: Queue[Any], go_on: Queue[bool], rate: float) -> None:
        self._said, self._go_on, self._rate = said, go_on, rate
        self._thread = 0
        self._step = self._epoch = self._epochs = 0
        self._latest_loss = math.nan

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Hear of every loss that is differentiated and every step that is made in this thread."""
        self._thread = threading.get_ident()
        backward: Callable[..., None] = Tensor.backward
        watch = self

        def heard(loss: Tensor, *args: Any, **kwargs: Any) -> None:
            if threading.get_ident() == watch._thread and loss.numel() == 1:
                watch._hear(float(loss.detach()))
            backward(loss, *args, **kwargs)

        before: list[float] = []

        def pre(optimizer: torch.optim.Optimizer, *_: Any) -> None:
            if threading.get_ident() == watch._thread:
                before[:] = [group["lr"] for group in optimizer.param_groups]
                for group in optimizer.param_groups:
                    group["lr"] = group["lr"] * watch._rate

        def post(optimizer: torch.optim.Optimizer, *_: Any) -> None:
            if threading.get_ident() == watch._thread:
                for group, own in zip(optimizer.param_groups, before, strict=True):
                    group["lr"] = own
                watch._stepped()

        hooks = [register_optimizer_step_pre_hook(pre), register_optimizer_step_post_hook(post)]
        Tensor.backward = heard  # type: ignore[method-assign, assignment]
        try:
            yield
        finally:
            Tensor.backward = backward  # type: ignore[method-assign]
            for hook in hooks:
                hook.remove()

    def progress(self, epoch: int, epochs: int, text: str) -> None:
        """Hear from the trainer that an epoch is over."""
        self._epoch, self._epochs = epoch, epochs
        self._say()

    def _hear(self, loss: float) -> None:
        self._latest_loss = loss
        if not math.isfinite(loss):
            kind = "not a number" if math.isnan(loss) else "infinite"
            raise Diverged(
                f"the loss is {kind} after {self._step} steps, so the training has stopped; a smaller learning rate "
                "may help"
            )

    def _stepped(self) -> None:
        self._step += 1
        self._say()

    def _say(self) -> None:
        losses = {} if math.isnan(self._latest_loss) else {"loss": self._latest_loss}
        self._said.put(Step(self._step, self._epoch, self._epochs, losses))
        if not self._go_on.get():
            raise Cancelled
