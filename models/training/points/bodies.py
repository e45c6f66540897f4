"""Train networks that say where charged bodies will be, on systems that are simulated when they are asked for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.spaces.points.samples.bodies import simulated
from explorer.work.training.course import Course
from models.layers.seeded import round_to_half, seeded
from models.training.learning import Progress, cosine, learning

LEARNED, JUDGED = 20_000, 2000  # systems; of 3000, as the authors have, a network of this size learns too much by heart
BATCH = 100
CHUNK = 500  # systems that are simulated together: what they need stays near the processor
EPOCHS = 60
RATE, DECAY = 2e-3, 1e-12
SEEDS = (1, 2)  # of the systems that are learned and of those that are judged


class Systems:
    """Systems of bodies as tensors: (systems, bodies, 3 or 1) each."""

    def __init__(self, count: int, seed: int) -> None:
        sizes = [min(CHUNK, count - start) for start in range(0, count, CHUNK)]
        parts = zip(*(simulated(size, 1000 * seed + k) for k, size in enumerate(sizes)), strict=True)
        found = (torch.from_numpy(np.concatenate(part).astype(np.float32)) for part in parts)
        self.place, self.velocity, self.charge, self.later = found

    def __len__(self) -> int:
        return len(self.place)

    def some(self, chosen: Tensor) -> tuple[tuple[Tensor, ...], Tensor]:
        """Return the arguments of a network on the chosen systems as one cloud that is not joined, and the target."""
        place, velocity, charge = (t[chosen] for t in (self.place, self.velocity, self.charge))
        systems, bodies = place.shape[:2]
        there, here = torch.meshgrid(torch.arange(bodies), torch.arange(bodies), indexing="ij")
        pair = torch.stack([here[there != here], there[there != here]])
        index = (pair[:, None] + bodies * torch.arange(systems)[:, None]).reshape(2, -1)
        place, velocity, charge = (t.flatten(0, 1) for t in (place, velocity, charge))
        product = charge[index[0]] * charge[index[1]]
        speed = velocity.norm(dim=1, keepdim=True)
        return (speed, place, velocity, index, product), self.later[chosen].flatten(0, 1)


def train(
    build: Callable[[], nn.Module], epochs: int | None = None, seed: int = 0, progress: Progress | None = None
) -> tuple[nn.Module, dict[str, float]]:
    """Build a network, train it, and return it with its mean square errors on systems that it has not seen.

    Parameters are rounded to half precision where the errors are judged, so that a small file holds what was judged.
    """
    epochs = EPOCHS if epochs is None else epochs
    learned, judged = (Systems(count, seed) for count, seed in zip((LEARNED, JUDGED), SEEDS, strict=True))
    with learning():
        network = seeded(build, seed)
        generator = torch.Generator().manual_seed(seed)
        optimizer = torch.optim.Adam(network.parameters(), lr=RATE, weight_decay=DECAY)
        network.train()
        course = Course(
            network, optimizer, cosine(RATE / 100), generator, epochs=epochs, examples=LEARNED, batch=BATCH,
            losses={"squared error": F.mse_loss, "absolute error": F.l1_loss, "Huber": F.huber_loss},
            progress=progress, told="loss {:.5f}".format,
        )  # fmt: skip
        for chosen in course:
            given, target = learned.some(chosen)
            course.learn(course.loss(network(*given), target), clip=1.0)
        network.eval()
        round_to_half(network)
        return network, errors(network, judged)


def errors(network: nn.Module, judged: Systems) -> dict[str, float]:
    """Return the mean square error of the network, and of saying that bodies go straight on."""
    given, target = judged.some(torch.arange(len(judged)))
    with torch.no_grad():
        error = float(F.mse_loss(network(*given), target))
    return {"test_error": error, "straight_error": float(F.mse_loss(given[1] + given[2], target))}


def measured(error: float, straight: float) -> tuple[str, ...]:
    """Return the notes of a card with shipped weights."""
    return (
        f"trained on {LEARNED:,} simulated systems of five charges; mean square error on {JUDGED:,} others {error:.4f} "
        f"(0.0071 in the paper, which learns from 3,000 alone; {straight:.4f} for bodies that go straight on).",
    )
