"""Sound: WAV in 32-bit float, which keeps every value; AIFF and FLAC in 24 bits, and OGG (Vorbis), by libsndfile.

WAV is written here: libsndfile puts the time of writing into the file, so that the same sound would never give the same
bytes, and scipy warns of it.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from explorer.data.writers import Writer
from explorer.declare.samples import Sample
from explorer.declare.telling.counting import number_of
from explorer.spaces.graph.writers.records import left_out

RATE = 8000  # steps a second, where the sample does not say
_FLOAT = 3
_MOST_CHANNELS = 255
_MOST_RATE = 2**31 - 1
_BLOCK = 2**16  # steps: the encoder of Vorbis overflows its stack with a long sound at once


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


def _write_wav(sample: Sample, path: Path) -> tuple[str, ...]:
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


def _write_coded(sample: Sample, path: Path) -> tuple[str, ...]:
    import soundfile

    values = np.ascontiguousarray(sample.x.values, np.float32)
    form = {".flac": "FLAC", ".ogg": "OGG"}.get(path.suffix.lower(), "AIFF")
    kind, most = ("VORBIS", _MOST_CHANNELS) if form == "OGG" else ("PCM_24", 8 if form == "FLAC" else _MOST_CHANNELS)
    if values.shape[1] > most:
        raise ValueError(f"{sample.name!r} has {values.shape[1]} channels and {form} at most {most}; choose .npz")
    if (top := float(np.abs(values).max(initial=0.0))) > 1:
        raise ValueError(f"{sample.name!r} has values up to {top:.3g} and {form} holds none beyond 1; choose .wav")
    rate, note = rate_of(sample)
    try:
        with soundfile.SoundFile(path, "w", rate, values.shape[1], kind, format=form) as file:
            for start in range(0, len(values), _BLOCK):
                file.write(values[start : start + _BLOCK])
    except soundfile.LibsndfileError as error:
        what = f"{sample.name!r}, {number_of(values.shape[1], 'channel')} at {rate} Hz, is not written as {form}"
        raise ValueError(f"{what} ({error.error_string.strip(' .')}); choose .wav") from None
    told = "compressed: close to its values, and not equal" if form == "OGG" else "values rounded to 24 bits"
    return (*((note,) if note else ()), told, *left_out(sample, ("x",)))


WRITER = (
    Writer("wav", "Sound (WAV)", (".wav",), _write_wav, ("sequence",)),
    Writer("sound", "Sound (AIFF, FLAC, OGG)", (".aiff", ".flac", ".ogg"), _write_coded, ("sequence",)),
)
