"""Drive the training of a card: whoever steers it is called between two steps, whatever the trainer looks like.

Trainers that loop over a `Course` can be kept and taken back. One that loops by itself is watched: its steps are those
of its optimizer, and the only way back is from the start.
"""

from __future__ import annotations

import gc
import math
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from explorer.app.thread.failures import out_of_memory
from explorer.declare.card import Card
from explorer.declare.telling.counting import number_of
from explorer.network.tracing.walking import parameters_of
from explorer.work.training.course import Course, driven_by, first_strange
from explorer.work.words import first_line

Trained = tuple[nn.Module, Mapping[str, float]]
GROWN = 100.0  # times the first loss
GROWN_STEPS = 20  # of which more than half are as large


class Diverged(ValueError):
    """A loss that is no number any more, or has grown beyond all measure; one sentence.

    Attributes:
        step: the steps before it went wrong.
    """

    def __init__(self, sentence: str, step: int) -> None:
        super().__init__(sentence)
        self.step = step


class Finished(Exception):
    """Raised between two steps of a trainer that knows no other way to end early."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the optimizer: its number, the epochs done and planned (0: not known yet), the losses.

    Attributes:
        losses: "loss" and the parts it is made of.
        total: the number of all steps, 0 where it is not known.
    """

    step: int
    epoch: int = 0
    epochs: int = 0
    losses: Mapping[str, float] = field(default_factory=dict)
    total: int = 0


class Steers:
    """Is called between steps; does nothing."""

    def begun(self, drive: Drive) -> None:
        """The first step is about to be made, or the first after a restart."""

    def stepped(self, drive: Drive) -> None:
        """A step was made. Whatever is raised here ends the training."""

    def diverged(self, drive: Drive, error: Diverged) -> None:
        """The last step has led nowhere. A course may be taken back here."""
        raise error


