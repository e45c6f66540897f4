"""Bodies of four cubes: what is learned, and what the shipped networks name right in every position."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import models
from explorer.declare.registry import scan
from explorer.spaces.volume.cube import cube_group
from explorer.spaces.volume.samples.tetris import BODIES, NAMES, tetris
from models.training.volumes import shares, train, volumes
from models.volumes.tetris_cnn import build_plain
from tests.models.training.as_stated import shares_as_stated


def test_the_eight_bodies_differ_up_to_rotations() -> None:
    """Sets of four cubes about their middle, turned by hand: only the two hands are mirror images of each other."""

    def forms(cubes: tuple[tuple[int, ...], ...], names: str) -> set[tuple[tuple[float, ...], ...]]:
        at = np.array(cubes, float) - np.mean(cubes, 0)
        return {tuple(sorted(map(tuple, np.round(at @ m.T, 6) + 0.0))) for m in cube_group(names).matrices}

    for k, one in enumerate(NAMES):
        for other in NAMES[k + 1 :]:
            assert not forms(BODIES[one], "O") & forms(BODIES[other], "O")
            mirrored = bool(forms(BODIES[one], "Oh") & forms(BODIES[other], "Oh"))
            assert mirrored == ({one, other} == {"hand", "other hand"})


def test_a_turned_body_is_the_body_turned() -> None:
    h = cube_group("O").matrices[5]
    axis = np.arange(13) - 6.0
    z, y, x = np.meshgrid(axis, -axis, axis, indexing="ij")
    source = np.einsum("dc,...d->...c", h, np.stack([x, y, z], -1)).round().astype(int)
    plain = tetris(5)
    np.testing.assert_allclose(
        tetris(5, h), plain[source[..., 2] + 6, 6 - source[..., 1], source[..., 0] + 6], atol=1e-9
    )


@pytest.mark.parametrize("name", ["tetris-o", "tetris-plain"])
@pytest.mark.slow
def test_shipped_networks_name_as_many_as_their_cards_say(name: str) -> None:
    found = shares_as_stated(name, shares)
    turned = found["turned by the cube"]
    assert found["upright"] > 0.9 and (turned > 0.9 if name == "tetris-o" else turned < 0.5)


def test_the_group_network_gives_one_answer_in_all_rotations() -> None:
    network = scan(models, "CARD")["tetris-o"].build().double().eval()
    with torch.no_grad():
        answers = torch.cat([
            network(torch.from_numpy(tetris(0, h))[None, None]) for h in cube_group("O").matrices
        ])  # fmt: skip
        mirrored = network(torch.from_numpy(tetris(1))[None, None])
    torch.testing.assert_close(answers, answers[:1].expand_as(answers), rtol=1e-9, atol=1e-12)
    assert float((mirrored - answers[:1]).abs().max()) > 1e-4


@pytest.mark.slow
def test_training_learns_and_volumes_are_drawn_anew() -> None:
    (one, kinds), (other, _) = volumes(16, 1), volumes(16, 2)
    assert one.shape == (16, 1, 13, 13, 13) and kinds.tolist() == [k % 8 for k in range(16)]
    assert float((one - other).abs().mean()) > 0.05
    _, before = train(build_plain, epochs=0)
    _, after = train(build_plain, epochs=1)
    assert after["upright"] > before["upright"] + 0.1
