"""XYZ: a molecule (a count, a remark, then element x y z in ångström), or a cloud of points (x y z in each line).

An XYZ has no bonds: they are told by distance, see `explorer.spaces.graph.chemistry.bonds`.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import Broken, file_bytes, refusing
from explorer.data.formats.several import framed, one_of, require_part, wanted_of
from explorer.data.readers import Reader
from explorer.declare.samples import Sample
from explorer.spaces.graph.chemistry.atoms import RADIUS, SYMBOLS, numbered, one_hot
from explorer.spaces.graph.chemistry.bonds import TOO_CLOSE, near_pairs
from explorer.spaces.graph.readers.assembly import Found, sample_of
from explorer.work.limits import MAX_NODES

_ATOM = re.compile(rb"\s*[A-Z][a-z]?(?:\s+[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?){3}(?:\s|$)")
_MOST_ATOMS = 200_000


def _symbol(word: str, line: int) -> str:
    if word.isdigit():
        if not 1 <= int(word) <= len(SYMBOLS):
            raise Broken(f"line {line} has element number {word[:20]}, and there is none", "correct it")
        return SYMBOLS[int(word) - 1]
    symbol = word.capitalize()
    if symbol not in RADIUS and symbol not in ("D", "T", "X"):
        raise Broken(f"line {line} begins with {word[:20]!r}, which is no chemical element", "correct it")
    return symbol


def _molecule(lines: list[str], first: int) -> Found:
    """Return the molecule of a frame, whose first line is the one of that number in its file."""
    count = int(lines[0])
    if count > _MOST_ATOMS:
        raise Broken(f"line {first} claims {count} atoms and the most is {_MOST_ATOMS}", "take a part of it")
    if len(lines) < count + 2:
        raise Broken(f"it is truncated: line {first} claims {count} atoms and {max(len(lines) - 2, 0)} are there")
    symbols, places = [], []
    for number, line in enumerate(lines[2 : count + 2], first + 2):
        words = line.split()
        try:
            place = [float(word) for word in words[1:4]]
        except ValueError:
            place = []
        if len(place) != 3:
            raise Broken(f"line {number} is no atom: {line[:40]!r}")
        symbols.append(_symbol(words[0], number))
        places.append(place)
    position = np.array(places, np.float64).reshape(-1, 3)
    bonds = _bonds(symbols, position)
    pairs = np.zeros((0, 2), np.int64) if bonds is None else bonds
    found = Found(count, pairs, x=one_hot(symbols), position=position, names=numbered(symbols))
    found.node_place = lambda k: f"line {k + first + 2}"
    found.notes = [
        "attributes of nodes: which element an atom is",
        "bonds by distance: sum of covalent radii + 0.45 Å" if bonds is not None else TOO_CLOSE,
    ]
    return found


def _bonds(symbols: list[str], position: NDArray[np.float64]) -> NDArray[np.int64] | None:
    if not np.isfinite(position).all():  # refused with the atom's line
        return np.zeros((0, 2), np.int64)
    return near_pairs(position, np.array([RADIUS.get(symbol, RADIUS["H"]) for symbol in symbols]))


def _points(lines: list[str]) -> Found:
    rows = [(number, line.split()) for number, line in enumerate(lines, 1) if line.strip() and line[0] not in "#/"]
    if len(rows) > MAX_NODES:
        raise Broken(f"it has {len(rows)} points and the most is {MAX_NODES}", "take a part of it")
    places = []
    for number, words in rows:
        try:
            places.append([float(word) for word in words[:3]])
        except ValueError:
            raise Broken(f"line {number} is neither an atom's count nor a point: {' '.join(words)[:40]!r}") from None
        if len(places[-1]) != 3:
            raise Broken(f"line {number} has {len(places[-1])} numbers where a point has 3")
    position = np.array(places, np.float64).reshape(-1, 3)
    found = Found(len(places), np.zeros((0, 2), np.int64), x=position, position=position, domain="set")
    found.node_place = lambda k: f"line {rows[k][0]}"
    found.notes = ["a cloud of points: x is the coordinates"]
    return found


def _read(path: Path, part: str = "") -> Sample:
    file_bytes(path)
    with refusing(path, "XYZ file"):
        try:
            text = path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise Broken("it is no text", "save it as XYZ") from None
        if "\0" in text:
            raise Broken("it is no text", "save it as XYZ")
        lines = text.splitlines()
        first = lines[0].split() if lines else []
        if len(first) == 1 and first[0].isdigit() and len(first[0]) < 12:
            frame = framed(lines, max(wanted_of(part), 0))
            wanted = require_part(part, frame.count, "frame")
            found = _molecule(frame.lines, frame.before + 1)
            if frame.rest:
                found.notes.append(f"line {frame.rest} begins no frame: what stands from there on is left out")
            return one_of(sample_of(path, found), path, wanted, frame.count, "frame")
        require_part(part, 1, "frame")
        return sample_of(path, _points(lines))


def _fits(path: Path) -> bool:
    """Return whether a file begins with a count, a remark and an atom; a cloud of points could be any table."""
    with path.open("rb") as file:
        lines = file.read(1024).split(b"\n")
    return len(lines) > 2 and lines[0].strip().isdigit() and _ATOM.match(lines[2]) is not None


READER = Reader(
    "xyz", "Molecule or points (XYZ)", (".xyz",), "graph", lambda head: False, _read, fits=_fits, part=_read
)
