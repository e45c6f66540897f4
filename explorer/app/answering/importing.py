"""Look at a data file for the import page: what it can be read as, what may be chosen, what comes of it.

All of it is done on the worker thread; the window gets plain values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.finding import base_of, find_sample, samples, split_part
from explorer.data.formats.checks import reason
from explorer.data.formats.texts import beginning
from explorer.data.opening import ambiguous, choices_of, readings
from explorer.data.readers import Fit, Reader, ReadError
from explorer.declare.samples import Sample
from explorer.declare.space import domain_word, kinds, same_space
from explorer.declare.telling.choices import AS, Choice, split_asked, with_asked
from explorer.square.space import space_of_kind
from explorer.state.state import State
from explorer.work.files.places import at_home

PICTURE = 220  # pixels along a side
_LINES, _CELLS, _LETTERS = 9, 12, 24  # of the beginning of a file of text
_LOOKED_AT = 2**14  # bytes


@dataclass(frozen=True, slots=True)
class Way:
    """One thing that a file can be read as."""

    name: str
    title: str
    kind: str
    likely: bool


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """The outcome of reading data in one way.

    Attributes:
        text: the data as a state names them.
        ways: what the file can be read as; () for a sample that comes with the program.
        way: the name of the one in use.
        choices: of the reader, then of the fitting to the network.
        head: the first lines of a file of text, in cells.
        size: "780 steps of 2 channels".
        notes: what was done, from reading to fitting.
        model: the network that takes it, "" where none does.
        picture: (height, width, 3), or None.
        problem: why it cannot be read so or taken, or "".
    """

    text: str
    ways: tuple[Way, ...] = ()
    way: str = ""
    choices: tuple[Choice, ...] = ()
    head: tuple[tuple[str, ...], ...] = ()
    size: str = ""
    notes: tuple[str, ...] = ()
    model: str = ""
    picture: NDArray[np.uint8] | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """The data as a state names them, or that a person must be asked."""

    text: str
    ask: bool = False
    remembered: bool = False


def decide(path: str, kind: str, asked: str = "") -> Decision:
    """Decide how a file is read that somebody opens while a model of a kind of data is shown.

    What was chosen for such files before wins where the file can still be read so; then the reading that the shown
    model takes; then what the file looks like. Where that leaves it open, a person must be asked.

    Args:
        asked: what was chosen before, "as=series&columns=2".
    """
    try:
        found = readings(at_home(path))
    except ReadError:
        return Decision(path)  # opening it says what is wrong
    if asked:
        text = f"{path}?{asked}"
        try:
            find_sample(text)
        except ValueError:
            pass  # a file of another layout
        else:
            return Decision(text, remembered=True)
    best = [reader for reader, fit in found if fit >= Fit.LIKELY]
    own = [reader for reader in best if same_space(reader.domain, kind)]
    if len(own) == 1 and len(best) > 1:
        return Decision(path if own[0] is found[0][0] else with_asked(path, {AS: own[0].name}))
    return Decision(path, ask=ambiguous(found))


def look(engine: Any, state: State, models: Sequence[str]) -> Look:
    """Read the data of a state, and fit them to the first of several models that takes them.

    Where nobody has said what a file is to be read as, it is the first of its ways that succeeds. Networks that run in
    another process are asked there.
    """
    if (elsewhere := getattr(engine, "look", None)) is not None:
        found: Look = elsewhere(state, models)
        return found
    made = _look(engine, state, models)
    if made.problem and AS not in split_asked(split_part(state.sample)[0])[1]:
        for way in made.ways[1:]:
            other = _look(engine, replace(state, sample=with_asked(state.sample, {AS: way.name})), models)
            if not other.problem:
                return other
    return made


def _look(engine: Any, state: State, models: Sequence[str]) -> Look:
    """Read the data of a state in one way."""
    file = base_of(state.sample)
    asked = split_asked(split_part(state.sample)[0])[1]
    found: list[tuple[Reader, Fit]] = []
    try:
        found = [] if file in samples() else readings(at_home(file))
        ways = tuple(Way(r.name, r.title, r.domain, fit >= Fit.LIKELY) for r, fit in found)
        reader = next((r for r, _ in found if r.name == asked.get(AS)), found[0][0] if found else None)
    except ReadError as error:
        return Look(state.sample, problem=str(error))
    made = Look(state.sample, ways, reader.name if reader is not None else "", head=_head(at_home(file)))
    if reader is not None:
        made = replace(made, choices=choices_of(reader, at_home(file), asked))
    try:
        sample = engine.read.sample(state.sample, state.seed, quietly=True)
        form = space_of_kind(sample.domain).form
        more = form().choices(sample.x.values.shape, dict(sample.asked)) if form is not None else ()
        made = replace(made, choices=(*made.choices, *more), size=_size(sample), notes=sample.notes)
        made = replace(made, picture=_picture(sample))
        name = engine.first_taking(list(models), state)
        fit = engine.sample(state, engine.card(name))
        return replace(made, model=name, notes=fit.notes, picture=_picture(fit))
    except ValueError as error:
        return replace(made, problem=" ".join(str(error).split()))
    except Exception as error:
        return replace(made, problem=f"it cannot be shown ({reason(error) or type(error).__name__})")


def _picture(sample: Sample) -> NDArray[np.uint8] | None:
    return space_of_kind(sample.domain).thumbnail(sample, PICTURE)


def _size(sample: Sample) -> str:
    shape = " x ".join(map(str, sample.x.values.shape))
    word = kinds()[sample.domain].one or f"a {domain_word(sample.domain)}"
    return f"{word}: x is {shape}" + (f", {sample.parts} of them" if sample.parts > 1 else "")


def _head(path: Path) -> tuple[tuple[str, ...], ...]:
    """Return the first lines of a file of text, in cells where it is a table; () for any other file."""
    from explorer.data.formats.parted import joined
    from explorer.data.formats.tables import cells_of

    try:
        with path.open("rb") as file:
            text = beginning(file.read(_LOOKED_AT))
    except OSError:
        return ()
    if "\0" in text or text.count("\ufffd") > len(text) // 16:
        return ()
    lines = [line for line in joined(text.splitlines()) if line.strip()][:_LINES]
    mark = next((m for m in ("\t", ";", ",") if lines and m in lines[0]), None)
    rows = [cells_of(line, mark) if mark else [line] for line in lines]
    return tuple(tuple(cell[: _LETTERS if mark else 200] for cell in row[:_CELLS]) for row in rows)
