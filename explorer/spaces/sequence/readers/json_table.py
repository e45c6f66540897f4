"""JSON that is a table: a list of records, [{"time": 0, "x": 1}, ...], or lists by name, {"time": [0, 1], "x": [1, 2]}.

It is read as the table with a heading that it would be in a CSV file, so that dates, words, gaps and the choices of a
person are what they are there; line 2 of that table is the first record.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from explorer.data.formats.checks import Broken, refusing
from explorer.data.readers import Reader
from explorer.declare.samples import Sample
from explorer.declare.telling.choices import Choice
from explorer.spaces.sequence.readers.assembly import MOST_STEPS, decoded
from explorer.spaces.sequence.readers.table import choices_of_lines, of_lines

_LOOKED_AT = 4096  # characters
_MOST_KEYS = 4096
_RECORDS = re.compile(r'\s*\[\s*\{\s*"[^"]*"\s*:\s*(?:-?\d|null|"|true|false)')
_LISTS = re.compile(r'\s*\{\s*"[^"]*"\s*:\s*\[\s*(?:-?\d|null|")')
_OTHERS = re.compile(r'"(?:nodes|links|edges|equiscope|asset)"\s*:')  # a graph, a session, a scene
_FORM = 'write [{"time": 0, "x": 1}, ...] or {"time": [0, 1], "x": [1, 2]}'


def _sniff(head: bytes) -> bool:
    return False


def _fits(path: Path) -> bool:
    with path.open(encoding="utf-8-sig") as file:
        head = file.read(_LOOKED_AT)
    if _OTHERS.search(head) is not None:
        return False
    return bool(_RECORDS.match(head)) or (bool(_LISTS.match(head)) and not (_in_lines(head) and path.suffix != ".json"))


def _in_lines(head: str) -> bool:
    """Say whether the first line is an object of its own, as in JSON Lines."""
    try:
        return isinstance(json.loads(head.strip().partition("\n")[0]), dict)
    except (ValueError, RecursionError):
        return False


def _lines(path: Path) -> list[str]:
    """Return the table as lines of a CSV file."""
    text = decoded(path)  # which says what is wrong with a folder
    try:
        whole = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise Broken(f"the JSON is damaged in line {error.lineno}, column {error.colno}", "correct it") from None
    except (RecursionError, ValueError):  # nested too deeply; a number of thousands of digits
        raise Broken("it is no plain JSON", _FORM) from None
    return lines_of(*(_of_lists(whole) if isinstance(whole, dict) else _of_records(whole)))


def lines_of(keys: list[str], rows: list[list[Any]]) -> list[str]:
    """Return a table of plain values as the lines of a CSV file, the first of them the heading."""
    lines = io.StringIO()
    table = csv.writer(lines, lineterminator="\n")
    table.writerow(keys)
    table.writerows([_cell(value) for value in row] for row in rows)
    return lines.getvalue().split("\n")


def _of_records(whole: Any) -> tuple[list[str], list[list[Any]]]:
    if not isinstance(whole, list) or not whole or not all(isinstance(row, dict) for row in whole):
        raise Broken("it is no list of records", _FORM)
    if len(whole) > MOST_STEPS:
        raise Broken(f"it has more than {MOST_STEPS} records", "take a part of it")
    keys: list[str] = list(dict.fromkeys(key for row in whole for key in row))
    if len(keys) > _MOST_KEYS:
        raise Broken(f"its records have {len(keys)} names and the most is {_MOST_KEYS}", "use the same in each record")
    return keys, [[row.get(key) for key in keys] for row in whole]


def _of_lists(whole: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
    lists = {key: value for key, value in whole.items() if isinstance(value, list)}
    sizes = {len(value) for value in lists.values()}
    if len(sizes) != 1 or not lists:
        raise Broken("its lists are not equally long" if lists else "it has no lists", _FORM)
    if max(sizes) > MOST_STEPS or len(lists) > _MOST_KEYS:
        raise Broken(f"it has more than {MOST_STEPS} steps or {_MOST_KEYS} lists", "take a part of it")
    return list(lists), [list(row) for row in zip(*lists.values())]


def _cell(value: Any) -> Any:
    """Return what stands in a cell: truth as a number, what is nested as a word, which is no channel."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, list | dict):
        return "nested"
    return " ".join(value.split()) if isinstance(value, str) else repr(value)


def _read(path: Path) -> Sample:
    return _read_as(path, {})


def _read_as(path: Path, asked: Mapping[str, str]) -> Sample:
    with refusing(path, "JSON"):
        return of_lines(path, _lines(path), asked, [])


def _choices(path: Path, asked: Mapping[str, str]) -> tuple[Choice, ...]:
    return tuple(c for c in choices_of_lines(_lines(path), asked) if c.name != "header")


READER = Reader(
    "series-json", "Series (JSON)", (".json",), "sequence", _sniff, _read, fits=_fits, choices=_choices,
    read_as=_read_as,
)  # fmt: skip
