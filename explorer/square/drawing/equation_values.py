"""Evaluate the terms of an equation at one step: in symbols, as arrays, and with one unit's numbers in place."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.declare.telling.equations import Call, Equation, Number, Term, Value
from explorer.declare.telling.numerals import with_minus

Array = NDArray[Any]
Figure = Callable[[float], str]
BARRED = -1e8  # logits below it were barred by a mask
FEW = 3  # summands that are written out
SUM, PRODUCT, ATOM = 1, 2, 3


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The values of names at one step: arrays of all steps, constants, and what was worked out before."""

    values: Mapping[str, Array]
    constants: Mapping[str, Array]
    step: int
    local: dict[str, Array] = field(default_factory=dict)

    def find(self, value: Value) -> Array:
        """Return what stands for `value`; raise KeyError where it was not sent."""
        if value.start is not None and not 0 <= self.step + value.by < self.values[value.name].shape[-2]:
            return evaluate(value.start, self)
        found = self._whole(value)
        return found if value.part is None else found[..., value.part[0] : value.part[1]]

    def _whole(self, value: Value) -> Array:
        if value.fixed:
            return self.constants[value.name]
        if value.name in self.local:
            return self.local[value.name]
        whole = self.values[value.name]
        if value.every:
            return whole
        t = 0 if value.once else self.step + value.by
        return whole[:, t] if whole.ndim == 3 else whole[t]


def evaluate(term: Term, scope: Scope) -> Array:
    """Return what a term comes to at the scope's step, float64."""
    match term:
        case Number(value):
            return np.asarray(value, np.float64)
        case Value():
            return np.asarray(scope.find(term), np.float64)
        case Call(what, terms):
            return np.asarray(OPERATIONS[what].apply(scope, *(evaluate(t, scope) for t in terms)))
    raise TypeError(f"{type(term).__name__} is no term")


# the operations ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Operation:
    """An operation: how it is evaluated and written.

    Attributes:
        apply: (scope, arrays) -> array.
        write: what stands before, between and after the terms; empty: the name, then the terms in brackets.
        level: how tightly it binds.
        infix: what stands between two terms, "" for none.
        pointwise: each unit of the result comes of the same unit of the terms: it is written with their numbers.
        figures: (place, figure, result, arrays) -> the numbers of what is not pointwise; None: the result alone.
    """

    apply: Callable[..., Any]
    write: tuple[str, ...] = ()
    level: int = ATOM
    infix: str = ""
    pointwise: bool = False
    figures: Callable[..., str] | None = None


def _logistic(_: Scope, x: Array) -> Array:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))


