"""Bonds that a PDB file tells are those that are drawn, of the order that it tells."""

from __future__ import annotations

from pathlib import Path

from explorer.data.finding import find_sample
from explorer.declare.samples import Sample

# formaldehyde, as RDKit writes it: the double bond is told twice, each bond from one of its ends
PLACES = ((0.0, 0.0, 0.0, "C"), (1.21, 0.0, 0.0, "O"), (-0.55, 0.93, 0.0, "H"), (-0.55, -0.93, 0.0, "H"))
RECORDS = "CONECT    1    2    2    3    4\n"


def opened(folder: Path, records: str, first: int = 1) -> Sample:
    """Return formaldehyde of a file with these CONECT records, its atoms counted from `first`."""
    row = "HETATM{k:5}  {s}1  UNL     1    {x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00           {s}  \n"
    atoms = "".join(row.format(k=k, s=s, x=x, y=y, z=z) for k, (x, y, z, s) in enumerate(PLACES, first))
    (folder / "a.pdb").write_text(f"{atoms}{records}END\n")
    return find_sample(str(folder / "a.pdb"))


def orders(sample: Sample) -> dict[tuple[int, int], int]:
    pairs = [(int(a), int(b)) for a, b in sample.signals["bonds"].values.T]
    told = sample.signals.get("bond_kinds")
    kinds = [1] * len(pairs) if told is None else [int(k) for k in told.values]
    return dict(zip(pairs, kinds, strict=True))


def test_a_bond_told_twice_is_double(tmp_path: Path) -> None:
    sample = opened(tmp_path, RECORDS)
    assert orders(sample) == {(0, 1): 2, (0, 2): 1, (0, 3): 1}
    assert "3 bonds by CONECT" in sample.notes


def test_a_bond_told_from_both_ends_is_single(tmp_path: Path) -> None:
    both = "CONECT    1    2    3    4\nCONECT    2    1\nCONECT    3    1\nCONECT    4    1\n"
    assert set(orders(opened(tmp_path, both)).values()) == {1}


def test_what_is_told_counts_and_not_how_far_atoms_are_apart(tmp_path: Path) -> None:
    sample = opened(tmp_path, "CONECT   11   12   12   13\nCONECT   12   14\n", first=11)
    assert orders(sample) == {(0, 1): 2, (0, 2): 1, (1, 3): 1}


def test_atoms_of_which_nothing_is_told_are_bonded_by_distance(tmp_path: Path) -> None:
    sample = opened(tmp_path, "CONECT    1    2    2\n")
    assert orders(sample) == {(0, 1): 2, (0, 2): 1, (0, 3): 1}
    assert "1 bond by CONECT, the others by distance" in sample.notes


def test_records_of_atoms_that_there_are_not_tell_nothing(tmp_path: Path) -> None:
    sample = opened(tmp_path, "CONECT   90   91\nCONECT    x    1\nCONECT\n")
    assert orders(sample) == {(0, 1): 1, (0, 2): 1, (0, 3): 1}
    assert any(note.startswith("bonds by distance") for note in sample.notes)
