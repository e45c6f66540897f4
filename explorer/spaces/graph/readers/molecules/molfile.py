"""Molecules in MDL's formats, MOL and SDF, versions V2000 and V3000. Several molecules become one batch.

A. Dalby et al., "Description of several chemical structure file formats", 1992; BIOVIA, "CTfile formats", 2020.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from explorer.data.formats.checks import Broken, file_bytes, refusing
from explorer.data.readers import Reader
from explorer.declare.samples import Sample
from explorer.spaces.graph.chemistry.atoms import BONDS, SYMBOLS, numbered, one_hot
from explorer.spaces.graph.readers.assembly import Found, sample_of

MOST_MOLECULES = 1000
_KINDS = len(BONDS)
_CHARGES = {"1": 3, "2": 2, "3": 1, "5": -1, "6": -2, "7": -3}  # of the old column of an atom's line; 4 is a radical
_MOST_CHARGE = 15


@dataclass(slots=True)
class Molecule:
    """Atoms with places in ångström and bonds of kind 1 to 4 (4: aromatic), as a file lists them."""

    name: str = ""
    symbols: list[str] = field(default_factory=list)
    places: list[tuple[float, float, float]] = field(default_factory=list)
    bonds: list[tuple[int, int, int]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)  # where the bonds stand
    charges: dict[int, int] = field(default_factory=dict)  # formal ones, of the atoms that have one
    charged: bool = False  # by lines "M  CHG"
    spatial: bool = False  # said to lie in space, though it may be flat


def found_in_molecules(molecules: list[Molecule]) -> Found:
    """Join molecules to one graph: x as in `chemistry`, a column of edge_attr for each kind of bond."""
    symbols = [s for m in molecules for s in m.symbols]
    sizes = [len(m.symbols) for m in molecules]
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    bonds = [(a + s, b + s, k) for m, s in zip(molecules, start) for a, b, k in m.bonds]
    lines = [line for m in molecules for line in m.lines]
    pairs = np.array([(a, b) for a, b, _ in bonds], np.int64).reshape(-1, 2)
    kinds = np.zeros((len(bonds), _KINDS))
    kinds[np.arange(len(bonds)), [min(max(k, 1), _KINDS) - 1 for *_, k in bonds]] = 1.0
    found = Found(len(symbols), pairs, attributes=kinds, x=one_hot(symbols))
    found.names = numbered(symbols, [m.charges.get(k, 0) for m in molecules for k in range(len(m.symbols))])
    found.place = lambda k: f"the bond in line {lines[k]}" if lines else f"bond {k}"
    found.notes = ["attributes of nodes: which element an atom is; of edges: " + ", ".join(BONDS)]
    if len(molecules) > 1:
        found.batch = np.repeat(np.arange(len(molecules)), sizes)
        told = ", ".join(m.name or str(k) for k, m in enumerate(molecules[:6]))
        found.notes.append(f"{len(molecules)} molecules as a batch: {told}" + (", ..." if len(molecules) > 6 else ""))
    places = np.array([p for m in molecules for p in m.places], np.float64).reshape(-1, 3)
    single = bool(sizes) and max(sizes) == 1  # an atom alone lies at the origin with as good a right as anywhere
    if len(places) and (np.ptp(places, axis=0).any() or single):
        spatial = np.ptp(places[:, 2]) > 0 or any(m.spatial for m in molecules) or single
        found.position = places if spatial else places[:, :2]
        if not spatial:
            found.notes.append("drawn flat; a flat molecule in space says 3D in columns 21 to 22 of line 2")
    return found


class _Lines:
    def __init__(self, lines: list[str]) -> None:
        self.lines, self.at = lines, 0

    def next(self, what: str) -> str:
        if self.at >= len(self.lines):
            raise Broken(f"it is truncated: {what} is missing after line {len(self.lines)}")
        self.at += 1
        return self.lines[self.at - 1]

    def wrong(self, what: str) -> Broken:
        return Broken(f"line {self.at} is no {what}: {self.lines[self.at - 1][:40]!r}")


def _molecule(lines: _Lines) -> Molecule:
    molecule = Molecule(lines.next("the name").strip())
    molecule.spatial = lines.next("the second line of the header")[20:22].upper() == "3D"
    lines.next("the third line of the header")
    counts = lines.next("the line of counts")
    if "V3000" in counts:
        _version_3000(lines, molecule)
        return molecule
    try:
        atoms, bonds = int(counts[:3]), int(counts[3:6])
    except ValueError:
        raise lines.wrong("line of counts") from None
    for _ in range(atoms):
        line = lines.next("an atom")
        try:
            place = (float(line[:10]), float(line[10:20]), float(line[20:30]))
        except ValueError:
            raise lines.wrong("atom") from None
        _add_atom(lines, molecule, line[31:34].strip(), place)
        if charge := _CHARGES.get(line[36:39].strip()):
            molecule.charges[len(molecule.symbols) - 1] = charge
    for _ in range(bonds):
        line = lines.next("a bond")
        try:
            _add_bond(lines, molecule, int(line[:3]), int(line[3:6]), int(line[6:9]), atoms)
        except ValueError:
            raise lines.wrong("bond") from None
    return molecule


def _add_atom(lines: _Lines, molecule: Molecule, symbol: str, place: tuple[float, float, float]) -> None:
    if not symbol or not symbol[0].isalpha() or len(symbol) > 3:
        raise lines.wrong("atom")
    if not np.isfinite(place).all():
        raise Broken(f"the atom in line {lines.at} is at no finite place", "correct it")
    molecule.symbols.append(symbol)
    molecule.places.append(place)


def _charge(word: str) -> int:
    """Read a formal charge; raise ValueError for what is none."""
    charge = int(word)
    if abs(charge) > _MOST_CHARGE:
        raise ValueError(word)
    return charge


def _charge_atoms(lines: _Lines, molecule: Molecule, line: str) -> None:
    """Take charges from a line "M  CHG", the first of which replaces all of the atoms' lines."""
    words = line.split()[2:]
    try:
        pairs = [(int(words[k]), _charge(words[k + 1])) for k in range(1, 2 * int(words[0]), 2)]
    except (ValueError, IndexError):
        raise lines.wrong("line of charges") from None
    if not molecule.charged:
        molecule.charged = True
        molecule.charges.clear()
    for atom, charge in pairs:
        if not 1 <= atom <= len(molecule.symbols):
            raise lines.wrong("line of charges of atoms that are there")
        molecule.charges[atom - 1] = charge


