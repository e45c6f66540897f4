"""Train image generators against discriminators: phases in which two halves of a network pay losses in turn.

Which half learns is one of the losses of the training, so that it can be exchanged while it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from explorer.spaces.grid.samples import digit_images
from explorer.spaces.grid.samples.digit_styles import all_styles
from explorer.spaces.grid.samples.faces import faces
from explorer.work.training.course import Course, Loss
from models.layers.adversarial.losses import discriminator_loss
from models.layers.seeded import round_to_half, seeded
from models.training.adversarial.in_turn import D_ALONE, G_ALONE, falling
from models.training.learning import Progress, learning

FACES = 3000
BOTH = "in turn"
BETAS = (0.5, 0.999)
LEAST = 0.02  # of the learning rates, at the end
Parts = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of examples, and the generator of a step's random numbers."""

    x: Tensor
    labels: Tensor
    chance: torch.Generator

    def __len__(self) -> int:
        return len(self.x)


Pays = Callable[[Any, Batch], Parts]
Half = Callable[[Any], Sequence[nn.Module]]


@dataclass(frozen=True, slots=True)
class Phase:
    """A share of the training in which one half pays `d_loss` and the other `g_loss`.

    Attributes:
        d_half, g_half: the modules that learn; the others stand still.
        still: modules whose statistics stand still too.
    """

    share: float
    g_half: Half
    g_loss: Pays
    d_half: Half | None = None
    d_loss: Pays | None = None
    still: Half = lambda _: ()


@dataclass(frozen=True, slots=True)
class Recipe:
    """The training of a generator on one of SETS."""

    data: str
    epochs: int
    batch: int = 32
    rate: float = 4e-4
    g_rate: float = 1e-3


def code_phase(share: float = 0.15) -> Phase:
    """Return the phase after the game, in which the code learns to find z."""
    return Phase(
        share, lambda n: (n.code,), lambda n, b: {"code": n.code_error(2 * len(b), b.chance)}, still=lambda n: (n,)
    )  # fmt: skip


def _digits() -> tuple[Tensor, Tensor]:
    images, labels = digit_images.load("train")
    return torch.tensor(images), torch.tensor(labels)


def _faces() -> tuple[Tensor, Tensor]:
    images, traits = faces(FACES)
    return torch.tensor(images), torch.tensor(traits)


def _filled() -> tuple[Tensor, Tensor]:
    """Return every other digit; the others are seen in other styles alone."""
    images, labels = _digits()
    return images[::2], labels[::2]


def _styles() -> tuple[Tensor, Tensor]:
    images, named = all_styles("train")
    return torch.tensor(images), torch.tensor(named)


SETS: Mapping[str, Callable[[], tuple[Tensor, Tensor]]] = {
    "digits": _digits, "faces": _faces, "filled digits": _filled, "digits in every style": _styles,
}  # fmt: skip
WAYS: Mapping[str, Loss] = dict.fromkeys((BOTH, D_ALONE, G_ALONE), discriminator_loss)


def train(
    build: Callable[[], nn.Module],
    phases: Sequence[Phase],
    recipe: Recipe,
    judge: Callable[[Any], Mapping[str, float]],
    epochs: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    finish: Callable[[Any], None] | None = None,
) -> tuple[nn.Module, dict[str, float]]:
    """Train from nothing and return the network with what `judge` says of it; `finish` notes what it has learned.

    The same seed gives the same parameters on the same kind of machine. Parameters and statistics are rounded to half
    precision at the end, so that a small file holds exactly what was judged.
    """
    epochs = recipe.epochs if epochs is None else epochs
    with learning(), torch.random.fork_rng(devices=[]):
        images, labels = SETS[recipe.data]()
        network = seeded(build, seed).train()
        chance = torch.Generator().manual_seed(seed)
        optimizer, total = _optimizer(network, phases, recipe), epochs * -(-len(images) // recipe.batch)
        course = Course(
            network, optimizer, falling(LEAST), chance, epochs=epochs, examples=len(images), batch=recipe.batch,
            losses=WAYS, progress=progress, told="loss {:.3f}".format,
        )  # fmt: skip
        ends = [
            total * sum(p.share for p in phases[: k + 1]) / sum(p.share for p in phases) for k in range(len(phases))
        ]
        for rows in course:
            phase = next((p for p, end in zip(phases, ends, strict=True) if course.at < end), phases[-1])
            network.train()
            for module in phase.still(network):
                module.eval()
            parts = _turn(network, optimizer, phase, course.loss_name, Batch(images[rows], labels[rows], chance))
            course.descend(sum(parts.values()), parts=parts)
        network.eval()
        with torch.no_grad():
            if finish is not None:
                finish(network)
            round_to_half(network, statistics=True)
            return network, dict(judge(network))


def _optimizer(network: Any, phases: Sequence[Phase], recipe: Recipe) -> torch.optim.Adam:
    """Return one optimizer of everything that learns; it moves what has gradients."""
    groups: list[dict[str, Any]] = []
    known: set[int] = set()
    for half, rate in ((h, r) for p in phases for h, r in ((p.d_half, recipe.rate), (p.g_half, recipe.g_rate))):
        own = [p for p in _parameters(network, half) if id(p) not in known] if half is not None else []
        known |= {id(p) for p in own}
        if own:
            groups.append({"params": own, "lr": rate})
    return torch.optim.Adam(groups, betas=BETAS)


def _parameters(network: Any, half: Half) -> list[nn.Parameter]:
    return [p for module in half(network) for p in module.parameters()]


def _turn(
    network: Any, optimizer: torch.optim.Optimizer, phase: Phase, way: str, batch: Batch
) -> dict[str, float]:  # fmt: skip
    """Let the halves pay in turn, but for the last step, which the caller makes."""
    moves = [(phase.g_half, phase.g_loss, "G ")]
    if phase.d_half is not None and phase.d_loss is not None:
        d = (phase.d_half, phase.d_loss, "D ")
        moves = [d] if way == D_ALONE else moves if way == G_ALONE else [d, *moves]
    told: dict[str, float] = {}
    for k, (half, pays, who) in enumerate(moves):
        if k:
            optimizer.step()
        optimizer.zero_grad()
        parts = pays(network, batch)
        torch.stack(list(parts.values())).sum().backward(inputs=_parameters(network, half))
        told |= {f"{who}{name}": value.item() for name, value in parts.items()}
    return told
