"""Train and judge vision transformers on the digits: one set of weights for every way to say where a patch lies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.spaces.grid.network.fit import fit
from explorer.spaces.grid.sample import image_sample
from explorer.spaces.grid.samples import digit_images
from explorer.work.training.course import Course
from models.layers.seeded import round_to_half, seeded
from models.layers.vision.blocks import VisionTransformer
from models.training.learning import Progress, learning, one_cycle

EPOCHS, BATCH, RATE, DECAY = 60, 48, 3e-3, 0.02
SHIFT = 1  # pixel that a digit is moved by at most while it is learned from


@cache
def digits(split: digit_images.Split, side: int) -> tuple[Tensor, Tensor]:
    """Return (images, labels) as a network of that side is given them, (N, 1, side, side) and (N,)."""
    images, labels = digit_images.load(split)
    fitted = [fit(image_sample(image, "digit"), (1, side, side)).x.values for image in images]
    return torch.stack([torch.from_numpy(v.copy()) for v in fitted]), torch.tensor(labels)


def train(
    build: Callable[[], VisionTransformer],
    side: int,
    epochs: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[nn.Module, Mapping[str, float]]:
    """Build and train a network; every batch is learned with another kind of positions, with plain patches or not.

    The same seed gives the same parameters on the same kind of machine. Parameters are rounded to half precision at
    the end, so that a small file holds exactly what was judged.
    """
    epochs = EPOCHS if epochs is None else epochs
    with learning():
        images, labels = digits("train", side)
        network = seeded(build, seed).train()
        chance = torch.Generator().manual_seed(seed)
        ways = [(kind, symmetric) for kind in network.kinds for symmetric in (False, True)]
        optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
        course = Course(
            network, optimizer, one_cycle(0.2), chance, epochs=epochs, examples=len(images), batch=BATCH,
            progress=progress,
        )  # fmt: skip
        for rows in course:
            network.use(*ways[course.at % len(ways)])
            by = torch.randint(-SHIFT, SHIFT + 1, (2,), generator=chance).tolist()
            loss = F.cross_entropy(network(images[rows].roll(by, (-2, -1))), labels[rows], label_smoothing=0.05)
            course.learn(loss, weight=len(rows), clip=1.0)
        round_to_half(network)
        network.use(network.kinds[0]).eval()
        return network, judge(network, side)


def judge(network: VisionTransformer, side: int) -> dict[str, float]:
    """Return the fraction of test digits misread by each way, {kind} and {kind}_c4, and turned by 90 degrees."""
    images, labels = digits("test", side)
    kept = network.positions, network.patch_embed.proj.symmetric
    found: dict[str, float] = {}
    with torch.no_grad():
        for kind in network.kinds:
            for symmetric in (False, True):
                network.use(kind, symmetric)
                name = kind + ("_c4" if symmetric else "")
                found[name] = _error(network, images, labels)
        network.use("none", True)
        found["none_c4_turned"] = _error(network, torch.rot90(images, 1, (-2, -1)), labels)
    network.use(*kept)
    return found


def _error(network: nn.Module, images: Tensor, labels: Tensor) -> float:
    found = torch.cat([network(x).argmax(1) for x in images.split(100)])
    return float((found != labels).double().mean())
