"""Group elements, the transforms that make them from parameters, and chains of both.

A transform is ONE file in this package that exports ONE constant, TRANSFORM: its declared parameters and a
function from their values to an `Element`. Everything else (the inspector's controls, the command line, undo,
inverses, the laws in the tests) follows from the declaration. Values and elements are torch-free; only `act`
touches tensors, so that parsing a command or a session costs nothing.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.declare.params import Param
from explorer.declare.registry import known_names, scan, scanned
from explorer.declare.types.fields import FieldType

if TYPE_CHECKING:
    from torch import Tensor

    from explorer.declare.inputs import Inputs


SMEARED = 1e-2  # how much of a value may come from undetermined places; a spline's influence falls by 0.27 a pixel


class NoAction(ValueError):
    """This field type has no action of this element (a mirror on a C4 field): no law can be stated."""


class Element(ABC):
    """One group element. Immutable; `act` is the representation rho(g) on a field."""

    domains: tuple[str, ...] = ()
    resamples: bool = True  # whether it can put a value between two places, or have no value for a place

    def on(self, inputs: Inputs) -> Element:
        """Bind this element to the given inputs, where it depends on them (how many nodes a graph has)."""
        return self

    @property
    def wraps(self) -> bool:
        """Say whether what leaves at one end comes in at the other: then sides have to be whole numbers of steps."""
        return False

    @property
    @abstractmethod
    def group(self) -> str:
        """Return the name of a group that elements of this kind belong to, as `find_symmetry` has it."""

    def place_of(self, place: int, count: int) -> int:
        """Return where place number `place` of so many goes, -1 where it is left out."""
        return place

    @abstractmethod
    def inverse(self) -> Element:
        """Return g^-1; raise NoAction for what is no group element and has none (leaving out edges)."""

    @abstractmethod
    def merge(self, first: Element) -> Element | None:
        """Return self o first as one element, or None when only acting one after the other is faithful."""

    @property
    @abstractmethod
    def identity(self) -> bool: ...

    @abstractmethod
    def exact(self, field: FieldType, shape: tuple[int, ...]) -> bool:
        """Return whether the action on values of `shape` (batch, channel, ...) permutes places: no resampling."""

    @abstractmethod
    def act(self, values: Tensor, field: FieldType) -> Tensor:
        """Return rho(g) values, (batch, channel, ...) -> the same; raise NoAction when the field has none."""

    @abstractmethod
    def known(self, values: Tensor, field: FieldType) -> Tensor | None:
        """Return where rho(g) values is determined by values, (y, x) in {0, 1}; None means everywhere."""

    def moved(self, inputs: Inputs) -> Inputs:
        """Return rho(g) of all arguments of a network."""
        return inputs.map(self.act)


@dataclass(frozen=True, slots=True)
class Chain(Element):
    """A product of elements, the first acting first, that cannot be merged into one faithfully."""

    parts: tuple[Element, ...] = ()

    @property
    def resamples(self) -> bool:  # type: ignore[override]
        return any(part.resamples for part in self.parts)

    @property
    def group(self) -> str:
        return "+".join(dict.fromkeys(part.group for part in self.parts))

    def place_of(self, place: int, count: int) -> int:
        for part in self.parts:
            place = part.place_of(place, count) if place >= 0 else place
        return place

    def on(self, inputs: Inputs) -> Element:
        bound = []
        for part in self.parts:
            bound.append(part.on(inputs))
            inputs = inputs.moved(bound[-1])
        return chain(bound)

    def inverse(self) -> Element:
        return chain(part.inverse() for part in reversed(self.parts))

    def merge(self, first: Element) -> Element | None:
        return chain((first, *self.parts))

    @property
    def identity(self) -> bool:
        return all(part.identity for part in self.parts)

    def exact(self, field: FieldType, shape: tuple[int, ...]) -> bool:
        return all(part.exact(field, shape) for part in self.parts)

    def act(self, values: Tensor, field: FieldType) -> Tensor:
        for part in self.parts:
            values = part.act(values, field)
        return values

    def moved(self, inputs: Inputs) -> Inputs:
        for part in self.parts:
            inputs = part.moved(inputs)
        return inputs

    def known(self, values: Tensor, field: FieldType) -> Tensor | None:
        domain = field.domain
        if not (self.resamples and domain.placed):
            return None
        ones, partial = domain.ones(values), False
        for part in self.parts:
            here = part.known(ones, domain.plain)
            if partial:
                # what was unknown before this part moves along with it; resampling must not smear it back in
                ones = ((part.act(ones, domain.plain) - 1).abs() < SMEARED).to(ones.dtype)
            elif here is not None:
                ones = domain.from_places(here).new_ones(domain.from_places(here).shape)
            else:
                ones = part.act(ones, domain.plain)
            if here is not None:
                partial = True
                ones = ones * domain.from_places(here)
        return domain.as_places(ones) if partial else None


@dataclass(frozen=True, slots=True)
class Identity(Element):
    """The element that leaves everything as it is, on every domain."""

    resamples = False

    @property
    def group(self) -> str:
        return "identity"

    def inverse(self) -> Element:
        return self

    def merge(self, first: Element) -> Element | None:
        return first

    @property
    def identity(self) -> bool:
        return True

    def exact(self, field: FieldType, shape: tuple[int, ...]) -> bool:
        return True

    def act(self, values: Tensor, field: FieldType) -> Tensor:
        return values

    def known(self, values: Tensor, field: FieldType) -> Tensor | None:
        return None


def chain(elements: object) -> Element:
    """Return the product of `elements` (an iterable, the first acts first), merged as far as that is faithful."""
    merged: list[Element] = []
    for element in elements:  # type: ignore[attr-defined]
        for part in element.parts if isinstance(element, Chain) else (element,):
            joint = part.merge(merged[-1]) if merged else None
            if joint is None:
                merged.append(part)
            elif joint.identity and len(merged) > 1:
                merged.pop()  # what stands on its two sides can merge now
            else:
                merged[-1] = joint
    merged = [part for part in merged if not part.identity] or merged[:1]
    return merged[0] if len(merged) == 1 else Chain(tuple(merged))


@dataclass(frozen=True, slots=True)
class Transform:
    """A transformation of data with its parameters.

    Attributes:
        name, title, summary: command-line name, a few words, one sentence.
        domains: which domains it acts on.
        symbol: the group, in the usual notation ("SO(2)", "Z^2").
        params: its parameters, in command-line order.
        element: their values -> the group element.
        inverse: their values -> the values of the inverse element; None for what is no group element and has none.
        gesture: how a person does it on the stage: "ring" (drag the ring), "drag" (drag the picture), "key", or "".
        orbit: index of the parameter along which the error curve is drawn, or None when there is no curve.
        key: the key that applies it once, if `gesture` is "key".
        along: (size of the input, most values) -> the parameter's values along that curve; None follows from the
            parameter's range.
        near: their values -> values of elements that permute places, the nearest first; None where those are at whole
            numbers and at fractions of a turn.
    """

    name: str
    title: str
    summary: str
    domains: tuple[str, ...]
    symbol: str
    params: tuple[Param, ...]
    element: Callable[..., Element]
    inverse: Callable[..., tuple[float, ...]] | None
    gesture: str = ""
    orbit: int | None = None
    key: str = ""
    along: Callable[[int, int], Sequence[float]] | None = None
    near: Callable[..., Sequence[tuple[float, ...]]] | None = None

    @property
    def defaults(self) -> tuple[float, ...]:
        return tuple(p.default for p in self.params)


@dataclass(frozen=True, slots=True)
class Step:
    """A transform's name with the values of its parameters."""

    name: str
    values: tuple[float, ...]

    def __str__(self) -> str:
        params = transforms()[self.name].params
        # every digit: a copied command must give the very same element
        texts = [p.text(v) if p.choices else _shortest(v) for p, v in zip(params, self.values, strict=True)]
        # trailing defaults are left out, so that what was typed is what is written
        while len(texts) > 1 and self.values[len(texts) - 1] == params[len(texts) - 1].default:
            texts.pop()
        return f"{self.name}:{','.join(texts)}" if texts else self.name


