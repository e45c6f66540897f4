"""Declare what the command line is handed: the doors to the packages that explorer must not import."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.declare.states.model_name import split_name
from explorer.state.state import State

if TYPE_CHECKING:
    from explorer.app.answering.engine import LocalEngine
    from explorer.app.remote.engine import DividedEngine
    from explorer.declare.card import Card

    WindowEngine = LocalEngine | DividedEngine


class BadInput(ValueError):
    """Report that what was typed cannot be done; the message is the one line for stderr."""


@dataclass(frozen=True, slots=True)
class Doors:
    """Functions that main.py hands in, because the core must not import the packages behind them.

    Attributes:
        cards: returns the built-in models by name (imports torch).
        window: opens the window on a state (and a session's path); returns the exit code.
        pictures: (engine factory, state, folder) -> saved PNG paths, drawn by the views themselves.
        gallery: (engine factory, folder, "all", "page" or "thumbnails") -> saved paths.
        views: returns [(name, title)] of the views.
        bench: returns the benchmark functions by name.
        program: the module whose `main` and `cards` these are, for a process of its own; "" for none.
        began: the moment (`time.monotonic`) when the command was given, before anything was imported; None: unknown.
        alone: imports what the window needs imported while no other thread imports anything.
    """

    cards: Callable[[], Mapping[str, Card]]
    window: Callable[[Callable[[], WindowEngine], State, argparse.Namespace], int]
    pictures: Callable[[Callable[[], LocalEngine], State, Path], list[Path]]
    gallery: Callable[[Callable[[], LocalEngine], Path, str], list[Path]]
    views: Callable[[], list[tuple[str, str]]]
    bench: Callable[[], Mapping[str, Callable[[], list[dict[str, Any]]]]]
    program: str = ""
    began: float | None = None
    alone: Callable[[], object] = lambda: None


def tell_two_meanings(names: Iterable[str], doors: Doors) -> None:
    """Say on stderr which network is meant by the name of a card that a file or folder here has too."""
    for name in names:
        base = split_name(name)[0]
        if base and not re.search(r"[/\\]", base) and os.path.exists(base) and base in doors.cards():
            here = os.path.join(os.curdir, base)
            print(f"equiscope: {base} is the network of the program; what lies here is {here}", file=sys.stderr)


def require_folder() -> None:
    """Raise BadInput where the folder that the program was called in is gone.

    No path of a command would lead anywhere, and a library of torch ends the process with a line of its own.
    """
    try:
        os.getcwd()
    except FileNotFoundError:
        raise BadInput("the folder that this was called in is gone; change to one that is there") from None
