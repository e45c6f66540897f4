"""Numbers of views as tables: a row for each layer, the size beforehand, digits as they are."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from widgets.figures.numbers import expected_bytes, write_numbers


def rows_of(path: Path) -> list[list[str]]:
    return list(csv.reader(path.read_text("utf-8").splitlines()))


def test_arrays_of_as_many_rows_stand_side_by_side(tmp_path: Path) -> None:
    numbers = {
        "layers": np.array(["conv1", "conv2"]), "error": np.array([0.5, 2.0]),
        "channels": np.array([[1, 2, 3], [4, 5, 6]], np.float32), "x": np.zeros((1, 3, 2), np.float32),
    }  # fmt: skip
    write_numbers(numbers, tmp_path / "a.csv")
    rows = rows_of(tmp_path / "a.csv")
    assert rows[0] == ["row", "layers", "error", "channels[0]", "channels[1]", "channels[2]"]
    assert rows[1] == ["0", "conv1", "0.5", "1", "2", "3"] and rows[2] == ["1", "conv2", "2.0", "4", "5", "6"]
    assert rows[4] == ["row", "x[0]", "x[1]"] and len(rows) == 8, "an axis of one entry makes no row"


def test_a_number_has_the_digits_that_it_has(tmp_path: Path) -> None:
    write_numbers({"a": np.array([0.1, 1 / 3], np.float32)}, tmp_path / "a.csv")
    read = [np.float32(row[1]) for row in rows_of(tmp_path / "a.csv")[1:]]
    assert read == [np.float32(0.1), np.float32(1 / 3)] and (tmp_path / "a.csv").read_text().count("0.1") == 1


def test_the_size_is_told_about_right(tmp_path: Path) -> None:
    numbers = {"maps": np.random.default_rng(0).standard_normal((64, 56, 56)).astype(np.float32)}
    for kind in (".csv", ".npz"):
        write_numbers(numbers, tmp_path / f"a{kind}")
        assert 0.7 < (tmp_path / f"a{kind}").stat().st_size / expected_bytes(numbers, kind) < 1.4


def test_nothing_along_an_axis_is_no_crash(tmp_path: Path) -> None:
    write_numbers({"none": np.zeros((0, 3)), "one": np.array(2.5)}, tmp_path / "a.csv")
    assert ["0", "2.5"] in rows_of(tmp_path / "a.csv")
