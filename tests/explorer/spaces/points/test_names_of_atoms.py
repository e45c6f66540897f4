"""Atoms of files that say little of them: without the column of elements, alone, in one line, at no place."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.data.finding import find_sample
from explorer.data.readers import ReadError
from explorer.spaces.points.network.fit import fit_points
from explorer.spaces.points.network.form import PointsInput

ALL = PointsInput(signals=("x", "position", "edge_index"), features="elements", edges="all")
ALANINE = (" N  ", " CA ", " C  ", " O  ", " CB ", "HB11")
SHIFTED = ("N   ", "CA  ", "C   ", "O   ", "CB  ", "HB1 ")  # names one column too far to the left


def pdb(names: tuple[str, ...], residue: str, kind: str = "ATOM", ends: tuple[str, ...] = ()) -> str:
    """Return atoms of one residue, without what stands behind column 66 unless `ends` tells it."""
    atom = "{kind:6}{k:5} {name} {residue:>3} A   1    {k:8.3f}   0.000   {k:.3f}  1.00  0.00{end}\n"
    rows = zip(names, ends or ("",) * len(names), strict=True)
    return "".join(
        atom.format(kind=kind, k=k, name=name, residue=residue, end=f"{'':10}{end}" if end else "")
        for k, (name, end) in enumerate(rows, 1)
    )


def opened(folder: Path, name: str, text: str) -> tuple[tuple[str, ...], str]:
    """Return the names of atoms without their numbers, and the notes."""
    (folder / name).write_text(text)
    sample = find_sample(str(folder / name))
    return tuple(name.strip("0123456789") for name in sample.names), "; ".join(sample.notes)


@pytest.mark.parametrize("names", [ALANINE, SHIFTED])
def test_carbons_of_an_amino_acid_without_the_column_of_elements_are_no_calcium(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    found, notes = opened(tmp_path, "a.pdb", pdb(names, "ALA"))
    assert found == ("N", "C", "C", "O", "C", "H")
    assert "elements of 6 of 6 atoms taken from their names" in notes


def test_the_columns_of_a_name_tell_its_element(tmp_path: Path) -> None:
    found, _ = opened(tmp_path, "b.pdb", pdb(("CA  ", "CL1 ", " CA ", "1HB ", "HG21", " D1 "), "LIG", "HETATM"))
    assert found == ("Ca", "Cl", "C", "H", "H", "H")


def test_an_element_that_there_is_not_is_told_and_one_that_is_stands(tmp_path: Path) -> None:
    found, notes = opened(tmp_path, "c.pdb", pdb((" N  ", "CA  "), "LIG", "HETATM", ("QQ", " C")))
    assert found == ("N", "C") and "elements of 1 of 2 atoms taken" in notes
    with pytest.raises(ReadError, match="neither columns 77 to 78, 'QQ', nor the name of the atom, 'QQ', tell"):
        opened(tmp_path, "d.pdb", pdb((" QQ ",), "LIG", "HETATM", ("QQ",)))


def test_formal_charges_of_a_pdb_stand_in_the_names(tmp_path: Path) -> None:
    found, notes = opened(tmp_path, "e.pdb", pdb((" O  ", "CA  ", "NA  "), "LIG", "HETATM", (" O1-", "CA2+", "NA")))
    assert found == ("O1⁻", "Ca1²⁺", "Na") and "taken from their names" not in notes


def test_formal_charges_of_an_mmcif_stand_in_the_names(tmp_path: Path) -> None:
    """They were told of a PDB file, and not of an mmCIF of the same atoms."""
    tags = ("type_symbol", "Cartn_x", "Cartn_y", "Cartn_z", "label_alt_id", "occupancy", "pdbx_formal_charge")
    rows = ("N 0 0 0 . 1 1", "C 1.47 0 0 A 0.4 ?", "C 1.5 0 0 B 0.6 .", "O 2.6 0 0 . 1 -1", "O 3.9 0 0 . 1 nan")
    text = "\n".join(["data_x", "loop_", *(f"_atom_site.{tag}" for tag in tags), *rows, ""])
    found, _ = opened(tmp_path, "f.cif", text)
    assert found == ("N1⁺", "C", "O1⁻", "O")


def sdf(*atoms: tuple[float, float, float]) -> str:
    """Return a molecule of oxygen atoms in a row."""
    rows = "".join(f"{x:10.4f}{y:10.4f}{z:10.4f} O   0  0\n" for x, y, z in atoms)
    bonds = "".join(f"{k:3}{k + 1:3}  2\n" for k in range(1, len(atoms)))
    return f"row\n\n\n{len(atoms):3}{len(atoms) - 1:3}  0  0  0  0  0  0  0  0999 V2000\n{rows}{bonds}M  END\n"


@pytest.mark.parametrize("atoms", [[(0, 0, 0)], [(0, 0, 0.6), (0, 0, -0.6)], [(1, 2, 3)]], ids=str)
def test_one_atom_and_a_row_along_z_lie_in_space(atoms: list[tuple[float, float, float]], tmp_path: Path) -> None:
    (tmp_path / "row.sdf").write_text(sdf(*atoms))
    fitted = fit_points(find_sample(str(tmp_path / "row.sdf")), ALL)
    assert fitted.signals["position"].values.shape == (len(atoms), 3)


def test_an_atom_at_no_place_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "nan.sdf").write_text(sdf((0, 0, 0), (float("nan"), 0, 1)))
    with pytest.raises(ReadError, match="the atom in line 6 is at no finite place"):
        find_sample(str(tmp_path / "nan.sdf"))


def test_a_drawing_says_what_a_flat_molecule_in_space_would_say(tmp_path: Path) -> None:
    (tmp_path / "flat.sdf").write_text(sdf((0, 0, 0), (1.2, 0, 0)))
    sample = find_sample(str(tmp_path / "flat.sdf"))
    assert "says 3D in columns 21 to 22" in "; ".join(sample.notes)
    with pytest.raises(ValueError, match="is flat: each of its points has two coordinates"):
        fit_points(sample, ALL)
