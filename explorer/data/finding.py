"""Find a sample by what a person typed, and fit it to what a network takes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from explorer.data.parts import one_part
from explorer.data.unplaced import unplaced_signal
from explorer.declare.card import Form
from explorer.declare.registry import did_you_mean, scan, scanned
from explorer.declare.samples import Sample, SampleSpec, Signal
from explorer.declare.space import spaces
from explorer.declare.telling.choices import split_asked
from explorer.work.files.places import at_home


@scanned
def samples() -> dict[str, SampleSpec]:
    """Return every shipped sample by name."""
    import explorer.spaces as package

    return scan(package, "SAMPLES", "samples")


def find_sample(text: str, seed: int = 0) -> Sample:
    """Return the sample that `text` means: a name, a file, or a text: "random:1x3x33x33", "ramp:1x1x9x9",
    "graph:40x90x6", "sbm:40,40:0.3:0.02", "smiles:CCO", as its space reads it.
    "file#12" is one of several things in a file, "file.csv?as=series&columns=2,3" says how it is read, and
    "image=random:1x3x9x9,mask=ones:1x1x9x9" gives several by name; beside others "time=number:0.5", "c=random:5" and
    "c=numbers:0.1,0.2" are numbers that lie at no place.

    A name wins over a file of the same name; write "./name" for the file.

    Raises:
        ValueError: in one sentence, with the nearest name if there is one (ReadError when a file is bad).
    """
    from explorer.data.in_process import with_choices
    from explorer.data.opening import read_file
    from explorer.data.readers import readers

    known = samples()
    if text in known:
        return known[text].make()
    if several := _NAMED.findall(text) if _ALL_NAMED.fullmatch(text) else []:
        given = {name: unplaced_signal(one, seed + k) for k, (name, one) in enumerate(several)}
        parts = [(n, find_sample(one, seed + k)) for k, (n, one) in enumerate(several) if given[n] is None]
        return _joined(text, parts, {name: signal for name, signal in given.items() if signal is not None})
    for space in spaces().values():
        if (made := space.sample_of(text, seed)) is not None:
            return made
    text, asked = split_asked(text)
    before, part = split_part(text)
    if before in known:
        sample = known[before].make()
        return with_choices(one_part(sample, part) if part else sample, asked)
    path = at_home(before) if text.strip() else None
    if path is not None:
        suffixes = {e for reader in readers().values() for e in reader.extensions}
        # what looks like a file is taken for one, so that a typing error in a path is told as such
        if "/" in text or "\\" in text or path.suffix.lower() in suffixes or _exists(path):
            return read_file(path, part, asked)
    hint = did_you_mean(text, known, "; 'list data' names them all", 0.5)
    raise ValueError(f"there is no sample or file {text!r}{hint}")


def _joined(text: str, parts: list[tuple[str, Sample]], unplaced: Mapping[str, Signal]) -> Sample:
    """Return samples of one kind as one, with a signal of each name, and numbers that lie at no place after them.

    Raises:
        ValueError: they are of several kinds, two have a name, or there are only numbers.
    """
    if not parts:
        raise ValueError(f"{text!r:.80} holds numbers alone, and nothing that an element could move")
    first = parts[0][1]
    if other := next((name for name, one in parts if one.domain != first.domain), ""):
        raise ValueError(f"{text!r}: {parts[0][0]} and {other} are data of different kinds")
    if len({*unplaced, *(name for name, _ in parts)}) < len(_NAMED.findall(text)):
        raise ValueError(f"{text!r} names an argument twice")
    signals = MappingProxyType({**{name: one.x for name, one in parts}, **unplaced})
    told = {name: one.title or one.name for name, one in parts}
    told |= {n: f"{s.values:g}" if not s.values.ndim else f"{len(s.values)} numbers" for n, s in unplaced.items()}
    title = ", ".join(f"{name}: {what}" for name, what in told.items())
    notes = tuple(f"{name}: {note}" for name, one in parts for note in one.notes)
    return replace(first, name=text, signals=signals, title=title, source="several", notes=notes, label=None)


def split_part(text: str) -> tuple[str, str]:
    """Return ("file", "12") of "file#12", the name of a sample or of a file; (text, "") where no part is meant.

    What is asked of it stays: ("file?as=series", "12") of "file?as=series#12".
    """
    before, mark, after = text.rpartition("#")
    if not (mark and before.strip()) or _exists(at_home(text)):
        return text, ""
    there = split_asked(before)[0]
    return (before, after) if there in samples() or _exists(at_home(there)) else (text, "")


def base_of(text: str) -> str:
    """Return the name of a sample or file without what is asked of it and which part of it is meant."""
    return split_asked(split_part(text)[0])[0]


def with_whole_path(text: str) -> str:
    """Return what means the same sample from any folder: files that are there are named from the root."""
    if _ALL_NAMED.fullmatch(text):
        return _NAMED.sub(lambda one: f"{one[1]}={with_whole_path(one[2])}", text)
    base = base_of(text)
    if not base.strip() or not _exists(path := at_home(base)) or base in samples():
        return text
    return os.path.abspath(path) + text[len(base) :]


# "image=random:1x3x9x9,mask=ones:1x1x9x9": a comma ends a value only before the next name
_NAMED = re.compile(r"([A-Za-z_]\w*)=((?:(?!,[A-Za-z_]\w*=).)+)")
_ALL_NAMED = re.compile(r"[A-Za-z_]\w*=[^=,].*")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # longer than names can be, or with a NUL in it
        return False


def fitted(sample: Sample, form: Form) -> Sample:
    """Adapt a sample to what a network takes; raise ValueError where it cannot be."""
    return spaces()[form.space].fit(sample, form)
