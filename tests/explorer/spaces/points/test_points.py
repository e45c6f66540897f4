"""Samples, files and fits of points in space."""

from __future__ import annotations

import struct
from pathlib import Path

import ase.io
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from explorer.data.finding import find_sample, fitted, samples
from explorer.data.opening import read_file
from explorer.data.readers import ReadError
from explorer.data.writers import write_file
from explorer.declare.elements import chain_element, parse_chain
from explorer.declare.registry import scan
from explorer.network.input.inputs import inputs_from
from explorer.spaces.points.drawing.thumbnail import points_thumbnail
from explorer.spaces.points.fields import PSEUDO_VECTOR
from explorer.spaces.points.network.fit import fit_points
from explorer.spaces.points.network.form import PointsInput
from explorer.spaces.points.network.inference import PointsInference
from explorer.spaces.points.sample import points_sample
from explorer.spaces.points.vectors import corners_of, vectors_of

POINTS = [name for name, spec in samples().items() if spec.domain == "points"]
CPU = torch.device("cpu")
WATER = (
    "3\nProperties=species:S:1:pos:R:3:initial_charges:R:1\nO 0 0 0.119 -0.8\nH 0 0.763 -0.477 0.4\n"
    "H 0 -0.763 -0.477 0.4\n"
)
PDB = (
    "ATOM      1  N   ALA A   1      11.104   6.134  -6.504  1.00  0.00           N\n"
    "ATOM      2  CA  ALA A   1      11.639   6.071  -5.147  1.00  0.00           C\nEND\n"
)
LEFT = ("left out, since the format has no place for it: bonds",)  # distances tell them again
CIF = (
    "data_salt\n_cell_length_a 5.64\n_cell_length_b 5.64\n_cell_length_c 5.64\n_cell_angle_alpha 90\n"
    "_cell_angle_beta 90\n_cell_angle_gamma 90\n_symmetry_space_group_name_H-M 'P 1'\nloop_\n_atom_site_label\n"
    "_atom_site_type_symbol\n_atom_site_fract_x\n_atom_site_fract_y\n_atom_site_fract_z\nNa1 Na 0 0 0\n"
    "Cl1 Cl 0.5 0.5 0.5\n"
)


FORCES = (
    '2\nLattice="3 0 0 0 3 0 0 0 3" Properties=species:S:1:pos:R:3:forces:R:3 energy=-1.0 pbc="T T T"\n'
    "Na 0 0 0 0.1 0.2 0.3\nCl 1.5 1.5 1.5 -0.1 -0.2 -0.3\n"
)


def packed(size: int, data: bytes, claimed: int | None = None) -> str:
    """Return the compressed part of a PCD, as text in which each character is a byte."""
    return (struct.pack("<II", len(data) if claimed is None else claimed, size) + data).decode("latin-1")


PCD = (
    "# .PCD v0.7\nVERSION 0.7\nFIELDS x y z i\nSIZE 4 4 4 4\nTYPE F F F F\nCOUNT 1 1 1 1\nWIDTH {n}\nHEIGHT 1\n"
    "POINTS {n}\nDATA {kind}\n"
)


def test_vectors_and_the_cell_of_a_structure_are_read_and_written(tmp_path: Path) -> None:
    path, again = tmp_path / "salt.xyz", tmp_path / "again.extxyz"
    path.write_text(FORCES)
    sample = read_file(path)
    assert not any("not read" in note for note in sample.notes)
    assert_allclose(vectors_of(sample)["forces"], [[0.1, 0.2, 0.3], [-0.1, -0.2, -0.3]])
    assert_allclose(corners_of(sample)[-1], [3.0, 3.0, 3.0])  # type: ignore[index]
    assert write_file(sample, again) == LEFT
    other = read_file(again)
    assert set(other.signals) == set(sample.signals)
    for name, signal in sample.signals.items():
        assert_allclose(other.signals[name].values, signal.values, atol=0, err_msg=name)
        assert other.signals[name].field == signal.field
    assert ase.io.read(again).get_forces().tolist() == ase.io.read(path).get_forces().tolist()


