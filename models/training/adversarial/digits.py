"""Judge generators of digits: how good the digits are, whether they are those meant, and what D has learned."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from explorer.spaces.grid.samples import digit_images
from models.training.adversarial.quality import quality, read_digits

MADE = 1000


def _sets() -> tuple[Tensor, Tensor, Tensor]:
    (learned, _), (images, labels) = digit_images.load("train"), digit_images.load("test")
    return torch.tensor(learned), torch.tensor(images), torch.tensor(labels)


def test_error(network: Any) -> float:
    """Return the share of test digits whose best of ten classes is another one."""
    _, images, labels = _sets()
    found = torch.cat([network.classes(network.features(x))[:, :10].argmax(1) for x in images.split(250)])
    return float((found != labels).double().mean())


def class_figures(network: Any) -> dict[str, float]:
    """Return the quality of digits made to order, the share that is read as ordered, and D's own test error."""
    learned, images, _ = _sets()
    wanted = torch.arange(MADE) % 10
    made = torch.cat(
        [network.of_classes(part, torch.Generator().manual_seed(k)) for k, part in enumerate(wanted.split(250))]
    )
    return {
        **quality(made, learned[:MADE], images),
        "told": float((read_digits(made) == wanted).double().mean()),
        "error": test_error(network),
    }


def plain_figures(network: Any) -> dict[str, float]:
    """Return the quality of the digits that are made, how many classes they are read as, and D's test error."""
    learned, images, _ = _sets()
    z = network.prior(MADE, torch.Generator().manual_seed(0))
    made = torch.cat([network.generator(part) for part in z.split(250)])
    counts = torch.bincount(read_digits(made), minlength=10)
    return {
        **quality(made, learned[:MADE], images),
        "classes": float((counts > 0.02 * MADE).sum()),
        "error": test_error(network),
    }
