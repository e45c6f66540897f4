"""Molecules and crystals: extended XYZ and PDB, which ASE reads, CIF and mmCIF. One structure of a file.

Plain XYZ, MOL and SDF are read as graphs, and networks on points take these too: they say where their atoms are.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import Broken, file_bytes, refusing
from explorer.data.formats.several import Frame, framed, one_of, require_part, wanted_of
from explorer.data.readers import Reader
from explorer.declare.samples import Sample
from explorer.spaces.graph.chemistry.orders import TOLD, orders_by_valence
from explorer.spaces.points.readers.connections import Told, joined, kept_bonds
from explorer.spaces.points.readers.crystals import FEW, MOST_ATOMS, read_crystal
from explorer.spaces.points.readers.macromolecules import (
    conformers_of,
    formal_charges,
    model_of,
    require_places,
    with_elements,
    without_element,
)
from explorer.spaces.points.sample import doubtful_units, near_bonds, points_sample

MOST_BYTES = 200 * MOST_ATOMS
_BEGINS = re.compile(rb"(HEADER|REMARK|ATOM  |HETATM|CRYST1|TITLE |COMPND|MODEL )")
PDB = "proteindatabank"  # ASE's name of the format
NO_CRYSTAL = (1.0, 1.0, 1.0)  # the cell that PDB gives to what was not seen in a crystal
VELOCITY = ("velocities", "velocity", "velo", "vel")  # what programs call it; ASE itself keeps momenta
_READ = frozenset({"numbers", "positions", "initial_charges", "charges", "momenta"})  # of what ASE keeps of each atom
_TAKEN = frozenset({"position", "charge", "number", "target", "values", "bonds", "bond_kinds", "cell", "periodic", "x"})
_LONGEST_LINE = 2**16


def _atoms(text: str, form: str) -> Any:
    """Return a structure as ASE's atoms."""
    import ase.io

    try:
        return ase.io.read(io.StringIO(text), index=0, format=form)
    except (KeyError, StopIteration, IndexError) as error:
        word = str(error).strip("'\"")
        if isinstance(error, KeyError) and re.fullmatch(r"[A-Za-z]{1,3}", word):
            raise Broken(f"{word!r} is no chemical element", "correct it") from None
        raise Broken("it holds no whole structure", "save it again") from None


def read_structure(path: Path, form: str, title: str, part: str = "") -> Sample:
    """Read a structure of a file, the first where none is asked for.

    Raises:
        ReadError: in one sentence.
    """
    size = file_bytes(path)
    with refusing(path, title):
        if size > MOST_BYTES:
            raise Broken(f"the file has {size:,} bytes, and the most of a structure is {MOST_BYTES:,}", FEW)
        sample, count, what = _READ_AS[form](path, part)
        return one_of(sample, path, wanted_of(part), count, what)


def _extended(path: Path, part: str) -> tuple[Sample, int, str]:
    with path.open("rb") as file:
        frame = framed(file, max(wanted_of(part), 0))
    require_part(part, frame.count, "frame")
    _require_lines(frame)
    notes = (f"line {frame.rest} begins no frame: what stands from there on is left out",) if frame.rest else ()
    text = b"".join(frame.lines).decode("utf-8")
    return _sample(path, _atoms(text, "extxyz"), notes, whole=True), frame.count, "frame"


def _macromolecule(path: Path, part: str) -> tuple[Sample, int, str]:
    model = model_of(path, max(wanted_of(part), 0))
    require_part(part, model.count, "model")
    require_places(model)
    try:
        lines, by_name = with_elements(model)
        atoms = _atoms("".join(lines), PDB)
    except Broken:
        if told := without_element(model):
            raise Broken(told, "correct them") from None
        raise
    kept, notes = conformers_of(model).kept()
    formal, bonds = formal_charges(model), model.bonds
    if len(kept) == len(atoms):
        atoms, formal, bonds = atoms[kept], formal[kept], kept_bonds(bonds, kept)
    return _sample(path, atoms, (*by_name, *notes), formal=formal, bonds=bonds), model.count, "model"


def _crystals(path: Path, part: str) -> tuple[Sample, int, str]:
    found = read_crystal(path, part)
    read = _Read(found.places, found.numbers, found.cell, formal=found.formal)
    sample = _wrapped(path, read, list(found.notes))
    return sample, found.count, "structure"


_READ_AS = {"extxyz": _extended, PDB: _macromolecule, "cif": _crystals}


