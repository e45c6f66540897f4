"""Sessions: what is written is read back exactly; what is not a session is refused in one sentence."""

from __future__ import annotations

import json
import os
import string
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.declare.elements import Step, transforms
from explorer.state.session import (
    SessionError,
    is_session,
    load_session,
    read_session,
    save_session,
    state_from_json,
    state_to_json,
)
from explorer.state.state import State

numbers = st.floats(allow_nan=False, allow_infinity=False)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
names = st.text(string.ascii_lowercase + "-", min_size=1, max_size=12)
steps = st.sampled_from(sorted(transforms().values(), key=lambda t: t.name)).flatmap(
    lambda t: st.tuples(*[numbers] * len(t.params)).map(lambda values: Step(t.name, values))
)
whole = st.integers(-(2**63), 2**63)
states = st.builds(
    State,
    model=words,
    params=st.lists(st.tuples(names, numbers), max_size=3).map(tuple),
    compare=words,
    sample=words,
    steps=st.lists(steps, max_size=4).map(tuple),
    layer=words,
    channel=st.none() | whole,
    pixel=st.none() | st.tuples(whole, whole),
    node=st.none() | whole,
    other=st.none() | whole,
    untransform=st.booleans(),
    truncate=st.none() | whole,
    orbit=words,
    device=words,
    dtype=words,
    seed=whole,
    overrides=st.lists(st.tuples(words, words), max_size=3).map(tuple),
)


@given(states)
def test_a_state_survives_json(state: State) -> None:
    assert state_from_json(json.loads(json.dumps(state_to_json(state)))) == state


