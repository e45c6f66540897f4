"""SMILES, a molecule as one line of text ("CCO"), from a .smi file or typed as "smiles:CCO". Needs RDKit.

D. Weininger, "SMILES, a chemical language and information system", 1988.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from explorer.data.formats.checks import Broken, file_bytes, refusing
from explorer.data.readers import Reader
from explorer.declare.samples import Sample
from explorer.spaces.graph.readers.assembly import sample_of
from explorer.spaces.graph.readers.molecules.molfile import MOST_MOLECULES, Molecule, found_in_molecules

PREFIX = "smiles:"
_LONGEST = 10_000
_MOST_DRAWN, _MOST_DRAWING = 200, 1_000_000  # atoms of a molecule, and the sum of their squares over a file
_MISSING = "RDKit is not installed"
INSTALL = "install it with 'pip install equiscope[molecules]'"


def _parsed(smiles: str, where: str) -> Any:
    """Return RDKit's molecule; raise Broken."""
    try:
        from rdkit import Chem, rdBase
    except ImportError:
        raise Broken(_MISSING, INSTALL) from None
    if not smiles.isprintable():  # RDKit stops at the first NUL and takes what stands before it
        raise Broken(f"{where} is no text", "write one molecule in each line")
    if len(smiles) > _LONGEST:
        raise Broken(f"{where} has {len(smiles)} characters and the most is {_LONGEST}", "take a smaller molecule")
    with rdBase.BlockLogs():
        made = Chem.MolFromSmiles(smiles)
        if made is None or not made.GetNumAtoms():
            raise Broken(f"{where} is no molecule that RDKit understands: {smiles[:60]!r}", "correct it")
    return made


def _molecules(parsed: list[Any]) -> tuple[list[Molecule], list[str]]:
    """Return molecules with their heavy atoms and a drawing's places, and notes.

    The time of a drawing grows with the third power of its atoms, so large molecules are not drawn.
    """
    from rdkit import rdBase
    from rdkit.Chem import rdDepictor

    sizes = [made.GetNumAtoms() for made in parsed]
    drawn = max(sizes) <= _MOST_DRAWN and sum(n * n for n in sizes) <= _MOST_DRAWING
    if drawn:
        with rdBase.BlockLogs():
            for made in parsed:
                rdDepictor.Compute2DCoords(made)
    notes = [] if drawn else ["too many atoms to be drawn as a chemist does"]
    return [_molecule(made, drawn) for made in parsed], notes


def _molecule(made: Any, drawn: bool) -> Molecule:
    drawing = made.GetConformer() if drawn else None
    order = {"SINGLE": 1, "DOUBLE": 2, "TRIPLE": 3, "AROMATIC": 4}
    molecule = Molecule()
    for atom in made.GetAtoms():
        place = drawing.GetAtomPosition(atom.GetIdx()) if drawing is not None else None
        if charge := atom.GetFormalCharge():
            molecule.charges[len(molecule.symbols)] = charge
        molecule.symbols.append(atom.GetSymbol())
        molecule.places.append((place.x, place.y, 0.0) if place is not None else (0.0, 0.0, 0.0))
    for bond in made.GetBonds():
        kind = order.get(str(bond.GetBondType()), 1)
        molecule.bonds.append((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), kind))
    return molecule


def smiles_sample(text: str) -> Sample:
    """Make the molecule that "smiles:CCO" describes.

    Raises:
        ValueError: RDKit is not there or does not understand it, in one sentence.
    """
    smiles = text.removeprefix(PREFIX).strip()
    try:
        if not smiles:
            raise Broken("there is nothing after 'smiles:'", "write it like 'smiles:CCO'")
        molecules, notes = _molecules([_parsed(smiles, "the text")])
        found = found_in_molecules(molecules)
        found.notes += notes
        return replace(sample_of(Path(smiles), found), name=text, title=smiles, source="SMILES, drawn by RDKit")
    except Broken as error:
        raise ValueError(f"cannot read {text[:60]!r}: {error}; {error.do}") from None


def _read(path: Path) -> Sample:
    file_bytes(path)
    with refusing(path, "list of SMILES"):
        parsed, names, there = list[Any](), list[str](), 0
        text = path.read_text(encoding="utf-8-sig")
        if "\0" in text:
            raise Broken("it is no text", "write one molecule in each line")
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split(maxsplit=1)
            if not words or line.startswith("#") or (number == 1 and words[0].lower() == "smiles"):
                continue
            there += 1
            if there <= MOST_MOLECULES:
                parsed.append(_parsed(words[0], f"line {number}"))
                names.append(words[1].strip() if len(words) > 1 else "")
        if not parsed:
            raise Broken("it has no line with a SMILES", "write one molecule in each line")
        molecules, notes = _molecules(parsed)
        for molecule, name in zip(molecules, names, strict=True):
            molecule.name = name
        found = found_in_molecules(molecules)
        found.notes += notes
        if there > len(molecules):
            found.notes.append(f"the first {len(molecules)} of {there} molecules")
        return sample_of(path, found)


READER = Reader("smiles", "Molecules (SMILES)", (".smi", ".smiles"), "graph", lambda head: False, _read)
