"""Molecules: atoms as nodes, bonds as edges, read from the shipped SDF files (coordinates in ångström).

`python -m explorer.spaces.graph.samples.molecules` makes the files again; that alone needs RDKit.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.graph.chemistry.atoms import BONDS
from explorer.spaces.graph.sample import graph_sample
from explorer.work.files.places import RESOURCES

FOLDER = RESOURCES / "samples" / "molecules"
SMILES = {  # in the order of the list; 3D with hydrogens where the second is set
    "benzene": ("c1ccccc1", True),
    "caffeine": ("CN1C=NC2=C1C(=O)N(C(=O)N2C)C", True),
    "aspirin": ("CC(=O)Oc1ccccc1C(=O)O", True),
    "ethanol": ("CCO", True),
    "glycine": ("NCC(=O)O", True),
    "naphthalene": ("c1ccc2ccccc2c1", False),
    "decalin": ("C1CCC2CCCCC2C1", False),
    "bicyclopentyl": ("C1CCCC1C1CCCC1", False),
    "chlorobenzene": ("Clc1ccccc1", False),
    "taurine": ("NCCS(=O)(=O)O", False),
}
_TOLD = {
    "benzene": "Six carbons in a ring that no network can tell apart, and their hydrogens; in three dimensions.",
    "caffeine": "Two fused rings, 24 atoms, in three dimensions.",
    "aspirin": "A ring with an ester and an acid, 21 atoms, in three dimensions.",
    "ethanol": "Nine atoms: small enough to follow every message.",
    "glycine": "The smallest amino acid, in three dimensions.",
    "naphthalene": "Two benzene rings that share a bond; carbons only.",
    "decalin": "Two six-rings that share a bond; 1-WL takes it for bicyclopentyl.",
    "bicyclopentyl": "Two five-rings joined by a bond; 1-WL takes it for decalin.",
    "chlorobenzene": "A benzene ring with one chlorine.",
    "taurine": "Nitrogen, sulphur and oxygen in one small molecule.",
}


def write_files(folder: Path = FOLDER) -> None:
    """Make the shipped SDF files with RDKit: seeded ETKDG and MMFF in 3D, or a drawing in 2D."""
    from rdkit import Chem
    from rdkit.Chem import AllChem

    for name, (smiles, solid) in SMILES.items():
        molecule = Chem.MolFromSmiles(smiles)
        if solid:
            molecule = Chem.AddHs(molecule)
            AllChem.EmbedMolecule(molecule, randomSeed=7)  # type: ignore[attr-defined]
            AllChem.MMFFOptimizeMolecule(molecule)  # type: ignore[attr-defined]
            Chem.SanitizeMol(molecule)  # MMFF has left its own idea of what is aromatic
        else:
            AllChem.Compute2DCoords(molecule)  # type: ignore[attr-defined]
        molecule.SetProp("_Name", name)
        text = Chem.MolToMolBlock(molecule, kekulize=False) + "$$$$\n"
        (folder / f"{name}.sdf").write_text(text, encoding="ascii")


def molecule(name: str) -> Sample:
    """Make the molecule of that name."""
    from explorer.spaces.graph.readers.molecules.molfile import READER

    made = READER.read(FOLDER / f"{name}.sdf")
    return replace(made, name=name, title=name.capitalize(), source=f"SMILES {SMILES[name][0]}, coordinates by RDKit")


def batch() -> Sample:
    """Make five drawn molecules as one batch: five graphs that are not joined."""
    chosen = ("decalin", "bicyclopentyl", "naphthalene", "chlorobenzene", "taurine")
    parts = [molecule(name).signals for name in chosen]
    sizes = [len(part["x"].values) for part in parts]
    start = np.concatenate([[0], np.cumsum(sizes)])
    corner = [np.array([9.0 * (k % 3), -8.0 * (k // 3)]) for k in range(len(chosen))]
    places = [p["position"].values[:, :2] - p["position"].values[:, :2].mean(0) + c for p, c in zip(parts, corner)]
    return graph_sample(
        "molecules",
        np.concatenate([part["x"].values for part in parts]),
        np.concatenate([part["edge_index"].values + s for part, s in zip(parts, start)], axis=1),
        title="Batch of molecules",
        edge_attr=np.concatenate([part["edge_attr"].values for part in parts]),
        position=np.concatenate(places),
        batch=np.repeat(np.arange(len(chosen)), sizes),
        names=tuple(f"{atom} {k}" for k, n in enumerate(chosen) for atom in molecule(n).names),
        source="RDKit",
        notes=("graphs: " + ", ".join(f"{k} {n}" for k, n in enumerate(chosen)), f"bonds: {', '.join(BONDS)}"),
    )


SAMPLES = (
    *(
        SampleSpec(
            name, name.capitalize(), "graph", partial(molecule, name), _TOLD[name],
            ("molecule", "3D" if solid else "2D"),
        )
        for name, (_, solid) in SMILES.items()
    ),
    SampleSpec(
        "molecules", "Batch of molecules", "graph", batch, "Five molecules in one batch, and an answer for each.",
        ("batch", "molecule"),
    ),
)  # fmt: skip


if __name__ == "__main__":
    write_files()
