"""Field types: their text, their axes, and where they come from."""

from __future__ import annotations

import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.declare.groups import group
from explorer.declare.types.field_text import parse_field
from explorer.declare.types.fields import INVARIANT, FieldType, Pairs, Point, Regular, Scalar
from explorer.spaces.graph.fields import EDGE_INDEX, Edges, Graphs, NodeIndex, Nodes
from explorer.spaces.grid.fields import Grid, grid, regular
from explorer.spaces.grid.vectors import AXES, PlaneVector
from explorer.spaces.mesh.fields import (
    EDGE_DIRECTION,
    EDGE_METRIC,
    EDGE_TRANSPORTER,
    FACES,
    Ambient,
    Metric,
    Patch,
    Tangent,
    TangentFrame,
    Vertices,
)
from explorer.spaces.sequence.fields import STEP, STEP_INPUT, Steps, Strands

groups = st.builds(lambda kind, n: group(f"{kind}{n}"), st.sampled_from("CD"), st.integers(1, 64))
reps = st.one_of(st.builds(Scalar, st.booleans()), st.builds(Regular, groups))
vectors = st.sampled_from([PlaneVector(axes) for axes in AXES])
spacings = st.one_of(
    st.just(math.inf),
    st.integers(1, 64).map(float),
    st.floats(1e-12, 1e12),
    st.sampled_from([1 / 3, 0.5, 1.5, 1e-5, 1e7]),
)
flats = st.one_of(st.none(), st.tuples(st.integers(1, 4096), st.integers(1, 4096)))
tangents = st.builds(lambda orders: Tangent(tuple(orders)), st.lists(st.integers(0, 12), min_size=1, max_size=5))
ON_VERTICES = st.sampled_from(
    [Ambient("position"), Ambient("vector"), Patch("corner"), Patch("weight"), TangentFrame(), Metric()]
)
unbatched = st.sampled_from([Nodes(), Edges(), Pairs(), Graphs(), Steps()])
field_types = st.one_of(
    st.builds(FieldType, st.builds(Grid, spacings, flats), st.one_of(reps, vectors)),
    st.builds(FieldType, st.just(Point()), reps),
    st.builds(FieldType, unbatched, st.one_of(st.builds(Scalar, st.booleans()), st.just(Strands()))),
    st.just(EDGE_INDEX),
    st.builds(FieldType, st.builds(Steps, st.integers(1, 9))),
    st.builds(FieldType, st.just(Vertices()), st.one_of(tangents, st.builds(Regular, groups), ON_VERTICES)),
    st.sampled_from([FACES, EDGE_DIRECTION, EDGE_TRANSPORTER, EDGE_METRIC]),
)


@given(field_types)
def test_what_is_written_is_read_back(field: FieldType) -> None:
    assert parse_field(str(field)) == field
    assert parse_field(f"  {field}\n") == field
    assert parse_field(str(field.guess())) == field  # a guess is no part of the text


def test_the_texts_people_see() -> None:
    assert str(grid()) == "grid scalar"
    assert str(grid(Scalar(intensity=True))) == "grid intensity"
    assert str(regular("D4", 2)) == "grid regular(D4) /2"
    assert str(grid(spacing=math.inf)) == "grid scalar /inf"
    assert str(FieldType(Grid(4, (2, 3)))) == "grid scalar /4 flat 2x3"
    assert str(FieldType(Point(), Regular(group("C4")))) == "point regular(C4)"
    assert str(INVARIANT) == "invariant" and parse_field("point scalar") == INVARIANT
    # brightness still acts on a measured value that has lost its place
    assert str(FieldType(Point(), Scalar(True))) == "point intensity"
    assert str(STEP) == "step scalar" and str(STEP_INPUT) == "step intensity"
    assert str(FieldType(Steps(), Strands())) == "step strands" and str(EDGE_INDEX) == "edge index"


