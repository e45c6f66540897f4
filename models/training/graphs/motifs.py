"""Train networks that pool the nodes of a graph: which motif hangs on the tree, and are its nodes those that survive?

The graphs are drawn anew in every step (explorer.spaces.graph.samples.planted_motifs): a tree with chords, and a house,
a wheel, a clique or nothing. All nodes carry the same attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from explorer.spaces.graph.samples.planted_motifs import MOTIFS, planted
from explorer.work.training.course import Course
from explorer.work.training.losses import CLASSES
from models.layers.seeded import round_to_half, seeded
from models.training.learning import Progress, learning, one_cycle

LABELS = ("no motif", *(f"a {name}" for name in MOTIFS if name != "none"))
CHANNELS, CARBON = 8, 1  # columns of the "atoms" features; a node of no known element stands for a carbon
JUDGED = 400
_TREE = (14, 23)  # nodes of the tree, from and below


@dataclass(frozen=True, slots=True)
class Recipe:
    """The training of a network; `also` are layers whose output is added to the loss, with a weight."""

    steps: int = 2000
    batch: int = 32
    rate: float = 5e-3
    decay: float = 1e-4
    also: tuple[tuple[str, float], ...] = ()
    kept: str = ""  # the layer that marks the survivors
    risen: tuple[str, ...] = ()  # layers whose weights start positive, so that nodes of many neighbours rank high


@dataclass(frozen=True, slots=True)
class Drawn:
    """A batch: what a network is called with, the class of each graph, and which nodes are the motif's."""

    inputs: tuple[Tensor, Tensor, Tensor]
    motif: Tensor
    member: Tensor


def graphs(count: int, chance: np.random.Generator) -> Drawn:
    """Draw `count` graphs, the motifs in turn: x (N, 8), edge_index (2, E), batch (N,)."""
    names = list(MOTIFS)
    pairs, members = [], []
    sizes: list[int] = []
    for k in range(count):
        edges, member = planted(names[k % len(names)], int(chance.integers(*_TREE)), chance)
        pairs.append(edges + sum(sizes))
        members.append(member)
        sizes.append(len(member))
    one_way = torch.from_numpy(np.concatenate(pairs).T.copy())
    x = torch.zeros(sum(sizes), CHANNELS)
    x[:, CARBON] = 1.0
    batch = torch.arange(count).repeat_interleave(torch.tensor(sizes))
    index = torch.cat([one_way, one_way.flip(0)], dim=1)
    return Drawn((x, index, batch), torch.arange(count) % len(names), torch.from_numpy(np.concatenate(members)))


@contextmanager
def outputs_of(network: nn.Module, names: tuple[str, ...]) -> Iterator[dict[str, Tensor]]:
    """Collect what the named layers put out in the last forward pass."""
    found: dict[str, Tensor] = {}

    def keep(name: str) -> Callable[[nn.Module, object, Tensor], None]:
        return lambda _module, _inputs, output: found.__setitem__(name, output)

    hooks = [network.get_submodule(name).register_forward_hook(keep(name)) for name in names]
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


def train(
    build: Callable[[], nn.Module],
    recipe: Recipe,
    epochs: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[nn.Module, dict[str, float]]:
    """Build a network, train it on graphs drawn anew in every step and judge it on others; an epoch is 100 steps.

    Parameters are rounded to half precision before the network is judged.
    """
    epochs = recipe.steps // 100 if epochs is None else epochs
    with learning():
        network = seeded(build, seed)
        with torch.no_grad():
            for name in recipe.risen:
                for parameter in network.get_submodule(name).parameters():
                    parameter.abs_()
        chance = np.random.default_rng([seed, 1])
        optimizer = torch.optim.AdamW(network.parameters(), lr=recipe.rate, weight_decay=recipe.decay)
        network.train()
        with outputs_of(network, tuple(name for name, _ in recipe.also)) as found:
            course = Course(
                network, optimizer, one_cycle(), chance, epochs=epochs, steps=100, losses=CLASSES, progress=progress
            )
            for _ in course:
                drawn = graphs(recipe.batch, chance)
                loss = course.loss(network(*drawn.inputs), drawn.motif)
                parts = {"classes": loss, **{name: weight * found[name].sum() for name, weight in recipe.also}}
                for name, _ in recipe.also:
                    loss = loss + parts[name]
                course.learn(loss, clip=1.0, parts=parts if recipe.also else None)
        round_to_half(network)
        network.eval()
        return network, judge(network, recipe)


def judge(network: nn.Module, recipe: Recipe, count: int = JUDGED, seed: int = 0) -> dict[str, float]:
    """Return the fraction of fresh graphs, always the same, whose motif is named, and of nodes that survive.

    motif_kept: of the nodes of motifs; others_kept: of all other nodes. Both only where the recipe names what marks.
    """
    drawn = graphs(count, np.random.default_rng([seed, 2]))
    with torch.no_grad(), outputs_of(network, (recipe.kept,) if recipe.kept else ()) as found:
        right = network(*drawn.inputs).argmax(dim=1) == drawn.motif
    figures = {"accuracy": float(right.double().mean())}
    if recipe.kept:
        kept = found[recipe.kept][:, 0].double()
        has = (drawn.motif > 0)[drawn.inputs[2]]
        figures["motif_kept"] = float(kept[drawn.member].mean())
        figures["others_kept"] = float(kept[~drawn.member & has].mean())
    return figures


def measured(parameters: int, recipe: Recipe, found: dict[str, float]) -> tuple[str, ...]:
    """Return the notes of a card with shipped weights (seed 0)."""
    kept = (
        f" `{recipe.kept}` marks {100 * found['motif_kept']:.0f} % of the nodes of motifs and "
        f"{100 * found['others_kept']:.0f} % of the others."
        if recipe.kept
        else ""
    )
    return (
        f"{parameters:,} parameters, trained in {recipe.steps:,} steps of {recipe.batch} graphs drawn anew: a tree "
        f"with chords and a house, a wheel, a clique or nothing (samples planted-…). Names the motif of "
        f"{100 * found['accuracy']:.1f} % of {JUDGED} fresh ones.{kept}",
    )