def test_a_slab_an_oblique_cell_velocities_and_moments_come_back(tmp_path: Path) -> None:
    path, again = tmp_path / "slab.extxyz", tmp_path / "again.extxyz"
    path.write_text(
        '2\nLattice="3 0 0 -1.5 2.6 0 0.1 0.2 9" Properties=species:S:1:pos:R:3:velo:R:3:magmoms:R:3 pbc="T T F"\n'
        "Fe 0 0 0 0.1 0.2 0.3 0 0 1\nFe 1.5 1.5 1.5 -0.1 -0.2 -0.3 0 1 0\n"
    )
    sample = read_file(path)
    assert list(vectors_of(sample)) == ["velocity", "magmoms"]
    assert sample.signals["magmoms"].field == PSEUDO_VECTOR, "a mirror keeps the sign of a moment"
    assert write_file(sample, again) == LEFT
    other = ase.io.read(again)
    assert other.pbc.tolist() == [True, True, False] and other.cell[1].tolist() == [-1.5, 2.6, 0.0]
    back = read_file(again)
    assert_allclose(back.signals["velocity"].values, sample.signals["velocity"].values)
    # a molecule in a box that does not repeat has no cell to draw, and keeps its box
    path.write_text(FORCES.replace("T T T", "F F F"))
    assert corners_of(read_file(path)) is None and "cell" in read_file(path).signals


def test_a_crystal_keeps_its_cell_when_it_is_written(tmp_path: Path) -> None:
    path, again = tmp_path / "salt.cif", tmp_path / "again.extxyz"
    path.write_text(CIF)
    assert write_file(read_file(path), again) == ()
    assert_allclose(ase.io.read(again).cell.array, 5.64 * np.eye(3), atol=1e-12)


def test_what_is_not_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "water.xyz"
    path.write_text("1\nProperties=species:S:1:pos:R:3:initial_charges:R:1:forces:R:3:q:R:9\nO 0 0 0.1 -0.8 nan 0 0"
                    + " 1" * 9 + "\n")  # fmt: skip
    told = [note for note in read_file(path).notes if "not read" in note]
    assert told == ["not read, since no network here takes it: forces (not finite at atom 1), q"]
    path.write_text("1\nProperties=species:S:1:pos:R:3:initial_charges:R:1\nO 0 0 0.1 -0.8\n")
    assert not any("not read" in note for note in read_file(path).notes)
    assert write_file(read_file(path), tmp_path / "written.extxyz") == ()


def test_rows_of_three_real_numbers_are_points(tmp_path: Path) -> None:
    path = tmp_path / "cloud.npy"
    places = np.random.default_rng(0).normal(size=(500, 3))
    np.save(path, places)
    sample = read_file(path)
    assert sample.domain == "points"
    assert_allclose(sample.signals["position"].values, places)
    places[7, 1] = np.nan
    np.save(path, places)
    assert len(read_file(path).signals["position"].values) == 499 and read_file(path).notes
    np.save(path, np.zeros((500, 3), np.uint8))  # as likely a picture
    assert read_file(path).domain == "grid" and read_file(path, asked={"as": "points-npy"}).domain == "points"


@pytest.mark.parametrize("name", POINTS)
def test_every_sample_keeps_its_word(name: str) -> None:
    sample = find_sample(name)
    places = sample.signals["position"].values
    assert sample.name == name and sample.domain == "points" and sample.source and sample.title
    assert places.dtype == np.float64 and places.shape[1] == 3 and not places.flags.writeable
    assert all(np.isfinite(s.values).all() for s in sample.signals.values())
    picture = points_thumbnail(sample)
    assert picture.shape == (48, 48, 3) and len(np.unique(picture.reshape(-1, 3), axis=0)) > 3