class Drive:
    """One training on the calling thread.

    Attributes:
        rate: what the learning rates of the trainer are multiplied by, from the next step on.
        limit: the number of steps after which whoever steers will end it, None for no limit.
        course: what can be kept and taken back, None of a trainer that loops by itself.
        step: the last step.
        unjudged: why the trained network has no figures, "" where it has.
    """

    def __init__(self, card: Card, epochs: int | None, seed: int, rate: float, steers: Steers) -> None:
        if card.train is None:
            raise ValueError(f"{card.name} has no training: it is shown with its initial parameters")
        self.card, self.seed, self.rate = card, seed, rate
        self.course: Course | None = None
        self.limit: int | None = None
        self.unjudged = ""
        self.step = Step(0)
        self._epochs, self._steers, self._train = epochs, steers, card.train
        self._thread = 0
        self._latest = self._first = math.nan
        self._recent: deque[float] = deque(maxlen=GROWN_STEPS)
        self._by = ""  # the loss that those are values of
        self._heard = False  # of any loss
        self._strange = ""  # the first parameter that is no number, when the loss is none
        self._optimizer: torch.optim.Optimizer | None = None
        self._network: nn.Module | None = None
        self._epoch = 0

    def run(self) -> Trained:
        """Train from start to end; one that was finished early has no figures where its trainer cannot judge."""
        with self._watching(), driven_by(self):
            try:
                return self._train(epochs=self._epochs, seed=self.seed, progress=self._progress)
            except Finished:
                network = self.network
                assert network is not None
                return network.eval(), {}
            except (ArithmeticError, RuntimeError, ValueError) as error:
                course, network = self.course, self.network
                ended = course is not None and (course.over or course.at >= course.total)
                if network is None or not ended or out_of_memory(error) or isinstance(error, Diverged):
                    raise
                # what it has learned is there, only its figures are not
                self.unjudged = f"the trained network could not be judged: {first_line(error)}"
                return network.eval(), {}

    def finish(self) -> None:
        """End the training with the next step, as if it were over."""
        if self.course is None:
            raise Finished
        self.course.over = True

    @property
    def network(self) -> nn.Module | None:
        """Return the network that learns, as the card builds it; None before it is known."""
        if self._network is None and (self.course is not None or self._optimizer is not None):
            self._network = self._found()
        return self._network

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take the training back, or forth, to a kept state.

        Raises:
            ValueError: it is of another training, or this one loops by itself.
        """
        if self.course is None:
            raise ValueError("this training cannot be taken back: its trainer loops by itself")
        self.course.restore(state)
        self._recent.clear()
        self.step = self._now(self.course)

    # as the driver of a course --------------------------------------------------------------------------------
    def begun(self, course: Course) -> None:
        self.course, self._network = course, None
        self.step = self._now(course)
        self._steers.begun(self)

    def stepped(self, course: Course) -> None:
        self.step = self._now(course)
        self._latest, self._heard = course.losses["loss"], True
        error = self._trouble(course.at - 1)
        if error is not None:
            self._steers.diverged(self, error)
        else:
            self._steers.stepped(self)

    def _now(self, course: Course) -> Step:
        total = min(course.total, self.limit or course.total)
        return Step(course.at, course.epoch, course.epochs, course.losses, total)

    # of a trainer that loops by itself ------------------------------------------------------------------------
    @contextmanager
    def _watching(self) -> Iterator[None]:
        """Hear of every loss that is differentiated and every step that is made in this thread."""
        self._thread = threading.get_ident()
        backward: Callable[..., None] = Tensor.backward
        drive = self

        def heard(loss: Tensor, *args: Any, **kwargs: Any) -> None:
            if drive.course is None and threading.get_ident() == drive._thread and loss.numel() == 1:
                drive._latest, drive._heard = float(loss.detach()), True
            backward(loss, *args, **kwargs)

        before: list[float] = []

        def pre(optimizer: torch.optim.Optimizer, *_: Any) -> None:
            if threading.get_ident() != drive._thread:
                return
            before[:] = [group["lr"] for group in optimizer.param_groups]
            for group in optimizer.param_groups:
                group["lr"] = group["lr"] * drive.rate
            if drive._optimizer is None:
                drive._optimizer = optimizer
            latest = drive._latest if drive.course is None else drive.course.losses.get("loss", 0.0)
            if not math.isfinite(latest):
                drive._strange = drive._blamed()

        def post(optimizer: torch.optim.Optimizer, *_: Any) -> None:
            if threading.get_ident() != drive._thread:
                return
            for group, own in zip(optimizer.param_groups, before, strict=True):
                group["lr"] = own
            if drive.course is None:
                drive._stepped_alone()

        hooks = [register_optimizer_step_pre_hook(pre), register_optimizer_step_post_hook(post)]
        Tensor.backward = heard  # type: ignore[method-assign, assignment]
        try:
            yield
        finally:
            Tensor.backward = backward  # type: ignore[method-assign]
            for hook in hooks:
                hook.remove()

    def _progress(self, epoch: int, epochs: int, text: str) -> None:
        """Hear from the trainer that an epoch is over."""
        if self.course is None:
            per_epoch = self.step.step / epoch if epoch else 0.0
            self.step = Step(self.step.step, epoch, epochs, self.step.losses, round(per_epoch * epochs))

    def _stepped_alone(self) -> None:
        done = self.step
        if done.step == 0:
            self._steers.begun(self)
        losses = {} if math.isnan(self._latest) else {"loss": self._latest}
        self.step = Step(done.step + 1, done.epoch, done.epochs, losses, done.total)
        error = self._trouble(done.step)
        if error is not None:
            self._steers.diverged(self, error)
        self._steers.stepped(self)

    # what is wrong --------------------------------------------------------------------------------------------
    def _trouble(self, sound: int) -> Diverged | None:
        """Return what is wrong with the loss of the step after `sound` ones."""
        loss = self._latest
        if self.course is not None and self.course.loss_name != self._by:
            self._by, self._first = self.course.loss_name, math.nan  # another loss has another first value
            self._recent.clear()
        stopped = f"after {number_of(sound, 'step')}, so the training has stopped"
        if math.isfinite(loss):
            if math.isnan(self._first):
                self._first = abs(loss)
            self._recent.append(loss)  # one that falls far below zero gets better and better
            middle = sorted(self._recent)[GROWN_STEPS // 2] if len(self._recent) == GROWN_STEPS else 0.0
            if middle <= GROWN * max(self._first, 1e-6):
                return None
            return Diverged(
                f"the loss has grown to {middle:.3g}, {middle / self._first:,.0f} times the first, {stopped}"
                f"{self._largest()}; a smaller learning rate may help",
                max(0, sound - GROWN_STEPS),
            )
        if not self._heard:
            return None  # a trainer that differentiates no number
        kind = "not a number" if math.isnan(loss) else "infinite"
        where = f": {self._strange}" if self._strange else ""
        return Diverged(f"the loss is {kind} {stopped}{where}; a smaller learning rate may help", sound)

    @property
    def _learning(self) -> nn.Module | None:
        """Return the network that learns, as far as it is known."""
        return self.course.network if self.course is not None else self.network

    def _largest(self) -> str:
        """Say which parameter holds the largest values: where it is, as no value is strange."""
        network = self._learning
        found = [
            (float(parameter.detach().abs().max()), name)
            for name, parameter in (network.named_parameters() if network is not None else ())
            if parameter.numel()
        ]
        if not found:
            return ""
        value, name = max(found)
        return f": {name} holds the largest values, up to {value:.2g}"

    def _blamed(self) -> str:
        """Return the first parameter that is no number, or whose gradient is none, before the step is made."""
        network = self._learning
        if network is None:
            return ""
        if name := first_strange(network):
            return f"{name} holds values that are no finite numbers"
        for name, parameter in network.named_parameters():
            if parameter.grad is not None and not bool(parameter.grad.isfinite().all()):
                return f"the gradient of {name} is not finite"
        return ""

    def _found(self) -> nn.Module | None:
        """Return the module whose parameters are trained, and whose state is that of the card's own network."""
        if self.course is not None:
            among: list[nn.Module] = list(self.course.network.modules())
        else:
            assert self._optimizer is not None
            trained = {id(p) for group in self._optimizer.param_groups for p in group["params"]}
            # by type: asking an object what it is an instance of may run code of other libraries
            modules = [m for m in gc.get_objects() if issubclass(type(m), nn.Module)]
            among = [m for m in modules if trained & _parameters(m)]
        with torch.random.fork_rng(devices=[]):  # a training may draw from the same generator as fresh parameters
            wanted = set(self.card.build().state_dict())
        return next((m for m in among if set(m.state_dict()) == wanted), None)


def _parameters(module: nn.Module) -> set[int]:
    """Return which parameters a module has, none of one not made yet: it may be anybody's, with odd walks."""
    try:
        return {id(p) for p in parameters_of(module)}
    except (AttributeError, TypeError):  # nn.Module.__init__ has not been called yet
        return set()
