"""Crystals in CIF: the sites of a cell and all that its symmetries make of them, in time that grows with their number.

Tokens are split here, and of what belongs together a KD-tree tells: ASE compares each site with all orbits before it,
which takes minutes of ten thousand. What the text says of the cell and its group, ASE tells.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import Broken
from explorer.data.formats.several import require_part, wanted_of
from explorer.spaces.points.readers.macromolecules import Conformers, table_of_atoms

MOST_ATOMS = 200_000
MOST_IMAGES = 40 * MOST_ATOMS  # of all sites under all symmetries, before those that coincide are one
MOST_SYMMETRIES = 2**10  # no group in its usual cell has more than 192
SAME = 1e-3  # of an edge of the cell: places that are nearer along every axis are one
_AT_ONCE = 2**19  # images that are made at a time
_LONGEST_LINE, _MOST_COLUMNS = 2**13, 1000
FEW = "take a part of it"
_FULL = "it has more than {:,} atoms in a cell, and that is the most"
_QUOTED = re.compile(r"""'(?:[^']|'(?=\S))*'(?=\s|$)|"(?:[^"]|"(?=\S))*"(?=\s|$)""")
_WORD = re.compile(r"\S+")
_NUMBER = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?:\(\d*\)?)?")
_NUMERIC = ("_cell_length_", "_cell_angle_", "_atom_site_fract_", "_atom_site_cartn_", "_atom_site_occupancy")
_SYMMETRIES = ("_space_group_symop_operation_xyz", "_space_group_symop.operation_xyz", "_symmetry_equiv_pos_as_xyz")
Places = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Crystal:
    """Atoms of one cell: places (n, 3) in ångström, numbers (n,), edges (3, 3) of the cell or None, what to tell.

    `formal` are charges as chemists count them, (n,), of a file that has a column of them.
    """

    places: Places
    numbers: NDArray[np.int64]
    cell: Places | None
    notes: tuple[str, ...]
    count: int = 1  # of structures in its file
    formal: NDArray[np.int64] | None = None


def read_crystal(path: Path, part: str = "") -> Crystal:
    """Return the first structure of a CIF file, or the one that is asked for; without a cell, and of mmCIF, a molecule.

    Raises:
        Broken: it has none, too many atoms, or says something that fits no crystal.
    """
    wanted, there, found = max(wanted_of(part), 0), 0, None
    try:
        for name, tags in _blocks(_tokens(path.read_text("latin-1"))):
            if (table := table_of_atoms(tags, wanted - there)) is not None:
                if there <= wanted < there + table.count:
                    numbers = _numbers(table.symbols)
                    found = Crystal(table.places, numbers, None, table.notes, formal=table.formal)
                there += table.count
            elif (sites := _sites(name, tags)) is not None:
                found = _crystal(*sites) if there == wanted else found
                there += 1
    except Broken:
        if found is None:
            raise  # what comes after the structure that is meant may be damaged
    if not there:
        raise Broken("it holds no whole structure", "save it again")
    require_part(part, there, "structure")
    assert found is not None
    return replace(found, count=there)


def _sites(name: str, tags: dict[str, Any]) -> tuple[Any, list[str], Places, bool] | None:
    """Return a block of a crystal, the symbols and the places of its sites and whether these are shares of the cell."""
    from ase.io.cif import CIFBlock, NoStructureData

    block = CIFBlock(name, tags)
    try:
        symbols = block.get_symbols()
    except (NoStructureData, AttributeError):
        return None
    for kind in ("fract", "cartn"):
        columns = [tags.get(f"_atom_site_{kind}_{axis}") for axis in "xyz"]
        if all(isinstance(column, list) and len(column) == len(symbols) for column in columns):
            return block, symbols, np.array(columns, np.float64).T, kind == "fract"
    return None


# text ---------------------------------------------------------------------------------------------------------------
def _tokens(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the words of a file, and whether each one stood in quotes or in a text of several lines."""
    several: list[str] | None = None
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        if len(line) > _LONGEST_LINE:
            raise Broken(f"line {number} has more than {_LONGEST_LINE:,} characters", "save it again")
        if several is not None:
            if line.startswith(";"):
                yield "\n".join(several).strip(), True
                several = None
            else:
                several.append(line)
        elif line.startswith(";"):
            several = [line[1:]]
        elif "'" not in line and '"' not in line and "#" not in line:
            for word in line.split():
                yield word, False
        else:
            yield from _quoted(line, number)
    if several is not None:
        raise Broken("a text of several lines in it has no end", "save it again")


def _quoted(line: str, number: int) -> Iterator[tuple[str, bool]]:
    at = 0
    while word := _WORD.search(line, at):
        first = word.group()[0]
        if first == "#":
            return
        if first in "'\"":
            if not (found := _QUOTED.match(line, word.start())):
                raise Broken(f"line {number} begins a quotation and does not end it", "correct it")
            yield found.group()[1:-1], True
            at = found.end()
        else:
            yield word.group(), False
            at = word.end()


