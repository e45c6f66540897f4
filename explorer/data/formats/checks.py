"""Do what all readers of pictures share: refusals in one sentence, limits, scaling, alpha, orientation."""

from __future__ import annotations

import errno
import gzip
import logging
import lzma
import re
import struct
import threading
import warnings
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.readers import ReadError
from explorer.declare.telling.choices import Choice
from explorer.work.limits import MAX_SIDE, excess

Floats = NDArray[np.float32]
Pixels = NDArray[Any]

# The largest picture within the limits, four channels of 32 bits, uncompressed, and as much again.
MAX_FILE_BYTES = 2**31

FREE, DENSEST = 2**22, 1032  # values that any file may claim, and for each byte: deflate packs 1032 into one
_SILENCE = threading.RLock()


MOST = 300  # characters of a sentence
_MOST_OF_NAME, _MOST_TO_DO, _MOST_OF_VALUE, _MOST_SEARCHED = 60, 110, 40, 3000
# what is no character to read, and what Python writes in its place
_HIDDEN = re.compile(r"(?:\ufffd|\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8})+")
_QUOTED = re.compile(rf"(['\"])(.{{{_MOST_OF_VALUE + 1},}}?)\1(?=[\s,;.:)]|$)")
_OF_LIBRARIES: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
    ((UnicodeError,), "it is not text in UTF-8"),
    ((zlib.error, lzma.LZMAError, gzip.BadGzipFile), "what is packed in it cannot be unpacked"),
    ((zipfile.BadZipFile,), "its archive is damaged"),
    ((EOFError,), "it ends too early"),
    ((RecursionError,), "it is nested too deeply"),
    ((OverflowError,), "a number in it is too large"),
    ((struct.error,), "it ends within a number"),
    ((LookupError,), "it refers to something that is not in it"),
    ((ZeroDivisionError,), "a size in its header is 0"),
    ((AssertionError,), "a part that it needs is missing"),
    ((TypeError, AttributeError), "a value in it is of another kind than it should be"),
)
_PACKED, _SHORT = "its packed pixels cannot be read to the end", "it ends before its last value"
# what libraries say that tells a person what is wrong and where, in our words; groups of the pattern go into them
_SAID: tuple[tuple[type[BaseException], str, str], ...] = (
    (zipfile.BadZipFile, r"CRC-32 for file '(.{1,60}?)'", "the check sum of {0} in its archive is wrong"),
    (zipfile.BadZipFile, r"for file header|File name in directory", "an entry of its archive begins wrongly"),
    (zipfile.BadZipFile, r"for central directory", "the list of what its archive holds is damaged"),
    (zipfile.BadZipFile, r"not a zip file", "its archive has no end: it was cut off"),
    (ValueError, r"convert string .* at row (\d+), column (\d+)", "column {1} is no number after {0} rows of them"),
    (ValueError, r"columns changed from (\d+) to (\d+) at row (\d+)", "row {2} has {1} columns, those before {0}"),
    (ValueError, r"invalid column index \d+ at row (\d+) with (\d+) col", "row {0} has {1} columns only"),
    (OSError, r"data stream|load this image|decoder error|next frame", _PACKED),
    (
        OSError,
        r"could not create decoder|Unsupported BMP compression",
        "its pixels are packed in a way that is not known",
    ),
    (OSError, r"Unsupported BMP Palette size", "its header claims more colours than a palette has"),
    (OSError, r"Unsupported BMP pixel depth \((\d+)\)", "its header claims {0} bits for a pixel, which none has"),
    (ValueError, r"Unknown property type", "its Properties have a type that is none of S, R, I and L"),
    (Exception, r"exceeds limit of \d+ pixels", "its header claims more pixels than any picture has"),
    (OSError, r"cannot identify image file", "its header is none of this format"),
    (OSError, r"image file is truncated", _SHORT),
    (ValueError, r"not enough data in file", _SHORT),
    (
        Exception,
        r"data code (-?\d+) not (?:recognized|supported)",
        "its header names values of type {0}, which is none",
    ),
    (Exception, r"Expected xyz header", "a line that should tell how many atoms follow does not"),
    (ValueError, r"info item (\w{1,30}), expecting", "its {0} is not nine numbers"),
    (ValueError, r"no field of name", "its Properties lack a column that is needed"),
    (ValueError, r"assign tuple of length (\d+) to structure with (\d+) fields", "a line has {0} of {1} values"),
    (ValueError, r"could not broadcast", "a row has not as many values as its header says"),
    (ValueError, r"field '([ -\[\]-~]{1,20})' occurs more than once", "its header names {0} twice"),
    (ValueError, r"cannot reshape array", "it holds not as many values as its header says"),
    (ValueError, r"maximum supported dimension.*?(\d+)", "an array in it has more axes than {0}, which none may have"),
    (ValueError, r"multiple of element size", "an array in it ends within a number"),
    (ValueError, r"failed to read (\d+) bytes, got (\d+)", "{1} bytes are there of {0} that its header claims"),
    (ValueError, r"unquoted embedded newline", "a line in it is broken by an odd character"),
    (ValueError, r"offset-sized integer", "its header names a place far beyond its end"),
    (ValueError, r"Only ATOM and HETATM", "a line of an atom begins with another word than ATOM or HETATM"),
    (ValueError, r"missing coordinate", "a coordinate of an atom is missing or no number"),
    (ValueError, r"floating point overflow", "a coordinate in it is beyond all measure"),
    (ValueError, r"MAX_TEXT_CHUNK", "a text in it is longer than any that is read"),
    (ValueError, r"tile cannot extend outside", "a part of it lies outside of the picture"),
    (OSError, r"codec configuration error", "how its pixels are packed is told wrongly"),
    (
        ValueError,
        r"the (?:scalar:)?([\w ]{1,30}) of vertex (\d+) is not finite",
        "the {0} of vertex {1} is no finite number",
    ),
    (ValueError, r"invalid literal for int.*: '([ -&(-\[\]-~]{1,20})'$", "'{0}' stands where a whole number should be"),
    (ValueError, r"invalid literal for int", "where a whole number should be there is something else"),
    (ValueError, r"string to float: '([ -&(-\[\]-~]{1,20})'$", "'{0}' stands where a number should be"),
    (Exception, r"field larger than field limit \((\d+)\)", "a cell in it has more than {0} characters"),
    (Exception, r"multi-byte encodings|unknown encoding", "it is written in an encoding that is not read"),
    (RuntimeError, r"is encrypted", "what its archive holds is locked by a password"),
    (RuntimeError, r"legacy \.tar", "it begins as none of torch's formats that are read"),
    (ValueError, r"unknown raw mode", "how its pixels are packed is told wrongly"),
    (Exception, r"suspicious number of tags (\d+)", "its page claims {0} entries"),
    (ValueError, r"array of size 1 to a", "it holds several values where one is told"),
    (ValueError, r"the ([\w ]{1,30}) of point (\d+) is not finite", "the {0} of point {1} is no finite number"),
    (Exception, r"invalid (?:slope|intercept)", "the scale in its header is no finite number"),
    (ValueError, r"string to float", "where a number should be there is something else"),
    (TypeError, r"'tuple'|NoneType|slice indices|'bytes'", "a field of its header has not one number as its value"),
    (Exception, r"Cannot drop coordinates", "its matrix gives one of its axes no direction"),
    (OSError, r"Expected (\d{1,20}) bytes, got (\d{1,20}) bytes", "its values take {0} bytes and {1} are there"),
    (Exception, r"read extension content", "what lies between its header and its values is damaged"),
    (ValueError, r"w2 should be positive", "the rotation in its header is none"),
    (Exception, r"vox offset", "its header says that its values begin within the header"),
    (NotImplementedError, r"zip file version|compress|encryption", "its archive is packed in a way that is not known"),
    (Exception, r"cannot convert float (?:NaN|infinity)", "a number in its header is not finite"),
    (ValueError, r"is not a known", "a field of its header has a value that is not known"),
    (Exception, r"BigTIFF|TIFF header", "its header is none of this format"),
    (Exception, r"requires the 'imagecodecs'", "its values are packed in a way that is not read"),
    (Exception, r"rowsperstrip=(-?\d{1,20}) < 1", "its strips have {0} rows"),
    (SyntaxError, r"compression method \d+ in (\w{4}) chunk", "its block {0} is packed in a way that is not known"),
    (ValueError, r"[Tt]runcated (\w{4}) chunk", "its block {0} is cut off"),
    (ValueError, r"integer string conversion", "a number in it has more than 4,300 digits"),
    (RuntimeError, r"[Ii]nvalid magic number", "it begins as none of torch's formats that are read"),
)
AGAIN = "save or copy it again"
SMALLER = f"crop or shrink it to at most {MAX_SIDE} pixels a side"


