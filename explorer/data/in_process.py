"""Read a data file in this process, with the reader that fits: by its content first, then by its name.

The program asks `explorer.data.opening`, which has another process do this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from explorer.data.formats.checks import file_bytes, note, reason, refusal
from explorer.data.formats.foreign_formats import refuse_other
from explorer.data.formats.texts import PLAIN, encoding_in, name_of
from explorer.data.parts import one_part
from explorer.data.readers import Fit, Reader, ReadError, readers
from explorer.declare.samples import Sample
from explorer.declare.space import space_of_kind
from explorer.declare.telling.choices import AS, Choice, unknown

_NOTHING: Mapping[str, str] = MappingProxyType({})
_SNIFFED = 64  # bytes, as `Reader.sniff` is declared


def _says(look: Callable[[Path], bool], path: Path) -> bool:
    try:
        return look(path)
    except Exception:  # a damaged file is nobody's: the reader that its name calls for says what is wrong
        return False


def readings(path: Path) -> list[tuple[Reader, Fit]]:
    """Return the ways of reading a file with how well they fit, the best first; [] where there is none.

    Raises:
        ReadError: it is not there.
    """
    file_bytes(path)
    try:
        with path.open("rb") as file:
            head = file.read(_SNIFFED)
    except OSError as error:
        raise refusal(path, reason(error) or "it cannot be read", "check the disk and try again") from None
    found: list[tuple[int, bool, int, int, Reader, Fit]] = []
    for reader in readers().values():
        fit, by_inside = _fit(reader, path, head)
        if fit is not Fit.NO:
            found.append((-fit, not by_inside, reader.rank, len(found), reader, fit))
    if any(fit > Fit.NAMED for *_, fit in found):
        found = [one for one in found if one[-1] > Fit.NAMED]
    return [(reader, fit) for *_, reader, fit in sorted(found, key=lambda one: one[:4])]


def _fit(reader: Reader, path: Path, head: bytes) -> tuple[Fit, bool]:
    """Return how well a reader fits, and whether its look into the whole file says so."""
    if reader.fits is not None and _says(reader.fits, path):
        return Fit.CLEAR, True
    if reader.sniff(head):
        return Fit.CLEAR, False
    if path.suffix.lower() not in reader.extensions:
        return Fit.NO, False
    if reader.rates is None:
        return Fit.NAMED, False
    try:
        return reader.rates(path), False
    except Exception:  # a damaged file: the reader that its name calls for says what is wrong
        return Fit.NO, False


def named_readings(path: Path) -> list[tuple[str, int]]:
    """Return `readings` with the names of the readers."""
    return [(reader.name, int(fit)) for reader, fit in readings(path)]


def choices(path: Path, name: str, asked: Mapping[str, str]) -> tuple[Choice, ...]:
    """Return what may be said of a file that is read by the reader of that name; () where it is damaged."""
    ask = readers()[name].choices
    try:
        return () if ask is None else ask(path, asked)
    except Exception:  # reading it says what is wrong
        return ()


def reader_of(path: Path, name: str = "") -> Reader:
    """Return the reader that a file is opened with: the one of that name, else the one that fits best.

    Raises:
        ReadError: in one sentence: it is not there, of no known type, or cannot be read so.
    """
    found = readings(path)
    if name:
        if (asked := readers().get(name)) is None or asked not in [reader for reader, _ in found]:
            known = ", ".join(f"as={reader.name}" for reader, _ in found) or "nothing that is known"
            raise refusal(path, f"it cannot be read as {name[:40]!r}", f"write {known}")
        return asked
    if found and found[0][1] > Fit.NAMED:
        return found[0][0]
    if (kind := encoding_in(path)) != PLAIN:
        raise refusal(path, f"it is text in {name_of(kind)}", "save it as text in UTF-8")
    # a name without the content still gets its reader, which knows best what is missing
    named = sorted((r for r in readers().values() if path.suffix.lower() in r.extensions), key=lambda r: r.rank)
    if not found and not named:
        refuse_other(path)
        known = ", ".join(dict.fromkeys(reader.extensions[0] for reader in readers().values()))
        what = f"it is of none of the known types, {known}"
        raise refusal(path, what, "convert it")
    return named[0] if named else found[0][0]


def read_file(path: Path, part: str = "", asked: Mapping[str, str] = _NOTHING) -> Sample:
    """Read one file as a sample, or the `part` of it that is asked for, as a person has chosen.

    Raises:
        ReadError: in one sentence, whatever was wrong with the file, and what to do about it.
        MemoryError: it takes more than there is.
    """
    path = Path(path)
    reader = reader_of(path, asked.get(AS, ""))
    if part and reader.part is None and not space_of_kind(reader.domain).parted:
        raise refusal(
            path, f"a file of this type ({reader.title}) has no part {part[:40]!r}", "leave out what follows #"
        )
    try:
        sample = _read_asked(reader, path, part, {k: v for k, v in asked.items() if k != AS})
    except (ReadError, MemoryError):
        raise
    except OSError as error:  # somebody has removed it meanwhile, or the disk has gone
        raise refusal(path, reason(error) or "it cannot be read", "check the disk and try again") from None
    except Exception as error:  # a reader's defect is still a file that does not open, not a crash
        what = f"the reader {reader.name!r} failed ({type(error).__name__})"
        raise refusal(path, what, "report it with the file, or convert the file") from error
    sample = replace(sample, notes=tuple(map(note, sample.notes)))
    if not part or reader.part is not None:
        return sample
    try:
        return one_part(sample, part)
    except ValueError as error:
        raise refusal(path, str(error), "correct what follows #") from None


def _read_asked(reader: Reader, path: Path, part: str, asked: Mapping[str, str]) -> Sample:
    """Read a file by a reader; what is asked of the fitting to a network goes with the sample."""
    own: dict[str, str] = {}
    if asked and reader.choices is not None:
        own = {c.name: asked[c.name] for c in reader.choices(path, asked) if c.name in asked}
    if own and reader.read_as is not None:
        sample = reader.read_as(path, own)
    else:
        sample = reader.part(path, part) if part and reader.part is not None else reader.read(path)
    try:
        return with_choices(sample, {name: value for name, value in asked.items() if name not in own})
    except ValueError as error:
        raise refusal(path, str(error), "correct what follows ?") from None


def with_choices(sample: Sample, asked: Mapping[str, str]) -> Sample:
    """Return a sample with what a person chose of how it is fitted; raise ValueError where that cannot be chosen."""
    if not asked:
        return sample
    form = space_of_kind(sample.domain).form
    known = {choice.name: choice for choice in (form().choices(sample.x.values.shape, {}) if form is not None else ())}
    if wrong := unknown(asked, known):
        raise ValueError(wrong)
    return replace(sample, asked=tuple((name, known[name].require(value)) for name, value in asked.items()))
