"""Geodesic convolution against a loop over rotations, and what turning a vertex's frame does to it."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from torch import Tensor

from explorer.data.finding import find_sample
from explorer.spaces.mesh.network.fit import fit_mesh, surface_of
from explorer.spaces.mesh.network.form import MeshInput
from models.meshes.geodesic_cnn import INPUT, GeodesicConv, on_patches

INPUTS, OUTPUTS = 3, 4


@cache
def patches(radii: int = INPUT.radii, directions: int = INPUT.directions) -> tuple[Tensor, Tensor]:
    wanted = replace(INPUT, channels=1, features="constant", radii=radii, directions=directions)
    signals = fit_mesh(find_sample("bumpy-sphere"), wanted).signals
    index, weight = (torch.from_numpy(signals[n].values.copy()) for n in ("patch_index", "patch_weight"))
    return index, weight


def layer(radii: int = INPUT.radii, directions: int = INPUT.directions) -> GeodesicConv:
    torch.manual_seed(0)
    made = GeodesicConv(INPUTS, OUTPUTS, radii, directions).double().eval()
    torch.nn.init.normal_(made.bias)
    return made


def features(index: Tensor) -> Tensor:
    return torch.randn(len(index), INPUTS, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def answered(made: GeodesicConv, x: Tensor, *patch: Tensor) -> tuple[Tensor, Tensor]:
    """Return the layer's answer and its responses at each direction, (V, out, D)."""
    seen: list[Tensor] = []
    handle = made.rotations.register_forward_hook(lambda _, __, out: seen.append(out))
    with torch.no_grad():
        answer = made(x, *patch)
    handle.remove()
    return answer, seen[0].view(len(x), OUTPUTS, -1)