class Broken(Exception):
    """An error in the content of a file: the fault and the remedy, as clauses; never leaves this package."""

    def __init__(self, what: str, do: str = AGAIN) -> None:
        super().__init__(what)
        self.do = do


def require_all(choices: Collection[Choice], asked: Mapping[str, str]) -> None:
    """Raise Broken where what is asked is none of what there is to choose."""
    for choice in choices:
        try:
            choice.require(asked.get(choice.name, choice.value))
        except ValueError as error:
            raise Broken(str(error), "correct what follows ?") from None


def refusal(path: Path, what: str, do: str) -> ReadError:
    """Return the one sentence that says where, what and what to do: one line of at most `MOST` characters."""
    name = _clipped(plain(path.name) or plain(str(path)), _MOST_OF_NAME)
    do = _clipped(plain(do).strip(" .;:"), _MOST_TO_DO)
    room = MOST - len(f"cannot read {name}: ; {do}.")
    said = plain(what).strip(" .;:")
    if len(said) > _MOST_SEARCHED:  # the pattern below takes the square of as many quotes
        said = f"{said[: _MOST_SEARCHED // 2]}…{said[-_MOST_SEARCHED // 2 :]}"
    if len(said) > room:  # what is quoted of the file gives way, not what is said of it
        said = _QUOTED.sub(lambda found: f"{found[1]}{_clipped(found[2], _MOST_OF_VALUE)}{found[1]}", said)
    return ReadError(f"cannot read {name}: {_clipped(said, room)}; {do}.")


