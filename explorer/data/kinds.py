"""Say that a network takes another kind of data."""

from __future__ import annotations

from pathlib import Path

from explorer.data.readers import readers
from explorer.declare.samples import Sample
from explorer.declare.space import domain_word, kinds
from explorer.declare.telling.another_kind import another_kind


def of_another_kind(sample: Sample, *taken: str) -> ValueError:
    """Return the error of data that a network on kinds of data `taken` cannot take, with what to do instead."""
    takes = " or ".join(kinds()[kind].one for kind in taken)
    return ValueError(another_kind(sample.name, domain_word(sample.domain), takes) + in_arrays(sample, *taken))


def in_arrays(sample: Sample, *taken: str) -> str:
    """Return what an archive holds that is read as one of `taken`, where arrays were read as another kind; or ""."""
    known = [reader for reader in readers().values() if reader.takes]
    ending = Path(sample.source).suffix.lower()
    wanted = [reader.takes for reader in known if reader.domain in taken]
    if not wanted or not any(ending in reader.extensions for reader in known):
        return ""
    return f"; of arrays, an NPZ with {' or '.join(wanted)} is read as {kinds()[taken[0]].one}"