def test_values_on_patches_are_weighted_corners() -> None:
    index, weight = patches()
    x = features(index)
    by_hand = np.einsum("vrdk,vrdkc->vrdc", weight.numpy(), x.numpy()[index.numpy()])
    with torch.no_grad():
        torch.testing.assert_close(on_patches(x, index, weight), torch.from_numpy(by_hand), rtol=1e-12, atol=1e-12)
    # gathered, so that it can be differentiated
    torch.testing.assert_close(
        on_patches(x.requires_grad_(), index, weight), torch.from_numpy(by_hand), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize(("radii", "directions"), [(3, 12), (2, 8), (1, 7)])
def test_the_responses_are_those_of_a_loop_over_rotations(radii: int, directions: int) -> None:
    index, weight = patches(radii, directions)
    made, x = layer(radii, directions), features(index)
    answer, around = answered(made, x, index, weight)
    patch = np.einsum("vrdk,vrdkc->vrdc", weight.numpy(), x.numpy()[index.numpy()])
    filters = made.weight.detach().numpy()  # (out, C, R, D)
    expected = np.zeros(around.shape)
    for a in range(directions):
        for theta in range(directions):
            # h(v, a) = sum of w(r, theta) (D(v) f)(r, theta + a)
            place = (theta + a) % directions
            expected[:, :, a] += np.einsum("ocr,vrc->vo", filters[..., theta], patch[:, :, place])
    np.testing.assert_allclose(around.numpy(), expected, atol=1e-11)
    strongest = expected.max(2) + x.numpy() @ made.own.detach().numpy().T + made.bias.detach().numpy()
    np.testing.assert_allclose(answer.numpy(), np.maximum(strongest, 0), atol=1e-11)


@pytest.mark.parametrize("steps", [1, 5, -3])
def test_a_frame_turned_by_whole_steps_rolls_the_responses(steps: int) -> None:
    """Of one vertex alone: its responses go round the circle, those of all others and every maximum stay."""
    index, weight = patches()
    made, x, vertex = layer(), features(index), 17
    answer, around = answered(made, x, index, weight)
    there = [t.clone() for t in (index, weight)]
    for moved in there:
        # direction d of the turned frame is the old direction d + steps
        moved[vertex] = moved[vertex].roll(-steps, 1)
    again, turned = answered(made, x, *there)
    torch.testing.assert_close(turned[vertex], around[vertex].roll(-steps, 1), rtol=1e-12, atol=1e-12)
    assert float((turned[vertex] - around[vertex]).abs().max()) > 0.1
    others = torch.arange(len(x)) != vertex
    assert torch.equal(turned[others], around[others])
    torch.testing.assert_close(again, answer, rtol=1e-12, atol=1e-12)


def test_the_surface_in_turned_frames_has_the_rolled_patches() -> None:
    """Geodesics traced in turned frames give what the last test rolls by hand."""
    sample = find_sample("bumpy-sphere")
    position = np.asarray(sample.signals["position"].values, np.float64)
    surface = surface_of(position, np.asarray(sample.signals["faces"].values, np.int64))
    reach = INPUT.reach * math.sqrt(float(surface.mass.sum()))
    steps = np.arange(len(position)) % INPUT.directions
    turned = surface.turned(2 * np.pi * steps / INPUT.directions)
    index, weight = turned.patch_arrays(INPUT.radii, INPUT.directions, reach)
    x = features(patches()[0])
    with torch.no_grad():
        there = on_patches(x, torch.from_numpy(np.array(index)), torch.from_numpy(np.array(weight)))
        here = on_patches(x, *patches())
    rolled = torch.stack([p.roll(-int(s), 1) for p, s in zip(here, steps, strict=True)])
    torch.testing.assert_close(there, rolled, rtol=1e-7, atol=1e-7)


def by_half_a_step(directions: int) -> float:
    """Return the relative change of the answer when all frames are turned by half a direction.

    The filter is a smooth function of the angle and x a smooth one of the surface, both the same for all directions.
    """
    sample = find_sample("bumpy-sphere")
    position = np.asarray(sample.signals["position"].values, np.float64)
    surface = surface_of(position, np.asarray(sample.signals["faces"].values, np.int64))
    reach = 0.25 * math.sqrt(float(surface.mass.sum()))
    made = layer(2, directions)
    theta = torch.arange(directions, dtype=torch.float64) * (2 * math.pi / directions)
    chance = torch.randn(2, OUTPUTS, INPUTS, 2, 3, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    waves = torch.stack([torch.cos(k * theta) for k in (1, 2, 3)] + [torch.sin(k * theta) for k in (1, 2, 3)])
    with torch.no_grad():
        made.weight.copy_(torch.cat([chance[0], chance[1]], -1) @ waves / directions)
        made.own.zero_()
        made.bias.fill_(5.0)  # above zero: the maximum alone is looked at
    x = torch.from_numpy(surface.vertices @ np.random.default_rng(3).standard_normal((3, INPUTS))).sin()
    answers = []
    for turn in (0.0, math.pi / directions):
        there = surface.turned(np.full(len(position), turn))
        index, weight = there.patch_arrays(2, directions, reach)
        answers.append(answered(made, x, torch.from_numpy(np.array(index)), torch.from_numpy(np.array(weight)))[0] - 5)
    return float((answers[0] - answers[1]).norm() / answers[0].norm())


@pytest.mark.slow
def test_between_two_directions_the_maximum_differs_the_less_the_more_there_are() -> None:
    """A maximum over samples misses the peak by half a step at most: the error falls as 1 / D^2."""
    errors = [by_half_a_step(directions) for directions in (8, 16, 32)]
    assert 0.02 < errors[0] < 0.15
    assert errors[1] < errors[0] / 3 and errors[2] < errors[1] / 3, errors


def test_gradients_pass_through_the_strongest_direction() -> None:
    index, weight = patches(1, 7)
    made = layer(1, 7)
    x = features(index).requires_grad_()
    gradient = torch.autograd.grad(made(x, index, weight).sum(), x)[0]
    step = torch.randn(x.shape, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    with torch.no_grad():
        ahead, behind = (made(x + s * step, index, weight).sum() for s in (1e-6, -1e-6))
    assert float((gradient * step).sum()) == pytest.approx(float(ahead - behind) / 2e-6, rel=1e-5)


def test_the_card_takes_what_it_says() -> None:
    assert isinstance(INPUT, MeshInput) and (INPUT.radii, INPUT.directions) == (3, 12)
    shown, names = layer().kernels()
    assert shown.shape == (OUTPUTS * INPUTS, 3, 12) and len(names) == len(shown)