def test_mirror_images_have_the_same_distances_and_are_no_turn_of_each_other() -> None:
    for one, other in (("chiral-left", "chiral-right"), ("twisted-left", "twisted-right")):
        a, b = (np.asarray(find_sample(n).signals["position"].values) for n in (one, other))
        lengths = [np.sort(np.linalg.norm(p[:, None] - p[None], axis=2).ravel()) for p in (a, b)]
        assert_allclose(*lengths, atol=1e-9)
        # two of the same hand would be joined by a turn; of the molecule, atom k is atom k of its image
        u, _, vh = np.linalg.svd((a - a.mean(0)).T @ (b - b.mean(0)))
        assert np.linalg.det(u @ vh) < 0 or one != "chiral-left"


@pytest.mark.parametrize(("ending", "text", "count"), [(".xyz", WATER, 3), (".extxyz", WATER, 3), (".pdb", PDB, 2),
                                                       (".cif", CIF, 2)])  # fmt: skip
def test_structures_are_read(tmp_path: Path, ending: str, text: str, count: int) -> None:
    path = tmp_path / f"a{ending}"
    path.write_text(text)
    sample = read_file(path)
    assert sample.domain == "points" and len(sample.signals["position"].values) == count
    assert len(sample.names) == count and sample.signals["number"].values.min() > 0
    if ending == ".cif":
        assert any("one cell of a crystal" in note for note in sample.notes)
    if text is WATER:
        assert sample.signals["charge"].values[0, 0] == -0.8 and sample.signals["bonds"].values.shape == (2, 2)


def test_a_plain_molecule_stays_a_graph_and_is_taken_in_space(tmp_path: Path) -> None:
    path = tmp_path / "a.xyz"
    path.write_text("3\nwater\nO 0 0 0.119\nH 0 0.763 -0.477\nH 0 -0.763 -0.477\n")
    sample = read_file(path)
    assert sample.domain == "graph"
    taken = fit_points(sample, PointsInput(channels=8, edges="bonds"))
    assert taken.domain == "points" and taken.signals["number"].values.tolist() == [8, 1, 1]
    assert taken.signals["edge_index"].values.shape == (2, 4) and taken.x.values[0, 3] == 1
    assert len(fit_points(find_sample("mesh-sphere-small"), PointsInput(channels=1)).signals["position"].values) == 642


def test_clouds_are_read(tmp_path: Path) -> None:
    points = np.random.default_rng(0).normal(size=(5, 4)).astype("<f4")
    (tmp_path / "a.pcd").write_bytes(PCD.format(n=5, kind="binary").encode() + points.tobytes())
    (tmp_path / "b.pcd").write_text(PCD.format(n=5, kind="ascii") + "\n".join(" ".join(map(str, p)) for p in points))
    np.savez(tmp_path / "c.npz", points=points[:, :3], vel=points[:, 1:])
    for name in ("a.pcd", "b.pcd", "c.npz"):
        sample = read_file(tmp_path / name)
        assert sample.domain == "points"
        assert_allclose(sample.signals["position"].values, points[:, :3], rtol=1e-6)
    assert "velocity" in read_file(tmp_path / "c.npz").signals
    np.savez(tmp_path / "x.npz", pos=points[:, :3], x=points, edge=points)
    told = read_file(tmp_path / "x.npz")
    assert told.domain == "points" and (told.signals["values"].values == points).all(), "x is what the points carry"
    np.savez(tmp_path / "one.npz", position=points[:, :3], features=np.arange(len(points)))
    assert read_file(tmp_path / "one.npz").signals["values"].values.shape == (len(points), 1)
    np.savez(tmp_path / "d.npz", np.repeat(points[:, :3], 2, 0))  # no name, as of an NPY
    assert read_file(tmp_path / "d.npz").signals["position"].values.shape == (10, 3)


