"""Tell how a table of numbers is written, and whether it is a series or a list of edges.

The same endings (.csv, .tsv, .txt) hold both, so the content decides, by the first of these rules that says something:

1. a remark "# series" makes it a series; "# directed" or "# nodes: 12" a list of edges;
2. a heading with source and target (from and to, ...) makes it a list of edges;
3. a value that is neither a number nor a gap in the first line of data (a name) makes it a list of edges;
4. a column of times, by its heading (t, time, date, year, ...) or by its dates, makes it a series;
5. one column makes it a series;
6. whole numbers in the first two columns of every line make it a list of edges;
7. anything else, numbers with fractions or gaps, is a series.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from explorer.data.checks import Broken

TIMES = ("t", "time", "times", "date", "datetime", "timestamp", "seconds", "year")
LABELS = ("label", "class")
BATCHES = ("batch", "series")
GAPS = frozenset(("", "nan", "na", "n/a", "null", "none", "-", "?"))
REMARKS = ("#", "%")
_SOURCES = ("source", "src", "from", "node1", "node_1")
_TARGETS = ("target", "dst", "to", "node2", "node_2")
_COMMA = re.compile(r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?")
_WHOLE = re.compile(r"[-+]?\d+")
_LOOKED_AT = 200  # lines


@dataclass(slots=True)
class Layout:
    """The layout of a table: the separator, the number of the first line of data (from 1), and which column is what."""

    mark: str | None  # None: spaces
    first: int
    columns: int
    headings: tuple[str, ...] = ()
    time: int | None = None
    label: int | None = None
    batch: int | None = None
    counter: int | None = None  # the number of the row, as pandas writes it
    dates: bool = False

    @property
    def values(self) -> list[int]:
        """Return the columns that are channels."""
        return [k for k in range(self.columns) if k not in (self.time, self.label, self.batch, self.counter)]


def is_remark(line: str) -> bool:
    return line.lstrip().startswith(REMARKS)


def cells_of(line: str, mark: str | None) -> list[str]:
    if mark is None:
        return line.split()
    if '"' not in line:
        return [cell.strip() for cell in line.split(mark)]
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=mark), [])]
    except csv.Error:
        return [line]


def number_of(cell: str) -> float | None:
    """Return the number, NaN for a gap, or None where it is neither."""
    if cell.lower() in GAPS:
        return float("nan")
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def has_decimal_comma(cell: str) -> bool:
    return _COMMA.fullmatch(cell) is not None


def moment_of(cell: str) -> float | None:
    """Return the seconds since 1970 of a date by ISO 8601, or None; without a zone it is UTC."""
    text = f"{cell}-01" if re.fullmatch(r"\d{4}-\d{2}", cell) else cell
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _is_date(cell: str) -> bool:
    return number_of(cell) is None and moment_of(cell) is not None


def layout_of(lines: list[str]) -> Layout:
    """Look at the heading and the first line of data of a table; Broken where there is none."""
    kept = [(n, line) for n, line in enumerate(lines[: 10 * _LOOKED_AT], 1) if line.strip() and not is_remark(line)][:3]
    if not kept:
        raise Broken("it has no line of numbers", "write a line of numbers for each step")
    number, line = kept[0]
    mark = next((m for m in ("\t", ";", ",") if m in line), None)
    cells = cells_of(line, mark)
    told = [number_of(c) is not None or _is_date(c) or (mark != "," and has_decimal_comma(c)) for c in cells]
    headed = not any(t for t, c in zip(told, cells) if c)
    # headings that are all empty are a row of gaps
    headed &= any(cells)
    layout = Layout(mark, number, len(cells))
    if headed:
        if len(kept) < 2:
            raise Broken(f"line {number} is a heading and no numbers follow", "write a line of numbers for each step")
        layout.headings, layout.first = tuple(cells), kept[1][0]
        words = [cell.lower() for cell in cells]
        for what, known in (("time", TIMES), ("label", LABELS), ("batch", BATCHES)):
            setattr(layout, what, next((k for k, word in enumerate(words) if word in known), None))
        cells = cells_of(kept[1][1], mark)
    dated = next((k for k, cell in enumerate(cells) if _is_date(cell)), None)
    if layout.time is None and dated == 0:
        layout.time = 0
    layout.dates = layout.time is not None and dated == layout.time
    if headed and layout.headings[0] == "" and layout.time != 0 and cells[:1] == ["0"]:
        layout.counter = 0
    return layout


def declared(lines: list[str]) -> bool | None:
    """Return whether a remark says that it is a series, or (False) a list of edges; None where none does."""
    for line in lines[:_LOOKED_AT]:
        if not is_remark(line):
            continue
        if re.fullmatch(r"\W*series\b.*", line, re.I):
            return True
        if re.fullmatch(r"\W*directed\b.*", line, re.I) or re.search(r"\bnodes\W+\d", line, re.I):
            return False
    return None


def is_series(text: str) -> bool:
    """Return whether the beginning of a table is a series, by the rules above."""
    lines = text.split("\n")
    if (told := declared(lines)) is not None:
        return told
    try:
        layout = layout_of(lines)
    except Broken:
        return False
    words = [word.lower() for word in layout.headings]
    if any(w in _SOURCES for w in words) and any(w in _TARGETS for w in words):
        return False
    data = [
        cells_of(line, layout.mark)
        for line in lines[layout.first - 1 :][:_LOOKED_AT]
        if line.strip() and not is_remark(line)
    ]
    first = [cell for k, cell in enumerate(data[0]) if k != layout.time]
    if any(number_of(cell) is None and not has_decimal_comma(cell) for cell in first):
        return False
    if layout.time is not None:
        return bool(first)
    if all(cell.lower() in GAPS for row in data for cell in row):
        return False
    if layout.columns == 1:
        return True
    return not all(len(row) < 2 or all(_WHOLE.fullmatch(cell) for cell in row[:2]) for row in data)
