"""Tell how a table of numbers is written, and whether it is a series or a list of edges.

The same endings (.csv, .tsv, .txt) hold both, so the content decides, by the first of these rules that says something:

1. a remark "# series" makes it a series; "# directed" or "# nodes: 12" a list of edges;
2. a heading with source and target (from and to, ...) makes it a list of edges;
3. a column of times, by its heading (t, time, date, year, ...) or by its dates, makes it a series;
4. one column makes it a series;
5. numbers with fractions or gaps in the first two columns, or dates, make it a series: they name no nodes;
6. names or whole numbers in the first two columns make it a list of edges where nodes of the first occur in the second;
7. anything else may be either (`ratings`): then a person is asked, and without one it is a list of edges.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from types import MappingProxyType

from explorer.data.formats.checks import Broken
from explorer.data.formats.headings import Heading, heading_above
from explorer.data.readers import Fit
from explorer.declare.telling.choices import NONE

TIMES = (
    "t", "time", "times", "date", "datetime", "timestamp", "seconds", "year", "utc", "epoch", "unixtime", "unix time",
    "zeit", "datum", "uhrzeit", "temps", "fecha", "tiempo",
)  # fmt: skip
LABELS = ("label", "class")
BATCHES = ("batch", "series")
GAPS = frozenset(("", "nan", "na", "n/a", "null", "none", "-", "?"))
REMARKS = ("#", "%")
_SOURCES = ("source", "src", "from", "node1", "node_1")
_TARGETS = ("target", "dst", "to", "node2", "node_2")
_COMMA = re.compile(r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?")
_GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_CLOCK = r"(?:,?[ T](\d{1,2}:\d{2}(?::\d{2})?)(?: ?([AaPp])\.?[Mm]\.?)?)?"
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})" + _CLOCK)
_SLASHED = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})" + _CLOCK)
_YEAR_FIRST = re.compile(r"(\d{4})[/-](\d{1,2})[/-](\d{1,2})" + _CLOCK)
_OF_DAY = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?(?: ?[AaPp]\.?[Mm]\.?)?")
_WHOLE = re.compile(r"[-+]?\d+")
_LOOKED_AT = 200  # lines
_MOST_CELLS = 2**16  # in a line
_MOST_TITLES = 8  # lines above a table
_MOST_OF_EDGES = 4  # columns of whole numbers that edges are written in


@dataclass(slots=True)
class Layout:
    """The layout of a table: the separator, the number of the first line of data (from 1), and which column is what."""

    mark: str | None  # None: spaces
    first: int
    columns: int
    headings: tuple[str, ...] = ()
    time: int | None = None
    clock: int | None = None  # the time of the day, where the column of the time holds days alone
    label: int | None = None
    batch: int | None = None
    counter: int | None = None  # the number of the row, as pandas writes it
    dates: bool = False
    slashed: bool = False  # dates are written 1/2/2024, where either number may be the month
    month_first: bool = False
    units: int | None = None  # the number of the line below the heading that holds units
    heads: tuple[int, int] | None = None  # the first and the last line of a heading of more than two
    texts: tuple[int, ...] = ()  # columns of words, which are no channels
    titles: int = 0  # lines of words above the table
    chosen: tuple[int, ...] | None = None  # the channels that a person has chosen

    @property
    def values(self) -> list[int]:
        """Return the columns that are channels."""
        if self.chosen is not None:
            return list(self.chosen)
        return [k for k in range(self.columns) if k not in (*self.texts, *self.others, self.counter, self.clock)]

    @property
    def others(self) -> tuple[int | None, ...]:
        """Return the columns with a meaning of their own."""
        return self.time, self.label, self.batch

    def name(self, column: int) -> str:
        """Return the heading of a column, or its number from 1."""
        heading = self.headings[column] if column < len(self.headings) else ""
        return heading or f"column {column + 1}"


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


def has_comma(cell: str) -> bool:
    """Say whether it is a number with a decimal comma, 3,5, or with commas between thousands, 12,345.6."""
    return _COMMA.fullmatch(cell) is not None or _GROUPED.fullmatch(cell) is not None


def comma_mark(cells: Iterable[str], mark: str | None) -> str:
    """Return what commas in the numbers of a column become: "." of decimals, "" of thousands, "," where both may be.

    Between semicolons they are decimals, as spreadsheets write them, if every number has one. Three digits after each
    of them part thousands in a table with commas between cells, and may be either in any other.
    """
    numbers = [cell for cell in cells if has_comma(cell)]
    single = all(map(_COMMA.fullmatch, numbers))
    if single and (mark == ";" or not all(map(_GROUPED.fullmatch, numbers))):
        return "."
    grouped = all(map(_GROUPED.fullmatch, numbers))
    return "" if grouped and (mark == "," or not single) else ","


def moment_of(cell: str, month_first: bool = False) -> float | None:
    """Return the seconds since 1970 of a date by ISO 8601, of 31.1.2024 12:30, 31/1/2024 or 2024/1/31, or None.

    Without a zone it is UTC.

    Args:
        month_first: whether 1/2/2024 is the second of January.
    """
    text = f"{cell}-01" if re.fullmatch(r"\d{4}-\d{2}", cell) else cell
    orders = ((_DOTTED, (3, 2, 1)), (_SLASHED, (3, 1, 2) if month_first else (3, 2, 1)), (_YEAR_FIRST, (1, 2, 3)))
    for form, (year, month, day) in orders:
        if (found := form.fullmatch(cell)) is not None:
            text = f"{found[year]}-{found[month]:0>2}-{found[day]:0>2}{_clock(found[4], found[5])}"
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def with_clock(layout: Layout, rows: list[str]) -> Layout:
    """Return the layout with the column of words that is the time of the day beside a column of days, if one is."""
    if not layout.dates or layout.time is None or not layout.texts:
        return layout
    cells = [cells_of(row, layout.mark) for row in rows]
    if any(":" in row[layout.time] for row in cells if len(row) == layout.columns):
        return layout  # the column of the time holds it
    for column in layout.texts:
        if all(len(row) == layout.columns and _OF_DAY.fullmatch(row[column]) for row in cells):
            return replace(layout, clock=column, texts=tuple(k for k in layout.texts if k != column))
    return layout


def _clock(text: str | None, half: str | None) -> str:
    """Return the time of a day as ISO 8601 has it: "T13:30" for 1:30 PM."""
    if text is None:
        return ""
    hour, rest = text.split(":", 1)
    if half:
        hour = str(int(hour) % 12 + 12 * (half in "pP"))
    return f"T{hour:0>2}:{rest}"


def _is_date(cell: str) -> bool:
    return number_of(cell) is None and any(moment_of(cell, order) is not None for order in (False, True))


def heading_word(cell: str) -> str:
    """Return a heading without its unit: "time" of "Time (s)"."""
    word = cell.strip().lower()
    for opens, closes in ("()", "[]"):
        if word.endswith(closes):  # sought by hand: a pattern takes the square of a hundred thousand brackets
            at = word.find(opens, word.rfind(closes, 0, -1) + 1)
            return word[:at].rstrip() if at >= 0 else word
    return word


def mark_of(line: str) -> str | None:
    """Return what stands between the cells of a line; None of spaces."""
    return next((m for m in ("\t", ";", ",") if m in line), None)


def _titles(lines: list[str]) -> int:
    """Return how many lines stand above a table: words in one cell each, above a heading and numbers."""
    mark = mark_of(lines[: _MOST_TITLES + 2][-1])
    rows = [cells_of(line, mark) for line in lines[: _MOST_TITLES + 2]]
    filled = [[cell for cell in row if cell] for row in rows]
    count = next((k for k, row in enumerate(filled) if len(row) != 1 or _is_value(row[0])), 0)
    if mark is None or not 0 < count < len(rows) - 1:
        return 0
    heading, first = rows[count], rows[count + 1]
    alike = len(heading) == len(first) and len(filled[count]) > 1
    return count if alike and any(map(_is_value, filled[count + 1])) else 0


def _heading(lines: list[str]) -> Heading | None:
    """Return the heading of a table that is more than one line of words, None where there is no such."""
    mark = mark_of(lines[: _MOST_TITLES + 2][-1])
    rows = [cells_of(line, mark) for line in lines[: _MOST_TITLES + 2]]
    found = heading_above(rows, _is_value, lambda cell: cell.lower() in GAPS) if mark is not None else None
    # a line of units below one of words is told as that
    return found if found is not None and (found.titles or len(found.rows) > 2) else None


def _is_value(cell: str) -> bool:
    return number_of(cell) is not None or _is_date(cell) or has_comma(cell)


def layout_of(lines: list[str], asked: Mapping[str, str] = MappingProxyType({})) -> Layout:
    """Look at the heading and the first lines of data of a table; Broken where there is none.

    Args:
        asked: what a person has said: header=yes or no, time, label, series and columns by their numbers from 1.
    """
    kept = [(n, line) for n, line in enumerate(lines[: 10 * _LOOKED_AT], 1) if line.strip() and not is_remark(line)]
    kept = kept[: _LOOKED_AT + 1]
    if not kept:
        raise Broken("it has no line of numbers", "write a line of numbers for each step")
    for number, line in kept:
        if (count := 1 + max(map(line.count, "\t;,"))) > _MOST_CELLS:
            raise Broken(f"line {number} has {count} cells and the most is {_MOST_CELLS}", "keep fewer")
    said = asked.get("header") != "no"
    heading = _heading([line for _, line in kept]) if said else None
    titles = heading.titles if heading is not None else _titles([line for _, line in kept])
    kept = kept[titles:]
    number, line = kept[0]
    mark = mark_of(line)
    cells = cells_of(line, mark)
    told = [_is_value(c) for c in cells]
    headed = not any(t for t, c in zip(told, cells) if c)
    # headings that are all empty are a row of gaps
    headed &= any(cells)
    headed |= not cells[0] and _counts([cells_of(line, mark)[:1] for _, line in kept[1:]])
    headed = asked["header"] == "yes" if "header" in asked else headed or heading is not None
    layout = Layout(mark, number, len(cells), titles=titles)
    if headed:
        if len(kept) < 2:
            raise Broken(f"line {number} is a heading and no numbers follow", "write a line of numbers for each step")
        layout.headings, layout.first = tuple(cells), kept[1][0]
        kept = _without_units(layout, kept) if heading is None else _without_heading(layout, kept, heading)
        heading = heading or Heading(titles, (cells,))
        for what, known in (("time", TIMES), ("label", LABELS), ("batch", BATCHES)):
            setattr(layout, what, heading.column(heading_word, known))
        cells = cells_of(kept[1][1], mark)
    dated = [k for k, cell in enumerate(cells) if _is_date(cell)]
    if layout.time is None and dated[:1] == [0]:
        layout.time = 0
    if headed and layout.headings[0] == "" and layout.time != 0 and cells[:1] == ["0"]:
        layout.counter = 0
    _say(layout, asked)
    rows = [cells_of(line, mark) for _, line in kept[headed:]]
    layout.texts = tuple(
        k
        for k in range(layout.columns)
        if k not in layout.others[:2] and _is_text([row[k] for row in rows if k < len(row)])
    )
    layout.dates = layout.time in dated
    if layout.dates and layout.time is not None:
        _order_of_dates(layout, [row[layout.time] for row in rows if layout.time < len(row)], asked)
    if word := next((k for k in layout.chosen or () if k in layout.texts), None):
        raise Broken(f"{layout.name(word)} holds words", "choose columns of numbers")
    return layout


def _counts(cells: list[list[str]]) -> bool:
    """Say whether lines are numbered 0, 1, 2, ..., as pandas does."""
    return len(cells) > 1 and all(cell == [str(k)] for k, cell in enumerate(cells))


def _without_units(layout: Layout, kept: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the lines of a table without one of units below its heading, which go to the names of the columns."""
    if len(kept) < 3:
        return kept
    below, first = (cells_of(line, layout.mark) for _, line in kept[1:3])
    words = [k for k, cell in enumerate(below) if cell]
    if (
        not words
        or len(below) != len(first)
        or len(below) != layout.columns
        or any(_is_value(below[k]) or not _is_value(first[k]) or first[k].lower() in GAPS for k in words)
    ):
        return kept
    layout.units, layout.first = kept[1][0], kept[2][0]
    layout.headings = tuple(f"{head} ({unit})" if unit else head for head, unit in zip(layout.headings, below))
    return [kept[0], *kept[2:]]