def test_a_compressed_cloud_is_spread_out(tmp_path: Path) -> None:
    """The bytes of x, y, z and i stand together; zeros and repeated numbers are copies, of what overlaps too."""
    x = np.array([1.5, -2.0, 0.25], "<f4").tobytes()
    literal = bytes([len(x) - 1]) + x
    same = bytes([(7 << 5), 12 - 9, 11])  # y is a copy of the 12 bytes before
    rest = bytes([0, 0]) + bytes([(7 << 5), 23 - 9, 0])  # one zero, and a run of 23 that copies itself
    data = literal + same + rest
    (tmp_path / "a.pcd").write_bytes(
        PCD.format(n=3, kind="binary_compressed").encode() + struct.pack("<II", len(data), 48) + data
    )
    found = read_file(tmp_path / "a.pcd").signals["position"].values
    assert_allclose(found, [[1.5, 1.5, 0], [-2, -2, 0], [0.25, 0.25, 0]])


MM_ROWS = """ATOM 1 N N . GLY A 1 11.104 6.134 -6.504 1.00 1 1
ATOM 2 C CA A GLY A 1 11.639 6.071 -5.147 0.40 1 1
ATOM 3 C CA B GLY A 1 11.700 6.300 -5.100 0.60 1 1
HETATM 4 ZN ZN . ZN B . 10.000 4.500 -7.500 1.00 101 1
ATOM 5 N N . GLY A 1 99.000 6.134 -6.504 1.00 1 2
"""
MM_COLUMNS = (
    "group_PDB", "id", "type_symbol", "label_atom_id", "label_alt_id", "label_comp_id", "label_asym_id", "label_seq_id",
    "Cartn_x", "Cartn_y", "Cartn_z", "occupancy", "auth_seq_id", "pdbx_PDB_model_num",
)  # fmt: skip


def test_mmcif_is_read_with_one_place_for_each_residue_of_the_first_model(tmp_path: Path) -> None:
    head = "data_1ABC\n_entry.id 1ABC\nloop_\n" + "".join(f"_atom_site.{name}\n" for name in MM_COLUMNS)
    (tmp_path / "a.cif").write_text(head + MM_ROWS + "#\n")
    sample = read_file(tmp_path / "a.cif")
    assert sample.signals["number"].values.tolist() == [7, 6, 30]
    assert_allclose(sample.signals["position"].values[1], [11.7, 6.3, -5.1])
    assert any("1 atoms left out" in note for note in sample.notes)
    assert any("structure 1 of 2" in note for note in sample.notes)
    (tmp_path / "b.cif").write_text(head + MM_ROWS.replace("11.104", "?"))
    with pytest.raises(ReadError, match=r"cartn_x of atom 1 is '\?', and no number"):
        read_file(tmp_path / "b.cif")


def test_of_a_residue_that_is_seen_twice_the_likelier_one_is_drawn(tmp_path: Path) -> None:
    line = "ATOM  {n:5d}  CA {alt}GLY A   1    {x:8.3f}   6.071  -5.147  {share:.2f}  0.00           C\n"
    cell = "CRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1           1\n"
    rows = [
        line.format(n=k, alt=alt, x=k, share=share)
        for k, (alt, share) in enumerate(zip("ABAB ", (0.3, 0.7, 0.3, 0.7, 1)))
    ]
    (tmp_path / "a.pdb").write_text(cell + "".join(rows) + "END\n")
    sample = read_file(tmp_path / "a.pdb")
    assert sample.signals["position"].values[:, 0].tolist() == [1, 3, 4]
    assert any("2 atoms left out" in note for note in sample.notes)
    assert not any("cell" in note for note in sample.notes), "1 × 1 × 1 says that it is no crystal"


