"""Name kinds of data and families of models where one chooses among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from explorer.declare.card import ModelInfo
from explorer.declare.space import kinds

Thing = TypeVar("Thing")
MOST = 24  # entries of a menu: as many fit on a screen of 800 pixels with room to spare
# what the rows of docs/systems.md are called in a menu
FAMILIES = {
    "G1": "From a dense layer to a convolution", "G2": "A convolution as a sum", "G3": "The convolutional block",
    "G4": "Residual networks", "G5": "Normalisation", "G6": "Augmentation or architecture",
    "G7": "Convolution on a group", "G8": "Groups on volumes", "G9": "Both strands of DNA", "G10": "Spherical networks",
    "G11": "Vision transformers",
    "S1": "Deep Sets and PointNet", "S2": "Attention between all pairs", "S3": "Edges that are inferred",
    "S4": "From a transformer to a convolution", "N1": "Convolution, attention, messages",
    "N2": "Filters of the Laplacian", "N3": "Ways to aggregate", "N4": "Graph networks", "N5": "Pooling",
    "N6": "Tasks, walks and samples", "N7": "Colour refinement", "N8": "Graph transformers", "N9": "Explanations",
    "N10": "Graphs that are generated",
    "E1": "Equivariant messages", "E2": "Irreducible representations", "E3": "Distances and angles",
    "E4": "Lie groups",
    "M1": "Geodesic patches", "M2": "Isotropic filters", "M3": "A gauge fixed by geometry", "M4": "Patch operators",
    "M5": "Gauge-equivariant convolution",
    "R1": "Autoregression", "R2": "Simple recurrence", "R3": "Gates", "R4": "Warped time",
    "R5": "One sequence to another", "R6": "Transformer", "R7": "Dialogue with a persona",
    "L1": "Back-propagation", "L2": "Autoencoders", "L3": "Adversarial networks on densities",
    "L4": "Adversarial networks",
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
