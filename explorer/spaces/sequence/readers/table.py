"""Series as tables (CSV, TSV, text): a line for each step, a column for each channel.

A heading is found by its words. A column "t" or "time" (or dates by ISO 8601) says when each step was, "label" what it
is, "batch" which of several series it belongs to. Empty values, NaN and NA are gaps, filled by straight lines. What is
a series and what a list of edges: `explorer.spaces.sequence.readers.layout`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.data.checks import Broken, refusing
from explorer.data.readers import Reader
from explorer.data.samples import Sample
from explorer.spaces.sequence.readers.assembly import (
    MOST_STEPS,
    Series,
    decoded,
    filled,
    head_of,
    require_steps,
    series_sample,
)
from explorer.spaces.sequence.readers.layout import (
    Layout,
    cells_of,
    declared,
    has_decimal_comma,
    is_remark,
    is_series,
    layout_of,
    moment_of,
    number_of,
)

_EXTENSIONS = (".csv", ".tsv", ".txt", ".dat")
_WIDEST = 4096
_DAY = 86_400.0
_CORRECT = "correct that line"


def _sniff(head: bytes) -> bool:
    return False  # any text could be one


def _claims(path: Path) -> bool:
    text = head_of(path)
    return text is not None and is_series(text)


def _fast(lines: list[str], layout: Layout) -> NDArray[np.float64] | None:
    """Read (steps, columns) by numpy, or None where a place may have to be named: gaps, dates, unequal rows."""
    if layout.dates or any('"' in line for line in lines[:9]):
        return None
    try:
        table = np.loadtxt(lines, np.float64, delimiter=layout.mark, ndmin=2)
    except ValueError:
        return None
    return table if table.shape == (len(lines), layout.columns) and bool(np.isfinite(table).all()) else None


def _slow(lines: list[str], numbers: list[int], layout: Layout) -> tuple[NDArray[np.float64], str]:
    """Read cell by cell; return (steps, columns) with NaN for gaps, and where the first gap is."""
    table = np.empty((len(lines), layout.columns))
    gap = ""
    for row, (n, line) in enumerate(zip(numbers, lines)):
        cells = cells_of(line, layout.mark)
        if len(cells) != layout.columns:
            what = f"line {n} has {len(cells)} column(s) and line {layout.first} has {layout.columns}"
            raise Broken(what, "make all lines equally long; leave a value empty where it is not known")
        for k, cell in enumerate(cells):
            value = moment_of(cell) if k == layout.time and layout.dates else number_of(cell)
            at = f"line {n}, column {k + 1}"
            if value is None and has_decimal_comma(cell):
                raise Broken(f"{at} has {cell!r}, a decimal comma", "write numbers with a decimal point")
            if value is None:
                wanted = (
                    "a date must stand, as 2024-01-31" if layout.dates and k == layout.time else "a number must stand"
                )
                raise Broken(f"{at} has {cell[:40]!r} where {wanted}", _CORRECT)
            if np.isinf(value):
                raise Broken(f"{at} is infinite", "correct it, or leave it empty where it is not known")
            if np.isnan(value):
                if k in (layout.time, layout.label, layout.batch):
                    raise Broken(f"{at} is empty, and every step needs its {_what(layout, k)}", _CORRECT)
                gap = gap or at
            table[row, k] = value
    return table, gap


def _what(layout: Layout, column: int) -> str:
    return {layout.time: "time", layout.label: "label", layout.batch: "batch"}[column]


def _whole(table: NDArray[np.float64], column: int, layout: Layout, numbers: list[int]) -> NDArray[np.int64]:
    values = table[:, column]
    wrong = np.flatnonzero((values != np.floor(values)) | (np.abs(values) >= 2**53))
    if wrong.size:
        at = f"line {numbers[wrong[0]]}, column {column + 1}"
        raise Broken(
            f"{at} has {values[wrong[0]]:g} where a whole number ({_what(layout, column)}) must stand", _CORRECT
        )
    return values.astype(np.int64)


def _batch(values: NDArray[np.int64], numbers: list[int]) -> NDArray[np.int64]:
    """Number the series from 0; the lines of one series must follow each other."""
    starts = np.concatenate([[True], np.diff(values) != 0])
    again = np.flatnonzero(starts)
    if len(np.unique(values[again])) < len(again):
        kinds: set[int] = set()
        for k in again:
            if int(values[k]) in kinds:
                raise Broken(
                    f"line {numbers[k]} goes on with series {values[k]}, which had ended", "sort the lines by series"
                )
            kinds.add(int(values[k]))
    return np.asarray(np.cumsum(starts) - 1, np.int64)


def _ascending(series: Series, numbers: list[int]) -> None:
    assert series.time is not None
    late = np.diff(series.time) <= 0
    if series.batch is not None:
        late &= np.diff(series.batch) == 0
    if late.any():
        n = numbers[int(late.argmax()) + 1]
        raise Broken(f"the time in line {n} is not later than that in the line before", "sort the lines by time")


def _dated(series: Series) -> None:
    """Turn seconds since 1970 into days, or seconds, since the first."""
    assert series.time is not None
    start = float(series.time[0])
    series.time = series.time - start
    days = not np.any(series.time % _DAY)
    series.time = series.time / _DAY if days else series.time
    began = datetime.fromtimestamp(start, UTC).isoformat(sep=" ").removesuffix("+00:00").removesuffix(" 00:00:00")
    series.notes.append(f"time: {'days' if days else 'seconds'} since {began}")


def _read(path: Path) -> Sample:
    with refusing(path, "table"):
        lines = decoded(path).split("\n")
        layout = layout_of(lines)
        numbers = [
            n for n, line in enumerate(lines[layout.first - 1 :], layout.first) if line.strip() and not is_remark(line)
        ]
        if layout.columns > _WIDEST:
            raise Broken(f"line {layout.first} has {layout.columns} columns and the most is {_WIDEST}", "keep fewer")
        require_steps(min(len(numbers), MOST_STEPS + 1), max(len(layout.values), 1))
        if not layout.values:
            raise Broken(f"line {layout.first} has no column of values", "add one beside the time")
        rows = [lines[n - 1] for n in numbers]
        fast = _fast(rows, layout)
        table, gap = (fast, "") if fast is not None else _slow(rows, numbers, layout)
        series = Series(table[:, layout.values])
        if layout.batch is not None:
            series.batch = _batch(_whole(table, layout.batch, layout, numbers), numbers)
        if layout.label is not None:
            series.label = _whole(table, layout.label, layout, numbers)
        if layout.time is not None:
            series.time = table[:, layout.time]
            _ascending(series, numbers)
            if layout.dates:
                _dated(series)
        if layout.headings:
            series.channels = tuple(layout.headings[k] or f"column {k + 1}" for k in layout.values)
        if layout.counter is not None:
            series.notes.append("the first column numbers the lines: left out")
        filled(series, gap)
        big = np.abs(series.x) > np.finfo(np.float32).max
        if big.any():
            row, k = np.argwhere(big)[0].tolist()
            raise Broken(f"line {numbers[row]}, column {layout.values[k] + 1} is beyond float32", "scale the values")
        if not layout.headings and layout.time is None and layout.columns in (2, 3) and not declared(lines):
            series.notes.append("numbers with fractions: read as a series and not as a list of edges")
        return series_sample(path, series)


READER = Reader("series", "Series (CSV, TSV, text)", _EXTENSIONS, "sequence", _sniff, _read, claims=_claims)
