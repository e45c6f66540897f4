"""Find the run that the present one is compared with, and compare them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import Any

from torch import Tensor

from explorer.declare.states.model_name import split_name
from explorer.network.tracing.capture import state_values
from explorer.square.analyses.differences import Other, difference, differences, pictured
from explorer.square.frame import Square
from explorer.square.preparing.prepare import Prepared
from explorer.state.runs import compared_state, held_text
from explorer.state.state import State

Prepare = Callable[[State, str], Prepared]


class Comparing:
    """Keeps the run that was held, whatever becomes of the files it was made of.

    Args:
        prepare: (state, model) -> its epoch.
    """

    def __init__(self, prepare: Prepare) -> None:
        self._prepare = prepare
        self._held: tuple[str, Prepared] | None = None

    def hold(self, state: State) -> str:
        """Keep the present run for comparison; return the text that names it."""
        p = self._prepare(state, state.model)
        text = held_text(state, p.card.sample)
        self._held = (text, p)
        return text

    def other(self, state: State, p: Prepared) -> Other | None:
        """Return the run that the present one, `p`, is compared with; None where it is compared with none."""
        wanted = compared_state(state)
        if wanted is None:
            return None
        if self._held is not None and self._held[0] == state.against:
            q = self._held[1]
        else:
            q = self._prepare(wanted, wanted.model)
        return Other(q, _title(state, wanted, p, q))

    def refine(self, state: State, p: Prepared, square: Square) -> Iterator[Square]:
        """Yield the square with the differences of ever more layers."""
        other = self.other(state, p)
        if other is not None:
            for found in differences(p, other):
                yield replace(square, differences=pictured(p, other, square.layer.name, found))

    def reported(self, state: State, p: Prepared, report: dict[str, Any]) -> dict[str, Tensor]:
        """Add the differences to a report, and return the layers of the other run."""
        other = self.other(state, p)
        if other is None:
            return {}
        names = [row["name"] for row in report["layers"]]
        values = other.prepared.values
        found = {name: difference(p.values[name], values.get(name)) for name in names}
        told = pictured(p, other, names[0], found).sentence if names else ""
        rows = [{"name": name, **asdict(d)} for name, d in found.items()]
        report["differences"] = {"other": other.title, "sentence": told, "layers": rows}
        return state_values({f"{name}@compared": values[name] for name in names if name in values})


def _title(state: State, wanted: State, p: Prepared, q: Prepared) -> str:
    """Return what the other run is called: by what differs from the present one."""
    words = []
    if wanted.model != state.model:
        base, weights = split_name(wanted.model)
        same = base == split_name(state.model)[0]
        file = re.split(r"[/\\]", weights)[-1]
        words.append(f"the weights {file}" if same and weights else q.card.title if q.card.own else wanted.model)
    if (wanted.sample or q.card.sample) != (state.sample or p.card.sample):
        words.append(q.sample.title if q.sample is not None else wanted.sample)
    if wanted.params != (state.params if wanted.model == state.model else ()):
        words.append(", ".join(f"{name} {value:g}" for name, value in wanted.params) or "the usual parameters")
    return " with ".join(words) or "the run that was held"
