"""A network that is changed along with the signal, and the floor of elements that cut something off."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from explorer.app.answering.engine import LocalEngine
from explorer.declare.card import Card
from explorer.declare.elements import chain_element, parse_chain
from explorer.declare.types.fields import FieldType, Pairs
from explorer.equivariance.measure import there_and_back
from explorer.network.changing.moved_network import following
from explorer.spaces.sequence.fields import STEP
from explorer.spaces.sequence.network.form import SequenceInput
from explorer.square.frame import Measure
from explorer.state.state import State


class Decay(nn.Module):
    """y(t) = y(t-1) + pace (x(t) - y(t-1)); (T, C) -> (T, C)."""

    out_field = STEP

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.pace, self.alpha = 0.1, alpha

    def forward(self, x: Tensor) -> Tensor:
        y, found = x[0], []
        for now in x:
            y = torch.lerp(y, now, self.pace)
            found.append(y)
        return torch.stack(found)

    @contextmanager
    def following(self) -> Iterator[None]:
        pace, self.pace = self.pace, self.pace * self.alpha
        try:
            yield
        finally:
            self.pace = pace


def network(alpha: float = 1.0) -> nn.Module:
    return nn.Sequential(Decay(alpha))


CARD = Card(
    name="decay", title="Decay", rows=(), reference="", equation="", summary="", domain="sequence", sample="sine",
    build=network, input=SequenceInput(),
)  # fmt: skip


def measured(alpha: float, chain: str) -> Measure:
    engine = LocalEngine({"decay": replace(CARD, build=partial(network, alpha))})
    frame = engine.answer(State("decay", steps=parse_chain(chain), layer="0", device="cpu"), lambda: False)
    return frame.squares[0].measures["0"]


def test_modules_are_changed_inside_the_block_and_as_before_after_it() -> None:
    model = nn.Sequential(Decay(0.5), Decay())
    with following(model) as changed:
        assert changed and [m.pace for m in model] == [0.05, 0.1]
    assert [m.pace for m in model] == [0.1, 0.1]
    with pytest.raises(KeyError), following(model):
        raise KeyError
    assert model[0].pace == 0.1
    with following(nn.Sequential(Decay(), nn.Linear(1, 1))) as changed:
        assert not changed


def test_what_follows_the_element_has_a_smaller_error() -> None:
    still, right, wrong = (measured(alpha, "rescale:0.5").cumulative for alpha in (1.0, 0.5, 0.1))
    assert still is not None and right is not None and wrong is not None
    assert right < 0.25 * still and right < 0.25 * wrong


def test_where_nothing_moves_a_changed_network_is_seen_to_differ_from_itself() -> None:
    assert measured(1.0, "").cumulative == 0.0
    assert measured(0.5, "").cumulative > 0.05  # type: ignore[operator]


def test_the_floor_does_not_count_what_was_cut_off() -> None:
    """Played at half speed the second half is lost; what is kept comes back exactly, as 2t are whole steps."""
    x = torch.randn(64, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    slow, fast = (chain_element(parse_chain(f"rescale:{rate}")) for rate in (0.5, 1.5))
    assert float(there_and_back(slow, x, STEP)) < 1e-12
    assert 0.01 < float(there_and_back(fast, x, STEP)) < 1.5  # between the steps of noise nothing is known
    pairs = FieldType(Pairs())
    assert float(there_and_back(slow, x[:, :1] * x[None, :, 0], pairs)) < 1e-12
