"""Do what all readers of sequences share: text with its place, limits, gaps, and the sample at the end."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import DENSEST, FREE, Broken, file_bytes
from explorer.data.formats.texts import LOOKED_AT, OLD, PLAIN, encoding_of, name_of, plain_lines
from explorer.declare.samples import Sample
from explorer.declare.telling.counting import number_of
from explorer.spaces.sequence.sample import sequence_sample

MOST_STEPS = 2**24  # 6 minutes of audio at 44.1 kHz
MOST_VALUES = 2**26  # 256 MiB of float32
MOST_NAMED = 2**20  # steps that keep their text: it takes more memory than the values
MOST_TEXT = 2**28  # bytes
UTF8 = "save it as text in UTF-8"
_LEAST_LINES = 4  # in the beginning of a table that tells what it is
_LONGEST_HEAD = 2**20  # bytes
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


@dataclass(slots=True)
class Series:
    """The content of a file: x (steps, channels), and what goes with it."""

    x: NDArray[Any]
    time: NDArray[np.float64] | None = None
    label: NDArray[np.int64] | None = None
    batch: NDArray[np.int64] | None = None
    names: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    rate: float = 0.0
    calendar: tuple[float, ...] = ()
    notes: list[str] = field(default_factory=list)


def place_of(text: str, at: int) -> str:
    """Return "line 3, column 7" of the place `at` in a text."""
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"


def decoded(path: Path, encoding: str = "") -> str:
    """Return a file as text with plain line ends; Broken, with line and column, where it is none.

    Args:
        encoding: what it is written in; else UTF-8, or what its beginning says.
    """
    if (size := file_bytes(path)) > MOST_TEXT:
        raise Broken(f"the text has {size} bytes and the most is {MOST_TEXT}", "take a part of it")
    raw = path.read_bytes()
    kind = encoding or encoding_of(raw[:LOOKED_AT])
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        text = raw.decode("utf-8" if kind == PLAIN else kind).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        if kind not in (PLAIN, OLD):
            raise Broken(f"it is damaged text in {name_of(kind)}", UTF8) from None
        before = raw[: error.start].decode("utf-8", "replace")
        what = f"{place_of(before, len(before))} is not text in UTF-8 (byte 0x{raw[error.start]:02x})"
        raise Broken(what, UTF8) from None
    text = plain_lines(text)
    if found := _CONTROL.search(text):
        what = f"{place_of(text, found.start())} holds the control character 0x{ord(found[0]):02x}, so it is no text"
        raise Broken(what, "open a file of text")
    return text


def head_of(path: Path, size: int = 2**16) -> str | None:
    """Return the beginning of a file as text, whole lines where there are several; None where it is no text.

    Bytes that are not UTF-8 become a replacement character: the reader says where they stand.
    """
    with path.open("rb") as file:
        raw = file.read(size)
        if raw.count(b"\n") < _LEAST_LINES:  # a heading of thousands of columns is longer: the numbers are below it
            raw += file.read(_LONGEST_HEAD)
        more = bool(file.read(1))
    text = plain_lines(raw.decode(encoding_of(raw[:LOOKED_AT]), "replace").removeprefix("\ufeff"))
    if _CONTROL.search(text):
        return None
    return text[: text.rfind("\n") + 1] or text if more else text


def require_steps(steps: int, channels: int, rate: float = 0.0) -> None:
    """Raise Broken where a sequence of that size must not be made."""
    if not steps or not channels:
        raise Broken("it has no steps" if not steps else "it has no channels", "save at least one value")
    most = min(MOST_STEPS, MOST_VALUES // channels)
    if steps <= most:
        return
    many = f"{steps} steps of {number_of(channels, 'channel')}"
    long = f"it is {_clock(steps / rate)} long, {many}," if rate else f"it has {many}"
    cut = f"cut out at most {_clock(most / rate)}, or use a lower rate" if rate else "take a part of it"
    raise Broken(f"{long} and the most is {most}", cut)


def _clock(seconds: float) -> str:
    whole = int(seconds)
    hours, minutes = divmod(whole // 60, 60)
    parts = [f"{hours} h"] * bool(hours) + [f"{minutes} min"] * bool(hours or minutes) + [f"{whole % 60} s"]
    return " ".join(parts)


def symbols(texts: list[str] | str) -> tuple[NDArray[np.float32], tuple[str, ...]]:
    """Return (steps, different texts) one-hot and those texts in ascending order; Broken where that is too much."""
    alphabet = sorted(set(texts))
    require_steps(len(texts), max(len(alphabet), 1))
    if len(texts) * len(alphabet) > FREE + DENSEST * len(texts):
        raise Broken(
            f"it has {len(alphabet)} different characters, each of which would be a channel", "take a part of it"
        )
    at = {text: k for k, text in enumerate(alphabet)}
    x = np.zeros((len(texts), len(alphabet)), np.float32)
    x[np.arange(len(texts)), np.fromiter(map(at.__getitem__, texts), np.int32, len(texts))] = 1.0
    return x, tuple(alphabet)


def filled(series: Series, where: str) -> None:
    """Fill what is NaN in x by straight lines between what is there, in each sequence alone; say so in the notes.

    Raises:
        Broken: a channel that has no number at all.
    """
    x = series.x
    gaps = np.isnan(x)
    if not gaps.any():
        return
    batch = np.zeros(len(x), np.int64) if series.batch is None else series.batch
    for one in range(int(batch[-1]) + 1):
        rows = np.flatnonzero(batch == one)
        at = np.arange(len(rows), dtype=np.float64) if series.time is None else series.time[rows]
        for channel in np.flatnonzero(gaps[rows].any(0)):
            known = ~gaps[rows, channel]
            if not known.any():
                of = f" of sequence {one}" if series.batch is not None else ""
                name = series.channels[channel] if series.channels else str(channel)
                raise Broken(f"channel {name!r}{of} has no number", "leave it out")
            x[rows, channel] = np.interp(at, at[known], x[rows, channel][known])
    count = int(gaps.sum())
    told = "1 gap" if count == 1 else f"{count} gaps"
    series.notes.append(f"{told}, the first in {where}, filled by straight lines between the values around")


def series_sample(path: Path, series: Series) -> Sample:
    """Wrap what was read as the sample of a file.

    Raises:
        Broken: no steps, too many, values that are not finite or beyond float32.
    """
    require_steps(*series.x.shape)
    with np.errstate(over="ignore"):
        x = np.asarray(series.x, np.float32)
    if not np.isfinite(x).all():
        t, c = np.argwhere(~np.isfinite(x))[0].tolist()
        raise Broken(f"step {t}, channel {c} is NaN, infinite or beyond float32", "correct or leave out that value")
    notes = list(series.notes)
    if len(x) == 1:
        notes.append("one step: nothing comes before or after it")
    if series.batch is not None:
        lengths: list[int] = np.bincount(series.batch).tolist()
        if len(lengths) > 1 and len(set(lengths)) == 1:
            shown = f"{lengths[0]} step{'s' * (lengths[0] != 1)} each"
        else:
            shown = ", ".join(map(str, lengths[:8])) + (", ..." if len(lengths) > 8 else "") + " steps"
        notes.append(f"{len(lengths)} sequences of {shown}")
    try:
        return sequence_sample(
            path.stem, x, title=path.name, time=series.time, label=series.label, batch=series.batch,
            names=series.names if len(x) <= MOST_NAMED else (), channels=series.channels, rate=series.rate,
            calendar=series.calendar, source=str(path), notes=tuple(notes),
        )  # fmt: skip
    except ValueError as error:
        raise Broken(str(error).removeprefix(f"{path.stem}: "), "correct it and save it again") from None
