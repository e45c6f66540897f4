"""TIFF pictures: 1 to 64 bits, integer and float, any number of channels, interleaved or planar.

tifffile decodes what numpy holds as it is (plain, Deflate); Pillow's libtiff decodes the rest (LZW,
PackBits, JPEG, fax) where it knows the layout. Both trust a header more than is wise, so every size is
checked before either sees a pixel.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import (
    Broken,
    Floats,
    file_bytes,
    oriented,
    over_white,
    refusal,
    refusing,
    require_size,
    scaled,
)
from explorer.data.formats.tiffs import DEFLATE, PLAIN, STARTS, inflated, strict, told, walk
from explorer.data.readers import Reader
from explorer.declare.samples import Sample
from explorer.spaces.grid.readers.image import deep, pixels
from explorer.spaces.grid.readers.picture import picture
from explorer.work.limits import MAX_ELEMENTS, MAX_SIDE

if TYPE_CHECKING:
    from PIL.Image import Image
    from tifffile import TiffFile, TiffPage

# numbers from the TIFF 6.0 specification
_WHITE_IS_ZERO, _BLACK_IS_ZERO, _RGB, _PALETTE = 0, 1, 2, 3
_PREMULTIPLIED, _ALPHA = 1, 2
_MAX_TILE = 2 * MAX_SIDE


def _sniff(head: bytes) -> bool:
    return head.startswith(STARTS)


def _check(page: TiffPage, file_size: int) -> None:
    """Raise Broken unless the page's declared sizes are within the limits and its data inside the file."""
    require_size(page.samplesperpixel, page.imagelength, page.imagewidth)
    if page.imagedepth != 1:
        raise Broken(f"it is a volume of {page.imagedepth} slices", "save one slice as a picture")
    if max(page.tilewidth, page.tilelength) > _MAX_TILE:
        raise Broken(f"the TIFF is damaged: its tiles claim {page.tilewidth}x{page.tilelength} pixels")
    expected = math.prod(page.chunked)
    if len(page.dataoffsets) != expected or len(page.databytecounts) != expected:
        raise Broken(f"the TIFF is damaged: it lists {len(page.dataoffsets)} of its {expected} pieces")
    for offset, count in zip(page.dataoffsets, page.databytecounts, strict=True):
        if offset < 8 or count < 1 or offset + count > file_size:
            raise Broken(f"the TIFF is truncated: pixels should lie at byte {offset} and it ends at byte {file_size}")


def _check_pieces(page: TiffPage, path: Path) -> None:
    """Raise Broken when a piece inflates to another size than its own: tifffile would do it without bound."""
    row = math.ceil(math.prod(page.chunks[1:]) * page.bitspersample / 8)
    rows = page.chunks[0] if page.is_tiled else min(page.chunks[0], page.imagelength)
    # the last strip may be written at its full height or at what is left
    least = row * (rows if page.is_tiled else page.imagelength % rows or rows)
    with path.open("rb") as file:
        for offset, count in zip(page.dataoffsets, page.databytecounts, strict=True):
            size = count
            if page.compression in DEFLATE:
                file.seek(offset)
                size = inflated(file.read(count), row * rows)
            if size < least or (size > row * rows and page.compression != PLAIN):
                raise Broken(f"the TIFF is damaged: the piece at byte {offset} does not hold the pixels it should")


def _native(page: TiffPage) -> bool:
    """Return whether tifffile with numpy alone decodes the page, and the values mean what they say."""
    return (
        page.compression in (PLAIN, *DEFLATE)
        and page.photometric in (_WHITE_IS_ZERO, _BLACK_IS_ZERO, _RGB, _PALETTE)
        and (page.bitspersample in (1, 8, 16, 32, 64))
    )


def _select(values: NDArray[Any], axes: str) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Return (channels, height, width) of an array whose axes are named as tifffile names them."""
    channel = "S" if "S" in axes and values.shape[axes.index("S")] > 1 else "C" if "C" in axes else ""
    if not channel and "Q" in axes and values.shape[axes.index("Q")] <= 4:
        channel = "Q"  # unlabelled: what writing a (channels, height, width) array gives
    notes = []
    for axis in reversed(range(len(axes))):
        name = axes[axis]
        if name not in ("Y", "X", channel) or axis > axes.index(name):  # of several without a name the first is kept
            if values.shape[axis] > 1:
                notes.append(f"the first of {values.shape[axis]} pages is read")
            values = values.take(0, axis)
            axes = axes[:axis] + axes[axis + 1 :]
    if not channel or channel not in axes:
        values, axes, channel = values[None], "C" + axes, "C"
    return values.transpose([axes.index(name) for name in (channel, "Y", "X")]), tuple(notes)


def _stored(tif: TiffFile, page: TiffPage, path: Path, size: int) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Return the values as stored, (channels, height, width); pages that are channels are joined."""
    single = "YXS" if page.planarconfig == 1 else "SYX"
    alone = page.shaped[2:] if page.planarconfig == 1 else (page.shaped[0], *page.shaped[2:4])
    try:
        series = tif.series[0]
        shape, axes = series.get_shape(squeeze=False), series.get_axes(squeeze=False)
        joined = len(series.pages) > 1 and "Y" in axes and "X" in axes and math.prod(shape) <= MAX_ELEMENTS
    except Exception:  # a damaged description (ImageJ, OME) of pages that can each be read
        joined = False
    if not joined:
        more = (f"the first of {len(tif.pages)} pages is read",) if len(tif.pages) > 1 else ()
        values, notes = _select(page.asarray(squeeze=False).reshape(alone), single)
        return values, notes + more
    if series.dataoffset is not None:  # one run of bytes for all pages, read without looking at them
        if series.dataoffset + series.nbytes > size:
            raise Broken(f"the TIFF is truncated: it declares {series.nbytes} bytes of pixels and has {size} in all")
    else:
        for other in series.pages:
            if other is None:
                raise Broken("the TIFF is damaged: one of its pages is missing")
            _check(other.aspage(), size)
            _check_pieces(other.aspage(), path)
    return _select(series.asarray(squeeze=False), axes)


