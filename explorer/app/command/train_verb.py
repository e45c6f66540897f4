"""Carry out `train`: a card is trained again, its steps are shown or logged, and its weights are written."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from explorer.app.command.doors import BadInput, Doors

if TYPE_CHECKING:
    from explorer.app.answering.training import Step

EVERY_S = 0.05  # between two lines about steps


def add_arguments(train: argparse.ArgumentParser) -> None:
    """Add what `train` takes."""
    train.add_argument("model", metavar="M")
    train.add_argument("--out", metavar="FILE.safetensors", default="")
    train.add_argument("--epochs", type=int, default=None)
    train.add_argument("--seed", type=int, default=0)
    train.add_argument("--rate", type=float, default=1.0, help="times the card's own learning rate")
    train.add_argument("--log", metavar="FILE|-", default="", help="steps and losses as lines of JSON; - for stdout")


def run(args: argparse.Namespace, doors: Doors) -> int:
    """Train, and write the weights when it is over."""
    from explorer.app.answering.training import training
    from explorer.app.command.writing import save_weights
    from explorer.network.opening.loading import find_card

    card = find_card(args.model, doors.cards())
    if card.train is None:
        raise BadInput(f"{card.name} has no training: it is shown with its initial parameters")
    if args.seed < 0:
        raise BadInput("--seed must not be negative")
    if args.epochs is not None and args.epochs < 1:
        raise BadInput("--epochs must be at least 1")
    if not 0 < args.rate < 1e6:
        raise BadInput("--rate must be a positive number")
    path = Path(args.out or f"{card.name}.safetensors")
    if path.suffix != ".safetensors":
        raise BadInput(f"--out {path} must end in .safetensors")
    if not path.parent.is_dir():
        raise BadInput(f"there is no folder {path.parent}")
    steps = training(card, args.epochs, args.seed, args.rate)
    with _log(args.log) as log:
        told = _Told(log)
        try:
            while True:
                told.step(next(steps))
        except StopIteration as end:
            model, metrics = end.value
        finally:
            steps.close()
        told.end()
        save_weights(path, model, {"model": card.name, "seed": str(args.seed), **_short(metrics)})
        if log is not None:
            _line(log, {"written": str(path), "figures": {k: float(v) for k, v in metrics.items()}})
    if args.log != "-":
        print(f"{path}  " + "  ".join(f"{k} {v:.4g}" for k, v in metrics.items()))
    return 0


class _Told:
    """Says how far it is: on the terminal after each epoch, in the log not more often than can be followed."""

    def __init__(self, log: TextIO | None) -> None:
        self._log, self._last, self._epoch = log, 0.0, 0

    def step(self, step: Step) -> None:
        over = step.epoch > self._epoch
        self._epoch = step.epoch
        if over:
            losses = "  ".join(f"{name} {value:.4f}" for name, value in step.losses.items())
            print(f"\repoch {step.epoch}/{step.epochs}  {losses}", end="", file=sys.stderr, flush=True)
        now = time.monotonic()
        if self._log is not None and (over or now - self._last >= EVERY_S):
            self._last = now
            found = {"step": step.step, "epoch": step.epoch, "epochs": step.epochs, "losses": dict(step.losses)}
            _line(self._log, found)

    def end(self) -> None:
        print(file=sys.stderr)


@contextmanager
def _log(text: str) -> Iterator[TextIO | None]:
    if text in ("", "-"):
        yield sys.stdout if text else None
        return
    try:
        file = Path(text).expanduser().open("w", encoding="utf-8")
    except OSError as error:
        raise BadInput(f"--log {text}: {(error.strerror or '').lower()}") from None
    with file:
        yield file


def _line(log: TextIO, found: dict[str, Any]) -> None:
    print(json.dumps(found, ensure_ascii=False), file=log, flush=True)


def _short(metrics: Any) -> dict[str, str]:
    return {k: f"{v:.6g}" for k, v in metrics.items()}