def note(text: str) -> str:
    """Return what is told beside a sample, with words of the file in it, as one line that can be shown."""
    return _clipped(plain(text), MOST)


_OF_JSON = {"NoneType": "null", "bool": "true or false", "str": "a text", "list": "a list", "dict": "an object"}


def kind_in_json(value: object) -> str:
    """Return what a value of JSON is, in JSON's words and not in Python's: "a list", "null"."""
    return _OF_JSON.get(type(value).__name__, "a number")


def told_in_json(value: object) -> str:
    """Return a value of JSON as it is told in a sentence: a number or a short text itself, of all else its kind."""
    if isinstance(value, str | float | int) and not isinstance(value, bool):
        return _clipped(repr(value), _MOST_OF_VALUE)
    return kind_in_json(value)


def plain(text: str) -> str:
    """Return a text as one line, with a question mark for each run of characters that cannot be shown."""
    shown = "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text.split()))
    return _HIDDEN.sub("?", shown)


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3].rstrip() + "..."


def reason(error: BaseException) -> str:
    """Return the words of an exception as a clause; "" where they are of no use to a person.

    What libraries say of a damaged file is about their variables and the bytes that they were given.
    """
    for kind, pattern, told in _SAID:
        if isinstance(error, kind) and (found := re.search(pattern, str(error))):
            return told.format(*found.groups())
    if isinstance(error, OSError) and error.errno == errno.EINVAL:  # a place before the beginning was asked for
        return "it refers to places outside of itself"
    if isinstance(error, OSError) and error.strerror and error.errno is not None:
        return error.strerror[:1].lower() + error.strerror[1:]
    return next((told for kinds, told in _OF_LIBRARIES if isinstance(error, kinds)), "")


