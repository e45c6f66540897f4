"""Truncated backpropagation: the same as torch's own gradients where the loop is cut by hand, and no value changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn

from explorer.network.changing.truncation import truncated

STEPS, INPUTS, UNITS = 11, 3, 4


@pytest.fixture(autouse=True)
def in_float64() -> Iterator[None]:
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def slopes(run: Callable[[Tensor], Tensor], x: Tensor, step: int) -> Tensor:
    """Return the sum over units of |d h(step) / d x_t|, (T, C)."""
    x = x.clone().requires_grad_(True)
    row = run(x)[step]
    return torch.stack([torch.autograd.grad(v, x, retain_graph=True)[0].abs() for v in row]).sum(0)


def by_hand(rnn: nn.RNN, x: Tensor, every: int) -> Tensor:
    """h(t) = tanh(W x(t) + b + U h(t-1) + c), with h detached before every `every`-th step."""
    h, out = x.new_zeros(UNITS), []
    for t, row in enumerate(x):
        h = h.detach() if t % every == 0 else h
        h = torch.tanh(
            rnn.weight_ih_l0 @ row + rnn.bias_ih_l0 + rnn.weight_hh_l0 @ h + rnn.bias_hh_l0  # type: ignore[operator]
        )
        out.append(h)
    return torch.stack(out)


@pytest.mark.parametrize("every", [1, 3, 4, 50])
@pytest.mark.parametrize("step", [0, 3, 7, STEPS - 1])
def test_a_cut_rnn_has_the_gradient_of_a_loop_cut_by_hand(every: int, step: int) -> None:
    rnn, x = nn.RNN(INPUTS, UNITS), torch.randn(STEPS, INPUTS)
    with truncated(rnn, every) as cuts:
        found = slopes(lambda v: rnn(v)[0], x, step)
    torch.testing.assert_close(found, slopes(lambda v: by_hand(rnn, v, every), x, step), rtol=1e-12, atol=1e-14)
    first = step // every * every
    assert not found[:first].any() and found[first : step + 1].any(1).all() and cuts.modules == {""}
    whole = slopes(lambda v: rnn(v)[0], x, step)
    torch.testing.assert_close(whole, slopes(lambda v: by_hand(rnn, v, 10**6), x, step), rtol=1e-12, atol=1e-14)
    assert first == 0 or not torch.allclose(whole, found), "what is cut is missing"


SETTINGS = [
    (kind, settings)
    for kind in (nn.RNN, nn.LSTM, nn.GRU)
    for settings in (
        {}, {"num_layers": 2, "bidirectional": True}, {"batch_first": True, "bias": False},
        *([{"proj_size": 2, "num_layers": 2}] if kind is nn.LSTM else []),
        *([{"nonlinearity": "relu"}] if kind is nn.RNN else []),
    )
]  # fmt: skip


@pytest.mark.parametrize(("kind", "settings"), SETTINGS, ids=lambda v: str(getattr(v, "__name__", v)))
@pytest.mark.parametrize("shape", [(STEPS, INPUTS), (STEPS, STEPS, INPUTS)], ids=["plain", "batch"])
def test_no_value_changes(kind: type[nn.RNNBase], settings: dict[str, object], shape: tuple[int, ...]) -> None:
    rnn, x = kind(INPUTS, UNITS, **settings), torch.randn(shape)  # type: ignore[arg-type]
    out, last = rnn(x)
    with truncated(rnn, 4):
        cut, end = rnn(x)
        again, _ = rnn(x, last)
    torch.testing.assert_close(cut, out, rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(end, last, rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(again, rnn(x, last)[0], rtol=1e-12, atol=1e-14)
    assert "forward" not in vars(rnn), "it is left as it was"


def test_backwards_layers_are_cut_in_their_own_order() -> None:
    rnn, x = nn.GRU(INPUTS, UNITS, bidirectional=True), torch.randn(STEPS, INPUTS)
    with truncated(rnn, 4):
        back = slopes(lambda v: rnn(v)[0][:, UNITS:], x, 2)
    # read from the end: pieces 10-7, 6-3, 2-0
    assert back[:3].any(1).tolist() == [False, False, True] and not back[3:].any()


class Looped(nn.Module):
    """A cell in a loop of one's own."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(INPUTS, UNITS)

    def forward(self, x: Tensor) -> Tensor:
        state, out = None, []
        for row in x:
            state = self.cell(row[None], state)
            out.append(state[0][0])
        return torch.stack(out)


def test_a_cell_in_a_loop_is_cut_too() -> None:
    looped, whole = Looped(), nn.LSTM(INPUTS, UNITS)
    whole.load_state_dict({f"{name}_l0": value for name, value in looped.cell.state_dict().items()})
    x = torch.randn(STEPS, INPUTS)
    with truncated(looped, 3) as cuts, truncated(whole, 3):
        one, two = slopes(looped, x, 7), slopes(lambda v: whole(v)[0], x, 7)
    torch.testing.assert_close(one, two, rtol=1e-12, atol=1e-14)
    assert cuts.modules == {"cell"} and not looped.cell._forward_pre_hooks


def test_nothing_is_cut_without_a_number_and_nothing_can_be_cut_by_zero() -> None:
    rnn, x = nn.RNN(INPUTS, UNITS), torch.randn(STEPS, INPUTS)
    with truncated(rnn, None) as cuts:
        assert slopes(lambda v: rnn(v)[0], x, 9).any(1)[:10].all() and not cuts.modules
    with pytest.raises(ValueError, match="at least one step, not 0"), truncated(rnn, 0):
        pass
    with truncated(nn.Linear(3, 3), 4) as cuts:
        assert not cuts.modules
