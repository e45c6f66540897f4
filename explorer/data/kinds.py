"""Say that a network takes another kind of data."""

from __future__ import annotations

from pathlib import Path

from explorer.data.opening import readings
from explorer.data.readers import Fit, ReadError, readers
from explorer.declare.samples import Sample
from explorer.declare.space import domain_word, kinds
from explorer.declare.telling.another_kind import another_kind


def of_another_kind(sample: Sample, *taken: str) -> ValueError:
    """Return the error of data that a network on kinds of data `taken` cannot take, with what to do instead."""
    takes = " or ".join(kinds()[kind].one for kind in taken)
    told = another_kind(sample.name, domain_word(sample.domain), takes)
    return ValueError(told + (if_asked(sample, *taken) or in_arrays(sample, *taken)))


def if_asked(sample: Sample, *taken: str) -> str:
    """Return how a file is opened as one of `taken` where a person says so, though it looks like less; or ""."""
    path = Path(sample.source)
    if not sample.source or not path.is_file():
        return ""
    try:
        found = [reader for reader, fit in readings(path) if reader.domain in taken and fit >= Fit.ALLOWED]
    except ReadError:  # it has gone since it was read
        return ""
    if not found:
        return ""
    unasked = f", as {found[0].unasked} is unasked" if found[0].unasked else ""
    return f"; {path.name}?as={found[0].name} is read as {kinds()[found[0].domain].one}{unasked}"


def in_arrays(sample: Sample, *taken: str) -> str:
    """Return what an archive holds that is read as one of `taken`, where arrays were read as another kind; or ""."""
    known = [reader for reader in readers().values() if reader.takes]
    ending = Path(sample.source).suffix.lower()
    wanted = [
        f"{reader.takes}{reader.unasked and f', {reader.unasked},'}" for reader in known if reader.domain in taken
    ]
    if not wanted or not any(ending in reader.extensions for reader in known):
        return ""
    return f"; of arrays, an NPZ with {' or '.join(wanted)} is read as {kinds()[taken[0]].one}"
