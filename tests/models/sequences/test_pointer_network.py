"""Pointer networks: the equations in numpy, sets without an order, hulls against scipy, and what the notes say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.spaces.sequence.samples import tasks
from explorer.state.state import State
from models.sequences.pointer_network import CARD, PointerNetwork, first_round, judge_numbers, judge_points
from tests.models.sequences.sequence_layers import layers, trained

CARDS = {card.name: card for card in CARD}


def network_of(name: str) -> PointerNetwork:
    network = trained(CARDS[name])
    assert isinstance(network, PointerNetwork)
    return network


def lstm(cell: dict[str, np.ndarray], given: np.ndarray, h: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return h and c after one step, gates in torch's order: input, forget, candidate, output."""
    gates = cell["weight_ih"] @ given + cell["bias_ih"] + cell["weight_hh"] @ h + cell["bias_hh"]
    i, f, g, o = np.split(gates, 4)
    c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
    return np.tanh(c) / (1 + np.exp(-o)), c


def in_numpy(network: PointerNetwork, x: np.ndarray) -> np.ndarray:
    """Return the probabilities of the pointers, pair by pair, of a network that reads a set."""
    p = {name: value.detach().numpy() for name, value in network.named_parameters()}

    def part(name: str) -> dict[str, np.ndarray]:
        return {key.removeprefix(f"{name}."): value for key, value in p.items() if key.startswith(f"{name}.")}

    def scores(name: str, d: np.ndarray) -> np.ndarray:
        a = part(name)
        u = [a["vector"] @ np.tanh(a["element.weight"] @ e + a["state.weight"] @ d + a["state.bias"]) for e in memory]
        return np.asarray(np.exp(u) / np.exp(u).sum())

    memory = np.tanh(x @ p["embed.weight"].T + p["embed.bias"])
    width = memory.shape[1]
    q, cell, star = np.zeros(width), np.zeros(width), np.zeros(2 * width)
    for _ in range(network.looks):
        q, cell = lstm(part("process"), star, q, cell)
        star = np.concatenate([q, scores("look", q) @ memory])
    d, cell, read = np.tanh(p["start.weight"] @ star + p["start.bias"]), np.zeros(width), np.zeros(width)
    found = []
    for _ in memory:
        d, cell = lstm(part("decoder"), read, d, cell)
        query = np.concatenate([d, scores("glance", d) @ memory]) if network.glimpsing else d
        found.append(scores("pointer", query))
        read = memory[found[-1].argmax()]
    return np.array(found)


@pytest.mark.parametrize("name", ["pointer-network", "pointer-glimpse"])
@pytest.mark.parametrize("size", [1, 2, 5, 7])
def test_pointers_are_what_the_equations_say(name: str, size: int) -> None:
    network = network_of(name)
    x = torch.rand(size, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(size))
    found = layers(network, x)
    np.testing.assert_allclose(found["pointers"][0].numpy(), in_numpy(network, x.numpy()), atol=1e-12)
    torch.testing.assert_close(found["output"], found["pointers"][0] @ x, rtol=0, atol=0)


@pytest.mark.parametrize("name", ["pointer-network", "pointer-glimpse"])
def test_the_order_of_a_set_does_not_matter(name: str) -> None:
    network = network_of(name)
    x = torch.tensor([[0.31], [0.9], [0.05], [0.62], [0.44]], dtype=torch.float64)
    order = torch.tensor([4, 2, 0, 1, 3])
    plain, moved = layers(network, x), layers(network, x[order])
    torch.testing.assert_close(moved["output"], plain["output"], rtol=0, atol=1e-9)
    torch.testing.assert_close(moved["pointers"], plain["pointers"][..., order], rtol=0, atol=1e-9)


def test_points_that_are_read_in_another_order_are_something_else() -> None:
    network = network_of("pointer-hull")
    x = torch.rand(8, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        assert float((network(x.flip(0)) - network(x)).abs().max()) > 1e-3


def test_numbers_come_out_sorted() -> None:
    found = layers(network_of("pointer-glimpse"), torch.tensor([[0.9], [0.1], [0.5], [0.7], [0.3]]).double())
    assert found["pointers"][0].argmax(-1).tolist() == [1, 4, 2, 3, 0]
    assert found["process_attention"].shape == (5, 5)
    torch.testing.assert_close(found["process_attention"].sum(0), torch.ones(5).double(), rtol=0, atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(3, 12))
def test_hulls_are_scipys(seed: int, size: int) -> None:
    points = np.random.default_rng(seed).random((size, 2))
    found, expected = tasks.hull_order(points), ConvexHull(points).vertices.tolist()  # both counter-clockwise
    start = expected.index(min(expected))
    assert found == expected[start:] + expected[:start]


def test_a_round_ends_where_it_began() -> None:
    assert first_round([2, 5, 1, 2, 5]) == [2, 5, 1]
    assert first_round([2, 5, 1]) == [2, 5, 1]


@pytest.mark.parametrize("name", ["pointer-network", "pointer-glimpse"])
def test_the_notes_say_how_many_sets_are_sorted(name: str) -> None:
    network = network_of(name).float()
    with torch.no_grad():
        found = judge_numbers(network)
    assert f"{100 * found['sets']:.1f} % of 1,000 new sets" in CARDS[name].notes[0], found
    assert f"{sum(p.numel() for p in network.parameters()):,} parameters" in CARDS[name].notes[0]


def test_the_notes_say_how_many_hulls_are_found() -> None:
    network = network_of("pointer-hull").float()
    with torch.no_grad():
        found = judge_points(network)
    for size in (5, 10):
        figures = f"{size} points: {100 * found[f'hulls_{size}']:.1f} %, area {100 * found[f'area_{size}']:.1f} %"
        assert figures in CARDS["pointer-hull"].notes[0], found


def test_a_delay_of_the_whole_sequence_leaves_nothing_to_compare_and_no_error_of_zero() -> None:
    """Over no place at all the error read 0, as if the law held."""
    engine, state = LocalEngine(CARDS), State("pointer-network", device="cpu")
    gone = engine.answer(replace(state, steps=parse_chain("shift:5")), lambda: False).squares[0]
    found = gone.measures["embed"]
    assert (found.cumulative, found.decibel, found.verdict) == (None, None, "no law") and found.emptied
    assert gone.cut_off == "all of x is cut off: nothing is left to compare. Move it less"
    some = engine.answer(replace(state, steps=parse_chain("shift:2")), lambda: False).squares[0]
    assert some.measures["embed"].cumulative is not None and not some.measures["embed"].emptied
    assert not some.cut_off
