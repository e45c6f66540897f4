"""Volumes are written as NIfTI and NPY, read back as they were, and layers are written at their own voxels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import models
from explorer.app.answering.engine import LocalEngine
from explorer.data.finding import find_sample
from explorer.data.opening import read_file
from explorer.data.writers import writable, write_file
from explorer.declare.registry import scan
from explorer.spaces.volume.sample import volume_sample
from explorer.state.state import State


@pytest.mark.parametrize("ending", [".nii", ".nii.gz", ".npy"])
@pytest.mark.parametrize("shape", [(1, 9, 10, 11), (3, 8, 9, 10)])
def test_a_volume_comes_back_as_it_was(tmp_path: Path, ending: str, shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    path = tmp_path / f"some{ending}"
    write_file(volume_sample(values, "some"), path)
    if ending == ".npy":
        assert np.array_equal(np.load(path), values[0] if len(values) == 1 else values)
    else:
        import nibabel

        there = np.asarray(nibabel.load(path).dataobj)
        assert there.shape[:3] == shape[:0:-1]
        # x to the right, y to the front where rows are counted downwards
        channel = there if there.ndim == 3 else there[..., 0]
        assert channel[2, 0, 1] == values[0, 1, -1, 2]
    if len(values) == 1:
        assert np.array_equal(read_file(path).x.values, values)
    assert [p.name for p in tmp_path.iterdir()] == [path.name], "nothing is left beside it"


def test_voxels_are_written_as_long_as_they_are(tmp_path: Path) -> None:
    sample = volume_sample(np.random.default_rng(0).normal(size=(1, 8, 9, 10)).astype(np.float32), "some")
    assert write_file(replace(sample, voxel=(2.0, 2.0, 2.0)), tmp_path / "some.nii") == ()
    assert read_file(tmp_path / "some.nii").voxel == (2.0, 2.0, 2.0)
    assert "1 mm" in write_file(sample, tmp_path / "other.nii")[0]


def test_formats_are_offered_and_others_refused(tmp_path: Path) -> None:
    assert {".nii", ".gz", ".npy"} <= set(writable("volume"))
    with pytest.raises(ValueError, match="choose one of"):
        write_file(find_sample("ball-3d"), tmp_path / "ball.png")


def test_a_layer_is_written_at_its_own_voxels(tmp_path: Path) -> None:
    engine = LocalEngine(scan(models, "CARD"))
    state = State(model="oh-vectors", sample="ball-3d", layer="vectors", device="cpu")
    engine.export_captures(state, str(tmp_path / "layer.npy"))
    written = np.load(tmp_path / "layer.npy")
    p = engine.prepared(state, state.model)
    np.testing.assert_array_equal(written, p.values["vectors"][0].numpy())
    engine.export_captures(state, str(tmp_path / "layer.nii"))
    assert (tmp_path / "layer.nii").stat().st_size > written.nbytes
    with pytest.raises(ValueError, match=r"no values at voxels|whole volume"):
        engine.export_captures(State(model="oh-cnn", sample="ball-3d", layer="head", device="cpu"),
                               str(tmp_path / "none.nii"))  # fmt: skip
    assert not (tmp_path / "none.nii").exists()
