"""Functions on the sphere are written as panoramas, and are the same functions when they are opened again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from explorer.data.finding import find_sample
from explorer.data.opening import read_file
from explorer.data.writers import write_file
from explorer.declare.registry import scan
from explorer.spaces.sphere.network.fit import fit_sphere
from explorer.spaces.sphere.network.form import SphereInput
from explorer.spaces.sphere.sample import sphere_sample


@pytest.mark.parametrize("ending", [".npy", ".npz"])
@pytest.mark.parametrize("channels", [1, 3])
def test_a_function_comes_back_as_it_was(tmp_path: Path, ending: str, channels: int) -> None:
    values = np.random.default_rng(0).normal(size=(channels, 49)).astype(np.float32)
    path = tmp_path / f"some{ending}"
    assert "panorama" in write_file(sphere_sample(values, "some"), path)[0]
    back = fit_sphere(read_file(path), SphereInput(channels=channels, degree=6))
    np.testing.assert_allclose(back.x.values, values, atol=2e-6)
    assert [p.name for p in tmp_path.iterdir()] == [path.name], "nothing is left beside it"


def test_every_kind_of_data_is_written_somehow() -> None:
    import explorer.spaces
    from explorer.data.finding import samples
    from explorer.data.writers import writable

    assert scan(explorer.spaces, "WRITER", "writers")
    unwritten = {s.domain for s in samples().values() if not writable(s.domain)}
    assert not unwritten, f"nothing writes {unwritten}"


def test_the_poles_are_above_and_below(tmp_path: Path) -> None:
    write_file(find_sample("globe"), tmp_path / "globe.npy")
    there = np.load(tmp_path / "globe.npy")
    assert there.shape == (64, 128)
    assert np.ptp(there[0]) < 0.2 * np.ptp(there) > np.ptp(there[-1]), "all of a row at a pole is one place"
