"""The steps of every lesson: none is done at the start, and each is ticked once a person has done it."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

from explorer.declare.elements import transforms
from explorer.state.lessons.walk import Walk
from explorer.state.session import load_session
from tests.models.cards.lesson_doing import do, params_of, sight
from tests.models.cards.lesson_frames import LESSONS, catalogue

# in sight in a window in which nobody has moved a panel yet; in the centre it is the view of the kind of data
AT_FIRST = {"errors", "inspector", "stage", "graph", "timeline", "surface", "points", "slices", "globe"}
TAUGHT = {number: session for number, path in LESSONS.items() if (session := load_session(path)).tasks}
each_lesson = pytest.mark.parametrize("number", TAUGHT)


def test_most_lessons_notice() -> None:
    assert len(TAUGHT) >= 80


@each_lesson
def test_nothing_is_done_when_a_lesson_begins(number: str) -> None:
    session = TAUGHT[number]
    walk = Walk(session.tasks)
    walk.see(sight(session.state, session.state, AT_FIRST | {session.view}))
    assert not any(walk.done), [t.do for t, done in zip(walk.tasks, walk.done, strict=True) if done]


@each_lesson
def test_every_step_is_ticked_when_it_is_done(number: str) -> None:
    session = TAUGHT[number]
    state, walk = session.state, Walk(session.tasks)
    for k, task in enumerate(session.tasks):
        for pattern in task.patterns:
            # the views that a step has opened need not stay
            state, views = do(pattern, state, walk.since(k, session.state), AT_FIRST)
            walk.see(sight(state, session.state, views))
        if not task.patterns:
            assert not walk.done[k]
            walk.tick(k)
        assert walk.done[k], task.do
    walk.see(sight(session.state, session.state, set()))
    assert walk.finished, "undone is not untaught"


@each_lesson
def test_conditions_name_what_there_is(number: str) -> None:
    """Leave out whether views exist, which the tests of the window ask."""
    session = TAUGHT[number]
    models, samples = {m.name for m in catalogue().models}, {s.name for s in catalogue().samples}
    for pattern in (p for task in session.tasks for p in task.patterns):
        for name, known in (("model", models), ("models", models), ("compare", models), ("sample", samples)):
            if isinstance(asked := pattern.get(name), str):
                assert any(fnmatchcase(one, asked) for one in known)
        if isinstance(asked := pattern.get("params"), dict):
            shown = params_of(pattern["model"] if isinstance(pattern.get("model"), str) else session.state.model)
            assert set(asked) <= {p.name for p in shown}
        if isinstance(asked := pattern.get("steps"), dict) and "changed" not in asked:
            assert set(asked) <= set(transforms())
