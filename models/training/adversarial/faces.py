"""Judge generators of faces, whose traits can be read off, and find what their codes say of traits."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.spaces.grid.samples.faces import KINDS, TRAITS, faces, number, read
from models.training.adversarial.quality import quality

DRAWN = 2000
TRIALS = 300
LEAST = 1e-6  # of pictures that speak against a direction
MEAN_OF = 3  # codes that are averaged, as in Radford et al.


def _drawn(network: Any, count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Return codes and the traits of what G makes of them, (n, d) and (n, 3)."""
    z = network.prior(count, torch.Generator().manual_seed(seed))
    images = torch.cat([network.generator(part) for part in z.split(250)])
    return z, torch.from_numpy(read(images.numpy()))


def directions(network: Any) -> None:
    """Note how codes with a trait differ from those without, by least squares over all three at once."""
    z, traits = _drawn(network, DRAWN, 1)
    given, z = torch.cat([traits.double(), torch.ones(len(z), 1).double()], 1), z.double()
    # by normal equations, in double precision: `lstsq` gives other last bits from run to run, and the file keeps them.
    # The little that is added tells nothing apart but traits that all pictures share, or none has
    moments = given.T @ given + LEAST * torch.eye(given.shape[1], dtype=given.dtype)
    network.add.ways.copy_(torch.linalg.solve(moments, given.T @ z)[: len(TRAITS)])


def arithmetic(network: Any, trials: int = TRIALS, seed: int = 2) -> float:
    """Return the share of sums A - B + C that are read as what is meant, each the mean of three codes.

    A has a trait, B has the same others without it, and C has no such trait and other others.
    """
    z, traits = _drawn(network, DRAWN, seed)
    kinds = torch.from_numpy(number(traits.numpy()))
    chance = np.random.default_rng(seed)

    def mean_of(kind: tuple[int, ...]) -> Tensor:
        among = torch.nonzero(kinds == KINDS.index(kind))[:, 0].numpy()
        return z[chance.choice(among, MEAN_OF)].mean(0)

    sums, wanted = [], []
    for _ in range(trials):
        k = int(chance.integers(len(TRAITS)))
        one, other = (KINDS[int(i)] for i in chance.choice(len(KINDS), 2, replace=False))
        with_it, without, onto, meant = (
            tuple(value if j == k else kind[j] for j in range(len(TRAITS)))
            for kind, value in ((one, 1), (one, 0), (other, 0), (other, 1))
        )
        if not all((kinds == KINDS.index(kind)).any() for kind in (with_it, without, onto)):
            wanted.append(-1)  # a kind that is never made
            sums.append(torch.zeros(z.shape[1]))
            continue
        sums.append(mean_of(with_it) - mean_of(without) + mean_of(onto))
        wanted.append(KINDS.index(meant))
    found = number(read(network.generator(torch.stack(sums)).numpy()))
    return float((found == np.array(wanted)).mean())


def face_figures(network: Any) -> dict[str, float]:
    """Return the quality of the faces, how evenly their kinds are made, and the share of sums that are right."""
    z, traits = _drawn(network, 1000, 3)
    counts = np.bincount(number(traits.numpy()), minlength=len(KINDS))
    images = torch.cat([network.generator(part) for part in z.split(250)])
    return {
        **quality(images, torch.tensor(faces(1000, 1)[0]), torch.tensor(faces(1000, 2)[0])),
        "kinds": float((counts > 10).sum()),
        "arithmetic": arithmetic(network),
    }