def _add_bond(lines: _Lines, molecule: Molecule, first: int, second: int, kind: int, atoms: int) -> None:
    for end in (first, second):
        if not 1 <= end <= atoms:
            raise Broken(
                f"the bond in line {lines.at} leads to atom {end}, and there are atoms 1 to {atoms}",
                "add the atom or leave out the bond",
            )
    molecule.bonds.append((first - 1, second - 1, kind))
    molecule.lines.append(lines.at)


def _version_3000(lines: _Lines, molecule: Molecule) -> None:
    at: dict[int, int] = {}
    section = ""
    while True:
        line = lines.next("the end of the molecule")
        if line.startswith("M  END"):
            lines.at -= 1
            return
        words = line.removeprefix("M  V30").split()
        if not line.startswith("M  V30") or not words:
            raise lines.wrong("line of V3000")
        if words[0] in ("BEGIN", "END"):
            section = words[1] if words[0] == "BEGIN" and len(words) > 1 else ""
            continue
        try:
            if section == "ATOM":
                at[int(words[0])] = len(molecule.symbols)
                place = (float(words[2]), float(words[3]), float(words[4]))
                _add_atom(lines, molecule, words[1], place)
                for word in words[6:]:
                    if word.startswith("CHG="):
                        molecule.charges[len(molecule.symbols) - 1] = _charge(word[4:])
            elif section == "BOND":
                ends = [at.get(int(word), -1) + 1 for word in words[2:4]]
                _add_bond(lines, molecule, ends[0], ends[1], int(words[1]), len(at))
        except (ValueError, IndexError):
            raise lines.wrong(section.lower()) from None


def read_molecules(text: str) -> tuple[list[Molecule], int]:
    """Return the molecules of an SDF or MOL text, at most MOST_MOLECULES of them, and how many there are."""
    lines = _Lines(text.splitlines())
    molecules: list[Molecule] = []
    there = max(1, sum(line.startswith("$$$$") for line in lines.lines))
    while len(molecules) < MOST_MOLECULES:
        molecules.append(_molecule(lines))
        ended = False
        while lines.at < len(lines.lines) and not (line := lines.next("")).startswith("$$$$"):
            ended |= line.startswith("M  END")
            if line.startswith("M  CHG") and not ended:
                _charge_atoms(lines, molecules[-1], line)
        if not ended:
            raise Broken(f"it is truncated: the molecule before line {lines.at + 1} has no 'M  END'")
        if not any(lines.lines[k].strip() for k in range(lines.at, len(lines.lines))):
            break
    return molecules, max(there, len(molecules))


def _read(path: Path) -> Sample:
    file_bytes(path)
    with refusing(path, "molecule"):
        text = path.read_text(encoding="utf-8", errors="replace")
        if "\0" in text:
            raise Broken("it is no text", "save the molecule as SDF")
        molecules, there = read_molecules(text)
        found = found_in_molecules(molecules)
        if there > len(molecules):
            found.notes.append(f"the first {len(molecules)} of {there} molecules")
        unknown = sorted({s for m in molecules for s in m.symbols if s not in SYMBOLS} - {"D", "T"})
        if unknown:
            found.notes.append(f"no chemical elements: {', '.join(unknown[:6])}")
        return sample_of(path, found)


def _fits(path: Path) -> bool:
    """Return whether the fourth line, of counts, ends with the version."""
    with path.open("rb") as file:
        lines = file.read(1024).split(b"\n")
    return len(lines) > 4 and lines[3].rstrip().endswith((b"V2000", b"V3000"))


READER = Reader("molfile", "Molecule (SDF, MOL)", (".sdf", ".mol"), "graph", lambda head: False, _read, fits=_fits)
