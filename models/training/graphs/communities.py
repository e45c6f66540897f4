"""A task for networks that classify nodes: communities in which one node is told, find the class of all others.

A graph is drawn from a stochastic block model (Holland, Laskey, Leinhardt, 1983) with degrees that vary within a block
(Karrer and Newman, 2011): nodes i and j are joined with probability min(1, t_i t_j p), p larger inside a community than
between two. Communities are given some of four classes in random order, so nothing can be learned of the classes: what
helps is to find out from which told node a node is easily reached. The told node is the one with the most edges of its
community, as in the club whose leaders are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

CLASSES = 4
COMMUNITIES = (2, 4)  # fewest and most
SIZES = (8, 40)
INNER_DEGREE = (3.0, 10.0)  # mean number of edges inside the community
OUTER_SHARE = (0.1, 0.7)  # of edges to the other communities, compared with those
SPREAD = (0.0, 0.8)  # standard deviation of log t


@dataclass(frozen=True, slots=True)
class Task:
    """Graphs, side by side as one disconnected graph.

    Attributes:
        signals: "x" (N, 6), "edge_index" (2, E), "edge_weight" (E,), "edge_attr" (E, 1), both ones, "batch" (N,).
        label: (N,) the class of each node.
        present: (N, 4) bool, the classes that its graph has.
        asked: (N,) bool, the nodes that are not told.
    """

    signals: dict[str, Tensor]
    label: Tensor
    present: Tensor
    asked: Tensor


def told_graph(pairs: NDArray[np.int64], label: NDArray[np.int64], told: NDArray[np.int64]) -> Task:
    """Return the task of one undirected graph.

    Columns of x: the class of the told nodes, one-hot (4), a constant, log(1 + degree) / 4.

    Shapes:
        pairs (M, 2), each edge once; label (N,); told (T,) numbers of nodes.
    """
    index = np.concatenate([pairs, pairs[:, ::-1]]).T
    degree = np.bincount(index[1], minlength=len(label))
    x = np.zeros((len(label), CLASSES + 2), np.float32)
    x[told, label[told]] = 1.0
    x[:, CLASSES] = 1.0
    x[:, CLASSES + 1] = np.log1p(degree) / 4
    present = np.zeros((len(label), CLASSES), bool)
    present[:, label[told]] = True
    asked = np.ones(len(label), bool)
    asked[told] = False
    edges = index.shape[1]
    signals = {
        "x": torch.from_numpy(x),
        "edge_index": torch.tensor(np.ascontiguousarray(index)),
        "edge_weight": torch.ones(edges),
        "edge_attr": torch.ones(edges, 1),
        "batch": torch.zeros(len(label), dtype=torch.int64),
    }
    return Task(signals, torch.tensor(label), torch.from_numpy(present), torch.from_numpy(asked))


def communities(rng: np.random.Generator) -> Task:
    """Draw one graph of two to four communities of 8 to 40 nodes, numbered in random order."""
    count = int(rng.integers(COMMUNITIES[0], COMMUNITIES[1] + 1))
    sizes = rng.integers(SIZES[0], SIZES[1] + 1, count)
    nodes, mean = int(sizes.sum()), float(sizes.mean())
    inner, share, spread = (rng.uniform(*bounds) for bounds in (INNER_DEGREE, OUTER_SHARE, SPREAD))
    block = rng.permutation(np.repeat(np.arange(count), sizes))
    weight = np.exp(spread * rng.standard_normal(nodes))
    weight /= weight.mean()
    inside, outside = inner / (mean - 1), share * inner / (nodes - mean)
    chance = np.where(block[:, None] == block, inside, outside) * np.outer(weight, weight)
    pairs = np.argwhere(np.triu(rng.random((nodes, nodes)) < chance, 1))
    degree = np.bincount(pairs.ravel(), minlength=nodes)
    told = np.array([np.where(block == b, degree, -1).argmax() for b in range(count)])
    return told_graph(pairs, rng.permutation(CLASSES)[block], told)


def drawn(count: int, seed: int) -> list[Task]:
    """Draw `count` graphs, always the same for a seed."""
    rng = np.random.default_rng(seed)
    return [communities(rng) for _ in range(count)]


def karate() -> Task:
    """Return Zachary's club (1977): the leaders are told, the others are to be found in the club they went to."""
    from networkx import karate_club_graph

    graph = karate_club_graph()
    label = np.array([int(graph.nodes[n]["club"] == "Officer") for n in graph])
    return told_graph(np.array(graph.edges()), label, np.array([0, 33]))


def together(tasks: Sequence[Task]) -> Task:
    """Return graphs as one disconnected graph."""
    sizes = torch.tensor([len(task.label) for task in tasks])
    first = (sizes.cumsum(0) - sizes).tolist()
    signals = {name: torch.cat([t.signals[name] for t in tasks]) for name in ("x", "edge_weight", "edge_attr")}
    index = [task.signals["edge_index"] + start for task, start in zip(tasks, first, strict=True)]
    signals["edge_index"] = torch.cat(index, dim=1)
    signals["batch"] = torch.arange(len(tasks)).repeat_interleave(sizes)
    parts = [torch.cat([getattr(task, name) for task in tasks]) for name in ("label", "present", "asked")]
    return Task(signals, *parts)


def found(scores: Tensor, task: Task) -> Tensor:
    """Return the class of the highest score among those that the graph has; (N, 4) -> (N,)."""
    return scores.masked_fill(~task.present, -torch.inf).argmax(dim=1)


def majority(task: Task) -> Tensor:
    """Return for every node the largest class of the graph, which no network is told; one graph -> (N,)."""
    return task.label.mode().values.expand(len(task.label))


def label_propagation(task: Task, steps: int = 300) -> Tensor:
    """Return the classes that label propagation finds; one graph -> (N,).

    Every node takes the mean of its neighbours again and again, told nodes stay what they are: Zhu and Ghahramani,
    "Learning from Labeled and Unlabeled Data with Label Propagation", 2002.
    """
    source, target = task.signals["edge_index"]
    told = task.signals["x"][:, :CLASSES].double()
    degree = torch.bincount(target, minlength=len(told)).clamp_min(1)[:, None]
    f = told
    for _ in range(steps):
        f = torch.zeros_like(f).index_add(0, target, f[source]) / degree
        f = torch.where(task.asked[:, None], f, told)
    return found(f, task)
