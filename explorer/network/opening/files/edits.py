"""Compare code with what a person has trusted before: what has changed since."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from explorer.network.opening.files.trust import Trusted, listed, text_of

AROUND = 3  # lines of a file before and after each change


@dataclass(frozen=True, slots=True)
class Edit:
    """One file that is another one now.

    Attributes:
        path, trusted: of the file, and of its content that was trusted last.
        lines: a unified diff without its head; () where the former text was not kept.
    """

    path: str
    trusted: Trusted
    lines: tuple[str, ...]

    @property
    def added(self) -> int:
        return sum(line.startswith("+") for line in self.lines)

    @property
    def removed(self) -> int:
        return sum(line.startswith("-") for line in self.lines)


def edits(code: Iterable[tuple[str, str]]) -> tuple[Edit, ...]:
    """Return what is another content now, of (path, sha256) pairs, where another one of the same file was trusted."""
    known = listed()
    trusted = {one.digest for one in known}
    latest = {one.path: one for one in known if one.path}
    found = []
    for path, digest in code:
        former = latest.get(str(Path(path).resolve()))
        if former is None or digest in trusted:
            continue
        before = text_of(former.digest)
        lines: tuple[str, ...] = ()
        if before is not None:
            now = Path(path).read_bytes().decode(errors="replace")
            lines = tuple(unified_diff(before.splitlines(), now.splitlines(), lineterm="", n=AROUND))[2:]
        found.append(Edit(path, former, lines))
    return tuple(found)
