"""Colours and sizes of atoms, as chemists draw them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PLAIN = (86, 130, 190)  # of what is no atom


def colours(numbers: NDArray[np.integer]) -> NDArray[np.uint8]:
    """Return (N, 3): Jmol's colours of elements, by way of ASE; points that are no atoms are all alike.

    Hydrogen is a little grey, to be seen on white.
    """
    table = _jmol()
    return np.asarray(table[np.where((numbers > 0) & (numbers < len(table)), numbers, 0)])


def radii(numbers: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return (N,) covalent radii in ångström (Cordero et al., 2008); 0.5 for what is no element."""
    from ase.data import covalent_radii

    table = np.asarray(covalent_radii, np.float64)
    known = (numbers > 0) & (numbers < len(table))
    return np.asarray(np.where(known, table[np.where(known, numbers, 0)], 0.5))


def _jmol() -> NDArray[np.uint8]:
    from ase.data.colors import jmol_colors

    table = np.round(255 * np.asarray(jmol_colors)).astype(np.uint8)
    table[0], table[1] = PLAIN, (225, 225, 225)
    return table
