"""Say whose the answer on a graph is: one node's, each node's, a mean over nodes, one of two graphs."""

from __future__ import annotations

from explorer.declare.telling.counting import number_of
from explorer.spaces.graph.drawing.values import GraphPart
from explorer.square.drawing.answer import Answer, labels_of, output_layer
from explorer.square.frame import Square


def answer_on_graph(square: Square, node: int | None) -> Answer | None:
    """Return whose the outputs are; None where the square has no graph."""
    graph, labels = square.of(GraphPart), labels_of(square)
    if graph is None:
        return None
    if node is None and graph.answers is not None:
        names = graph.structure.names
        return Answer(names, f"each of {len(names):,} nodes, ranked", graph.answers)
    if graph.outputs is not None:
        return _of_graphs(square, graph.outputs.shape[0], graph.outputs[0].size if len(graph.outputs) else 0)
    layer = output_layer(square)
    count = layer.shape[0] if layer is not None and layer.shape else 0
    match layer.kind_of_places if layer is not None else "":
        case "node":
            return Answer(labels, _of_node(graph, node))
        case "edge":
            return Answer(labels, f"mean over {count:,} edges")
        case "pair":
            return Answer(labels, "mean over all pairs")
    return None


def _of_graphs(square: Square, count: int, channels: int) -> Answer:
    """Return whose the outputs are where there is one answer for each of so many graphs."""
    if count != 2 or square.output.size != 2 * channels:
        return Answer(labels_of(square), f"mean over {count:,} graphs" if count > 2 else "")
    inner = square.labels if len(square.labels) == channels else tuple(map(str, range(channels)))
    each = [f"graph {g}" if channels == 1 else f"graph {g}: {name}" for g in range(2) for name in inner]
    return Answer(tuple(each), "two graphs")


def _of_node(part: GraphPart, node: int | None) -> str:
    structure = part.structure
    if node is None or not 0 <= node < structure.nodes:
        return f"mean over {number_of(structure.nodes, 'node')}"
    name = structure.names[node] if node < len(structure.names) else ""
    words = f"{name} ({node})" if name and name != str(node) else f"node {node}"
    gone = node < len(part.order) and int(part.order[node]) < 0
    return f"{words}; left out of ρ(g)x, there the mean" if gone else words
