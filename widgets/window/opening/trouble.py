"""Let what goes wrong with a person's file be an answer of the worker, to be said where they asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtGui import QColor

from explorer.app.thread.failures import is_kind, sentence
from explorer.work.progress import Cancelled
from widgets.base.look import theme

PAGE = "“Say what it takes…”"
_FOUND = re.compile(r",? which --group \w+ finds by trial")  # of a command that looks for more than the window does
_OPTION = re.compile(r"--input(?: '[^']*'| \"[^\"]*\"| KIND)?")


@dataclass(frozen=True, slots=True)
class Trouble:
    """A model that could not be opened: one sentence, and which kind of trouble it is."""

    sentence: str
    misfit: bool = False  # weights that do not fit
    unknown: bool = False  # nobody knows what the network takes


def in_the_window(told: str) -> str:
    """Return a sentence with the page of the window in place of the option of a command that does the same."""
    return _OPTION.sub(PAGE, _FOUND.sub("", told))


def caught(work: Callable[[Any], object]) -> Callable[[Any], object]:
    """Return work whose failure is an answer."""

    def answered(engine: Any) -> object:
        try:
            return work(engine)
        except Cancelled:
            raise
        except (Exception, SystemExit) as error:  # a person's file may raise anything
            return Trouble(in_the_window(sentence(error)), is_kind(error, "Misfit"), is_kind(error, "Unknown"))

    return answered


def problem_style() -> str:
    """Return the style of a label on a page that says what went wrong."""
    t = theme.current()
    ground = QColor(t.bad)
    return (
        f"color: {t.text}; background: rgba({ground.red()}, {ground.green()}, {ground.blue()}, 40);"
        f"border-left: 3px solid {t.bad}; padding: 8px 10px;"
    )
