"""Changed files of every format are read, or refused in one sentence: no crash, no hang, no excess."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.data.formats.checks import refusal
from explorer.data.opening import read_file, reader_of
from explorer.data.readers import readers
from tests.explorer.parts.hostile.accepted import accepted_files
from tests.explorer.parts.hostile.long import WORDS, lengthened
from tests.explorer.parts.hostile.records import dealt
from tests.explorer.parts.hostile.structures import structured
from tests.explorer.parts.hostile.trying import fault_of, mutants, tried


@pytest.mark.parametrize("case", accepted_files())
def test_what_the_changes_begin_with_is_read(case: str, tmp_path: Path) -> None:
    name, content = accepted_files()[case]
    path = tmp_path / name
    path.write_bytes(content)
    bare = ("edges", "edges-named", "matrix", "matrix-array", "matrix-csr", "matrix-text")
    assert read_file(path).x.values.size or case in bare


def test_every_reader_reads_one_of_them(tmp_path: Path) -> None:
    used = set()
    for name, content in accepted_files().values():
        path = tmp_path / name
        path.write_bytes(content)
        used.add(reader_of(path).name)
    assert used == set(readers())


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_three_thousand_changed_files() -> None:
    outcome = tried(mutants(3000, 0))
    assert not outcome.faults, str(outcome)
    assert outcome.counts["read"] > 500 and outcome.counts["refused"] > 1500, "the changes are neither none nor all"
    assert not outcome.fallback, "each sentence says what is wrong"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_thousand_files_that_lie_about_their_structure() -> None:
    outcome = tried(structured(2000, 0))
    assert not outcome.faults, str(outcome)
    assert outcome.counts["read"] > 300 and outcome.counts["refused"] > 1000, "the changes are neither none nor all"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_thousand_files_whose_records_are_dealt_anew() -> None:
    outcome = tried(dealt(2000, 0))
    assert not outcome.faults, str(outcome)
    assert outcome.counts["read"] > 300 and outcome.counts["refused"] > 1000, "the changes are neither none nor all"
    assert not outcome.fallback, "each sentence says what is wrong"


@pytest.mark.parametrize("count", [120, pytest.param(2000, marks=[pytest.mark.slow, pytest.mark.timeout(600)])])
def test_long_and_odd_words_become_no_long_or_odd_sentence_or_note(count: int) -> None:
    outcome = tried(lengthened(count, 0))
    assert not outcome.faults, str(outcome)
    assert outcome.counts["read"] > count / 8 and outcome.counts["refused"] > count / 3, "neither none nor all"
    assert not outcome.fallback, "each sentence says what is wrong"


@pytest.mark.parametrize("word", WORDS)
def test_what_a_refusal_quotes_gives_way_to_what_it_says(word: str) -> None:
    said = str(refusal(Path("a.cif"), f"_cell_length_a of the cell is {word!r}, and no number", "correct it"))
    assert said.isprintable() and len(said) <= 300
    assert said.endswith("and no number; correct it."), said
    assert str(refusal(Path(f"{word}.cif"), word, word)).isprintable()
    assert len(str(refusal(Path(f"{word}.cif"), word, word))) <= 300


@pytest.mark.parametrize("marks", ["[", "(", "'", '"', "[ ", "((]"])
def test_a_heading_of_many_brackets_or_quotes_takes_no_square_of_them(marks: str) -> None:
    heading = (marks * 100_000 + "]").encode()
    outcome = tried(iter([("edges", "a.csv", b"source,target," + heading + b"\n1,2,3\n2,3,0.5\nx,2\n")]))
    assert not outcome.faults, str(outcome)


def test_a_seed_deals_the_same_records() -> None:
    made = list(dealt(80, 3))
    assert made == list(dealt(80, 3)) != list(dealt(80, 4))
    changed = [content != accepted_files()[case.split()[0]][1] for case, _, content in made]
    assert sum(changed) > 60, "most of them differ from what they were made of"


def test_a_seed_gives_the_same_structures() -> None:
    made = list(structured(150, 3))
    assert made == list(structured(150, 3)) != list(structured(150, 4))
    assert len({case.split()[2] for case, *_ in made}) > 12, "every strategy has its turn"


@pytest.mark.parametrize(
    ("sentence", "fault"),
    [
        ("cannot read a.npy: the array is truncated; save or copy it again.", ""),
        ("cannot read a.npy: the array is truncated;\nsave it again.", "length"),
        (f"cannot read a.npy: {'long ' * 60}; save it.", "length"),
        ("cannot read b.npy: the array is truncated; save it.", "form"),
        ("cannot read a.npy: it holds b'\\x00'; save it.", "words"),
        ("cannot read a.npy: index 0 is out of bounds for axis 0; save it.", "words"),
        ("cannot read a.npy: it holds <ast.Name object at 0x7f>; save it.", "words"),
        ("cannot read a.npy: it holds \x1b[31m; save it.", "bytes"),
        ("cannot read a.npy: its XML is not well-formed; save it.", "words"),
        ("cannot read a.npy: the reader 'array' failed (KeyError); report it.", "defect"),
    ],
)
def test_the_form_of_a_sentence_is_looked_at(sentence: str, fault: str) -> None:
    found = fault_of(sentence, Path("a.npy"))
    assert found.startswith(fault) and bool(found) == bool(fault)