def _without_heading(layout: Layout, kept: list[tuple[int, str]], heading: Heading) -> list[tuple[int, str]]:
    """Return the lines of a table with one in place of all that head it, which name the columns together."""
    count = len(heading.rows)
    layout.headings, layout.first = heading.names, kept[count][0]
    layout.units = kept[1][0] if count == 2 else None
    layout.heads = (kept[0][0], kept[count - 1][0]) if count > 2 else None
    return [kept[0], *kept[count:]]


def _order_of_dates(layout: Layout, cells: list[str], asked: Mapping[str, str]) -> None:
    """Decide whether the month stands first in 1/2/2024: by what dates there are, then by which order ascends.

    Where both may be, as in twelve days of January, the month is first; a person may say otherwise: dates=dmy or mdy.
    """
    layout.slashed = any(map(_SLASHED.fullmatch, cells))
    if not layout.slashed:
        return
    orders = {first: [moment_of(cell, first) for cell in cells] for first in (True, False)}
    possible = [first for first, moments in orders.items() if None not in moments] or [True]
    ascends = [f for f in possible if all(a < b for a, b in pairwise(m for m in orders[f] if m is not None))]
    layout.month_first = asked["dates"] == "mdy" if "dates" in asked else (ascends or possible)[0]


def _is_text(cells: list[str]) -> bool:
    """Say whether most cells of a column are words; a few of them are mistakes, which the reader names."""
    known = [cell for cell in cells if cell.lower() not in GAPS]
    words = [cell for cell in known if number_of(cell) is None and not has_comma(cell)]
    return not cells or 2 * len(words) > len(known)


