"""Values by place: one table whatever the domain, as the views of every space take it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from explorer.declare.groups import group
from explorer.declare.types.fields import INVARIANT, PAIR, FieldType, Regular
from explorer.spaces.graph.fields import EDGE_INDEX, GRAPH, NODE, Nodes
from explorer.spaces.mesh.fields import FACES, VERTEX
from explorer.spaces.sequence.fields import STEP, Steps
from explorer.square.drawing.by_place import MOST_CHANNELS, kind_of, raw


@pytest.mark.parametrize(
    ("field", "shape", "expected"),
    [
        (NODE, (5, 3), (5, 3)),
        (NODE, (5,), (5, 1)),
        (NODE, (5, 2, 3), (5, 6)),
        (NODE, (0, 3), (0, 1)),
        (NODE, (5, 200), (5, MOST_CHANNELS)),
        (FieldType(Nodes(), Regular(group("C12"))), (5, 192), (5, 120)),  # fields of twelve, and none in part
        (FieldType(Nodes(), Regular(group("C12"))), (5, 96), (5, 96)),
        (FieldType(Nodes(2)), (1, 3, 5), (5, 3)),
        (FieldType(Steps(1)), (1, 5, 3), (5, 3)),
        (EDGE_INDEX, (2, 7), (7, 2)),
        (VERTEX, (5, 3), (5, 3)),
        (STEP, (5,), (5, 1)),
        (PAIR, (4, 4), (1, 4, 4)),
        (PAIR, (200, 4, 4), (MOST_CHANNELS, 4, 4)),
        (GRAPH, (2, 3), (2, 3)),
        (GRAPH, (2,), (2, 1)),
        (INVARIANT, (3,), (1, 3)),
        (INVARIANT, (1, 3), (1, 3)),
        (INVARIANT, (), (1, 1)),
        (None, (4, 2), (4, 2)),
        (None, (), (1, 1)),
    ],
)
def test_values_are_tables_by_place(field: FieldType | None, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    values = torch.arange(float(np.prod(shape, dtype=int))).reshape(shape)
    array = raw(values, field)
    assert array.shape == expected and array.dtype == np.float32 and not array.flags.writeable
    assert set(array.flat) <= set(values.flatten().tolist())


def test_the_channels_of_a_place_stay_together() -> None:
    values = torch.arange(15.0).reshape(1, 3, 5)
    assert raw(values, FieldType(Steps(2)))[4].tolist() == [4.0, 9.0, 14.0]
    assert raw(torch.zeros(2, 200), STEP, None).shape == (2, 200)


def test_the_kind_of_places_is_that_of_the_domain_where_views_draw_it() -> None:
    assert [kind_of(f, ("node", "pair")) for f in (NODE, PAIR, GRAPH, None)] == ["node", "pair", *["invariant"] * 2]
    assert kind_of(VERTEX, ("vertex", "edge")) == "vertex"
    assert kind_of(FACES, ("vertex", "edge")) == "invariant"
