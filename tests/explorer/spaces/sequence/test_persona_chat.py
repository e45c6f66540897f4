"""Dialogues with profiles: written and read again, what is wrong with a line, parts of a file, columns by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from explorer.data.finding import find_sample, fitted
from explorer.data.formats.named_columns import named_columns
from explorer.data.opening import read_file
from explorer.data.readers import ReadError
from explorer.declare.samples import Sample
from explorer.spaces.graph.network.form import GraphInput
from explorer.spaces.sequence.network.form import SequenceInput
from explorer.spaces.sequence.readers.persona_text import dialogues_in
from explorer.spaces.sequence.samples import personas
from explorer.spaces.sequence.samples.persona_chat import (
    BLANK,
    END,
    RIGHT,
    ROLES,
    UNKNOWN,
    Dialogue,
    Exchange,
    text_of,
    turns_of,
    words_in,
)

TURN = "2 hello there .\thi , i am fine .\t\tno .|hi , i am fine .|yes ."
TOLD = "1 your persona: i have a dog."

sentences = st.text("abc ,.?!'é7-_", min_size=1, max_size=20).map(str.strip).filter(bool)
exchanges = st.tuples(sentences, sentences, st.lists(sentences, max_size=5)).map(
    lambda told: Exchange(told[0], told[1], (*told[2], told[1]))
)
profiles = st.lists(sentences, max_size=3).map(tuple)
talks = st.builds(Dialogue, profiles, profiles, st.lists(exchanges, min_size=1, max_size=4).map(tuple))


@settings(max_examples=150, deadline=None)
@given(st.lists(talks, min_size=1, max_size=4))
@pytest.mark.slow
def test_what_is_written_is_read_again(dialogues: list[Dialogue]) -> None:
    found, notes = dialogues_in(text_of(dialogues))
    assert found == dialogues and notes == []


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(talks, min_size=1, max_size=3), st.data())
def test_every_turn_of_a_file_is_a_sample(tmp_path: Path, dialogues: list[Dialogue], data: st.DataObject) -> None:
    path = tmp_path / "talk.persona"
    path.write_text(text_of(dialogues), encoding="utf-8")
    turns = list(turns_of(dialogues))
    number = data.draw(st.integers(1, len(turns)))
    turn, sample = turns[number - 1], read_file(path, str(number))
    assert sample.names == (*turn.profile, *turn.history, turn.query, *turn.candidates)
    roles = sample.x.values[:, : len(ROLES)]
    assert roles.sum(0).tolist() == [len(turn.profile), len(turn.history), 1, len(turn.candidates)]
    assert_array_equal(sample.x.values[:, len(ROLES) :].sum(1), [len(words_in(name)) for name in sample.names])
    (right,) = np.flatnonzero(sample.signals["label"].values == RIGHT)
    assert sample.names[right] == turn.reply
    words = read_file(path, f"{number}:words")
    assert words.domain == "sequence" and (words.x.values.sum(1) == 1).all()
    assert words.names.count(BLANK) >= 16


def opened(tmp_path: Path, content: str | bytes, name: str = "talk.txt") -> Sample:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_file(path)


def test_a_text_file_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    assert opened(tmp_path, f"{TOLD}\n{TURN}\n").domain == "set"
    assert opened(tmp_path, TURN.replace("2 ", "1 ", 1) + "\n").domain == "set", "no profile is told"
    assert opened(tmp_path, "1 partner's persona: i cook.\r\n" + TURN + "\r\n").names[0] == "partner's persona: i cook."
    assert opened(tmp_path, "One day a dog came by. It was late.\n").domain == "sequence"
    assert opened(tmp_path, "1 2\n2 3\n").domain == "graph"


@pytest.mark.parametrize(
    ("lines", "clue"),
    [
        ([TOLD, TURN[2:]], "line 2, column 1: no number"),
        ([TOLD[2:], TURN], "line 1, column 1: no number"),
        (["3" + TOLD[1:], TURN], "line 1 has the number 3"),
        ([TOLD, "2 hello there ."], "line 2, column 16: a turn has no tab"),
        ([TOLD, TURN.replace("no .|", "|")], "line 2, column 35: candidate 1 is empty"),
        ([TOLD, "2 hello .\tfine .\t\t"], "candidate 1 is empty"),
        ([TOLD, "2 \tfine .\t\tfine ."], "what the partner says is empty"),
        ([TOLD, "2 hello .\t \t\tfine ."], "the reply is empty"),
        ([TOLD, TURN + "\tmore"], "line 2 has 5 columns"),
        ([TOLD, TURN, "3 your persona: i am late."], "line 3 tells of a persona after the first turn"),
        ([TOLD, TURN, TURN.replace("2 ", "4 ", 1)], "line 3 has the number 4 after 2"),
        ([TOLD, TOLD], "the dialogue that begins in line 1 has no turn"),
        ([TOLD], "has no turn"),
        (["1 your persona: ", TURN], "line 1: a sentence of a persona is empty"),
        ([TOLD + "\tmore", TURN], "cut by a tab"),
        ([TOLD, "2 hello .\tfine .\t\t" + "|".join(["no ."] * 1001)], "1001 candidates"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(tmp_path: Path, lines: list[str], clue: str) -> None:
    with pytest.raises(ReadError) as caught:
        opened(tmp_path, "\n".join(lines) + "\n")
    told = str(caught.value)
    assert clue in told and "talk.txt" in told and "; " in told and "\n" not in told


def test_another_encoding_is_told_with_its_place(tmp_path: Path) -> None:
    content = f"{TOLD}\n".encode() + TURN.replace("fine", "fïne").encode("latin-1")
    with pytest.raises(ReadError, match=r"line 2, column 28 is not text in UTF-8 \(byte 0xef\)"):
        opened(tmp_path, content)


def test_what_can_be_mended_is_told_in_a_note(tmp_path: Path) -> None:
    none = opened(tmp_path, f"{TOLD}\n2 hello .\tfine .\n3 so ?\tyes .\n")
    assert none.names[-1] == "fine ." and none.x.values[:, 3].sum() == 1
    assert sum("no candidates" in note for note in none.notes) == 1
    other = opened(tmp_path, f"{TOLD}\n2 hello .\tfine .\t\tno .|yes .\n")
    assert other.names[-3:] == ("no .", "yes .", "fine .") and any("it is added" in note for note in other.notes)


def test_parts_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "made-up.txt"
    path.write_text(text_of(personas.held_out()), encoding="utf-8")
    turns = list(turns_of(personas.held_out()))
    first = find_sample(str(path))
    assert first.names[-20:] == turns[0].candidates and first.parts == len(turns)
    assert any(f"turn 1 of {len(turns)}" in n and "made-up.txt#2 is the next one" in n for n in first.notes)
    assert find_sample(f"{path}#7").names[-20:] == turns[6].candidates
    assert find_sample(f"{path}#7:words").names[-1] == BLANK
    for part, clue in (
        ("0", "no turn 0"),
        ("9999", f"from 1 to {len(turns)}"),
        ("x", "no part 'x'"),
        ("1:2", "no part"),
    ):
        with pytest.raises(ReadError, match=clue):
            find_sample(f"{path}#{part}")
    prose = tmp_path / "prose.txt"
    prose.write_text("One day a dog came by.\n")
    with pytest.raises(ReadError, match="no part '2'"):
        find_sample(f"{prose}#2")
    odd = tmp_path / "a#2"
    odd.write_text("One day a dog came by.\n")
    (tmp_path / "a").write_text("Another.\n")
    monkeypatch.chdir(tmp_path)
    assert find_sample(str(odd.rename(tmp_path / "a#2.txt"))).title == "a#2.txt", "a file may have such a name"


def test_the_made_up_dialogues_keep_their_word() -> None:
    held, learned = personas.held_out(), personas.learned_from()
    assert len(held) == 40 and all(4 <= len(d.exchanges) <= 5 and len(d.own) == 5 for d in held)
    assert personas.held_out() == held and not {frozenset(d.own) for d in held} & {frozenset(d.own) for d in learned}
    known = set(personas.vocabulary())
    for turn in turns_of((*held, *learned)):
        assert len(set(turn.candidates)) == 20 and turn.candidates.count(turn.reply) == 1
        assert all(word in known for text in (*turn.profile, turn.query, *turn.candidates) for word in words_in(text))
    for topic in personas.TOPICS:
        for _, other, reply in topic.facts:
            common = set(words_in(other)) & set(words_in(reply))
            assert common <= set("i is my me the in at a for of he and . ,".split()), (other, reply)


def test_columns_are_found_by_name() -> None:
    x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    made, note = named_columns(x, ("b", "c", "z"), ("a", "b", "c"))
    assert_array_equal(made, [[0, 1, 2], [0, 4, 5]])
    assert "1 of 3 columns" in note and note.endswith("left out: z")
    made, note = named_columns(x, ("b", "y", "z"), ("a", "b", "?"), "?")
    assert_array_equal(made, [[0, 1, 5], [0, 4, 11]])
    assert "taken for '?': y, z" in note
    assert named_columns(x, ("a", "b", "c"), ("a", "b", "c")) == (pytest.approx(x), "")


def test_words_of_a_file_reach_the_columns_of_a_network(tmp_path: Path) -> None:
    sample = opened(tmp_path, f"{TOLD}\n{TURN}\n")
    spec = GraphInput(channels=7, signals=("x",), columns=(*ROLES, "dog", "fine", "cat"))
    made = fitted(sample, spec)
    assert made.channels == spec.columns and made.x.values.shape == (5, 7)
    assert made.x.values[0].tolist() == [1, 0, 0, 0, 1, 0, 0] and made.x.values[3].tolist() == [0, 0, 0, 1, 0, 1, 0]
    all_of = fitted(sample, GraphInput(signals=("x",), columns=ROLES))
    assert all_of.channels[:4] == ROLES and len(all_of.channels) == len(sample.channels)
    words = read_file(Path(sample.source), "1:words")
    known = ("dog", BLANK, END, UNKNOWN)
    made = fitted(words, SequenceInput(4, "tokens", columns=known, unknown=UNKNOWN))
    assert made.channels == known and (made.x.values.sum(1) == 1).all()
    assert made.x.values[:, 1].sum() == words.names.count(BLANK) and made.x.values[:, 0].sum() == 1
    karate = fitted(find_sample("karate"), spec)
    assert karate.x.values.shape == (34, 7) and karate.channels == ()
