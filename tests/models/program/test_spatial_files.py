"""Odd and bad files of points, molecules, volumes and panoramas, on the command line: taken with a note, or refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import models
from explorer.data.finding import find_sample, fitted
from explorer.data.readers import ReadError
from explorer.declare.registry import scan
from tests.explorer.parts.command_line import Said, refused
from tests.explorer.parts.hostile.spatial import Case, spatial_files

CASES = spatial_files()
CARDS = {name: scan(models, "CARD")[name] for name in sorted({case.model for case in CASES.values()})}


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Any:
    from explorer.app.command import cli
    from tests.explorer.parts.small_cards import doors

    def command(*words: object) -> Said:
        code = cli.main([str(word) for word in words], doors(cards=lambda: CARDS, pictures=lambda *_: []))
        return Said(code, *capsys.readouterr())

    return command


@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.daily(30)
def test_it_is_taken_with_a_note_or_refused_in_a_sentence(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    path = case.made(tmp_path)
    if case.refused:
        with pytest.raises(ReadError) as told:
            find_sample(str(path))
        sentence = str(told.value)
        assert re.search(case.said, sentence) and sentence.startswith(f"cannot read {name}") and "\n" not in sentence
    else:
        notes = " ".join(fitted(find_sample(str(path)), CARDS[case.model].input).notes)
        assert re.search(case.said, notes), notes


def _commands(said: Any, case: Case, path: Path, out: Path) -> tuple[Said, Said]:
    ran = said("run", case.model, "--data", path, "--out", out, "--layers", "all", "--dtype", "float64")
    return ran, said("check", case.model, "--data", path)


@pytest.mark.slow
@pytest.mark.daily(200)
@pytest.mark.parametrize("name", sorted(CASES))
def test_run_and_check_say_the_same(said: Any, tmp_path: Path, name: str) -> None:
    case, out = CASES[name], tmp_path / "out"
    path = case.made(tmp_path)
    ran, checked = _commands(said, case, path, out)
    if case.refused:
        for answer in (ran, checked):
            refused(answer, name)
            assert re.search(case.said, answer.err)
        assert not out.exists(), "nothing is left behind"
        return
    assert ran.code == 0 and (out / "report.json").is_file(), ran.err
    assert re.search(case.said, (out / "report.json").read_text() + ran.out + ran.err)
    if name.startswith("constant"):
        refused(checked, "constant volume looks the same under every element")
    else:
        assert checked.code in (0, 3), checked.out + checked.err  # a point alone may tell of no law
