"""Boiling points of alkanes: the table against chemistry, the training, and what the shipped weights reach."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from explorer.data.finding import samples
from explorer.spaces.graph.chemistry.boiling_points import alkanes, skeleton, wiener
from models.graphs.message_passing import gin, graph_nets, mpnn
from models.graphs.tasks import graph_prediction
from models.training.graphs import molecules as molecule_training
from models.training.graphs.molecules import HELD, baseline, boiling, errors, fold, together, train

WEIGHTS = Path(__file__).resolve().parents[3] / "resources" / "weights"
MODULES: dict[str, Any] = {m.CARD.name: m for m in (graph_prediction, gin, mpnn, graph_nets)}


def graph(bonds: tuple[tuple[int, int], ...]) -> nx.Graph:
    made = nx.Graph(bonds)
    made.add_node(0)
    return made


def test_the_table_holds_every_alkane_once() -> None:
    table = alkanes()
    counts = np.bincount([a.carbons for a in table])
    assert counts.tolist() == [0, 1, 1, 1, 2, 3, 5, 9, 18], "Cayley's numbers of alkanes"
    graphs = [graph(a.bonds) for a in table]
    assert all(nx.is_tree(g) and len(g) == a.carbons for g, a in zip(graphs, table))
    assert max(d for g in graphs for _, d in g.degree()) == 4
    same = [(i, j) for i in range(40) for j in range(i) if nx.is_isomorphic(graphs[i], graphs[j])]
    assert same == []


def test_skeletons_are_what_the_names_say() -> None:
    isooctane = graph(skeleton("2,2,4-trimethylpentane"))
    assert sorted(d for _, d in isooctane.degree()) == [1, 1, 1, 1, 1, 2, 3, 4]
    ethyl = graph(skeleton("3-ethyl-2-methylpentane"))
    assert nx.diameter(ethyl) == 4 and sorted(d for _, d in ethyl.degree()) == [1, 1, 1, 1, 2, 2, 3, 3]
    assert nx.diameter(graph(skeleton("octane"))) == 7
    with pytest.raises(ValueError, match="cyclohexane"):
        skeleton("cyclohexane")


def test_the_wiener_index_is_that_of_networkx() -> None:
    for alkane in alkanes():
        assert wiener(alkane) == nx.wiener_index(graph(alkane.bonds))


def test_boiling_points_rise_as_chemistry_says() -> None:
    """Of all isomers the chain boils last, and each carbon of a chain adds less than the one before."""
    table = {a.name: a.boiling for a in alkanes()}
    chain = [table[n] for n in ("methane", "ethane", "propane", "butane", "pentane", "hexane", "heptane", "octane")]
    steps = np.diff(chain)
    assert (steps > 0).all() and (np.diff(steps) < 0).all()
    for size, boils in zip(range(4, 9), chain[3:], strict=True):
        assert max(a.boiling for a in alkanes() if a.carbons == size) == boils


def test_folds_part_the_molecules_from_butane_on() -> None:
    held = [a.name for k in range(molecule_training.FOLDS) for a in fold(k)[1]]
    assert len(held) == len(set(held)) == 37
    for k in range(molecule_training.FOLDS):
        learned, judged = fold(k)
        assert not {a.name for a in learned} & {a.name for a in judged} and len(learned) + len(judged) == 40


def test_a_batch_is_the_molecules_side_by_side() -> None:
    chosen = alkanes()[3:6]
    x, index, kinds, batch = together(chosen, bonds=True)
    assert batch.tolist() == [0] * 4 + [1] * 4 + [2] * 5 and (x.argmax(1) == 1).all()
    assert (batch[index[0]] == batch[index[1]]).all() and kinds.shape == (index.shape[1], 4)
    made = nx.Graph(index.T.tolist())
    for part, alkane in zip(nx.connected_components(made), chosen, strict=True):
        assert nx.is_isomorphic(made.subgraph(part), graph(alkane.bonds))


def test_the_baseline_is_least_squares() -> None:
    from sklearn.linear_model import LinearRegression

    learned, judged = fold(HELD)
    rows = [np.array([[a.carbons, nx.wiener_index(graph(a.bonds))] for a in part]) for part in (learned, judged)]
    model = LinearRegression().fit(rows[0], boiling(learned)[:, 0])
    expected = np.abs(model.predict(rows[1]) - boiling(judged)[:, 0].numpy()).mean()
    assert baseline() == pytest.approx(expected, rel=1e-5)


@pytest.mark.slow
def test_training_repeats_itself_and_leaves_the_random_state() -> None:
    before, seen = torch.get_rng_state(), []
    first, metrics = train(gin.build, gin.RECIPE, epochs=1, seed=3, progress=lambda *told: seen.append(told))
    again, same = train(gin.build, gin.RECIPE, epochs=1, seed=3)
    other, _ = train(gin.build, gin.RECIPE, epochs=1, seed=4)
    assert torch.equal(before, torch.get_rng_state()) and [told[:2] for told in seen] == [(1, 1)]
    state = again.state_dict()
    assert all(torch.equal(tensor, state[name]) for name, tensor in first.state_dict().items()) and metrics == same
    assert not torch.equal(first.get_parameter("head.weight"), other.get_parameter("head.weight"))
    assert all(torch.equal(p, p.half().float()) for p in first.parameters()) and not first.training


def test_an_untrained_network_already_answers_in_degrees() -> None:
    """The scale is in the last layer: without a step the answers lie about the mean, within a few deviations."""
    network, _ = train(gin.build, gin.RECIPE, epochs=0)
    learned, _ = fold(HELD)
    apart = network(*together(learned)).detach() - boiling(learned).mean()
    assert 1.0 < float(apart.abs().max()) < 20 * float(boiling(learned).std())


@functools.cache
def shipped(name: str) -> nn.Module:
    network: nn.Module = MODULES[name].build()
    network.load_state_dict(load_file(WEIGHTS / f"{name}.safetensors"), strict=True)
    return network.eval()


@pytest.mark.parametrize("name", MODULES)
def test_shipped_weights_reach_the_stated_errors(name: str) -> None:
    module = MODULES[name]
    found = {**errors(shipped(name), module.RECIPE), "baseline_error": baseline()}
    assert found == pytest.approx(module.ERRORS, abs=0.05)
    assert found["test_error"] < baseline()
    note, parameters = module.CARD.notes[0], sum(p.numel() for p in shipped(name).parameters())
    assert f"{parameters:,} parameters" in note and f"held out {found['test_error']:.1f} °C" in note


def test_means_over_equal_atoms_cannot_see_a_branch() -> None:
    """graph-prediction takes means of neighbours that are all alike; gin sums, and tells the isomers apart."""
    isomers = [a for a in alkanes() if a.carbons == 6]
    with torch.no_grad():
        blind, seeing = (shipped(name)(*together(isomers))[:, 0] for name in ("graph-prediction", "gin"))
    assert float(blind.max() - blind.min()) < 1e-3
    assert float(seeing.max() - seeing.min()) > 10


def test_samples_hold_the_alkanes_of_the_table() -> None:
    specs = {spec.name: spec for spec in samples().values()}
    for name, count in (("octane", 1), ("isooctane", 1), ("hexanes", 5)):
        sample = specs[name].make()
        index, at = sample.signals["edge_index"].values, sample.signals["position"].values
        made = nx.Graph(index.T.tolist())
        parts = [made.subgraph(part) for part in nx.connected_components(made)]
        known = [graph(a.bonds) for a in alkanes() if a.carbons == len(parts[0])]
        assert len(parts) == count and all(any(nx.is_isomorphic(p, k) for k in known) for p in parts)
        length = np.linalg.norm(at[index[0]] - at[index[1]], axis=1)
        assert length == pytest.approx(1.54, rel=1e-5), "bonds are drawn at one length"
        apart = np.linalg.norm(at[:, None] - at[None], axis=2) + 9 * np.eye(len(at))
        assert apart.min() > 0.7, "no two carbons lie on each other"