def _say(layout: Layout, asked: Mapping[str, str]) -> None:
    """Put what a person has said into a layout."""
    for what, name in (("time", "time"), ("label", "label"), ("batch", "series")):
        if name in asked:
            setattr(layout, what, None if asked[name] == NONE else int(asked[name]) - 1)
    if "columns" in asked:
        layout.chosen = tuple(int(column) - 1 for column in asked["columns"].split(","))


def declared(lines: list[str]) -> bool | None:
    """Return True where a remark declares a series, False where it declares a list of edges, else None."""
    for line in lines[:_LOOKED_AT]:
        if not is_remark(line):
            continue
        if re.fullmatch(r"\W*series\b.*", line, re.I):
            return True
        if re.fullmatch(r"\W*directed\b.*", line, re.I) or re.search(r"\bnodes\W+\d", line, re.I):
            return False
    return None


def ratings(text: str) -> tuple[Fit, Fit]:
    """Return how well the beginning of a table fits a series and a list of edges, by the rules above."""
    lines = text.split("\n")
    try:
        layout = layout_of(lines)
    except Broken:
        return Fit.NO, Fit.ALLOWED
    data = [
        cells_of(line, layout.mark)
        for line in lines[layout.first - 1 :][:_LOOKED_AT]
        if line.strip() and not is_remark(line)
    ]
    numbers = [k for k in layout.values if k not in layout.texts]
    possible = Fit.ALLOWED if numbers else Fit.NO
    if layout.columns < 2 and (numbers or declared(lines) is not True):
        gaps = all(cell.lower() in GAPS for row in data for cell in row)
        return (Fit.LIKELY, Fit.NO) if numbers and not gaps else (Fit.NO, Fit.ALLOWED)
    if (told := declared(lines)) is not None:
        return (Fit.CLEAR, Fit.ALLOWED) if told else (possible, Fit.CLEAR)
    words = [heading_word(word) for word in layout.headings]
    if any(w in _SOURCES for w in words) and any(w in _TARGETS for w in words):
        return possible, Fit.CLEAR
    ends = [row[:2] for row in data if len(row) > 1]
    named = [[bool(cell) and (bool(_WHOLE.fullmatch(cell)) or _is_name(cell)) for cell in row] for row in ends]
    if layout.time is not None and numbers:
        return Fit.CLEAR, Fit.ALLOWED if all(map(all, named)) else Fit.NO
    return _weighed(layout, ends, len(data), named, possible)


