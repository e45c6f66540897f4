"""Summaries of a network's modules and values as plain numbers, which the window shows and reports write."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

COUNTED = "two for each multiply-add of convolutions, products and attention, counted by torch.utils.flop_counter"


@dataclass(frozen=True, slots=True)
class Statistics:
    """The values of one layer in a few numbers.

    Attributes:
        mean, std, low, high: of the finite values; NaN where there is none.
        zeros: the fraction of values that are exactly zero.
        nan, infinite: how many values are NaN, and how many are infinite.
        count: how many values there are.
    """

    mean: float
    std: float
    low: float
    high: float
    zeros: float
    nan: int
    infinite: int
    count: int

    @property
    def finite(self) -> bool:
        """Return whether no value is NaN or infinite."""
        return not (self.nan or self.infinite)

    @property
    def strange(self) -> str:
        """Return how many values are no numbers, in words; "" where all are finite."""
        words = [f"{n:,} {word}" for n, word in ((self.nan, "NaN"), (self.infinite, "infinite")) if n]
        return " and ".join(words)

    def to_json(self) -> dict[str, Any]:
        """Return plain values; what is no number is None."""
        figures = {k: getattr(self, k) for k in ("mean", "std", "low", "high", "zeros")}
        told = {k: v if math.isfinite(v) else None for k, v in figures.items()}
        return {**told, "nan": self.nan, "infinite": self.infinite, "count": self.count}


@dataclass(frozen=True, slots=True)
class ModuleInfo:
    """One module of a network, or another name of one.

    Attributes:
        name: in named_modules().
        params, own: number of its parameters, its children's included, and of those that it holds itself.
        calls: how often it was called in one run of the network; -1 where that is not known, as before it has run.
        first: the name that the same module has elsewhere and is called by, "" where this is its first name.
        names: under how many names the network holds it.
        nbytes: of the first tensor of each of its answers.
        varies: whether the network calls it on some inputs alone, or not as often, so that it is no layer.
    """

    name: str
    kind: str
    params: int
    own: int
    calls: int
    first: str = ""
    names: int = 1
    nbytes: int = 0
    varies: bool = False

    @property
    def shared(self) -> str:
        """Return how the module is shared in words, "" where it is called once under one name."""
        if self.first:
            return f"the same module as {self.first}"
        words = [f"called {self.calls} times"] if self.calls > 1 else []
        return " and ".join([*words, *([f"held under {self.names} names"] if self.names > 1 else [])])


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Counts of the values of the selected layer between edges: those of F(x) and those of F(rho(g) x).

    Attributes:
        picked: how many values of each were counted, evenly picked from `count`.
    """

    layer: str
    edges: NDArray[np.float64]
    values: NDArray[np.int64]
    moved: NDArray[np.int64]
    picked: int
    count: int


@dataclass(frozen=True, slots=True)
class Silent:
    """The channels of a layer that are zero at every place, for x and for all elements that were tried.

    Attributes:
        channels: which they are.
        of: how many channels there are.
        tried: under how many inputs on the orbit, x included.
    """

    channels: tuple[int, ...]
    of: int
    tried: int


@dataclass(frozen=True, slots=True)
class LayerFigures:
    """Figures of the layers of a square beside its errors; it grows in idle time.

    Attributes:
        modules: the whole tree of modules, those that are not called too.
        flops: {module: floating-point operations of one run}, {} before they are counted.
        values, moved: {layer: statistics} of F(x) and of F(rho(g) x).
        silent: {layer: its dead channels}, of those that have any.
        strange: a sentence about the first layer that has NaN or infinite values, "" where none has.
    """

    modules: tuple[ModuleInfo, ...] = ()
    flops: Mapping[str, int] = field(default_factory=dict)
    values: Mapping[str, Statistics] = field(default_factory=dict)
    moved: Mapping[str, Statistics] = field(default_factory=dict)
    silent: Mapping[str, Silent] = field(default_factory=dict)
    strange: str = ""
    histogram: Histogram | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """The distance of a layer's values in two runs.

    Attributes:
        relative: ||a - b|| / ||a||, of this run a and the other one b; None where they cannot be compared.
        largest: the largest difference of two values at the same index.
        note: why they cannot be compared: "not there", or the other shape.
    """

    relative: float | None
    largest: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """The layers of one run beside those of another: of another input, other weights, or the network before a change.

    Attributes:
        other: the other run, in words.
        layers: {layer: its difference}, in the order of execution.
        layer: whose values are drawn: `here` and `there` in two runs, and `apart`, (channels, height, width) each.
        apart: here - there; None where the shapes differ.
    """

    other: str
    layers: Mapping[str, Difference]
    layer: str = ""
    here: NDArray[np.floating] | None = None
    there: NDArray[np.floating] | None = None
    apart: NDArray[np.floating] | None = None

    @property
    def sentence(self) -> str:
        """Return from which layer on the runs differ, in a sentence."""
        known = {n: d.relative for n, d in self.layers.items() if d.relative is not None}
        if not known:
            why = Counter(d.note for d in self.layers.values() if d.note).most_common(1)
            told = "".join(f": {note}" if n == len(self.layers) else f"; of most: {note}" for note, n in why)
            return f"No layer of this run can be compared with {self.other}{told}."
        first = next((n for n, r in known.items() if r > 0 or math.isnan(r)), "")
        if not first:
            return f"All layers that both have are the same as in {self.other}."
        most = max(known, key=lambda n: known[n])
        return f"Differs from {self.other} from {first} on, most at {most} ({known[most]:.2g} of its size)."


@dataclass(frozen=True, slots=True)
class Law:
    """The test of one group on a network: how far its law holds, and what breaks it.

    Attributes:
        group, title: as `check --group` takes it, and in words.
        verdict: "holds", "broken", or "no law" where nothing could be tested.
        error: the largest cumulative error of the layers up to the one that breaks it, or of all.
        upto: the last layer before that one that was judged; "" where there is none.
        breaker: the layer that breaks it, or where the fault first shows.
        elements: how many exact elements were tried.
        sentence: all of it in words.
    """

    group: str
    title: str
    verdict: str
    error: float | None
    upto: str
    breaker: str
    elements: int
    sentence: str
