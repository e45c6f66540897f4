"""The volumes that come with the program, what networks are fitted with, and what a frame holds of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from explorer.data.finding import find_sample, samples
from explorer.spaces.volume.cube import cube_group
from explorer.spaces.volume.elements.cube_map import CubeMap, linear
from explorer.spaces.volume.fields import VOLUME
from explorer.spaces.volume.network.fit import fit_volume
from explorer.spaces.volume.network.reach import reaches
from explorer.square.space import space_of_kind

VOLUMES = [name for name, spec in samples().items() if spec.domain == "volume"]


@pytest.mark.parametrize("name", VOLUMES)
def test_every_volume_keeps_its_word(name: str) -> None:
    sample = samples()[name].make()
    values = sample.x.values
    assert sample.name == name and sample.domain == "volume" and sample.x.field == VOLUME
    assert values.dtype == np.float32 and values.ndim == 4 and len(set(values.shape[1:])) == 1
    assert not values.flags.writeable and np.isfinite(values).all() and np.ptp(values) > 0.5
    np.testing.assert_array_equal(samples()[name].make().x.values, values)
    picture = space_of_kind("volume").thumbnail(sample, 48)
    assert picture is not None and picture.shape == (48, 48, 3) and len(np.unique(picture)) > 10


@pytest.mark.parametrize("name", ["phantom-3d", "corner-3d", "noise-3d"])
def test_no_symmetry_leaves_a_volume_alone(name: str) -> None:
    x, group = torch.from_numpy(find_sample(name).x.values.copy())[None], cube_group("Oh")
    for h in range(1, 48):
        moved = CubeMap(linear(group.matrices[h])).act(x, VOLUME)
        assert float((moved - x).norm() / x.norm()) > 0.01, group.labels[h]


def test_a_helix_has_a_hand() -> None:
    x, group = torch.from_numpy(find_sample("helix-volume").x.values.copy())[None], cube_group("Oh")

    def apart(label: str) -> float:
        moved = CubeMap(linear(group.matrices[group.labels.index(label)])).act(x, VOLUME)
        return float((moved - x).norm() / x.norm())

    assert apart("x180") < 0.05 < 0.5 < min(apart("mirror-z"), apart("inversion"))


def test_volumes_are_fitted_to_networks() -> None:
    sample = find_sample("phantom-3d")
    assert fit_volume(sample, (1, None, None, None)) is sample
    fitted = fit_volume(sample, (2, 13, 13, 13))
    assert fitted.x.values.shape == (2, 13, 13, 13)
    assert fitted.notes == ("grey repeated in 2 channels", "25×25×25 voxels resampled to 13×13×13")
    both = fit_volume(fitted, (1, None, None, None))
    assert both.x.values.shape == (1, 13, 13, 13) and both.notes[-1] == "the mean of its channels"
    np.testing.assert_allclose(both.x.values[0], fitted.x.values.mean(0))
    with pytest.raises(ValueError, match="has 2 channels and this network takes 3"):
        fit_volume(fitted, (3, None, None, None))
    with pytest.raises(ValueError, match="lies on a grid, and this network takes a volume"):
        fit_volume(find_sample("digit-3"), (1, None, None, None))


@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (1, 2), (2, 1)])
def test_reach_is_found_by_trial(stride: int, dilation: int) -> None:
    torch.manual_seed(0)
    conv = torch.nn.Conv3d(1, 2, 3, stride, padding=dilation, dilation=dilation)
    mean = torch.nn.AdaptiveAvgPool3d(1)
    x = torch.randn(1, 1, 11, 11, 11)
    field = VOLUME.at_spacing(float(stride))
    with torch.no_grad():
        found = reaches(lambda v: {"conv": conv(v), "all": v - mean(v)}, x, {"conv": field, "all": VOLUME})
    assert dilation <= found["conv"] <= dilation + stride - 1 and found["all"] == np.inf
