"""Train networks on atomisation energies of small molecules: the G2 set as ASE has it (`explorer.spaces.points.g2`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.spaces.points.g2 import energies
from explorer.work.training.course import Course
from models.layers.seeded import round_to_half, seeded
from models.training.learning import Progress, cosine, learning

ALL, JUDGED, SPLIT = 148, 30, 20  # molecules, those that are never learned, and the seed that draws these
EPOCHS, RATE, DECAY = 150, 3e-3, 1e-2
SHAKEN = 0.02  # Å by which places are moved at random while it learns


class Molecules:
    """Several molecules as one cloud without edges between them."""

    def __init__(self, chosen: np.ndarray, reach: float) -> None:
        some = [energies()[int(k)] for k in chosen]
        self.names = tuple(name for name, *_ in some)
        self.energy = torch.tensor([energy for *_, energy in some], dtype=torch.float32)
        self.number = torch.from_numpy(np.concatenate([number for _, _, number, _ in some]))
        self.position = torch.from_numpy(np.concatenate([place for _, place, _, _ in some])).float()
        sizes = torch.tensor([len(number) for _, _, number, _ in some])
        self.molecule = torch.repeat_interleave(torch.arange(len(some)), sizes)
        same = self.molecule[:, None] == self.molecule[None]
        near = torch.cdist(self.position, self.position) < reach
        receiver, sender = (same & near & ~torch.eye(len(self.number), dtype=torch.bool)).nonzero().T
        self.edge_index = torch.stack([sender, receiver])

    def __len__(self) -> int:
        return len(self.energy)

    def summed(self, atoms: Tensor) -> Tensor:
        """Return the sums over each molecule: (atoms, 1) -> (molecules,)."""
        return atoms.new_zeros(len(self)).index_add(0, self.molecule, atoms[:, 0])

    def counts(self) -> Tensor:
        """Return how many atoms of each element a molecule has: (molecules, 100)."""
        return torch.zeros(len(self), 100).index_put((self.molecule, self.number), torch.ones(len(self.number)), True)


@cache
def split(reach: float) -> tuple[Molecules, Molecules]:
    """Return the molecules that are learned and those that are judged."""
    order = np.random.default_rng(SPLIT).permutation(len(energies()))
    return Molecules(np.sort(order[JUDGED:]), reach), Molecules(np.sort(order[:JUDGED]), reach)


def by_elements(learned: Molecules) -> Tensor:
    """Return the energy of each element that fits the learned molecules best, as if no atom heard another: (100,)."""
    # a little less than the best where an element is rare
    counts = learned.counts().double()
    system = counts.T @ counts + 1e-3 * torch.eye(100, dtype=torch.float64)
    return torch.linalg.solve(system, counts.T @ learned.energy.double()).float()


def train(
    build: Callable[[], nn.Module], epochs: int | None = None, seed: int = 0, progress: Progress | None = None
) -> tuple[nn.Module, dict[str, float]]:
    """Build a network, train it, and return it with its mean absolute error on molecules that it has not seen.

    The network has `atoms`, which returns the energy of each atom (N, 1), a table `elements` (100, 1) that begins as
    the best energies by element, and a `reach`.
    """
    epochs = EPOCHS if epochs is None else epochs
    with learning():
        network = seeded(build, seed)
        learned, _ = split(network.reach)
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            network.elements.weight.copy_(by_elements(learned)[:, None])  # type: ignore[union-attr, operator]
        optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
        network.train()
        course = Course(
            network, optimizer, cosine(RATE / 100), generator, epochs=epochs, steps=1, progress=progress,
            told="loss {:.4f} eV".format,
        )  # fmt: skip
        for _ in course:
            shaken = learned.position + SHAKEN * torch.randn(learned.position.shape, generator=generator)
            found = learned.summed(network.atoms(shaken, learned.number, learned.edge_index))  # type: ignore[operator]
            course.learn(F.smooth_l1_loss(found, learned.energy), clip=1.0)
        network.eval()
        round_to_half(network)
        return network, errors(network)


def errors(network: nn.Module) -> dict[str, float]:
    """Return the mean absolute errors in eV on the judged molecules: of the network, by elements alone, of the mean."""
    learned, judged = split(network.reach)
    with torch.no_grad():
        found = judged.summed(network.atoms(judged.position, judged.number, judged.edge_index))  # type: ignore[operator]
    plain = judged.counts() @ by_elements(learned)
    return {
        "test_error": float((found - judged.energy).abs().mean()),
        "element_error": float((plain - judged.energy).abs().mean()),
        "mean_error": float((learned.energy.mean() - judged.energy).abs().mean()),
    }


def measured(error: float, elements: float, mean: float) -> tuple[str, ...]:
    """Return the notes of a card with shipped weights."""
    return (
        f"trained on the measured atomisation energies of {ALL - JUDGED} molecules of the G2 set; mean absolute "
        f" error on {JUDGED} others {error:.2f} eV ({elements:.2f} by the best energy for each element, "
        f"{mean:.2f} by the mean of all).",
    )
