"""Data that was read for another space, given to networks on graphs and sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from explorer.data.finding import find_sample, fitted
from explorer.data.opening import read_file
from explorer.declare.card import Form
from explorer.spaces.graph.network.form import GraphInput
from explorer.spaces.points.network.form import PointsInput

PLACES = GraphInput(channels=3, signals=("x", "batch"), features="position")  # as those of Deep Sets and PointNet
BONDED = GraphInput(channels=8, signals=("x", "edge_index", "batch"), features="atoms")
CLOUD = np.random.default_rng(0).normal(size=(40, 3)).astype("f4")


@pytest.mark.parametrize("ending", ["npz", "npy"])
def test_a_network_on_sets_of_points_takes_a_cloud_of_arrays(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"cloud.{ending}"
    np.savez(path, points=CLOUD) if ending == "npz" else np.save(path, CLOUD)
    taken = fitted(read_file(path), PLACES)
    assert taken.domain == "set"
    assert_allclose(taken.signals["x"].values, CLOUD, rtol=1e-6)
    assert any("taken as a set" in note for note in taken.notes)
    # the vertices of a mesh are points as well
    assert len(fitted(find_sample("mesh-sphere-small"), PLACES).x.values) == 642


def test_atoms_with_bonds_are_a_graph_and_a_cloud_is_none() -> None:
    water = fitted(find_sample("water-3d"), BONDED)
    assert water.domain == "graph" and water.signals["edge_index"].values.shape == (2, 4)
    assert water.names == find_sample("water-3d").names and water.x.values[:, 3].tolist() == [1, 0, 0]
    with pytest.raises(ValueError, match="lies on a cloud of points, and this network takes a graph or a set"):
        fitted(find_sample("torus-3d"), GraphInput(channels=6))


@pytest.mark.parametrize("form", [PLACES, PointsInput()], ids=["set", "points"])
@pytest.mark.parametrize("ending", ["npz", "npy"])
def test_rows_that_are_read_as_a_picture_say_how_they_are_points(form: Form, ending: str, tmp_path: Path) -> None:
    path, rows = tmp_path / f"rows.{ending}", np.tile(CLOUD, 2)
    np.savez(path, features=rows) if ending == "npz" else np.save(path, rows)
    with pytest.raises(ValueError, match=r"an NPZ with 'points' \(n, 3\) is read as a cloud of points"):
        fitted(read_file(path), form)
    with pytest.raises(ValueError, match=r"this network (needs|takes) them(?!.*NPZ)"):
        fitted(find_sample("digit-3"), form)
