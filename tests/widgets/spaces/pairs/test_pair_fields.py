"""Fields on pairs, of graphs at the edge of what there is."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import pytest

from tests.widgets.parts.frames.graph_parts import both_ways, graph_frame, make_part
from widgets.spaces.pairs.fields import PairField, comparison


@pytest.mark.parametrize("graph", [nx.empty_graph(4), nx.path_graph(3)], ids=["without edges", "a path"])
def test_a_field_on_edges_is_compared_also_where_there_are_none(graph: nx.Graph) -> None:
    part = make_part(both_ways(graph), len(graph), kind="edge")
    frame = graph_frame(part)
    square = replace(frame.squares[0], layer=replace(frame.squares[0].layer, name="conv1"))
    after, error = comparison(PairField("conv1", 0, part.values, True), square, part)
    assert after is not None and after.values.shape == part.values.shape
    assert error is not None and error.values.shape == part.values.shape
