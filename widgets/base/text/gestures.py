"""Find what mouse and keys do in a panel, in the page of all keys and gestures (resources/keys.md)."""

from __future__ import annotations

import re
from functools import cache
from html import escape

from explorer.work.files.places import RESOURCES

PAGE = "keys.md"
_ROW = re.compile(r"^\| (.+?) \| (.+?) \|$")
_ANY = ("charts", "panels")  # headings over more than one or two panels
_NAME = re.compile(r"\*([^*]+)\*")
_PLACE = re.compile(r"^(In|On) (the )?|( panel)$")


@cache
def _sections() -> dict[str, list[tuple[str, str]]]:
    """Return the rows of each heading of the page."""
    found: dict[str, list[tuple[str, str]]] = {}
    heading = ""
    for line in (RESOURCES / PAGE).read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
            found[heading] = []
        elif (row := _ROW.match(line)) is not None and heading and row[1] != "gesture":
            found[heading].append((row[1], row[2]))
    return found


def gestures_of(title: str) -> list[tuple[str, str]]:
    """Return gestures and what they do in the panel of that title.

    A heading names a panel, or two of which rows name one, "In Gates and Phase": what follows such a row without a
    name is of the same panel. Below "In the charts" and "In the panels" rows name panels, and others are of them all.
    """
    found = []
    for heading, rows in _sections().items():
        whole = _PLACE.sub("", heading)
        panels = {whole, *whole.split(" and ")}
        if whole.lower() in _ANY:
            panels = {name for gesture, _ in rows for name in _NAME.findall(gesture)}
        here = title.lower() in {panel.lower() for panel in panels}
        last: set[str] = set()
        for gesture, does in rows:
            names = set(_NAME.findall(gesture)) & panels
            last = last if not names else set() if whole.lower() in _ANY else names
            if title in (names or last) or (here and not names and not last):
                found.append((gesture, does))
    return found


def as_html(text: str) -> str:
    """Return the words of a row with its names and keys set off."""
    text = re.sub(r"`([^`]+)`", r"<b>\1</b>", escape(text))
    return _NAME.sub(r"<i>\1</i>", text)
