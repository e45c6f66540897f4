"""Say that a network takes another kind of data."""

from __future__ import annotations

from explorer.declare.samples import Sample
from explorer.declare.space import domain_word, kinds
from explorer.declare.telling.another_kind import another_kind


def of_another_kind(sample: Sample, *taken: str) -> ValueError:
    """Return the error of data that a network on kinds of data `taken` cannot take, with what to do instead."""
    takes = " or ".join(kinds()[kind].one for kind in taken)
    return ValueError(another_kind(sample.name, domain_word(sample.domain), takes))
