"""Equations that a network states of itself: written once, then shown, put into numbers and checked from the same term.

A module says with `equations` how the values of its layers are made of each other at one step, and with `constants`
which weights stand in them. Names are relative to the module; `given(k)` is its k-th input. An equation whose left side
is no layer is a value that is worked out on the way (`local`).
This file holds the declarations, plain values; what they come to is in `explorer.square.drawing.equation_values`.

Arrays are those of `TimePart`: (T, C) of a step field, (H, T to, S from) of a pair field. At a step they are a vector
(C,) or a row (H, S) for each head; `every` step of a field is (S, C).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache


class Term:
    """A term of an equation; `@` is a matrix times a vector, `*` goes unit by unit."""

    __slots__ = ()

    def __add__(self, other: Term) -> Term:
        return Call("+", (self, other))

    def __sub__(self, other: Term) -> Term:
        return Call("−", (self, other))

    def __mul__(self, other: Term) -> Term:
        return Call("⊙", (self, other))

    def __matmul__(self, other: Term) -> Term:
        return Call("·", (self, other))


@dataclass(frozen=True, slots=True)
class Number(Term):
    """A number, as it is written."""

    value: float


@dataclass(frozen=True, slots=True)
class Value(Term):
    """The values of a layer, of an input or of a constant, under the symbol by which an equation calls them.

    Attributes:
        name: of the layer or constant, relative to the module.
        by: how many steps later (1) or earlier (-1) than the step; beyond either end stands `start`.
        every: all steps at once.
        once: the layer has one value for the whole sequence, (1, C).
        fixed: a constant of the module, the same at every step.
        part: the channels [first, last) alone.
    """

    name: str
    symbol: str
    by: int = 0
    start: Term | None = None
    every: bool = False
    once: bool = False
    fixed: bool = False
    part: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Call(Term):
    """An operation of OPERATIONS on terms."""

    what: str
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Equation:
    """left = right at every step.

    Attributes:
        heading: of the equations from here on: "2 Logits"; empty where it goes on.
        start: what the left side is at the first step, in place of the right side.
    """

    left: Value
    right: Term
    heading: str = ""
    start: Term | None = None


def at_step(name: str, symbol: str, part: tuple[int, int] | None = None) -> Value:
    """Return the values of a layer at the step."""
    return Value(name, symbol, part=part)


def beside(name: str, symbol: str, by: int, start: Term, part: tuple[int, int] | None = None) -> Value:
    """Return those of a step before (by = -1) or after it, `start` where there is none."""
    return Value(name, symbol, by, start, part=part)


def every(name: str, symbol: str, part: tuple[int, int] | None = None) -> Value:
    """Return those of all steps."""
    return Value(name, symbol, every=True, part=part)


def once(name: str, symbol: str) -> Value:
    """Return those of a layer that has one value for the whole sequence."""
    return Value(name, symbol, once=True)


def fixed(name: str, symbol: str = "") -> Value:
    """Return a constant."""
    return Value(name, symbol or name, fixed=True)


def given(k: int) -> str:
    """Return the name of a module's k-th input."""
    return f"<{k}>"


def call(what: str) -> Callable[..., Term]:
    """Return a function of terms that makes the operation called `what`."""

    def made(*terms: Term) -> Term:
        return Call(what, terms)

    return made


logistic, tanh, relu, softmax = call("logistic"), call("tanh"), call("relu"), call("softmax")
standardised = call("standardised")  # (x - mean) / sqrt(variance + epsilon), over the channels
barred = call("mask")  # a row of logits and what later steps become
dots = call("dots")  # q (C,), k (S, C), heads -> q . k / sqrt(d) of each head, (H, S)
weighed = call("weighed")  # a (H, S), v (S, C) -> sum_j a_j v_j, the heads side by side, (C,)
projected = call("projected")  # v (A,), m (S, A) -> v . m, (S,)
likeliest = call("likeliest")  # one-hot of the largest; zeros stay zeros
joined = call("joined")
first = call("first")  # of every step: (S, C) -> (C,)


def values_of(term: Term) -> Iterator[Value]:
    """Yield every value that stands in a term."""
    match term:
        case Value():
            yield term
            if term.start is not None:
                yield from values_of(term.start)
        case Call(_, terms):
            for one in terms:
                yield from values_of(one)


def renamed(term: Term, layers: Callable[[str], str], constants: Callable[[str], str]) -> Term:
    """Return a term with the names of layers and constants replaced."""
    match term:
        case Value():
            name = constants(term.name) if term.fixed else layers(term.name)
            start = None if term.start is None else renamed(term.start, layers, constants)
            return replace(term, name=name, start=start)
        case Call(what, terms):
            return Call(what, tuple(renamed(t, layers, constants) for t in terms))
    return term


@cache
def names_in(equations: Sequence[Equation]) -> frozenset[str]:
    """Return the names of all layers in some equations, those of values worked out on the way among them."""
    terms = [t for e in equations for t in (e.left, e.right, e.start) if t is not None]
    return frozenset(v.name for t in terms for v in values_of(t) if not v.fixed)
