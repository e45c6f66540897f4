"""Read the arrays of NPY and NPZ files. What a header claims is compared with what is there before memory is asked for.

Nothing is unpickled. A member of an archive can claim no more than its packed bytes can hold.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import AGAIN, Broken
from explorer.work.limits import MAX_ELEMENTS

NPY, ZIP, EMPTY_ZIP = b"\x93NUMPY", b"PK\x03\x04", b"PK\x05\x06"
DENSEST = 1032  # bytes that deflate packs into one at best
MOST_BYTES = 4 * MAX_ELEMENTS  # of one array, and of all arrays that are read from a file
MOST_MEMBERS = 10_000
BOUNDED_PACKING = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the ways to pack of which zipfile unpacks some at a time
_AT_ONCE = 2**24  # bytes of rows that are read at a time
_MAX_HEADER = 10_000  # numpy's own bound for headers that are not trusted


@dataclass(frozen=True, slots=True)
class Header:
    """The header of an array: its shape, the order of its axes, the type of its values."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    start: int  # bytes before the values

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    def __str__(self) -> str:
        return f"{self.dtype} of shape ({', '.join(map(str, self.shape))})"


def read_header(file: IO[bytes]) -> Header:
    """Read the header of an array from an open file; only a bounded number of bytes is ever read.

    Raises:
        Broken: it is none, or damaged.
    """
    head = file.read(12)
    if head[:6] != NPY:
        raise Broken("it does not begin as a NumPy array")
    version, wide = head[6:8], head[6:7] != b"\1"
    if len(head) < 12:
        raise Broken(f"the NPY is truncated: it ends after {len(head)} bytes, inside its header")
    if version not in (b"\1\0", b"\2\0", b"\3\0"):
        raise Broken(f"its NPY header is of version {version[0]}.{version[1]}, and there are 1.0, 2.0 and 3.0")
    length = int.from_bytes(head[8:12] if wide else head[8:10], "little")
    start = (12 if wide else 10) + length
    if length > _MAX_HEADER:
        raise Broken(f"the NPY header claims {length} bytes and the most is {_MAX_HEADER}", "save a plain array")
    rest = file.read(max(start - 12, 0))
    if 12 + len(rest) < start:
        raise Broken(f"the NPY is truncated: it ends after {12 + len(rest)} bytes, inside its header")
    try:
        read = np.lib.format.read_array_header_2_0 if wide else np.lib.format.read_array_header_1_0
        shape, fortran, dtype = read(BytesIO((head + rest)[8:]), max_header_size=_MAX_HEADER)
    except Exception:  # the header is a Python literal, and a damaged one fails in every way literals can
        raise Broken("its NPY header does not say type, order and shape of the array") from None
    if any(type(side) is not int for side in shape):
        raise Broken("its NPY header claims a side that is no whole number")
    if any(side < 0 for side in shape):
        raise Broken(f"its NPY header claims a negative side: {shape}")
    return Header(shape, fortran, dtype, start)


def read_values(file: IO[bytes], header: Header, available: int, name: str = "the array") -> NDArray[Any]:
    """Return the values behind a header that was just read.

    Args:
        available: bytes that can be there.

    Raises:
        Broken: they are no plain values, too many, or not there.
    """
    if header.dtype.hasobject:
        raise _objects(name)
    if header.nbytes > available:
        raise Broken(
            f"{name} is truncated: {header} takes {header.nbytes} bytes and {max(available, 0)} are there", AGAIN
        )
    if header.nbytes > MOST_BYTES:
        raise Broken(f"{name} takes {header.nbytes} bytes and the most is {MOST_BYTES}", "take a part of it")
    values = np.empty(math.prod(header.shape), header.dtype)
    view = values.view(np.uint8).data if header.nbytes else memoryview(b"")
    at = 0
    while at < len(view):
        count = file.readinto(view[at : at + 2**20])  # type: ignore[attr-defined]
        if not count:
            raise Broken(f"{name} is truncated: {header} takes {header.nbytes} bytes and {at} are there")
        at += count
    return values.reshape(header.shape, order="F" if header.fortran else "C")


def _objects(name: str) -> Broken:
    return Broken(f"{name} holds Python objects, and reading those could run code", "save plain arrays of numbers")


def member_of(archive: zipfile.ZipFile, member: zipfile.ZipInfo | str) -> IO[bytes]:
    """Open a member of an archive to be read, unless it is packed in a way that may unpack a piece without bound.

    Raises:
        Broken: it is packed with bzip2 or LZMA: a kilobyte can hold gigabytes, which zipfile unpacks at once.
    """
    info = archive.getinfo(member) if isinstance(member, str) else member
    if info.compress_type not in BOUNDED_PACKING:
        raise Broken("its archive is packed with bzip2 or LZMA, which can hide any size", "pack it anew, with deflate")
    return archive.open(info)


class Archive:
    """An open NPZ."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        members = archive.infolist()
        if len(members) > MOST_MEMBERS:
            raise Broken(f"it has {len(members)} arrays and the most is {MOST_MEMBERS}", "take a part of it")
        self._archive = archive
        self._members = {m.filename.removesuffix(".npy"): m for m in members if m.filename.endswith(".npy")}
        self._read = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the arrays, in the order of the file."""
        return tuple(self._members)

    def header(self, name: str) -> Header:
        """Return the header of one array."""
        with member_of(self._archive, self._members[name]) as file:
            return read_header(file)

    def array(self, name: str) -> NDArray[Any]:
        """Return one array.

        Raises:
            Broken: it is damaged, or takes more than is there or may be.
        """
        with self._opened(name) as (file, header, there):
            if header.nbytes + self._read > MOST_BYTES:
                raise Broken(f"its arrays take more than {MOST_BYTES} bytes", "take a part of it")
            values = read_values(file, header, there, _told(name))
            file.read(1)  # where the archive's check sum is compared
        self._read += values.nbytes
        return values

    def rows(self, name: str) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the rows of a matrix, some at a time, and the number of the first; they are never held together."""
        with self._opened(name) as (file, header, there):
            count, width = header.shape
            step = max(1, _AT_ONCE // max(width * header.dtype.itemsize, 1))
            if header.nbytes > there:
                raise Broken(f"{_told(name)} is truncated: {header} takes {header.nbytes} bytes and {there} are there")
            for first in range(0, count, step):
                some = Header((min(step, count - first), width), False, header.dtype, 0)
                yield first, read_values(file, some, some.nbytes, _told(name))
            file.read(1)

    @contextmanager
    def _opened(self, name: str) -> Iterator[tuple[IO[bytes], Header, int]]:
        """Open one array behind its header, with the bytes that can follow; Broken where there are more."""
        member = self._members[name]
        with member_of(self._archive, member) as file:
            header = read_header(file)
            if header.dtype.hasobject:
                raise _objects(_told(name))
            if member.file_size > header.start + header.nbytes:
                raise Broken(f"{_told(name)} is damaged: more bytes than {header} takes")
            yield file, header, min(member.file_size, DENSEST * (member.compress_size + 1)) - header.start


def _told(name: str) -> str:
    return f"its array {name[:40]!r}"


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """Open an NPZ."""
    with zipfile.ZipFile(path) as archive:
        yield Archive(archive)
