"""Test in idle time which symmetries a network keeps; a group that was tested is kept with the epoch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from explorer.declare.telling.summaries import Law
from explorer.equivariance.verdict.laws import laws
from explorer.square.frame import Square
from explorer.square.preparing.kept import kept
from explorer.square.preparing.prepare import Prepared
from explorer.state.state import State
from explorer.work.progress import step


@kept()
def _tested(p: Prepared) -> dict[str, Law]:
    return {}


def refine_laws(p: Prepared, state: State, square: Square) -> Iterator[Square]:
    """Yield the square with the laws of ever more groups, in the precision of the epoch."""
    known = _tested(p)
    own = p.card.name == state.model
    found: list[Law] = []
    for law in laws(
        p.model, p.inputs, tell=step, known=dict(known), dtype=None, declared=not p.card.own,
        overrides=dict(state.overrides) if own else None, boundary=p.card.boundary, seed=p.seed, name=p.card.name,
    ):  # fmt: skip
        known[law.group] = law
        found.append(law)
        yield replace(square, laws=tuple(found))
