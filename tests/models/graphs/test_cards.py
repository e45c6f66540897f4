"""The contract of every card on graphs and sets: it runs at every extreme, and its claim is true.

The law is tested on the network's answer with a renumbering written here (tests/models/graphs/relabelling.py), not with
explorer/equivariance: the two check each other.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import models
from explorer.app.answering.engine import LocalEngine
from explorer.data.finding import find_sample, fitted
from explorer.declare.card import Card
from explorer.declare.elements import parse_chain
from explorer.declare.registry import scan
from explorer.network.input.inputs import inputs_from
from explorer.network.opening.loading import load_model
from explorer.spaces.graph.network.form import GraphInput
from explorer.state.state import State

CARDS: dict[str, Card] = {n: c for n, c in scan(models, "CARD").items() if c.domain in ("graph", "set")}
CLAIMING = sorted(n for n, c in CARDS.items() if "permutation" in c.groups)
EXACT = 1e-9
SLOW = {"gnn-explainer"}  # fits a mask in every pass

each_card = pytest.mark.parametrize("name", sorted(CARDS))


@cache
def engine() -> LocalEngine:
    return LocalEngine(scan(models, "CARD"))


def arguments(card: Card, dtype: torch.dtype, sample: str = "") -> tuple[Tensor, ...]:
    found = fitted(find_sample(sample or card.sample, 0), card.input)
    return inputs_from(found, card.input, torch.device("cpu"), dtype).values


def settings(card: Card) -> list[dict[str, float]]:
    """Return the defaults, then every extreme and every choice of one parameter at a time."""
    defaults = {p.name: p.default for p in card.params}
    found = [defaults]
    for p in card.params:
        extremes = range(len(p.choices)) if p.choices else (p.minimum, min(p.maximum, 1e3))
        found += [{**defaults, p.name: float(value)} for value in extremes]
    return found


@each_card
def test_a_network_runs_at_every_extreme_of_its_parameters(name: str) -> None:
    card = CARDS[name]
    given = arguments(card, torch.float32)
    for values in settings(card)[: 2 if name in SLOW else None]:
        network = card.build(**values).eval()
        before = [v.clone() for v in given]
        with torch.no_grad():
            y = network(*given)
        assert isinstance(y, Tensor) and y.is_floating_point() and torch.isfinite(y).all(), values
        assert all(torch.equal(a, b) for a, b in zip(given, before, strict=True)), f"an input was changed: {values}"
        assert not card.labels or y.shape[-1] == len(card.labels), values


@each_card
def test_a_set_of_one_and_a_graph_without_edges_are_no_trouble(name: str) -> None:
    card = CARDS[name]
    assert isinstance(card.input, GraphInput)
    width = next(v.shape[1] for v in arguments(card, torch.float32))
    x = torch.rand(1, width)
    shapes: dict[str, Any] = {
        "x": x, "edge_index": torch.zeros((2, 0), dtype=torch.int64), "batch": torch.zeros(1, dtype=torch.int64),
        "edge_weight": torch.zeros(0), "edge_attr": torch.zeros(0, card.input.edge_channels or 1),
        "position": torch.rand(1, 3),
    }  # fmt: skip
    network = card.build(**{p.name: p.default for p in card.params}).eval()
    with torch.no_grad():
        y = network(*(shapes[s] for s in card.input.signals))
    assert torch.isfinite(y).all()


ODD: dict[str, dict[str, Any]] = {
    "one node": {"nodes": [{"id": 0}], "links": []},
    "no edges": {"nodes": [{"id": i} for i in range(3)], "links": []},
    "a self-loop": {"nodes": [{"id": 0}], "links": [{"source": 0, "target": 0}]},
    "parallel and directed": {
        "directed": True,
        "multigraph": True,
        "nodes": [{"id": i} for i in range(4)],
        "links": [{"source": a, "target": b} for a, b in ((0, 1), (0, 1), (1, 1), (2, 0))],
    },
}


@each_card
def test_odd_graphs_from_files_are_answered_and_measured(name: str, tmp_path: Path) -> None:
    card = CARDS[name]
    assert isinstance(card.input, GraphInput)
    if card.input.features == "position":
        with pytest.raises(ValueError, match="has no coordinates"):
            fitted(find_sample("graph:9x12"), card.input)
        return
    for what, content in ODD.items():
        path = tmp_path / f"{what}.json"
        path.write_text(json.dumps(content))
        wanted = State(name, sample=str(path), steps=parse_chain("permute:3"), node=0, device="cpu")
        frame = engine().answer(wanted, lambda: False)
        (square,) = [frame, *engine().refine(frame)][-1].squares
        measures = square.measures.values()
        assert all(m.cumulative is None or np.isfinite(m.cumulative) for m in measures), what
        assert np.isfinite(square.output).all(), what
        if card.groups and not name.startswith("fault-"):
            assert all(m.verdict != "broken" for m in measures), what


def renumbered(names: tuple[str, ...], given: tuple[Tensor, ...], seed: int) -> tuple[tuple[Tensor, ...], np.ndarray]:
    """Return the same graph with other numbers and its edges listed in another order; node i becomes order[i]."""
    rng = np.random.default_rng(seed)
    order = torch.from_numpy(rng.permutation(len(given[0])))
    index = given[names.index("edge_index")] if "edge_index" in names else None
    edges = torch.from_numpy(rng.permutation(0 if index is None else index.shape[1]))
    moved = []
    for name, value in zip(names, given, strict=True):
        if name == "edge_index":
            moved.append(order[value][:, edges])
        elif name.startswith("edge"):
            moved.append(value[edges])
        else:
            fresh = torch.empty_like(value)
            fresh[order] = value
            moved.append(fresh)
    return tuple(moved), order.numpy()


def back(answer: Tensor, order: np.ndarray, kind: str) -> Tensor:
    at = torch.from_numpy(order)
    match kind:
        case "node":
            return answer[at]
        case "pair":
            return answer[..., at, :][..., at]
        case _:
            return answer


def law_error(network: nn.Module, card: Card, kind: str, seed: int) -> float:
    assert isinstance(card.input, GraphInput)
    given = arguments(card, torch.float64)
    moved, order = renumbered(card.input.signals, given, seed)
    with torch.no_grad():
        y, z = network(*given), network(*moved)
    if kind == "edge":  # an answer for each edge: compared as multisets, which no order can change
        y, z = y.flatten().sort().values, z.flatten().sort().values
        order = np.arange(0)
    error = (back(z, order, kind) - y).norm()
    return float(error / y.norm().clamp_min(1e-12))


@pytest.mark.parametrize("name", [n for n in CLAIMING if n not in SLOW])
def test_claims_hold(name: str) -> None:
    card = CARDS[name]
    p = engine().prepared(State(model=name), name)
    field = p.trace[p.trace.output].field
    assert field is not None
    kind = field.domain.name
    network = load_model(card, {}).double()
    errors = [law_error(network, card, kind, seed) for seed in (1, 2)]
    assert max(errors) < EXACT, f"{name}: {errors}"


def test_a_law_that_nobody_claims_is_seen_broken() -> None:
    for name in CARDS:
        if name.startswith("fault-"):
            p = engine().prepared(State(model=name), name)
            field = p.trace[p.trace.output].field
            assert field is not None
            assert law_error(load_model(CARDS[name], {}).double(), CARDS[name], field.domain.name, 1) > 1e-3, name


@each_card
def test_every_value_a_person_sees_has_a_field(name: str) -> None:
    """Know of each layer how it is drawn, moved and measured; the answer itself is a layer's."""
    p = engine().prepared(State(model=name), name)
    unknown = [w.name for w in p.trace.layers if w.field is None]
    assert not unknown, unknown
    assert p.trace.output != "output", "the last step is code between layers, which nothing can watch"
