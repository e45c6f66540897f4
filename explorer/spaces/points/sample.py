"""Wrap points in space as a sample: a cloud, a molecule, or bodies that move."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, Signal
from explorer.spaces.graph.chemistry.atoms import SYMBOLS, numbered
from explorer.spaces.points.fields import CELL_EDGES, PARTICLE, PARTICLE_INPUT, POSITION, PSEUDO_VECTOR, VECTOR, WHOLE

SHORTEST, BOHR = 0.5, 0.529177  # Å: no two atoms of a molecule are nearer; ångström of a bohr
MOST_POINTS = 2**22  # of a file; more than anything here draws or measures
AXIAL = frozenset({"magmoms", "initial_magmoms", "spins"})  # vectors that keep their sign under inversion
NUMBER = {symbol: number for number, symbol in enumerate(SYMBOLS, 1)} | {"D": 1, "T": 1, "X": 0}


def points_sample(
    name: str,
    position: NDArray[np.floating],
    *,
    numbers: NDArray[np.integer] | None = None,
    formal: NDArray[np.integer] | None = None,
    bonds: NDArray[np.integer] | None = None,
    bond_kinds: NDArray[np.integer] | None = None,
    charge: NDArray[np.floating] | None = None,
    velocity: NDArray[np.floating] | None = None,
    values: NDArray[np.floating] | None = None,
    target: NDArray[np.floating] | None = None,
    vectors: Mapping[str, NDArray[np.floating]] = MappingProxyType({}),
    cell: NDArray[np.floating] | None = None,
    periodic: tuple[bool, bool, bool] = (True, True, True),
    label: int | None = None,
    title: str = "",
    source: str = "",
    notes: tuple[str, ...] = (),
) -> Sample:
    """Wrap points; that there are not too many is the business of the reader.

    Args:
        position: (points, 3).
        numbers: (points,) atomic numbers, 0 for what is no element.
        formal: (points,) formal charges, which stand in the names of atoms.
        bonds: (2, bonds), each pair once, or None where nothing is bonded.
        bond_kinds: (bonds,) 1 to 3 for single to triple and 4 for aromatic; None where all count as single.
        charge, velocity, values: (points,), (points, 3), (points, channels) of what is measured at the points.
        target: (points, 3), where the points will be: what a network on moving bodies is to tell.
        vectors: {name: (points, 3)} further vectors at the points, such as forces.
        cell: (3, 3), the edges of a crystal's cell from the origin, one a row, with the directions that it repeats in.

    Raises:
        ValueError: shapes that do not fit each other, a number that is not finite, no point at all.
    """
    places = np.array(position, np.float64)
    if places.ndim != 2 or places.shape[1] != 3:
        raise ValueError(f"{name}: positions are (points, 3), got shape {places.shape}")
    n = len(places)
    if not n:
        raise ValueError(f"{name}: there are no points, and a cloud has at least one")
    signals = {"position": Signal(places, POSITION)}
    for key, array, shape in (("velocity", velocity, (n, 3)), ("target", target, (n, 3)), ("charge", charge, (n,)),
                              ("numbers", numbers, (n,))):  # fmt: skip
        if array is not None and np.shape(array) != shape:
            raise ValueError(f"{name}: {key} has shape {np.shape(array)}, and there are {n} points")
    if velocity is not None:
        signals["velocity"] = Signal(np.array(velocity, np.float64), VECTOR)
    for key, array in vectors.items():
        if key in signals or np.shape(array) != (n, 3):
            raise ValueError(f"{name}: {key!r} is taken, or no vector at each of {n} points: {np.shape(array)}")
        signals[key] = Signal(np.array(array, np.float64), PSEUDO_VECTOR if key in AXIAL else VECTOR)
    if cell is not None:
        signals["cell"] = Signal(np.array(cell, np.float64).reshape(1, 9), CELL_EDGES)
        signals["periodic"] = Signal(np.array([periodic], np.int64), WHOLE)
    if target is not None:
        signals["target"] = Signal(np.array(target, np.float64), POSITION)
    if charge is not None:
        signals["charge"] = Signal(np.array(charge, np.float64)[:, None], PARTICLE_INPUT)
    if numbers is not None:
        signals["number"] = Signal(np.array(numbers, np.int64), PARTICLE)
    if values is not None:
        if len(values) != n:
            raise ValueError(f"{name}: the values have {len(values)} rows, and there are {n} points")
        signals["values"] = Signal(np.array(values, np.float64).reshape(n, -1), PARTICLE_INPUT)
    if bonds is not None and np.size(bonds):
        pairs = np.array(bonds, np.int64)
        if pairs.ndim != 2 or len(pairs) != 2 or pairs.min() < 0 or pairs.max() >= n:
            raise ValueError(f"{name}: bonds are (2, bonds), with the numbers of points from 0 to {n - 1}")
        signals["bonds"] = Signal(pairs, PARTICLE)
        if bond_kinds is not None:
            signals["bond_kinds"] = Signal(np.array(bond_kinds, np.int64), PARTICLE)
    for key, signal in signals.items():
        if not np.isfinite(signal.values).all():
            row = int(np.argwhere(~np.isfinite(np.asarray(signal.values, np.float64)))[0][0])
            raise ValueError(f"{name}: the {key} of point {row} is not finite")
    symbols = [SYMBOLS[k - 1] if 0 < k <= len(SYMBOLS) else "X" for k in numbers] if numbers is not None else []
    names = numbered(symbols, [] if formal is None else [int(charge) for charge in formal])
    more = (told,) if (told := coincident(places)) else ()
    return Sample(name, "points", MappingProxyType(signals), title or name, label, source, (*notes, *more), names)


def coincident(places: NDArray[np.float64]) -> str:
    """Return a note about points at the same place, whose direction from one another nobody knows; else ""."""
    count = len(places) - len(np.unique(places, axis=0))
    return f"{count} of {len(places)} points lie where another one does" if count else ""


def doubtful_units(numbers: NDArray[np.integer], places: NDArray[np.float64]) -> str:
    """Return a note where atoms lie as if their places were told in another unit than ångström; else "".

    Shares of a cell and nanometres put atoms nearer to each other than any bond; bohr puts them so far away that none
    is bonded, and all would be if that were taken back.
    """
    from scipy.spatial import cKDTree

    if len(places) < 2 or not (numbers > 0).any():
        return ""
    nearest = cKDTree(places).query(places, 2)[0][:, 1]
    usual = float(np.median(nearest[nearest > 0])) if (nearest > 0).any() else 0.0
    if 0 < usual < SHORTEST:
        return f"atoms are {usual:.3g} Å apart, nearer than any bond: are their places in nm, or shares of a cell?"
    if not near_bonds(numbers, places).size and near_bonds(numbers, places * BOHR).size >= len(places) - 1:
        return "no atom is bonded, and all would be if their places were in bohr: multiply them by 0.529"
    return ""


def near_bonds(numbers: NDArray[np.integer], position: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return (2, bonds) by distance; none where atoms lie too close together to tell."""
    from explorer.spaces.graph.chemistry.atoms import RADIUS
    from explorer.spaces.graph.chemistry.bonds import near_pairs

    radii = np.array([0.31, *RADIUS.values()])
    radius = radii[np.where((numbers > 0) & (numbers < len(radii)), numbers, 0)]
    pairs = near_pairs(position, radius)
    return np.zeros((2, 0), np.int64) if pairs is None else np.ascontiguousarray(pairs.T)