def _shortest(value: float) -> str:
    return text if float(text := f"{value:.6g}") == value else repr(float(value))


@scanned
def transforms() -> dict[str, Transform]:
    """Return every transform by name."""
    import explorer.spaces as package

    return scan(package, "TRANSFORM", "transforms")


def parse_chain(text: str) -> tuple[Step, ...]:
    """Read "rotate:30+translate:4,0" (the first acts first); raise ValueError with one clear sentence."""
    steps = []
    # a plus joins two transforms only where a name follows: it is also a sign (translate:+4) and an exponent's (1e+03)
    for part in filter(None, (p.strip() for p in re.split(r"\+(?=\s*[^\W\d])", text))):
        name, colon, rest = (piece.strip() for piece in part.partition(":"))
        known = transforms()
        if name not in known:
            raise ValueError(f"unknown transform {name!r}; {known_names(name, known, 'list transforms')}")
        params = known[name].params
        texts = rest.split(",") if colon else []
        if len(texts) > len(params):
            raise ValueError(f"{name} takes {len(params)} value(s) ({', '.join(p.name for p in params)}), got {rest!r}")
        try:
            values = [p.parse(t) for p, t in zip(params, texts, strict=False)]
        except ValueError as error:
            raise ValueError(f"transform {part!r}: {error}") from None
        steps.append(Step(name, (*values, *(p.default for p in params[len(values) :]))))
    return tuple(steps)


def chain_text(steps: Sequence[Step]) -> str:
    return "+".join(map(str, steps))


def chain_element(steps: Sequence[Step]) -> Element:
    """Return the group element of a chain of steps; the empty chain is the identity."""
    return chain([transforms()[s.name].element(*s.values) for s in steps] or [Identity()])


def inverse_steps(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps of the inverse element, in order.

    Raises:
        NoAction: a step leaves something out, which nothing brings back.
    """
    inverted = []
    for step in reversed(steps):
        inverse = transforms()[step.name].inverse
        if inverse is None:
            raise NoAction(
                f"{transforms()[step.name].title.lower()} has no inverse: what is left out does not come back"
            )
        inverted.append(Step(step.name, inverse(*step.values)))
    return tuple(inverted)
