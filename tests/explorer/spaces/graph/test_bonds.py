"""Of what kind bonds are: as files tell it, and as they reach what is drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from explorer.data.finding import find_sample
from explorer.spaces.graph.chemistry.bonds import bond_kinds
from explorer.spaces.graph.network.features import fit_graph
from explorer.spaces.graph.network.form import GraphInput
from explorer.spaces.graph.readers.molecules.molfile import READER
from explorer.spaces.graph.sample import graph_sample
from explorer.spaces.points.network.fit import in_space

BUTENYNE = """but-1-en-3-yne


  4  3  0  0  0  0  0  0  0  0999 V2000
    0.0000    0.0000    0.1000 C   0  0
    1.3000    0.0000    0.0000 C   0  0
    2.0000    1.2000    0.0000 C   0  0
    2.7000    2.4000    0.0000 C   0  0
  1  2  2  0
  2  3  1  0
  3  4  3  0
M  END
"""


@pytest.fixture
def molecule(tmp_path: Path) -> Path:
    path = tmp_path / "butenyne.mol"
    path.write_text(BUTENYNE)
    return path


def test_kinds_are_those_of_the_file_in_both_directions(molecule: Path) -> None:
    sample = READER.read(molecule)
    kinds = bond_kinds(sample)
    assert kinds is not None
    found = {(int(a), int(b)): int(k) for (a, b), k in zip(sample.signals["edge_index"].values.T, kinds, strict=True)}
    assert found == {(0, 1): 2, (1, 0): 2, (1, 2): 1, (2, 1): 1, (2, 3): 3, (3, 2): 3}


def test_kinds_reach_the_picture_whatever_the_network_takes_of_the_attributes(molecule: Path) -> None:
    narrow = GraphInput(6, ("x", "edge_index", "edge_attr"), edge_channels=1)
    fitted = fit_graph(READER.read(molecule), narrow)
    assert fitted.signals["edge_attr"].values.shape == (6, 1)
    assert sorted(fitted.signals["bond"].values.tolist()) == [1, 1, 2, 2, 3, 3]


def test_a_molecule_in_space_keeps_its_kinds_once_each(molecule: Path) -> None:
    solid = in_space(READER.read(molecule))
    bonds = solid.signals["bonds"].values.T.tolist()
    assert dict(zip(map(tuple, bonds), solid.signals["bond_kinds"].values.tolist(), strict=True)) == {
        (0, 1): 2, (1, 2): 1, (2, 3): 3,
    }  # fmt: skip


def test_aromatic_bonds_of_smiles() -> None:
    pytest.importorskip("rdkit")
    kinds = bond_kinds(find_sample("smiles:N#Cc1ccccc1"))
    assert kinds is not None and np.bincount(kinds, minlength=5).tolist() == [0, 2, 0, 2, 12]


@pytest.mark.parametrize("names", [(), ("a", "b")])
def test_edges_between_what_are_no_atoms_are_no_bonds(names: tuple[str, ...]) -> None:
    edges, one = np.array([[0, 1], [1, 0]]), np.eye(4, dtype=np.float32)[:1].repeat(2, 0)
    assert bond_kinds(graph_sample("g", np.ones((2, 1)), edges, edge_attr=one, names=names)) is None
    assert bond_kinds(graph_sample("g", np.ones((2, 1)), edges, edge_attr=one, names=("C1", "C2"))) is not None


@pytest.mark.parametrize("told", [[[0.5, 0, 0, 0]] * 2, [[1, 1, 0, 0]] * 2, [[1, 0, 0]] * 2])
def test_attributes_that_tell_no_kind_are_none(told: list[list[float]]) -> None:
    sample = graph_sample(
        "g", np.ones((2, 1)), np.array([[0, 1], [1, 0]]), edge_attr=np.array(told), names=("C1", "C2")
    )
    assert bond_kinds(sample) is None
