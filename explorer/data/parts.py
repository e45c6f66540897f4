"""Take one of several things in a sample."""

from __future__ import annotations

from explorer.declare.samples import Sample
from explorer.declare.space import domain_word, space_of_kind


def one_part(sample: Sample, part: str) -> Sample:
    """Return one of several things in a sample.

    Raises:
        ValueError: it holds one thing, or no such part; in one sentence.
    """
    found = space_of_kind(sample.domain).part_of(sample, part)
    if found is None:
        raise ValueError(f"a {domain_word(sample.domain)} has no part {part[:40]!r}; leave out what follows #")
    return found