def _weighed(
    layout: Layout, ends: list[list[str]], lines: int, named: list[list[bool]], possible: Fit
) -> tuple[Fit, Fit]:
    """Rate an undeclared table without times by the columns that could be the ends of edges."""
    words = {k for k in (0, 1) if k in layout.texts}
    if not possible:
        return Fit.NO, Fit.LIKELY if len(ends) == lines else Fit.ALLOWED
    if not all(map(all, named)):
        # a name and a number with a fraction: a weight that belongs to a node, or a series with a column of names
        either = words == {0} and not layout.headings
        return (Fit.ALLOWED, Fit.ALLOWED) if either else (Fit.LIKELY, Fit.NO)
    if len(words) == 1 and layout.headings:
        return Fit.LIKELY, Fit.ALLOWED
    sources, targets = {row[0] for row in ends}, {row[1] for row in ends}
    shared = 2 * len(sources & targets) >= min(len(sources), len(targets))
    if len(words) == 2:
        return Fit.ALLOWED if shared or not layout.headings else Fit.LIKELY, Fit.LIKELY
    if (layout.headings or not shared) and len(sources) == len(ends):  # every line has a number of its own
        return Fit.LIKELY, Fit.LIKELY
    return Fit.LIKELY if layout.columns > _MOST_OF_EDGES else possible, Fit.LIKELY


def _is_name(cell: str) -> bool:
    return cell.lower() not in GAPS and number_of(cell) is None and not _is_date(cell) and not has_comma(cell)
