"""Macromolecules: the table of atoms of an mmCIF file, and which of the places that residues are seen at are drawn.

wwPDB, "Atomic Coordinate Entry Format", 3.30; "PDBx/mmCIF Dictionary", category atom_site.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import Broken
from explorer.spaces.points.readers.connections import RECORD, Told, told_bonds

TABLE = "_atom_site."  # what the tags of its table begin with; those of small molecules begin with _atom_site_
_NONE = (".", "?", "")  # what says nothing
MOST_CHARGE = 10  # of one atom, in elementary charges
_ATOMS = ("ATOM", "HETATM")
_BACKBONE = frozenset({"N", "CA", "C"})  # the names that all amino acids have
_OF_ALL = ("CRYST1", "ORIGX")  # lines of a PDB file that hold for all its models


@dataclass(frozen=True, slots=True)
class Conformers:
    """Of each atom: its residue, the letter of the place that it is seen at, "" where there is one, and how often."""

    residues: Sequence[object]
    letters: Sequence[str]
    occupancy: Sequence[float]

    def kept(self) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
        """Return which atoms are drawn, of each residue those seen most often, and what is to be told."""
        shares: dict[object, dict[str, float]] = {}
        for residue, letter, share in zip(self.residues, self.letters, self.occupancy, strict=True):
            if letter:
                of = shares.setdefault(residue, {})
                of[letter] = of.get(letter, 0.0) + share
        chosen = {residue: max(of, key=of.__getitem__) for residue, of in shares.items()}  # the first of equal ones
        pairs = zip(self.residues, self.letters, strict=True)
        kept = np.array([not letter or letter == chosen[residue] for residue, letter in pairs], bool)
        gone = int((~kept).sum())
        several = sum(len(of) > 1 for of in shares.values())
        told = f"{several} residues are seen at several places: that with most occupancy is kept, {gone} atoms left out"
        return kept, (told,) if gone else ()


@dataclass(frozen=True, slots=True)
class Model:
    """One model of a PDB file: (number, line) of each of its lines, how many models there are, and CONECT records."""

    lines: list[tuple[int, str]]
    count: int
    connections: tuple[str, ...] = ()  # which hold for all models

    @property
    def atoms(self) -> list[tuple[int, str]]:
        return [(number, line) for number, line in self.lines if line.startswith(_ATOMS)]

    @property
    def bonds(self) -> Told:
        """Return the bonds that the file tells, between rows of `atoms`."""
        return told_bonds(self.connections, [line[6:11].strip() for _, line in self.atoms])


def model_of(path: Path, wanted: int) -> Model:
    """Return a model, from 0, with what stands before the first one: a cell holds for all.

    What ends with END or ENDMDL is a model, whether or not MODEL begins it, as programs write the steps of a run.
    """
    head, kept, connections = list[tuple[int, str]](), list[tuple[int, str]](), list[str]()
    count, within = 0, False
    with path.open("r", encoding="latin-1") as file:
        for number, line in enumerate(file, 1):
            if line.startswith(_ATOMS):
                count, within = count + (not within), True
            if line.startswith(RECORD):  # behind the last model, or within the one that they are of
                if within in (False, count - 1 == wanted):
                    connections.append(line)
                continue
            if within and count - 1 == wanted:
                kept.append((number, line))
            elif not count and line.startswith(_OF_ALL):
                head.append((number, line))
            if line.startswith("END"):
                within = False
    return Model([*head, *kept], count, tuple(connections))


def require_places(model: Model) -> None:
    """Raise Broken at the first line of a PDB file whose atom has no three numbers in the columns of its place."""
    for number, line in model.atoms:
        for axis, first in zip("xyz", (30, 38, 46), strict=True):
            if math.isnan(_number(line[first : first + 8], math.nan)):
                raise Broken(f"line {number}: columns {first + 1} to {first + 8}, {axis} of an atom, hold no number")


def with_elements(model: Model) -> tuple[list[str], tuple[str, ...]]:
    """Return the lines of a PDB file with an element in columns 77 to 78 of each atom, and what is to be told.

    Many programs leave those columns empty. Then the name tells it, whose element ends in column 14: " CA " is a
    carbon and "CA  " calcium. Of an amino acid, known by its backbone, names are often one column off, and none of
    its elements but selenium has two letters.
    """
    from ase.data import atomic_numbers

    backbones = dict[str, set[str]]()
    for _, line in model.atoms:
        backbones.setdefault(line[17:27], set()).add(line[12:16].strip())
    lines, by_name = list[str](), 0
    for _, line in model.lines:
        if line.startswith(_ATOMS) and line[76:78].strip().capitalize() not in atomic_numbers:
            heavy = line[76:78].strip() == "D"
            symbol = "H" if heavy else _element_in(line[12:16], backbones[line[17:27]] >= _BACKBONE)
            if symbol.capitalize() in atomic_numbers:
                by_name += not heavy
                line = f"{line.rstrip()[:76]:<76}{symbol:>2}{line.rstrip()[78:]}\n"
        lines.append(line)
    told = f"elements of {by_name} of {len(model.atoms)} atoms taken from their names: columns 77 to 78 tell none"
    return lines, (told,) if by_name else ()


def _element_in(name: str, amino_acid: bool) -> str:
    """Return which element the four columns of an atom's name tell, in capitals; a letter that is none otherwise."""
    from ase.data import atomic_numbers

    letters = name.strip().lstrip("0123456789").upper()
    first = letters[:1].replace("D", "H")  # deuterium
    if amino_acid:
        return "SE" if letters == "SE" else first
    hydrogen = first == "H" and len(name.strip()) == 4  # such names begin a column early
    two = name[:2].upper()
    return two if two.isalpha() and two.capitalize() in atomic_numbers and not hydrogen else first


