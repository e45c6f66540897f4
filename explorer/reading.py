"""Open a data file with the reader that fits: by its content first, then by its name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from explorer.readers import Reader, ReadError
from explorer.readers.checks import file_bytes, reason, refusal
from explorer.samples import Sample

_SNIFFED = 64  # bytes, as `Reader.sniff` is declared


def _fits(fits: Callable[[Path], bool], path: Path) -> bool:
    try:
        return fits(path)
    except Exception:  # a damaged file is nobody's: the reader that its name calls for says what is wrong
        return False


@cache
def readers() -> dict[str, Reader]:
    """Return every reader by name."""
    import explorer.readers as package
    from explorer.registry import scan

    return scan(package, "READER")


def readable() -> str:
    """Return the file extensions that can be read, as a list in words."""
    return ", ".join(sorted({e for reader in readers().values() for e in reader.extensions}))


def read_file(path: Path) -> Sample:
    """Read one file as a sample.

    Raises:
        ReadError: in one sentence, whatever was wrong with the file, and what to do about it.
    """
    path = Path(path)
    file_bytes(path)
    try:
        with path.open("rb") as file:
            head = file.read(_SNIFFED)
    except OSError as error:
        raise refusal(path, reason(error), "check the disk and try again") from None
    known = readers().values()
    by_inside = (reader for reader in known if reader.fits is not None and _fits(reader.fits, path))
    by_content = (reader for reader in known if reader.sniff(head))
    # a name without the content still gets its reader, which knows best what is missing
    by_name = (reader for reader in known if path.suffix.lower() in reader.extensions)
    reader = next(by_inside, None) or next(by_content, None) or next(by_name, None)
    if reader is None:
        raise refusal(path, "neither its content nor its name is of a known type", f"open one of {readable()}")
    try:
        return reader.read(path)
    except ReadError:
        raise
    except Exception as error:  # a reader's defect is still a file that does not open, not a crash
        what = f"the reader {reader.name!r} failed ({type(error).__name__}: {reason(error)})"
        raise refusal(path, what, "report it with the file, or convert the file") from error
