"""One whole training from the command line: resumed where it was cut off, kept, logged, written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from explorer.app.command.doors import BadInput
from explorer.app.training.driving import Diverged, Drive, Steers
from explorer.app.training.errors import LayerErrors
from explorer.app.training.keeping import Keeper, Plan, save_trained
from explorer.app.training.telling import Bar, Log
from explorer.declare.card import Card
from explorer.network.tracing.running import evaluating


@dataclass(frozen=True, slots=True)
class Aim:
    """Holds what is trained, how, and into which file; see the options of `train`."""

    card: Card
    path: Path
    epochs: int | None = None
    steps: int | None = None
    seed: int = 0
    rate: float = 1.0
    loss: str = ""
    errors: int = 0
    chain: str = ""
    resume: bool = False
    keep_every: float = 1.0

    @property
    def kept(self) -> Path:
        """Return the folder of what is kept until the weights are written."""
        return self.path.with_name(f"{self.path.name}.training")


def train(aim: Aim, log: Path | None, *, logged: bool, quiet: bool) -> Mapping[str, float]:
    """Train, write the weights, and return the figures.

    Args:
        log: the file of lines of JSON, None for the standard output.
        quiet: draw no bar.

    Raises:
        BadInput: the loss diverged, there is a training that was cut off, or what is kept is of another one.
    """
    epochs = aim.epochs
    if aim.steps is not None and epochs is None:
        per_epoch = steps_of_an_epoch(aim.card, aim.seed)
        epochs = -(-aim.steps // per_epoch) if per_epoch else None
    keeper = Keeper(aim.kept, Plan(aim.card.name, epochs, aim.seed), aim.keep_every)
    found = keeper.found()
    if found is not None and not aim.resume:
        raise BadInput(
            f"{aim.kept} holds a training that was cut off after {keeper.ring.steps[-1]:,} steps: "
            "add --resume to go on with it, or remove that folder"
        )
    if found is not None and (differs := keeper.plan.differs(found)):
        raise BadInput(f"the training that is kept in {aim.kept} {differs}: it cannot be resumed as another one")
    try:
        lines = Log(log) if logged else None
    except OSError as error:
        raise BadInput(f"--log {log}: {(error.strerror or '').lower()}") from None
    teller = _Teller(aim, keeper, lines, None if quiet else Bar())
    drive = Drive(aim.card, epochs, aim.seed, aim.rate, teller)
    drive.limit = aim.steps
    try:
        network, figures = drive.run()
        teller.warn(drive.unjudged)
        save_trained(
            aim.path,
            network,
            {"model": aim.card.name, "seed": str(aim.seed), **{k: f"{v:.6g}" for k, v in figures.items()}},
        )
        if lines is not None:
            lines.line({"written": str(aim.path), "figures": {k: float(v) for k, v in figures.items()}})
    except Diverged as error:
        kept = keeper.ring.steps
        again = f"; step {kept[-1]:,} is kept: --resume --rate {aim.rate / 10:g} goes on from there" if kept else ""
        raise BadInput(f"{error}{again}") from None
    finally:
        teller.end(drive)
        if not keeper.ring.steps:  # nothing to go on from
            keeper.ring.clear()
    keeper.ring.clear()
    return figures


class _Begun(Exception):
    """Raised to learn how long a training would be."""


def steps_of_an_epoch(card: Card, seed: int) -> int:
    """Return the steps of an epoch; 0 where the trainer does not say."""
    found = [0]

    class Asks(Steers):
        def begun(self, drive: Drive) -> None:
            found[0] = drive.course.steps if drive.course is not None else 0
            raise _Begun

    try:
        Drive(card, 1, seed, 1.0, Asks()).run()
    except _Begun:
        pass
    return found[0]


class _Teller(Steers):
    """Between two steps: the bar, the log, what is kept."""

    def __init__(self, aim: Aim, keeper: Keeper, log: Log | None, bar: Bar | None) -> None:
        self._aim, self._keeper, self._log, self._bar = aim, keeper, log, bar
        self._errors: LayerErrors | None = None
        self._warned = False

    def begun(self, drive: Drive) -> None:
        aim = self._aim
        state = self._keeper.ring.newest() if aim.resume and drive.course is not None else None
        if state is not None:
            try:
                drive.restore(state)
            except ValueError as error:
                raise BadInput(
                    f"{aim.kept} does not fit {aim.card.name} as it is now, {error}: "
                    "remove that folder to train it from the start"
                ) from None
            if self._log is not None:
                self._log.go_on(drive.step.step)
        else:
            self._keeper.begin()
        if aim.loss:
            if drive.course is None:
                raise BadInput(f"{aim.card.name} has one loss, which cannot be exchanged")
            try:
                drive.course.choose(aim.loss)
            except ValueError as error:
                raise BadInput(str(error)) from None
        if state is None:
            self._keeper.keep(drive)
            self._measure(drive)
        if aim.steps is not None and drive.step.step >= aim.steps:
            drive.finish()

    def stepped(self, drive: Drive) -> None:
        step = drive.step
        if self._log is not None:
            self._log.step(step)
            if self._aim.errors and step.step % self._aim.errors == 0:
                self._measure(drive)
        if self._bar is not None:
            self._bar.show(step)
        if self._keeper.due():
            if self._log is not None:
                self._log.flush()  # it may not be behind what is kept
            self._keeper.keep(drive)
            self._warn()
        if self._aim.steps is not None and step.step >= self._aim.steps:
            drive.finish()

    def _measure(self, drive: Drive) -> None:
        """Log the error of each layer, and how good the network is."""
        network = drive.network
        if not self._aim.errors or self._log is None or network is None:
            return
        if self._errors is None:
            self._errors = LayerErrors(self._aim.card, network, self._aim.chain, seed=self._aim.seed)
        line = {"step": drive.step.step, "errors": dict(self._errors.of(network))}
        self._log.line({**line, "figures": figures_now(drive)})

    def warn(self, sentence: str) -> None:
        if sentence:
            import sys

            print(f"\n{sentence[:1].upper()}{sentence[1:]}.", file=sys.stderr)

    def _warn(self) -> None:
        if self._keeper.told and not self._warned:
            self._warned = True
            self.warn(self._keeper.told)

    def end(self, drive: Drive) -> None:
        if self._bar is not None:
            self._bar.show(drive.step, last=True)
            self._bar.end()
        if self._log is not None:
            self._log.close()


def figures_now(drive: Drive) -> dict[str, float]:
    """Return what the trainer says of its network as it is, {} where it says nothing."""
    if drive.course is None or drive.course.judge is None:
        return {}
    network = drive.course.network
    with torch.random.fork_rng(devices=[]), evaluating(network), torch.no_grad():
        network.eval()
        return {name: float(value) for name, value in drive.course.judge(network).items()}
