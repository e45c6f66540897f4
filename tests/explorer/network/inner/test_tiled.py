"""A matrix of attention that is never formed is measured as one that is."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from explorer.declare.elements import Element, NoAction
from explorer.declare.types.fields import PAIR
from explorer.equivariance import measure
from explorer.network.describing.statistics import moments, statistics
from explorer.network.inner import tiled
from explorer.network.inner.factors import Factors
from explorer.network.inner.tiled import Tiled, matrix
from explorer.spaces.graph.elements.relabelling import GraphMap
from explorer.spaces.sequence.elements.time_map import TimeMap
from explorer.square.drawing.pair_rows import on_demand

T, HEADS = 37, 4


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


MASKS: dict[str, dict[str, Any]] = {
    "plain": {},
    "causal": {"causal": True},
    "bool": {"masks": (drawn(T, T) > -0.5,)},
    "several": {"masks": (drawn(T, T) > -0.5, drawn(HEADS, T, T)), "causal": True},
}
ORDER = np.random.default_rng(0).permutation(T)
ELEMENTS: dict[str, Element] = {
    "circular shift": TimeMap(shift=3, boundary="circular"),
    "reversal": TimeMap(backwards=True),
    "shift": TimeMap(shift=3, boundary="zero"),
    "permutation": GraphMap(ORDER, np.arange(0), 1.0, T, 0),
}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiled, "BLOCK", 200)


def factors(masks: str, seed: int = 0) -> Factors:
    return Factors(drawn(1, HEADS, T, 5, seed=seed), drawn(1, 2, T, 5, seed=seed + 1), **MASKS[masks])


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("masks", MASKS)
def test_every_figure_is_that_of_the_matrix(masks: str, element: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other, g = factors(masks), factors(masks, 2), ELEMENTS[element]
    formed, moved = one.rows(0, T), other.rows(0, T)
    never, later = Tiled.of(one), Tiled.of(other)
    assert never.shape == formed.shape
    where = measure.mask(g, formed, PAIR)
    back = measure.there_and_back(g, formed, PAIR)
    monkeypatch.setattr(tiled, "MOST_FORMED", 100)
    same = measure.mask(g, never, PAIR)
    assert (where.places is None) == (same.places is None)
    assert same.places is None or isinstance(same.places, Tiled)
    assert same.kept == pytest.approx(where.kept)
    expected, found = g.act(formed, PAIR), g.act(never, PAIR)
    assert isinstance(found, Tiled)
    a, b = measure.distance(expected, moved, where, PAIR), measure.distance(found, later, same, PAIR)
    for figure in ("relative", "max_abs", "mean_abs", "decibel"):
        assert torch.allclose(getattr(a, figure), getattr(b, figure), rtol=1e-12), figure
    apart = measure.channel_errors(expected, moved, where, PAIR), measure.channel_errors(found, later, same, PAIR)
    assert torch.allclose(*apart, rtol=1e-12)
    assert torch.allclose(measure.there_and_back(g, never, PAIR), back, rtol=1e-12)


@pytest.mark.parametrize("masks", MASKS)
def test_what_is_drawn_is_what_it_is(masks: str) -> None:
    one, other = factors(masks), factors(masks, 2)
    formed, rows = one.rows(0, T)[0].numpy(), on_demand(Tiled.of(one))
    apart = on_demand(Tiled.of(one) - Tiled.of(other))  # type: ignore[arg-type]
    assert rows.shape == (HEADS, T, T)
    assert np.abs(rows[2][5] - formed[2, 5]).max() < 1e-6
    assert np.abs(rows[1][3:9, 4:20] - formed[1, 3:9, 4:20]).max() < 1e-6
    assert np.abs(rows[1][np.ix_(ORDER[:6], ORDER[3:9])] - formed[1][np.ix_(ORDER[:6], ORDER[3:9])]).max() < 1e-6
    assert np.abs(rows.mean(0)[7] - formed.mean(0)[7]).max() < 1e-6
    assert np.abs(rows[0].mean(0) - formed[0].mean(0)).max() < 1e-6
    assert np.abs(apart[3][:] - (formed - other.rows(0, T)[0].numpy())[3]).max() < 1e-6
    assert np.abs(np.asarray(rows) - formed).max() < 1e-6


@pytest.mark.parametrize("element", ELEMENTS)
def test_what_is_expected_is_drawn_as_it_is(element: str) -> None:
    """A shift cuts off rows and columns."""
    one, other, g = factors("causal"), factors("causal", 2), ELEMENTS[element]
    formed, never = g.act(one.rows(0, T), PAIR), g.act(Tiled.of(one), PAIR)
    assert np.abs(on_demand(never)[1][:] - formed[0, 1].numpy()).max() < 1e-6  # type: ignore[arg-type]
    apart = on_demand(never - Tiled.of(other))  # type: ignore[arg-type]
    wanted = (formed - other.rows(0, T))[0, 2].numpy()
    assert np.abs(apart[2][4:9, 3:20] - wanted[4:9, 3:20]).max() < 1e-6


def test_its_picture_is_made_of_rows_and_of_means_of_columns() -> None:
    one, other = factors("causal"), factors("causal", 2)
    formed = one.rows(0, T)[0]
    assert (Tiled.of(one).coarse(T) - formed).abs().max() < 1e-6
    rows = formed[:, torch.linspace(0, T - 1, 10).round().long()]
    wanted = torch.nn.functional.adaptive_avg_pool1d(rows, 10)
    assert (Tiled.of(one).coarse(10) - wanted).abs().max() < 1e-6
    apart = Tiled.of(one) - Tiled.of(other)
    assert (apart.coarse(T) - (formed - other.rows(0, T)[0])).abs().max() < 1e-6  # type: ignore[attr-defined]


def test_of_a_large_matrix_evenly_spaced_rows_stand_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = factors("plain"), factors("plain", 2)
    whole = measure.distance(Tiled.of(one), Tiled.of(other), measure.EVERYWHERE, PAIR)
    monkeypatch.setattr(tiled, "LOOKED_AT", HEADS * T * 16)
    assert tiled.rows_looked_at(HEADS, T, T) == 16
    some = measure.distance(Tiled.of(one), Tiled.of(other), measure.EVERYWHERE, PAIR)
    assert float(some.relative) == pytest.approx(float(whole.relative), rel=0.2)
    assert float(some.relative) != float(whole.relative)
    assert float(Tiled.of(one).sum()) == pytest.approx(HEADS * T)  # every row sums to one


def test_what_would_form_it_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="never formed"):
        torch.linalg.svd(Tiled.of(factors("plain")))


def test_it_is_formed_only_where_it_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    one = factors("plain")
    assert not isinstance(matrix(one), Tiled)
    monkeypatch.setattr(tiled, "MOST_FORMED", 100)
    assert isinstance(matrix(one), Tiled)


def test_it_is_moved_by_whole_steps_only() -> None:
    with pytest.raises(NoAction, match="whole steps"):
        TimeMap(shift=2.5).act(Tiled.of(factors("plain")), PAIR)


def test_its_rows_are_worked_out_in_another_process_too() -> None:
    """Arrays that have crossed are read-only: the sums of rows are kept in an array of the reader's own."""

    def crossed(values: object) -> Any:
        parts: list[pickle.PickleBuffer] = []
        data = pickle.dumps(values, protocol=5, buffer_callback=parts.append)
        return pickle.loads(data, buffers=[bytes(part.raw()) for part in parts])

    one = Tiled.of(factors("plain"))
    here = on_demand(one)
    first = np.asarray(here[0][3:5])
    there = crossed(here)
    assert not there.planes[0].query.flags.writeable
    assert np.array_equal(np.asarray(there[0][3:5]), first) and np.array_equal(there[1][:4], here[1][:4])


def test_its_statistics_are_those_of_the_rows_that_are_looked_at() -> None:
    one = Tiled.of(factors("plain"))
    whole = torch.cat(list(one.blocks()))
    assert (
        statistics({"a": one})["a"] == statistics({"a": whole})["a"] == statistics({"a": one}, {"a": moments(one)})["a"]
    )
