"""Definitions of words, and plain words in place of notation: one page is the source of both."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from PySide6.QtCore import QObject, QSettings, Signal

from explorer.work.files.places import RESOURCES

KEY = "plain_words"
PAGE = "glossary.md"
_ROW = re.compile(r"^\| (?P<left>[^|]+?) \| (?P<right>[^|]+?) \|$", re.MULTILINE)


class _Changes(QObject):
    changed = Signal()


changes = _Changes()
_state = {"plain": False}


@cache
def _tables() -> tuple[dict[str, str], dict[str, str]]:
    """Return {word: meaning} and {notation: plain words}, both empty where the page is not there."""
    if not (page := Path(RESOURCES, PAGE)).is_file():
        return {}, {}
    words, _, notation = page.read_text(encoding="utf-8").partition("## Notation")
    return _rows(words), _rows(notation)


def _rows(text: str) -> dict[str, str]:
    found = {m["left"]: m["right"].replace("`", "") for m in _ROW.finditer(text)}
    return {word: told for word, told in found.items() if word not in ("word", "notation", "---")}


def meaning(word: str) -> str:
    """Return the definition of a word, "" where there is none."""
    return _tables()[0].get(word, "")


def words_in(text: str) -> list[str]:
    """Return the words of the glossary that stand in a text, in its order."""
    found = {word: match.start() for word, alone in _alone() if (match := alone.search(text))}
    return sorted(found, key=found.__getitem__)


@cache
def _alone() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return each word with what finds it where it stands alone; ρ(g) stands in ρ(g)x too."""
    return tuple(
        (word, re.compile(rf"(?<!\w){re.escape(word)}" + (r"(?!\w)" if word[-1].isalnum() else "")))
        for word in _tables()[0]
    )


def plain() -> bool:
    """Return whether plain words are written in place of notation."""
    return _state["plain"]


def kept(settings: QSettings) -> bool:
    """Return what the person has chosen."""
    return str(settings.value(KEY, "no")) == "yes"


def use(on: bool) -> None:
    """Write plain words from now on, or notation."""
    if on != _state["plain"]:
        _state["plain"] = on
        changes.changed.emit()


def keep(settings: QSettings, on: bool) -> None:
    """Remember the choice, and follow it."""
    settings.setValue(KEY, "yes" if on else "no")
    use(on)


def say(text: str) -> str:
    """Return a text as it is written: with plain words in place of notation where the person wants them."""
    if not _state["plain"] or not text:
        return text
    return _pattern().sub(lambda m: _tables()[1][m[0].replace("(g) x", "(g)x")], text)


@cache
def _pattern() -> re.Pattern[str]:
    """Return what finds notation, the longest first, also with a space before x; words only where they stand alone."""
    terms = sorted(_tables()[1], key=len, reverse=True)
    either = "|".join(re.escape(t).replace(r"\(g\)x", r"\(g\) ?x") for t in terms)
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)") if terms else re.compile(r"(?!)")
