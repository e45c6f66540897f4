"""Automorphisms of a complete binary tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tree.space import Joints, Tips

from equiscope.fields import FieldType
from equiscope.transforms import Element, NoAction, Param, Transform


@lru_cache(maxsize=256)
def destinations(word: tuple[int, ...], count: int) -> tuple[int, ...]:
    """Return where each joint goes: the swaps of `word`, the first first, each at the joint with that number."""
    at = list(range(count))
    for joint in word:
        at = [_swapped(joint, k, count) for k in at]
    return tuple(at)


def _swapped(joint: int, k: int, count: int) -> int:
    if 2 * joint + 2 >= count:
        return k
    path, node = [], k
    while node > joint:
        path.append((node - 1) % 2)
        node = (node - 1) // 2
    if node != joint or not path:
        return k
    path[-1] = 1 - path[-1]
    for side in reversed(path):
        node = 2 * node + 1 + side
    return node


@dataclass(frozen=True, slots=True)
class Swap(Element):
    """Swap the two children of each of these joints, one after another, with all that hangs on them."""

    word: tuple[int, ...]
    resamples = False

    @property
    def domains(self) -> tuple[str, ...]:
        return ("bintree",)

    @property
    def group(self) -> str:
        return "swaps"

    @property
    def identity(self) -> bool:
        return not self.word

    def place_of(self, place: int, count: int) -> int:
        return destinations(self.word, count)[place]

    def inverse(self) -> Swap:
        return Swap(self.word[::-1])

    def merge(self, first: Element) -> Swap | None:
        if not isinstance(first, Swap):
            return None
        word = list(first.word)
        for joint in self.word:
            if word and word[-1] == joint:
                word.pop()
            else:
                word.append(joint)
        return Swap(tuple(word))

    def exact(self, field: FieldType, shape: tuple[int, ...]) -> bool:
        return True

    def act(self, values: Any, field: FieldType) -> Any:
        if isinstance(field.domain, Joints):
            to = destinations(self.word, len(values))
        elif isinstance(field.domain, Tips):
            tips = len(values)
            to = tuple(k - tips + 1 for k in destinations(self.word, 2 * tips - 1)[tips - 1 :])
        elif field.domain.placed:
            raise NoAction(f"a swap of children does not act on a {field}")
        else:
            return values
        moved = values.clone()
        moved[list(to)] = values
        return moved

    def known(self, values: Any, field: FieldType) -> None:
        return None


TRANSFORM = Transform(
    name="swap-children",
    title="Swap of children",
    summary="The two children of a joint change sides, with all that hangs on them.",
    domains=("bintree",),
    symbol="Aut(T)",
    params=(Param("joint", "Joint", 0.0, 0.0, 1022.0, whole=True),),
    element=lambda joint: Swap((int(joint),)),
    inverse=lambda joint: (joint,),
    orbit=0,
    along=lambda joints, count: range(min(joints // 2, count)),
)