@pytest.mark.parametrize(
    "text",
    [
        "", "grid", "scalar", "grid  scalar", "grid scalar/2", "grid scalar /", "grid scalar /x", "grid scalar /-2",
        "grid scalar /nan", "grid scalar flat 2", "grid scalar flat 0x3", "grid scalar flat 2x", "grid regular()",
        "point scalar /2", "point scalar flat 2x2", "invariant /2", "volume scalar", "grid regular(C4", "Grid scalar",
        "grid scalar\ngrid scalar", "grid scalar guessed", "step", "steps scalar", "step scalar /x",
        "step scalar /-2", "pixel",
        "strands", "grid strands", "point strands", "step  strands",
    ],
)  # fmt: skip
def test_bad_texts_are_refused_with_an_example_of_good_ones(text: str) -> None:
    with pytest.raises(ValueError, match=r"^unknown field type '.*write something like '"):
        parse_field(text)


@pytest.mark.parametrize("text", ["grid scalar /0", "grid scalar /1.2.3", "grid scalar /.", "grid regular(D4) /0.0"])
def test_a_spacing_that_is_no_positive_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="the spacing must be a positive number"):
        parse_field(text)


@pytest.mark.parametrize("name", ["C0", "E4", "C99", "4"])
def test_an_unknown_group_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=f"unknown group '{name}'"):
        parse_field(f"grid regular({name})")


@pytest.mark.parametrize("domain", ["node", "pair", "graph", "step"])
def test_only_edges_are_given_by_indices(domain: str) -> None:
    with pytest.raises(ValueError, match="only edges are given by indices of nodes"):
        parse_field(f"{domain} index")
    assert parse_field("edge index").rep == NodeIndex()


@pytest.mark.parametrize(
    "text", ["node tangent(1)", "step regular(C4)", "edge position", "node frame", "vertex direction", "face metric"]
)
def test_a_representation_without_a_home_there_says_where_it_has_one(text: str) -> None:
    with pytest.raises(ValueError, match=r"is for values at each (vertex|edge)"):
        parse_field(text)


@given(st.text(max_size=30))
def test_any_text_is_a_field_or_one_sentence(text: str) -> None:
    try:
        field = parse_field(text)
    except ValueError as error:
        assert "\n" not in str(error)
    else:
        assert parse_field(str(field)) == field


def test_axes_follow_the_domain() -> None:
    assert grid().axes == ("batch", "channel", "y", "x")
    assert STEP.axes == FieldType(Steps(), Strands()).axes == ("step", "channel")
    assert not STEP.batched and not STEP.invariant and STEP.spacing == 1.0
    assert FieldType(Grid(1, (3, 3))).axes == INVARIANT.axes == ("batch", "channel")


def test_only_a_point_of_scalars_is_invariant() -> None:
    assert INVARIANT.invariant and not grid().invariant
    assert not FieldType(Point(), Regular(group("C4"))).invariant


def test_spacing_and_guesses_are_changed_in_a_copy() -> None:
    field = regular("C4")
    assert field.at_spacing(4) == regular("C4", 4) and field.spacing == 1.0
    assert INVARIANT.at_spacing(4) == INVARIANT and INVARIANT.spacing == 1.0
    assert field.guess().guessed and field.guess().declared() == field


@given(field_types)
@pytest.mark.slow
def test_a_field_is_a_value(field: FieldType) -> None:
    assert pickle.loads(pickle.dumps(field)) == field
    assert len({field, pickle.loads(pickle.dumps(field))}) == 1
    match field.rep:
        case Regular(group=found):
            assert field.rep.size == found.order
        case Tangent(orders=orders):
            assert field.rep.size == 2 * len(orders) - orders.count(0)
        case Strands() | PlaneVector():
            assert field.rep.size == 2
        case Ambient() | TangentFrame():
            assert field.rep.size in (3, 6)
        case _:
            assert field.rep.size == 1
