"""Say that a network takes another kind of data."""

from __future__ import annotations

from explorer.data.samples import Sample
from explorer.declare.space import domain_word, kinds


def of_another_kind(sample: Sample, *taken: str) -> ValueError:
    """Return the error of data that a network on kinds of data `taken` cannot take, with what to do instead."""
    takes = " or ".join(kinds()[kind].one for kind in taken)
    here = domain_word(sample.domain)
    return ValueError(
        f"{sample.name!r} lies on a {here}, and this network takes {takes}; choose other data, or a network on a {here}"
    )
