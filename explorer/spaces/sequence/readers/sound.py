"""Sound: WAV, AIFF, FLAC and OGG (Vorbis, Opus), decoded by libsndfile; values lie between -1 and 1.

libsndfile decodes what is left of a truncated file without a word, and takes samples of an odd size for the nearest
that it knows. So the claims of a file are read here, and compared with what is there before and after.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from io import BufferedReader, FileIO
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import Broken, file_bytes, refusing
from explorer.data.readers import Reader
from explorer.declare.samples import Sample
from explorer.spaces.sequence.readers.assembly import Series, require_steps, series_sample

PCM, FLOAT, EXTENSIBLE = 1, 3, 0xFFFE
_CODED = {2: "ADPCM", 6: "A-law", 7: "mu-law", 17: "ADPCM", 49: "GSM", 80: "MPEG", 85: "MP3"}
_OPEN_END = (0xFFFFFFFF, 0x7FFFFFFF)  # a stream whose length was not known when it began
_PLAIN = "save it as WAV with plain samples (PCM)"
_IN_OGG = (b"\x01vorbis", b"OpusHead", b"\x7fFLAC")
_LONGEST_PAGE = 65_307  # bytes of a page of OGG
_BLOCK = 2**18  # steps decoded at a time: memory follows what is there and not what is claimed
_ENDLESS = 2**60  # steps: beyond, libsndfile means that they are not told
_KINDS = {
    "PCM_S8": "8-bit", "PCM_U8": "8-bit", "PCM_16": "16-bit", "PCM_24": "24-bit", "PCM_32": "32-bit",
    "FLOAT": "32-float", "DOUBLE": "64-float", "VORBIS": "Vorbis", "OPUS": "Opus",
}  # fmt: skip


class _Unnamed(BufferedReader):
    """An open file without a name: of one that ends in .raw, soundfile believes that it has no header."""

    name = ""


def _format(head: bytes) -> str:
    if head[:4] in (b"RIFF", b"RIFX", b"RF64") and head[8:12] == b"WAVE":
        return "WAV"
    if head[:4] == b"FORM" and head[8:12] in (b"AIFF", b"AIFC"):
        return "AIFF"
    if head[:4] == b"fLaC":
        return "FLAC"
    return "OGG" if head[:4] == b"OggS" and head[28:].startswith(_IN_OGG) else ""


def _sniff(head: bytes) -> bool:
    return _format(head) != ""


def _chunks(file: IO[bytes], order: Any) -> Iterator[tuple[bytes, int, int]]:
    """Yield the name, the place and the length of each chunk of a RIFF or IFF file."""
    file.seek(12)
    while len(head := file.read(8)) == 8:
        at, length = file.tell(), int.from_bytes(head[4:], order)
        yield head[:4], at, length
        file.seek(at + length + length % 2)


def _wav_frame(chunk: bytes) -> int:
    """Return the bytes of one step; Broken where the samples are not plain."""
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
    return int(channels * bits // 8)


def _wav_steps(file: IO[bytes], size: int) -> tuple[int, bool]:
    """Return the steps that a WAV holds, and whether its end is open."""
    frame = 0
    for kind, at, length in _chunks(file, "little"):
        if kind == b"fmt ":
            frame = _wav_frame(file.read(min(length, 64)))
        elif kind == b"data":
            if not frame:
                raise Broken("its samples come before their format")
            if length in _OPEN_END:
                return (size - at) // frame, True
            if at + length > size:
                raise Broken(f"the sound is truncated: it claims {length} bytes and {size - at} are there")
            if length % frame:
                raise Broken(f"its {length} bytes of sound are no whole number of steps of {frame} bytes")
            return length // frame, False
    raise Broken("it has no sound" if frame else "it has neither a format nor sound")


def _aiff_steps(file: IO[bytes]) -> int:
    for kind, _, length in _chunks(file, "big"):
        if kind == b"COMM" and length >= 18:
            return int.from_bytes(file.read(6)[2:], "big")
    raise Broken("the AIFF's format is missing or cut off")


def _require_last_page(file: IO[bytes], size: int) -> None:
    file.seek(max(0, size - _LONGEST_PAGE))
    tail = file.read()
    page = tail[max(tail.rfind(b"OggS"), 0) :]
    lengths = page[27 : 27 + page[26]] if len(page) > 26 else b""
    if not lengths or len(page) < 27 + page[26] + sum(lengths) or not page[5] & 4:
        raise Broken("the sound is truncated: its last page is not there")


def _decoded(path: Path, claimed: int | None) -> tuple[NDArray[np.float32], int, str]:
    """Return (steps, channels) float32, the steps a second, and the kind of the samples."""
    try:
        import soundfile
    except OSError:  # the wheels hold libsndfile; a build of one's own may lack it
        raise Broken("libsndfile is not installed", "install your system's libsndfile package") from None
    at = 0  # steps that are read
    try:
        with _Unnamed(FileIO(path)) as stream, soundfile.SoundFile(stream) as file:
            if file.subtype not in _KINDS:
                raise Broken(f"its sound is coded as {file.subtype_info}", _PLAIN)
            if file.frames > _ENDLESS:
                raise Broken("it does not say how long it is", "save the sound again")
            steps = file.frames if claimed is None else claimed
            _require_all(steps, file.frames)
            require_steps(steps, file.channels, file.samplerate)
            values = np.empty((steps, file.channels), np.float32)
            while at < steps and (found := len(file.read(min(_BLOCK, steps - at), out=values[at : at + _BLOCK]))):
                at += found
            at += len(file.read(1))  # more than it has claimed
            rate, kind = int(file.samplerate), _KINDS[file.subtype]
    except soundfile.LibsndfileError:
        where = f"after step {at}" if at else "near its beginning"
        raise Broken(f"the sound is damaged {where}") from None
    _require_all(steps, at)
    return values, rate, kind


def _require_all(claimed: int, there: int) -> None:
    if there != claimed:
        raise Broken(f"the sound is truncated: it claims {claimed} steps and {there} are there")


def _read(path: Path) -> Sample:
    size = file_bytes(path)
    with refusing(path, "sound"), path.open("rb") as file:
        head = file.read(64)
        if head[:4] in (b"RIFX", b"RF64"):
            raise Broken(f"it is a {head[:4].decode()} file", _PLAIN)
        form = _format(head)
        claimed, open_end = None, False
        if not form:
            raise Broken("its content is no WAV, AIFF, FLAC or OGG", "convert the sound to one of them")
        if form == "WAV":
            claimed, open_end = _wav_steps(file, size)
        elif form == "AIFF":
            claimed = _aiff_steps(file)
        elif form == "OGG":
            _require_last_page(file, size)
        values, rate, kind = _decoded(path, claimed)
        if not np.isfinite(values).all():
            t, c = np.argwhere(~np.isfinite(values))[0].tolist()
            raise Broken(f"step {t}, channel {c} is NaN or infinite", "export the sound again")
        notes = [f"{kind}, {len(values) / rate:.4g} s at {rate} Hz"]
        if open_end:
            notes.append("its length is not told: read to the end of the file")
        channels = ("left", "right") if values.shape[1] == 2 else ()
        return series_sample(path, Series(values, channels=channels, rate=float(rate), notes=notes))


_ENDINGS = (".wav", ".wave", ".aiff", ".aif", ".flac", ".ogg", ".opus")  # others by their content
READER = Reader("sound", "Sound (WAV, AIFF, FLAC, OGG)", _ENDINGS, "sequence", _sniff, _read)