def _require_lines(frame: Frame[bytes]) -> None:
    """Raise Broken where an extended XYZ claims more atoms or columns than are there: ASE makes room for all."""
    first, second, line = (*frame.lines[:3], b"", b"", b"")[:3]
    at, there = frame.before, max(len(frame.lines) - 2, 0)
    if not re.fullmatch(rb"\s*\d{1,9}\s*", first):
        raise Broken("its first line is no number of atoms")
    if int(first) > there:
        raise Broken(f"it is truncated: line {at + 1} claims {int(first)} atoms and {there} lines follow")
    if max(len(second), len(line)) >= _LONGEST_LINE:
        raise Broken(f"one of its lines has more than {_LONGEST_LINE} characters")
    widths = [int(width) for width in re.findall(rb":[RISLrisl]:(\d{1,18})", second)]
    if sum(widths) > len(line.split()):
        raise Broken(f"line {at + 2} claims {sum(widths)} columns and line {at + 3} has {len(line.split())}")
    if any(word.isdigit() and len(word) > 18 for word in re.split(rb"[:\s=\"]", second)):
        raise Broken(f"a number in line {at + 2} is too long")
    if lattice := re.search(rb'Lattice="([^"]*)"', second):
        if len(words := lattice[1].split()) != 9 or not all(map(_is_number, words)):
            raise Broken(f"Lattice in line {at + 2} is not nine numbers")
    if declared := re.search(rb'Properties="?([^\s"]+)', second):
        _require_columns(frame, declared[1].split(b":"), int(first))


def _require_columns(frame: Frame[bytes], declared: list[bytes], atoms: int) -> None:
    """Raise Broken at the first line of an atom without the columns that are `declared` as name, type, count, ..."""
    at = frame.before + 2
    if len(declared) % 3 or not all(word.isdigit() for word in declared[2::3]):
        raise Broken(f"Properties in line {at} are not name:type:count, one after the other")
    if not all(name and name.decode("utf-8", "replace").isprintable() for name in declared[::3]):
        raise Broken(f"a column in Properties in line {at} has no name that can be read")
    counts = dict(zip(declared[::3], map(int, declared[2::3]), strict=True))
    if not all(counts.values()) or counts.get(b"pos", 3) != 3:
        raise Broken(f"Properties in line {at} declare a column of no numbers, or places that are not three")
    types = [kind for kind, count in zip(declared[1::3], declared[2::3], strict=True) for _ in range(int(count))]
    for number, line in enumerate(frame.lines[2 : atoms + 2], at + 1):
        words = line.split()
        if len(words) < len(types):
            raise Broken(f"line {number} has {len(words)} columns, and line {at} declares {len(types)}")
        for column, (kind, word) in enumerate(zip(types, words, strict=False), 1):
            if kind in b"RI" and not _is_number(word):
                raise Broken(f"line {number}: column {column} is no number")


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _sample(
    path: Path, atoms: Any, told: tuple[str, ...] = (), whole: bool = False, formal: NDArray[np.int64] | None = None,
    bonds: Told | None = None,
) -> Sample:  # fmt: skip
    """Return ASE's atoms as a sample."""
    n, notes = len(atoms), list(told)
    unknown = int((atoms.numbers == 0).sum())
    if unknown:
        notes.append(f"{unknown} of {n} atoms are of no known element")
    if atoms.pbc.any() and not atoms.cell.any():
        notes.append("it says that it goes on in all directions, and has no cell: read as a molecule")
    cell = np.asarray(atoms.cell.array, np.float64) if atoms.cell.any() else None
    if cell is not None and tuple(np.linalg.norm(cell, axis=1).tolist()) == NO_CRYSTAL:
        cell = None
    vectors, unread = _beside(atoms)
    velocity = next((vectors.pop(name) for name in VELOCITY if name in vectors), None)
    if whole and unread:
        notes.append(f"not read, since no network here takes it: {', '.join(unread)}")
    charge = atoms.arrays.get("initial_charges", atoms.arrays.get("charges"))
    if charge is not None and np.shape(charge) != (n,):
        charge = None
    if atoms.arrays.get("momenta") is not None:
        velocity = atoms.get_velocities()
    periodic = tuple(bool(p) for p in atoms.pbc)
    read = _Read(np.asarray(atoms.positions, np.float64), atoms.numbers, cell, periodic, charge, velocity, vectors)
    if formal is not None and len(formal) == n:
        read = replace(read, formal=formal, bonds=bonds or {})
    return _wrapped(path, read, notes, whole)


