"""The lessons in resources/lessons: they open, are short, and name only keys and panels that there are.

That what they claim is true is tested in tests/models/cards/test_lessons.py, which has networks.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path

import pytest

import models
from explorer.data.finding import samples
from explorer.declare.elements import Step, transforms
from explorer.declare.registry import scan
from explorer.state.lessons.pattern import Sight, holds
from explorer.state.session import Session, load_session
from explorer.state.state import State

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "resources" / "lessons"
LESSONS = {path.stem: path for path in sorted(FOLDER.glob("*.json"))}
each_lesson = pytest.mark.parametrize("name", LESSONS)
CODE = re.compile(r"`([^`]+)`")
# code that is no key: what is typed or looked for
TYPED = ("python main.py ", "rotate:", "transformed_indices")


def lesson(name: str) -> Session:
    return load_session(LESSONS[name])


def test_lessons_are_numbered_in_order() -> None:
    """No number twice; each subject may begin at a ten of its own."""
    numbers = [int(name[:2]) for name in LESSONS]
    assert numbers == sorted(set(numbers)) and all(name[2] == "-" for name in LESSONS)
    assert all(b == a + 1 or b % 10 == 0 for a, b in pairwise(numbers))
    assert len(LESSONS) > 20
    assert [path.name for path in FOLDER.iterdir() if path.suffix != ".json"] == []


def test_no_two_lessons_have_one_title() -> None:
    titles = [lesson(name).title for name in LESSONS]
    assert len(set(titles)) == len(titles)


@each_lesson
def test_a_lesson_is_complete_and_short(name: str) -> None:
    session = lesson(name)
    assert session.title and session.equation and not session.layout
    assert 80 <= len(session.written.split()) <= 200
    assert "**Do this**\n\n1. " in session.written and "**Look at** " in session.written
    steps = [int(k) for k in re.findall(r"^(\d)\. ", session.written, re.MULTILINE)]
    assert steps == list(range(1, len(steps) + 1)) and 3 <= len(steps) <= 5
    assert max(len(line) for line in session.equation.splitlines()) <= 46, "wider than the panel"


@each_lesson
def test_the_name_in_the_menu_is_the_title(name: str) -> None:
    """The menu is made from the file's name: "02-a-dense-layer.json" is "A dense layer"."""
    in_menu = name.lstrip("0123456789-").replace("-", " ").capitalize()
    assert re.sub(r"[^\w ]", "", lesson(name).title) == in_menu


@each_lesson
def test_a_lesson_states_what_it_shows(name: str) -> None:
    state = lesson(name).state
    assert state.model and state.layer, "a lesson does not leave to chance what is on the stage"
    assert state.sample in samples()
    assert state.steps, "with the identity every square commutes"
    assert all(isinstance(step, Step) and step.name in transforms() for step in state.steps)
    assert transforms()[state.orbit].orbit is not None
    other = {f.name for f in fields(State)} - {"device", "dtype", "seed"}
    defaults = State()
    for left in {f.name for f in fields(State)} - other:
        assert getattr(state, left) == getattr(defaults, left), f"{left} is the person's own choice"


@each_lesson
def test_keys_in_a_lesson_are_documented(name: str) -> None:
    keys = set(CODE.findall((ROOT / "resources" / "keys.md").read_text(encoding="utf-8")))
    for code in CODE.findall(lesson(name).written):
        assert code in keys or code.startswith(TYPED), f"{code!r} is not in resources/keys.md"


@each_lesson
def test_panels_in_a_lesson_exist(name: str) -> None:
    """Names in italics with a capital are titles of panels, of tabs in them, of transforms, of samples or of models."""
    views = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "widgets").rglob("views/**/*.py"))
    cards = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "models").rglob("*.py"))
    known = {one.title for table in (transforms(), samples(), scan(models, "CARD")) for one in table.values()}
    for words in re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)", lesson(name).written):
        if not words[0].isupper() or "et al." in words or "“" in words:
            continue  # a layer or a choice, or the reference
        assert words in known or f'"{words}"' in views + cards, f"{words!r} is no panel, transform or model"


@each_lesson
def test_what_a_step_asks_for_is_not_so_already(name: str) -> None:
    """A step said "set How far to 1", and 1 it was: the transform came into the chain by another parameter."""
    for task in lesson(name).tasks:
        for pattern in task.patterns:
            wanted = pattern.get("steps")
            for transform, asked in (wanted if isinstance(wanted, dict) else {}).items():
                if not isinstance(asked, dict) or not set(asked) <= {p.name for p in transforms()[transform].params}:
                    continue
                untouched = Step(transform, transforms()[transform].defaults)
                if transforms()[transform].element(*untouched.values).identity:
                    state = replace(lesson(name).state, steps=(untouched,))
                    assert not holds({"steps": {transform: asked}}, Sight(state, state)), (name, task.do)


def test_no_symbol_has_a_mark_that_a_common_font_sets_below_it() -> None:
    """A tilde over a c stands below it in DejaVu Sans, as there is no such letter: ĉ is one."""
    texts = [*FOLDER.glob("*.json"), *Path(models.__file__).parent.rglob("*.py")]
    for path in texts:
        marked = re.search("[cC][\u0300-\u036f]", unicodedata.normalize("NFC", path.read_text("utf-8")))
        assert marked is None, f"{path.name} has {marked and marked[0]}"