def without_element(model: Model) -> str:
    """Return what is wrong with the first atom of a PDB file that tells no chemical element; else ""."""
    from ase.data import atomic_numbers

    for number, line in model.atoms:
        symbol, name = line[76:78].strip(), line[12:16].strip()
        if not {symbol.capitalize(), _element_in(line[12:16], False).capitalize()} & atomic_numbers.keys():
            return (
                f"line {number}: neither columns 77 to 78, {symbol!r}, nor the name of the atom, {name!r}, "
                "tell a chemical element"
            )
    return ""


def formal_charges(model: Model) -> NDArray[np.int64]:
    """Return the charge in columns 79 to 80 of each atom of a PDB file, as in "1-"; 0 where they tell none."""
    found = np.zeros(len(model.atoms), np.int64)
    for k, (_, line) in enumerate(model.atoms):
        digit, sign = line[78:79], line[79:80]
        if digit.isdecimal() and digit.isascii() and sign in ("+", "-"):
            found[k] = int(f"{sign}{digit}")
    return found


def conformers_of(model: Model) -> Conformers:
    """Return those of a model of a PDB file."""
    residues, letters, occupancy = list[object](), list[str](), list[float]()
    for _, line in model.atoms:
        residues.append(line[21:27])  # chain, number and insertion
        letters.append(line[16:17].strip())
        occupancy.append(_number(line[54:60], 1.0))
    return Conformers(residues, letters, occupancy)


@dataclass(frozen=True, slots=True)
class Table:
    """One model of an mmCIF block: places (n, 3) in ångström, symbols, formal charges, notes, and how many models."""

    places: NDArray[np.float64]
    symbols: list[str]
    formal: NDArray[np.int64]
    notes: tuple[str, ...]
    count: int


def table_of_atoms(tags: Mapping[str, Any], wanted: int = 0) -> Table | None:
    """Return a model of an mmCIF block, from 0, or the first where it has not so many; None where it has no table.

    Raises:
        Broken: a place is no number.
    """
    columns = [tags.get(f"{TABLE}cartn_{axis}") for axis in "xyz"]
    symbols = tags.get(f"{TABLE}type_symbol")
    if symbols is None or any(column is None for column in columns):
        return None
    table = [_listed(column) for column in (symbols, *columns)]
    n = len(table[0])

    def beside(*names: str) -> list[str]:
        found = next((_listed(tags[TABLE + name]) for name in names if TABLE + name in tags), [])
        return found if len(found) == n else [""] * n

    models = beside("pdbx_pdb_model_num")
    known = list(dict.fromkeys(models))
    one = known[wanted] if 0 <= wanted < len(known) else models[0]
    there = np.array([model == one for model in models], bool)
    residue = zip(beside("label_asym_id", "auth_asym_id"), beside("auth_seq_id", "label_seq_id"), strict=True)
    letters = ["" if word in _NONE else word for word in beside("label_alt_id")]
    seen = Conformers(list(residue), letters, [_number(word, 1.0) for word in beside("occupancy")])
    kept, notes = seen.kept()
    if not all(len(column) == n for column in table):
        raise Broken("its table of atoms has no symbol and three coordinates for each", "save it again")
    for axis, column in zip("xyz", table[1:], strict=True):
        if wrong := next((k for k, word in enumerate(column, 1) if np.isnan(_number(word, np.nan))), 0):
            raise Broken(f"cartn_{axis} of atom {wrong} is {column[wrong - 1][:20]!r}, and no number", "correct it")
    places = np.array([[_number(word, np.nan) for word in column] for column in table[1:]], np.float64).T
    keep = np.flatnonzero(there & kept)
    bad = np.flatnonzero(~np.isfinite(places[keep]).all(1))
    if bad.size:
        raise Broken(f"atom {int(keep[bad[0]]) + 1} is at no finite place", "correct it")
    charges = [_number(word, 0.0) for word in beside("pdbx_formal_charge")]
    formal = np.array([int(c) if c.is_integer() and abs(c) < MOST_CHARGE else 0 for c in charges], np.int64)
    return Table(places[keep], [table[0][k].capitalize() for k in keep], formal[keep], notes, len(known))


def _listed(value: object) -> list[str]:
    """Return the words of a column; a table of one row may stand without a loop."""
    return [str(word) for word in value] if isinstance(value, list) else [str(value)]


def _number(text: str, other: float) -> float:
    try:
        return float(text.partition("(")[0])  # an uncertainty may follow
    except ValueError:
        return other
