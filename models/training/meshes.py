"""Train and judge networks that name the part of a body which a vertex belongs to: one loop for all of them.

Two poses of one body are learned from; two other poses of it and another body, with other proportions and triangles,
are what a network is judged on. Inputs are intrinsic, so what differs between poses is what bending changes a little.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from explorer.spaces.mesh.network.fit import fit_mesh
from explorer.spaces.mesh.network.form import MeshInput
from explorer.spaces.mesh.samples.surfaces import SAMPLES
from explorer.work.training.course import Course
from explorer.work.training.losses import CLASSES
from models.layers.seeded import round_to_half, seeded
from models.training.learning import Progress, learning, one_cycle

PARTS = ("head", "torso", "upper arm", "lower arm", "hand", "upper leg", "lower leg", "foot")
LEARNED, NEW_POSES, OTHER = ("body", "body-raised"), ("body-walking", "body-sitting"), ("body-tall",)
EPOCHS, RATE = 300, 1e-2


@dataclass(frozen=True, slots=True)
class Body:
    """The inputs of a network on one body, and the part of each vertex, (V,)."""

    arguments: tuple[Tensor, ...]
    part: Tensor


@dataclass(frozen=True, slots=True)
class Figures:
    """The results of shipped weights: fractions of the vertices whose part is named."""

    parameters: int
    learned: float
    poses: float
    other: float


# tests/models/training/test_parts.py measures all of them again
FIGURES = {
    "gem-cnn": Figures(3992, 0.9906, 0.9013, 0.6242),
    "gem-cnn-regular": Figures(7448, 0.9988, 0.8809, 0.6003),
    "geodesic-cnn": Figures(9632, 0.9994, 0.9378, 0.4713),
    "mesh-chebnet": Figures(2144, 0.9822, 0.8929, 0.5400),
    "mesh-heat": Figures(1472, 0.9836, 0.9506, 0.4874),
    "mesh-isotropic": Figures(1136, 0.9636, 0.9143, 0.6655),
    "monet-gradient": Figures(3596, 0.9820, 0.8911, 0.7103),
    "monet-principal": Figures(3596, 0.9758, 0.8811, 0.6043),
    "patch-operator": Figures(3596, 0.9776, 0.8911, 0.6125),
}


def bodies(names: tuple[str, ...], wanted: MeshInput, dtype: torch.dtype = torch.float32) -> list[Body]:
    """Return the named samples as a network takes them."""
    known = {spec.name: spec for spec in SAMPLES}
    made = []
    for name in names:
        sample = known[name].make()
        part = torch.from_numpy(sample.signals["label"].values.astype("int64"))
        signals = fit_mesh(sample, wanted).signals
        values = [torch.from_numpy(signals[signal].values.copy()) for signal in wanted.signals]
        made.append(Body(tuple(v.to(dtype) if v.is_floating_point() else v for v in values), part))
    return made


def train_parts(
    build: Callable[[], nn.Module],
    wanted: MeshInput,
    epochs: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    rate: float = RATE,
) -> tuple[nn.Module, dict[str, float]]:
    """Build a network and train it on two poses; an epoch is one step on each of them.

    Parameters are rounded to half precision before the network is judged, as they are shipped.
    """
    epochs = EPOCHS if epochs is None else epochs
    with learning():
        network = seeded(build, seed)
        learned = bodies(LEARNED, wanted)
        optimizer = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=1e-2)
        network.train()
        course = Course(network, optimizer, one_cycle(), epochs=epochs, steps=1, losses=CLASSES, progress=progress)
        for _ in course:
            optimizer.zero_grad()
            total = 0.0
            for body in learned:
                loss = course.loss(network(*body.arguments), body.part) / len(learned)
                loss.backward()
                total += loss.item()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            course.descend(total)
        round_to_half(network)
        network.eval()
        return network, judged(network, wanted)


def judged(network: nn.Module, wanted: MeshInput) -> dict[str, float]:
    """Return the fraction of vertices whose part is named: on the learned poses, on new ones, on another body."""
    found = {}
    with torch.no_grad():
        for name, names in (("learned poses", LEARNED), ("new poses", NEW_POSES), ("another body", OTHER)):
            right = [
                (network(*body.arguments).argmax(1) == body.part).double().mean() for body in bodies(names, wanted)
            ]
            found[name] = float(torch.stack(right).mean())
    return found


def notes_of(name: str) -> tuple[str, ...]:
    """Return what the shipped weights of a card (seed 0) reach, in words."""
    figures = FIGURES[name]
    return (
        f"{figures.parameters:,} parameters, trained in {EPOCHS} steps on two poses of one body. Names the part of "
        f"{100 * figures.learned:.1f} % of their vertices, of {100 * figures.poses:.1f} % in two poses not trained on, "
        f"and of {100 * figures.other:.1f} % on a body of other proportions and triangles.",
    )
