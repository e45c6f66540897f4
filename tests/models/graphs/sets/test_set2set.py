"""Set2Set against torch_geometric's with the same weights, and the law of permutations."""

from __future__ import annotations

import pytest
import torch

from models.graphs.sets.set2set import ASKED, CARD, Set2Set, SetReader, judge
from tests.models.sequences.sequence_layers import layers, trained

TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-12}


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("steps", [1, 3, 6])
def test_it_gives_the_numbers_of_torch_geometric(dtype: torch.dtype, steps: int) -> None:
    from torch_geometric.nn import Set2Set as Theirs

    torch.manual_seed(steps)
    ours = Set2Set(7, steps).to(dtype)
    theirs = Theirs(7, steps).to(dtype)
    theirs.load_state_dict(ours.state_dict())
    x, batch = torch.randn(20, 7, dtype=dtype), torch.tensor([0] * 4 + [1] + [2] * 15)
    torch.testing.assert_close(ours(x, batch), theirs(x, batch), rtol=0, atol=TOLERANCE[dtype])


def test_the_order_of_the_elements_does_not_matter() -> None:
    network = trained(CARD)
    x, batch = torch.rand(9, 1, dtype=torch.float64), torch.tensor([0] * 5 + [1] * 4)
    order = torch.randperm(9)
    plain, moved = layers(network, x, batch), layers(network, x[order], batch[order])
    torch.testing.assert_close(moved["answer"], plain["answer"], rtol=0, atol=1e-9)
    torch.testing.assert_close(moved["set2set.attention"], plain["set2set.attention"][order], rtol=0, atol=1e-9)
    assert float((plain["answer"][0] - plain["answer"][1]).abs().max()) > 1e-3  # two sets, two answers


def test_attention_sums_to_one_in_each_set_at_each_look() -> None:
    x, batch = torch.rand(9, 1, dtype=torch.float64), torch.tensor([0] * 5 + [1] * 4)
    for looks in (1, 8):
        attention = layers(trained(CARD, looks=looks), x, batch)["set2set.attention"]
        assert attention.shape == (9, looks)
        sums = torch.stack([attention[:5].sum(0), attention[5:].sum(0)])
        torch.testing.assert_close(sums, torch.ones_like(sums), rtol=0, atol=1e-12)


def test_the_notes_say_how_far_off_the_answers_are() -> None:
    network = trained(CARD).float()
    assert isinstance(network, SetReader)
    with torch.no_grad():
        found = judge(network)
    for name in ASKED:
        assert f"{name} {found[name]:.3f}" in CARD.notes[0], found
