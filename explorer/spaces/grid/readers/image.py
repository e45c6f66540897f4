"""PNG, JPEG, WebP, GIF and BMP pictures (TIFF has a file of its own).

Each format's declared size and its completeness are read from the bytes before a pixel is decoded, because
the decoders allocate what a header claims, and some accept what ends early.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.data.formats.checks import (
    Broken,
    Floats,
    Pixels,
    file_bytes,
    oriented,
    over_white,
    reason,
    refusal,
    refusing,
    require_held,
    require_size,
    scaled,
)
from explorer.data.readers import Reader
from explorer.declare.samples import Sample
from explorer.spaces.grid.readers.picture import picture

if TYPE_CHECKING:
    from PIL.Image import Image


def _unpack(layout: str, data: bytes, offset: int) -> tuple[Any, ...]:
    try:
        return struct.unpack_from(layout, data, offset)
    except struct.error:
        raise Broken(f"the file is truncated: it ends after {len(data)} bytes, inside its header") from None


def _png(data: bytes) -> tuple[int, int]:
    """Walk the chunks: Pillow neither checks the sums of pixel chunks nor misses the end marker."""
    width = height = bits = pixels = 0
    at = 8
    while True:
        if at + 12 > len(data):
            raise Broken(f"the PNG is truncated: it ends after {len(data)} bytes, before its end marker")
        length, kind = _unpack(">I4s", data, at)
        if at + 12 + length > len(data):
            raise Broken(f"the PNG is truncated: it ends after {len(data)} bytes, inside the block at byte {at}")
        # an upper-case first letter marks what is needed for the pixels; damaged remarks do no harm
        needed = not kind[0] & 0x20
        (declared,) = _unpack(">I", data, at + 8 + length)
        if needed and zlib.crc32(data[at + 4 : at + 8 + length]) != declared:
            raise Broken(f"the PNG is damaged: the check sum of its block at byte {at} is wrong")
        if kind == b"IHDR" and length == 13:
            width, height, depth, colour = _unpack(">IIBB", data, at + 8)
            bits = width * height * depth * {2: 3, 4: 2, 6: 4}.get(colour, 1)
            require_size(1, height, width)
        elif kind == b"IDAT":
            pixels += length
        elif kind == b"IEND":
            break
        at += 12 + length
    # deflate shrinks by 1032 at best: fewer bytes cannot hold the picture, so do not ask for its memory
    if pixels * 1032 * 8 < bits:
        raise Broken(f"the PNG is damaged: {pixels} bytes cannot hold its {width}x{height} pixels")
    return width, height


def _jpeg(data: bytes) -> tuple[int, int]:
    """Walk the markers to the end marker, without which the file was cut, even if all rows decode."""
    size = (0, 0)
    at = 2
    while True:
        at = data.find(b"\xff", at)
        while 0 <= at < len(data) - 1 and data[at + 1] == 0xFF:
            at += 1  # fill bytes
        if at < 0 or at + 1 >= len(data):
            raise Broken(f"the JPEG is truncated: it ends after {len(data)} bytes, before its end marker")
        marker = data[at + 1]
        if marker == 0xD9:
            return size
        if marker in (0x00, 0x01) or 0xD0 <= marker <= 0xD8:
            at += 2  # a stuffed byte or a restart inside the pixels, or a marker without content
            continue
        (length,) = _unpack(">H", data, at + 2)
        if at + 2 + length > len(data):
            raise Broken(f"the JPEG is truncated: it ends after {len(data)} bytes, inside its header")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = _unpack(">HH", data, at + 5)
            require_size(1, height, width)
            size = (width, height)
        at += 2 + length


def _gif(data: bytes) -> tuple[int, int]:
    width, height = _unpack("<HH", data, 6)
    return width, height


def _bmp(data: bytes) -> tuple[int, int]:
    (declared,) = _unpack("<I", data, 2)
    if declared > len(data):
        raise Broken(f"the BMP is truncated: it declares {declared} bytes and has {len(data)}")
    (header,) = _unpack("<I", data, 14)
    width, height = _unpack("<HH" if header == 12 else "<ii", data, 18)
    return width, abs(height)  # a negative height counts rows from the top


def _webp(data: bytes) -> tuple[int, int]:
    (declared,) = _unpack("<I", data, 4)
    if declared + 8 > len(data):
        raise Broken(f"the WebP is truncated: it declares {declared + 8} bytes and has {len(data)}")
    match data[12:16]:
        case b"VP8 ":
            width, height = _unpack("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L":
            (packed,) = _unpack("<I", data, 21)
            return (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1
        case b"VP8X":
            low_w, high_w, low_h, high_h = _unpack("<HBHB", data, 24)
            return (high_w << 16 | low_w) + 1, (high_h << 16 | low_h) + 1
    raise Broken("the WebP is damaged: its header is not one of the three known")


@dataclass(frozen=True, slots=True)
class _Format:
    name: str  # as Pillow calls it
    starts: Callable[[bytes], bool]
    size: Callable[[bytes], tuple[int, int]]  # whole file -> declared (width, height), or Broken
    extensions: tuple[str, ...]


_BMP_HEADERS = tuple(struct.pack("<I", size) for size in (12, 16, 40, 52, 56, 64, 108, 124))
FORMATS = (
    _Format("PNG", lambda head: head.startswith(b"\x89PNG\r\n\x1a\n"), _png, (".png", ".apng")),
    _Format("JPEG", lambda head: head.startswith(b"\xff\xd8\xff"), _jpeg, (".jpg", ".jpeg", ".jpe", ".jfif")),
    _Format("WEBP", lambda head: head.startswith(b"RIFF") and head[8:12] == b"WEBP", _webp, (".webp",)),
    _Format("GIF", lambda head: head.startswith((b"GIF87a", b"GIF89a")), _gif, (".gif",)),
    # "BM" alone could begin a text: the header's own length makes it sure
    _Format("BMP", lambda head: head.startswith(b"BM") and head[14:18] in _BMP_HEADERS, _bmp, (".bmp", ".dib")),
)


def _format(head: bytes) -> _Format | None:
    return next((f for f in FORMATS if f.starts(head)), None)


def _sniff(head: bytes) -> bool:
    return _format(head) is not None


def deep(open_again: Callable[[], Image], high: str, low: str) -> Pixels:
    """Read 16-bit colour, (height, width, channels), which Pillow has no mode for and cuts to 8 bits.

    Its unpackers for the two byte orders keep the first and the second byte of each value, so two decodings
    with one unpacker each give both halves. Tested against files made without Pillow.
    """
    halves = []
    for unpacker in (high, low):
        with open_again() as image:
            tile = image.tile[0]  # type: ignore[attr-defined]
            args = unpacker if isinstance(tile.args, str) else (unpacker, *tile.args[1:])
            image.tile = [tile._replace(args=args)]  # type: ignore[attr-defined]
            image.load()
            halves.append(np.asarray(image).astype(np.uint16))
    return halves[0] << 8 | halves[1]


def pixels(image: Image) -> tuple[Floats, tuple[str, ...]]:
    """Return a loaded Pillow image as (channels, height, width) float32 with notes; grey stays one channel.

    Raises:
        Broken: a pixel layout without an obvious reading.
    """
    notes: tuple[str, ...] = ()
    key = image.info.get("transparency")
    mode = image.mode
    if mode == "1":
        return scaled(np.asarray(image)[None])
    if mode == "L" or mode.startswith("I;16"):
        raw = np.asarray(image)
        grey, notes = scaled(raw[None])
        if isinstance(key, int):
            grey, blended = over_white(grey, (raw != key).astype(np.float32))
            notes += blended
        return grey, notes
    if mode in ("I", "F"):
        return scaled(np.asarray(image)[None])
    if mode in ("LA", "La"):
        image = image.convert("LA")
    elif image.has_transparency_data:
        image = image.convert("RGBA")
    elif mode not in ("RGB", "RGBX", "P"):
        notes = (f"{mode} converted to RGB without its colour profile",)
    if image.mode not in ("LA", "RGBA"):
        return scaled(_channels_first(np.asarray(image.convert("RGB"))))[0], notes
    values = scaled(_channels_first(np.asarray(image)))[0]
    colour, blended = over_white(values[:-1], values[-1])
    return colour, notes + blended


def _channels_first(raw: Pixels) -> Pixels:
    """Return (height, width, channels) as (channels, height, width), moved as bytes: as floats that takes longer."""
    return np.ascontiguousarray(raw.transpose(2, 0, 1))


def _deep_png(data: bytes, image: Image) -> tuple[Floats, tuple[str, ...]]:
    from PIL.Image import open as pillow_open

    def again() -> Image:
        return pillow_open(BytesIO(data), formats=["PNG"])

    raw: Pixels
    match image.tile[0].args:  # type: ignore[attr-defined]
        case "LA;16B":
            # grey with alpha at 16 bits is four bytes a pixel like RGBA at 8: read as that, all survive
            with again() as other:
                other.tile = [other.tile[0]._replace(args="RGBA")]  # type: ignore[attr-defined]
                other.load()
                halves = np.asarray(other).astype(np.uint16)
            raw = halves[..., 0::2] << 8 | halves[..., 1::2]
        case str(name):
            raw = deep(again, name, name[:-1] + "L")
    values, notes = scaled(raw.transpose(2, 0, 1))
    key = image.info.get("transparency")
    if values.shape[0] in (2, 4):
        values, blended = over_white(values[:-1], values[-1])
    elif isinstance(key, tuple):
        values, blended = over_white(values, (raw != np.array(key, np.uint16)).any(2).astype(np.float32))
    else:
        blended = ()
    return values, notes + blended


def _orientation(image: Image) -> int:
    try:
        return int(image.getexif().get(0x0112, 1))
    except Exception:  # a damaged remark in an otherwise sound picture: leave it as it lies
        return 1


def _animated(image: Image) -> bool:
    try:
        return bool(getattr(image, "is_animated", False))
    except Exception:  # a damaged second frame, of which nothing is used
        return False


def _decode(data: bytes, kind: _Format) -> tuple[Floats, tuple[str, ...]]:
    from PIL.Image import open as pillow_open

    width, height = kind.size(data)
    require_size(1, height, width)
    require_held(len(data), 1 if kind.name == "PNG" else 3, height, width)
    with pillow_open(BytesIO(data), formats=[kind.name]) as image:
        require_size(1, image.height, image.width)  # a GIF's frame may be larger than the GIF
        tile = getattr(image, "tile", None)
        if kind.name == "PNG" and tile and str(tile[0].args) in ("RGB;16B", "RGBA;16B", "LA;16B"):
            values, notes = _deep_png(data, image)
        else:
            image.load()
            values, notes = pixels(image)
        values, turned = oriented(values, _orientation(image))
        notes += turned
        if _animated(image):
            notes += ("animation: only its first frame is read",)
    return values, notes


def _read(path: Path) -> Sample:
    file_bytes(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise refusal(path, reason(error) or "it cannot be read", "check the disk and try again") from None
    kind = _format(data[:64])
    if kind is None:
        names = ", ".join(f.name for f in FORMATS)
        raise refusal(path, f"its content is none of {names}", "check what the file really is")
    notes: tuple[str, ...] = ()
    suffix = path.suffix.lower()
    if suffix not in kind.extensions:
        notes = (f"the content is {kind.name} although the name ends in {suffix or 'nothing'}",)
    with refusing(path, kind.name):
        values, more = _decode(data, kind)
        return picture(path, values, notes + more)


READER = Reader(
    name="image",
    title="Picture (PNG, JPEG, WebP, GIF, BMP)",
    extensions=tuple(e for f in FORMATS for e in f.extensions),
    domain="grid",
    sniff=_sniff,
    read=_read,
)
