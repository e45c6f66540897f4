"""Atomisation energies of the molecules of the G2 set, as ASE has it.

Curtiss, Raghavachari, Redfern, Pople, "Assessment of Gaussian-2 and density functional theories for the computation of
enthalpies of formation", 1997: measured heats of formation, with computed zero-point energies and thermal corrections.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

EV = 0.0433641146392  # of one kcal/mol
LEAST = 2  # atoms: one atom has nothing to be torn from


@cache
def energies() -> tuple[tuple[str, NDArray[np.float64], NDArray[np.int64], float], ...]:
    """Return name, places in Å, atomic numbers and atomisation energy in eV of every molecule, by name."""
    import ase.data.g2
    from ase.collections import g2
    from ase.symbols import string2symbols

    data: Any = ase.data.g2.data
    made = []
    for name in sorted(g2.names):
        atoms = g2[name]
        if len(atoms) < LEAST:
            continue
        known = data[name]
        energy = known["ZPE"] + known["thermal correction"] - known["enthalpy"]
        for atom in string2symbols(known["symbols"]):  # as ASE's get_atomization_energy, which knows half of the set
            energy += data[atom]["enthalpy"] - data[atom]["thermal correction"]
        made.append((name, np.asarray(atoms.positions), atoms.numbers.astype(np.int64), EV * float(energy)))
    return tuple(made)
