"""Orders of bonds by valence: as chemists draw molecules that everybody knows, and nothing where it cannot be known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from explorer.data.finding import find_sample
from explorer.data.opening import read_file
from explorer.spaces.graph.chemistry.orders import TOLD, orders_by_valence
from explorer.spaces.graph.network.features import fit_graph
from explorer.spaces.graph.network.form import GraphInput
from explorer.spaces.points.network.fit import in_space
from explorer.spaces.points.sample import near_bonds


def drawn(name: str) -> list[str]:
    """Return the bonds of a molecule of the G2 set that are not single: "CO2" is a double one."""
    from ase.collections import g2

    atoms = g2[name]
    bonds = near_bonds(atoms.numbers, atoms.positions)
    kinds = orders_by_valence(atoms.numbers, bonds)
    if kinds is None:
        return []
    pairs = ("".join(sorted(atoms.symbols[[i, j]])) for i, j in bonds.T)
    return sorted(f"{pair}{kind}" for pair, kind in zip(pairs, kinds, strict=True) if kind > 1)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("C6H6", ["CC4"] * 6),
        ("C5H5N", ["CC4"] * 4 + ["CN4"] * 2),
        ("C4H4O", ["CC2", "CC2"]),  # furan
        ("butadiene", ["CC2", "CC2"]),
        ("C2H2", ["CC3"]),
        ("HCN", ["CN3"]),
        ("CO2", ["CO2", "CO2"]),
        ("CH3COOH", ["CO2"]),
        ("trans-butane", []),
        ("CH3NO2", []),  # of charges nothing is known
        ("CO", []),
        ("NaCl", []),
    ],
)
def test_molecules_are_drawn_as_chemists_know_them(name: str, said: list[str]) -> None:
    assert drawn(name) == said


def test_where_hydrogens_are_left_out_nothing_is_said() -> None:
    from ase.collections import g2

    atoms = g2["C6H6"]
    ring = atoms[atoms.numbers == 6]
    assert orders_by_valence(ring.numbers, near_bonds(ring.numbers, ring.positions)) is None
    assert orders_by_valence(np.array([6, 1]), np.zeros((2, 0), np.int64)) is None


def test_a_net_with_very_many_ways_is_given_up() -> None:
    side = 9  # a ladder of rings: more Kekulé structures than are looked through
    bonds = [(k, k + 1) for row in range(2) for k in range(row * 40, row * 40 + 39)]
    bonds += [(k, k + 40) for k in range(0, 40, 2)]
    numbers = np.full(80 + side, 6)
    numbers[80:] = 1
    ends = [(k, 80 + n) for n, k in enumerate(range(1, 1 + 2 * side, 2))]
    assert orders_by_valence(numbers, np.array(bonds + ends).T) is None


def test_samples_and_files_have_them_and_say_so(tmp_path: Path) -> None:
    kinds = find_sample("benzene-3d").signals["bond_kinds"].values
    assert sorted(kinds.tolist()) == [1] * 6 + [4] * 6
    for ending, head in ((".xyz", "ethene"), (".extxyz", "Properties=species:S:1:pos:R:3")):
        path = tmp_path / f"a{ending}"
        rows = "C 0 0 0.667\nC 0 0 -0.667\nH 0 0.92 1.24\nH 0 -0.92 1.24\nH 0 0.92 -1.24\nH 0 -0.92 -1.24\n"
        path.write_text(f"6\n{head}\n{rows}")
        sample = in_space(read_file(path))
        assert sorted(sample.signals["bond_kinds"].values.tolist()) == [1, 1, 1, 1, 2] and TOLD in sample.notes
    crystal = '6\nLattice="5 0 0 0 5 0 0 0 5" Properties=species:S:1:pos:R:3 pbc="T T T"\n'
    (tmp_path / "b.extxyz").write_text(crystal + rows)
    assert "bond_kinds" not in read_file(tmp_path / "b.extxyz").signals, "bonds into the next cell are not known"


def test_a_plain_xyz_is_drawn_with_its_bonds_by_a_network_on_graphs(tmp_path: Path) -> None:
    path = tmp_path / "benzene.xyz"
    ring = [(np.cos(a), np.sin(a)) for a in np.pi / 3 * np.arange(6)]
    rows = [f"C {1.39 * x:.4f} {1.39 * y:.4f} 0" for x, y in ring] + [
        f"H {2.48 * x:.4f} {2.48 * y:.4f} 0" for x, y in ring
    ]
    path.write_text("12\nbenzene\n" + "\n".join(rows) + "\n")
    sample = read_file(path)
    made = fit_graph(sample, GraphInput(signals=("x", "edge_index")))
    index, kinds = made.signals["edge_index"].values, made.signals["bond"].values
    carbon = (index < 6).all(0)
    assert set(kinds[carbon].tolist()) == {4} and set(kinds[~carbon].tolist()) == {1} and TOLD in made.notes
    nodes = replace(sample, names=tuple(f"n{k}" for k in range(12)))
    assert "bond" not in fit_graph(nodes, GraphInput(signals=("x", "edge_index"))).signals, "nodes are no atoms"
