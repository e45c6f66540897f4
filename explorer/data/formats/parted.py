"""Numbers as people's tables write them: 1.234,56 and 1 234,56 and 1'234.56, 12 % and €5, and months as 01.2024.

They are brought to the plain form that the rest of the table is read by; what was made of them is told. A column is
changed only if all of it is numbers so: one word in it, and it stays as it is.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence

from explorer.data.formats.tables import GAPS, cells_of, has_comma, is_remark, mark_of, number_of

_LOOKED_AT = 200  # lines that decide
_NAMED = 4  # columns in a note
_LONGEST_CELL = 200  # lines that a cell may take
_OPENING = re.compile(r'(?:^|[,;\t])\s*"[^"]*$')
_SPACE = "\u0020\u00a0\u2009\u202f"
_POINTED = re.compile(r"[-+]?\d{1,3}(?:\.\d{3})+,\d+|[-+]?\d{1,3}(?:\.\d{3}){2,}")  # 1.234,5 and 1.234.567
_APART = re.compile(rf"[-+]?\d{{1,3}}(?:[{_SPACE}'\u2019]\d{{3}})+(?:[.,]\d+)?")  # 1 234,5 and 1'234.5
_SIGNED = re.compile(rf"(?:[$€£¥][{_SPACE}]?)?([-+]?\d[^%$€£¥]*?)(?:[{_SPACE}]?[%$€£¥])?")
_MONTH = re.compile(r"(0?[1-9]|1[0-2])[./](\d{4})")
_BETWEEN = str.maketrans("", "", _SPACE + "'\u2019")
Change = Callable[[str], str | None]


def joined(lines: Sequence[str]) -> list[str]:
    """Return the lines of a table with line breaks within quotes as blanks, and an empty line for each that is gone.

    So lines keep their numbers. A quote that opens no cell, or that no later line closes, is a letter as any other.
    """
    made, k = list(lines), 0
    while k < len(made):
        end = k
        if _opens(made[k]):
            inside = (j for j in range(k + 1, min(len(made), k + _LONGEST_CELL)) if made[j].count('"') % 2)
            end = next(inside, k)
        if end > k:
            made[k] = " ".join(line.strip() for line in made[k : end + 1])
            made[k + 1 : end + 1] = [""] * (end - k)
        k = end + 1
    return made


def _opens(line: str) -> bool:
    """Say whether a cell begins with a quote that the line does not close."""
    return line.count('"') % 2 == 1 and _OPENING.search(line) is not None


def plain(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the lines of a table, each a row, with its numbers in plain form, and notes of what was changed."""
    if any('"' in line for line in lines):
        lines = joined(lines)
    head = [line for line in lines[: 10 * _LOOKED_AT] if line.strip() and not is_remark(line)][: _LOOKED_AT + 1]
    mark = mark_of(head[-1]) if head else None
    if mark is None:
        return list(lines), []
    rows = [cells_of(line, mark) for line in head]
    changes: dict[int, Change] = {}
    names: dict[str, list[str]] = {}
    for k in range(max(map(len, rows))):
        body = [row[k] for row in rows if k < len(row)]
        headed = bool(body) and not re.search(r"\d", body[0])
        known = [cell for cell in body[headed:] if cell.lower() not in GAPS]
        if (found := _change(known)) is not None:
            what, changes[k] = found
            names.setdefault(what, []).append(body[0] if headed and body[0] else f"column {k + 1}")
    if not changes:
        return list(lines), []
    made = [line if not line.strip() or is_remark(line) else _changed(line, mark, changes) for line in lines]
    told = [what.format(f"{', '.join(some[:_NAMED])}{', ...' * (len(some) > _NAMED)}") for what, some in names.items()]
    return made, [note for note in told if note]


def _change(cells: list[str]) -> tuple[str, Change] | None:
    """Return how it is told what the cells of a column become, and what does it; None where nothing has to be done."""
    if not cells:
        return None
    if all(map(_MONTH.fullmatch, cells)) and any(cell[0] == "0" or "/" in cell for cell in cells):
        return "", _month
    bare = [_bare(cell) for cell in cells]
    pointed, apart = any(map(_POINTED.fullmatch, bare)), any(map(_APART.fullmatch, bare))
    signed = bare != cells
    if not (pointed or apart or signed):
        return None

    def change(cell: str) -> str | None:
        text = _bare(cell)
        if apart and _APART.fullmatch(text):
            text = text.translate(_BETWEEN)
        elif pointed:
            text = text.replace(".", "")
        return text if number_of(text) is not None or has_comma(text) else None

    if any(change(cell) is None for cell in cells):
        return None
    what = "points of {} part thousands" if pointed else "spaces or quotes of {} part thousands"
    return (what if pointed or apart else "signs of money or per cent left out of {}"), change


def _bare(cell: str) -> str:
    """Return a number without the sign of its money, or per cent."""
    found = _SIGNED.fullmatch(cell)
    return cell if found is None else found[1]


def _month(cell: str) -> str | None:
    found = _MONTH.fullmatch(cell)
    return None if found is None else f"{found[2]}-{found[1]:0>2}"


def _changed(line: str, mark: str, changes: dict[int, Change]) -> str:
    cells = cells_of(line, mark)
    for k, change in changes.items():
        if k < len(cells) and (made := change(cells[k])) is not None:
            cells[k] = made
    whole = io.StringIO()
    csv.writer(whole, delimiter=mark, lineterminator="").writerow(cells)
    return whole.getvalue()
