"""Turn a ring by whole sites."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ring.fields import Sites

from equiscope.fields import FieldType
from equiscope.transforms import Element, Param, Transform


@dataclass(frozen=True, slots=True)
class Turn(Element):
    """x'(k) = x(k - by)."""

    by: int
    resamples = False

    @property
    def domains(self) -> tuple[str, ...]:
        return ("ring",)

    @property
    def group(self) -> str:
        return "cyclic"

    @property
    def identity(self) -> bool:
        return self.by == 0

    def place_of(self, place: int, count: int) -> int:
        return (place + self.by) % count

    def inverse(self) -> Turn:
        return Turn(-self.by)

    def merge(self, first: Element) -> Turn | None:
        return Turn(self.by + first.by) if isinstance(first, Turn) else None

    def exact(self, field: FieldType, shape: tuple[int, ...]) -> bool:
        return True

    def act(self, values: Any, field: FieldType) -> Any:
        return values.roll(self.by, 0) if isinstance(field.domain, Sites) else values

    def known(self, values: Any, field: FieldType) -> None:
        return None


TRANSFORM = Transform(
    name="turn",
    title="Turn of a ring",
    summary="Every value moves on by so many sites.",
    domains=("ring",),
    symbol="Z/n",
    params=(Param("by", "By", 0.0, -99.0, 99.0, whole=True),),
    element=lambda by: Turn(int(by)),
    inverse=lambda by: (-by,),
    orbit=0,
    along=lambda sites, count: range(min(sites, count)),
)
