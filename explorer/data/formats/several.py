"""Several things in one file, such as the frames of a run: which of them is read, and what is told of the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import AnyStr, Generic

from explorer.data.formats.checks import Broken
from explorer.declare.samples import Sample

_DIGITS = 9  # of a number of atoms, and of a part


def wanted_of(part: str) -> int:
    """Return which thing is asked for, from 0: "12" of "file#12" is the twelfth, "" the first; -1 for no number."""
    if not part:
        return 0
    return int(part) - 1 if part.isascii() and part.isdigit() and len(part) <= _DIGITS else -1


def require_part(part: str, count: int, what: str) -> int:
    """Return which of `count` things is asked for, from 0.

    Raises:
        Broken: there is none of that number.
    """
    wanted = wanted_of(part)
    if not 0 <= wanted < max(count, 1):
        known = f"choose one from 1 to {count}" if count > 1 else "leave out what follows #"
        raise Broken(f"it has no {what} {part[:40]!r}", known)
    return wanted


def one_of(sample: Sample, path: Path, wanted: int, count: int, what: str) -> Sample:
    """Return a sample that is one of several in a file, which says so; as it is where there is one alone."""
    if count < 2:
        return sample
    told = f"{what} {wanted + 1} of {count}" + (f"; {path.name}#{wanted + 2} is the next" if wanted + 1 < count else "")
    title = f"{path.name}, {what} {wanted + 1}" if wanted else sample.title
    return replace(sample, title=title, parts=count, notes=(told, *sample.notes))


@dataclass(frozen=True, slots=True)
class Frame(Generic[AnyStr]):
    """One frame of an XYZ: its lines, how many lines stand before it, and how many frames there are."""

    lines: list[AnyStr]
    before: int
    count: int
    rest: int  # the number of the first line that belongs to no frame, else 0


def framed(lines: Iterable[AnyStr], wanted: int) -> Frame[AnyStr]:
    """Return one frame, from 0: a number of atoms, a remark, the atoms, and the edges of a cell where lines name them.

    Of the others, lines are counted only.
    """
    kept: list[AnyStr] = []
    before = count = left = 0
    for k, line in enumerate(lines):
        if left:
            left -= 1
        elif (word := line.strip()).isdigit() and len(word) <= _DIGITS:
            count, left = count + 1, int(word) + 1
            before = k if count - 1 == wanted else before
        elif word and not word[:3].upper() == ("VEC" if isinstance(word, str) else b"VEC"):
            return Frame(kept, before, count, k + 1)
        if count - 1 == wanted:
            kept.append(line)
    return Frame(kept, before, count, 0)
