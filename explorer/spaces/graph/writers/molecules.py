"""Molecules: MDL's MOL and SDF (V2000), XYZ, and SMILES, which needs RDKit; a set of points as XYZ too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.data.writers import Writer
from explorer.declare.samples import Sample
from explorer.spaces.graph.chemistry.atoms import charge_of, element_of
from explorer.spaces.graph.chemistry.bonds import bond_kinds
from explorer.spaces.graph.writers.kinds import GRAPHS
from explorer.spaces.graph.writers.records import left_out, listed

_HELD = ("x", "edge_index", "edge_attr", "position", "names", "batch")
_MOST = 999  # atoms and bonds: three digits in the file


def _elements(sample: Sample) -> list[str]:
    found = [element_of(name) for name in sample.names]
    if not found or not all(found):
        raise ValueError(f"{sample.name!r} is no molecule: its nodes are not named by chemical elements")
    return found


def _places(sample: Sample) -> NDArray[np.float64]:
    """Return (nodes, 3), flat where there are two coordinates, zeros where there are none."""
    places = np.zeros((len(sample.x.values), 3))
    if "position" in sample.signals:
        given = sample.signals["position"].values
        places[:, : given.shape[1]] = given
    return places


def _kinds(sample: Sample, kept: NDArray[np.int64]) -> list[int]:
    """Return the kind of each bond, 1 to 4, single where none is told."""
    told = bond_kinds(sample)
    return [1] * len(kept) if told is None else [int(k) for k in told[kept]]


def _molecules(sample: Sample) -> Iterator[tuple[NDArray[np.int64], list[tuple[int, int, int]]]]:
    """Yield the nodes of each molecule of a batch and its bonds, numbered within it."""
    edges = listed(sample)
    kinds = _kinds(sample, edges.kept)
    batch = sample.signals["batch"].values if "batch" in sample.signals else np.zeros(len(sample.x.values))
    for part in np.unique(batch):
        nodes = np.flatnonzero(batch == part)
        at = {int(node): i for i, node in enumerate(nodes)}
        yield nodes, [(at[a], at[b], k) for (a, b), k in zip(edges.ends, kinds) if a in at and b in at]


def _write_molfile(sample: Sample, path: Path) -> tuple[str, ...]:
    elements, places = _elements(sample), _places(sample)
    parts = list(_molecules(sample))
    single = path.suffix.lower() == ".mol"
    if single and len(parts) > 1:
        raise ValueError(f"{sample.name!r} is {len(parts)} molecules, and a .mol file holds one; choose .sdf")
    with path.open("w", encoding="utf-8") as file:
        for k, (nodes, bonds) in enumerate(parts):
            if len(nodes) > _MOST or len(bonds) > _MOST:
                raise ValueError(f"{sample.name!r} has {len(nodes)} atoms, and this format holds {_MOST}; choose .json")
            name = " ".join(sample.name.split())[:60]
            file.write(f"{name}{f' {k}' if len(parts) > 1 else ''}\n  Equiscope\n\n")
            file.write(f"{len(nodes):3}{len(bonds):3}  0  0  0  0  0  0  0  0999 V2000\n")
            for i in nodes:
                x, y, z = places[i]
                file.write(f"{x:10.4f}{y:10.4f}{z:10.4f} {elements[i]:<3} 0  0  0  0  0  0  0  0  0  0  0  0\n")
            file.writelines(f"{a + 1:3}{b + 1:3}{kind:3}  0\n" for a, b, kind in bonds)
            charged = [(n + 1, charge_of(sample.names[i])) for n, i in enumerate(nodes) if charge_of(sample.names[i])]
            for first in range(0, len(charged), 8):  # a line holds eight at most
                some = charged[first : first + 8]
                file.write(f"M  CHG{len(some):3}" + "".join(f"{n:4}{charge:4}" for n, charge in some) + "\n")
            file.write("M  END\n" + "$$$$\n" * (not single))
    return left_out(sample, _HELD)


def _write_xyz(sample: Sample, path: Path) -> tuple[str, ...]:
    if "position" not in sample.signals:
        raise ValueError(f"{sample.name!r} has no coordinates, and an XYZ file holds nothing else")
    places = _places(sample)
    rows = [" ".join(f"{v:.6f}" for v in place) for place in places]
    if sample.domain == "set":
        path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
        return left_out(sample, ("x", "position"))
    head = f"{len(rows)}\n{' '.join(sample.title.split())}\n"
    path.write_text(head + "".join(f"{e} {row}\n" for e, row in zip(_elements(sample), rows)), encoding="utf-8")
    lost = left_out(sample, ("x", "edge_index", "position", "names"))
    return ("bonds are not written: a reader finds them by distance", *lost)


def _write_smiles(sample: Sample, path: Path) -> tuple[str, ...]:
    try:
        from rdkit import Chem, rdBase
    except ImportError:
        from explorer.spaces.graph.readers.molecules.smiles import INSTALL

        raise ValueError(f"RDKit is not installed; {INSTALL}") from None
    kinds = (Chem.BondType.SINGLE, Chem.BondType.DOUBLE, Chem.BondType.TRIPLE, Chem.BondType.AROMATIC)
    elements, lines = _elements(sample), []
    for nodes, bonds in _molecules(sample):
        made = Chem.RWMol()
        for i in nodes:
            atom = Chem.Atom(elements[i])
            atom.SetFormalCharge(charge_of(sample.names[i]))
            made.AddAtom(atom)
        for a, b, kind in bonds:
            made.AddBond(a, b, kinds[kind - 1])
            if kind == 4:
                made.GetAtomWithIdx(a).SetIsAromatic(True)
                made.GetAtomWithIdx(b).SetIsAromatic(True)
        with rdBase.BlockLogs():
            try:
                Chem.SanitizeMol(made)
                lines.append(Chem.MolToSmiles(Chem.RemoveHs(made)))
            except (ValueError, RuntimeError) as error:
                reason = " ".join(str(error).split())[:100]
                raise ValueError(f"{sample.name!r} is no molecule that RDKit can write ({reason})") from None
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return left_out(sample, ("x", "edge_index", "edge_attr", "names", "batch"))


WRITER = (
    Writer("molfile", "Molecule (SDF, MOL)", (".sdf", ".mol"), _write_molfile, GRAPHS),
    Writer("xyz", "Molecule or points (XYZ)", (".xyz",), _write_xyz, GRAPHS),
    Writer("smiles", "Molecules (SMILES)", (".smi",), _write_smiles, GRAPHS),
)
