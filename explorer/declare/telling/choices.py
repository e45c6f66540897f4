"""Choices of a person about data: how a file is read, and how data are fitted to a network.

They stand behind the name of the data, "table.csv?as=series&columns=2,3#1", so that a state, a session and a command
say them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

AS = "as"  # what names the reader
NONE = "none"
_ASKED = re.compile(r"[a-z]+=[^&#?]*(?:&[a-z]+=[^&#?]*)*")


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing that may be said.

    Attributes:
        name: "columns", as it is written.
        title: what it is called in the window.
        options: (value, title) of what there is to choose from.
        value: what is in use; of `several`, with a comma between two.
        several: whether more than one may be chosen, in the order in which they stand.
    """

    name: str
    title: str
    options: tuple[tuple[str, str], ...]
    value: str
    several: bool = False

    def require(self, text: str) -> str:
        """Return the choice; raise ValueError, with the options, where it is none of them."""
        known = [value for value, _ in self.options]
        wrong = next((t for t in (text.split(",") if self.several else [text]) if t not in known), None)
        if wrong is not None:
            shown = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
            raise ValueError(f"{self.name}={wrong:.40} is none of {shown}")
        return text


def split_asked(text: str) -> tuple[str, dict[str, str]]:
    """Return ("table.csv#1", {"as": "series"}) of "table.csv?as=series#1"; (text, {}) where nothing is asked."""
    before, mark, behind = text.partition("?")
    while mark:
        asked, hash_mark, part = behind.partition("#")
        if before.strip() and _ASKED.fullmatch(asked) and not _exists(text):
            return before + hash_mark + part, dict(one.split("=", 1) for one in asked.split("&"))
        more, mark, behind = behind.partition("?")
        before = f"{before}?{more}"
    return text, {}


def with_asked(base: str, asked: Mapping[str, str], part: str = "") -> str:
    """Undo `split_asked`."""
    behind = "&".join(f"{name}={value}" for name, value in asked.items())
    return base + (f"?{behind}" if behind else "") + (f"#{part}" if part else "")


def unknown(asked: Mapping[str, str], known: Collection[str]) -> str:
    """Return a clause about the first name that nobody knows, "" where all are known."""
    wrong = next((name for name in asked if name not in known and name != AS), "")
    return f"{wrong!r:.40} cannot be chosen: there is {', '.join(known) or 'nothing to choose'}" if wrong else ""


def _exists(text: str) -> bool:
    try:
        return Path(text).expanduser().exists()
    except (OSError, ValueError, RuntimeError):
        return False
