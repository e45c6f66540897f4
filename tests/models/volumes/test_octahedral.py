"""Networks on volumes obey the laws that they claim, tried by hand; planted faults are found where they are."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import models
from explorer.data.finding import find_sample
from explorer.declare.inputs import Inputs
from explorer.declare.registry import scan
from explorer.equivariance.check import check_equivariance
from explorer.spaces.volume.cube import cube_group
from explorer.spaces.volume.fields import VOLUME
from models.layers.convolution.volumes import GroupConv3d, LiftingConv3d, OrientationVectors
from tests.models.volumes.by_coordinates import moved

CARDS = {name: card for name, card in scan(models, "CARD").items() if card.domain == "volume"}
EXACT = 1e-9


def permuted(y: torch.Tensor, name: str, g: int) -> torch.Tensor:
    """Return orientations that have gone from h to g h."""
    group = cube_group(name)
    blocks = y.unflatten(1, (-1, group.order))
    out = torch.empty_like(blocks)
    for h in group.elements():
        out[:, :, group.compose(g, h)] = blocks[:, :, h]
    return out.flatten(1, 2)


@pytest.mark.parametrize("circular", [False, True])
@pytest.mark.parametrize("name", ["O", "Oh"])
def test_lifting_and_group_convolution_commute_with_every_element(name: str, circular: bool) -> None:
    torch.manual_seed(0)
    group = cube_group(name)
    lift = LiftingConv3d(group, 2, 2, circular=circular).double()
    conv = GroupConv3d(group, 2, 1, circular=circular).double()
    x = torch.randn(1, 2, 5, 5, 5, dtype=torch.float64)
    with torch.no_grad():
        lifted = lift(x)
        answer = conv(lifted)
        for g in group.elements():
            h = group.matrices[g]
            expected = permuted(moved(lifted, h), name, g)
            assert float((lift(moved(x, h)) - expected).norm() / expected.norm()) < EXACT
            expected = permuted(moved(answer, h), name, g)
            assert float((conv(permuted(moved(lifted, h), name, g)) - expected).norm() / expected.norm()) < EXACT


def test_a_layer_is_the_sum_over_orientations_and_voxels() -> None:
    """(x ⋆ θ)(k, g) = Σ_h Σ_u x_h(u) θ_{g⁻¹h}(g⁻¹(u - k)), term by term for a few places."""
    torch.manual_seed(0)
    group = cube_group("O")
    conv = GroupConv3d(group, 1, 1).double()
    x = torch.randn(1, 24, 5, 5, 5, dtype=torch.float64)
    with torch.no_grad():
        answer, theta = conv(x), conv.weight[0, 0]
        offsets = [(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)]  # x, y, z
        for g in (0, 5, 17):
            total = float(conv.bias[0])
            for h in group.elements():
                for u in offsets:
                    v = np.rint(group.matrices[g].T @ np.array(u)).astype(int)
                    filtered = theta[group.compose(group.inverse(g), h), v[2] + 1, 1 - v[1], v[0] + 1]
                    total += float(x[0, h, 2 + u[2], 2 - u[1], 2 + u[0]] * filtered)
            assert total == pytest.approx(float(answer[0, g, 2, 2, 2]), abs=1e-12)


@pytest.mark.parametrize("g", [1, 22, 24, 30, 47])
def test_orientations_add_up_to_vectors_that_turn(g: int) -> None:
    torch.manual_seed(0)
    group = cube_group("Oh")
    layer = OrientationVectors(group).double()
    f = torch.randn(1, 48, 4, 4, 4, dtype=torch.float64)
    with torch.no_grad():
        vectors = moved(layer(f), group.matrices[g])
        expected = torch.einsum("ij,njzyx->nizyx", torch.from_numpy(group.matrices[g]), vectors)
        torch.testing.assert_close(layer(permuted(moved(f, group.matrices[g]), "Oh", g)), expected)


def report(name: str, group: str, side: int | None = None):  # type: ignore[no-untyped-def]
    card = CARDS[name]
    x = torch.from_numpy(find_sample("phantom-3d").x.values.copy())[None]
    wanted = side or card.input.shape[1] or 13  # type: ignore[attr-defined]
    x = F.interpolate(x, (wanted,) * 3, mode="trilinear")
    return check_equivariance(
        card.build(), Inputs((x,), (VOLUME,)), group, declared=True, boundary=card.boundary, details=False
    )


@pytest.mark.slow
@pytest.mark.parametrize(("name", "group"), [(n, g) for n, c in CARDS.items() for g in c.groups])
def test_claims_hold_to_the_ninth_digit_in_every_layer(name: str, group: str) -> None:
    found = report(name, group, 13 if name in ("oh-cnn", "symmetric-cnn-3d") else 9)
    assert found.verdict == "holds", found.text()
    assert all(row.cumulative_max is None or row.cumulative_max < EXACT for row in found.layers)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "layer", "side"),
    [("fault-stride-3d", "conv3", 12), ("fault-padding-3d", "pad2", 13), ("fault-filter-3d", "conv2", 13),
     ("plain-cnn-3d", "conv1", 9)],
)  # fmt: skip
def test_the_fault_is_found_where_it_was_planted(name: str, layer: str, side: int) -> None:
    found = report(name, "Oh", side)
    assert found.verdict == "broken" and found.guilty[0] == layer, found.text()
    if name.startswith("fault"):
        assert found.guilty == (layer,) and CARDS[name].notes == (f"planted fault: layer {layer}",)


@pytest.mark.slow
def test_a_network_that_knows_rotations_only_sees_a_mirror() -> None:
    found = report("o-cnn", "Oh", 9)
    assert found.verdict != "holds"
    rows = {row.name: row for row in found.layers}
    assert rows["lift"].cumulative_max is None or rows["lift"].cumulative_max < EXACT  # no law for mirrors, or it holds
    head = rows["head"].cumulative_max
    assert head is not None and head > 1e-6


def test_a_stranger_is_recognised_and_judged() -> None:
    """A plain network on volumes that is nobody's card: fields are inferred, and its first layer is named."""
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv3d(1, 4, 3, padding=1), nn.BatchNorm3d(4), nn.ReLU(), nn.MaxPool3d(3, 2, 1),
        nn.Conv3d(4, 4, 3, padding=1), nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(4, 2),
    )  # fmt: skip
    found = check_equivariance(net, torch.randn(2, 1, 9, 9, 9), "O", details=False)
    assert found.verdict == "broken" and found.guilty[0] == "0"
    fields = {row.name: row.field for row in found.layers}
    assert fields["3"].startswith("voxel scalar /2") and fields["7"].startswith("invariant")
