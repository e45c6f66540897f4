"""Audio: WAV in 32-bit float, which keeps every value."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from explorer.data.samples import Sample
from explorer.data.writers import Writer
from explorer.spaces.graph.writers.records import left_out

RATE = 8000  # steps a second, where the sample does not say
_FLOAT = 3
_MOST_CHANNELS = 255
_MOST_RATE = 2**31 - 1


def rate_of(sample: Sample) -> tuple[int, str]:
    """Return the steps in a second, from the sample or its times where those are equally far apart, and a note."""
    if sample.rate >= 1:
        return min(round(sample.rate), _MOST_RATE), ""
    if "time" in sample.signals and len(sample.x.values) > 1:
        apart = np.diff(sample.signals["time"].values)
        if np.ptp(apart) < 1e-6 * apart[0] and 1 <= 1 / apart[0] <= _MOST_RATE:
            return round(float(1 / apart[0])), ""
        return RATE, f"written at {RATE} Hz: its steps are not equally far apart in time"
    return RATE, f"written at {RATE} Hz: its rate is not known"


def _write(sample: Sample, path: Path) -> tuple[str, ...]:
    values = np.ascontiguousarray(sample.x.values, "<f4")
    steps, channels = values.shape
    if channels > _MOST_CHANNELS:
        raise ValueError(f"{sample.name!r} has {channels} channels and a WAV at most {_MOST_CHANNELS}; choose .npz")
    rate, note = rate_of(sample)
    notes = [note] if note else []
    rate = min(rate, _MOST_RATE // (4 * channels))
    if (top := float(np.abs(values).max(initial=0.0))) > 1:
        notes.append(f"values up to {top:.3g}: players cut off what is beyond 1")
    form = struct.pack("<HHIIHHH", _FLOAT, channels, rate, 4 * channels * rate, 4 * channels, 32, 0)
    with path.open("wb") as file:
        file.write(b"RIFF" + struct.pack("<I", 4 + 8 + len(form) + 12 + 8 + values.nbytes) + b"WAVE")
        file.write(b"fmt " + struct.pack("<I", len(form)) + form)
        file.write(b"fact" + struct.pack("<II", 4, steps))
        file.write(b"data" + struct.pack("<I", values.nbytes))
        file.write(values.tobytes())
    return (*notes, *left_out(sample, ("x",)))


WRITER = Writer("wav", "Audio (WAV)", (".wav",), _write, ("time",))
