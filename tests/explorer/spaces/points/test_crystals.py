"""mmCIF as the Protein Data Bank writes it, and crystals with as many symmetries as there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.data.in_process import read_file
from explorer.data.readers import ReadError

HEAD = "data_1ABC\n#\n_cell.length_a 50\n_cell.length_b 50\n_cell.length_c 50\n#\nloop_\n"
TAGS = ("group_PDB", "id", "type_symbol", "label_atom_id", "Cartn_x", "Cartn_y", "Cartn_z", "pdbx_PDB_model_num")


def mmcif(*rows: str) -> str:
    return HEAD + "".join(f"_atom_site.{tag}\n" for tag in TAGS) + "\n".join(rows) + "\n#\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "a.cif"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_mmcif_gives_the_atoms_of_its_first_model(tmp_path: Path) -> None:
    rows = (
        "ATOM 1 N N 11.104 6.134 -6.504 1", "ATOM 2 C CA 11.639 6.071 -5.147 1", "HETATM 3 ZN ZN 1.5 2.5 3.5 1",
        "ATOM 4 N N 99 99 99 2",
    )  # fmt: skip
    sample = read_file(written(tmp_path, mmcif(*rows)))
    assert sample.signals["position"].values.tolist()[2] == [1.5, 2.5, 3.5]
    assert sample.signals["number"].values.ravel().tolist() == [7, 6, 30]
    assert len(sample.signals["position"].values) == 3 and any("structure 1 of 2" in note for note in sample.notes)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("ATOM 1 Qq N 1 2 3 1", "'Qq' is no chemical element"),
        ("ATOM 1 N N 1 two 3 1", "cartn_y of atom 1 is 'two', and no number"),
        ("ATOM 1 N N 1 2 3", "ends within a row"),
    ],
)
def test_what_is_wrong_with_an_mmcif_is_told(row: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=says):
        read_file(written(tmp_path, mmcif(row)))


def test_an_atom_of_a_pdb_file_that_is_of_no_element_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.pdb"
    rows = (
        "ATOM      1  N   ALA A   1      11.104   6.134  -6.504  1.00  0.00           N",
        "HETATM    2  Q1  LIG A   2       1.500   0.000   0.000  1.00  0.00          QQ",
    )
    path.write_text("\n".join(rows) + "\nEND\n", encoding="ascii")
    with pytest.raises(ReadError, match=r"line 2: neither columns 77 to 78, 'QQ', .* 'Q1', tell a chemical element"):
        read_file(path)
