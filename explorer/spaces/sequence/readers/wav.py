"""Audio as WAV: 8, 16, 24 and 32 bits, and float, any number of channels; values lie between -1 and 1.

Microsoft and IBM, Multimedia Programming Interface and Data Specifications, 1991; WAVE_FORMAT_EXTENSIBLE, 2007.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from explorer.data.checks import Broken, file_bytes, refusing
from explorer.data.readers import Reader
from explorer.data.samples import Sample
from explorer.spaces.sequence.readers.assembly import Series, require_steps, series_sample

PCM, FLOAT, EXTENSIBLE = 1, 3, 0xFFFE
_CODED = {2: "ADPCM", 6: "A-law", 7: "mu-law", 17: "ADPCM", 49: "GSM", 80: "MPEG", 85: "MP3"}
_OPEN_END = (0xFFFFFFFF, 0x7FFFFFFF)  # a stream whose length was not known when it began
_PLAIN = "save it as WAV with plain samples (PCM)"


@dataclass(frozen=True, slots=True)
class _Format:
    code: int
    channels: int
    rate: int
    bits: int

    @property
    def frame(self) -> int:
        """Return the bytes of one step."""
        return self.channels * self.bits // 8


def _sniff(head: bytes) -> bool:
    return head[:4] == b"RIFF" and head[8:12] == b"WAVE"


def _format(chunk: bytes) -> _Format:
    if len(chunk) < 16:
        raise Broken("the WAV's format is cut off")
    code, channels, rate, _, _, bits = struct.unpack("<HHIIHH", chunk[:16])
    if code == EXTENSIBLE and len(chunk) >= 26:
        code = struct.unpack("<H", chunk[24:26])[0]
    if code not in (PCM, FLOAT):
        raise Broken(f"its sound is coded as {_CODED.get(code, f'format {code}')}", _PLAIN)
    if bits not in ((32, 64) if code == FLOAT else (8, 16, 24, 32)):
        raise Broken(f"its samples have {bits} bits", _PLAIN)
    if not channels or not rate:
        raise Broken(f"it claims {channels} channels and {rate} steps a second")
    return _Format(code, channels, rate, bits)


def _found(file: IO[bytes], size: int) -> tuple[_Format, int, int, bool]:
    """Walk through the chunks; return the format, where the samples begin, their bytes, and whether the end is open."""
    file.seek(12)
    form: _Format | None = None
    while len(head := file.read(8)) == 8:
        kind, length = head[:4], int.from_bytes(head[4:], "little")
        at = file.tell()
        if kind == b"fmt ":
            form = _format(file.read(min(length, 64)))
        elif kind == b"data":
            if form is None:
                raise Broken("its samples come before their format")
            if length in _OPEN_END:
                return form, at, (size - at) // form.frame * form.frame, True
            if at + length > size:
                raise Broken(f"the sound is truncated: it claims {length} bytes and {size - at} are there")
            return form, at, length, False
        file.seek(at + length + length % 2)
    raise Broken("it has no sound" if form else "it has neither a format nor sound")


def _values(raw: bytes, form: _Format) -> NDArray[np.float32]:
    """Return (steps, channels) float32; whole numbers are divided by what is just beyond the largest."""
    values: NDArray[np.floating]
    if form.code == FLOAT:
        with np.errstate(over="ignore"):
            values = np.frombuffer(raw, f"<f{form.bits // 8}").astype(np.float32)
    elif form.bits == 8:
        values = (np.frombuffer(raw, np.uint8).astype(np.float32) - 128) / 128
    elif form.bits == 24:
        wide = np.zeros((len(raw) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(raw, np.uint8).reshape(-1, 3)  # the sign is that of 32 bits
        values = (wide.view("<i4")[:, 0] >> 8).astype(np.float32) / 2**23
    else:
        values = np.frombuffer(raw, f"<i{form.bits // 8}") / 2.0 ** (form.bits - 1)
    return values.astype(np.float32, copy=False).reshape(-1, form.channels)


def _read(path: Path) -> Sample:
    size = file_bytes(path)
    with refusing(path, "WAV"), path.open("rb") as file:
        head = file.read(12)
        if head[:4] in (b"RIFX", b"RF64"):
            raise Broken(f"it is a {head[:4].decode()} file", _PLAIN)
        if not _sniff(head):
            raise Broken("its content is no WAV", "convert the sound to WAV")
        form, at, length, open_end = _found(file, size)
        if length % form.frame:
            raise Broken(f"its {length} bytes of sound are no whole number of steps of {form.frame} bytes")
        require_steps(length // form.frame, form.channels, form.rate)
        file.seek(at)
        values = _values(file.read(length), form)
        if not np.isfinite(values).all():
            t, c = np.argwhere(~np.isfinite(values))[0].tolist()
            raise Broken(f"step {t}, channel {c} is NaN or infinite", "export the sound again")
        kind = "float" if form.code == FLOAT else "bit"
        seconds = f"{len(values) / form.rate:.4g} s at {form.rate} Hz"
        notes = [f"{form.bits}-{kind}, {seconds}"]
        if open_end:
            notes.append("its length is not told: read to the end of the file")
        channels = ("left", "right") if form.channels == 2 else ()
        return series_sample(path, Series(values, channels=channels, rate=float(form.rate), notes=notes))


READER = Reader("wav", "Audio (WAV)", (".wav", ".wave"), "time", _sniff, _read)
