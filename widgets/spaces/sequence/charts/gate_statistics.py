"""Statistics of gates over a whole recording: histograms, and how long each unit remembers. Numpy only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS = 60
MOST = 4_000_000  # values that are counted; more are sampled evenly
LONGEST = 1e6  # steps: a forgetting time beyond is infinite for all that a recording can show


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """One gate's histogram: `edges` (BINS + 1,), `share` (BINS,) of the finite values, and what they are."""

    name: str
    edges: NDArray[Any]
    share: NDArray[Any]
    low: float
    mean: float
    high: float
    shut: float  # share below 0.1, of gates
    open: float  # share above 0.9, of gates
    gate: bool
    moved: NDArray[Any] | None = None  # the same of F(rho(g) x)


@dataclass(frozen=True, slots=True, eq=False)
class Forgetting:
    """Time scales of the units: 1 / gamma in steps, (C,), ascending, and the quartiles of each over the steps.

    gamma is the part of the state that is replaced at a step: of forget and update gates 1 - gate, of the gate of a
    leaky unit the gate itself. `order` says which unit each is. Units whose gamma is 0 throughout have `LONGEST`.
    """

    name: str
    times: NDArray[Any]
    low: NDArray[Any]
    high: NDArray[Any]
    order: NDArray[np.intp]
    remembers: bool  # whether the gate keeps (gamma = 1 - gate) or replaces (gamma = gate)


def sampled(values: NDArray[Any], most: int = MOST) -> NDArray[Any]:
    """Return (steps, C) with at most so many values, evenly spaced in time."""
    flat = np.asarray(values).reshape(len(values), -1)
    return flat[:: max(1, -(-flat.size // most))]


def is_gate(values: NDArray[Any]) -> bool:
    """Say whether all values lie in [0, 1]."""
    finite = values[np.isfinite(values)]
    return bool(finite.size and finite.min() >= -1e-6 and finite.max() <= 1 + 1e-6)


def count(name: str, values: NDArray[Any], moved: NDArray[Any] | None = None) -> Counted:
    """Count the values of a gate or state in equal bins: those of gates over [0, 1]."""
    part = sampled(values)
    finite = part[np.isfinite(part)]
    gate = is_gate(part)
    if not finite.size:
        return Counted(name, np.linspace(0, 1, BINS + 1), np.zeros(BINS), np.nan, np.nan, np.nan, 0, 0, False)
    other = None if moved is None else sampled(moved)
    other = None if other is None else other[np.isfinite(other)]
    limit = max(float(np.abs(v).max()) for v in (finite, other) if v is not None and v.size) or 1.0
    edges = np.linspace(0, 1, BINS + 1) if gate else np.linspace(-limit, limit, BINS + 1)

    def shares(v: NDArray[Any]) -> NDArray[Any]:
        return np.histogram(np.clip(v, edges[0], edges[-1]), edges)[0] / max(1, v.size)

    return Counted(
        name, edges, shares(finite), float(finite.min()), float(finite.mean()), float(finite.max()),
        float((finite < 0.1).mean()), float((finite > 0.9).mean()), gate,
        None if other is None or not other.size else shares(other),
    )  # fmt: skip


def keeps(name: str) -> bool:
    """Say whether a gate says how much of the state stays, by its name; a GRU's update gate does: h = (1-z) n + z h."""
    return any(word in name.rpartition(".")[2].lower() for word in ("forget", "update", "keep"))


def timed(gates: Mapping[str, NDArray[Any]]) -> Iterator[str]:
    """Yield the gates that a forgetting time can be read from: forget gates first."""
    found = [name for name, values in gates.items() if is_gate(sampled(values, 100_000))]
    last = [name for name in found if name.rpartition(".")[2] not in ("output_gate", "reset", "hidden", "cell")]
    yield from sorted(last or found, key=lambda name: (not keeps(name), found.index(name)))


def forgetting(name: str, values: NDArray[Any], remembers: bool) -> Forgetting:
    """Return 1 / gamma of each unit, by its mean gamma over the steps (eq. 53 and the chrono rule of R4)."""
    part = np.asarray(sampled(values), np.float64)
    gamma = np.clip(1 - part if remembers else part, 0, None)
    with np.errstate(invalid="ignore"):
        quarters = np.nanpercentile(gamma, (25, 75), axis=0) if gamma.size else np.zeros((2, gamma.shape[1]))
        middle = np.nanmean(gamma, axis=0) if len(gamma) else np.zeros(gamma.shape[1])
    times, high, low = (1 / np.maximum(np.nan_to_num(v), 1 / LONGEST) for v in (middle, *quarters))
    order = np.argsort(times)
    return Forgetting(name, times[order], low[order], high[order], order, remembers)
