"""Train and judge networks that classify the nodes of a graph: one loop for all, on communities with one told node.

The task and what is compared with are in `models.training.graphs.communities`. A network learns on 2,000 small graphs
and is judged on 200 others, and on Zachary's karate club, which it has never seen: no parameter is fitted to the club.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.work.training.course import Course
from models.layers.seeded import round_to_half, seeded
from models.training.graphs.communities import Task, drawn, found, karate, together
from models.training.learning import Progress, learning, one_cycle

JUDGED = 200
TEST_SEED = 1_000_003  # no training has this seed by chance
GLANCE = 10  # graphs that a network is judged by while it learns
Vary = Callable[[nn.Module, torch.Generator], None]


@dataclass(frozen=True, slots=True)
class Recipe:
    """The training of a network; `at_once` graphs are given to it side by side, `batch` make one step of Adam."""

    epochs: int = 20
    rate: float = 1e-2
    batch: int = 8
    at_once: int = 8
    graphs: int = 2000


@dataclass(frozen=True, slots=True)
class Figures:
    """The results of the shipped weights (seed 0): fractions of the nodes to be found that are found."""

    parameters: int
    accuracy: float
    karate: float


# Of the same 200 graphs and of the club; tests/models/training/test_graphs.py measures all of them again.
MAJORITY, KARATE_MAJORITY = 0.448, 0.5
PROPAGATION, KARATE_PROPAGATION = 0.748, 0.969

RECIPES = {
    "gcn": Recipe(),
    "sgc": Recipe(),
    "laplacian-filter": Recipe(),
    "chebnet": Recipe(),
    "spectral-conv": Recipe(epochs=10, at_once=1),
    "gat": Recipe(),
    "gatv2": Recipe(),
    "graphsage": Recipe(),
    "pna": Recipe(),
    "three-flavours": Recipe(),
    "graph-transformer": Recipe(epochs=16, rate=1e-3, batch=4, at_once=2),
    "graphormer": Recipe(epochs=8, rate=2e-3, batch=4, at_once=2),
    "sat": Recipe(rate=1e-3, batch=4, at_once=2),
}
FIGURES = {
    "gcn": Figures(180, 0.8034, 0.9375),
    "sgc": Figures(28, 0.7964, 0.9375),
    "laplacian-filter": Figures(186, 0.8490, 0.96875),
    "chebnet": Figures(500, 0.8482, 0.96875),
    "spectral-conv": Figures(360, 0.8661, 0.9375),
    "gat": Figures(428, 0.8134, 0.96875),
    "gatv2": Figures(784, 0.8160, 0.96875),
    "graphsage": Figures(340, 0.8001, 0.9375),
    "pna": Figures(2998, 0.8200, 0.96875),
    "three-flavours": Figures(2018, 0.8155, 0.96875),
    "graph-transformer": Figures(17700, 0.5166, 0.5),
    "graph-transformer, Laplacian": Figures(17700, 0.8736, 0.96875),
    "graphormer": Figures(19668, 0.8567, 0.96875),
    "sat": Figures(21668, 0.8339, 0.96875),
}


def train(
    build: Callable[[], nn.Module],
    signals: tuple[str, ...],
    recipe: Recipe,
    epochs: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    vary: Vary | None = None,
    judged: int = JUDGED,
) -> tuple[nn.Module, dict[str, float]]:
    """Build a network, train it and return it with its accuracies; `signals` are its arguments.

    Cross-entropy over the nodes that are not told, among the classes that their graph has. The same seed gives the
    same parameters on the same kind of machine; the global random state is left alone. Parameters are rounded to half
    precision at the end, so that a small file holds exactly what was judged. `vary(network, chance)` is called before
    every step. `progress(epoch, epochs, text)` is called after every epoch; what it raises ends the training.
    """
    epochs = recipe.epochs if epochs is None else epochs
    # the caller may be looking at another network without gradients
    with learning():
        tasks, glance = drawn(recipe.graphs, seed), drawn(GLANCE, TEST_SEED)
        network = seeded(build, seed).train()
        chance = torch.Generator().manual_seed(seed)
        optimizer = torch.optim.Adam(network.parameters(), lr=recipe.rate)
        course = Course(
            network, optimizer, one_cycle(0.2), chance, epochs=epochs, examples=len(tasks), batch=recipe.batch,
            judge=lambda learned: {"accuracy": accuracy(partial(_answer, learned, signals), glance)}, progress=progress,
        )  # fmt: skip
        for rows in course:
            if vary is not None:
                vary(network, chance)
            optimizer.zero_grad()
            loss = _gradients(network, signals, [tasks[k] for k in rows.tolist()], recipe.at_once)
            course.descend(loss, weight=len(rows))
        round_to_half(network)
        network.eval()
        return network, evaluate(network, signals, judged)


def _gradients(network: nn.Module, signals: tuple[str, ...], tasks: list[Task], at_once: int) -> float:
    """Add up the gradients of the mean loss of the nodes asked for; return that loss."""
    asked = sum(int(task.asked.sum()) for task in tasks)
    total = 0.0
    for start in range(0, len(tasks), at_once):
        task = together(tasks[start : start + at_once])
        scores = network(*(task.signals[name] for name in signals))
        scores = scores.masked_fill(~task.present, -torch.inf)[task.asked]
        loss = F.cross_entropy(scores, task.label[task.asked], reduction="sum") / asked
        loss.backward()
        total += loss.item()
    return total


def evaluate(network: nn.Module, signals: tuple[str, ...], judged: int = JUDGED) -> dict[str, float]:
    """Return the accuracies on (the first `judged`) graphs that no network has learned from, and on the karate club."""
    answer = partial(_answer, network, signals)
    return {"accuracy": accuracy(answer, drawn(judged, TEST_SEED)), "karate": accuracy(answer, [karate()])}


def _answer(network: nn.Module, signals: tuple[str, ...], task: Task) -> Tensor:
    with torch.no_grad():
        return found(network(*(task.signals[name] for name in signals)), task)


def accuracy(answer: Callable[[Task], Tensor], tasks: Sequence[Task]) -> float:
    """Return the fraction of all nodes that are not told whose class `answer` finds, one graph at a time."""
    right = sum(int((answer(task) == task.label)[task.asked].sum()) for task in tasks)
    return right / sum(int(task.asked.sum()) for task in tasks)


def measured(name: str) -> tuple[str, ...]:
    """Return the notes of a card with shipped weights: its training, its accuracies and what to compare them with."""
    figures, recipe = FIGURES[name], RECIPES[name]
    return (
        f"{figures.parameters:,} parameters, {recipe.epochs} epochs on {recipe.graphs:,} random graphs of 2 to 4 "
        "communities, one node told in each; all others are to be found. "
        f"Found on {JUDGED} new graphs: {100 * figures.accuracy:.1f} % (label propagation {100 * PROPAGATION:.1f} %, "
        f"largest community {100 * MAJORITY:.1f} %).",
        f"Never trained on the karate club, it finds {round(32 * figures.karate)} of the 32 members "
        f"({100 * figures.karate:.1f} %; label propagation {round(32 * KARATE_PROPAGATION)}, one club for all "
        f"{round(32 * KARATE_MAJORITY)}).",
    )
