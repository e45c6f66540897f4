"""Aggregation is torch_geometric's; a sum counts what mean and max cannot (Xu et al., figure 3)."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch_geometric.nn import aggr
from torch_geometric.utils import degree

from models.graphs.message_passing.multisets import CARD, Aggregators
from models.layers.graph.aggregation import AGGREGATORS, Aggregate, Readout, aggregate, count
from tests.models.graphs.relabelling import declared, random_graph

ORACLES = {
    "sum": aggr.SumAggregation,
    "mean": aggr.MeanAggregation,
    "max": aggr.MaxAggregation,
    "min": aggr.MinAggregation,
    "std": aggr.StdAggregation,
}


@given(seed=st.integers(0, 10**6), rows=st.integers(0, 30), places=st.integers(1, 8))
def test_equal_to_torch_geometric(seed: int, rows: int, places: int) -> None:
    rng = torch.Generator().manual_seed(seed)
    values = torch.randn(rows, 3, generator=rng, dtype=torch.float64)
    index = torch.randint(places, (rows,), generator=rng)
    assert ORACLES.keys() == set(AGGREGATORS)
    for how, oracle in ORACLES.items():
        expected = oracle()(values, index, dim_size=places, dim=0)
        torch.testing.assert_close(aggregate(values, index, places, how), expected, rtol=1e-12, atol=1e-12)
    assert torch.equal(count(index, places, values.dtype)[:, 0], degree(index, places, dtype=values.dtype))


@pytest.mark.parametrize("variance", [0.0, 0.9e-5, 1.1e-5, 4.0])
def test_the_deviation_is_zero_up_to_its_floor(variance: float) -> None:
    values = torch.tensor([[1.0], [-1.0]], dtype=torch.float64) * math.sqrt(variance)
    index = torch.zeros(2, dtype=torch.int64)
    expected = math.sqrt(variance) if variance > 1e-5 else 0.0
    assert float(aggregate(values, index, 1, "std")) == pytest.approx(expected)
    values.requires_grad_()
    (slope,) = torch.autograd.grad(aggregate(values, index, 1, "std").sum(), values)
    assert torch.isfinite(slope).all()


def test_an_unknown_aggregation_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown aggregation 'median'"):
        aggregate(torch.zeros(1, 1), torch.zeros(1, dtype=torch.int64), 1, "median")


def results(*neighbours: Tensor) -> dict[str, Tensor]:
    """Return each aggregator's answer on a star whose leaves carry these values, (C,)."""
    x = torch.stack([torch.zeros_like(neighbours[0]), *neighbours])
    leaves = torch.arange(1, len(x))
    found = declared(Aggregators(), {"x": x, "edge_index": torch.stack([leaves, torch.zeros_like(leaves)])})
    assert torch.equal(found["messages"][1], x[1:])
    return {how: found[how][1][0] for how in AGGREGATORS}


def same(one: dict[str, Tensor], two: dict[str, Tensor]) -> set[str]:
    return {how for how in one if torch.allclose(one[how], two[how])}


def test_multisets_that_only_a_sum_tells_apart() -> None:
    a, b = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])
    doubled = same(results(a, b), results(a, a, b, b))
    assert doubled == {"mean", "max", "min", "std"}
    other_shares = same(results(a, b), results(a, a, b))
    assert other_shares == {"max", "min"}
    assert same(results(a), results(a, a, a)) == {"mean", "max", "min", "std"}
    assert same(results(a, b), results(b, a)) == set(AGGREGATORS)


def test_what_sums_cannot_tell_apart() -> None:
    """A sum alone is not enough either: {0, 2} and {1, 1}, and {0} and nothing."""
    zero, one, two = (torch.tensor([float(k)]) for k in range(3))
    assert same(results(zero, two), results(one, one)) == {"sum", "mean"}
    assert same(results(zero), results(zero, zero)) == set(AGGREGATORS)


def test_on_a_constant_the_sum_is_the_degree() -> None:
    signals = random_graph(CARD, edges=30)
    signals["x"] = torch.ones(11, 1, dtype=torch.float64)
    y = Aggregators()(*signals.values())
    entering = degree(signals["edge_index"][1], 11, dtype=torch.float64)
    some = (entering > 0).double()
    torch.testing.assert_close(
        y, torch.stack([entering, some, some, some, torch.zeros(11, dtype=torch.float64)], dim=1)
    )


def test_layers_say_what_they_do() -> None:
    x = torch.tensor([[1.0], [5.0], [2.0]])
    index = torch.tensor([[0, 1], [2, 2]])
    assert Aggregate("max")(x[index[0]], index, x).tolist() == [[0.0], [0.0], [5.0]]
    assert Readout("mean")(x, torch.tensor([0, 0, 1])).tolist() == [[3.0], [2.0]]
