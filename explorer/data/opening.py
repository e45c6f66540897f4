"""Open a data file with the reader that fits: by its content first, then by its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from explorer.data.checks import file_bytes, reason, refusal
from explorer.data.parts import one_part
from explorer.data.readers import Reader, ReadError
from explorer.data.samples import Sample
from explorer.declare.registry import scan, scanned
from explorer.declare.space import space_of_kind

_SNIFFED = 64  # bytes, as `Reader.sniff` is declared


def _says(look: Callable[[Path], bool], path: Path) -> bool:
    try:
        return look(path)
    except Exception:  # a damaged file is nobody's: the reader that its name calls for says what is wrong
        return False


def wide_text(head: bytes) -> str:
    """Return "UTF-16" or "UTF-32" where the beginning of a file is text in it, with a mark of its order or without."""
    marks = {b"\xff\xfe\x00\x00": "UTF-32", b"\x00\x00\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
    told = next((kind for mark, kind in marks.items() if head.startswith(mark)), "")
    if told or len(head) < 4:
        return told
    even, odd = head[0::2], head[1::2]
    # Latin letters leave every other byte empty
    for empty, letters in ((even, odd), (odd, even)):
        if not any(empty) and all(b >= 32 or b in b"\t\r\n" for b in letters):
            return "UTF-16"
    return ""


@scanned
def readers() -> dict[str, Reader]:
    """Return every reader by name."""
    import explorer.spaces as package

    return scan(package, "READER", "readers")


def readable() -> str:
    """Return the file extensions that can be read, as a list in words."""
    return ", ".join(sorted({e for reader in readers().values() for e in reader.extensions}))


def reader_of(path: Path) -> Reader:
    """Return the reader that a file is opened with.

    Raises:
        ReadError: in one sentence: it is not there, or of no known type.
    """
    file_bytes(path)
    try:
        with path.open("rb") as file:
            head = file.read(_SNIFFED)
    except OSError as error:
        raise refusal(path, reason(error), "check the disk and try again") from None
    known = sorted(readers().values(), key=lambda reader: reader.rank)
    by_inside = (reader for reader in known if reader.fits is not None and _says(reader.fits, path))
    by_content = (reader for reader in known if reader.sniff(head))
    named = [reader for reader in known if path.suffix.lower() in reader.extensions]
    claimed = (reader for reader in named if reader.claims is not None and _says(reader.claims, path))
    looked = next(by_inside, None) or next(by_content, None) or next(claimed, None)
    if looked is None and (kind := wide_text(head)):
        raise refusal(path, f"it is text in {kind}", "save it as text in UTF-8")
    # a name without the content still gets its reader, which knows best what is missing
    reader = looked or next(iter(named), None)
    if reader is None:
        raise refusal(path, "neither its content nor its name is of a known type", f"open one of {readable()}")
    return reader


def domain_of(path: Path) -> str:
    """Return the kind of data a file holds, or "" where it does not open; it is not read whole.

    A name alone does not say: .csv, .npy, .txt and .json hold more than one kind of data.
    """
    try:
        return reader_of(Path(path)).domain
    except ReadError:
        return ""


def read_file(path: Path, part: str = "") -> Sample:
    """Read one file as a sample, or the `part` of it that is asked for.

    Raises:
        ReadError: in one sentence, whatever was wrong with the file, and what to do about it.
    """
    path = Path(path)
    reader = reader_of(path)
    if part and reader.part is None and not space_of_kind(reader.domain).parted:
        raise refusal(
            path, f"a file of this type ({reader.title}) has no part {part[:40]!r}", "leave out what follows #"
        )
    try:
        sample = reader.part(path, part) if part and reader.part is not None else reader.read(path)
    except ReadError:
        raise
    except Exception as error:  # a reader's defect is still a file that does not open, not a crash
        what = f"the reader {reader.name!r} failed ({type(error).__name__}: {reason(error)})"
        raise refusal(path, what, "report it with the file, or convert the file") from error
    if not part or reader.part is not None:
        return sample
    try:
        return one_part(sample, part)
    except ValueError as error:
        raise refusal(path, reason(error), "correct what follows #") from None
