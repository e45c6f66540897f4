"""Ask a person what a network of their own takes: questions of a space, and the answers as one text or JSON value."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

ANY = "any"  # of a size that may be any
NUMBER, VECTOR, BELOW = "number", "vector", "below"  # what has no places: one, so many, a whole one below another
CODES = "codes"  # so many whole ones below another, as a text beside an image is
AXIS = "([1-9][0-9]{0,4}|[A-Za-w])"  # of a table: its size, or the set whose members it counts
LARGEST = 1 << 20  # of one size

Sizes = tuple[int | str | None, ...]
Named = tuple[tuple[str, Sizes], ...]
Sort = Literal["whole", "sizes", "named", "choice", "ordered", "names"]


@dataclass(frozen=True, slots=True)
class Question:
    """One thing that is declared of an input.

    Attributes:
        name: of the attribute of the space's form.
        title: what it is called in the window.
        hint: what it means, in one sentence.
        sort: a "whole" number or any; "sizes", of which all but the first may be any; "named" sizes, as in
            "image:3xanyxany,mask:1xanyxany", or none; "names" with commas between them, or none; a "choice"; or
            "ordered" choices, one for each argument of the network.
        choices: for "choice" and "ordered".
        first: the choice that must come first where something is ordered; "" where any may.
        sides: how many "sizes" there are.
        unplaced: whether something "named" may have no places: "t:number", "c:vector5" and "y:below10", a whole number
            from 0 to 9, of which the values are ("number",), ("vector", 5) and ("below", 10).
        words: what something "named" may be besides, as in "lengths:length", of which the value is ("length",).
        lettered: whether something "named" is a table, of whose axes those that count the members of a set are letters,
            as in "x:1xAx3,adj:AxA", of which the values are ("1xAx3",) and ("AxA",); small ones count what is no set.
        usual: the answer that need not be given.
    """

    name: str
    title: str
    hint: str
    sort: Sort
    choices: tuple[str, ...] = ()
    sides: int = 0
    unplaced: bool = False
    words: tuple[str, ...] = ()
    lettered: bool = False
    usual: str | None = None
    first: str = ""

    @property
    def optional(self) -> bool:
        """Say whether it may be left without an answer."""
        return self.sort in ("named", "names") or self.usual is not None

    def parse(self, text: str) -> Any:
        """Return the value that a text stands for.

        Raises:
            ValueError: it stands for none, in one sentence.
        """
        text = text.strip()
        match self.sort:
            case "whole":
                return None if text == ANY else self._whole(text)
            case "sizes":
                return self._sizes(text)
            case "named":
                pairs = [part.partition(":") for part in text.split(",") if part.strip()]
                names = [name.strip() for name, _, _ in pairs]
                if wrong := next((n for n in names if not n.isidentifier() or names.count(n) > 1), ""):
                    raise ValueError(f"{self.name} are NAME:SIZES, each name once, and {wrong!r:.40} is no such name")
                return tuple((name, self._named(sizes)) for name, (_, _, sizes) in zip(names, pairs, strict=True))
            case "choice":
                return self._one(text)
            case "names":
                found = tuple(part.strip() for part in text.split(",") if part.strip())
                if wrong := next((n for n in found if not n.isidentifier() or found.count(n) > 1), ""):
                    raise ValueError(f"{self.name} are names, each once, and {wrong!r:.40} is no such name")
                return found
            case _:
                found = tuple(self._one(part.strip()) for part in text.split(","))
                if self.first and found[0] != self.first:
                    raise ValueError(f"{self.name} begins with {self.first}, not {text!r}")
                if len(set(found)) < len(found):
                    raise ValueError(f"{self.name} has nothing twice, not {text!r}")
                return found

    def shown(self, text: str) -> str:
        """Return the text of an answer as a person reads it, which `parse` reads too."""
        return text.replace("x", " × ") if self.sort == "sizes" else text

    def read(self, shown: str) -> str:
        """Return the text of an answer that a person has typed, or left as `shown` wrote it."""
        return shown.replace("×", "x").replace(" ", "") if self.sort == "sizes" else shown

    def write(self, value: Any) -> str:
        """Return the text of a value."""
        match self.sort:
            case "sizes":
                return _written(value)
            case "named":
                return ",".join(f"{name}:{_written(sizes)}" for name, sizes in value)
            case "ordered" | "names":
                return ",".join(value)
            case _:
                return ANY if value is None else str(value)

    def _named(self, text: str) -> Sizes:
        if self.lettered:
            if re.fullmatch(f"{AXIS}(x{AXIS}){{0,4}}", text.strip(), re.ASCII) is None:
                raise ValueError(
                    f"{self.name} are NAME:AXES, sizes and letters with an x between them, not {text!r:.60}"
                )
            return (text.strip(),)
        if text.strip() in self.words:
            return (text.strip(),)
        return found if self.unplaced and (found := parse_unplaced(text)) is not None else self._sizes(text)

    def _sizes(self, text: str) -> tuple[int | None, ...]:
        first, *rest = text.replace("×", "x").split("x")
        if len(rest) + 1 != self.sides:
            raise ValueError(f"{self.name} is {self.sides} sizes with an x between them, not {text!r:.60}")
        return (self._whole(first), *(None if side.strip() == ANY else self._whole(side) for side in rest))

    def _whole(self, text: str) -> int:
        text = text.strip()
        if not text.isdecimal() or not 1 <= int(text[:9]) <= LARGEST or len(text) > 9:
            raise ValueError(f"{self.name}: {text!r:.40} is no whole number from 1 to {LARGEST:,}")
        return int(text)

    def _one(self, text: str) -> str:
        if text not in self.choices:
            raise ValueError(f"{self.name}: {text!r:.40} is none of {', '.join(self.choices)}")
        return text


def is_unplaced(sizes: Sequence[int | str | None]) -> bool:
    """Say whether the sizes are those of numbers that lie at no place."""
    return isinstance(sizes[0], str)


def parse_unplaced(text: str) -> Sizes | None:
    """Read "number", "vector 5", "below 10" or "12 below 50"; return None of anything else."""
    if several := re.fullmatch(rf"([1-9][0-9]{{0,3}}) ?{BELOW} ?([1-9][0-9]{{0,5}})", text.strip(), re.ASCII):
        return (CODES, int(several[1]), int(several[2]))
    found = re.fullmatch(rf"({NUMBER})|({VECTOR}|{BELOW}) ?([1-9][0-9]{{0,5}})", text.strip(), re.ASCII)
    if found is None:
        return None
    return (NUMBER,) if found[1] else (found[2], int(found[3]))


def _written(sizes: Sequence[int | str | None]) -> str:
    if sizes[0] == CODES:
        return f"{sizes[1]}{BELOW}{sizes[2]}"
    if is_unplaced(sizes):
        return "".join(map(str, sizes))
    return "x".join(ANY if side is None else str(side) for side in sizes)


@dataclass(frozen=True, slots=True)
class Declared:
    """A statement of what a network takes: a kind of data, and answers to questions of its space, as texts."""

    kind: str
    answers: tuple[tuple[str, str], ...] = ()

    def text(self) -> str:
        """Return it as one line: "graph channels=3 signals=x,edge_index"."""
        return shlex.join([self.kind, *(f"{name}={value}" for name, value in self.answers)])

    def to_json(self) -> dict[str, str]:
        return {"data": self.kind, **dict(self.answers)}


def parse_declared(text: str) -> Declared:
    """Read the line that `Declared.text` writes.

    Raises:
        ValueError: it is none, in one sentence.
    """
    try:
        kind, *rest = shlex.split(text)
    except ValueError:
        raise ValueError(f"{text!r:.80} is no input; write KIND NAME=VALUE ..., as in 'grid shape=3x32x32'") from None
    pairs = [part.partition("=") for part in rest]
    if wrong := next((name for name, equals, _ in pairs if not equals), ""):
        raise ValueError(f"{wrong!r:.60} in the input is not NAME=VALUE")
    return declared_from({"data": kind, **{name: value for name, _, value in pairs}})


def declared_from(value: object) -> Declared:
    """Read what `Declared.to_json` wrote, all of which is text.

    Raises:
        ValueError: it is something else, in one sentence.
    """
    if not isinstance(value, Mapping) or not isinstance(value.get("data"), str):
        raise ValueError('an input needs its kind of "data"')
    if wrong := next((k for k, v in value.items() if not isinstance(k, str) or not isinstance(v, str)), None):
        raise ValueError(f"{wrong!r:.60} of an input must be text")
    return Declared(value["data"], tuple((k, v) for k, v in value.items() if k != "data"))