@pytest.mark.parametrize(
    ("content", "session"),
    [
        ('{"equiscope": 1}', True),
        ('\ufeff{"equiscope": 1, "nodes": []}', True),
        ('{"nodes": [{"id": 0}], "links": []}', False),
        ('{"type": "FeatureCollection"}', True),
        ('[{"nodes": 1}]', False),
        ('[["anna", "ben"], ["ben", "carl"]]', False),
        ('{"t": [0, 1], "x": [1, 2]}', False),
        ('{"state": {"model": "d4-cnn"}, "tasks": []}', True),
        ("[1, 2]", True),
        ('{"nodes": [', True),
        ("[" * 100_000, True),
        ("", True),
    ],
)
def test_a_json_file_is_a_session_unless_it_is_a_graph(content: str, session: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(content, encoding="utf-8")
    assert is_session(path) == session
    assert is_session(tmp_path / "missing.json"), "opening it says that it is missing"


def test_a_session_survives_the_file(tmp_path: Path) -> None:
    path = tmp_path / "Größe & more.json"
    state = State(sample="digit-3", steps=(Step("rotate", (1 / 3,)),), pixel=(3, 4))
    extras = {
        "title": "Ein Satz",
        "text": "# x\n`rho(g)`",
        "equation": "F(ρ(g)x) = ρ'(g)F(x)",
        "view": "steps",
        "layout": "AAEC",
    }
    looks = {"points": {"bonds": True, "eye": [0.1, -2.0]}}
    save_session(path, state, extras, looks=looks)
    found = load_session(path)
    assert found.state == state and found.looks == looks
    assert {name: getattr(found, name) for name in extras} == extras
    assert list(tmp_path.iterdir()) == [path]
    text = path.read_text("utf-8")
    assert text.endswith("\n") and "ρ" in text, "a person can read it"


def test_what_is_left_out_has_its_default() -> None:
    session = read_session(b'{"equiscope": 1, "state": {"model": "plain-cnn"}}')
    assert session.state == State(model="plain-cnn")
    assert session.title == session.layout == ""
    assert read_session(b'\xef\xbb\xbf{"equiscope": 1}').state == State()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "it is not JSON (line 1, column 1)"),
        ("\n{", "it is not JSON (line 2"),
        ("[1]", '"equiscope" is missing'),
        ("{}", '"equiscope" is missing'),
        ("null", '"equiscope" is missing'),
        ('{"equiscope": 2}', "newer Equiscope (session version 2, this one reads 1)"),
        ('{"equiscope": 0}', "must be a whole number, not 0"),
        ('{"equiscope": "1"}', "must be a whole number, not '1'"),
        ('{"equiscope": true}', "must be a whole number, not True"),
        ('{"equiscope": 1.0}', "must be a whole number, not 1.0"),
        ('{"equiscope": 1, "run": "rm"}', "unknown field 'run'"),
        ('{"equiscope": 1, "equiscope": 1}', "the field 'equiscope' stands there twice"),
        ('{"equiscope": 1, "looks": 3}', '"looks" must be an object of views'),
        ('{"equiscope": 1, "looks": {"points": 3}}', '"looks" must be an object of views'),
        ('{"equiscope": 1, "title": 3}', '"title" must be text, not 3'),
        ('{"equiscope": 1, "title": "\\ud800"}', "half a character"),
        ('{"equiscope": 1, "code": {"a.py": "\\ud800"}}', "half a character"),
        ('{"equiscope": 1, "\\ud800": 1}', "half a character"),
        ('{"equiscope": 1' + "0" * 400 + "}", "newer Equiscope (session version 1000"),
        ('{"equiscope": 1, "state": []}', '"state" must be an object, not []'),
        ('{"equiscope": 1, "state": {"modell": "x"}}', "unknown field 'modell' in the state"),
        ('{"equiscope": 1, "state": {"model": null}}', '"model" must be text, not None'),
        ('{"equiscope": 1, "state": {"seed": NaN}}', "it holds NaN, which is no number"),
        ('{"equiscope": 1, "state": {"seed": 1.5}}', '"seed" must be a whole number, not 1.5'),
        ('{"equiscope": 1, "state": {"seed": true}}', '"seed" must be a whole number, not True'),
        ('{"equiscope": 1, "state": {"seed": 1' + "0" * 40 + "}}", '"seed" must be a whole number'),
        ('{"equiscope": 1, "state": {"seed": 1' + "0" * 5000 + "}}", "a number in it has thousands of digits"),
        ('{"equiscope": 1, "state": {"untransform": 1}}', '"untransform" must be true or false, not 1'),
        ('{"equiscope": 1, "state": {"pixel": [1]}}', '"pixel" must be [row, column], not [1]'),
        ('{"equiscope": 1, "state": {"channel": "a"}}', "\"channel\" must be a whole number, not 'a'"),
        ('{"equiscope": 1, "state": {"params": {"a": 1}}}', '"params" must be a list of [name, value] pairs'),
        ('{"equiscope": 1, "state": {"params": [["a", "b"]]}}', "\"params\" must hold numbers, not 'b'"),
        (
            '{"equiscope": 1, "state": {"params": [["a", 1e999]]}}',
            '"params" must hold finite numbers, not inf',
        ),
        ('{"equiscope": 1, "state": {"steps": [["fly", []]]}}', "unknown transform 'fly'; known are"),
        (
            '{"equiscope": 1, "state": {"steps": [["rotate", []]]}}',
            "rotate takes a list of 1 value(s), not []",
        ),
        (
            '{"equiscope": 1, "state": {"steps": [["rotate", [1' + "0" * 400 + "]]]}}",
            "must hold finite numbers",
        ),
        (
            '{"equiscope": 1, "state": {"steps": [["rotate"]]}}',
            '"steps" must be a list of [name, value] pairs',
        ),
        ('{"equiscope": 1, "state": {"overrides": [[3, "invariant"]]}}', '"overrides" must be text, not 3'),
        ('{"equiscope": 1, "state": ' + "[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_session_is_refused_in_a_clause(text: str, complaint: str) -> None:
    with pytest.raises(SessionError) as caught:
        read_session(text.encode())
    said = str(caught.value)
    assert complaint in said
    assert "\n" not in said and len(said) < 320


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(SessionError, match="it is not text in UTF-8"):
        read_session(b"\x89PNG\r\n\x1a\n")


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_nonsense_never_does_worse_than_a_sentence(data: bytes) -> None:
    with pytest.raises(SessionError):
        read_session(data)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(sorted(state_to_json(State()))), json_values, max_size=4))
def test_a_state_of_nonsense_is_read_or_refused(value: dict[str, Any]) -> None:
    try:
        state = state_from_json(value)
    except SessionError as error:
        assert str(error)
    else:
        assert state_from_json(json.loads(json.dumps(state_to_json(state)))) == state


