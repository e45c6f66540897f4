"""Convolution on DNA that treats both strands alike: reading the other strand gives the same answer, read backwards.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.2, eq. (31) and (32),
"reverse-complement symmetry": the group of two elements, transform and convolve; Mallet, Vert, "Reverse-complement
equivariant networks for DNA sequences", 2021, the constraint from regular to regular features; Shrikumar, Greenside,
Kundaje, 2017.

    (rho f)_c(t) = f_(C-1-c)(T-1-t)        the other strand: A <-> T, C <-> G, and backwards
    w[o, i, t] = w[O-1-o, I-1-i, K-1-t]    of every filter both strands' copies, so that f(rho x) = rho f(x)

Half of the filters are parameters, the other half are their reverse complements. With the bases in the order A, C, G, T
the complement of channel c is channel 3 - c, and likewise within the network: channels c and C-1-c are the two strands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.types.fields import FieldType
from explorer.spaces.sequence.fields import Steps, Strands
from explorer.spaces.sequence.network.form import SequenceInput
from explorer.spaces.sequence.samples import tasks
from models.layers.seeded import seeded
from models.training.learning import Progress
from models.training.sequences.computed import Recipe, judged_by, train

STRANDS = FieldType(Steps(), Strands())
FILTERS, KERNEL = 8, 7
COUNT = 500
STRAND_NAMES = ("motif on this strand", "motif on the other strand")


class StrandConv(nn.Module):
    """Convolution with w[o,i,t] = w[O-1-o, I-1-i, K-1-t], zeros beyond the ends; (..., T, I) -> (..., T, O)."""

    out_field = STRANDS

    def __init__(self, inputs: int, outputs: int, kernel: int = KERNEL) -> None:
        super().__init__()
        if inputs % 2 or outputs % 2 or not kernel % 2:
            raise ValueError(f"strands need even channels and an odd kernel, not {inputs} -> {outputs}, {kernel}")
        plain = nn.Conv1d(inputs, outputs // 2, kernel)
        self.weight, self.bias = plain.weight, plain.bias  # of this strand: (O/2, I, K), (O/2,)

    def filters(self) -> Tensor:
        """Return all filters, (O, I, K): those of this strand, then those of the other in reverse order."""
        return torch.cat([self.weight, self.weight.flip(0, 1, 2)])

    def forward(self, x: Tensor) -> Tensor:
        assert self.bias is not None
        return convolved(x, self.filters(), torch.cat([self.bias, self.bias.flip(0)]))


class PlainConv(nn.Conv1d):
    """The same without the constraint; (..., T, I) -> (..., T, O)."""

    out_field = STRANDS  # what the law would make of it: it is broken here

    def filters(self) -> Tensor:
        """Return all filters, (O, I, K)."""
        return self.weight

    def forward(self, x: Tensor) -> Tensor:
        return convolved(x, self.weight, self.bias)


def convolved(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return the convolution along steps, as long as x; (..., T, I) -> (..., T, O)."""
    return F.conv1d(x.transpose(-1, -2), weight, bias, padding=weight.shape[-1] // 2).transpose(-1, -2)


class Relu(nn.ReLU):
    """max(0, x), which leaves both strands where they are."""

    out_field = STRANDS


class MotifScan(nn.Module):
    """At each base a score for the motif on this strand and one for the other; one-hot (T, 4) -> (T, 2)."""

    def __init__(self, conv: type[StrandConv] | type[PlainConv], filters: int = FILTERS) -> None:
        super().__init__()
        self.scan = conv(4, 2 * filters, KERNEL)
        self.relu1 = Relu()
        self.combine = conv(2 * filters, 2 * filters, KERNEL)
        self.relu2 = Relu()
        self.strands = conv(2 * filters, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.strands(self.relu2(self.combine(self.relu1(self.scan(x)))))


def build(conv: type[StrandConv] | type[PlainConv]) -> MotifScan:
    """Build the network with or without the constraint."""
    return seeded(lambda: MotifScan(conv))


def drawn(chance: np.random.Generator, count: int) -> tuple[Tensor, Tensor]:
    """Draw DNA, one-hot, with where the motif lies on each strand; (B, T, 4), (B, T, 2)."""
    bases, sites = tasks.dna(chance, count)
    return torch.tensor(tasks.one_hot(bases, 4)), torch.tensor(sites)


def this_strand_alone(chance: np.random.Generator, count: int) -> tuple[Tensor, Tensor]:
    """Draw DNA and leave out of the answer what lies on the other strand, as where one strand was read out."""
    x, sites = drawn(chance, count)
    sites[..., 1] = torch.nan
    return x, sites


def loss(network: MotifScan, x: Tensor, sites: Tensor) -> Tensor:
    """Return the mean cross-entropy of the scores that have an answer, sites counted ten times."""
    told = ~sites.isnan()
    scores = network(x)[told]
    return F.binary_cross_entropy_with_logits(scores, sites[told], pos_weight=scores.new_tensor(10.0))


def judge(network: MotifScan) -> dict[str, float]:
    """Return recall and precision of the sites found on each strand, and the error of the law."""
    x, sites = drawn(judged_by(), COUNT)
    found, sites = network(x) > 0, sites > 0
    figures: dict[str, float] = {}
    for strand, name in enumerate(("this", "other")):
        both = float((found & sites)[..., strand].sum())
        figures[f"recall_{name}"] = both / float(sites[..., strand].sum())
        figures[f"precision_{name}"] = both / max(1.0, float(found[..., strand].sum()))
    return {**figures, "law_error": law_error(network, x)}


def law_error(network: nn.Module, x: Tensor) -> float:
    """Return |f(rho x) - rho f(x)| / |f(x)|; (B, T, 4)."""
    y = network(x)
    return float((network(x.flip(-1, -2)) - y.flip(-1, -2)).norm() / y.norm())


def filters(network: nn.Module) -> Mapping[str, Any]:
    """Return the motif scan's filters side by side, bases from the top, each (O, 4 K)."""
    assert isinstance(network, MotifScan)
    return {"filters of the scan (strand copies in reverse order)": network.scan.filters().detach().flatten(1)}


BUILDS: dict[str, Callable[[], MotifScan]] = {
    "strand-cnn": partial(build, StrandConv),
    "plain-dna-cnn": partial(build, PlainConv),
}
RECIPE = Recipe(epochs=10, batch=64, rate=1e-2)


def trained(
    name: str, epochs: int | None = None, seed: int = 0, progress: Progress | None = None
) -> tuple[nn.Module, Mapping[str, float]]:
    """Train the network of one card to find the motif, told of sites on this strand alone."""
    return train(BUILDS[name], this_strand_alone, loss, judge, RECIPE, epochs, seed, progress)


FIGURES = {
    "strand-cnn": (
        "1,153 parameters, 10 epochs of 100 steps, 64 sequences of 60 bases each. On 500 new ones: this strand: "
        "100.0 % of the sites found, 100.0 % of what is found is one; other strand: 100.0 % of the sites found, "
        "99.1 % of what is found is one.",
        "It was told of the sites on this strand alone: the law brings the others.",
    ),
    "plain-dna-cnn": (
        "2,306 parameters, 10 epochs of 100 steps, 64 sequences of 60 bases each. On 500 new ones: this strand: "
        "100.0 % of the sites found, 100.0 % of what is found is one; other strand: 100.0 % of the sites found, 1.5 "
        "% of what is found is one.",
        "It was told of the sites on this strand alone: of the other strand it says that the motif is everywhere.",
    ),
}

_EQUATION = "y_o(t) = b_o + Σ_i Σ_s w[o, i, s] x_i(t + s − ⌊K/2⌋)"
_REFERENCE = (
    'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.2, eq. (31) and (32); Mallet, '
    'Vert, "Reverse-complement equivariant networks for DNA sequences", 2021; Shrikumar, Greenside, Kundaje, 2017'
)

CARD = (
    Card(
        name="strand-cnn",
        title="Reverse-complement convolution on DNA",
        rows=("G9",),
        groups=("reverse-complement",),
        domain="sequence",
        reference=_REFERENCE,
        equation=_EQUATION + "\nw[o, i, s] = w[O−1−o, I−1−i, K−1−s],   b_o = b_{O−1−o}",
        summary=(
            "Every filter of scan has a copy for the other strand: channel c and channel 15 − c. The two outputs "
            "scan for a motif on this strand and on the other; reading the other strand exchanges them and runs "
            "them backwards. It was told of motifs on this strand alone, and finds those on the other."
        ),
        build=BUILDS["strand-cnn"],
        input=SequenceInput(channels=4, kind="dna"),
        sample="planted-dna",
        boundary="zero",
        labels=STRAND_NAMES,
        weights="strand-cnn.safetensors",
        train=partial(trained, "strand-cnn"),
        matrix=filters,
        source=(StrandConv, MotifScan),
        notes=FIGURES["strand-cnn"],
    ),
    Card(
        name="plain-dna-cnn",
        title="Plain convolution on DNA",
        rows=("G9",),
        domain="sequence",
        reference=_REFERENCE,
        equation=_EQUATION,
        summary=(
            "The same network without copies, twice as many parameters: it breaks the law of the two strands at its "
            "first layer, and what it says of the other strand, of which it was told nothing, is worth nothing."
        ),
        build=BUILDS["plain-dna-cnn"],
        input=SequenceInput(channels=4, kind="dna"),
        sample="planted-dna",
        boundary="zero",
        labels=STRAND_NAMES,
        weights="plain-dna-cnn.safetensors",
        train=partial(trained, "plain-dna-cnn"),
        matrix=filters,
        source=(PlainConv, MotifScan),
        notes=FIGURES["plain-dna-cnn"],
    ),
)
