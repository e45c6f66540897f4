"""Solids as sets of points, and motifs on trees: what is drawn, the trainings, and what the shipped weights reach."""

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
from explorer.spaces.graph.samples.planted_motifs import MOTIFS, planted
from explorer.spaces.graph.samples.solids import cylinder_points
from models.graphs.pooling import diff_pool, sag_pool, sort_pool
from models.graphs.sets import deep_sets, dgcnn, pointnet
from models.training.graphs import motifs as motif_training
from models.training.points import shapes as shape_training
from models.training.points.shapes import SHAPES, accuracy, cloud, clouds

WEIGHTS = Path(__file__).resolve().parents[3] / "resources" / "weights"
BUILD: dict[str, Any] = {
    "pointnet": pointnet.PointNet,
    "deep-sets": deep_sets.build_equivariant,
    "dgcnn": dgcnn.build,
    "sort-pool": sort_pool.build,
    "sag-pool": sag_pool.build,
    "diff-pool": diff_pool.build,
}
SETS: dict[str, Any] = {"pointnet": pointnet, "deep-sets": deep_sets, "dgcnn": dgcnn}
POOLS: dict[str, Any] = {"sort-pool": sort_pool, "sag-pool": sag_pool, "diff-pool": diff_pool}


@functools.cache
def shipped(name: str) -> nn.Module:
    network: nn.Module = BUILD[name]()
    network.load_state_dict(load_file(WEIGHTS / f"{name}.safetensors"), strict=True)
    return network.eval()


@pytest.mark.parametrize("shape", range(len(SHAPES)))
def test_clouds_are_centred_in_the_unit_ball_and_repeat_themselves(shape: int) -> None:
    points = cloud(shape, 200, np.random.default_rng(5))
    assert points.shape == (200, 3) and points.dtype == np.float32
    assert np.abs(points.mean(0)).max() < 1e-6
    assert np.linalg.norm(points, axis=1).max() == pytest.approx(1)
    assert np.array_equal(points, cloud(shape, 200, np.random.default_rng(5)))
    assert not np.array_equal(points, cloud(shape, 200, np.random.default_rng(6)))


def test_points_lie_on_the_solids() -> None:
    chance = np.random.default_rng(0)
    radius = np.linalg.norm(cloud(0, 2000, chance), axis=1)
    assert radius.min() > 0.7, "nothing is within a sphere"
    torus = cloud(1, 2000, chance)
    assert np.hypot(torus[:, 0], torus[:, 1]).min() > 0.15, "a torus has a hole, and it lies flat"
    x, y, z = cylinder_points(4000, 2.0, chance).T
    lid = np.abs(z) == 1.0
    assert np.hypot(x, y)[~lid] == pytest.approx(1) and np.hypot(x, y)[lid].max() <= 1
    assert lid.mean() == pytest.approx(1 / 3, abs=0.03), "both lids of height 2: 2 pi of 6 pi"
    assert np.hypot(x, y)[lid].mean() == pytest.approx(2 / 3, abs=0.03), "the mean radius of a disc"


def test_a_batch_of_clouds_says_whose_the_points_are() -> None:
    points, batch, shape = clouds(6, np.random.default_rng(1), 20, 30)
    sizes = torch.bincount(batch)
    assert len(points) == len(batch) and shape.tolist() == [0, 1, 2, 3, 0, 1]
    assert (20 <= sizes).all() and (sizes <= 30).all() and len(set(sizes.tolist())) > 1


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_shipped_weights_name_fresh_solids(name: str) -> None:
    found = accuracy(shipped(name))
    assert found == pytest.approx(SETS[name].ACCURACY, abs=0.011)
    assert found > 0.97
    card = next(c for c in np.atleast_1d(np.array(SETS[name].CARD, object)) if c.name == name)
    parameters = sum(p.numel() for p in shipped(name).parameters())
    assert card.notes[0].startswith(f"{parameters:,} parameters") and card.labels == SHAPES


@pytest.mark.parametrize("name", SETS)
def test_shipped_weights_name_the_shipped_samples(name: str) -> None:
    made = samples()
    for k, shape in enumerate(SHAPES):
        x = torch.from_numpy(np.array(made[shape].make().x.values))
        with torch.no_grad():
            assert int(shipped(name)(x, torch.zeros(len(x), dtype=torch.long)).argmax()) == k, shape


@pytest.mark.parametrize("motif", MOTIFS)
def test_motifs_are_what_they_are_called(motif: str) -> None:
    expected = {
        "none": nx.empty_graph(0),
        "house": nx.house_graph(),
        "wheel": nx.wheel_graph(6),
        "clique": nx.complete_graph(5),
    }[motif]
    for seed in range(20):
        pairs, member = planted(motif, 16, np.random.default_rng(seed))
        graph = nx.Graph(pairs.tolist())
        assert graph.number_of_edges() == len(pairs), "no edge twice"
        assert nx.is_connected(graph) and len(graph) == len(member)
        inside = graph.subgraph(np.flatnonzero(member).tolist())
        assert nx.is_isomorphic(inside, expected)
        rest = graph.subgraph(np.flatnonzero(~member).tolist())
        assert 0 <= rest.number_of_edges() - len(rest) + 1 <= 3 and nx.is_connected(rest)
        assert not len(expected) or nx.cut_size(graph, inside.nodes) == 1


@pytest.mark.parametrize("name", POOLS)
def test_shipped_weights_find_the_motif(name: str) -> None:
    module = POOLS[name]
    found = motif_training.judge(shipped(name), module.RECIPE)
    assert found == pytest.approx(module.FOUND, abs=0.011)
    assert found["accuracy"] > 0.9
    if module.RECIPE.kept:
        assert found["motif_kept"] > 0.8 > 0.5 > found["others_kept"], "what survives is the motif"
    parameters = sum(p.numel() for p in shipped(name).parameters())
    assert module.CARD.notes[0].startswith(f"{parameters:,} parameters")
    assert f"{100 * found['accuracy']:.1f} %" in module.CARD.notes[0]


def test_the_figures_count_what_survives() -> None:
    class KeepsFirst(nn.Module):
        """Says "a wheel" of everything and keeps the first node of each graph, which is never a motif's."""

        def __init__(self) -> None:
            super().__init__()
            self.survivors = nn.Identity()

        def forward(self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor) -> torch.Tensor:
            first = torch.cat([torch.ones(1), (batch[1:] != batch[:-1]).float()])
            self.survivors(first[:, None])
            return torch.eye(4)[2].expand(int(batch.max()) + 1, 4)

    found = motif_training.judge(KeepsFirst(), motif_training.Recipe(kept="survivors"), count=40)
    assert found["accuracy"] == 0.25 and found["motif_kept"] == 0.0 and 0 < found["others_kept"] < 0.08


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pointnet", "sag-pool"])
def test_the_same_seed_gives_the_same_network(name: str) -> None:
    before = torch.get_rng_state()
    module = shape_training if name in SETS else motif_training
    recipe = module.Recipe(steps=100, batch=4)

    def once(seed: int) -> tuple[dict[str, torch.Tensor], dict[str, float]]:
        network, metrics = module.train(BUILD[name], recipe, seed=seed)
        return network.state_dict(), metrics

    (first, figures), (again, same), (other, _) = once(0), once(0), once(1)
    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(first[k], again[k]) for k in first) and figures == same
    assert any(not torch.equal(first[k], other[k]) for k in first)
    assert all(torch.equal(tensor, tensor.half().float()) for tensor in first.values())
