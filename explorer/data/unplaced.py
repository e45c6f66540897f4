"""Numbers that lie at no place, as a condition, a time or the number of a class: read off a text, of a given form.

A form is ("vector", 5), ("number",), ("below", 10) for a whole number from 0 to 9, or ("codes", 12, 50) for twelve of
them from 0 to 49, as a text beside an image is; `explorer.declare.telling.asking` reads them.
"""

from __future__ import annotations

import numpy as np

from explorer.data.filling import KINDS, filling
from explorer.declare.samples import Array, Signal
from explorer.declare.telling.asking import BELOW, Sizes
from explorer.declare.types.fields import INVARIANT

NUMBERS = ("number", "numbers")  # "t=number:0.5", "c=numbers:0.1,0.2"
MOST = 1 << 20
LONGEST = 24  # letters of numbers in a note
USUAL = 0.5  # of one number that nobody says


def unplaced_signal(text: str, seed: int = 0) -> Signal | None:
    """Return what "number:0.5", "numbers:0.1,0.2" or "random:5" stands for; None for any other text.

    Raises:
        ValueError: it begins so and is none, in one sentence.
    """
    kind, colon, rest = text.strip().partition(":")
    if colon and kind in NUMBERS:
        try:
            values = np.array([float(part) for part in rest.split(",")], np.float32)
        except ValueError:
            raise ValueError(f"{text!r:.60} is no number; write it like 'number:0.5' or 'numbers:0.1,0.2'") from None
        if not np.isfinite(values).all():
            raise ValueError(f"{text!r:.60} holds NaN or an infinite value; nothing can be measured on it")
        if kind == NUMBERS[0] and len(values) > 1:
            raise ValueError(f"{text!r:.60} is no single number; several are written 'numbers:0.1,0.2'")
        return Signal(values.reshape(()) if kind == NUMBERS[0] else values, INVARIANT)
    if not colon or kind not in KINDS.split("|") or not rest.isascii() or not rest.isdecimal() or len(rest) > 9:
        return None
    noise = np.random.default_rng(seed)
    made, _ = filling(text, kind, (int(rest),), seed, MOST, lambda: noise.standard_normal(int(rest), np.float32))
    return Signal(made, INVARIANT)


def first_text(form: Sizes) -> str:
    """Return the text of what a network is shown first."""
    match form:
        case (_, int(count), int(size)):
            return "numbers:" + ",".join(str((7 * k + 1) % size) for k in range(count))
        case (str(kind), int(size)):
            return f"number:{min(1, size - 1)}" if kind == BELOW else f"random:{size}"
        case _:
            return f"number:{USUAL:g}"


def fitted_signal(name: str, values: Array, form: Sizes) -> Signal:
    """Return numbers as an argument takes them, (n,), () or () of whole numbers.

    Raises:
        ValueError: they are of another form, in one sentence.
    """
    match form:
        case (_, int(count), int(size)):
            codes = values.reshape(-1) if values.shape in ((count,), (1, count), ()) else values
            whole = codes.shape == (count,) and bool((codes == np.floor(codes)).all())
            if not whole or codes.min() < 0 or codes.max() >= size:
                raise ValueError(f"{name} takes {count} whole numbers from 0 to {size - 1}, as in '{name}=numbers:0,1'")
            return Signal(codes.astype(np.int64), INVARIANT)
        case (str(kind), int(size)) if kind == BELOW:
            whole = values.size == 1 and float(values.reshape(())).is_integer()
            if not whole or not 0 <= int(values.reshape(())) < size:
                raise ValueError(f"{name} takes a whole number from 0 to {size - 1}, as in '{name}=number:0'")
            return Signal(np.array(int(values.reshape(())), np.int64), INVARIANT)
        case (_, int(size)):
            wanted: tuple[int, ...] = (size,)
            what, example = f"{size} numbers", f"{name}=random:{size}"
        case _:
            wanted, what, example = (), "one number", f"{name}=number:{USUAL:g}"
    if values.shape != wanted:
        raise ValueError(f"{name} takes {what}, and values of shape {values.shape} are given; write {example!r}")
    return Signal(np.array(values, np.float32), INVARIANT)


def given_or_first(
    name: str, form: Sizes, given: Signal | None, what: str, seed: int
) -> tuple[Signal, tuple[str, ...]]:
    """Return the numbers of an argument, of data that lack them those that a network is shown first, with a note.

    Args:
        what: the data is, for the note.

    Raises:
        ValueError: what is given is of another form.
    """
    if given is not None:
        return fitted_signal(name, given.values, form), ()
    text = first_text(form)
    made = unplaced_signal(text, seed)
    assert made is not None
    return fitted_signal(name, made.values, form), (f"the data is one {what}: {name} is {_said(text)}",)


def _said(text: str) -> str:
    said = text.removeprefix("number:").removeprefix("numbers:")
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}…"
