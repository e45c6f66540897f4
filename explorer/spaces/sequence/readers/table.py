"""Series as tables (CSV, TSV, text): a line for each step, a column for each channel.

A heading is found by its words. A column "t" or "time" (or dates by ISO 8601) says when each step was, "label" what it
is, "batch" which of several series it belongs to. Empty values, NaN and NA are gaps, filled by straight lines. What is
a series and what a list of edges: `explorer.data.formats.tables`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from math import isinf, isnan
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import Broken, refusing, require_all
from explorer.data.formats.parted import plain
from explorer.data.formats.tables import (
    Layout,
    cells_of,
    comma_mark,
    declared,
    has_comma,
    heading_word,
    is_remark,
    layout_of,
    moment_of,
    number_of,
    ratings,
    with_clock,
)
from explorer.data.formats.texts import note_of, table_encoding
from explorer.data.readers import Fit, Reader
from explorer.declare.samples import Sample
from explorer.declare.telling.choices import NONE, Choice
from explorer.spaces.sequence.readers.assembly import (
    MOST_STEPS,
    Series,
    decoded,
    filled,
    head_of,
    require_steps,
    series_sample,
)

_EXTENSIONS = (".csv", ".tsv", ".txt", ".dat")
_WIDEST = 4096
_DAY = 86_400.0
_CLOCKS = ("time", "timestamp", "date", "datetime", "epoch", "unixtime", "unix time", "utc", "zeit")
_EARLIEST, _LATEST = 631_152_000.0, 4_102_444_800.0  # 1990 and 2100, in seconds since 1970
_CORRECT = "correct that line"
_NAMED = 4  # columns in a note
_ORDERS = (Choice("dates", "Dates", (("mdy", "month/day/year"), ("dmy", "day/month/year")), "mdy"),)
_SCALES = ((NONE, "as stored"), ("standard", "mean 0, deviation 1"), ("unit", "0 to 1"))


def _sniff(head: bytes) -> bool:
    return False  # any text could be one


def _rates(path: Path) -> Fit:
    text = head_of(path)
    return Fit.NO if text is None else ratings("\n".join(plain(text.split("\n"))[0]))[0]


def _fast(lines: list[str], layout: Layout) -> NDArray[np.float64] | None:
    """Read (steps, columns) by numpy, or None where a place may have to be named: gaps, dates, unequal rows."""
    if layout.dates or layout.texts or any('"' in line for line in lines[:9]):
        return None
    try:
        table = np.loadtxt(lines, np.float64, delimiter=layout.mark, ndmin=2)
    except ValueError:
        return None
    return table if table.shape == (len(lines), layout.columns) and bool(np.isfinite(table).all()) else None


class _Commas:
    """Reads numbers with commas in them: what those are is decided by all numbers of a column."""

    def __init__(self, lines: list[str], layout: Layout) -> None:
        self._lines, self._layout = lines, layout
        self._marks: dict[int, str] = {}  # column -> what its commas become

    def number(self, cell: str, column: int) -> float | None:
        """Return the number, None where it may be one of two."""
        mark = self._layout.mark
        if column not in self._marks:
            rows = (cells_of(line, mark) for line in self._lines)
            self._marks[column] = comma_mark((row[column] for row in rows if column < len(row)), mark)
        return None if self._marks[column] == "," else float(cell.replace(",", self._marks[column]))

    @property
    def notes(self) -> list[str]:
        """Return what was made of commas."""
        thousands = [self._layout.name(k) for k, to in sorted(self._marks.items()) if not to]
        told = ["decimal commas read as points"] if "." in self._marks.values() else []
        return told + ([f"commas of {', '.join(thousands[:_NAMED])} part thousands"] if thousands else [])


def _slow(lines: list[str], numbers: list[int], layout: Layout) -> tuple[NDArray[np.float64], str, list[str]]:
    """Read cell by cell; return (steps, columns), NaN for gaps, where the first is, and what was made of commas."""
    table = np.zeros((len(lines), layout.columns))
    gap, commas = "", _Commas(lines, layout)
    left_out, needed = {*layout.texts, layout.clock}, {layout.time, layout.label, layout.batch}
    for row, (n, line) in enumerate(zip(numbers, lines)):
        cells = cells_of(line, layout.mark)
        if len(cells) != layout.columns:
            what = f"line {n} has {len(cells)} column(s) in place of {layout.columns}"
            raise Broken(what, "make all lines equally long; leave a value empty where it is not known")
        for k, cell in enumerate(cells):
            if k in left_out:
                continue
            dated = k == layout.time and layout.dates
            cell = f"{cell} {cells[layout.clock]}" if dated and layout.clock is not None else cell
            value = moment_of(cell, layout.month_first) if dated else number_of(cell)
            if value is None and has_comma(cell) and (value := commas.number(cell, k)) is None:
                what = f"{_at(n, k)} has {cell!r}, whose comma may be that of decimals or of thousands"
                raise Broken(what, "write numbers with a decimal point, or semicolons between columns")
            if value is None:
                wanted = "a date must stand, as 2024-01-31" if dated else "a number must stand"
                raise Broken(f"{_at(n, k)} has {cell[:40]!r} where {wanted}", _CORRECT)
            if isinf(value):  # not numpy's, nor the place of each: there may be millions
                raise Broken(f"{_at(n, k)} is infinite", "correct it, or leave it empty where it is not known")
            if isnan(value):
                if k in needed:
                    raise Broken(f"{_at(n, k)} is empty, and every step needs its {_what(layout, k)}", _CORRECT)
                gap = gap or _at(n, k)
            table[row, k] = value
    return table, gap, commas.notes


def _at(line: int, column: int) -> str:
    return f"line {line}, column {column + 1}"


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


def _unix(series: Series, layout: Layout) -> bool:
    """Turn times that are counted from 1970, in seconds or milliseconds, into seconds; say whether they are."""
    assert series.time is not None
    word = heading_word(layout.headings[layout.time]) if layout.headings and layout.time is not None else ""
    for unit in (1.0, 1e3):
        if word in _CLOCKS and bool(np.all((series.time / unit >= _EARLIEST) & (series.time / unit < _LATEST))):
            series.time = series.time / unit
            series.notes.append(f"times in {'milli' * (unit > 1)}seconds since 1970 read as dates")
            return True
    return False


def _dated(series: Series) -> None:
    """Turn seconds since 1970 into days, or seconds, since the first."""
    assert series.time is not None
    start = float(series.time[0])
    series.time = series.time - start
    days = not np.any(series.time % _DAY)
    series.time = series.time / _DAY if days else series.time
    series.calendar = (start, _DAY if days else 1.0)
    began = datetime.fromtimestamp(start, UTC).isoformat(sep=" ").removesuffix("+00:00").removesuffix(" 00:00:00")
    series.notes.append(f"time: {'days' if days else 'seconds'} since {began}")


def _grouped(
    layout: Layout, lines: list[str], table: NDArray[np.float64], automatic: bool
) -> tuple[int, NDArray[np.int64]] | None:
    """Return the column of words that tells several series apart and, for each line, which it is; None where none does.

    It is the one that was asked for, or the first within each word of which the times ascend if they do not in all.
    """
    asked = layout.batch if layout.batch in layout.texts else None
    late = layout.time is not None and bool((np.diff(table[:, layout.time]) <= 0).any())
    for column in [asked] if asked is not None else layout.texts if late and automatic else ():
        at: dict[str, int] = {}
        kinds = np.array([at.setdefault(cells_of(line, layout.mark)[column], len(at)) for line in lines])
        order = np.argsort(kinds, kind="stable")
        times = table[order, layout.time] if layout.time is not None else np.arange(len(order))
        if asked is not None or bool((np.diff(times)[np.diff(kinds[order]) == 0] > 0).all()):
            return column, kinds
    return None


def _scaled(series: Series, how: str) -> None:
    """Bring every channel to mean 0 and deviation 1, or to the range from 0 to 1."""
    x = series.x
    shift, size = (x.mean(0), x.std(0)) if how == "standard" else (x.min(0), np.ptp(x, 0))
    series.x = (x - shift) / np.where(size > 0, size, 1.0)
    series.notes.append("scaled to mean 0, deviation 1" if how == "standard" else "scaled to 0 to 1")


def _read(path: Path) -> Sample:
    return _read_as(path, {})


def _read_as(path: Path, asked: Mapping[str, str]) -> Sample:
    with refusing(path, "table"):
        encoding = table_encoding(path)
        return of_lines(path, decoded(path, encoding).split("\n"), asked, note_of(encoding))


def of_lines(path: Path, lines: list[str], asked: Mapping[str, str], told: list[str]) -> Sample:
    """Return the sample of the lines of a table; Broken says what is wrong with them.

    Args:
        asked: what a person has said.
        told: what was done to the file before it was lines.
    """
    require_all(choices_of_lines(lines, asked) if asked else (), asked)
    lines, parted = plain(lines)
    told = told + parted
    layout = layout_of(lines, asked)
    numbers = [
        n for n, line in enumerate(lines[layout.first - 1 :], layout.first) if line.strip() and not is_remark(line)
    ]
    if layout.columns > _WIDEST:
        raise Broken(f"line {layout.first} has {layout.columns} columns and the most is {_WIDEST}", "keep fewer")
    require_steps(min(len(numbers), MOST_STEPS + 1), max(len(layout.values), 1))
    if not layout.values:
        raise Broken(f"line {layout.first} has no column of values", "add one beside the time")
    rows = [lines[n - 1] for n in numbers]
    layout = with_clock(layout, rows)
    fast = _fast(rows, layout)
    table, gap, commas = (fast, "", []) if fast is not None else _slow(rows, numbers, layout)
    notes = told + _left_out(layout) + commas
    automatic = layout.batch is None and "series" not in asked
    if (found := _grouped(layout, rows, table, automatic)) is not None:
        layout.batch, kinds = found
        order = np.argsort(kinds, kind="stable")
        table, numbers = table[order], [numbers[k] for k in order]
        table[:, layout.batch] = kinds[order]
        notes = [
            f"one series for each {layout.name(layout.batch)}",
            *told,
            *_left_out(layout),
            *commas,
        ]
    empty = [k for k in layout.values if layout.chosen is None and np.isnan(table[:, k]).all()]
    if 0 < len(empty) < len(layout.values):
        layout.chosen = tuple(k for k in layout.values if k not in empty)
        named = ", ".join(map(layout.name, empty[:_NAMED])) + ", ..." * (len(empty) > _NAMED)
        notes.append(f"without a number, left out: {named}")
    series = Series(table[:, layout.values])
    series.notes += notes
    if layout.batch is not None:
        series.batch = _batch(_whole(table, layout.batch, layout, numbers), numbers)
    if layout.label is not None:
        series.label = _whole(table, layout.label, layout, numbers)
    if layout.time is not None:
        series.time = table[:, layout.time]
        _ascending(series, numbers)
        if layout.dates:
            if layout.slashed:
                series.notes.append(f"dates read as {'month/day' if layout.month_first else 'day/month'}/year")
            _dated(series)
        elif declared(lines) is None and _unix(series, layout):
            _dated(series)
    if layout.headings:
        series.channels = tuple(layout.name(k) for k in layout.values)
    if layout.counter is not None:
        series.notes.insert(0, "the first column numbers the lines: left out")
    filled(series, gap)
    if (how := asked.get("scale", NONE)) != NONE:
        _scaled(series, how)
    big = np.abs(series.x) > np.finfo(np.float32).max
    if big.any():
        row, k = np.argwhere(big)[0].tolist()
        raise Broken(f"line {numbers[row]}, column {layout.values[k] + 1} is beyond float32", "scale the values")
    if not layout.headings and layout.time is None and layout.columns in (2, 3) and not declared(lines) and not asked:
        series.notes.append("numbers with fractions: read as a series and not as a list of edges")
    return series_sample(path, series)


def _left_out(layout: Layout) -> list[str]:
    """Return notes of the columns that are no channels."""
    words = [layout.name(k) for k in layout.texts if k not in layout.others]
    known = (*layout.values, *layout.texts, *layout.others, layout.counter, layout.clock)
    unasked = [layout.name(k) for k in range(layout.columns) if k not in known]
    named = all(name.startswith("column ") for name in words[:_NAMED])
    what = "" if named else "column " if len(words) == 1 else "columns "
    told = [f"{layout.titles} line{'s' * (layout.titles > 1)} above the table left out"] if layout.titles else []
    if layout.clock is not None and layout.time is not None:
        told.append(f"{layout.name(layout.time)} and {layout.name(layout.clock)} together are the time")
    told += [f"line {layout.units} holds units"] if layout.units is not None else []
    told += ["lines {} to {} are the heading".format(*layout.heads)] if layout.heads is not None else []
    told += [f"{what}{', '.join(words[:_NAMED])}{', ...' * (len(words) > _NAMED)} of words left out"] if words else []
    of = len(layout.values) + len(unasked)
    if unasked:
        kept = ", ".join(map(layout.name, layout.values[:_NAMED])) + ", ..." * (len(layout.values) > _NAMED)
        told.append(f"column{'s' * (len(layout.values) > 1)} {kept}: {len(layout.values)} of {of}")
    return told


def _choices(path: Path, asked: Mapping[str, str]) -> tuple[Choice, ...]:
    """Return what can be said of a table: which columns, what they mean, whether there is a heading, the scale."""
    return choices_of_lines(decoded(path, table_encoding(path)).split("\n"), asked)


def choices_of_lines(lines: list[str], asked: Mapping[str, str]) -> tuple[Choice, ...]:
    """Return the same of the lines of a table."""
    lines, _ = plain(lines)
    said = {name: asked[name] for name in ("header",) if asked.get(name) in ("yes", "no")}
    layout = layout_of(lines, said)
    columns = tuple((str(k + 1), layout.name(k)) for k in range(min(layout.columns, _WIDEST)))
    numeric = tuple(one for k, one in enumerate(columns) if k not in layout.texts)
    no = (NONE, "none")

    def one(name: str, title: str, column: int | None, options: tuple[tuple[str, str], ...]) -> Choice:
        return Choice(name, title, (no, *options), NONE if column is None else str(column + 1))

    dates = tuple(one for k, one in enumerate(columns) if k not in layout.texts or k == layout.time)
    channels = ",".join(str(k + 1) for k in layout.values)
    made = (
        Choice("columns", "Channels", tuple(c for c in numeric if int(c[0]) - 1 != layout.time), channels, True),
        one("time", "Time axis", layout.time, dates),
        one("label", "Label of a step", layout.label, numeric),
        one("series", "Several series by", layout.batch, columns),
        *(_ORDERS if layout.slashed else ()),
        Choice("header", "First line", (("yes", "a heading"), ("no", "numbers")), "yes" if layout.headings else "no"),
        Choice("scale", "Scaling", _SCALES, NONE),
    )
    order = "mdy" if layout.month_first else "dmy"
    made = tuple(replace(c, value=order) if c.name == "dates" else c for c in made)
    return tuple(replace(c, value=asked.get(c.name, c.value)) for c in made)


READER = Reader(
    "series", "Series (CSV, TSV, text)", _EXTENSIONS, "sequence", _sniff, _read, rates=_rates, choices=_choices,
    read_as=_read_as,
)  # fmt: skip
