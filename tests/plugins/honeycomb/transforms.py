"""Sixths of a turn about the middle cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from honeycomb.space import Cells, cells, radius_of

from equiscope.fields import FieldType, Regular
from equiscope.transforms import Element, NoAction, Param, Transform


def turned(q: int, r: int, by: int) -> tuple[int, int]:
    for _ in range(by % 6):
        q, r = -r, q + r
    return q, r


@dataclass(frozen=True, slots=True)
class Sixth(Element):
    """Turn by 60° times so many."""

    by: int
    resamples = False

    @property
    def domains(self) -> tuple[str, ...]:
        return ("honeycomb",)

    @property
    def group(self) -> str:
        return "sixth"

    @property
    def identity(self) -> bool:
        return self.by % 6 == 0

    def place_of(self, place: int, count: int) -> int:
        at = cells(radius_of(count) or 0)
        return at.index(turned(*at[place], self.by))

    def inverse(self) -> Sixth:
        return Sixth(-self.by % 6)

    def merge(self, first: Element) -> Sixth | None:
        return Sixth((self.by + first.by) % 6) if isinstance(first, Sixth) else None

    def exact(self, field: FieldType, shape: tuple[int, ...]) -> bool:
        return True

    def act(self, values: Any, field: FieldType) -> Any:
        if isinstance(field.rep, Regular):
            n = field.rep.group.order
            if field.rep.group.name != "C6":
                raise NoAction(f"a sixth of a turn does not act on {field}")
            shape = values.shape
            values = values.unflatten(1, (-1, n)).roll(self.by, 2).reshape(shape)
        if not isinstance(field.domain, Cells):
            return values
        to = [self.place_of(k, values.shape[2]) for k in range(values.shape[2])]
        moved = values.clone()
        moved[:, :, to] = values
        return moved

    def known(self, values: Any, field: FieldType) -> None:
        return None


TRANSFORM = Transform(
    name="sixth", title="Sixth of a turn", summary="Turn by 60° times so many.", domains=("honeycomb",), symbol="C6",
    params=(Param("by", "By", 0.0, 0.0, 5.0, whole=True),), element=lambda by: Sixth(int(by)),
    inverse=lambda by: (-by % 6,), orbit=0,
)  # fmt: skip
