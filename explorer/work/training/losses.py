"""Losses that can be exchanged while a network learns, by name; the first is the one that shipped weights have."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor
from torch.nn import functional as F

from explorer.work.training.course import Loss


def squared_error(scores: Tensor, wanted: Tensor) -> Tensor:
    """Return the squared distance of the probabilities from certainty (the Brier score); (N, K), (N,) -> ()."""
    return (scores.softmax(-1) - F.one_hot(wanted, scores.shape[-1]).to(scores)).square().sum(-1).mean()


def softened(scores: Tensor, wanted: Tensor) -> Tensor:
    """Return the cross-entropy with label smoothing of a tenth; (N, K), (N,) -> ()."""
    return F.cross_entropy(scores, wanted, label_smoothing=0.1)


CLASSES: Mapping[str, Loss] = {
    "cross-entropy": F.cross_entropy,
    "squared error": squared_error,
    "label smoothing": softened,
    "margin": F.multi_margin_loss,
}