def _softmax(_: Scope, x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(e / e.sum(-1, keepdims=True))


def _standardised(_: Scope, x: Array, epsilon: Array) -> Array:
    return np.asarray((x - x.mean()) / np.sqrt(x.var() + epsilon))


def _barred(scope: Scope, row: Array, instead: Array) -> Array:
    return np.where(np.arange(row.shape[-1]) > scope.step, instead, row)


def _dots(_: Scope, q: Array, k: Array, heads: Array) -> Array:
    n = int(heads)
    return np.asarray(np.einsum("hd,shd->hs", q.reshape(n, -1), k.reshape(len(k), n, -1)) / math.sqrt(len(q) // n))


def _weighed(_: Scope, a: Array, v: Array) -> Array:
    rows = np.atleast_2d(a)
    return np.asarray(np.einsum("hs,shd->hd", rows, v.reshape(len(v), len(rows), -1))).reshape(-1)


def _likeliest(_: Scope, x: Array) -> Array:
    return np.eye(len(x))[int(x.argmax())] if x.any() else np.zeros(len(x))


def _softmax_figures(place: tuple[int, ...], figure: Figure, _: Array, x: Array) -> str:
    row = x[place[:-1]]
    top = 0.0 if row.max() < 500 else float(row.max())
    return f"exp({_shown(float(row[place[-1]]) - top, figure)}) / {figure(float(np.exp(row - top).sum()))}"


def _standardised_figures(place: tuple[int, ...], figure: Figure, _: Array, x: Array, epsilon: Array) -> str:
    return f"({_minus(figure(float(x[place])), figure(float(x.mean())))}) / {figure(float(np.sqrt(x.var() + epsilon)))}"


def _dots_figures(place: tuple[int, ...], figure: Figure, result: Array, q: Array, k: Array, heads: Array) -> str:
    size = len(q) // int(heads)
    return f"{figure(float(result[place]) * math.sqrt(size))} / √{size}"


def _weighed_figures(place: tuple[int, ...], figure: Figure, result: Array, a: Array, v: Array) -> str:
    rows = np.atleast_2d(a)
    shares = rows[place[-1] // (v.shape[1] // len(rows))]
    products = shares * v[:, place[-1]]
    most = np.sort(np.argsort(-np.abs(products), kind="stable")[:FEW])
    words = [f"{figure(float(shares[j]))} · {_closed(figure(float(v[j, place[-1]])))}" for j in most]
    rest = float(products.sum() - products[most].sum())
    return _plus(*words, *([figure(rest)] if len(products) > FEW else []))


def _barred_figures(place: tuple[int, ...], figure: Figure, result: Array, row: Array, _: Array) -> str:
    return _shown(float(result[place]), figure)


OPERATIONS: dict[str, Operation] = {
    "+": Operation(lambda _, a, b: a + b, level=SUM, infix=" + ", pointwise=True),
    "−": Operation(lambda _, a, b: a - b, level=SUM, infix=" − ", pointwise=True),
    "⊙": Operation(lambda _, a, b: a * b, level=PRODUCT, infix=" ⊙ ", pointwise=True),
    "·": Operation(lambda _, w, x: x @ w.T, level=PRODUCT, infix=" "),
    "logistic": Operation(_logistic, pointwise=True),
    "tanh": Operation(lambda _, x: np.tanh(x), pointwise=True),
    "relu": Operation(lambda _, x: np.maximum(x, 0.0), pointwise=True),
    "softmax": Operation(_softmax, ("softmax(", ")"), figures=_softmax_figures),
    "standardised": Operation(_standardised, ("norm(", ")"), figures=_standardised_figures),
    "mask": Operation(_barred, ("mask(", ")"), figures=_barred_figures),
    "dots": Operation(_dots, ("", " · ", " / √d"), PRODUCT, figures=_dots_figures),
    "weighed": Operation(_weighed, ("Σ_j ", " ", ""), PRODUCT, figures=_weighed_figures),
    "projected": Operation(lambda _, v, m: m @ v, level=PRODUCT, infix=" · "),
    "likeliest": Operation(_likeliest, ("likeliest(", ")")),
    "first": Operation(lambda _, x: x[0], ("first(", ")")),
    "joined": Operation(lambda _, *parts: np.concatenate(parts), ("[ ", " ‖ ", " ]")),
}


# words ------------------------------------------------------------------------------------------------------------
def written(term: Term) -> list[tuple[str, str]]:
    """Return a term as (text, layer that it names or "") in order."""
    return _written(term)[0]


def _written(term: Term) -> tuple[list[tuple[str, str]], int]:
    match term:
        case Number(value):
            return [(with_minus(f"{value:g}"), "")], ATOM
        case Value():
            return [(term.symbol, "" if term.fixed else term.name)], ATOM
        case Call(what, terms):
            op = OPERATIONS[what]
            if op.infix:
                left, right = (_in_brackets(*_written(t), op.level + (k and what == "−")) for k, t in enumerate(terms))
                return [*left, (op.infix, ""), *right], op.level
            frame = op.write or (f"{what}(", ")")
            words = [(frame[0], "")]
            for k, between in enumerate(frame[1:]):
                words += [*written(terms[k]), (between, "")]
            return words, op.level
    raise TypeError(f"{type(term).__name__} is no term")


def _in_brackets(words: list[tuple[str, str]], inner: int, outer: int) -> list[tuple[str, str]]:
    return [("(", ""), *words, (")", "")] if inner < outer else words


def in_numbers(term: Term, scope: Scope, place: tuple[int, ...], figure: Figure) -> str:
    """Return one unit of a term with the numbers of the step in place."""
    return _in_numbers(term, scope, place, figure)[0]


def _in_numbers(term: Term, scope: Scope, place: tuple[int, ...], figure: Figure) -> tuple[str, int]:
    if not isinstance(term, Call) or not OPERATIONS[term.what].pointwise:
        if isinstance(term, Number):
            return written(term)[0][0], ATOM
        result = evaluate(term, scope)
        place = place[-result.ndim :] if result.ndim else ()
        if isinstance(term, Call) and (op := OPERATIONS[term.what]).figures is not None:
            return op.figures(place, figure, result, *(evaluate(t, scope) for t in term.terms)), SUM
        return _shown(float(result[place]), figure), ATOM
    op = OPERATIONS[term.what]
    parts = [_in_numbers(t, scope, place, figure) for t in term.terms]
    if not op.infix:
        return f"{term.what}({', '.join(text for text, _ in parts)})", ATOM
    (left, one), (right, other) = parts
    if term.what == "+":
        return _plus(left, right), SUM
    right = f"({right})" if other == SUM else right
    if term.what == "−":
        return _minus(left, right), SUM
    return f"{f'({left})' if one == SUM else left} · {_closed(right)}", PRODUCT


def _shown(value: float, figure: Figure) -> str:
    return "−∞" if value < BARRED else figure(value)


def _closed(text: str) -> str:
    return f"({text})" if text.startswith("−") else text


def _minus(left: str, right: str) -> str:
    return f"{left} − {_closed(right)}"


def _plus(*words: str) -> str:
    text = words[0]
    for word in words[1:]:
        text += f" − {word[1:]}" if word.startswith("−") else f" + {word}"
    return text


# the equations of one block ----------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One equation at one step.

    `left` is what the layer gave, or None for what is worked out on the way; `right` what the right side comes to; both
    have one shape. `initial` says that the step is the first one and the left side its start.
    """

    equation: Equation
    left: Array | None
    right: Array
    scope: Scope
    initial: bool = False

    @property
    def shown(self) -> Array:
        """Return the values of the left side."""
        return self.right if self.left is None else self.left

    def numbers(self, place: tuple[int, ...], figure: Figure) -> str:
        """Return the right side with its numbers in place, for one unit."""
        return "" if self.initial else in_numbers(self.equation.right, self.scope, place, figure)


@dataclass(frozen=True, slots=True, eq=False)
class Working:
    """The equations of one block of a network, with everything that they name.

    Attributes:
        block: name of the module; "" is the network.
        equations, constants: with names that hold in the whole network; `moved_constants` are those of F(rho(g) x),
            others where the network follows the signal.
        values, moved: {name: array} of F(x) and of F(rho(g) x); what was too large is missing.
        blocks: (name, a layer in it) of every block of the network.
    """

    block: str
    equations: tuple[Equation, ...]
    constants: Mapping[str, Array]
    moved_constants: Mapping[str, Array]
    values: Mapping[str, Array]
    moved: Mapping[str, Array]
    blocks: tuple[tuple[str, str], ...] = ()

    def at(self, step: int, moved: bool = False) -> list[Line | None]:
        """Return every equation at a step, in order; None where a value was not sent."""
        values, local = self.moved if moved else self.values, dict[str, Array]()
        constants = self.moved_constants if moved else self.constants
        found: list[Line | None] = []
        for one in self.equations:
            scope = Scope(values, constants, step, local)
            try:
                initial = one.start is not None and step == 0
                right = evaluate(one.start if initial and one.start is not None else one.right, scope)
                known = one.left.name in values
                left = np.asarray(scope.find(one.left), np.float64) if known else None
            except (KeyError, IndexError):
                found.append(None)
                continue
            if left is None:
                local[one.left.name] = right
            else:
                right = np.broadcast_to(right, left.shape) if right.ndim < 2 else right.reshape(left.shape)
            found.append(Line(one, left, right, scope, initial))
        return found
