"""Patterns and steps of lessons: what holds of which state, what stays ticked, what is refused in one sentence."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from explorer.declare.elements import parse_chain
from explorer.declare.params import Param
from explorer.declare.states.interventions import parse_interventions
from explorer.state.lessons.pattern import Sight, check_pattern, holds, views_in
from explorer.state.lessons.tasks import Task, around, read_tasks, tasks_to_json, written
from explorer.state.lessons.walk import Walk
from explorer.state.session import SessionError, load_session, read_session, save_session
from explorer.state.state import State

PARAMS = (
    Param("depth", "Depth", 4, 1, 20, whole=True),
    Param("kind", "Kind", 0, 0, 1, choices=("round", "square")),
)
START = State(model="d4-cnn", sample="digit-3", steps=parse_chain("rotate:90"), layer="conv1", params=(("depth", 8.0),))


def seen(state: State = START, views: set[str] | None = None) -> Sight:
    return Sight(state, START, views or set(), PARAMS)


def test_what_is_chosen_in_a_view_is_asked_for_beside_its_name() -> None:
    sight = seen(views={"matrix", "matrix > V: offsets a × b"})
    assert holds({"view": "matrix"}, sight) and holds({"view": "matrix > V: *"}, sight)
    assert not holds({"view": "matrix > W*"}, sight)
    assert views_in({"any": [{"view": "matrix > V*"}, {"view": "pairs"}]}) == {"matrix", "pairs"}


@pytest.mark.parametrize(
    ("pattern", "state", "told"),
    [
        ({"layer": "conv1"}, START, True),
        ({"layer": "conv*"}, START, True),
        ({"layer": ["lift", "conv2"]}, START, False),
        ({"layer": {"not": "conv1"}}, START, False),
        ({"layer": "conv1", "model": "gcn"}, START, False),
        ({"node": True}, START, False),
        ({"node": False}, START, True),
        ({"node": True}, replace(START, node=0), True),
        ({"node": 0}, replace(START, node=0), True),
        ({"node": {"changed": True, "not": False}}, replace(START, node=3), True),
        ({"pixel": True}, replace(START, pixel=(1, 2)), True),
        ({"untransform": True}, START, False),
        ({"steps": False}, START, False),
        ({"steps": False}, replace(START, steps=()), True),
        ({"steps": {"changed": True}}, START, False),
        ({"steps": {"changed": True}}, replace(START, steps=()), True),
        ({"steps": {"rotate": True, "translate": False}}, START, True),
        ({"steps": {"rotate": {"angle": 90}}}, START, True),
        ({"steps": {"rotate": {"angle": {"from": 80, "to": 89}}}}, START, False),
        ({"steps": {"rotate": {"changed": True}}}, replace(START, steps=parse_chain("rotate:91")), True),
        ({"steps": {"rotate": {"changed": True}}}, replace(START, steps=()), False),
        ({"steps": {"translate": {"boundary": "zero"}}}, replace(START, steps=parse_chain("translate:1,0,zero")), True),
        ({"steps": {"translate": {"boundary": "zero"}}}, replace(START, steps=parse_chain("translate:1,0")), False),
        ({"steps": {"translate": {"right": {"not": 1}}}}, START, False),
        ({"params": {"depth": 8}}, START, True),
        ({"params": {"depth": 4}}, replace(START, params=()), True),
        ({"params": {"depth": {"changed": True}}}, replace(START, params=()), True),
        ({"params": {"kind": "square"}}, replace(START, params=(("kind", 1.0),)), True),
        ({"params": {"kind": "square"}}, START, False),
        ({"params": {"colour": 1}}, START, False),
        ({"compare": "gcn"}, replace(START, compare="gat,gcn"), True),
        ({"compare": True}, START, False),
        ({"models": "d4-cnn"}, START, True),
        ({"models": "gat"}, replace(START, compare="gat"), True),
        ({"interventions": "conv1*"}, replace(START, interventions=parse_interventions(("conv1:zero",))), True),
        ({"interventions": True}, START, False),
        ({"dtype": "float64", "seed": 0}, replace(START, dtype="float64"), True),
        ({"any": [{"layer": "x"}, {"sample": "digit-*"}]}, START, True),
        ({"any": [{"layer": "x"}]}, START, False),
    ],
)
def test_a_pattern_asks_the_state(pattern: dict[str, Any], state: State, told: bool) -> None:
    check_pattern(pattern)
    assert holds(pattern, seen(state)) is told


def test_a_pattern_asks_which_views_are_in_sight() -> None:
    assert holds({"view": "matrix"}, seen(views={"stage", "matrix"})) and not holds({"view": "matrix"}, seen())


@pytest.mark.parametrize("name", [f.name for f in fields(State)])
def test_every_field_of_the_state_can_be_asked_for(name: str) -> None:
    check_pattern({name: True})
    assert holds({name: {"changed": True}}, seen()) is False
    value = getattr(START, name)
    assert holds({name: True}, seen()) is not (value is None or value is False or value in ("", ()))


WRONG = [
    ([{"do": 3}], 'step 1 of "tasks" must be an object with "do", a text'),
    (["turn"], 'step 1 of "tasks" must be an object with "do", a text'),
    ({}, '"tasks" must be a list of at most 20 steps'),
    ([{"do": "x"}] * 21, '"tasks" must be a list of at most 20 steps'),
    ([{"do": "x", "whn": {}}], "step 1 of \"tasks\" has the unknown field 'whn'"),
    ([{"do": "x", "show": 1}], "step 1 of \"tasks\" must have a text as 'show'"),
    ([{"do": "x", "reveal": "\ud800"}], "half a character"),
    ([{"do": "x", "when": {}}], "a pattern must be an object with a condition in it"),
    ([{"do": "x", "when": {"each": []}}], "'each' must be a list of patterns, 1 to 20"),
    ([{"do": "x", "when": {"lair": "conv1"}}], "a pattern asks for 'lair', which is no field of the state"),
    ([{"do": "x", "when": {"steps": {"rotat": True}}}], "a pattern asks for the unknown transform 'rotat'"),
    ([{"do": "x", "when": {"steps": {"rotate": {"x": 1}}}}], "a pattern asks for 'x' of rotate, which has angle"),
    ([{"do": "x", "when": {"steps": {"reflect": {"axis": "up"}}}}], "asks for 'up', which is no choice of reflect's"),
    ([{"do": "x", "when": {"node": {"from": "a"}}}], "'from' of 'node' must be a number, not 'a'"),
    ([{"do": "x", "when": {"node": {"changed": 1}}}], "\"changed\" of 'node' must be true or false"),
    ([{"do": "x", "when": {"node": None}}], "None is no condition on 'node'"),
    ([{"do": "x", "when": {"any": {}}}], '"any" must be a list of patterns'),
]


@pytest.mark.parametrize(("tasks", "told"), WRONG)
def test_damaged_steps_are_told_in_one_sentence(tasks: Any, told: str) -> None:
    with pytest.raises(SessionError) as caught:
        read_session(json.dumps({"equiscope": 1, "tasks": tasks}).encode())
    assert told in str(caught.value) and "\n" not in str(caught.value)


def test_endless_nesting_is_refused() -> None:
    deep: Any = {"not": 1}
    for _ in range(9):
        deep = {"not": deep}
    with pytest.raises(SessionError, match="nested too deeply"):
        read_session(json.dumps({"equiscope": 1, "tasks": [{"do": "x", "when": {"node": deep}}]}).encode())


def test_steps_are_written_as_they_were_read(tmp_path: Path) -> None:
    tasks = read_tasks(
        [
            {"do": "a", "when": {"layer": "conv2"}, "show": "layers"},
            {"do": "b", "when": {"then": [{"node": 1}, {"node": 2}]}, "reveal": "because"},
            {"do": "c", "when": {"each": [{"node": 1}, {"node": 2}]}},
            {"do": "d"},
        ]
    )
    assert read_tasks(tasks_to_json(tasks)) == tasks
    save_session(tmp_path / "a.json", START, {"title": "A"}, tasks=tasks)
    assert load_session(tmp_path / "a.json").tasks == tasks


def test_the_text_has_the_steps_in_place() -> None:
    tasks = (Task("Turn."), Task("Which?", reveal="This."))
    assert written("Before.\n\n**Do this**\n\nBehind.\n", tasks) == (
        "Before.\n\n**Do this**\n\n1. Turn.\n2. Which? This.\n\nBehind.\n"
    )
    assert written("As it is.\n", ()) == "As it is.\n"
    assert around("Before.\n\n**Do this**\n\nBehind.\n") == ("Before.", "Behind.")


# how far a person has come ----------------------------------------------------------------------------------


def walk(*whens: Any) -> Walk:
    return Walk(read_tasks([{"do": "x", "when": when} if when else {"do": "x"} for when in whens]))


def test_what_is_undone_stays_done() -> None:
    one = walk({"node": 1}, {"node": 2})
    assert one.see(seen(replace(START, node=1))) and one.done == [True, False] and one.current == 1
    assert not one.see(seen()) and one.done == [True, False]


def test_several_are_seen_in_any_order_or_in_theirs() -> None:
    any_order, in_order = (walk({kind: [{"node": 1}, {"node": 2}]}) for kind in ("each", "then"))
    for node in (2, 1):
        for one in (any_order, in_order):
            one.see(seen(replace(START, node=node)))
    assert any_order.finished and not in_order.finished and in_order.parts(0) == (1, 2)
    in_order.see(seen(replace(START, node=2)))
    assert in_order.finished


def test_one_state_is_not_two_steps_of_an_order() -> None:
    one = walk({"then": [{"node": True}, {"node": 1}]})
    one.see(seen(replace(START, node=1)))
    assert not one.finished


def test_a_change_in_an_order_is_counted_from_what_was_seen_before_it() -> None:
    one = walk({"then": [{"node": True}, {"node": {"changed": True}}]})
    for _ in range(2):  # the second look finds what the first has found
        one.see(seen(replace(START, node=1)))
    assert one.parts(0) == (1, 2), "the node had been changed before"
    one.see(seen(replace(START, node=2)))
    assert one.finished


def test_what_the_person_looks_at_is_ticked_by_the_person() -> None:
    one = walk(None)
    assert not one.see(seen()) and not one.finished
    one.tick(0)
    assert one.finished and one.marks == "1"


def test_what_was_done_before_is_kept_where_the_steps_are_as_many() -> None:
    tasks = walk({"node": 1}, None).tasks
    assert Walk(tasks, "01").done == [False, True] and Walk(tasks, "011").done == [False, False]
