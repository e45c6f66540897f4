"""NumPy arrays: NPY, and the first image-like array of an NPZ. Nothing is ever unpickled.

Shapes and their reading: (H, W); (1, C, H, W); and three axes, which are ambiguous. Those are (H, W, C) when
the last axis is at most 4 and the first is more, else (C, H, W), and the note says which. `write_array` stores
(1, C, H, W), the shape with one reading only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.archives import EMPTY_ZIP, NPY, ZIP, Header, opened, read_header, read_values
from explorer.data.formats.checks import AGAIN, Broken, file_bytes, refusal, refusing, scaled
from explorer.data.readers import Reader, readers
from explorer.declare.samples import Sample
from explorer.declare.space import domain_word
from explorer.spaces.grid.readers.picture import picture
from explorer.work.files.replacing import replacing
from explorer.work.limits import excess

_MOST_CHANNELS_LAST = 4
_REAL = "biuf"  # kinds of values


def _sniff(head: bytes) -> bool:
    if head.startswith((NPY, EMPTY_ZIP)):
        return True
    if not head.startswith(ZIP):
        return False
    # other things are zip archives too (PyTorch files, documents): ours begins with an .npy
    length = int.from_bytes(head[26:28], "little")
    name = head[30 : 30 + length]
    return len(name) < length or name.endswith(b".npy")


def _layout(header: Header) -> tuple[tuple[int, int, int], str]:
    """Return (channels, height, width) and how the axes are named ("HW", "HWC", "CHW", "1CHW"), or Broken."""
    kind, shape = header.dtype.kind, header.shape
    if header.dtype.hasobject:
        raise Broken("it holds Python objects, and reading those could run code", "save it as a plain array of numbers")
    if kind not in _REAL:
        raise Broken(
            f"its values are {header.dtype}, not real numbers",
            "save its absolute value or real part as numbers",
        )
    match shape:
        case (height, width):
            size, axes = (1, height, width), "HW"
        case (height, width, channels) if channels <= _MOST_CHANNELS_LAST < height:
            size, axes = (channels, height, width), "HWC"
        case (channels, height, width):
            size, axes = (channels, height, width), "CHW"
        case (1, channels, height, width):
            size, axes = (channels, height, width), "1CHW"
        case (many, _, _, _):
            raise Broken(f"it holds {many} images, its shape is {shape}", "save one of them, array[:1]")
        case _:
            raise Broken(f"its shape {shape} is no image", "save it as (H, W), (H, W, C), (C, H, W) or (1, C, H, W)")
    if wrong := excess(*size):
        raise Broken(wrong, "save a smaller part of it")
    return size, axes


def _values(array: NDArray[Any], header: Header) -> tuple[NDArray[np.float32], tuple[str, ...]]:
    """Return an array as (channels, height, width) float32 with notes, or Broken."""
    _, axes = _layout(header)
    values, notes = scaled(array)
    match axes:
        case "HW":
            values = values[None]
        case "HWC":
            values = values.transpose(2, 0, 1)
            notes += (f"shape {header.shape} read as (height, width, channels)",)
        case "CHW":
            notes += (f"shape {header.shape} read as (channels, height, width)",)
        case _:
            values = values[0]
    return values, notes


def _read_npz(path: Path) -> Sample:
    refused: list[str] = []
    with opened(path) as archive:
        for name in archive.names:
            header = archive.header(name)
            try:
                _layout(header)
            except Broken as error:
                shaped = header.dtype.kind in _REAL and len(header.shape) not in (2, 3)
                refused.append(f"{name}, {header}" if shaped else f"{name}: {error}")
                continue
            values, notes = _values(archive.array(name), header)
            if len(archive.names) > 1:
                notes += (f"array {name!r}, the first image-like of {len(archive.names)}",)
            return picture(path, values, notes)
    if not refused:
        raise Broken("the NPZ holds no arrays", AGAIN)
    more = f" and {len(refused) - 3} more" if len(refused) > 3 else ""
    raise Broken(
        f"none of its arrays is what is read from such a file: it holds {'; '.join(refused[:3])}{more}",
        f"save {', or '.join(sorted(reader.takes for reader in readers().values() if reader.takes))}",
    )


def _read(path: Path) -> Sample:
    size = file_bytes(path)
    with refusing(path, "array file"):
        with path.open("rb") as file:
            head = file.read(64)
            if head.startswith((ZIP, EMPTY_ZIP)):
                return _read_npz(path)
            if not head.startswith(NPY):
                raise refusal(path, "its content is neither NPY nor NPZ", "save it with numpy.save or numpy.savez")
            file.seek(0)
            header = read_header(file)
            _layout(header)
            values, notes = _values(read_values(file, header, size - header.start), header)
            if size > header.start + header.nbytes:
                notes += ("what follows the first array in the file is ignored",)
        return picture(path, values, notes)


def write_array(sample: Sample, path: Path) -> None:
    """Write the values as float32 (1, C, H, W) to an NPY, or to an NPZ named "x" when the name ends in .npz.

    Written beside and renamed, so that a failure leaves what was there.

    Raises:
        ValueError: the sample is not on a grid.
        OSError: the folder cannot be written.
    """
    if sample.domain != "grid":
        raise ValueError(f"{sample.name} lies on a {domain_word(sample.domain)}, and an array file holds an image")
    values = np.ascontiguousarray(sample.x.values, np.float32)[None]
    with replacing(path) as beside, beside.open("wb") as file:
        if path.suffix.lower() == ".npz":
            np.savez_compressed(file, x=values)
        else:
            np.save(file, values, allow_pickle=False)


READER = Reader(
    name="array",
    title="NumPy array (NPY, NPZ)",
    extensions=(".npy", ".npz"),
    domain="grid",
    sniff=_sniff,
    read=_read,
    takes="an image (H, W)",
)
