"""Of a file that holds several things one is taken, and points far from the origin are judged fairly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from equiscope import check_equivariance
from explorer.data.finding import find_sample
from explorer.data.formats.checks import ReadError
from explorer.declare.inputs import Inputs
from explorer.spaces.graph.fields import EDGE_INDEX
from explorer.spaces.points.fields import POSITION, edge
from explorer.spaces.points.network.fit import fit_points
from explorer.spaces.points.network.form import PointsInput
from explorer.spaces.points.sample import points_sample

WATER = """water
  hand{code}

  3  2  0  0  0  0  0  0  0  0999 V2000
    0.0000    0.0000    0.0000 O   0  0
    0.9600    0.0000    0.0000 H   0  0
   -0.2400    0.9300    {z} H   0  0
  1  2  1  0
  1  3  1  0
M  END
$$$$
"""
CARBON_MONOXIDE = """second
  hand

  2  1  0  0  0  0  0  0  0  0999 V2000
    0.2000    0.2000    0.0000 C   0  0
    1.1300    0.0000    0.5000 O   0  0
  1  2  3  0
M  END
$$$$
"""
ALL = PointsInput(signals=("x", "position", "edge_index"), features="elements", edges="all")


def written(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_molecules_of_one_file_do_not_hear_each_other(tmp_path: Path) -> None:
    path = written(tmp_path, "two.sdf", WATER.format(code="", z="0.2000") + CARBON_MONOXIDE)
    first = fit_points(find_sample(path), ALL)
    assert first.names == ("O1", "H1", "H2") and first.signals["edge_index"].values.shape == (2, 6)
    assert "the first of 2" in first.notes[0] and "two.sdf#2" in first.notes[0]
    second = fit_points(find_sample(f"{path}#2"), ALL)
    assert [name[0] for name in second.names] == ["C", "O"] and second.signals["edge_index"].values.max() == 1
    with pytest.raises(ReadError, match="holds 2 graphs, #1 to #2"):
        find_sample(f"{path}#3")


def test_a_flat_molecule_lies_in_space_where_its_file_says_so(tmp_path: Path) -> None:
    flat = WATER.format(code="", z="0.0000")
    assert find_sample(written(tmp_path, "drawn.sdf", flat)).signals["position"].values.shape == (3, 2)
    said = WATER.format(code=" " * 14 + "3D", z="0.0000")
    assert find_sample(written(tmp_path, "said.sdf", said)).signals["position"].values.shape == (3, 3)


PDB_ATOM = "ATOM      1  CA  GLY A   1    {x:8.3f}   0.000   0.000  1.00  0.00           C\n"
ROW = "ATOM {number} C CA {x} 0.0 0.0 {model}\n"
TABLE = "".join(f"_atom_site.{name}\n" for name in ("group_PDB", "id", "type_symbol", "label_atom_id", "Cartn_x",
                                                  "Cartn_y", "Cartn_z", "pdbx_PDB_model_num"))  # fmt: skip
BLOCK = (
    "data_{name}\n_cell_length_a 4\n_cell_length_b 4\n_cell_length_c 4\n_cell_angle_alpha 90\n_cell_angle_beta 90\n"
    "_cell_angle_gamma 90\nloop_\n_atom_site_label\n_atom_site_type_symbol\n_atom_site_fract_x\n_atom_site_fract_y\n"
    "_atom_site_fract_z\nC1 C {x} 0 0\n"
)
SEVERAL = {  # of each format, the text of structures whose first atom lies at x = 0, 1 and 2 Å
    "run.extxyz": "".join(f"1\nProperties=species:S:1:pos:R:3\nO {x} 0 0\n" for x in range(3)),
    "cells.extxyz": "".join(
        f"1\nProperties=species:S:1:pos:R:3\nO {x} 0 0\nVEC1 5 0 0\nVEC2 0 5 0\nVEC3 0 0 5\n" for x in range(3)
    ),
    "run.xyz": "".join(f"2\na remark\nO {x} 0 0\nH {x} 1 0\n" for x in range(3)) + "\n",
    "models.pdb": "CRYST1   30.000   30.000   30.000  90.00  90.00  90.00 P 1\n"
    + "".join(f"MODEL {x + 1:8d}\n{PDB_ATOM.format(x=x)}ENDMDL\n" for x in range(3)) + "END\n",
    "steps.pdb": "".join(f"{PDB_ATOM.format(x=x)}END\n" for x in range(3)),
    "models.cif": f"data_a\nloop_\n{TABLE}" + "".join(ROW.format(number=x + 1, x=x, model=x + 1) for x in range(3)),
    "blocks.cif": "data_text\n_audit_author_name 'A'\n" + "".join(BLOCK.format(name=x, x=x / 4) for x in range(3)),
}  # fmt: skip


@pytest.mark.parametrize("name", SEVERAL)
def test_each_of_several_structures_can_be_chosen_and_the_next_is_named(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, name, SEVERAL[name])
    for k in range(3):
        sample = find_sample(f"{path}#{k + 1}" if k else path)
        assert float(sample.signals["position"].values[0, 0]) == k
        assert sample.parts == 3
        told = next(note for note in sample.notes if f" {k + 1} of 3" in note)
        assert (f"; {name}#{k + 2} is the next" in told) == (k < 2)
    for wrong in ("4", "0", "x"):
        with pytest.raises(ReadError, match=rf"has no (frame|model|structure) '{wrong}'.*choose one from 1 to 3"):
            find_sample(f"{path}#{wrong}")


def test_the_cell_before_the_models_of_a_file_holds_for_all(tmp_path: Path) -> None:
    path = written(tmp_path, "models.pdb", SEVERAL["models.pdb"])
    assert "cell" in find_sample(f"{path}#3").signals


def test_a_file_of_one_structure_says_nothing_of_others(tmp_path: Path) -> None:
    path = written(tmp_path, "g.extxyz", "1\nProperties=species:S:1:pos:R:3\nO 0 0 0\n\n")
    sample = find_sample(path)
    assert sample.parts == 1 and not any("of 1" in note for note in sample.notes)
    with pytest.raises(ReadError, match="leave out what follows #"):
        find_sample(f"{path}#2")


def test_lines_after_the_last_frame_that_begin_none_are_told(tmp_path: Path) -> None:
    path = written(tmp_path, "t.xyz", "1\n\nO 0 0 0\nthe end\n")
    assert any("line 4 begins no frame" in note for note in find_sample(path).notes)


def test_errors_in_a_later_frame_name_the_line_of_the_file(tmp_path: Path) -> None:
    frame = "1\nProperties=species:S:1:pos:R:3\nO 0 0 {}\n"
    path = written(tmp_path, "t.extxyz", frame.format(0) + frame.format("far"))
    find_sample(path)
    with pytest.raises(ReadError, match="line 6: column 4 is no number"):
        find_sample(f"{path}#2")


def test_frames_of_an_npz_are_chosen_with_what_belongs_to_them(tmp_path: Path) -> None:
    places = np.arange(18.0).reshape(2, 3, 3)
    np.savez(tmp_path / "run.npz", position=places, velocity=-places)
    sample = find_sample(str(tmp_path / "run.npz#2"))
    assert np.array_equal(sample.signals["position"].values, places[1])
    assert np.array_equal(sample.signals["velocity"].values, -places[1])
    assert sample.parts == 2


def test_a_batch_of_molecules_tells_how_many_there_are(tmp_path: Path) -> None:
    one = WATER.format(code="", z="0.5000")
    assert find_sample(written(tmp_path, "two.sdf", 2 * one)).parts == 2


def test_of_disordered_sites_those_seen_most_often_are_drawn(tmp_path: Path) -> None:
    head = "data_x\n_cell_length_a 5\n_cell_length_b 6\n_cell_length_c 7\n_cell_angle_alpha 90\n_cell_angle_beta 90\n"
    table = "_cell_angle_gamma 90\n_space_group_name_H-M_alt 'P 1'\nloop_\n_atom_site_label\n_atom_site_type_symbol\n"
    columns = "".join(
        f"_atom_site_{word}\n" for word in ("fract_x", "fract_y", "fract_z", "occupancy", "disorder_group")
    )
    sites = "C1 C .1 .2 .3 1 .\nOA O .3 .2 .3 .4 1\nOB O .35 .25 .3 .6 2\n"
    found = find_sample(written(tmp_path, "d.cif", head + table + columns + sites))
    assert len(found.signals["position"].values) == 2
    assert np.allclose(found.signals["position"].values[1], (1.75, 1.5, 2.1))
    assert any("1 of 3 sites left out" in note for note in found.notes)


# far away -------------------------------------------------------------------------------------------------------
SURVEYED = np.array([4.5e6, 5e5, 100.0])


def test_a_survey_is_taken_about_its_middle_and_a_crystal_stays() -> None:
    cloud = np.random.default_rng(0).normal(size=(40, 3))
    far = fit_points(points_sample("far", cloud + SURVEYED), PointsInput(signals=("position",)))
    places = far.signals["position"].values
    assert np.abs(places).max() < 10 and "is taken for the origin" in far.notes[0]
    assert np.allclose(places - places[0], cloud - cloud[0], atol=1e-8)
    near = fit_points(points_sample("near", cloud + 50), PointsInput(signals=("position",)))
    assert np.array_equal(near.signals["position"].values, cloud + 50) and not near.notes


class Ways(nn.Module):
    """The way along each edge: as good as the places are."""

    out_field = edge("1x1o")

    def forward(self, position: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return position[index[0]] - position[index[1]]


class Bent(Ways):
    """The same with a fault far above what is lost."""

    def forward(self, position: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return super().forward(position, index) * torch.tensor([1.0, 1.0, 1.0 + 1e-6], dtype=position.dtype)


def far_away() -> Inputs:
    cloud = torch.tensor(np.random.default_rng(1).normal(size=(8, 3)) + SURVEYED)
    pairs = torch.combinations(torch.arange(8)).T.contiguous()
    return Inputs((cloud, pairs), (POSITION, replace(EDGE_INDEX)), ("position", "edge_index"))


def test_what_the_last_digit_of_far_places_moves_is_no_fault() -> None:
    assert check_equivariance(Ways(), far_away(), "E3").verdict == "holds"
    assert check_equivariance(Bent(), far_away(), "E3").verdict == "broken"


def test_arrays_that_are_nothing_known_are_named_with_their_shapes_and_all_that_would_be_read(tmp_path: Path) -> None:
    """The person was told to save an image, whatever the arrays were meant for."""
    np.savez(tmp_path / "a.npz", many=np.zeros((2, 3, 4, 5, 6)), one=np.arange(7))
    with pytest.raises(ReadError) as told:
        find_sample(str(tmp_path / "a.npz"))
    sentence = str(told.value)
    assert "it holds many, float64 of shape (2, 3, 4, 5, 6); one, int64 of shape (7); save" in sentence
    assert all(
        what in sentence for what in ("'points' (n, 3)", "a volume (z, y, x)", "an image (H, W)", "steps 'series'")
    )


def test_rows_of_three_numbers_with_one_of_something_for_each_can_be_read_as_points(tmp_path: Path) -> None:
    """Places under a name of one's own, beside labels, could be opened as an image alone."""
    places = np.random.default_rng(0).random((30, 3))
    np.savez(tmp_path / "b.npz", coords=places, labels=np.arange(30))
    assert np.allclose(find_sample(f"{tmp_path}/b.npz?as=points-npz").signals["position"].values, places)
    assert find_sample(f"{tmp_path}/b.npz").domain == "grid", "which is not known from the file"
    np.savez(tmp_path / "c.npz", coords=places, labels=np.arange(12))
    with pytest.raises(ReadError, match="cannot be read as"):
        find_sample(f"{tmp_path}/c.npz?as=points-npz")
