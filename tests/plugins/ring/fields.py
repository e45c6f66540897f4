"""Fields on a ring: (sites, channels)."""

from __future__ import annotations

from dataclasses import dataclass

from equiscope.fields import Domain, FieldType, Scalar


@dataclass(frozen=True, slots=True)
class Sites(Domain):
    """The sites of a ring: axis 0 goes round it."""

    name = "site"
    space = "ring"
    batched = False
    counted = True


SITE = FieldType(Sites())
SITE_INPUT = FieldType(Sites(), Scalar(intensity=True))
