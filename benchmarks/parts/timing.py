"""Interleaved timing: peers take turns, so that drift of the machine's speed hits all alike. Read the ratios."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Mapping


def interleaved(
    peers: Mapping[str, Callable[[], object]],
    rounds: int,
    warmup: int = 3,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Return {name: seconds of each round} by a clock; in every second round the order is reversed.

    A GPU works on while Python goes on, so a call ends when the GPU has ended, by the clock on the wall.
    """
    if (torch := sys.modules.get("torch")) is not None and torch.get_default_device().type == "cuda":
        device = torch.get_default_device()
        torch.set_default_device(None)  # which Python would look up in every call
        try:
            return _in_turn(peers, rounds, warmup, time.perf_counter, torch.cuda.synchronize)
        finally:
            torch.set_default_device(device)
    return _in_turn(peers, rounds, warmup, clock, _nothing)


def _in_turn(
    peers: Mapping[str, Callable[[], object]],
    rounds: int,
    warmup: int,
    clock: Callable[[], float],
    wait: Callable[[], object],
) -> dict[str, list[float]]:
    for _ in range(warmup):
        for call in peers.values():
            call()
    wait()
    times: dict[str, list[float]] = {name: [] for name in peers}
    for k in range(rounds):
        for name in list(peers) if k % 2 else reversed(list(peers)):
            start = clock()
            peers[name]()
            wait()
            times[name].append(clock() - start)
    return times


def _nothing() -> None:
    """Wait for nothing: what the processor does has ended when the call has."""


def ratio(times: Mapping[str, list[float]], name: str, peer: str) -> float:
    """Return the median over rounds of one peer's time divided by the other's of the same round."""
    return statistics.median(a / b for a, b in zip(times[name], times[peer], strict=True))


def row(times: Mapping[str, list[float]], name: str, peer: str, target: float) -> dict[str, float | str]:
    """Return one line of the report: medians in milliseconds, the ratio, and what is aimed at."""
    return {
        "what": name,
        "ms": 1e3 * statistics.median(times[name]),
        "peer": peer,
        "peer_ms": 1e3 * statistics.median(times[peer]),
        "ratio": ratio(times, name, peer),
        "target": target,
    }
