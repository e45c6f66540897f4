"""Say how good generated images are, with numbers, in the features of a network that the program ships.

- Precision and recall: the share of made images that lie among the data, and of the data that lie among what is made;
  "among" is within the distance from any one to its third neighbour (Kynkäänniemi et al., "Improved Precision and
  Recall Metric for Assessing Generative Models", 2019, section 2).
- The Fréchet distance of two Gaussians (Heusel et al., "GANs Trained by a Two Time-Scale Update Rule", 2017, eq. 6).

The features are those of `plain-cnn`, which reads digits. Published figures have those of another network, so they
cannot be compared with these.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from torch import Tensor

from explorer.work.files.places import RESOURCES
from explorer.work.files.stored_arrays import stored_arrays
from models.layers.convolution.plain_cnn import PlainCNN

NEIGHBOUR = 3


@cache
def _reader() -> PlainCNN:
    network = PlainCNN()
    arrays = stored_arrays(RESOURCES / "weights" / "plain-cnn.safetensors")
    network.load_state_dict({name: torch.from_numpy(values) for name, values in arrays.items()})
    return network.eval()


def read_digits(images: Tensor) -> Tensor:
    """Return which digit the shipped plain-cnn reads in each image, (N,)."""
    with torch.no_grad():
        return torch.cat([_reader()(part).argmax(1) for part in images.split(250)])


def features(images: Tensor) -> Tensor:
    """Return the last features of plain-cnn before its scores, (N, 1, 29, 29) -> (N, 36), in double precision."""
    found: list[Tensor] = []
    handle = _reader().global_pool.register_forward_hook(lambda _m, _x, y: found.append(y.double()))
    try:
        read_digits(images)
    finally:
        handle.remove()
    return torch.cat(found)


def precision(data: Tensor, made: Tensor) -> float:
    """Return the share of `made` (m, d) that lies within the third neighbour's distance of any of `data` (n, d)."""
    apart = torch.cdist(data, data).sort(1).values[:, NEIGHBOUR]
    return float((torch.cdist(made, data) <= apart).any(1).double().mean())


def frechet(one: Tensor, other: Tensor) -> float:
    """Return |m - m'|^2 + tr(C + C' - 2 (C C')^(1/2)) of Gaussians with the moments of both, (n, d)."""
    means, roots = [], []
    for values in (one, other):
        means.append(values.mean(0))
        values_of, vectors = torch.linalg.eigh(torch.cov(values.T))
        roots.append(vectors * values_of.clamp_min(0).sqrt() @ vectors.T)
    # the trace of (C C')^(1/2) is the sum of the singular values of C^(1/2) C'^(1/2)
    cross = torch.linalg.svdvals(roots[0] @ roots[1]).sum()
    return float((means[0] - means[1]).square().sum() + roots[0].square().sum() + roots[1].square().sum() - 2 * cross)


def quality(made: Tensor, data: Tensor, more: Tensor) -> dict[str, float]:
    """Return the figures of images that were made against data, and the distance of the data from more of them."""
    a, b, c = (features(images) for images in (made, data, more))
    found = {
        "precision": precision(b, a),
        "recall": precision(a, b),
        "frechet": frechet(a, b),
        "frechet_data": frechet(b, c),
    }
    return {name: float(np.round(value, 6)) for name, value in found.items()}