def _beside(atoms: Any) -> tuple[dict[str, NDArray[np.float64]], list[str]]:
    """Return the vectors that a file tells of each atom, such as forces, and the names of what is no vector."""
    n, computed = len(atoms), dict(getattr(atoms.calc, "results", {}))
    vectors, unread = dict[str, NDArray[np.float64]](), list[str]()
    for name, value in sorted({**computed, **atoms.arrays}.items()):
        if name in _READ or not np.ndim(value) or len(value) != n:
            continue
        if np.shape(value) != (n, 3) or np.asarray(value).dtype.kind != "f" or name in _TAKEN:
            unread.append(name)
        elif not np.isfinite(value).all():
            unread.append(f"{name} (not finite at atom {int(np.flatnonzero(~np.isfinite(value).all(1))[0]) + 1})")
        else:
            vectors[name] = np.asarray(value, np.float64)
    return vectors, unread


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """Atoms as a file tells them: (n, 3) places, (n,) numbers, the (3, 3) edges of a cell, what lies at each atom.

    `formal` are charges as chemists count them, which atoms are named by; `charge` is what was measured or computed.
    """

    places: NDArray[np.float64]
    numbers: NDArray[np.integer]
    cell: NDArray[np.float64] | None = None
    periodic: tuple[bool, ...] = (True, True, True)
    charge: NDArray[np.floating] | None = None
    velocity: NDArray[np.floating] | None = None
    vectors: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    formal: NDArray[np.int64] | None = None
    bonds: Told = field(default_factory=dict)

    @property
    def crystal(self) -> bool:
        """Say whether it goes on in some direction."""
        return self.cell is not None and any(self.periodic)


def _wrapped(path: Path, read: _Read, notes: list[str], whole: bool = False) -> Sample:
    """Return atoms as a sample; `whole`: no hydrogen is missing."""
    places, numbers, n = read.places, read.numbers, len(read.places)
    if not n:
        raise Broken("it has no atoms", "save it again")
    if n > MOST_ATOMS:
        raise Broken(f"it has {n:,} atoms, and the most is {MOST_ATOMS:,}", FEW)
    bad = np.flatnonzero(~np.isfinite(places).all(1))
    if bad.size:
        raise Broken(f"atom {int(bad[0]) + 1} is at no finite place", "correct it")
    if read.crystal:
        lengths = " × ".join(f"{v:.4g}" for v in np.linalg.norm(read.cell, axis=1))  # type: ignore[arg-type]
        notes.append(f"one cell of a crystal, {lengths} Å: atoms do not see those of the next cells")
    if told := doubtful_units(numbers, places):
        notes.append(told)
    bonds, kinds = near_bonds(numbers, places), None
    by = "bonds by distance: sum of covalent radii + 0.45 Å"
    if read.bonds:
        bonds, kinds, by = joined(read.bonds, bonds, n)
    notes = ["ångström", by, *notes]
    if whole and not read.crystal and (kinds := orders_by_valence(numbers, bonds)) is not None:
        notes.append(TOLD)
    one, two, three = read.periodic
    return points_sample(
        path.stem, places, numbers=numbers, bonds=bonds, bond_kinds=kinds, charge=read.charge, velocity=read.velocity,
        vectors=read.vectors, cell=read.cell, periodic=(one, two, three), title=path.name, source=str(path),
        notes=tuple(notes), formal=read.formal,
    )  # fmt: skip


def _reading(form: str, title: str) -> Callable[..., Sample]:
    def read(path: Path, part: str = "") -> Sample:
        return read_structure(path, form, title, part)

    return read


def _is_extended(path: Path) -> bool:
    """Return whether a file begins with a count and a line of ASE's extended XYZ."""
    with path.open("rb") as file:
        lines = file.read(8192).split(b"\n")
    told = len(lines) > 2 and lines[0].strip().isdigit()
    return told and (b"Properties=" in lines[1] or b"Lattice=" in lines[1])


_EXTENDED, _PDB, _CIF = _reading("extxyz", "extended XYZ"), _reading(PDB, "PDB"), _reading("cif", "CIF")
READER = (
    Reader("extxyz", "Molecule or crystal (extended XYZ)", (".extxyz",), "points", lambda head: False,
           _EXTENDED, fits=_is_extended, part=_EXTENDED, rank=-1),
    Reader("pdb", "Molecule (PDB)", (".pdb", ".ent"), "points", lambda head: _BEGINS.match(head) is not None,
           _PDB, part=_PDB),
    Reader("cif", "Crystal or molecule (CIF, mmCIF)", (".cif", ".mmcif"), "points", lambda head: head[:5] == b"data_",
           _CIF, part=_CIF),
)  # fmt: skip
