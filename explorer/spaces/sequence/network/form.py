"""State what a network on sequences takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from explorer.declare.card import Form
from explorer.declare.telling.asking import Named, Sizes, is_unplaced

KINDS = ("values", "tokens", "dna", "ids")
LAYOUTS = ("NTC", "TNC", "NCT", "TC", "CT")  # of a sequence: N is the batch, which is 1, T the steps, C the channels
# what says how far a sequence goes: how many steps count, or for each step True, one or False where it counts, on these
# axes: N the batch, T the steps, 1 one place
MASKS = tuple(f"{says}{axes}" for says in ("valid", "ones", "padding") for axes in ("NT", "N1T", "NT1", "N11T"))
EXTENTS = ("length", *MASKS)
IDS: Sizes = ("ids",)  # of an argument of a network of language: numbers of tokens
ONES: Sizes = ("mask",)  # whole ones, one for each token that is to be seen
NAMED = ("ids", "mask", *EXTENTS)


def is_extent(form: Sequence[int | str | None]) -> bool:
    """Say whether a form is that of a length or a mask."""
    return form[0] in EXTENTS


def is_beside(form: Sizes) -> bool:
    """Say whether a form is that of numbers that lie at no place, beside tokens."""
    return is_unplaced(form) and form not in (IDS, ONES) and not is_extent(form)


@dataclass(frozen=True, slots=True)
class SequenceInput(Form):
    """Take x of shape (steps, channels), without a batch axis unless `layout` has one.

    Attributes:
        channels: width of x; None takes what the sample has.
        kind: "values" (a time series), "tokens" (one-hot symbols), "dna" (one-hot A, C, G, T) or "ids" (numbers of
            tokens, (1, steps), or (steps, 1) with the layout "TNC", of which `channels` are known).
        most: the largest number of steps that the network is made for, or None.
        layout: the axes of x: T steps, C channels, N a batch of one; "NTC", "TNC" or "NCT" for a network that has one.
        columns: names of the columns of tokens, found by name where the sample names its own.
        unknown: which of them takes the tokens that are none of them.
        names: of the arguments beside numbers of tokens, and what each takes: ("ids",) tokens, ("mask",) whole ones for
            tokens that are to be seen, what says how far they go, ("length",) or ("validNT",), or numbers that lie at
            no place, ("vector", 5); () for tokens alone without a name.
        tokenizer: the folder whose tokenizer makes numbers of a text, or "".
        sequences: name and width of each argument, the first one with `channels`, of a network that takes several
            sequences of values, or takes one by its name or in a dict, or beside numbers that lie at no place,
            ("vector", 5), ("number",) or ("below", 10), or what says how far they go, ("length",) or ("validNT",); ()
            for one sequence.
    """

    space = "sequence"
    data = "sequence"

    channels: int | None = None
    kind: str = "values"
    most: int | None = None
    layout: str = "TC"
    columns: tuple[str, ...] = ()
    unknown: str | None = None
    names: Named = ()
    tokenizer: str = ""
    sequences: Named = ()
