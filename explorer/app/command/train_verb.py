"""Carry out `train`: a card is trained again, its steps are shown, logged and kept, and its weights are written."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.app.command.doors import BadInput, Doors
from explorer.declare.states.model_name import PYTHON, code_of, file_stem, named_as_shown
from explorer.work.files.places import at_home

if TYPE_CHECKING:
    from explorer.declare.card import Card
    from explorer.network.opening.files.trust import Trust

GIVE = "give a file of examples, arrays x and y (--examples FILE)"
WRITE = (
    "add EXAMPLES = (x, y) to its file, with LOSS = f(answer, y) if need be, or export a CARD with train "
    "(docs/guide/training.md)"
)


def add_arguments(train: argparse.ArgumentParser) -> None:
    """Add what `train` takes."""
    train.add_argument("model", metavar="M", help="a card's name, or file.py:callable")
    train.add_argument("--out", metavar="FILE.safetensors", default="")
    train.add_argument("--epochs", type=int, default=None)
    train.add_argument("--steps", type=int, default=None, help="end after so many steps of the optimizer")
    train.add_argument("--seed", type=int, default=0)
    train.add_argument("--rate", type=float, default=1.0, help="times the card's own learning rate")
    train.add_argument("--loss", metavar="NAME", default="", help="another loss, where the card has several")
    train.add_argument("--log", metavar="FILE|-", default="", help="steps and losses as lines of JSON; - for stdout")
    train.add_argument("--errors", metavar="STEPS", type=int, default=0, help="log the error of each layer that often")
    train.add_argument("--transform", metavar="CHAIN", default="", help="under which element; as for run")
    train.add_argument(
        "--keep-every", metavar="SECONDS", type=float, default=1.0, help="between two checkpoints; 0: each step"
    )
    train.add_argument("--resume", action="store_true", help="go on where a training for the same FILE was cut off")
    train.add_argument(
        "--examples", metavar="FILE", default="", help="learn these, .npz or .safetensors with arrays x and y"
    )
    train.add_argument("--trust", action="store_true", help="execute the file that the model names")
    train.add_argument("--live", metavar="FOLDER", default="", help=argparse.SUPPRESS)  # steered by the window


def run(args: argparse.Namespace, doors: Doors) -> int:
    """Train, and write the weights when it is over."""
    channel = None
    if args.live:
        from explorer.app.training.channel import Channel

        channel = Channel()
    card = _card(args, doors, args.trust if channel is None else channel.trust())
    path = _checked(args, card)
    from explorer.app.thread.failures import out_of_memory
    from explorer.app.training.from_command_line import Aim, train

    aim = Aim(
        card, path, args.epochs, args.steps, args.seed, args.rate, args.loss, args.errors, args.transform,
        args.resume, args.keep_every,
    )  # fmt: skip
    try:
        if channel is not None:
            from explorer.app.remote.settings import memory_limit
            from explorer.app.training.live import serve
            from explorer.work.processes.birth import keep_to

            if card.own:
                keep_to(memory_limit())  # somebody's own code may ask for more than there is
            return serve(card, args, path, channel)
        log = at_home(args.log) if args.log not in ("", "-") else None
        metrics = train(aim, log, quiet=args.log == "-", logged=bool(args.log))
    except Exception as error:
        if isinstance(error, BadInput) or not out_of_memory(error):
            raise
        raise BadInput(f"memory has run out while {card.name} was trained{_again(aim.kept)}") from None
    if args.log != "-":
        print("  ".join([str(path), *(f"{k} {v:.4g}" for k, v in metrics.items())]))
    return 0


def _card(args: argparse.Namespace, doors: Doors, trust: bool | Trust) -> Card:
    """Return the card that is trained, with what trains it.

    Raises:
        BadInput: nothing does, or its code may not run.
    """
    from explorer.network.opening.loading import find_card
    from explorer.network.opening.refusals import Untrusted

    try:
        card = find_card(args.model, doors.cards(), trust)
    except Untrusted as error:
        if isinstance(trust, bool):
            raise
        short = named_as_shown(args.model)
        raise BadInput(
            f"{short} holds other code than you have allowed: open it again, and say that it may run"
        ) from error
    if args.examples:
        from functools import partial

        from explorer.work.training.examples import examples_in, from_examples

        if card.own:
            card.build()  # a network that was looked at is handed out first: its parameters are not of the seed
        given = partial(examples_in, at_home(args.examples))
        return replace(card, train=from_examples(card.build, given, args.examples, card.recipe))
    if card.train is not None:
        return card
    if not card.own:
        raise BadInput(f"{card.name} has no training: it is shown with its initial parameters")
    code = code_of(args.model)
    ways = [GIVE, WRITE] if code is not None and code.suffix == PYTHON else [GIVE]
    raise BadInput(f"{named_as_shown(args.model)} brings no training: {', '.join(ways)}")


def _checked(args: argparse.Namespace, card: Card) -> Path:
    """Return the path of the weights; raise BadInput where something cannot be."""
    if args.seed < 0:
        raise BadInput("--seed must not be negative")
    for name in ("epochs", "steps"):
        if getattr(args, name) is not None and getattr(args, name) < 1:
            raise BadInput(f"--{name} must be at least 1")
    if not 0 < args.rate < 1e6:
        raise BadInput("--rate must be a positive number below 1,000,000")
    if args.errors < 0 or not args.keep_every >= 0:
        raise BadInput(f"--{'errors' if args.errors < 0 else 'keep-every'} must not be negative")
    path = at_home(args.out or f"{file_stem(args.model)}.safetensors")
    if path.suffix != ".safetensors":
        raise BadInput(f"--out {path} must end in .safetensors")
    if not path.parent.is_dir():
        raise BadInput(f"there is no folder {path.parent}")
    return path


def _again(folder: Path) -> str:
    return f"; what was reached is kept in {folder}, and --resume goes on from there" if folder.is_dir() else ""
