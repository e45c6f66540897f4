"""JSON Lines: an object in each line. With numbers it is a step; with lists of numbers it is a whole series.

Steps: {"t": 0.5, "a": 1, "b": 2}, one channel for each key; a key that is missing, or null, is a gap.
Series: {"x": [[1, 2], [3, 4]], "time": [0, 1]}, or lists by name {"a": [1, 3], "b": [2, 4]}; lengths may differ
from line to line. "time" (or "t"), "label" and "batch" are what they are in a table.

Steps that hold words, dates, truth or objects, as logs do, are read as the table that they would be in a CSV file: what
is nested, {"acc": {"x": 1}}, is its column "acc.x", words are no channels, and a person may choose.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from explorer.data.formats.checks import FREE, Broken, kind_in_json, refusing
from explorer.data.formats.tables import LABELS, TIMES
from explorer.data.readers import Reader
from explorer.declare.samples import Sample
from explorer.declare.telling.choices import Choice
from explorer.spaces.sequence.readers.assembly import (
    MOST_STEPS,
    Series,
    decoded,
    filled,
    head_of,
    require_steps,
    series_sample,
)
from explorer.spaces.sequence.readers.json_table import lines_of
from explorer.spaces.sequence.readers.table import choices_of_lines, of_lines

_CORRECT = "correct that line"
_DEEPEST = 3  # levels of objects in objects
_EMPTIEST = 64  # numbers of a table for each that a file gives
Row = dict[str, Any]


def _sniff(head: bytes) -> bool:
    return False


def _rows(lines: list[str]) -> list[tuple[int, Row]]:
    rows = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise Broken(f"line {number}, column {error.colno} is no JSON", _CORRECT) from None
        except (RecursionError, ValueError):  # nested too deeply; a number of thousands of digits
            raise Broken(f"line {number} is no plain JSON", _CORRECT) from None
        if not isinstance(value, dict) or not value:
            what = "an empty object" if value == {} else kind_in_json(value)
            raise Broken(f"line {number} holds {what} and not an object with numbers", 'write {"a": 1} in each line')
        rows.append((number, value))
        if len(rows) > MOST_STEPS:
            raise Broken(f"it has more than {MOST_STEPS} lines", "take a part of it")
    if not rows:
        raise Broken("it has no line", "write an object in each line")
    return rows


def _number(value: Any, number: int, key: str) -> float:
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Broken(f"line {number} has {kind_in_json(value)} at {key!r} where a number must stand", _CORRECT)
    try:
        made = float(value)
    except OverflowError:
        made = float("inf")
    if np.isinf(made):
        raise Broken(f"line {number} has an infinite number at {key!r}", _CORRECT)
    return made


def _column(value: Any, number: int, key: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return (steps, channels) of a list of numbers, or of equally long lists of numbers."""
    if not isinstance(value, list):
        raise Broken(
            f"line {number} has {kind_in_json(value)} at {key!r} and lists elsewhere", "write lists throughout"
        )
    if not any(isinstance(v, list) for v in value):
        return np.array([_number(v, number, key) for v in value], np.float64)[:, None]
    nested = [v if isinstance(v, list) else [v] for v in value]
    widths = {len(v) for v in nested}
    if len(widths) > 1:
        raise Broken(f"line {number} has rows of {min(widths)} and of {max(widths)} numbers at {key!r}", _CORRECT)
    numbers = [[_number(v, number, key) for v in row] for row in nested]
    return np.array(numbers, np.float64).reshape(len(nested), widths.pop() if widths else 1)


def _role(key: str, keys: Row) -> str:
    low = key.lower()
    if low in TIMES and next(k for k in keys if k.lower() in TIMES) == key:
        return "time"
    return "label" if low in LABELS else "batch" if low == "batch" else ""


def _require_filled(rows: Sequence[Row], names: int) -> None:
    if (cells := len(rows) * names) > max(FREE, _EMPTIEST * sum(map(len, rows))):
        what = f"the {names} names in its {len(rows)} lines would be {cells} numbers"
        raise Broken(f"{what}, and nearly all of them are missing", "use the same names in each line")


def _of_steps(rows: list[tuple[int, Row]]) -> tuple[Series, str]:
    keys: Row = {key: None for _, row in rows for key in row}
    roles = {key: _role(key, keys) for key in keys}
    channels = tuple(key for key in keys if not roles[key])
    require_steps(len(rows), len(channels))
    _require_filled([row for _, row in rows], len(keys))
    table = np.full((len(rows), len(keys)), np.nan)
    at = {key: k for k, key in enumerate(keys)}
    for step, (n, row) in enumerate(rows):
        for key, value in row.items():
            table[step, at[key]] = _number(value, n, key)
    columns = dict(zip(keys, table.T))
    series = Series(np.stack([columns[key] for key in channels], 1), channels=channels)
    gaps = np.argwhere(np.isnan(series.x))
    where = f"line {rows[gaps[0][0]][0]}, {channels[gaps[0][1]]!r}" if len(gaps) else ""
    for key, role in roles.items():
        if role:
            _place(series, role, columns[key], [n for n, _ in rows])
    return series, where


