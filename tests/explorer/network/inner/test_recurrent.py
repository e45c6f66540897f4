"""Gates and states of torch's recurrent layers are worked out as torch itself computes them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence

import equiscope
from explorer.network.inner.recurrent import gates, of_cell
from explorer.network.tracing.capture import capture
from explorer.network.tracing.trace import trace

STEPS, BATCH, WIDTH, UNITS = 9, 3, 4, 5


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


MADE: dict[str, tuple[type[nn.RNNBase], dict[str, Any]]] = {
    "lstm": (nn.LSTM, {}),
    "lstm, two layers both ways": (nn.LSTM, {"num_layers": 2, "bidirectional": True}),
    "lstm, projected": (nn.LSTM, {"num_layers": 2, "proj_size": 3, "bidirectional": True}),
    "lstm without bias": (nn.LSTM, {"bias": False}),
    "gru": (nn.GRU, {"num_layers": 2, "bidirectional": True}),
    "gru without bias": (nn.GRU, {"bias": False}),
    "rnn": (nn.RNN, {"num_layers": 2}),
    "rnn, relu, both ways": (nn.RNN, {"nonlinearity": "relu", "bidirectional": True}),
}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("form", ["steps first", "batch first", "no batch", "packed", "started"])
def test_hidden_states_are_those_of_torch(name: str, form: str) -> None:
    kind, options = MADE[name]
    torch.manual_seed(0)
    module = kind(WIDTH, UNITS, batch_first=form == "batch first", **options).double().eval()
    given: Any = drawn(STEPS, WIDTH) if form == "no batch" else drawn(STEPS, BATCH, WIDTH)
    start: Any = None
    if form == "batch first":
        given = given.transpose(0, 1)
    if form == "packed":
        given = pack_padded_sequence(given, torch.tensor([4, 9, 6]), enforce_sorted=False)
    directions = 2 if module.bidirectional else 1
    if form == "started":
        width = module.proj_size or UNITS
        h, c = (drawn(directions * module.num_layers, BATCH, n) for n in (width, UNITS))
        start = (h, c) if kind is nn.LSTM else h
    with torch.no_grad():
        out, last = module(given, start)
        values = gates(module, given, start)
    if form == "packed":
        out = nn.utils.rnn.pad_packed_sequence(out)[0]
    top = [values[f"l{module.num_layers - 1}{s}.hidden"] for s in ("", "_reverse")[:directions]]
    assert (torch.cat(top, -1) - out).abs().max() < 1e-12
    if kind is nn.LSTM and form == "steps first":
        cell = values[f"l{module.num_layers - 1}.cell"]
        assert (cell[-1] - last[1][directions * (module.num_layers - 1)]).abs().max() < 1e-12
        i, f, g, o = (values[f"l0.{n}"] for n in ("input_gate", "forget_gate", "cell_candidate", "output_gate"))
        c = values["l0.cell"]
        assert (f[1:] * c[:-1] + i[1:] * g[1:] - c[1:]).abs().max() < 1e-12
        if not module.proj_size:
            assert (o * c.tanh() - values["l0.hidden"]).abs().max() < 1e-12


@pytest.mark.parametrize("kind", [nn.LSTMCell, nn.GRUCell, nn.RNNCell])
def test_a_cell_gives_what_torch_gives(kind: type[nn.RNNCellBase]) -> None:
    torch.manual_seed(0)
    cell = kind(WIDTH, UNITS).double()
    h, c = drawn(BATCH, UNITS), drawn(BATCH, UNITS).flip(0)
    start: Any = (h, c) if kind is nn.LSTMCell else h
    with torch.no_grad():
        answer = cell(drawn(BATCH, WIDTH), start)
        values = of_cell(cell, drawn(BATCH, WIDTH), start)
        alone = of_cell(cell, drawn(BATCH, WIDTH))
        plain = cell(drawn(BATCH, WIDTH))
    first = answer[0] if kind is nn.LSTMCell else answer
    assert (values["hidden"] - first).abs().max() < 1e-12
    assert (alone["hidden"] - (plain[0] if kind is nn.LSTMCell else plain)).abs().max() < 1e-12


class Loop(nn.Module):
    def __init__(self, back: bool) -> None:
        super().__init__()
        self.back, self.cell = back, nn.GRUCell(WIDTH, UNITS)

    def forward(self, x: Tensor) -> Tensor:
        h, out = x.new_zeros(1, UNITS), [x.new_zeros(1, UNITS)] * len(x)
        for t in reversed(range(len(x))) if self.back else range(len(x)):
            h = out[t] = self.cell(x[t], h)
        return torch.stack(out)


@pytest.mark.parametrize("back", [False, True])
def test_the_gates_of_a_persons_loop_lie_along_time(back: bool) -> None:
    torch.manual_seed(0)
    model = Loop(back).double().eval()
    x = equiscope.sequence(drawn(STEPS, WIDTH), layout="TNC")
    with torch.no_grad():
        traced = trace(model, x)
        values, _ = capture(model, x, ["cell.hidden", "cell.update", "output"])
    assert str(traced["cell.hidden"].field) == "step scalar"
    assert (values["cell.hidden"] - values["output"][:, 0]).abs().max() < 1e-12
    assert values["cell.update"].shape == (STEPS, UNITS)


def test_gates_are_layers_with_the_axes_of_the_answer() -> None:
    torch.manual_seed(0)

    class Packed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.plain = nn.LSTM(WIDTH, UNITS, batch_first=True)
            self.packed = nn.GRU(UNITS, UNITS)

        def forward(self, x: Tensor) -> Tensor:
            h, _ = self.plain(x)
            out, _ = self.packed(pack_sequence([h[0]]))
            return out.data

    model = Packed().double().eval()
    x = equiscope.sequence(drawn(STEPS, WIDTH), layout="NTC")
    with torch.no_grad():
        traced = trace(model, x)
        values, _ = capture(model, x, [n.name for n in traced.layers])
    assert str(traced["plain.l0.forget_gate"].field) == "step scalar on axis 1"
    assert values["packed.l0.update"].shape == (STEPS, UNITS)
    assert (values["packed.l0.hidden"] - values["packed"]).abs().max() < 1e-12
    assert str(traced["packed.l0.update"].field) == "step scalar"