def _blocks(tokens: Iterator[tuple[str, bool]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the values of each data block: {tag: a value, or the column of a table}."""
    block: _Block | None = None
    for word, quoted in tokens:
        lower = "" if quoted else word.lower()
        if lower.startswith("data_"):
            if block is not None:
                yield block.name, block.closed()
            block = _Block(word[5:])
        elif block is None:
            continue
        elif lower == "loop_":
            block.close()
            block.looping = True
        elif lower.startswith("_"):
            block.head(lower)
        elif block.heads:
            block.values.append(word)
    if block is not None:
        yield block.name, block.closed()


class _Block:
    """A data block while it is read: its last tag or table is open, with the words that belong to it."""

    def __init__(self, name: str) -> None:
        self.name, self.tags = name, dict[str, Any]()
        self.heads: list[str] = []
        self.values: list[str] = []
        self.looping = False

    def head(self, tag: str) -> None:
        """Begin what a tag says, or give the open table one more column."""
        if not self.looping or self.values:
            self.close()
        self.heads.append(tag)
        if len(self.heads) > _MOST_COLUMNS:
            raise Broken(f"a table in it has more than {_MOST_COLUMNS:,} columns", "save it again")

    def close(self) -> None:
        """Keep what was said last."""
        heads, values = self.heads, self.values
        if self.looping and heads:
            if len(values) % len(heads):
                raise Broken(f"the table of {heads[0]} ends within a row", "save it again")
            for k, head in enumerate(heads):
                self.tags.setdefault(head, _typed(head, values[k :: len(heads)]))
        elif heads and values and values != ["?"] and values != ["."]:
            # names of space groups stand without quotes too: P 21/c
            word = values[0] if heads[0].startswith(_NUMERIC) else " ".join(values)
            self.tags.setdefault(heads[0], _typed(heads[0], [word])[0])
        self.heads, self.values, self.looping = [], [], False

    def closed(self) -> dict[str, Any]:
        """Return all that it says."""
        self.close()
        return self.tags


def _typed(tag: str, words: list[str]) -> list[Any]:
    """Return numbers without their uncertainty where a tag has numbers, else the words."""
    if not tag.startswith(_NUMERIC):
        return list(words)
    made: list[Any] = []
    for k, word in enumerate(words, 1):
        if found := _NUMBER.fullmatch(word):
            made.append(float(found[1]))
        elif tag == "_atom_site_occupancy":
            made.append(1.0)
        else:
            where = f"site {k}" if "site" in tag else "the cell"
            raise Broken(f"{tag} of {where} is {word!r}, and no number", "correct it")
    return made


# what it means --------------------------------------------------------------------------------------------------------
def _crystal(block: Any, symbols: list[str], places: Places, shares: bool) -> Crystal:
    if len(symbols) > MOST_ATOMS:
        raise Broken(_FULL.format(MOST_ATOMS), FEW)
    numbers = _numbers(symbols)
    bad = np.flatnonzero(~np.isfinite(places).all(1))
    if bad.size:
        raise Broken(f"atom {int(bad[0]) + 1} is at no finite place", "correct it")
    parameters = block.get_cellpar()
    if parameters is None:
        if shares:
            todo = "add _cell_length_a and the others"
            raise Broken("its places are shares of a cell, and it does not say of which", todo)
        return Crystal(places, numbers, None, ())
    cell = np.zeros((3, 3))
    with contextlib.suppress(AssertionError, ValueError, ArithmeticError), np.errstate(all="ignore"):
        cell = np.asarray(block.get_cell(), np.float64)
    if not np.isfinite(cell).all() or np.linalg.det(cell) <= 0:
        raise Broken(f"no cell has the lengths and angles {' '.join(f'{v:g}' for v in parameters)}", "correct them")
    kept, disorder = _ordered(block, len(symbols))
    places, numbers = places[kept], numbers[kept]
    sites: Places = places if shares else np.asarray(np.linalg.solve(cell.T, places.T).T, np.float64)
    rotations, shifts = _symmetries(block)
    found, kinds = orbits(sites, rotations, shifts)
    occupancy = block.get("_atom_site_occupancy")
    likely, notes = kinds, list(disorder)
    if (together := len(sites) - len(np.unique(kinds))) > 0:
        notes.append(f"{together} of {len(sites)} sites lie where another one or its image does: one atom is drawn")
    if isinstance(occupancy, list) and len(occupancy) == len(kept):
        likely = _likeliest(sites, found, kinds, np.array(occupancy)[kept])
    return Crystal(found @ cell, numbers[likely], cell, tuple(notes))


def _ordered(block: Any, count: int) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
    """Return which sites are drawn, of each disordered assembly the group seen most often, and what is to be told."""

    def column(tag: str, other: object) -> list[Any]:
        found = block.get(tag)
        return found if isinstance(found, list) and len(found) == count else [other] * count

    groups = ["" if word in (".", "?") else str(word) for word in column("_atom_site_disorder_group", "")]
    shares = [float(v) for v in column("_atom_site_occupancy", 1.0)]
    kept, _ = Conformers(column("_atom_site_disorder_assembly", "."), groups, shares).kept()
    gone = count - int(kept.sum())
    told = f"it is disordered: of each assembly the group seen most often is drawn, {gone} of {count} sites left out"
    return kept, (told,) if gone else ()


def _numbers(symbols: list[str]) -> NDArray[np.int64]:
    from ase.data import atomic_numbers

    unknown = next((symbol for symbol in symbols if symbol not in atomic_numbers), "")
    if unknown:
        raise Broken(f"{unknown[:9]!r} is no chemical element", "correct it")
    return np.array([atomic_numbers[symbol] for symbol in symbols], np.int64)


def _symmetries(block: Any) -> tuple[NDArray[np.float64], Places]:
    """Return the rotations (s, 3, 3) and shifts (s, 3) of the group, in shares of the cell."""
    from ase.spacegroup.spacegroup import SpacegroupError, parse_sitesym

    told: str | list[str] = next((block[tag] for tag in _SYMMETRIES if tag in block), [])
    listed = _whole([told] if isinstance(told, str) else told)
    if len(listed) > MOST_SYMMETRIES:
        raise Broken(f"it has {len(listed):,} symmetries, and no crystal has as many", "save its group again")
    try:
        if listed:
            rotations, shifts = parse_sitesym(listed)  # type: ignore[no-untyped-call]
        else:
            rotations, shifts = zip(*block.get_spacegroup(True).get_symop(), strict=True)
    except (SpacegroupError, ValueError, AssertionError, LookupError, ArithmeticError):
        raise Broken("what it says of its space group is understood by nobody", "list its symmetries") from None
    turns, moves = np.asarray(rotations, np.float64), np.asarray(shifts, np.float64) % 1.0
    if not (np.isfinite(turns).all() and np.isfinite(moves).all()):  # divided by 0, or by a number of 400 digits
        raise Broken("one of its symmetries holds a number that is not finite", "list its symmetries")
    return turns, moves


def _whole(words: list[str]) -> list[str]:
    """Return symmetries in one piece where they stand without quotes: "x,", "y,", "z"."""
    made, begun = list[str](), ""
    for word in words:
        begun += word
        if begun.count(",") == 2 and not begun.endswith(","):
            made.append(begun)
            begun = ""
    return [*made, begun] if begun else made


def orbits(
    sites: Places, rotations: NDArray[np.float64], shifts: Places, most: int = MOST_ATOMS
) -> tuple[Places, NDArray[np.int64]]:
    """Return all images of sites (n, 3), each place once, and the first site that each is an image of: (m, 3), (m,).

    Places are shares of the cell, from 0 to 1, in the order of the sites and then of the symmetries.

    Raises:
        Broken: more than `most`, or more than `MOST_IMAGES` before equal ones are one.
    """
    count = len(rotations)
    if len(sites) * count > MOST_IMAGES:
        raise Broken(f"it has {len(sites):,} sites under {count} symmetries, more than can be told apart", FEW)
    places, kinds = np.zeros((0, 3)), np.zeros(0, np.int64)
    step = max(1, _AT_ONCE // count)
    for first in range(0, len(sites), step):
        some = np.arange(first, min(first + step, len(sites)))
        images = np.einsum("sij,nj->nsi", rotations, sites[some]) + shifts
        images = wrapped(images.reshape(-1, 3))
        places, kinds = np.concatenate([places, images]), np.concatenate([kinds, some.repeat(count)])
        keep = distinct(places)
        places, kinds = places[keep], kinds[keep]
        if len(places) > most:
            raise Broken(_FULL.format(most), FEW)
    return places, kinds


def wrapped(places: Places) -> Places:
    """Return places in the cell from 0 to 1, 1 left out: a share of -1e-17 is 0."""
    inside = places % 1.0
    inside[inside >= 1.0] = 0.0
    return inside


def distinct(places: Places) -> NDArray[np.intp]:
    """Return which of the places (n, 3) in a cell are kept: the first one of those that coincide, in their order."""
    from scipy.spatial import cKDTree

    side = round(1 / SAME)
    small = np.minimum((places * side).astype(np.int64), side - 1)
    # one of each small cube, so that the pairs that are left are few however many coincide
    keep = np.sort(np.unique((small[:, 0] * side + small[:, 1]) * side + small[:, 2], return_index=True)[1])
    pairs = cKDTree(places[keep], boxsize=1.0).query_pairs(SAME, p=np.inf, output_type="ndarray")
    gone = np.zeros(len(keep), bool)
    for one, other in pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]:
        if not gone[one]:
            gone[other] = True
    return keep[~gone]


def _likeliest(
    sites: Places, places: Places, kinds: NDArray[np.int64], occupancy: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the site with the largest share of each place, where several elements share one."""
    from scipy.spatial import cKDTree

    owner = kinds[cKDTree(places, boxsize=1.0).query(wrapped(sites), p=np.inf)[1]]
    best = np.arange(len(sites))
    for k, of in enumerate(owner):
        if occupancy[k] > occupancy[best[of]]:
            best[of] = k
    return best[kinds]
