"""Train networks on sets of points: which solid is it? A sphere, a torus, a chair or a cylinder, of many proportions.

Every cloud is drawn anew: the proportions of the solid, a turn about the vertical axis, the points on its surface,
and a little noise. As the shipped samples it is centred and within the unit ball. Solids that a network is judged on
come from a stream of random numbers of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from explorer.spaces.graph.samples.solids import cylinder_points
from explorer.work.training.course import Course
from explorer.work.training.losses import CLASSES
from models.layers.seeded import round_to_half, seeded
from models.training.learning import Progress, learning, one_cycle

SHAPES = ("sphere", "torus", "chair", "cylinder")
NOISE = 0.02  # of the radius of the unit ball
JUDGED = 400  # clouds
POINTS = 256  # of the clouds that are judged
Floats = NDArray[np.float64]
GLANCE = 32  # clouds that a network is judged by while it learns


@dataclass(frozen=True, slots=True)
class Recipe:
    """The training of a network: clouds of `fewest` to 256 points, `batch` of them a step."""

    steps: int = 1500
    batch: int = 16
    fewest: int = 128
    rate: float = 3e-3
    decay: float = 1e-4


def _boxes(boxes: Floats, count: int, chance: np.random.Generator) -> Floats:
    """Spread points over the faces of boxes (boxes, 2, 3) of centres and sizes, by area."""
    sizes = boxes[:, 1]
    sides = np.stack([sizes[:, [1, 2]].prod(1), sizes[:, [0, 2]].prod(1), sizes[:, [0, 1]].prod(1)], 1)
    area = np.repeat(sides, 2, axis=1).ravel()
    box, side = np.divmod(chance.choice(len(area), count, p=area / area.sum()), 6)
    points = chance.uniform(-0.5, 0.5, (count, 3))
    points[np.arange(count), side // 2] = np.where(side % 2, 0.5, -0.5)
    return np.asarray(points * sizes[box] + boxes[box, 0])


def _sphere(count: int, chance: np.random.Generator) -> Floats:
    points = chance.standard_normal((count, 3))
    axes = chance.uniform(0.9, 1.1, 3)
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True) * axes)


def _torus(count: int, chance: np.random.Generator) -> Floats:
    tube = chance.uniform(0.25, 0.5)
    around, across = chance.uniform(0, 2 * np.pi, (2, 8 * count))
    # by rejection: the outside has more room than the inside
    kept = np.flatnonzero(chance.uniform(0, 1 + tube, 8 * count) < 1 + tube * np.cos(across))[:count]
    around, across = around[kept], across[kept]
    radius = 1 + tube * np.cos(across)
    return np.stack([radius * np.cos(around), radius * np.sin(around), tube * np.sin(across)], 1)


def _chair(count: int, chance: np.random.Generator) -> Floats:
    thick, leg = chance.uniform(0.08, 0.16, 2)
    width, depth, back, legs = chance.uniform((0.8, 0.8, 0.8, 0.7), (1.2, 1.2, 1.4, 1.1))
    boxes = [
        ((0, 0, 0), (width, depth, thick)),
        ((0, (depth - thick) / 2, (thick + back) / 2), (width, thick, back)),
    ]
    for x in (-1, 1):
        for y in (-1, 1):
            at = (x * (width - leg) / 2, y * (depth - leg) / 2, -(thick + legs) / 2)
            boxes.append((at, (leg, leg, legs)))
    return _boxes(np.array(boxes), count, chance)


def _cylinder(count: int, chance: np.random.Generator) -> Floats:
    return cylinder_points(count, chance.uniform(0.8, 3.0), chance)


_DRAWN = (_sphere, _torus, _chair, _cylinder)


def cloud(shape: int, count: int, chance: np.random.Generator) -> NDArray[np.float32]:
    """Draw (count, 3) points on one of SHAPES, turned about the vertical axis, centred and within the unit ball."""
    points = _DRAWN[shape](count, chance)
    angle = chance.uniform(0, 2 * np.pi)
    c, s = np.cos(angle), np.sin(angle)
    points = points @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    points = points - points.mean(0)
    points = points / np.linalg.norm(points, axis=1).max() + chance.normal(0, NOISE, points.shape)
    points = points - points.mean(0)
    return np.asarray(points / np.linalg.norm(points, axis=1).max(), np.float32)


def clouds(
    count: int, chance: np.random.Generator, fewest: int = POINTS, most: int = POINTS
) -> tuple[Tensor, Tensor, Tensor]:
    """Return points (N, 3) of `count` clouds, which cloud each is of (N,), and the shapes (count,), in turn."""
    sizes = chance.integers(fewest, most + 1, count)
    shape = np.arange(count) % len(SHAPES)
    points = np.concatenate([cloud(int(k), int(n), chance) for k, n in zip(shape, sizes)])
    return torch.from_numpy(points), torch.from_numpy(np.repeat(np.arange(count), sizes)), torch.from_numpy(shape)


def train(
    build: Callable[[], nn.Module],
    recipe: Recipe,
    epochs: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[nn.Module, dict[str, float]]:
    """Build a network, train it on clouds drawn anew in every step and return it with its accuracy on others.

    An epoch is a hundred steps. Parameters are rounded to half precision before the network is judged.
    """
    epochs = recipe.steps // 100 if epochs is None else epochs
    with learning():
        network = seeded(build, seed)
        chance = np.random.default_rng([seed, 1])
        optimizer = torch.optim.AdamW(network.parameters(), lr=recipe.rate, weight_decay=recipe.decay)
        network.train()
        course = Course(
            network, optimizer, one_cycle(), chance, epochs=epochs, steps=100, losses=CLASSES,
            judge=lambda learned: {"accuracy": accuracy(learned, GLANCE)}, progress=progress,
        )  # fmt: skip
        for _ in course:
            points, batch, shape = clouds(recipe.batch, chance, recipe.fewest)
            course.learn(course.loss(network(points, batch), shape), clip=1.0)
        round_to_half(network)
        network.eval()
        return network, {"accuracy": accuracy(network)}


def accuracy(network: nn.Module, count: int = JUDGED, points: int = POINTS, seed: int = 0) -> float:
    """Return the fraction of fresh clouds of that many points whose shape is named, always the same clouds."""
    chance = np.random.default_rng([seed, 2])
    right = []
    with torch.no_grad():
        for _ in range(count // 8):
            x, batch, shape = clouds(8, chance, points, points)
            right.append(network(x, batch).argmax(dim=1) == shape)
    return float(torch.cat(right).double().mean())


def measured(parameters: int, recipe: Recipe, found: float) -> tuple[str, ...]:
    """Return the notes of a card with shipped weights (seed 0)."""
    return (
        f"{parameters:,} parameters, trained in {recipe.steps:,} steps of {recipe.batch} clouds drawn anew. Names "
        f"{100 * found:.1f} % of {JUDGED} fresh ones of {POINTS} points: sphere, torus, chair or cylinder, of random "
        "proportions, turned about the vertical axis.",
    )