def test_what_a_scanner_did_not_see_is_left_out(tmp_path: Path) -> None:
    points = np.array([[0, 0, 0, 1], [np.nan, 0, 0, 1], [1, 1, 1, 1]], "<f4")
    (tmp_path / "a.pcd").write_bytes(PCD.format(n=3, kind="binary").encode() + points.tobytes())
    sample = read_file(tmp_path / "a.pcd")
    assert len(sample.signals["position"].values) == 2 and "1 point without a place is left out" in sample.notes[0]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.xyz", WATER.replace("O 0 0", "Qq 0 0"), "'Qq' is no chemical element"),
        ("a.xyz", WATER.replace("0.119", "nan"), "atom 1 is at no finite place"),
        ("a.extxyz", "", "empty"),
        ("a.pdb", "HEADER  nothing\nEND\n", "no atoms"),
        ("a.cif", "data_x\n", "cannot read a.cif"),
        ("a.pcd", PCD.format(n=9, kind="binary"), "it is truncated: it claims 9 points"),
        ("a.pcd", PCD.format(n=10_000_000, kind="binary"), "10,000,000 points, and the most is 4,194,304; thin it out"),
        ("a.pcd", PCD.format(n=2, kind="binary_packed"), "its data are 'binary_packed'; save"),
        ("a.pcd", PCD.format(n=2, kind="binary_compressed"), "it is truncated: it claims 0 compressed bytes"),
        ("a.pcd", PCD.format(n=1, kind="binary_compressed") + packed(16, b"\x03abcd"), "give 4 bytes instead of 16"),
        ("a.pcd", PCD.format(n=1, kind="binary_compressed") + packed(16, b"\x20\x07"), "refer to what is not there"),
        ("a.pcd", PCD.format(n=2, kind="binary_compressed") + packed(16, b""), "asks for 32 bytes, and 16 are"),
        ("a.pcd", PCD.format(n=1, kind="binary_compressed") + packed(16, b"", 9), "it claims 9 compressed bytes and 0"),
        ("a.pcd", PCD.format(n=2, kind="ascii").replace("x y z", "a b c"), "no x, y and z"),
    ],
)  # fmt: skip
def test_bad_files_are_refused_in_a_sentence(tmp_path: Path, name: str, content: str, said: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ReadError) as told:
        read_file(tmp_path / name)
    assert said in str(told.value) and "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.full((3, 3), np.nan), "point 0 is at no finite place"),
        (np.zeros((3, 2)), r"the shape \(3, 2\)"),
        (np.zeros((0, 3)), "no points"),
    ],
)
def test_bad_arrays_are_refused(tmp_path: Path, array: np.ndarray, said: str) -> None:
    np.savez(tmp_path / "a.npz", points=array)
    with pytest.raises(ReadError, match=said):
        read_file(tmp_path / "a.npz")


def test_a_cloud_just_below_what_is_read_is_refused_by_every_network_before_it_runs() -> None:
    import models

    cloud = points_sample("large", np.random.default_rng(0).normal(size=(1_000_001, 3)))
    for card in scan(models, "CARD").values():
        if card.domain == "points":
            with pytest.raises(ValueError, match=r"has 1,000,001 points, and this network takes at most [0-9,]+; open"):
                fitted(cloud, card.input)


def test_files_that_were_written_are_read_again(tmp_path: Path) -> None:
    sample = find_sample("salt-3d")
    for ending in (".xyz", ".pcd"):
        write_file(sample, tmp_path / f"a{ending}")
        again = read_file(tmp_path / f"a{ending}")
        assert_allclose(again.signals["position"].values, sample.signals["position"].values)
    again = read_file(tmp_path / "a.xyz")
    assert np.array_equal(again.signals["number"].values, sample.signals["number"].values)
    assert np.array_equal(again.signals["charge"].values, sample.signals["charge"].values)


def test_edges_follow_a_rule_and_no_numbering() -> None:
    sample = find_sample("salt-3d")
    for rule, degree in (("near", {3, 4, 5, 6}), ("nearest", None), ("all", {63})):
        form = PointsInput(channels=1, edges=rule, reach=2.9, neighbours=3)
        index = fit_points(sample, form).signals["edge_index"].values
        found = set(np.bincount(index[1]).tolist())
        assert degree is None or found == degree
        assert (index[0] != index[1]).all()
    # ties for the last place are all taken
    assert min(np.bincount(index[1])) >= 3


