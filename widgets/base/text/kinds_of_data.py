"""Name kinds of data and families of models where one chooses among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from explorer.declare.card import ModelInfo
from explorer.declare.space import kinds

Thing = TypeVar("Thing")
MOST = 24  # entries of a menu: as many fit on a screen of 800 pixels with room to spare
# the rows of docs/systems.md that more models have than fit into one menu
FAMILIES = {
    "S1": "Deep Sets and PointNet", "S2": "Attention between all pairs", "S3": "Edges that are inferred",
    "S4": "From a transformer to a convolution", "N1": "Convolution, attention, messages",
    "N2": "Filters of the Laplacian", "N3": "Ways to aggregate", "N4": "Graph networks", "N5": "Pooling",
    "R1": "Autoregression", "R2": "Simple recurrence", "R3": "Gates", "R4": "Warped time",
    "R5": "One sequence to another", "R6": "Transformer", "G9": "Both strands of DNA",
    "N6": "Tasks, walks and samples", "N7": "Colour refinement", "N8": "Graph transformers", "N9": "Explanations",
}  # fmt: skip


def title_of(kind: str) -> str:
    """Return the heading of a kind of data."""
    found = kinds().get(kind)
    return (found.title if found else "") or kind.capitalize()


def one_of(kind: str) -> str:
    """Return what one thing of a kind is called in a sentence."""
    found = kinds().get(kind)
    return (found.one if found else "") or f"a {kind}"


def place_of(kind: str) -> tuple[int, str]:
    """Return the key that puts kinds of data in order: those that are known first."""
    found = kinds().get(kind)
    return (found.place if found else 99, kind)


def lessons_of(kind: str) -> str:
    """Return the heading of the lessons about a kind of data; sets and graphs are taught together."""
    found = kinds().get(kind)
    return (found.lessons if found else "") or title_of(kind)


def families(models: Sequence[ModelInfo]) -> list[tuple[str, list[ModelInfo]]]:
    """Return the models by the row they stand for first, [("N1  Title", models)]; one part where they are few."""
    if len(models) <= MOST:
        return [("", list(models))]
    found: dict[str, list[ModelInfo]] = {}
    for model in models:
        row = model.rows[0] if model.rows else ""
        found.setdefault(f"{row}  {FAMILIES.get(row, '')}".strip() or "Others", []).append(model)
    return list(found.items())


def parts(things: Sequence[Thing], most: int = MOST) -> list[list[Thing]]:
    """Return the things in as few parts of about the same length as there must be."""
    count = max(1, -(-len(things) // most))
    size = max(1, -(-len(things) // count))
    return [list(things[k : k + size]) for k in range(0, len(things), size)]
