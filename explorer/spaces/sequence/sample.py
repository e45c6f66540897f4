"""Wrap a sequence, or several, as a sample."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Array, Sample, Signal
from explorer.spaces.sequence.fields import STEP, STEP_INPUT


def sequence_sample(
    name: str,
    x: Array,
    *,
    title: str = "",
    time: NDArray[np.floating] | None = None,
    label: NDArray[np.integer] | None = None,
    batch: NDArray[np.integer] | None = None,
    names: tuple[str, ...] = (),
    channels: tuple[str, ...] = (),
    rate: float = 0.0,
    source: str = "",
    notes: tuple[str, ...] = (),
) -> Sample:
    """Wrap a sequence, or several of unequal length one after the other.

    Args:
        x: (steps, channels), or (steps,) for one channel. Symbols are one-hot; DNA has the columns A, C, G, T, and a
            letter that is not known is 0.25 in each.
        time: (steps,) when each step was, ascending within a sequence; None where steps are equally far apart.
        label: (steps,) what is to be said at each step; -1 where nothing is.
        batch: (steps,) which sequence of several each step belongs to, ascending from 0.
        names: the text of each step (letters, words).
        channels: what each column of x is: a quantity, a symbol.
        rate: steps in a second, or 0.

    Raises:
        ValueError: shapes that do not fit each other, values that are not finite, time that does not ascend.
    """
    values: NDArray[np.float32] = np.array(x, dtype=np.float32, ndmin=1)
    values = np.ascontiguousarray(values[:, None] if values.ndim == 1 else values)
    if values.ndim != 2:
        raise ValueError(f"{name}: x must be (steps, channels), got shape {values.shape}")
    steps = len(values)
    if not np.isfinite(values).all():
        t, c = np.argwhere(~np.isfinite(values))[0].tolist()
        raise ValueError(f"{name}: the value of channel {c} at step {t} is not finite")
    signals = {"x": Signal(values, STEP_INPUT)}
    for key, array in (("time", time), ("label", label), ("batch", batch)):
        if array is None:
            continue
        if np.shape(array) != (steps,):
            raise ValueError(f"{name}: {key} has shape {np.shape(array)}, and there are {steps} steps")
        # seconds since 1970 and a millisecond do not fit in float32
        kept = np.array(array, np.float64) if key == "time" else np.array(array, np.int64)
        signals[key] = Signal(kept, STEP)
    numbers = signals["batch"].values if "batch" in signals else None
    if steps and numbers is not None and (numbers[0] != 0 or not np.isin(np.diff(numbers), (0, 1)).all()):
        raise ValueError(f"{name}: batch must number the sequences 0, 1, 2, ... one after the other")
    if time is not None:
        if not np.isfinite(signals["time"].values).all():
            raise ValueError(f"{name}: time is not finite everywhere")
        behind = np.diff(signals["time"].values) <= 0
        late = np.flatnonzero(behind if numbers is None else behind & (np.diff(numbers) == 0))
        if late.size:
            raise ValueError(f"{name}: time does not ascend from step {late[0]} to step {late[0] + 1}")
    for what, texts, places in (("names", names, steps), ("channels", channels, values.shape[1])):
        if texts and len(texts) != places:
            raise ValueError(f"{name}: {len(texts)} {what}, and there are {places} places for them")
    return Sample(
        name, "sequence", MappingProxyType(signals), title or name, None, source, notes, tuple(names),
        channels=tuple(channels), rate=rate, parts=int(numbers[-1]) + 1 if steps and numbers is not None else 1,
    )  # fmt: skip
