"""LieConv and LieTransformer: exponential and logarithm by scipy, layers by the authors' formulas, and their laws."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.linalg import expm, logm
from scipy.spatial.transform import Rotation
from torch import Tensor, nn

import models
from explorer.data.finding import find_sample, fitted
from explorer.declare.inputs import Inputs
from explorer.declare.registry import scan
from explorer.equivariance.check import check_equivariance
from explorer.network.input.inputs import inputs_from
from explorer.spaces.points.network.frames import LIFTS, drawn_frames
from explorer.spaces.points.sample import points_sample
from models.layers.points.lie import Drawn, LieConvolution, Lift, Logs, PairPerceptron, exp_motion, log_motion
from models.points.lie_transformer import Layer, LieTransformer
from models.points.lieconv import LieNetwork, OtherSide

CARDS = {name: card for name, card in scan(models, "CARD").items() if "E4" in card.rows}
CPU, EXACT = torch.device("cpu"), 1e-9
SHARED = ("lieconv", "lie-transformer")


def inputs_of(name: str, sample: str = "ethanol-3d") -> Inputs:
    card = CARDS[name]
    return inputs_from(fitted(find_sample(sample), card.input), card.input, CPU, torch.float64)


def network_of(name: str, **values: float) -> nn.Module:
    torch.manual_seed(0)
    card = CARDS[name]
    return card.build(**{p.name: p.default for p in card.params} | values).double().eval()


def turned(inputs: Inputs, matrix: Tensor, shift: Tensor) -> Inputs:
    """Return the inputs after a motion, written out here: places move, and each arrow of a frame turns."""
    made = {
        "position": lambda v: v @ matrix.T + shift,
        "frames": lambda v: (v.view(len(v), -1, 3) @ matrix.T).flatten(1),
    }
    values = [made.get(k, lambda v: v)(v) for k, v in zip(inputs.names, inputs.values, strict=True)]
    return replace(inputs, values=tuple(values))


def matrix_of(log: np.ndarray) -> np.ndarray:
    """Return the 4 x 4 matrix of the Lie algebra of SE(3)."""
    (x, y, z), shift = log[:3], log[3:]
    return np.array([[0, -z, y, shift[0]], [z, 0, -x, shift[1]], [-y, x, 0, shift[2]], [0, 0, 0, 0]])


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-4, 9e-3, 1.1e-2, 1.0, 3.0, math.pi - 1e-6])
def test_exp_and_log_are_those_of_matrices(size: float) -> None:
    rng = np.random.default_rng(3)
    axis = rng.normal(size=3)
    log = np.concatenate([size * axis / np.linalg.norm(axis), rng.normal(size=3)])
    rotation, shift = exp_motion(torch.from_numpy(log))
    want = expm(matrix_of(log))
    np.testing.assert_allclose(rotation, want[:3, :3], atol=1e-12)
    np.testing.assert_allclose(shift, want[:3, 3], atol=1e-12)
    back = log_motion(rotation, shift).numpy()
    # next to half a turn the axis is told by what rounding leaves of the angle
    np.testing.assert_allclose(back, log, atol=1e-12 if size < 3.1 else 1e-9)
    if 1e-3 < size < 3.1:
        np.testing.assert_allclose(matrix_of(back), logm(want).real, atol=1e-9)


def test_half_a_turn_has_a_logarithm() -> None:
    for axis in np.eye(3):
        found = log_motion(torch.from_numpy(Rotation.from_rotvec(np.pi * axis).as_matrix()), torch.zeros(3).double())
        np.testing.assert_allclose(found[:3].abs(), np.pi * axis, atol=1e-12)


def test_frames_are_rotations_spread_evenly() -> None:
    frames = drawn_frames(500).reshape(-1, 3, 3)
    np.testing.assert_allclose(frames @ frames.transpose(0, 2, 1), np.broadcast_to(np.eye(3), frames.shape), atol=1e-12)
    assert (np.linalg.det(frames) > 0).all() and len(frames) == 500 * LIFTS
    # of an even spread the mean of R is 0, and that of trace R squared is 1
    assert np.abs(frames.mean(0)).max() < 0.05
    assert abs((np.trace(frames, axis1=1, axis2=2) ** 2).mean() - 1) < 0.1


def pairs_by_hand(position: np.ndarray, frames: np.ndarray, count: int) -> np.ndarray:
    """Return log(v^-1 u), (K, K, N, N, 6), by matrices and scipy's rotations."""
    n = len(position)
    columns = frames.reshape(n, -1, 3, 3)[:, :count]
    made = np.zeros((count, count, n, n, 6))
    elements = np.tile(np.eye(4), (n, count, 1, 1))
    elements[..., :3, :3] = columns.transpose(0, 1, 3, 2)
    elements[..., :3, 3] = position[:, None]
    for i, a, j, b in np.ndindex(n, count, n, count):
        between = np.linalg.inv(elements[j, b]) @ elements[i, a]
        turn = Rotation.from_matrix(between[:3, :3]).as_rotvec()
        angle = np.linalg.norm(turn)
        k = matrix_of(np.concatenate([turn, np.zeros(3)]))[:3, :3]
        half = 1 / 12 if angle < 1e-6 else (1 - angle * np.sin(angle) / (2 * (1 - np.cos(angle)))) / angle**2
        made[a, b, i, j] = np.concatenate([turn, (np.eye(3) - k / 2 + half * k @ k) @ between[:3, 3]])
    return made