def _of_series(rows: list[tuple[int, Row]]) -> tuple[Series, str]:
    parts: list[np.ndarray[Any, np.dtype[np.float64]]] = []
    lengths: list[int] = []
    lines: list[int] = []
    names: tuple[str, ...] = ()
    taken: dict[str, list[Any]] = {}
    where, steps = "", 0
    for number, row in rows:
        columns = {key: _column(value, number, key) for key, value in row.items()}
        sizes = {len(column) for column in columns.values()}
        if len(sizes) > 1:
            raise Broken(
                f"line {number} has lists of {min(sizes)} and of {max(sizes)} numbers", "make them equally long"
            )
        if not sizes or not max(sizes):
            raise Broken(f"line {number} has a series without steps", "complete or leave it out")
        roles = {key: _role(key, row) for key in row}
        channels = [key for key in row if not roles[key]]
        if not channels:
            raise Broken(f"line {number} has no values", "add a list of numbers")
        wide = tuple(f"{key} {k}" if columns[key].shape[1] > 1 else key for key in channels
                     for k in range(columns[key].shape[1]))  # fmt: skip
        if parts and wide != names:
            raise Broken(f"line {number} has other channels than line {rows[0][0]}", "write the same in each line")
        names = wide
        parts.append(np.concatenate([columns[key] for key in channels], 1))
        if not where and np.isnan(parts[-1]).any():
            where = f"line {number}"
        lengths.append(len(parts[-1]))
        lines += [number] * lengths[-1]
        for key, role in roles.items():
            if role:
                taken.setdefault(role, []).append(columns[key][:, 0])
        steps += lengths[-1]  # a sum over all lines for each of them takes minutes
        require_steps(steps, len(names))
    channels_named = names if names != ("x",) and not all(name.startswith("x ") for name in names) else ()
    series = Series(np.concatenate(parts), channels=channels_named)
    for role, found in taken.items():
        if len(found) < len(parts):
            raise Broken(f"{len(found)} of {len(parts)} lines have a {role}", "write it in each line or in none")
        _place(series, role, np.concatenate(found), lines)
    if len(parts) > 1:
        series.batch = np.repeat(np.arange(len(parts)), lengths)
    return series, where


def _place(series: Series, role: str, values: Any, lines: list[int]) -> None:
    wrong = np.isnan(values) if role == "time" else np.isnan(values) | (values != np.floor(values))
    if wrong.any():
        kind = "number" if role == "time" else "whole number"
        raise Broken(f"line {lines[int(wrong.argmax())]} has no {kind} for its {role}", _CORRECT)
    setattr(series, role, values.astype(np.float64 if role == "time" else np.int64))


def _flat(row: Row, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the names and values of an object, and of those that are nested in it to a few levels."""
    for key, value in row.items():
        if isinstance(value, dict) and value and before.count(".") < _DEEPEST:
            yield from _flat(value, f"{before}{key}.")
        else:
            yield before + key, value


def _table(rows: list[tuple[int, Row]]) -> tuple[list[str], list[str]] | None:
    """Return the names and lines of the table that steps with more than numbers are; None of numbers alone."""
    if all(value is None or (isinstance(value, int | float) and not isinstance(value, bool))
           for _, row in rows for value in row.values()):  # fmt: skip
        return None
    flat = [dict(_flat(row)) for _, row in rows]
    keys = list(dict.fromkeys(key for row in flat for key in row))
    _require_filled(flat, len(keys))
    return keys, lines_of(keys, [[row.get(key) for key in keys] for row in flat])


def _in_file(what: str, rows: list[tuple[int, Row]], keys: list[str]) -> str:
    """Return a clause about a place in the table as one about its place in the file."""

    def place(found: re.Match[str]) -> str:
        line, column = int(found[1]) - 2, int(found[2] or 0) - 1  # the heading is line 1
        if not 0 <= line < len(rows):
            return found[0]
        return f"line {rows[line][0]}" + (f", {keys[column]!r:.40}" if 0 <= column < len(keys) else "")

    return re.sub(r"\bline (\d+)(?:, column (\d+))?", place, what)


def _whole(rows: list[tuple[int, Row]]) -> bool:
    """Say whether each line is a whole series, in lists of numbers."""
    return any(isinstance(value, list) for value in rows[0][1].values())


def _choices(path: Path, asked: Mapping[str, str]) -> tuple[Choice, ...]:
    rows = _rows(decoded(path).split("\n"))
    table = None if _whole(rows) else _table(rows)
    return () if table is None else tuple(c for c in choices_of_lines(table[1], asked) if c.name != "header")


def _read(path: Path) -> Sample:
    return _read_as(path, {})


def _read_as(path: Path, asked: Mapping[str, str]) -> Sample:
    with refusing(path, "JSON Lines"):
        rows = _rows(decoded(path).split("\n"))
        whole = _whole(rows)
        if not whole and (table := _table(rows)) is not None:
            try:
                return of_lines(path, table[1], asked, [])
            except Broken as error:
                raise Broken(_in_file(str(error), rows, table[0]), error.do) from None
        series, where = _of_series(rows) if whole else _of_steps(rows)
        if series.batch is not None and not whole:
            starts = np.concatenate([[True], np.diff(series.batch) != 0])
            if len(np.unique(series.batch)) < int(starts.sum()):
                raise Broken("the lines of one batch do not follow each other", "sort the lines by batch")
            series.batch = np.cumsum(starts) - 1
        filled(series, where)
        return series_sample(path, series)


def _fits(path: Path) -> bool:
    """Return whether the first two lines are objects of JSON, each by itself."""
    lines = [line for line in (head_of(path) or "").split("\n") if line.strip()][:2]
    return len(lines) > 1 and all(isinstance(json.loads(line), dict) for line in lines)


READER = Reader(
    "jsonl", "Series (JSON Lines)", (".jsonl", ".ndjson"), "sequence", _sniff, _read, fits=_fits, choices=_choices,
    read_as=_read_as,
)  # fmt: skip
