"""Whose answer the numbers at a network's end are: one node's, a mean over nodes, one of two graphs."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.frame import LayerInfo, Square


@dataclass(frozen=True, slots=True)
class Answer:
    """What stands beside the numbers: `labels` of all of them or (), and `whose` they are, "" where it is plain."""

    labels: tuple[str, ...] = ()
    whose: str = ""


def output_layer(square: Square) -> LayerInfo | None:
    """Return the last layer that has at one place as many values as the output."""
    return next((n for n in reversed(square.layers) if n.kind_of_places and n.channels == square.output.size), None)


def answer_of(square: Square, node: int | None) -> Answer:
    """Return the labels of the outputs of a square, and whose they are when `node` is the selected one."""
    size = square.output.size
    labels = square.labels if len(square.labels) == size else ()
    if square.graph is None:
        return Answer(labels)
    if (outputs := square.graph.outputs) is not None:
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


def _of_node(square: Square, node: int | None) -> str:
    part = square.graph
    assert part is not None
    structure = part.structure
    if node is None or not 0 <= node < structure.nodes:
        return f"mean over {structure.nodes:,} nodes"
    name = structure.names[node] if node < len(structure.names) else ""
    words = f"{name} ({node})" if name and name != str(node) else f"node {node}"
    gone = node < len(part.order) and int(part.order[node]) < 0
    return f"{words}; left out of ρ(g)x, there the mean" if gone else words
