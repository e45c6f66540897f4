"""Whose answer the numbers at a network's end are: one node's, each node's, a mean over nodes, one of two graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from explorer.spaces.graph.values import GraphPart
from explorer.spaces.sequence.values import TimePart
from explorer.square.frame import Array, LayerInfo, Square

MOST_ALIKE = 6  # steps with the same text that are all written out


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The words beside the numbers: `labels` of all of them or (), and `whose` they are, "" where it is plain.

    `each` is (2, N), F(x) and F(ρ(g)x), where there is one number for each of N named nodes, to be ranked. `written`
    is the text of both where each step has an answer of its own and none is selected.
    """

    labels: tuple[str, ...] = ()
    whose: str = ""
    each: Array | None = None
    written: tuple[str, str] | None = None


def values_of(square: Square, answer: Answer) -> tuple[Array, Array]:
    """Return the numbers that `answer` is about, before and after."""
    if answer.each is not None:
        return answer.each[0], answer.each[1]
    return np.asarray(square.output), np.asarray(square.output_g)


def output_layer(square: Square) -> LayerInfo | None:
    """Return the last layer that has at one place as many values as the output."""
    return next((n for n in reversed(square.layers) if n.kind_of_places and n.channels == square.output.size), None)


def answer_of(square: Square, node: int | None) -> Answer:
    """Return the labels of the outputs of a square, and whose they are when `node` is the selected one."""
    size = square.output.size
    labels = square.labels if len(square.labels) == size else ()
    if (steps := square.of(TimePart)) is not None:
        return _along(square, steps, labels, node)
    if (graph := square.of(GraphPart)) is None:
        return Answer(labels)
    if node is None and graph.answers is not None:
        names = graph.structure.names
        return Answer(names, f"each of {len(names):,} nodes, ranked", graph.answers)
    if (outputs := graph.outputs) is not None:
        count, channels = len(outputs), outputs[0].size if len(outputs) else 0
        if count != 2 or size != 2 * channels:
            return Answer(labels, f"mean over {count:,} graphs" if count > 2 else "")
        inner = square.labels if len(square.labels) == channels else tuple(map(str, range(channels)))
        each = [f"graph {g}" if channels == 1 else f"graph {g}: {name}" for g in range(2) for name in inner]
        return Answer(tuple(each), "two graphs")
    layer = output_layer(square)
    count = layer.shape[0] if layer is not None and layer.shape else 0
    match layer.kind_of_places if layer is not None else "":
        case "node":
            return Answer(labels, _of_node(square, node))
        case "edge":
            return Answer(labels, f"mean over {count:,} edges")
        case "pair":
            return Answer(labels, "mean over all pairs")
    return Answer(labels)


def _along(square: Square, part: TimePart, labels: tuple[str, ...], step: int | None) -> Answer:
    """Return whose the numbers are where the output may be on steps."""
    layer = output_layer(square)
    if layer is None or layer.kind_of_places != "step":
        return Answer(labels)
    if step is not None and 0 <= step < part.steps:
        return Answer(labels, f"step {step}" + (f" “{part.names[step]}”" if step < len(part.names) else ""))
    both = (part.written, part.moved_written)
    written = (written_text(both[0], labels), written_text(both[1], labels)) if part.written else None
    return Answer(labels, f"mean over {part.steps:,} steps", written=written)


def written_text(names: Sequence[str], labels: Sequence[str]) -> str:
    """Return what stands at the steps as one text, of letters without spaces; repetitions are counted: "_ ×86"."""
    letters = 2 * sum(len(name) == 1 for name in labels) > len(labels)
    runs = [(name, len(list(same))) for name, same in groupby(names)]
    found, sep = "", "" if letters else " "
    for name, count in runs:
        counted = count > MOST_ALIKE or (letters and len(name) > 1)
        if counted:
            found = f"{found.rstrip()} {name} ×{count} "
        else:
            found += sep.join([name] * count) + sep
    return found.strip()


def _of_node(square: Square, node: int | None) -> str:
    part = square.of(GraphPart)
    assert part is not None
    structure = part.structure
    if node is None or not 0 <= node < structure.nodes:
        return f"mean over {structure.nodes:,} nodes"
    name = structure.names[node] if node < len(structure.names) else ""
    words = f"{name} ({node})" if name and name != str(node) else f"node {node}"
    gone = node < len(part.order) and int(part.order[node]) < 0
    return f"{words}; left out of ρ(g)x, there the mean" if gone else words