def file_bytes(path: Path) -> int:
    """Return the size of a readable, non-empty, ordinary file.

    Raises:
        ReadError: it is missing, a directory, a device, empty, too large or not permitted.
    """
    try:
        if path.is_dir():
            raise refusal(path, "it is a directory", "choose one of the files in it")
        size = path.stat().st_size
        if not path.is_file():
            raise refusal(path, "it is a device or a pipe, not a file", "copy the data into a file")
        if size == 0:
            raise refusal(path, "the file is empty (0 bytes)", "save or copy it again")
        if size > MAX_FILE_BYTES:
            raise refusal(path, f"the file has {size} bytes and the most is {MAX_FILE_BYTES}", "crop or split it first")
        with path.open("rb"):  # permission is asked now: afterwards a failure means the content
            return size
    except ReadError:
        raise
    except FileNotFoundError:
        raise refusal(path, f"there is no such file in {path.parent.absolute()}", "check the name") from None
    except PermissionError:
        raise refusal(path, "permission denied", "make the file readable or copy it elsewhere") from None
    except (OSError, ValueError) as error:  # a name with a NUL byte, a name too long, a disk gone
        raise refusal(path, reason(error) or "its name cannot be used", "check the name and the disk") from None


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the decoders' warnings and log lines to themselves: what matters becomes a ReadError or a note.

    The filters are the process's, so one decoding at a time changes and restores them.
    """
    loggers = [logging.getLogger(name) for name in ("PIL", "tifffile")]
    with _SILENCE, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        levels = [logger.level for logger in loggers]
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)


@contextmanager
def refusing(path: Path, what: str) -> Iterator[None]:
    """Turn whatever the decoding of `path` raises into one ReadError; `what` names the format."""
    try:
        with quiet():
            yield
    except ReadError:
        raise
    except Broken as error:
        raise refusal(path, str(error), error.do) from None
    except MemoryError:  # who has bounded it says so
        raise
    except Exception as error:  # decoders raise whatever their C code thought of; all of it means a bad file
        told = reason(error)
        raise refusal(path, f"the {what} is damaged{f' ({told})' if told else ''}", AGAIN) from error


def require_held(size: int, channels: int, height: int, width: int) -> None:
    """Raise Broken where a picture claims more than its file of `size` bytes can hold, whatever packs it."""
    if channels * height * width > FREE + DENSEST * size:
        raise Broken(f"it claims {width}x{height} pixels, more than a file of {size} bytes can hold")


def require_size(channels: int, height: int, width: int) -> None:
    """Raise Broken when an image that declares this size must not be decoded."""
    if wrong := excess(channels, height, width):
        raise Broken(wrong, SMALLER if min(channels, height, width) > 0 else AGAIN)


def scaled(values: Pixels, bits: int | None = None) -> tuple[Floats, tuple[str, ...]]:
    """Return values as float32 and the note that says how: 8 and 16 bit to [0, 1], all else as stored.

    `bits` is what is used of an unsigned type (12 of 16); None means all of them.

    Raises:
        Broken: the values are complex, text, dates, records or objects.
    """
    kind = values.dtype.kind
    if kind == "u" and values.dtype.itemsize <= 2:
        bits = min(bits or 16, values.dtype.itemsize * 8)
        # true division, not a product with 1/65535: 65535 becomes exactly 1
        result = np.divide(values, np.float32(2**bits - 1), dtype=np.float32)
        if bits == 8:
            return result, ()
        used = max(1, int(values.max()).bit_length()) if values.size else bits
        # a camera of 12 bits writes 16: what is drawn is dark, and no other file says how bright it is meant to be
        dark = f"; no value is above {2**used - 1}, as of {used} bits, so it is dark" if used <= bits - 2 else ""
        return result, (f"{bits}-bit, scaled by 1/{2**bits - 1}{dark}",)
    if kind == "b":
        return values.astype(np.float32), ("1-bit, shown as 0 and 1",)
    if kind in "iu":
        result = values.astype(np.float32)
        # |x| of the most negative integer does not fit its own type, hence the two comparisons
        rounds = values.size and (int(values.max()) > 2**24 or int(values.min()) < -(2**24))
        note = f"{values.dtype.name} as stored" + (", large values rounded to 24 bits" if rounds else "")
        return result, (note,)
    if kind == "f":
        with np.errstate(over="ignore"):  # what overflows becomes infinite and is refused by require_finite
            return values.astype(np.float32), ()
    raise Broken(
        f"its values are {values.dtype.name}, not real numbers",
        "save its absolute value or real part as numbers",
    )


def require_finite(values: Floats) -> None:
    """Raise Broken when (channels, height, width) `values` hold NaN or infinity: how many and where."""
    finite = np.isfinite(values)
    bad = values.size - int(np.count_nonzero(finite))
    if bad:
        c, y, x = (int(i) for i in np.unravel_index(int(np.argmin(finite)), values.shape))
        verb = "is" if bad == 1 else "are"
        raise Broken(
            f"{bad} of its {values.size} values {verb} NaN, infinite or beyond float32, "
            f"the first at row {y}, column {x}, channel {c}",
            "replace them (numpy.nan_to_num does) and save it again",
        )


def over_white(colour: Floats, alpha: Floats, premultiplied: bool = False) -> tuple[Floats, tuple[str, ...]]:
    """Blend (channels, height, width) `colour` over white by (height, width) `alpha`; return it with a note.

    White because that is what a picture with transparency shows on a page and in most viewers; the colours
    stored under transparent pixels are arbitrary and must not reach a network.
    """
    if bool((alpha == 1.0).all()):
        return colour, ("opaque alpha channel dropped",)
    if premultiplied:
        blended = colour + (1.0 - alpha)
    else:
        blended = colour * alpha + (1.0 - alpha)
    return np.clip(blended, 0.0, 1.0), ("transparency blended over white",)


def oriented(values: Floats, orientation: int) -> tuple[Floats, tuple[str, ...]]:
    """Turn (channels, height, width) upright by its EXIF orientation, 1 to 8; anything else counts as 1."""
    if orientation in (5, 6, 7, 8):
        values = values.transpose(0, 2, 1)
    if orientation in (3, 4, 7, 8):
        values = values[:, ::-1]
    if orientation in (2, 3, 6, 7):
        values = values[:, :, ::-1]
    return values, (f"turned upright by its EXIF orientation {orientation}",) if orientation in range(2, 9) else ()