def test_a_file_is_named_in_its_error(tmp_path: Path) -> None:
    path = tmp_path / "lesson.json"
    path.write_text("{}")
    with pytest.raises(SessionError, match=r"^lesson\.json cannot be opened: .* missing\.$") as caught:
        load_session(path)
    assert caught.value.where == str(path)
    with pytest.raises(FileNotFoundError):
        load_session(tmp_path / "none.json")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(path := tmp_path / "pipe.json")
    with pytest.raises(SessionError, match="it is no file but a device or a pipe"):
        load_session(path)


def test_a_large_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.state.session.LONGEST", 100)
    path = tmp_path / "large.json"
    path.write_bytes(b" " * 101)
    with pytest.raises(SessionError, match="is no session"):
        load_session(path)


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.json"
    save_session(path, State(seed=1))

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_session(path, State(seed=2))
    assert load_session(path).state.seed == 1
    assert list(tmp_path.iterdir()) == [path]


def test_a_state_that_is_no_json_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        save_session(tmp_path / "a.json", State(params=(("a", float("nan")),)))
    with pytest.raises(ValueError, match="has no 'author'"):
        save_session(tmp_path / "a.json", State(), {"author": "x"})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_session_can_be_read_by_those_the_umask_allows(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    before = os.umask(0o022)
    try:
        save_session(path, State())
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o644


def test_every_field_of_a_state_is_written() -> None:
    assert set(state_to_json(State())) == set(State.__slots__)
    assert state_to_json(replace(State(), seed=5))["seed"] == 5


def test_handles_added_to_a_warp_are_kept_and_a_file_from_before_they_were_is_read() -> None:
    state = State(steps=(Step("warp", (0.1, 0.0, -0.1, 0.6, 0.05, *[0.0] * 6)),), truncate=20)
    assert state_from_json(json.loads(json.dumps(state_to_json(state)))) == state
    old = read_session(b'{"equiscope": 1, "state": {"steps": [["warp", [0.1, 0.0, -0.1]]]}}').state
    assert old.steps == (Step("warp", (0.1, 0.0, -0.1, *[0.0] * 8)),) and old.truncate is None
    with pytest.raises(SessionError, match="warp takes a list of 11 value"):
        read_session(b'{"equiscope": 1, "state": {"steps": [["warp", [0,0,0,0,0,0,0,0,0,0,0,0]]]}}')


def test_the_rest_of_a_damaged_session_is_used() -> None:
    whole = {
        "equiscope": 1, "title": 7, "text": "kept", "evil": {"x": 1}, "looks": [], "code": {"a.py": 3}, "tasks": 5,
        "state": {"model": "d4-cnn", "seed": "many", "layer": "lift", "gone": 1, "interventions": ["lift:explode"]},
    }  # fmt: skip
    data = json.dumps(whole).encode()
    with pytest.raises(SessionError):
        read_session(data)
    found = read_session(data, damaged=True)
    assert (found.state.model, found.state.layer, found.state.seed) == ("d4-cnn", "lift", State().seed)
    assert (found.text, found.title, found.looks, found.code, found.tasks) == ("kept", "", {}, (), ())
    told = " ".join(found.lost)
    for name in ("title", "evil", "looks", "code", "seed", "gone", "interventions"):
        assert name in told
    assert len(found.lost) == 8 and all("\n" not in one and len(one) < 320 for one in found.lost)
    assert read_session(b'{"equiscope": 1}', damaged=True).lost == ()


@given(st.dictionaries(st.sampled_from(sorted(state_to_json(State()))), json_values, max_size=4))
def test_a_damaged_state_of_nonsense_is_read(value: dict[str, Any]) -> None:
    try:
        data = json.dumps({"equiscope": 1, "state": value}, allow_nan=False).encode()
    except ValueError:
        return
    found = read_session(data, damaged=True)
    assert state_from_json(state_to_json(found.state)) == found.state


@pytest.mark.parametrize("field", ["model", "compare", "layer", "latent", "against"])
def test_a_text_that_is_longer_than_any_name_is_refused_in_a_short_sentence(field: str) -> None:
    data = json.dumps({"equiscope": 1, "state": {field: "tests/" * 20_000}}).encode()
    with pytest.raises(SessionError, match=f'"{field}" holds a text of 120000 characters') as told:
        read_session(data)
    assert len(str(told.value)) < 200
    assert getattr(read_session(data, damaged=True).state, field) == getattr(State(), field)


def test_a_text_that_somebody_has_typed_may_be_long() -> None:
    state = State(sample="text:" + "to be or not to be " * 5_000)
    assert state_from_json(state_to_json(state)) == state
