"""Give a network several tables of numbers, of which some have a row for each member of the same set.

A table is written as its axes with an x between them: numbers for their sizes, and for an axis that counts the members
of a set a letter, the same for the same set, "1xAx3". Such sets may be of any size; nothing that a sample holds is
like them, so their numbers are drawn at random. A small letter, "Axb", is of an axis that may have any size too, of
which nobody knows whether its order matters: it stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor

from explorer.declare.inputs import Inputs
from explorer.declare.samples import Sample, Signal
from explorer.declare.telling.asking import Named, Question
from explorer.network.input.arguments import ByName
from explorer.spaces.graph.fields import EDGE_INDEX, GRAPH
from explorer.spaces.graph.network.form import GraphInput
from explorer.spaces.graph.network.members import Members, in_order

ROWS = (9, 7, 11, 6)  # members of the sets A, B, C, D: no two as many
OTHER_ROWS = (8, 10, 5, 12)
SHARED = 0.3  # of the members of a set that a group has


def axes_of(text: str) -> list[str]:
    return text.split("x")


def table(text: str, seed: int, rows: Sequence[int] = ROWS) -> Tensor:
    """Return numbers for a table; a matrix between all members of a set has none below zero, and is its transpose.

    Several numbers a pair are of any sign, and differ from those of the pair the other way round. A matrix between two
    sets says who belongs to which group, with ones, and none is empty.
    """
    axes = [axis.upper() for axis in axes_of(text)]
    shape = [rows[ord(axis) - ord("A")] if axis.isalpha() else int(axis) for axis in axes]
    chance = torch.Generator().manual_seed(seed)
    several = any(axis.isdigit() and axis != "1" for axis in axes)
    if axes[-2:-1] == axes[-1:] and axes[-1].isalpha() and not several:
        found = torch.rand(shape, generator=chance, device="cpu")
        return (found + found.transpose(-2, -1)) / shape[-1]
    if axes[-2:-1] != axes[-1:] and all(axis.isalpha() for axis in axes[-2:]) and len(axes) > 1:
        at = torch.arange(max(shape[-2:]), device="cpu")
        found = (torch.rand(shape, generator=chance, device="cpu") < SHARED).float()
        found[..., at % shape[-2], at % shape[-1]] = 1.0
        return found
    return torch.randn(shape, generator=chance, device="cpu")


def fit_tables(sample: Sample, wanted: GraphInput) -> Sample:
    """Return a sample of the tables that a network takes, in place of one that has none of them."""
    made = {name: Signal(table(_text(form), k).numpy(), GRAPH) for k, (name, form) in enumerate(wanted.tables)}
    made["edge_index"] = Signal(np.zeros((2, 0), np.int64), EDGE_INDEX)
    names = ", ".join(name for name, _ in wanted.tables)
    return replace(
        sample, domain="set", signals=MappingProxyType(made), names=(), channels=(), label_names=(),
        notes=(f"{names} are random numbers in place of the data", *loose(wanted.tables)),
    )  # fmt: skip


def loose(tables: Named) -> Iterator[str]:
    """Yield what is said of each table with an axis of any size that is not known to be a set."""
    for name, sizes in tables:
        text = _text(sizes)
        if text != (moved := text.upper().replace("X", "x")):
            yield (
                f"{name} runs with any number of columns, and their order stays as it is: it may matter, as that of "
                f"steps in time; if they are members of a set, as groups are, say {name}:{moved}"
            )


def table_inputs(sample: Sample, form: GraphInput, device: torch.device, dtype: torch.dtype) -> Inputs:
    """Return the tables with the members of their first set, and once more for each further one."""
    names = tuple(name for name, _ in form.tables)
    values = [torch.tensor(sample.signals[name].values, device=device, dtype=dtype) for name in names]
    texts = [_text(sizes) for _, sizes in form.tables]
    turns = []
    for letter in dict.fromkeys(axis for text in texts for axis in axes_of(text) if axis.isupper()):
        axes = tuple(tuple(k for k, axis in enumerate(axes_of(text)) if axis == letter) for text in texts)
        first = min((k for k, of in enumerate(axes) if of), key=lambda k: len(axes[k]))
        turns.append(in_order(first, Members(first, axes).fields(values), values, names, ByName(names)))
    return replace(turns[0], turns=tuple(turns[1:]))


def said_tables(said: object) -> Named | None:
    """Return the tables that a file says, INPUT_TABLES = {"x": "1xAx3", "y": "1xBx3"}; None where it says none.

    Raises:
        ValueError: it says something else.
    """
    if said is None:
        return None
    if not isinstance(said, Mapping) or not all(isinstance(v, str) for pair in said.items() for v in pair):
        raise ValueError("INPUT_TABLES must be a dict of texts, as in {'x': '1xAx3', 'y': '1xBx3'}")
    question = Question("INPUT_TABLES", "", "", "named", lettered=True)
    found: Named = question.parse(",".join(f"{name}:{axes}" for name, axes in said.items()))
    require_tables(found)
    return found


def require_tables(tables: Named) -> None:
    """Raise ValueError where no table has an axis that counts the members of a set, or two side by side for pairs."""
    texts = [axes_of(_text(sizes)) for _, sizes in tables]
    letters = {axis for axes in texts for axis in axes if axis.isupper()}
    small = {axis.upper() for axes in texts for axis in axes if axis.islower()}
    known = {chr(ord("A") + k) for k in range(len(ROWS))}
    apart = letters | small <= known and not letters & small
    # a letter once in a table, or twice side by side
    placed = all(t.count(n) < 2 or (t.count(n) == 2 and t[t.index(n) + 1] == n) for t in texts for n in letters)
    if not letters or not apart or not placed:
        raise ValueError(
            f"tables are NAME:AXES with an x between the sizes, and a letter of {', '.join(sorted(known))} for the axis"
            " that counts the members of a set, twice for all pairs of them, as in context_x:1xAx2,target_x:1xBx2,z:AxA"
        )


def _text(sizes: Sequence[int | str | None]) -> str:
    return "x".join(map(str, sizes))
