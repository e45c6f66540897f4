"""TIFF stacks: eight or more grey pages of one size are the slices of a volume; fewer are a picture's.

tifffile decodes pages without compression and with Deflate; Pillow's libtiff those that numpy alone cannot unpack (LZW,
PackBits, LZMA, ...), with every predictor. Every size is checked before a pixel is.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import AGAIN, Broken, file_bytes, quiet, refusing, scaled
from explorer.data.formats.tiffs import DEFLATE, PLAIN, STARTS, inflated, strict, told, walk
from explorer.data.readers import Fit, Reader
from explorer.declare.samples import Sample
from explorer.spaces.volume.readers.assembly import FEWEST, LEAST, is_volume, require_volume, sample_of_file

if TYPE_CHECKING:
    from tifffile import TiffFile, TiffPage

# numbers from the TIFF 6.0 specification
_GREY = (0, 1)
# what tifffile calls slices, an axis without a name, and pages one after the other; in files of ImageJ slices that
# nobody has called so are channels or times
_ALONG = ("ZYX", "QYX", "IYX", "CYX", "TYX")


def _stack(tif: TiffFile, slices: int = LEAST) -> tuple[int, ...] | None:
    """Return the shape of the stack of at least so many slices that a file is, None where it is a picture."""
    if len(tif.series) != 1:
        return None
    series = tif.series[0]
    page = series.keyframe
    shape = tuple(int(n) for n in series.shape)
    grey = page.samplesperpixel == 1 and page.photometric in _GREY
    return shape if series.axes in _ALONG and grey and is_volume(shape, slices) else None


def _fits(path: Path, slices: int = LEAST) -> bool:
    """Return whether a file is a stack of at least so many slices."""
    with path.open("rb") as file:
        if not file.read(4).startswith(STARTS):
            return False
    from tifffile import TiffFile

    try:
        walk(path)
    except Broken:  # the reader of pictures says what is wrong
        return False
    with quiet(), TiffFile(path, _multifile=False) as tif:
        return _stack(tif, slices) is not None


def _rates(path: Path) -> Fit:
    """Say that fewer grey pages, which are a picture's, could be slices too."""
    return Fit.ALLOWED if _fits(path, FEWEST) else Fit.NO


def _check(page: TiffPage, path: Path, size: int) -> None:
    """Raise Broken unless a page's pixels lie in the file and inflate to no more than they should."""
    whole = page.imagelength * page.imagewidth * math.ceil(page.bitspersample / 8)
    total = 0
    with path.open("rb") as file:
        for offset, count in zip(page.dataoffsets, page.databytecounts, strict=True):
            if offset < 8 or count < 1 or offset + count > size:
                raise Broken(f"the TIFF is truncated: pixels should lie at byte {offset} and it ends at byte {size}")
            if page.compression not in (PLAIN, *DEFLATE):
                continue  # libtiff makes room for what is declared, and stops there
            file.seek(offset)
            total += count if page.compression == PLAIN else inflated(file.read(count), 2 * whole)
            # tiles may reach over the edge, by less than as much again along each side
            if total > 4 * whole + 2**20:
                raise Broken("the TIFF is damaged: a page holds more than its pixels")
    if page.compression in (PLAIN, *DEFLATE) and total < whole:
        raise Broken(f"the TIFF is truncated: a page holds {total} of its {whole} bytes")


def _decoded(path: Path, size: int) -> tuple[NDArray[Any], tuple[str, ...]]:
    from tifffile import TiffFile

    walk(path)
    with TiffFile(path, _multifile=False) as tif:
        shape = _stack(tif, FEWEST)
        if shape is None:
            raise Broken("it holds no stack of grey pages of one size", "open it as a picture")
        require_volume(shape)
        series = tif.series[0]
        if series.dataoffset is not None:  # one run of bytes for all pages
            if series.dataoffset + series.nbytes > size:
                raise Broken(f"the TIFF is truncated: it declares {series.nbytes} bytes and has {size} in all", AGAIN)
        else:
            for page in series.pages:
                if page is None:
                    raise Broken("the TIFF is damaged: one of its pages is missing")
                _check(page.aspage(), path, size)
        page = series.keyframe
        native = page.compression in (PLAIN, *DEFLATE) and page.predictor == 1
        raw = np.asarray(series.asarray()) if native else _unpacked(path, series, shape)
        values, notes = scaled(raw, page.bitspersample if raw.dtype.kind == "u" else None)
        # Pillow has turned 8 bits round already, not 16
        if page.photometric == _GREY[0] and raw.dtype.kind in "bu" and raw.dtype.itemsize <= (2 if native else 0):
            values = np.float32(1) - values  # white is zero
    return values[None], (*notes, f"{shape[0]} pages read as slices")


def _unpacked(path: Path, series: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the pages of a stack as Pillow's libtiff unpacks them, (z, y, x) of the type that the file declares.

    Raises:
        Broken: pages of a layout or a compression that it does not know, or that cannot be unpacked whole.
    """
    from PIL.Image import open as pillow_open

    page = series.keyframe
    unknown = Broken(
        f"its pages ({page.bitspersample} bits, compressed by {told(page.compression)}) cannot be unpacked",
        "save the stack without compression",
    )
    made = np.empty(shape, series.dtype.newbyteorder("="))
    try:
        image = pillow_open(path, formats=["TIFF"])
    except Exception:
        raise unknown from None
    with strict(), image:
        for number, each in enumerate(series.pages):
            try:
                image.seek(each.index)
                values = np.asarray(image)
            except Exception:
                raise Broken(f"page {number + 1} cannot be unpacked whole", AGAIN) from None
            if values.shape != shape[1:] or values.dtype.kind not in (made.dtype.kind, "i", "b"):
                raise unknown
            made[number] = values
    return made


def _read(path: Path) -> Sample:
    size = file_bytes(path)
    with refusing(path, "TIFF"):
        return sample_of_file(path, *_decoded(path, size))


READER = Reader(
    "stack", "Stack of slices (TIFF)", (".tif", ".tiff"), "volume", lambda head: False, _read, fits=_fits, rates=_rates,
    unasked=f"a TIFF of {LEAST} or more grey pages of one size",
)  # fmt: skip