@pytest.mark.parametrize(
    ("name", "form", "said"),
    [
        ("torus-large", PointsInput(most=None, edges="all"), "9,999,900,000 edges in this network, and the most is"),
        ("torus-3d", PointsInput(most=10), "has 256 points, and this network takes at most 10"),
        ("torus-3d", PointsInput(signals=("x", "velocity")), "has no velocities"),
        ("torus-3d", PointsInput(features="speed"), "has no velocities"),
        ("karate", PointsInput(), "lies on a graph without the places of its points in space"),
        ("points-f", PointsInput(), "is flat: each of its points has two coordinates"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(name: str, form: PointsInput, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        fitted(find_sample(name), form)


def test_points_that_coincide_and_a_point_alone() -> None:
    places = np.array([[0.0, 0, 0], [0, 0, 0], [1, 0, 0]])
    assert points_sample("a", places).notes == ("1 of 3 points lie where another one does",)
    alone = fit_points(points_sample("a", places[:1]), PointsInput(channels=2))
    assert alone.signals["edge_index"].values.shape == (2, 0)
    with pytest.raises(ValueError, match="there are no points"):
        points_sample("a", places[:0])
    with pytest.raises(ValueError, match="the position of point 1 is not finite"):
        points_sample("a", np.array([[0, 0, 0], [np.inf, 0, 0]]))


def test_arguments_move_together_and_chance_is_another_cloud() -> None:
    form = PointsInput(channels=1, signals=("x", "position", "velocity", "edge_index"), features="speed", edges="all")
    inputs = inputs_from(fitted(find_sample("bodies"), form), form, CPU, torch.float64)
    moved = inputs.moved(chain_element(parse_chain("rotation:0,0,90+displacement:1")).on(inputs))
    assert_allclose(moved.get("velocity")[:, 0], -inputs.get("velocity")[:, 1])  # type: ignore[index]
    assert_allclose(moved.get("position")[:, 0], 1 - inputs.get("position")[:, 1])  # type: ignore[index]
    assert torch.equal(moved.x, inputs.x)
    other = PointsInference(inputs).another(inputs, 0)
    assert torch.equal(other.get("edge_index"), inputs.get("edge_index"))  # type: ignore[arg-type]
    for name in ("position", "velocity"):
        away = float((other.get(name) - inputs.get(name)).norm() / inputs.get(name).norm())  # type: ignore[operator,union-attr]
        assert 0.05 < away < 5
    shuffled = inputs.moved(chain_element(parse_chain("permute:3")).on(inputs))
    assert not torch.equal(shuffled.get("position"), inputs.get("position"))  # type: ignore[arg-type]


# files in another unit, or without a cell -----------------------------------------------------------------------------
WATER = np.array([[0.0, 0.0, 0.119], [0.0, 0.763, -0.477], [0.0, -0.763, -0.477]])


@pytest.mark.parametrize(("factor", "word"), [(1.0, ""), (0.1, "nm"), (1 / 0.529177, "bohr")])
@pytest.mark.parametrize("form", ["xyz", "extxyz"])
def test_places_in_another_unit_are_told(tmp_path: Path, factor: float, word: str, form: str) -> None:

    rows = "".join(f"{s} {x:.6f} {y:.6f} {z:.6f}\n" for s, (x, y, z) in zip("OHH", factor * WATER, strict=True))
    path = tmp_path / f"water.{form}"
    path.write_text(f"3\n{'Properties=species:S:1:pos:R:3' if form == 'extxyz' else 'water'}\n{rows}")
    notes = " ".join(fitted(read_file(path), PointsInput(signals=("position",))).notes)
    assert (word in notes) if word else not {"nm", "bohr"} & set(notes.replace(",", " ").split())


def test_a_crystal_without_a_cell_is_told_or_refused(tmp_path: Path) -> None:

    path = tmp_path / "salt.extxyz"
    path.write_text('2\nProperties=species:S:1:pos:R:3 pbc="T T T"\nNa 0 0 0\nCl 2.8 0 0\n')
    assert any("has no cell" in note for note in read_file(path).notes)
    path = tmp_path / "salt.cif"
    path.write_text(
        "data_x\nloop_\n_atom_site_label\n_atom_site_fract_x\n_atom_site_fract_y\n_atom_site_fract_z\nNa 0 0 0\n"
    )
    with pytest.raises(ReadError, match="shares of a cell"):
        read_file(path)


@pytest.mark.parametrize("form", ["ascii", "binary_little_endian", "binary_big_endian"])
def test_a_ply_file_without_faces_is_a_cloud(tmp_path: Path, form: str) -> None:
    places = np.array([[0.0, 0.5, 1.0], [np.nan, 0.0, 0.0], [2.0, -1.0, 0.25]], np.float32)
    colours = np.array([[255, 0, 0], [0, 0, 0], [0, 10, 20]], np.uint8)
    kinds = "".join(f"property float {axis}\n" for axis in "xyz")
    kinds += "".join(f"property uchar {name}\n" for name in ("red", "green", "blue"))
    header = (
        f"ply\nformat {form} 1.0\nelement vertex 3\n{kinds}element face 0\nproperty list uchar int vertex_indices\n"
    )
    path = tmp_path / "scan.ply"
    if form == "ascii":
        rows = "".join(f"{x} {y} {z} {r} {g} {b}\n" for (x, y, z), (r, g, b) in zip(places, colours, strict=True))
        path.write_text(f"{header}end_header\n{rows}")
    else:
        order = "<" if "little" in form else ">"
        table = np.zeros(3, [("place", f"{order}f4", 3), ("colour", "u1", 3)])
        table["place"], table["colour"] = places, colours
        path.write_bytes(f"{header}end_header\n".encode() + table.tobytes())
    sample = read_file(path)
    assert sample.domain == "points" and any("1 point without a place is left out" in note for note in sample.notes)
    assert_allclose(sample.signals["position"].values, places[[0, 2]])
    assert_allclose(sample.signals["values"].values, colours[[0, 2]])
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ReadError, match=r"truncated|damaged"):
        read_file(path)


@pytest.mark.parametrize("form", ["ascii", "binary_little_endian", "binary_big_endian"])
@pytest.mark.parametrize("corners", [1, 3])
def test_a_ply_file_with_a_face_at_every_point_is_a_cloud(tmp_path: Path, form: str, corners: int) -> None:
    """As meshio writes clouds; faces of three corners are a mesh."""
    places = np.array([[0.0, 0.5, 1.0], [1.0, 0.0, 0.0], [2.0, -1.0, 0.25]])
    kinds = "".join(f"property double {axis}\n" for axis in "xyz")
    header = f"ply\nformat {form} 1.0\nelement vertex 3\n{kinds}element face 3\n"
    header += "property list uint8 int32 vertex_indices\nend_header\n"
    faces = [[(k + c) % 3 for c in range(corners)] for k in range(3)]
    path = tmp_path / "cloud.ply"
    if form == "ascii":
        rows = [" ".join(map(str, place)) for place in places.tolist()]
        path.write_text(header + "\n".join([*rows, *(" ".join(map(str, [corners, *f])) for f in faces)]) + "\n")
    else:
        order = "<" if "little" in form else ">"
        table = np.zeros(3, [("size", "u1"), ("corners", f"{order}i4", (corners,))])
        table["size"], table["corners"] = corners, faces
        path.write_bytes(header.encode() + places.astype(f"{order}f8").tobytes() + table.tobytes())
    sample = read_file(path)
    assert sample.domain == ("points" if corners == 1 else "mesh")
    if corners == 1:
        assert_allclose(sample.signals["position"].values, places)
