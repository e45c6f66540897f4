"""Formal charges of atoms: read from SDF and SMILES, named as chemists write them, and written again."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.data.finding import find_sample
from explorer.data.readers import ReadError
from explorer.data.writers import write_file
from explorer.spaces.graph.chemistry.atoms import charge_of, charge_sign, element_of, numbered

ATOM = "    {0}.0000    {0}.0000    0.0000 {1:<3} 0 {2:>2}  0  0  0  0\n"


def molfile(*atoms: tuple[str, int], end: str = "") -> str:
    head = f"ions\n  hand\n\n{len(atoms):3}  1  0  0  0  0  0  0  0  0999 V2000\n"
    rows = "".join(ATOM.format(k, symbol, old) for k, (symbol, old) in enumerate(atoms))
    return f"{head}{rows}  1  2  1  0\n{end}M  END\n$$$$\n"


def names(path: Path, text: str) -> tuple[str, ...]:
    path.write_text(text)
    return find_sample(str(path)).names


@pytest.mark.parametrize("charge", [-15, -2, -1, 0, 1, 2, 12])
def test_a_name_holds_its_charge(charge: int) -> None:
    (name,) = numbered(["Fe"], [charge])
    assert element_of(name) == "Fe" and charge_of(name) == charge
    assert (name == "Fe1") == (charge == 0)


def test_charges_are_written_as_chemists_do() -> None:
    assert [charge_sign(c) for c in (1, -1, 2, -3, 0)] == ["⁺", "⁻", "²⁺", "³⁻", ""]


def test_both_ways_to_write_them_are_read(tmp_path: Path) -> None:
    path = tmp_path / "ions.sdf"
    assert names(path, molfile(("N", 3), ("O", 5), ("C", 0))) == ("N1⁺", "O1⁻", "C1")
    lines = "M  CHG  2   1   2   3  -1\n"
    assert names(path, molfile(("N", 3), ("O", 5), ("C", 0), end=lines)) == ("N1²⁺", "O1", "C1⁻")


@pytest.mark.parametrize("line", ["M  CHG  1   9   1\n", "M  CHG  1   1  99\n", "M  CHG  2   1   1\n", "M  CHG\n"])
def test_charges_that_cannot_be_are_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(ReadError, match="line of charges"):
        names(tmp_path / "bad.sdf", molfile(("N", 0), ("O", 0), end=line))


def test_smiles_and_the_way_back(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    sample = find_sample("smiles:[NH4+].[O-]S(=O)(=O)[O-]")
    assert [charge_of(n) for n in sample.names].count(-1) == 2 and "N1⁺" in sample.names
    for ending in ("sdf", "smi"):
        path = tmp_path / f"salt.{ending}"
        write_file(sample, path)
        again = find_sample(str(path))
        assert sorted(map(charge_of, again.names)) == sorted(map(charge_of, sample.names))