def _colours(colormap: NDArray[Any]) -> NDArray[Any]:
    """Return a palette, (3, colours), as it was made: most writers shift 8 bits up, some do not."""
    if int(colormap.max()) <= 255:
        return colormap.astype(np.uint8)
    if not (colormap & 255).any():
        return (colormap >> 8).astype(np.uint8)
    return colormap


def _by_tifffile(tif: TiffFile, page: TiffPage, path: Path, size: int) -> tuple[Floats, tuple[str, ...]]:
    _check_pieces(page, path)
    raw, notes = _stored(tif, page, path, size)
    if page.photometric == _PALETTE:
        if page.colormap is None:
            raise Broken("the TIFF is damaged: its palette is missing")
        return scaled(_colours(page.colormap)[:, raw[0].astype(np.intp)])[0], notes
    values, how = scaled(raw, page.bitspersample if raw.dtype.kind == "u" else None)
    notes += how
    if page.photometric == _WHITE_IS_ZERO and raw.dtype.kind in "bu" and raw.dtype.itemsize <= 2:
        values = np.float32(1) - values
    extra = tuple(int(e) for e in page.extrasamples)
    colours = 3 if page.photometric == _RGB else 1
    if extra in ((_PREMULTIPLIED,), (_ALPHA,)) and values.shape[0] == colours + 1 and raw.dtype.kind in "bu":
        values, blended = over_white(values[:-1], values[-1], extra == (_PREMULTIPLIED,))
        notes += blended
    return values, notes


def _by_pillow(page: TiffPage, path: Path) -> tuple[Floats, tuple[str, ...]]:
    from PIL.Image import open as pillow_open

    def again() -> Image:
        return pillow_open(path, formats=["TIFF"])

    try:
        image = again()
    except Exception:
        bits = page.bitspersample if isinstance(page.bitspersample, int) else "unknown"
        raise Broken(
            f"its layout ({page.samplesperpixel} channels of {bits} bits, "
            f"{told(page.photometric)}, {told(page.compression)} compression) is not supported",
            "save it without compression",
        ) from None
    with image:
        require_size(1, image.height, image.width)
        args = image.tile[0].args  # type: ignore[attr-defined]
        unpacker = str(args[0] if isinstance(args, tuple) else args)
        if ";16" not in unpacker or unpacker.startswith("I;16"):
            image.load()
            values, notes = pixels(image)
            if unpacker.startswith("I;16") and page.photometric == _WHITE_IS_ZERO:
                values = np.float32(1) - values  # Pillow turns 8 bits round, not 16
            return values, notes
    if unpacker != "RGB;16N":
        raise Broken(
            f"16-bit {unpacker[:4]} with {told(page.compression)} compression is not supported",
            "save it as RGB",
        )
    # libtiff hands out the machine's byte order
    order = ("RGB;16L", "RGB;16B") if sys.byteorder == "little" else ("RGB;16B", "RGB;16L")
    return scaled(deep(again, *order).transpose(2, 0, 1))


def _decode(path: Path, size: int) -> tuple[Floats, tuple[str, ...]]:
    from tifffile import TiffFile, TiffPage

    # _multifile: an OME description may name other files, and what was opened is this one
    with TiffFile(path, _multifile=False) as tif:
        page = tif.pages[0]
        if not isinstance(page, TiffPage):
            raise Broken("the TIFF has no full page")
        _check(page, size)
        tag = page.tags.get("Orientation")
        orientation = int(tag.value) if tag is not None else 1
        if _native(page):
            try:
                values, notes = _by_tifffile(tif, page, path, size)
                values, turned = oriented(values, orientation)
                return values, notes + turned
            except (NotImplementedError, ValueError) as error:
                if "imagecodecs" not in str(error):
                    raise
        with strict():
            values, notes = _by_pillow(page, path)
        if len(tif.pages) > 1:
            notes += (f"the first of {len(tif.pages)} pages is read",)
        # Pillow has turned it already
        return values, notes + oriented(values, orientation)[1]


def _read(path: Path) -> Sample:
    size = file_bytes(path)
    with refusing(path, "TIFF"):
        with path.open("rb") as file:
            if not _sniff(file.read(4)):
                raise refusal(path, "its content is not TIFF", "check what the file really is")
        walk(path)
        values, notes = _decode(path, size)
        return picture(path, values, notes)


READER = Reader(
    name="tiff",
    title="TIFF picture",
    extensions=(".tif", ".tiff", ".btf", ".tf8"),
    domain="grid",
    sniff=_sniff,
    read=_read,
)
