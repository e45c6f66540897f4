"""Stacked and bidirectional networks against torch.nn, and what depth and direction do to the law of shifts."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from torch import Tensor, nn

from models.layers.recurrent.gru import GRU
from models.layers.recurrent.lstm import LSTM
from models.layers.recurrent.recurrence import Recurrence
from models.layers.recurrent.simple_rnn import SimpleRNN
from models.sequences.recurrent.stacked import CARD, Stacked, copied

TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-12}
PEERS = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}


def shifted(x: Tensor, s: int) -> Tensor:
    return torch.cat([torch.zeros_like(x[:s]), x[: len(x) - s]])


@torch.no_grad()
def shift_error(model: nn.Module, x: Tensor, s: int) -> float:
    return float((model(shifted(x, s))[s:] - model(x)[: len(x) - s]).abs().max())


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("recorded", [True, False])
def test_the_numbers_of_torch_nn(
    peer: str, dtype: torch.dtype, depth: int, bidirectional: bool, recorded: bool
) -> None:
    torch.manual_seed(0)
    theirs = PEERS[peer](3, 8, num_layers=depth, bidirectional=bidirectional).to(dtype)
    ours, x = copied(theirs), torch.randn(40, 5, 3, dtype=dtype)
    with torch.set_grad_enabled(not recorded):
        expected = theirs(x)[0]
        torch.testing.assert_close(ours(x[:, 0]), expected[:, 0], rtol=0, atol=TOLERANCE[dtype])
        found = ours.batched(x.transpose(0, 1)).transpose(0, 1)
        torch.testing.assert_close(found, expected, rtol=0, atol=TOLERANCE[dtype])


def test_relu_is_copied_and_what_has_no_counterpart_is_refused() -> None:
    theirs = nn.RNN(2, 4, nonlinearity="relu")
    x = torch.randn(20, 2)
    torch.testing.assert_close(copied(theirs)(x), theirs(x)[0], rtol=0, atol=1e-6)
    with pytest.raises(ValueError, match="projection or without biases"):
        copied(nn.LSTM(2, 4, proj_size=2))
    with pytest.raises(ValueError, match="projection or without biases"):
        copied(nn.GRU(2, 4, bias=False))


@pytest.mark.parametrize("kind", [SimpleRNN, LSTM, GRU])
def test_a_stack_commutes_with_shifts_from_the_fixed_points_of_its_layers(kind: type[Recurrence]) -> None:
    torch.manual_seed(0)
    x = torch.randn(50, 2, dtype=torch.float64)
    stack = Stacked(kind, 2, 6, depth=3).double()
    assert shift_error(stack, x, 5) < 1e-9
    assert shift_error(Stacked(kind, 2, 6, depth=3, start="zero").double(), x, 5) > 1e-3
    layers = [m for m in stack.modules() if isinstance(m, Recurrence)]
    assert [m.fed_by for m in layers] == [(), *((below,) for below, _ in pairwise(layers))]
    for layer in layers:
        layer.fed_by = ()  # as if zeros came in before the first step: not what the layer below sends
    assert shift_error(stack, x, 5) > 1e-4


def test_a_backward_half_commutes_only_where_nothing_is_pushed_out() -> None:
    torch.manual_seed(0)
    x = torch.randn(50, 2, dtype=torch.float64)
    one, two = (Stacked(LSTM, 2, 6, depth, bidirectional=True).double() for depth in (1, 2))
    assert shift_error(one, x, 5) > 1e-4
    x[-5:] = 0.0
    assert shift_error(one, x, 5) < 1e-9
    assert shift_error(two, x, 5) > 1e-4  # its first layer looks ahead from the padding: no rest for the second


def test_the_backward_half_reads_the_sequence_from_its_end() -> None:
    torch.manual_seed(0)
    stack = Stacked(GRU, 2, 4, bidirectional=True)
    x = torch.randn(20, 2, requires_grad=True)
    (seen,) = torch.autograd.grad(stack(x)[7, :4].sum(), x, retain_graph=True)
    assert (seen.abs().sum(1) > 0).tolist() == [t <= 7 for t in range(20)]
    (seen,) = torch.autograd.grad(stack(x)[7, 4:].sum(), x)
    assert (seen.abs().sum(1) > 0).tolist() == [t >= 7 for t in range(20)]


def test_a_copy_of_a_stack_rests_on_its_own_layers() -> None:
    import copy

    stack = Stacked(GRU, 2, 4, depth=2).double()
    other = copy.deepcopy(stack)
    first, second = (m for m in other.modules() if isinstance(m, Recurrence))
    assert second.fed_by == (first,)
    assert len(stack.state_dict()) == 8  # layers below are not parts of those above


def test_gates_of_both_halves_are_aligned_with_the_input() -> None:
    model = CARD.build(units=4, depth=2)
    seen: dict[str, Tensor] = {}
    for name, module in model.named_modules():
        if name.endswith(("forget_gate", "hidden")):
            module.register_forward_hook(lambda _, __, v, name=name: seen.update({name: v}))
    with torch.no_grad():
        assert model(torch.randn(9, 1)).shape == (9, 1)
    assert len(seen) == 8 and {v.shape for v in seen.values()} == {(9, 4)}
    backward = model.recurrent.layer1.right_to_left
    x = torch.randn(9, 1)
    with torch.no_grad():
        whole, tail = backward(x), backward(x[4:])
    torch.testing.assert_close(whole[4:], tail)
    assert model.batched(torch.randn(3, 9, 1)).shape == (3, 9, 1)
