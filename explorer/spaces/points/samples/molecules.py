"""Molecules in space: some of the G2 set as ASE has it, one that is not its own mirror image, and a piece of salt.

Curtiss, Raghavachari, Redfern, Pople, "Assessment of Gaussian-2 and density functional theories", 1997: MP2 geometries.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.graph.chemistry.orders import TOLD, orders_by_valence
from explorer.spaces.points.sample import near_bonds, points_sample

G2 = {  # the name here: the name in the set, a title, what to see
    "water-3d": ("H2O", "Water in space", "Three atoms, two mirrors: the smallest molecule with a dipole."),
    "ammonia-3d": ("NH3", "Ammonia in space", "A pyramid: a third of a turn leaves it as it is."),
    "methane-3d": ("CH4", "Methane in space", "A tetrahedron: no vector and no value of degree 2 can survive in it."),
    "benzene-3d": ("C6H6", "Benzene in space", "A flat ring: six turns, and inversion."),
    "ethanol-3d": ("CH3CH2OH", "Ethanol in space", "Nine atoms of three elements, with one mirror."),
    "acetic-acid-3d": ("CH3COOH", "Acetic acid in space", "Two oxygens that their bonds tell apart."),
    "pyridine-3d": ("C5H5N", "Pyridine in space", "Benzene with one nitrogen: a vector along its axis survives."),
    "butane-3d": ("trans-butane", "Butane in space", "A stretched chain with a centre of inversion: no dipole."),
    "chloroform-3d": ("HCCl3", "Chloroform in space", "Heavy atoms round a light one."),
}
_TETRAHEDRON = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(3)
_LENGTHS = (1.09, 1.36, 1.76, 1.93)  # of C-H, C-F, C-Cl and C-Br, in ångström


def molecule(name: str) -> Sample:
    """Make a molecule of the G2 set."""
    from ase.collections import g2

    atoms = g2[G2[name][0]]
    bonds = near_bonds(atoms.numbers, atoms.positions)
    return points_sample(
        name, atoms.positions, numbers=atoms.numbers, bonds=bonds, bond_kinds=orders_by_valence(atoms.numbers, bonds),
        title=G2[name][1], source="G2 set, geometries by MP2, with ASE",
        notes=("ångström", "bonds by distance: sum of covalent radii + 0.45 Å", TOLD),
    )  # fmt: skip


def chiral(name: str, left: bool) -> Sample:
    """Make CHFClBr, whose mirror image no turn brings back."""
    corners = _TETRAHEDRON * np.array(_LENGTHS)[:, None]
    position = np.concatenate([np.zeros((1, 3)), corners * ((-1, 1, 1) if left else (1, 1, 1))])
    numbers = np.array([6, 1, 9, 17, 35])
    bonds = np.array([[0] * 4, [1, 2, 3, 4]])
    hand = "left" if left else "right"
    return points_sample(
        name, position, numbers=numbers, bonds=bonds, title=f"CHFClBr, {hand}-handed", source="computed",
        notes=("ångström", "a regular tetrahedron with the usual lengths of its four bonds"),
    )  # fmt: skip


def salt() -> Sample:
    """Make 64 ions of rock salt, each charged."""
    at = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), -1).reshape(-1, 3)
    even = at.sum(1) % 2 == 0
    return points_sample(
        "salt-3d", (at - 1.5) * 2.82, numbers=np.where(even, 11, 17), charge=np.where(even, 1.0, -1.0),
        title="Rock salt, 64 ions", source="computed",
        notes=("ångström; nearest ions are 2.82 Å apart, none is bonded",),
    )  # fmt: skip


SAMPLES = (
    *(
        SampleSpec(name, title, "points", partial(molecule, name), summary, ("molecule",))
        for name, (_, title, summary) in G2.items()
    ),
    SampleSpec("chiral-right", "CHFClBr, right-handed", "points", partial(chiral, "chiral-right", False),
               "Four different atoms round a carbon: not its own mirror image.", ("molecule", "chiral")),
    SampleSpec("chiral-left", "CHFClBr, left-handed", "points", partial(chiral, "chiral-left", True),
               "The mirror image of the right-handed one: distances cannot tell them apart.", ("molecule", "chiral")),
    SampleSpec("salt-3d", "Rock salt, 64 ions", "points", salt, "A cube of ions, charged in turn.", ("crystal",)),
)  # fmt: skip
