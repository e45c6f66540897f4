"""Networks of language with lengths, masks and numbers beside the tokens: what each argument is, by trial, and laws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from explorer.app.answering.engine import LocalEngine
from explorer.declare.telling.asking import Named, parse_declared
from explorer.network.opening.loading import file_card
from explorer.network.opening.refusals import ModelError
from explorer.spaces.sequence.network.form import SequenceInput
from explorer.spaces.sequence.space import SPACE
from explorer.state.state import State

NETWORKS = """
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.memory, self.out = nn.Embedding(50, 16), nn.GRU(16, 16, batch_first=True), nn.Linear(16, 5)

    def forward(self, text, text_lengths):
        packed = nn.utils.rnn.pack_padded_sequence(
            self.words(text), text_lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        return self.out(nn.utils.rnn.pad_packed_sequence(self.memory(packed)[0], batch_first=True)[0])


class Bag(nn.Module):
    weighs = False

    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(50, 16, padding_idx=0), nn.Linear(16, 3)

    def forward(self, ids, lengths):
        counts = torch.arange(ids.size(1), device=ids.device)[None] < lengths[:, None]
        found = self.words(ids) * counts[..., None]
        if self.weighs:
            found = found * torch.linspace(1, 2, ids.size(1)).to(found)[:, None]
        return self.out(found.sum(1) / lengths[:, None])


class Weighs(Bag):
    weighs = True


class Hidden(Bag):
    def forward(self, ids, hidden):
        seen = ~hidden
        return self.out((self.words(ids) * seen[..., None]).sum(1) / seen.sum(1, keepdim=True))


class Beside(nn.Module):
    padding = "circular"

    def __init__(self):
        super().__init__()
        self.words, self.more = nn.Embedding(40, 8), nn.Linear(6, 8)
        self.near = nn.Conv1d(8, 8, 3, padding=1, padding_mode=self.padding)
        self.out = nn.Linear(16, 2)

    def forward(self, input_ids, features):
        found = self.near(self.words(input_ids).transpose(1, 2)).relu().mean(2)
        return self.out(torch.cat([found, self.more(features).relu()], 1))


class Ends(Beside):
    padding = "zeros"
"""

IDS, LENGTH = ("ids",), ("length",)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "language.py"
    path.write_text(NETWORKS)
    return path


@pytest.mark.parametrize(
    ("name", "known", "names"),
    [
        ("Tagger", 50, (("text", IDS), ("text_lengths", LENGTH))),
        ("Bag", 50, (("ids", IDS), ("lengths", LENGTH))),
        ("Hidden", 50, (("ids", IDS), ("hidden", ("paddingNT",)))),
        ("Beside", 40, (("input_ids", IDS), ("features", ("vector", 6)))),
    ],
)
def test_what_stands_beside_tokens_is_told_by_trial(file: Path, name: str, known: int, names: Named) -> None:
    found = file_card(file, name, trust=True).input
    assert isinstance(found, SequenceInput)
    assert (found.kind, found.channels, found.names) == ("ids", known, names)
    # what is found can be typed, and means the same
    typed = " ".join(f"{q.name}={q.write(getattr(found, q.name))}" for q in SPACE.questions if q.name != "sequences")
    assert SPACE.declared(parse_declared(f"sequence {typed}")) == found


@pytest.mark.parametrize(("sound", "broken"), [("Bag", "Weighs"), ("Beside", "Ends")])
def test_laws_are_judged_with_all_tokens_counting(file: Path, run: Any, sound: str, broken: str) -> None:
    for name, verdict, code in ((sound, "holds", 0), (broken, "broken", 1)):
        said = run("check", f"{file}:{name}", "--trust", "--group", "circular-shift")
        assert said.code == code and f"verdict: {verdict}" in said.out


def test_data_without_numbers_beside_tokens_get_some_and_say_so(file: Path) -> None:
    engine = LocalEngine({}, trust=True)
    for name, told in (("Bag", "lengths says that all tokens count"), ("Beside", "features is random:6")):
        card = engine.card(f"{file}:{name}")
        frame = engine.answer(State(f"{file}:{name}", sample=card.sample, device="cpu"), lambda: False)
        assert told in " ".join(frame.sample_notes)


def test_a_file_says_what_each_argument_takes(file: Path) -> None:
    file.write_text(f"{NETWORKS}\nINPUT_KIND = 'ids'\nINPUT_NAMES = {{'ids': 'ids', 'lengths': 'length'}}\n")
    found = file_card(file, "Bag", trust=True).input
    assert isinstance(found, SequenceInput) and found.names == (("ids", IDS), ("lengths", LENGTH))
    file.write_text(f"{NETWORKS}\nINPUT_KIND = 'ids'\nINPUT_NAMES = {{'ids': 'ids', 'lengths': 'long'}}\n")
    with pytest.raises(ModelError, match=r"INPUT_NAMES must be .*'lengths': 'length'"):
        file_card(file, "Bag", trust=True)


@pytest.mark.parametrize("typed", ["kind=values names=a:ids,b:length", "kind=ids names=a:length,b:ids"])
def test_what_stands_beside_no_tokens_is_refused(typed: str) -> None:
    with pytest.raises(ValueError, match="names are of a network on numbers of tokens, kind=ids"):
        SPACE.declared(parse_declared(f"sequence channels=5 {typed}"))
