"""Interventions in a network, as values: what is changed where, and how that is written.

LAYER:zero, LAYER:scale=0.5, LAYER:freeze, LAYER:replace=SAMPLE, LAYER:symmetrise=METHOD,GROUP. After the layer may
stand a part of it in brackets: [3] or [channel 3], [head 2] or [head 2/8], [node 4] (or step, vertex, place),
[pixel 3,5]. A layer that is called again is LAYER#2. Where a layer's own name ends in brackets, as that of the second
tensor of a result does, LAYER[1][all] is all of it, and LAYER[1][3] a channel of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from explorer.declare.registry import did_you_mean
from explorer.declare.types.fields import shortest

KINDS = ("zero", "scale", "freeze", "replace", "symmetrise")
CHANNEL, HEAD, PLACE, PIXEL = "channel", "head", "place", "pixel"
WHOLE = "all"
_NEEDS = {"scale": "a factor, as in LAYER:scale=0.5"}
_TAKES = {"scale", "replace", "symmetrise"}


@dataclass(frozen=True, slots=True)
class Intervention:
    """One change of what a layer gives.

    Attributes:
        layer: as in the trace: "conv1", "conv1#2".
        kind: one of KINDS. A layer that is frozen gives F(rho(g) x) what it gave F(x); one that is replaced gives both
            what it gives another input.
        value: the factor, the sample, or the method and the group, as text; "" where there is none.
        unit: what of the layer: "" for all of it, "channel", "head", or a kind of place: "node", "pixel", "place".
        index: which one; of a head also how many there are, if told; of a pixel row and column.
    """

    layer: str
    kind: str
    value: str = ""
    unit: str = ""
    index: tuple[int, ...] = ()

    def __str__(self) -> str:
        where = f"[{WHOLE}]" if self.layer.endswith("]") else ""  # else its name would be read as that of a channel
        if self.unit:
            joint = "/" if self.unit == HEAD else ","
            numbers = joint.join(map(str, self.index))
            where = f"[{numbers}]" if self.unit == CHANNEL else f"[{self.unit} {numbers}]"
        return f"{self.layer}{where}:{self.kind}{'=' if self.value else ''}{self.value}"

    @property
    def factor(self) -> float:
        """Return the factor of a scaling."""
        return float(self.value)

    @property
    def method(self) -> tuple[str, str]:
        """Return (method, group) of a symmetrised layer; "" where it is left open."""
        method, _, group = self.value.partition(",")
        return method, group

    @property
    def where(self) -> tuple[str, str, tuple[int, ...]]:
        """Return what it acts on; a later intervention there takes the place of an earlier one."""
        return self.layer, self.unit, self.index

    @property
    def told(self) -> str:
        """Return a few words for a person: "conv2, channel 3: zero"."""
        numbers = " of ".join(map(str, self.index)) if self.unit == HEAD else ", ".join(map(str, self.index))
        part = f", {self.unit} {numbers}" if self.unit else ""
        method, group = self.method if self.kind == "symmetrise" else ("", "")
        how = {
            "zero": "set to zero",
            "scale": f"times {self.value}",
            "freeze": "frozen to the unmoved run",
            "replace": f"replaced by that of {self.value or 'another input'}",
            "symmetrise": "symmetrised" + (f" by {method}" if method else "") + (f" ({group})" if group else ""),
        }[self.kind]
        return f"{self.layer}{part} {how}"


def with_intervention(some: Iterable[Intervention], one: Intervention) -> tuple[Intervention, ...]:
    """Return the interventions with one more, in place of one of the same kind of change at the same spot."""
    return (*(other for other in some if other.where != one.where), one)


def parse_intervention(text: str) -> Intervention:
    """Read "conv2[3]:scale=0.5"; raise ValueError with one clear sentence."""
    place, colon, change = text.strip().partition(":")
    kind, equals, value = (part.strip() for part in change.partition("="))
    said = f"intervention {text!r}"
    if not colon or not place.strip():
        raise ValueError(f"{said} is not LAYER:KIND, such as conv2:zero or conv2[3]:scale=0.5")
    if kind not in KINDS:
        raise ValueError(f"{said}: there is no {kind!r}, only {', '.join(KINDS)}{did_you_mean(kind, KINDS)}")
    if equals and kind not in _TAKES:
        raise ValueError(f"{said}: {kind} takes no value")
    if kind in _NEEDS and not value:
        raise ValueError(f"{said}: {kind} needs {_NEEDS[kind]}")
    if kind == "scale":
        try:
            factor = float(value)
        except ValueError:
            factor = math.nan
        if not math.isfinite(factor):
            raise ValueError(f"{said}: the factor must be a finite number, not {value!r}")
        value = shortest(factor)
    layer, unit, index = _part(place.strip(), said)
    if kind == "symmetrise" and unit:
        raise ValueError(f"{said}: a whole layer is symmetrised, no part of it")
    return Intervention(layer, kind, value, unit, index)


def _part(place: str, said: str) -> tuple[str, str, tuple[int, ...]]:
    """Return (layer, unit, index) of "conv2[channel 3]"."""
    found = re.fullmatch(r"(?P<layer>.+)\[(?P<unit>[a-z]*)\s*(?P<numbers>[^\[\]]*)\]", place)
    if found is None:
        if place.endswith("]"):
            raise ValueError(f"{said}: write the part as [3], [channel 3], [head 2/8], [node 4] or [pixel 3,5]")
        return place, "", ()
    if found["unit"] == WHOLE and not found["numbers"]:
        return found["layer"], "", ()
    unit = found["unit"] or CHANNEL
    numbers = re.fullmatch(r"\d{1,9}([,/]\d{1,9})?", found["numbers"].replace(" ", ""))
    two = {HEAD: "/", PIXEL: ","}.get(unit)
    wrong = numbers is None or (numbers[1] is not None and numbers[1][0] != two) or (unit == PIXEL and not numbers[1])
    if numbers is None or wrong:
        form = {HEAD: "[head 2] or [head 2/8]", PIXEL: "[pixel 3,5]"}.get(unit, f"[{unit} 3]")
        raise ValueError(f"{said}: write the part as {form}, counted from 0")
    index = tuple(int(n) for n in re.split("[,/]", numbers[0]))
    if unit == HEAD and len(index) == 2 and index[0] >= index[1]:
        raise ValueError(f"{said}: there is no head {index[0]} of {index[1]}; heads are counted from 0")
    return found["layer"], unit, index


def parse_interventions(texts: Iterable[str]) -> tuple[Intervention, ...]:
    """Read several; raise ValueError with one clear sentence."""
    found: tuple[Intervention, ...] = ()
    for text in texts:
        one = parse_intervention(text)
        if any(other.where == one.where for other in found):
            raise ValueError(f"intervention {text!r}: there is already one at that place")
        found = (*found, one)
    return found
