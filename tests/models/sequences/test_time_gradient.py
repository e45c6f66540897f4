"""The gradient through time of the engine, whole and truncated, beside torch's own networks cut by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import models
from explorer.app.answering.engine import LocalEngine
from explorer.declare.registry import scan
from explorer.network.changing.truncation import truncated
from explorer.network.opening.loading import load_model
from explorer.spaces.sequence.drawing.values import TimePart
from explorer.state.state import State
from models.sequences.recurrent.stacked import copied

STEPS, EVERY = 13, 4


def slopes(run: Any, x: Tensor, step: int) -> Tensor:
    x = x.clone().requires_grad_(True)
    row = run(x)[step]
    return torch.stack([torch.autograd.grad(v, x, retain_graph=True)[0].abs() for v in row]).sum(0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
@pytest.mark.parametrize("settings", [{}, {"num_layers": 2, "bidirectional": True}], ids=["one way", "both ways"])
def test_our_recurrences_are_cut_like_torchs(kind: type[nn.RNNBase], settings: dict[str, Any]) -> None:
    torch.manual_seed(0)
    peer = kind(3, 4, **settings).double()
    ours, x = copied(peer), torch.randn(STEPS, 3, dtype=torch.float64)
    whole = ours(x)
    for step in (0, 3, 6, STEPS - 1):
        full = slopes(ours, x, step)
        with truncated(ours, EVERY) as cuts, truncated(peer, EVERY):
            assert torch.equal(ours(x), whole), "values stay the same"
            one, two = slopes(ours, x, step), slopes(lambda v: peer(v)[0], x, step)
        torch.testing.assert_close(one, two, rtol=1e-10, atol=1e-13)
        assert len(cuts.modules) == len([m for m in ours.modules() if hasattr(m, "detach_every")])
        assert (step < EVERY and not settings) or not torch.allclose(one, full)
    assert all(m.detach_every is None for m in ours.modules() if hasattr(m, "detach_every"))


def answered(state: State) -> TimePart:
    engine = LocalEngine(scan(models, "CARD"))
    first = engine.answer(state, lambda: False)
    part = [first, *engine.refine(first)][-1].squares[0].of(TimePart)
    engine.close()
    assert part is not None
    return part


def test_the_engine_sends_both_gradients_of_the_selected_step() -> None:
    state = State(model="simple-rnn", sample="sine", layer="recurrent", node=70, truncate=32, dtype="float64")
    part = answered(state)
    assert part.gradient is not None and part.truncated is not None and part.cuts == 1
    model: Any = load_model(scan(models, "CARD")["simple-rnn"], {}).double()
    x = torch.from_numpy(part.x.copy()).double()
    layer = model.recurrent

    def by_hand(x: Tensor) -> Tensor:
        (h,), out = layer.beginning(1), []
        for t, given in enumerate(layer.projected(x[:, None])):
            h = h.detach() if t % 32 == 0 else h
            (h,) = layer.step(given, (h,))
            out.append(h[0])
        return torch.stack(out)

    np.testing.assert_allclose(part.truncated, slopes(by_hand, x, 70).sum(1), rtol=1e-5, atol=1e-12)
    assert not part.truncated[:64].any() and part.gradient[:64].all()
    np.testing.assert_allclose(part.truncated[64:], part.gradient[64:], rtol=1e-6)


def test_where_no_state_runs_through_time_nothing_is_cut() -> None:
    part = answered(State(model="plain-dna-cnn", node=20, truncate=5, layer="scan"))
    assert part.gradient is not None and part.truncated is not None
    assert part.cuts == 0 and np.array_equal(part.gradient, part.truncated)
    without = answered(State(model="simple-rnn", sample="sine", layer="recurrent", node=70))
    assert without.gradient is not None and without.truncated is None


def test_the_command_and_the_epoch_know_of_the_truncation() -> None:
    state = State(model="simple-rnn", sample="sine", node=70, truncate=32)
    assert "--truncate 32" in state.command() and "--truncate" not in State().command()
    assert state.epoch == State(model="simple-rnn", sample="sine").epoch, "F(x) is the same"
