"""Train and judge a digit classifier: one loop for every network, with or without augmentation (row G6).

Augmentation puts a symmetry into the data instead of building it into the network: each image is turned and
mirrored at random whenever it is learned from ("Geometric Deep Learning", section 5.1, data augmentation).
A network is judged on the test digits upright, turned by any angle, by exact quarter turns, and mirrored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.spaces.grid.samples import digit_images as digits
from explorer.work.training.course import Course
from explorer.work.training.losses import CLASSES
from models.layers.seeded import round_to_half, seeded
from models.training.learning import Progress, learning, one_cycle

SIZE = digits.SIZE
GLANCE = 100  # digits that a network is judged by while it learns
DIGITS = tuple(str(k) for k in range(10))


@dataclass(frozen=True, slots=True)
class Recipe:
    """The training of a classifier; `augment` turns by any angle and mirrors half of the images."""

    epochs: int = 30
    augment: bool = False
    batch: int = 32
    rate: float = 4e-3
    decay: float = 1e-2


def train(
    build: Callable[[], nn.Module],
    recipe: Recipe,
    epochs: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    subset: int | None = None,
) -> tuple[nn.Module, dict[str, float]]:
    """Build a network, train it on the (first `subset`) training digits and return it with its test errors.

    The same seed gives the same parameters on the same kind of machine; the global random state is left alone.
    Parameters are rounded to half precision at the end, so that a small file holds exactly what was judged.
    `progress(epoch, epochs, text)` is called after every epoch; what it raises ends the training.
    """
    epochs = recipe.epochs if epochs is None else epochs
    # the caller may be looking at another network without gradients
    with learning():
        images, labels = _split("train", subset)
        network = seeded(build, seed)
        chance = torch.Generator().manual_seed(seed)
        optimizer = torch.optim.AdamW(network.parameters(), lr=recipe.rate, weight_decay=recipe.decay)
        course = Course(
            network, optimizer, one_cycle(0.2), chance, epochs=epochs, examples=len(images), batch=recipe.batch,
            losses=CLASSES, judge=_read_right, progress=progress,
        )  # fmt: skip
        network.train()
        for rows in course:
            x = augmented(images[rows], chance) if recipe.augment else images[rows]
            course.learn(course.loss(network(x), labels[rows]), weight=len(rows))
        round_to_half(network, statistics=True)
        network.eval()
        return network, evaluate(network)


def turned(images: Tensor, angles: Tensor, mirrored: Tensor | None = None) -> Tensor:
    """Rotate each image about its centre, counter-clockwise, after a left-right mirror where asked.

    Sampled with a bicubic kernel, black outside; quarter turns fall on grid points.

    Shapes:
        images (N, C, Y, X); angles (N,) in degrees; mirrored (N,) of bool; returns (N, C, Y, X).
    """
    if mirrored is not None:
        images = torch.where(mirrored[:, None, None, None], images.flip(-1), images)
    c, s = torch.cos(torch.deg2rad(angles)), torch.sin(torch.deg2rad(angles))
    # an output point looks up where it came from, g⁻¹u; y points down in these coordinates
    source = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)  # (N, 2, 2)
    matrix = torch.cat([source, torch.zeros(len(images), 2, 1)], dim=-1).to(images)
    where = F.affine_grid(matrix, list(images.shape), align_corners=True)
    return F.grid_sample(images, where, mode="bicubic", align_corners=True).clamp(0.0, 1.0)


def augmented(images: Tensor, chance: torch.Generator) -> Tensor:
    """Turn each image by an angle drawn from the whole circle and mirror half of them."""
    angles = torch.rand(len(images), generator=chance) * 360.0
    return turned(images, angles, torch.rand(len(images), generator=chance) < 0.5)


def evaluate(network: nn.Module, turns: int = 8, seed: int = 0) -> dict[str, float]:
    """Return the fractions of test digits that are misread, always over the same images.

    upright_error: as they are; rotated_error: `turns` random angles per digit; quarter_turn_error: by 90, 180
    and 270 degrees, exactly; mirrored_error: left-right. A turned 6 is a 9: no network can get all of them.
    """
    images, labels = _split("test")
    chance = torch.Generator().manual_seed(seed)
    angles = torch.rand(turns, len(images), generator=chance) * 360.0
    cases = {
        "upright_error": [images],
        "rotated_error": [turned(images, row) for row in angles],
        "quarter_turn_error": [torch.rot90(images, r, (-2, -1)) for r in (1, 2, 3)],
        "mirrored_error": [images.flip(-1)],
    }
    return {name: float(np.mean([_error(network, x, labels) for x in case])) for name, case in cases.items()}


def _read_right(network: nn.Module) -> dict[str, float]:
    """Return the fraction of some test digits that is read, upright: in a tenth of a second, while it learns."""
    images, labels = _split("test", GLANCE)
    return {"accuracy": 1.0 - _error(network, images, labels)}


def error_by_angle(network: nn.Module, angles: Sequence[float]) -> dict[float, float]:
    """Return the fraction of test digits misread when all of them are turned by each angle (degrees)."""
    images, labels = _split("test")
    return {a: _error(network, turned(images, torch.full((len(images),), float(a))), labels) for a in angles}


def _error(network: nn.Module, images: Tensor, labels: Tensor) -> float:
    was_training = network.training
    network.eval()
    with torch.no_grad():
        found = torch.cat([network(x).argmax(dim=1) for x in images.split(250)])
    network.train(was_training)
    return float((found != labels).double().mean())


def _split(name: str, subset: int | None = None) -> tuple[Tensor, Tensor]:
    images, labels = digits.load(name)
    return torch.tensor(images[:subset]), torch.tensor(labels[:subset])  # copies: what is shared is read-only


def percent(errors: Mapping[str, float]) -> str:
    """Return the errors as one line: "upright 2.0 %, rotated 41.3 %, ..."."""
    return ", ".join(f"{k.removesuffix('_error').replace('_', ' ')} {100 * v:.1f} %" for k, v in errors.items())


def measured(parameters: int, recipe: Recipe, errors: Mapping[str, float]) -> tuple[str, ...]:
    """Return the notes of a card with shipped weights (seed 0): its size, its training and its test errors."""
    seen = "turned and mirrored" if recipe.augment else "upright"
    return (
        f"{parameters:,} parameters, {recipe.epochs} epochs on 1,297 {seen} digits. "
        f"Misread of 500 test digits: {percent(errors)}.",
        "A 6 turned half a circle is a 9: nothing that is invariant to rotation can read all digits.",
    )
