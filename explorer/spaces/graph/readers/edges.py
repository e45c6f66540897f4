"""Lists of edges as text: a line for each, source, target and perhaps a weight and further numbers.

Commas, semicolons, tabs or spaces between; lines that begin with # or % are remarks. A header is found by its words,
or by its being of words that no other line has.
Whole numbers are read by numpy, ten million lines in a few seconds; anything else goes line by line. An edge is
undirected unless a column "Type" (as Gephi has it) or a remark "# directed" says otherwise; "# nodes: 12" tells of
nodes that have no edge.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import Broken, file_bytes, refusing, require_all
from explorer.data.formats.tables import BATCHES, LABELS, TIMES, cells_of, comma_mark, has_comma, ratings
from explorer.data.formats.texts import beginning, note_of, table_encoding
from explorer.data.readers import Fit, Reader
from explorer.declare.samples import Sample
from explorer.declare.telling.choices import NONE, Choice
from explorer.spaces.graph.readers.assembly import MOST_NAMES, Found, require_nodes, sample_of
from explorer.spaces.graph.readers.records import WEIGHTS
from explorer.spaces.graph.samples.edges import is_symmetric, once
from explorer.work.limits import MAX_LISTED, MAX_NODES

# single letters are not among them: they are as likely the names of nodes
_SOURCES = ("source", "src", "from", "node1", "node_1")
_TARGETS = ("target", "dst", "to", "node2", "node_2")
_HEADINGS = {*_SOURCES, *_TARGETS, *TIMES, *LABELS, *BATCHES}
_OWN = (".edges", ".edgelist")  # endings of nothing else
_COLUMNS = ("source", "target", "weight")
_WORDS_OF_PROSE = 4
_LONGEST_LINE = 2**20
_READ_THROUGH = 10_000  # lines: where there are no more, all of them tell whether the first one is an edge
_DECIDING = 200  # lines that tell what commas in numbers are
_LEAST_BELOW = 3  # edges that tell words above them from an edge
CHUNK = 500_000  # lines at a time
MOST = MAX_LISTED // 2
_REMARK = ("#", "%", "//")
_LOOKED_AT = 2**16  # bytes


def _sniff(head: bytes) -> bool:
    return False  # any text could be one: `rates` and the name of the file decide


def _rates(path: Path) -> Fit:
    if path.suffix.lower() in _OWN:
        return Fit.CLEAR
    with path.open("rb") as file:
        text = beginning(file.read(_LOOKED_AT))
    fit = Fit.NO if "\0" in text else ratings(text[: text.rfind("\n") + 1] or text)[1]
    try:
        _layout(io.StringIO(text))
    except Broken:  # it is prose
        return min(fit, Fit.ALLOWED)
    return fit


@dataclass(slots=True)
class _Layout:
    """The layout of the file: the separator, the first line of data (from 0), and which column is what."""

    mark: str | None  # None: spaces
    first: int
    columns: int
    source: int = 0
    target: int = 1
    weight: int | None = None
    others: list[tuple[int, str]] = field(default_factory=list)
    kind: int | None = None
    directed: bool = False
    nodes: int | None = None
    header: bool = False
    apart: bool = False  # the heading is known by its words being names of no other line
    line: str = ""
    commas: dict[int, str] = field(default_factory=dict)  # what the commas of a column's numbers become

    def is_number(self, cell: str, column: int) -> bool:
        return _number(cell) or (column in self.commas and has_comma(cell))


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _split(line: str, mark: str | None) -> list[str]:
    if mark is None:
        return line.split()
    return [cell.strip() for cell in next(csv.reader([line], delimiter=mark), [])]


def _layout(file: IO[str], asked: Mapping[str, str] = MappingProxyType({})) -> _Layout:
    """Look at the remarks, the header and the first line of data; `asked` is what a person has said of them."""
    directed, nodes = False, None
    lines: list[tuple[int, str]] = []
    for number, line in enumerate(file):
        if len(line) > _LONGEST_LINE:
            raise Broken(f"line {number + 1} has more than {_LONGEST_LINE} characters", "save a line for each edge")
        if "\0" in line:
            raise Broken("it is no text", "save the edges as lines of text")
        text = line.strip()
        if text.startswith(_REMARK):
            directed |= re.fullmatch(r"\W*directed\b.*", text, re.I) is not None
            if match := re.search(r"\bnodes\W+(\d{1,12})", text, re.I):
                nodes = int(match[1])
        elif text:
            lines.append((number, text))
            if len(lines) == _READ_THROUGH:
                break
    if not lines:
        raise Broken("it has no line that is an edge", "write source, target in each line")
    number, head = lines[0]
    mark = next((m for m in ("\t", ";", ",") if m in head), None)
    cells = _split(head, mark)
    words = [cell.lower() for cell in cells]
    named = any(w in _SOURCES for w in words) and any(w in _TARGETS for w in words) and not all(map(_number, words))
    following = _split(lines[1][1], mark) if len(lines) > 1 else []
    layout = _Layout(mark, number, len(cells), nodes=nodes, line=head, commas=_commas(lines, mark, len(cells)))
    if not named and len(following) == len(cells):  # numbers below a word: the word is a heading
        pairs = enumerate(zip(words, following))
        named = any(layout.is_number(low, k) and not layout.is_number(high, k) for k, (high, low) in pairs)
    if len(lines) == 1 and (named or ((len(cells) > 2 or set(words) & _HEADINGS) and not any(map(_number, words)))):
        raise Broken(f"line {number + 1} is a heading and no line follows", "write the numbers, or the edges, below it")
    apart = not named and "header" not in asked and len(lines) < _READ_THROUGH and _stands_apart(lines, mark)
    named = asked["header"] == "yes" if "header" in asked else named or apart
    directed = asked["directed"] == "yes" if "directed" in asked else directed
    layout.directed, layout.header, layout.apart = directed, named, apart
    if len(cells) < 2:
        raise Broken(f"line {number + 1} has one column", "write source, target in each line")
    if not named and mark is None and len(cells) > 2 and not cells[2].startswith("{") and not _number(cells[2]):
        raise Broken(f"line {number + 1} is text and not an edge", "write source, target in each line")
    if not named and '"' not in head and any(len(cell.split()) >= _WORDS_OF_PROSE for cell in cells[:2]):
        raise Broken(f"line {number + 1} is text and not an edge", "write source, target in each line")
    if named:
        _by_header(layout, words, following)
    elif len(cells) > 2:
        layout.weight = 2 if layout.is_number(cells[2], 2) else None
        layout.others = [(k, f"column {k + 1}") for k in range(3, len(cells)) if layout.is_number(cells[k], k)]
    for what in _COLUMNS:
        if what in asked:
            setattr(layout, what, None if asked[what] == NONE else int(asked[what]) - 1)
    used = (layout.source, layout.target, layout.weight)
    layout.others = [one for one in layout.others if one[0] not in used]
    layout.first = number + named
    return layout


def _stands_apart(lines: list[tuple[int, str]], mark: str | None) -> bool:
    """Say whether the first line names nothing that another one names, while each of these has a name of another."""
    if mark is None or any("{" in line for _, line in lines) or len(lines) <= _LEAST_BELOW:
        return False
    head, *rest = (cells_of(line, mark) for _, line in lines)
    times = Counter(name for row in rest for name in set(row[:2]))
    alone = all(cell and not _number(cell) and not times[cell] for cell in head)
    return alone and len(head) > 1 and all(any(times[name] > 1 for name in row[:2]) for row in rest)


def _commas(lines: list[tuple[int, str]], mark: str | None, columns: int) -> dict[int, str]:
    """Return what the commas in the numbers of each further column become, where it has any; Broken where that is open.

    Ends of edges are names, which keep theirs.
    """
    found: dict[int, str] = {}
    rows = [cells_of(line, mark) for _, line in lines[:_DECIDING]] if any("," in line for _, line in lines) else []
    for k in range(2, columns if mark is not None else 0):
        cells = [row[k] for row in rows if k < len(row)]
        if any(map(has_comma, cells)) and all(_number(cell) or has_comma(cell) or not cell for cell in cells[1:]):
            found[k] = comma_mark(cells, mark)
            if found[k] == ",":
                number, cell = next(
                    (n, row[k]) for (n, _), row in zip(lines, rows) if k < len(row) and has_comma(row[k])
                )
                what = f"line {number + 1}, column {k + 1} has {cell[:40]!r}, whose comma may be that of decimals"
                raise Broken(f"{what} or of thousands", "write numbers with a decimal point")
    return found


def _by_header(layout: _Layout, words: list[str], following: list[str]) -> None:
    sources, targets = ([k for k, w in enumerate(words) if w in names] for names in (_SOURCES, _TARGETS))
    if sources and targets:
        layout.source, layout.target = sources[0], targets[0]
    rest = [k for k in range(len(words)) if k not in (layout.source, layout.target)]
    for k in rest:
        if words[k] in WEIGHTS and layout.weight is None:
            layout.weight = k
        elif words[k] == "type":
            layout.kind = k
        elif words[k] != "id" and (k >= len(following) or not following[k] or layout.is_number(following[k], k)):
            layout.others.append((k, words[k]))


def _fast(file: IO[str], layout: _Layout) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
    """Read (edges, 2) whole numbers and (edges, further) numbers, or None where it takes more than numpy."""
    if layout.kind is not None or "{" in layout.line:
        return None
    further = ([] if layout.weight is None else [layout.weight]) + [k for k, _ in layout.others]
    columns = (layout.source, layout.target, *further)
    ends, values, total = [], [], 0
    for _ in islice(file, layout.first):
        pass
    while lines := list(islice(file, CHUNK)):
        if not any(line.strip() and not line.lstrip().startswith("#") for line in lines):
            continue
        try:
            if further:
                table = np.loadtxt(lines, np.float64, delimiter=layout.mark, usecols=columns, ndmin=2)
                pair = table[:, :2].astype(np.int64)
                if not np.array_equal(pair, table[:, :2]) or np.abs(table[:, :2]).max(initial=0) >= 2**53:
                    return None
                values.append(table[:, 2:])
            else:
                pair = np.loadtxt(lines, np.int64, delimiter=layout.mark, usecols=columns, ndmin=2)
        except (ValueError, OverflowError):
            return None
        if pair.min(initial=0) < 0:
            return None
        ends.append(pair)
        total += len(pair)
        if total > MOST:
            raise Broken(f"it has more than {MOST} edges", "take a part of it")
    if not total:
        return None
    return np.concatenate(ends), np.concatenate(values) if values else np.empty((total, 0))


def _renumber(ends: NDArray[np.int64], layout: _Layout) -> tuple[int, NDArray[np.int64], tuple[str, ...], list[str]]:
    """Return how many nodes there are, their numbers from 0, names where those differ, and notes."""
    highest = int(ends.max())
    if layout.nodes is not None and highest < layout.nodes:
        require_nodes(layout.nodes, len(ends))
        return layout.nodes, ends, (), []
    if highest < 4 * min(MAX_NODES, 2**16 + ends.size):  # by a table: sorting tens of millions takes seconds
        there = np.zeros(highest + 1, bool)
        there[ends.ravel()] = True
        ids = np.flatnonzero(there)
        new = (np.cumsum(there) - 1)[ends]
    else:
        ids, flat = np.unique(ends, return_inverse=True)
        new = flat.reshape(ends.shape)
    if len(ids) == highest + 1:
        return len(ids), ends, (), []
    notes = ["nodes numbered from 0 in the order of their ids"]
    return len(ids), new, tuple(map(str, ids)) if len(ids) <= MOST_NAMES else (), notes


class _Slow:
    """Reads line by line: texts as ids, quotes, Gephi's types, networkx's {'weight': 2}."""

    def __init__(self, layout: _Layout) -> None:
        self.layout = layout
        self.at: dict[str, int] = {}
        self.ends: list[tuple[int, int]] = []
        self.values: list[list[float]] = []
        self.lines: list[int] = []
        self.directed: int = 0
        self.told = 0  # lines whose {...} has a weight

    def read(self, file: IO[str]) -> None:
        layout = self.layout
        for number, line in enumerate(file, 1):
            text = line.strip()
            if number <= layout.first or not text or text.startswith(_REMARK):
                continue
            if len(line) > _LONGEST_LINE:
                raise Broken(f"line {number} has more than {_LONGEST_LINE} characters", "save a line for each edge")
            body, brace, data = text.partition("{") if layout.mark is None else (text, "", "")
            try:
                cells = _split(body, layout.mark)
            except csv.Error:  # its own words are about the fields of a reader
                raise Broken(f"line {number} cannot be split into cells", "correct its quotes") from None
            self._edge(number, cells)
            self._numbers(number, cells, data if brace else "")
            if len(self.ends) > MOST:
                raise Broken(f"it has more than {MOST} edges", "take a part of it")

    def _edge(self, number: int, cells: list[str]) -> None:
        layout = self.layout
        if max(layout.source, layout.target) >= len(cells) or not cells[layout.source] or not cells[layout.target]:
            lacking = "source" if len(cells) <= layout.source or not cells[layout.source] else "target"
            raise Broken(f"the edge in line {number} has no {lacking}", "complete or leave out that line")
        pair = (cells[layout.source], cells[layout.target])
        self.ends.append((self.at.setdefault(pair[0], len(self.at)), self.at.setdefault(pair[1], len(self.at))))
        self.lines.append(number)
        if layout.kind is not None and layout.kind < len(cells):
            self.directed += cells[layout.kind].lower() == "directed"

    def _numbers(self, number: int, cells: list[str], data: str) -> None:
        layout, row = self.layout, []
        wanted = ([] if layout.weight is None else [layout.weight]) + [k for k, _ in layout.others]
        for k in wanted:
            cell = cells[k] if k < len(cells) else ""
            if k in layout.commas and has_comma(cell):
                cell = cell.replace(",", layout.commas[k])
            try:
                row.append(float(cell))
            except ValueError:
                what = f"{cell[:40]!r} where a number must stand" if cell else f"no column {k + 1}"
                raise Broken(f"line {number} has {what}", "correct that line") from None
        if match := re.search(r"['\"]weight['\"]\s*:\s*([-+0-9.eE]+)", data):
            self.told += 1
            row.append(float(match[1]))
        elif data:
            row.append(1.0)
        self.values.append(row)

    def found(self) -> Found:
        layout, names = self.layout, list(self.at)
        if 0 < self.directed < len(self.ends):
            raise Broken(f"{self.directed} of {len(self.ends)} edges are directed", "make all or none of them so")
        ends = np.array(self.ends, np.int64).reshape(-1, 2)
        lines = self.lines
        width = {len(row) for row in self.values}
        if len(width) > 1:
            raise Broken("some lines have data in braces and some have not", "write them alike")
        values = np.array(self.values, np.float64).reshape(len(ends), -1)
        if "{" in layout.line and not self.told:
            values = values[:, :0]
        made = _found(len(names), ends, values, layout, layout.directed or self.directed > 0)
        whole = all(re.fullmatch(r"\d{1,18}", name) for name in names)
        if whole and len({int(n) for n in names}) == len(names):  # in the order of the numbers
            made.nodes, made.pairs, made.names, notes = _renumber(np.array([int(n) for n in names])[ends], layout)
            made.notes += notes
        else:
            made.names = names
        made.place = lambda k: f"line {lines[k]}"
        if "{" in layout.line and self.told:
            made.weight, made.attributes = values[:, -1], None
        return made


def _found(nodes: int, ends: NDArray[np.int64], values: NDArray[Any], layout: _Layout, directed: bool) -> Found:
    weighted = layout.weight is not None
    others = [name for _, name in layout.others]
    made = Found(nodes, ends, directed)
    if layout.apart:
        made.notes.append(
            f"first line a heading: no other line names {' or '.join(_split(layout.line, layout.mark)[:2])}"
        )
    if "." in layout.commas.values():
        made.notes.append("decimal commas read as points")
    made.weight = values[:, 0] if weighted and values.shape[1] else None
    made.attributes = values[:, weighted : weighted + len(others)] if others else None
    if others and others != [f"e{k}" for k in range(len(others))]:
        made.notes.append("attributes of edges: " + ", ".join(others[:8]))
    return made


def _choices(path: Path, asked: Mapping[str, str]) -> tuple[Choice, ...]:
    """Return what can be said of a list of edges: which columns are what, the direction, whether there is a heading."""
    with path.open(encoding=table_encoding(path), newline=None) as file:
        layout = _layout(file, {name: asked[name] for name in ("header",) if asked.get(name) in ("yes", "no")})
    words = _split(layout.line, layout.mark) if layout.header else []
    columns = tuple(
        (str(k + 1), words[k] if k < len(words) and words[k] else f"column {k + 1}") for k in range(layout.columns)
    )
    weight = NONE if layout.weight is None else str(layout.weight + 1)
    made = (
        Choice("source", "From", columns, str(layout.source + 1)),
        Choice("target", "To", columns, str(layout.target + 1)),
        Choice("weight", "Weight", ((NONE, "none"), *columns), weight),
        Choice("directed", "Edges", (("no", "both ways"), ("yes", "directed")), "yes" if layout.directed else "no"),
        Choice("header", "First line", (("yes", "a heading"), ("no", "an edge")), "yes" if layout.header else "no"),
    )
    return tuple(replace(c, value=asked.get(c.name, c.value)) for c in made)


def _read(path: Path) -> Sample:
    return _read_as(path, {})


def _read_as(path: Path, asked: Mapping[str, str]) -> Sample:
    file_bytes(path)
    with refusing(path, "list of edges"):
        try:
            require_all(_choices(path, asked) if asked else (), asked)
            encoding = table_encoding(path)
            with path.open(encoding=encoding, newline=None) as file:
                layout = _layout(file, asked)
                file.seek(0)
                fast = _fast(file, layout)
                if fast is None:
                    file.seek(0)
                    slow = _Slow(layout)
                    slow.read(file)
                    found = slow.found()
                else:
                    nodes, pairs, names, notes = _renumber(fast[0], layout)
                    found = _found(nodes, pairs, fast[1], layout, layout.directed)
                    found.names, found.notes = names, [*notes, *found.notes]
                    found.place = _Counting(path, encoding, layout.first)
        except UnicodeDecodeError:
            raise Broken("it is not text in UTF-8", "save the edges as lines of text") from None
        del fast
        found.notes += note_of(encoding)
        return sample_of(path, _folded(found) if layout.kind is None else found)


def _folded(found: Found) -> Found:
    """Take undirected edges once where the file lists each of them in both directions."""
    there, back = (int(np.count_nonzero(m)) for m in (np.less(*found.pairs.T), np.greater(*found.pairs.T)))
    if found.directed or not there or there != back:
        return found
    if not is_symmetric(found.pairs.T, found.weight, found.attributes):
        return found
    kept = once(found.pairs.T)
    found.pairs, place = found.pairs[kept], found.place
    found.weight = None if found.weight is None else found.weight[kept]
    found.attributes = None if found.attributes is None else found.attributes[kept]
    found.place = lambda k: place(int(kept[k]))
    found.notes.append("every edge is listed in both directions: read as undirected")
    return found


class _Counting:
    """Finds the line of the k-th edge by reading the file again: it is wanted only when something is wrong."""

    def __init__(self, path: Path, encoding: str, first: int) -> None:
        self.path, self.encoding, self.first = path, encoding, first

    def __call__(self, k: int) -> str:
        with self.path.open(encoding=self.encoding) as file:
            kept = (
                number for number, line in enumerate(file, 1)
                if number > self.first and line.strip() and not line.lstrip().startswith("#")
            )  # fmt: skip
            return f"line {next(islice(kept, k, None), 0)}"


READER = Reader(
    "edges", "List of edges (CSV, TSV, text)", (".csv", ".tsv", *_OWN, ".txt"), "graph", _sniff, _read, rates=_rates,
    choices=_choices, read_as=_read_as,
)  # fmt: skip
