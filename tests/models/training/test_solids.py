"""Solids seen from within: what is learned on the sphere, and what shipped networks name right in every position."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.spatial.transform import Rotation

import models
from explorer.declare.registry import scan
from explorer.spaces.sphere.harmonics import wigner
from explorer.spaces.sphere.samples.solids import DEGREE, NAMES, radius, solid
from models.training.spheres import shares, train
from tests.models.training.as_stated import shares_as_stated


@pytest.mark.parametrize("kind", range(len(NAMES)))
def test_a_ray_ends_on_the_surface(kind: int) -> None:
    rng = np.random.default_rng(kind)
    directions = rng.standard_normal((500, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    sizes = np.array([0.9, 1.1, 1.05])
    x, y, z = (radius(kind, directions, sizes)[:, None] * directions / sizes).T  # of the solid before it was stretched
    far = {
        "cube": np.abs([x, y, z]).max(0) - 0.8,
        "tetrahedron": np.max([x + y + z, x - y - z, -x + y - z, -x - y + z], 0) / np.sqrt(3) - 0.55,
        "cylinder": np.maximum(np.hypot(x, z) - 0.65, np.abs(y) - 1),
        "half ball": np.maximum(np.sqrt(x**2 + (y + 0.4) ** 2 + z**2) - 1.2, -y - 0.4),
    }[NAMES[kind]]
    np.testing.assert_allclose(far, 0, atol=1e-9)


def test_a_turned_solid_has_the_coefficients_turned() -> None:
    turn = np.asarray(Rotation.from_euler("yxz", [0.4, -1.1, 2.0]).as_matrix())
    plain, turned = solid(1, finer=16), solid(1, turn, finer=16)  # corners have no band limit
    for degree in range(1, DEGREE + 1):
        block = slice(degree**2, (degree + 1) ** 2)
        moved = wigner(degree, tuple(turn.ravel().tolist())).numpy() @ plain[block]
        assert np.linalg.norm(moved - turned[block]) < 1e-3 * np.linalg.norm(plain)


@pytest.mark.parametrize("name", ["sphere-solids", "sphere-solids-dense"])
@pytest.mark.slow
def test_shipped_networks_name_as_many_as_their_cards_say(name: str) -> None:
    found = shares_as_stated(name, shares)
    turned = found["turned by any rotation"]
    assert found["upright"] > 0.95 and (turned > 0.95 if name == "sphere-solids" else turned < 0.5)


def test_a_short_training_learns_upright_solids() -> None:
    network, found = train(scan(models, "CARD")["sphere-solids-dense"].build, epochs=4)
    assert found["upright"] > 0.9 and not network.training
    assert all(torch.isfinite(p).all() for p in network.parameters())
