"""SimpleRNN against torch.nn.RNN, the law of shifts with padding, the fixed point, and the gradient through time."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from explorer.app.answering.engine import LocalEngine
from explorer.spaces.sequence.drawing.values import TimePart
from explorer.state.state import State
from models.layers.recurrent.fixed_point import fixed_point
from models.layers.recurrent.forecast import Forecast, weight_matrices
from models.layers.recurrent.gru import GRU
from models.layers.recurrent.leaky_gated import GatedRNN, LeakyRNN
from models.layers.recurrent.lstm import LSTM
from models.layers.recurrent.recurrence import Recurrence, gradient_norms, recurrence_of
from models.layers.recurrent.simple_rnn import SimpleRNN
from models.sequences.recurrent.simple_rnn import CARD, build

TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-12}
KINDS = (SimpleRNN, LSTM, GRU, LeakyRNN, GatedRNN)

each_kind = pytest.mark.parametrize("kind", KINDS)


def noise(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def made(kind: type[Recurrence], start: str, inputs: int = 2, units: int = 6) -> Recurrence:
    torch.manual_seed(1)
    return kind(inputs, units, start).double()


@torch.no_grad()
def shift_error(model: nn.Module, x: Tensor, s: int) -> float:
    """Return the largest difference at matched steps after a shift by s to the right, zeros on the left."""
    padded = torch.cat([torch.zeros_like(x[:s]), x[: len(x) - s]])
    return float((model(padded)[s:] - model(x)[: len(x) - s]).abs().max())


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("recorded", [True, False])
def test_a_layer_gives_the_numbers_of_nn_rnn(dtype: torch.dtype, activation: str, recorded: bool) -> None:
    peer = nn.RNN(3, 7, nonlinearity=activation).to(dtype)
    ours = SimpleRNN(3, 7, "zero", activation=activation).to(dtype)
    ours.load_state_dict({k.removesuffix("_l0"): v for k, v in peer.state_dict().items()})
    x = noise(40, 3, dtype=dtype)
    with torch.set_grad_enabled(not recorded):
        torch.testing.assert_close(ours(x), peer(x)[0], rtol=0, atol=TOLERANCE[dtype])


@each_kind
def test_the_recording_path_and_the_differentiable_path_agree_in_every_value(kind: type[Recurrence]) -> None:
    layer, x = made(kind, "fixed point"), noise(30, 4, 2)
    before = x.clone()
    with torch.no_grad():
        fast = layer.run(x)
    slow = layer.run(x)
    assert tuple(fast) == tuple(slow) == kind.shown
    for name, value in fast.items():
        assert value.shape == (30, 4, 6) and not value.requires_grad
        torch.testing.assert_close(value, slow[name].detach(), rtol=0, atol=1e-14)
    assert slow["hidden"].requires_grad and torch.equal(x, before)


@each_kind
def test_a_batch_is_its_sequences_one_by_one(kind: type[Recurrence]) -> None:
    layer, x = made(kind, "fixed point"), noise(3, 20, 2)
    with torch.no_grad():
        torch.testing.assert_close(layer.batched(x), torch.stack([layer(one) for one in x]), rtol=0, atol=1e-14)


@each_kind
def test_every_tap_fires_once_a_sequence(kind: type[Recurrence]) -> None:
    layer, fired = made(kind, "zero"), []
    for name in kind.shown:
        layer.get_submodule(name).register_forward_hook(lambda _, __, v, name=name: fired.append((name, v.shape)))
    with torch.no_grad():
        out = layer(noise(25, 2))
    assert fired == [(name, (25, 6)) for name in kind.shown]
    assert out.shape == (25, 6)


@each_kind
@pytest.mark.parametrize("s", [1, 7])
def test_shifts_commute_from_the_fixed_point_and_not_from_zero(kind: type[Recurrence], s: int) -> None:
    x = noise(60, 2)
    assert shift_error(made(kind, "fixed point"), x, s) < 1e-9
    assert shift_error(made(kind, "zero"), x, s) > 1e-3


@each_kind
def test_the_fixed_point_is_where_many_zeros_lead(kind: type[Recurrence]) -> None:
    layer = made(kind, "zero")
    with torch.no_grad():
        end = layer(torch.zeros(2000, 2, dtype=torch.float64))[-1]
    found = fixed_point(layer)
    assert found.converged and 0 < found.iterations < 500
    torch.testing.assert_close(found.state[-1][0], end, rtol=0, atol=1e-12)


@each_kind
def test_the_contraction_is_the_spectral_radius_at_the_fixed_point(kind: type[Recurrence]) -> None:
    layer = made(kind, "zero")
    found = fixed_point(layer)
    given = layer.projected(torch.zeros(1, 1, 2, dtype=torch.float64))[0].detach()

    def update(h: Tensor) -> Tensor:
        state = h[None].chunk(layer.states, 1)
        return torch.cat(layer.step(given, state)[-layer.states :], 1)[0]

    jacobian = torch.autograd.functional.jacobian(update, torch.cat(found.state, 1)[0])
    assert found.contraction == pytest.approx(float(torch.linalg.eigvals(jacobian).abs().max()), rel=1e-9)


@pytest.mark.parametrize(("u", "radius"), [
    ([[0.99989, 0.0], [0.0, 0.5]], 0.99989),  # slower than the iteration has patience for
    ([[0.9, 5.0], [0.0, 0.8]], 0.9),  # distances grow at first: its norm is 5
    ([[0.0, -0.8], [0.8, 0.0]], 0.8),  # a turn: both eigenvalues are complex
    ([[2.0, 0.0], [0.0, 0.5]], 2.0),
])  # fmt: skip
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_a_linear_update_contracts_by_its_spectral_radius(
    u: list[list[float]], radius: float, dtype: torch.dtype
) -> None:
    layer = SimpleRNN(1, 2, "zero").to(dtype)
    with torch.no_grad():
        for p in layer.parameters():
            p.zero_()  # then h* is 0, where tanh has slope 1
        layer.weight_hh.copy_(torch.tensor(u, dtype=dtype))
    assert fixed_point(layer).contraction == pytest.approx(radius, rel=1e3 * torch.finfo(dtype).eps)


def test_an_update_with_two_fixed_points_is_no_contraction() -> None:
    layer = SimpleRNN(1, 1, "zero").double()
    with torch.no_grad():
        for p in layer.parameters():
            p.zero_()
        layer.weight_hh.fill_(3.0)
        layer.bias_hh.fill_(-1.0)
    found = fixed_point(layer)
    assert found.converged and float(found.state[0]) < -0.99 and found.contraction == 1.0
    # at each of its two resting points it shrinks small distances
    assert all(3 * (1 - h * h) < 1 for h in (float(found.state[0]), 0.955))


def test_an_orthogonal_u_of_size_q_contracts_by_at_most_q() -> None:
    for q in (0.3, 0.9):
        found = fixed_point(recurrence_of(build(gain=q).double()))
        assert found.converged and 0.1 * q < found.contraction <= q


def test_what_does_not_contract_is_said_not_to() -> None:
    layer = SimpleRNN(1, 2, "zero").double()
    with torch.no_grad():  # turns the state by 40 degrees and stretches it: it never comes to rest
        turn = torch.tensor([[math.cos(0.7), -math.sin(0.7)], [math.sin(0.7), math.cos(0.7)]])
        layer.weight_hh.copy_(2 * turn)
    found = fixed_point(layer)
    assert not found.converged and found.iterations == 500
    exploding = fixed_point(recurrence_of(build(gain=2.0, activation=1)))
    assert not exploding.converged and exploding.contraction > 1


def test_a_new_fixed_point_is_found_when_a_parameter_changes() -> None:
    layer, x = made(GRU, "fixed point"), noise(40, 2)
    assert shift_error(layer, x, 3) < 1e-9
    with torch.no_grad():
        layer.bias_ih.mul_(-2.0)
    assert shift_error(layer, x, 3) < 1e-9
    assert shift_error(layer.float(), x.float(), 3) < 1e-5


def test_a_network_that_was_looked_at_in_inference_mode_can_still_learn() -> None:
    layer, x = made(LSTM, "fixed point"), noise(10, 2)
    with torch.inference_mode():
        layer(x)
    layer(x).sum().backward()
    assert layer.weight_hh.grad is not None and layer.weight_hh.grad.abs().max() > 0


def test_gradient_norms_are_products_of_jacobians() -> None:
    layer, x = made(SimpleRNN, "zero"), noise(12, 2)
    with torch.no_grad():
        h = layer(x)
    product, expected = torch.eye(6, dtype=torch.float64), torch.zeros(12, dtype=torch.float64)
    for t in range(9, -1, -1):  # d h(9) / d h(t) = prod diag(1 - h²) U
        expected[t] = torch.linalg.matrix_norm(product, 2)
        product = product @ torch.diag(1 - h[t] ** 2) @ layer.weight_hh.detach()
    torch.testing.assert_close(gradient_norms(layer, x, 9), expected, rtol=1e-12, atol=1e-14)
    cut = gradient_norms(layer, x, 9, truncation=4)
    torch.testing.assert_close(cut[5:], expected[5:], rtol=1e-12, atol=1e-14)
    assert not cut[:5].any() and cut[5] > 0


def test_gradients_vanish_below_one_and_explode_above() -> None:
    x, short, long = noise(60, 1, dtype=torch.float32), build(gain=0.5), build(gain=2.0, activation=1)
    with torch.inference_mode():
        vanishing, exploding = gradient_norms(short, x), gradient_norms(long, x)
    assert vanishing[-1] == 1.0 and vanishing[0] <= 0.5**59 * 1.01
    assert exploding[0] > 1e3


def test_gradients_of_the_parameters_are_those_of_nn_rnn() -> None:
    peer = nn.RNN(2, 5).double()
    ours = SimpleRNN(2, 5, "zero").double()
    ours.load_state_dict({k.removesuffix("_l0"): v for k, v in peer.state_dict().items()})
    x, probe = noise(20, 2), noise(20, 5, seed=1)
    mine = torch.autograd.grad(ours(x), list(ours.parameters()), probe)
    theirs = torch.autograd.grad(peer(x)[0], list(peer.parameters()), probe)
    torch.testing.assert_close(mine, theirs, rtol=1e-10, atol=1e-12)


def test_forward_mode_derivatives_agree_with_differences() -> None:
    import torch.autograd.forward_ad as fwd

    layer, x, along = made(LSTM, "fixed point"), noise(15, 2), noise(15, 2, seed=2)
    with torch.no_grad(), fwd.dual_level():
        slope = fwd.unpack_dual(layer(fwd.make_dual(x, along))).tangent
        differences = (layer(x + 1e-6 * along) - layer(x - 1e-6 * along)) / 2e-6
    torch.testing.assert_close(slope, differences, rtol=1e-6, atol=1e-8)


@each_kind
@pytest.mark.parametrize("learning", [True, False])
def test_short_sequences(kind: type[Recurrence], learning: bool) -> None:
    layer = made(kind, "fixed point")
    with torch.set_grad_enabled(learning):
        assert layer(noise(0, 2)).shape == (0, 6)
        assert layer(noise(1, 2)).shape == (1, 6)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="start must be one of"):
        SimpleRNN(1, 2, "one")
    with pytest.raises(ValueError, match="activation must be one of"):
        SimpleRNN(1, 2, activation="sine")
    with pytest.raises(IndexError, match="no step 5"):
        gradient_norms(made(LSTM, "zero"), noise(5, 2), 5)
    with pytest.raises(ValueError, match="2 recurrent layers"):
        gradient_norms(nn.ModuleList([made(LSTM, "zero"), made(GRU, "zero")]), noise(5, 2))


def test_the_card_builds_the_same_network_each_time_and_shows_w_and_u() -> None:
    one, other = CARD.build().state_dict(), CARD.build().state_dict()
    assert all(torch.equal(one[k], other[k]) for k in one)
    found = weight_matrices(CARD.build(units=5))
    assert {k: v.shape for k, v in found.items()} == {"recurrent W": (5, 1), "recurrent U": (5, 5)}


@each_kind
def test_how_a_state_settles_is_sent_to_the_window(kind: type[Recurrence]) -> None:
    """Every h_k is torch's or our step applied to the one before, and the last is the fixed point."""
    model = Forecast(made(kind, "zero", 1), 6).double()
    card = replace(CARD, build=lambda: model, params=(), weights=None)
    frame = LocalEngine({card.name: card}).answer(
        State(card.name, sample="sine", layer="recurrent.hidden", device="cpu", dtype="float64"), lambda: False
    )
    part = frame.squares[0].of(TimePart)
    assert part is not None
    (settling,) = part.settlings
    found = fixed_point(model.recurrent)  # type: ignore[arg-type]
    assert settling.layers == ("recurrent.hidden", "recurrent") and settling.converged
    assert settling.orbit.shape == (found.iterations + 1, 6) and not settling.orbit[0].any()
    assert settling.contraction == pytest.approx(found.contraction, rel=1e-6)
    with torch.no_grad():
        zeros = model.recurrent(torch.zeros(found.iterations, 1, dtype=torch.float64))
    np.testing.assert_allclose(settling.orbit[1:], zeros.numpy(), atol=1e-6)
    np.testing.assert_allclose(settling.orbit[-1], found.state[-1][0].numpy(), atol=1e-6)


def test_the_contraction_of_an_rnn_is_how_fast_torchs_cell_brings_two_states_together() -> None:
    cell = nn.RNNCell(1, 8).double()
    layer = SimpleRNN(1, 8, "zero").double()
    layer.load_state_dict(cell.state_dict())
    one, other, apart = noise(1, 8), noise(1, 8, seed=1), []
    with torch.no_grad():
        for _ in range(60):
            one, other = (cell(torch.zeros(1, 1, dtype=torch.float64), h) for h in (one, other))
            apart.append(float((one - other).norm()))
    late = (apart[40] / apart[20]) ** (1 / 20)
    assert fixed_point(layer).contraction == pytest.approx(late, rel=0.05)