def test_logarithms_of_pairs_are_those_of_quotients() -> None:
    x = inputs_of("lieconv", "water-3d")
    _, position, frames = x.arguments
    got = Logs()(position, Lift(2)(frames)).unflatten(0, (6, 2, 2)).movedim(0, -1)
    np.testing.assert_allclose(got, pairs_by_hand(position.numpy(), frames.numpy(), 2), atol=1e-10)


def perceptron(module: PairPerceptron, logs: Tensor, head: int) -> Tensor:
    """Return what one head of a perceptron makes of the logarithms (..., 6), with linear layers of torch."""
    h = logs
    for weight, bias in zip(module.weights, module.biases, strict=True):
        h = nn.functional.silu(nn.functional.linear(h, weight[head], bias[head, :, 0]))
    return h


def test_convolution_is_what_the_authors_write() -> None:
    """LieConv.point_convolve of mfinzi/LieConv with every point of the ball, from its formulas, u by u."""
    torch.manual_seed(1)
    x = inputs_of("lieconv", "water-3d")
    _, position, frames = x.arguments
    kernel, conv = PairPerceptron((6, 5, 5, 4)).double(), LieConvolution(3, 7, 4).double()
    h = torch.randn(3, 2, 3, dtype=torch.float64)
    logs = torch.from_numpy(pairs_by_hand(position.numpy(), frames.numpy(), 2))
    distance = 0.2 * logs[..., :3].norm(dim=-1) + 0.8 * logs[..., 3:].norm(dim=-1)
    near = distance < 1.2
    assert 0.2 < float(near.double().mean()) < 0.9
    with torch.no_grad():
        flat = logs.movedim(-1, 0).flatten(0, 2)
        got = conv(h, kernel(flat), near.double().flatten(0, 1))
        for i, a in np.ndindex(3, 2):
            ball = near[a, :, i]  # (b, j)
            weights = perceptron(kernel, logs[a, :, i][ball], 0)  # (points of the ball, middle)
            values = h.movedim(0, 1)[ball]
            partial = (values.T @ weights).flatten()  # channel by channel
            want = (conv.linear.weight @ partial + conv.linear.bias) / int(ball.sum())
            torch.testing.assert_close(got[i, a], want, rtol=1e-9, atol=1e-12)


