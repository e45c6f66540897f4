"""Colours, normals and intensities of a cloud are used where a network asks for them, and otherwise told."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from explorer.data.finding import find_sample
from explorer.spaces.points.fields import VECTOR
from explorer.spaces.points.network.fit import fit_points
from explorer.spaces.points.network.form import PointsInput

PLACES = np.array([[0.0, 0.5, 1.0], [np.nan, 0.0, 0.0], [2.0, -1.0, 0.25]], np.float32)
NORMALS = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], np.float32)
COLOURS = np.array([[255, 0, 7], [0, 0, 0], [0, 10, 20]], np.uint32)
BRIGHT = np.array([0.5, 0.0, 2.0], np.float32)
KEPT = [0, 2]


def scan(path: Path, form: str) -> str:
    """Write three points with normals, colours in one number, intensities and a descriptor of two numbers."""
    packed = (COLOURS[:, 0] << 16) | (COLOURS[:, 1] << 8) | COLOURS[:, 2]
    header = (
        "# .PCD v0.7\nVERSION 0.7\nFIELDS x y z normal_x normal_y normal_z rgb intensity shape\n"
        "SIZE 4 4 4 4 4 4 4 4 4\nTYPE F F F F F F U F F\nCOUNT 1 1 1 1 1 1 1 1 2\nWIDTH 3\nHEIGHT 1\nPOINTS 3\n"
        f"DATA {form}\n"
    )
    if form == "ascii":
        rows = [" ".join(map(str, [*PLACES[k], *NORMALS[k], int(packed[k]), BRIGHT[k], 1.0, 2.0])) for k in range(3)]
        path.write_text(header + "\n".join(rows) + "\n")
        return str(path)
    kinds = [("place", "<f4", 3), ("normal", "<f4", 3), ("rgb", "<u4"), ("bright", "<f4"), ("shape", "<f4", 2)]
    table = np.zeros(3, kinds)
    table["place"], table["normal"], table["rgb"], table["bright"] = PLACES, NORMALS, packed, BRIGHT
    if form == "binary":
        path.write_bytes(header.encode() + table.tobytes())
        return str(path)
    columns = [PLACES.T, NORMALS.T, packed.astype("<u4"), BRIGHT, np.zeros((3, 2), np.float32)]
    raw = b"".join(np.ascontiguousarray(column).tobytes() for column in columns)
    runs = b"".join(bytes([len(part) - 1]) + part for part in (raw[k : k + 32] for k in range(0, len(raw), 32)))
    path.write_bytes(header.encode() + struct.pack("<II", len(runs), len(raw)) + runs)
    return str(path)


@pytest.mark.parametrize("form", ["ascii", "binary", "binary_compressed"])
def test_what_a_pcd_tells_of_its_points_becomes_values_and_arrows(form: str, tmp_path: Path) -> None:
    sample = find_sample(scan(tmp_path / "a.pcd", form))
    assert_allclose(sample.signals["position"].values, PLACES[KEPT])
    assert_allclose(sample.signals["values"].values, np.column_stack([COLOURS, BRIGHT])[KEPT])
    assert_allclose(sample.signals["normal"].values, NORMALS[KEPT])
    assert sample.signals["normal"].field == VECTOR
    assert "values at each point: red, green, blue, intensity" in sample.notes
    assert "not read: shape" in sample.notes


def test_a_colour_that_is_packed_into_a_float_is_read_as_bytes(tmp_path: Path) -> None:
    colour = struct.unpack("<f", struct.pack("<I", 0x00102030))[0]
    header = "VERSION 0.7\nFIELDS x y z rgb\nSIZE 4 4 4 4\nTYPE F F F F\nCOUNT 1 1 1 1\nPOINTS 1\nDATA binary\n"
    (tmp_path / "a.pcd").write_bytes(header.encode() + struct.pack("<4f", 0, 0, 0, colour))
    assert_allclose(find_sample(str(tmp_path / "a.pcd")).signals["values"].values, [[16, 32, 48]])


def test_normals_and_intensities_of_a_ply_are_read_beside_its_colours(tmp_path: Path) -> None:
    names = ("x", "y", "z", "nx", "ny", "nz", "intensity", "red", "green", "blue")
    kinds = "".join(f"property float {name}\n" for name in names)
    rows = "0 0 0 0 0 1 .5 1 2 3\n1 0 0 0 1 0 .25 4 5 6\n"
    path = tmp_path / "scan.ply"
    path.write_text(f"ply\nformat ascii 1.0\nelement vertex 2\n{kinds}end_header\n{rows}")
    sample = find_sample(str(path))
    assert_allclose(sample.signals["values"].values, [[1, 2, 3, 0.5], [4, 5, 6, 0.25]])
    assert_allclose(sample.signals["normal"].values, [[0, 0, 1], [0, 1, 0]])


def test_values_are_features_where_a_network_asks_for_them_and_are_told_where_it_does_not(tmp_path: Path) -> None:
    sample = find_sample(scan(tmp_path / "a.pcd", "binary"))
    heard = fit_points(sample, PointsInput(channels=4, signals=("x", "position"), features="values"))
    assert_allclose(heard.signals["x"].values, np.column_stack([COLOURS, BRIGHT])[KEPT])
    assert not any("ignored" in note for note in heard.notes)
    deaf = fit_points(sample, PointsInput(signals=("position",)))
    assert any("4 values at each point ignored" in note for note in deaf.notes)
    assert any(note.startswith("normal at each point: drawn as arrows") for note in deaf.notes)
