"""Find the heading of a table in the lines above its numbers: several lines of it, and what a program wrote before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

Row = Sequence[str]


@dataclass(frozen=True, slots=True)
class Heading:
    """The lines above the numbers: how many belong to no table, and the cells of those that head the columns."""

    titles: int
    rows: tuple[Row, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return a name for each column: "accel x (m/s², raw)"; a cell stands for the empty ones behind it at the top.

        Spreadsheets leave those empty whose cells were merged.
        """
        first, last = list(self.rows[0]), ""
        if len(self.rows) > 1:
            for k, cell in enumerate(first):
                first[k] = last = cell or last
        found = []
        for cells in zip(first, *self.rows[1:], strict=True):
            known = list(dict.fromkeys(filter(None, cells)))
            found.append(f"{known[0]} ({', '.join(known[1:])})" if len(known) > 1 else "".join(known))
        return tuple(found)

    def column(self, word: Callable[[str], str], known: Collection[str]) -> int | None:
        """Return the column that is headed by one of these words, by the upper lines first.

        The last of several lines holds units, as seconds, or the name of the column that pandas calls the index.
        """
        upper = self.rows[:-1] or self.rows
        found = [k for row in upper for k, cell in enumerate(row) if word(cell) in known]
        return found[0] if found else 0 if word(self.rows[-1][0]) in known else None


def heading_above(
    rows: Sequence[Row], is_number: Callable[[str], bool], is_gap: Callable[[str], bool]
) -> Heading | None:
    """Return what stands in two lines or more above the numbers of a table, None where that is no heading.

    The numbers begin where two lines have them in the same columns. The lines right above them that have words in
    several cells, and no number, are the heading; those above are left out.
    """

    def filled(row: Row) -> int:
        return sum(bool(cell) for cell in row)

    def alike(one: Row, other: Row) -> bool:
        both = [(a, b) for a, b in zip(one, other) if not (is_gap(a) or is_gap(b))]
        return len(one) == len(other) > 1 and any(is_number(a) for a, _ in both) and all(
            is_number(a) == is_number(b) for a, b in both
        )  # fmt: skip

    begins = next((k for k in range(len(rows) - 1) if alike(rows[k], rows[k + 1])), 0)
    heads: list[Row] = []
    for row in reversed(rows[:begins]):
        if len(row) != len(rows[begins]) or any(is_number(cell) and not is_gap(cell) for cell in row) or not any(row):
            break
        if filled(row) == 1 and heads:  # a title; right above the numbers it may be the name of the first column
            break
        heads.insert(0, row)
    if len(heads) > 1 or (heads and filled(heads[0]) > 1):
        return Heading(begins - len(heads), tuple(heads)) if begins > 1 else None
    return None