def test_attention_is_what_the_authors_write() -> None:
    """EquivairantMultiheadAttention of oxcsml/lie-transformer without its norms, from its formulas, u by u."""
    torch.manual_seed(2)
    x = inputs_of("lie-transformer", "water-3d")
    _, position, frames = x.arguments
    layer = Layer(8, 2).double()
    h = torch.randn(3, 2, 8, dtype=torch.float64)
    logs = torch.from_numpy(pairs_by_hand(position.numpy(), frames.numpy(), 2))
    near = torch.ones(4, 3, 3, dtype=torch.float64)
    with torch.no_grad():
        got = layer(h, logs.movedim(-1, 0).flatten(0, 2), near)
        keys, queries, values = (m(h) for m in (layer.attention.keys, layer.attention.queries, layer.heard.values))
        for i, a in np.ndindex(3, 2):
            heads = []
            for k in range(2):
                part = slice(4 * k, 4 * k + 4)
                score = perceptron(layer.location, logs[a, :, i], k)[..., 0]
                score = score + (keys[..., part].movedim(0, 1) @ queries[i, a, part]) / math.sqrt(8)
                weight = score.flatten().softmax(0).view(score.shape)
                heads.append(values[i, a, part] + (weight[..., None] * values[..., part].movedim(0, 1)).sum((0, 1)))
            torch.testing.assert_close(got[i, a], layer.heard.mixed(torch.cat(heads)), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("lifts", [1, 3])
def test_the_law_of_motions_for_a_shared_sample_of_frames(name: str, lifts: int) -> None:
    network, x = network_of(name, lifts=lifts), inputs_of(name, "chiral-right")
    matrix = torch.from_numpy(Rotation.random(rng=np.random.default_rng(7)).as_matrix())
    gx = turned(x, matrix, torch.tensor([0.3, -0.7, 1.1], dtype=torch.float64))
    with torch.no_grad():
        y, gy = network(*x.arguments), network(*gx.arguments)
        still = network(gx.arguments[0], gx.arguments[1], x.arguments[2])
    assert float((gy - y).norm() / y.norm()) < EXACT
    assert float((still - y).norm() / y.norm()) > 1e-5, "frames that do not turn along break it"
    broken = LieNetwork(Lift(2), 2, 2, OtherSide()).double()
    with torch.no_grad():
        known = inputs_of("lieconv")
        one, other = (broken(*i.arguments) for i in (known, turned(known, matrix, gx.x.new_zeros(3))))
    assert float((one - other).norm() / one.norm()) > 1e-4


@pytest.mark.parametrize("name", SHARED)
def test_every_layer_holds(name: str) -> None:
    for group in CARDS[name].groups:
        report = check_equivariance(network_of(name), [inputs_of(name)], group, dtype=torch.float64, count=3)
        assert report.verdict == "holds"
        for layer in report.layers:
            assert layer.cumulative is None or layer.cumulative < EXACT, (group, layer.name)


@pytest.mark.parametrize("name", ["lieconv-drawn", "lieconv-translations"])
def test_shifts_are_exact_and_rotations_are_not(name: str) -> None:
    assert CARDS[name].groups == ("R3", "permutation")
    for group in CARDS[name].groups:
        report = check_equivariance(network_of(name), [inputs_of(name)], group, dtype=torch.float64, count=3)
        assert report.verdict == "holds", group
    assert check_equivariance(network_of(name), [inputs_of(name)], "SO3", dtype=torch.float64).guilty == ("logs",)


@pytest.mark.slow
def test_a_drawn_lift_obeys_the_law_in_distribution() -> None:
    """Answers to x and to gx have one distribution over the draws; frames that are not spread evenly have two."""
    x = inputs_of("lieconv-drawn", "ethanol-3d")
    h, position = x.arguments
    matrix = torch.from_numpy(Rotation.from_rotvec([0.4, np.pi / 2, 0.3]).as_matrix())

    class Upright(Drawn):
        """Frames that are near to the axes of space."""

        def forward(self, position: Tensor) -> Tensor:
            generator = torch.Generator().manual_seed(self.seed)
            log = 0.2 * torch.randn(self.count, 6, generator=generator, dtype=torch.float64)
            return exp_motion(log)[0].mT.flatten().expand(len(position), -1)

    def far(kind: type[Drawn]) -> float:
        torch.manual_seed(0)
        network = LieNetwork(kind(2), 2, 1).double().eval()
        answers = np.zeros((2, 160))
        with torch.no_grad():
            for seed in range(160):
                # of their own for each side: nothing is paired
                for side, place in enumerate((position, position @ matrix.T)):
                    assert isinstance(network.lift, Drawn)
                    network.lift.seed = 2 * seed + side
                    answers[side, seed] = float(network(h, place))
        apart = answers.mean(1)
        return float(abs(apart[0] - apart[1]) / np.sqrt(answers.var(1, ddof=1).sum() / 160))

    assert far(Drawn) < 3.5 < 10 < far(Upright)


def test_more_frames_stand_better_for_all() -> None:
    x = inputs_of("lieconv-drawn")
    h, position = x.arguments
    turns = torch.from_numpy(Rotation.random(6, rng=np.random.default_rng(0)).as_matrix())

    def error(lifts: int) -> float:
        found = []
        for seed in range(4):
            network = network_of("lieconv-drawn", lifts=lifts, seed=seed)
            with torch.no_grad():
                y = network(h, position)
                found += [float((network(h, position @ turn.T) - y).square()) for turn in turns]
        return float(np.sqrt(np.mean(found)))

    assert error(8) < 0.6 * error(1)


@pytest.mark.parametrize("name", sorted(CARDS))
def test_one_point_and_points_at_one_place_have_an_answer(name: str) -> None:
    for places in (np.zeros((1, 3)), np.array([[0.0, 0, 0], [0, 0, 0], [1, 0, 0]])):
        sample = points_sample("odd", places, numbers=np.full(len(places), 6))
        x = inputs_from(fitted(sample, CARDS[name].input), CARDS[name].input, CPU, torch.float64)
        with torch.no_grad():
            assert torch.isfinite(network_of(name)(*x.arguments)).all()


def test_networks_tell_what_their_lifted_points_are_to_each_other() -> None:
    for network in (LieNetwork(Lift(2), 2, 1), LieTransformer(2, 1)):
        x = inputs_of("lieconv", "water-3d")
        logs, distance, alpha, reach = network.double().lifted(x.arguments[1], x.arguments[2])
        assert logs.shape == (24, 3, 3) and distance.shape == (4, 3, 3) and alpha == 0.2 and reach > 0
        assert float(distance[0].diagonal().abs().max()) < 1e-12, "a lifted point is at no distance from itself"
