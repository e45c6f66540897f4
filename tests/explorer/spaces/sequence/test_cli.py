"""The command line on sequences: verdicts on samples and files, captures, exports, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from explorer.data.finding import find_sample
from explorer.data.opening import read_file
from explorer.spaces.sequence.fields import STEP
from explorer.spaces.sequence.network.form import SequenceInput
from tests.explorer.parts.command_line import Said, refused
from tests.explorer.parts.small_cards import card


class Differences(nn.Module):
    """x(t) - a x(t-1) with zeros before the first step, and what the number of the step adds; (T, 1) -> (T, 1)."""

    out_field = STEP

    def __init__(self, clock: float) -> None:
        super().__init__()
        self.clock = clock

    def forward(self, x: Tensor) -> Tensor:
        before = torch.cat([torch.zeros_like(x[:1]), x])[:-1]
        return x - 0.5 * before + self.clock * torch.arange(len(x)).to(x)[:, None]


def sequence_card(name: str, clock: float, *groups: str, **more: Any) -> Any:
    def build() -> nn.Module:
        torch.manual_seed(0)
        return nn.Sequential(Differences(clock), nn.Linear(1, 2), nn.Tanh())

    given = {"input": SequenceInput(channels=1), "domain": "sequence", "sample": "sine"} | more
    return card(name, build, *groups, **given)


CARDS = {
    "causal": sequence_card("causal", 0.0, "shift"),
    "clocked": sequence_card("clocked", 0.01, "shift"),
    "modest": sequence_card("modest", 0.01),
}


@pytest.fixture
def said(run: Any) -> Any:
    def command(*words: object) -> Said:
        answer: Said = run(*words, cards=lambda: CARDS)
        return answer

    return command


def test_the_law_of_shifts_is_judged(said: Any) -> None:
    fair = said("check", "causal", "--json")
    assert (fair.code, fair.json["group"], fair.json["verdict"]) == (0, "shift", "holds")
    assert [row["field"] for row in fair.json["layers"]] == ["step scalar"] * 3
    assert fair.json["samples"] == 4, "other sequences are measured too"
    unfair = said("check", "clocked", "--json")
    assert (unfair.code, unfair.json["verdict"], unfair.json["guilty"]) == (1, "broken", ["0"])


def test_shifts_are_what_is_checked_where_nothing_is_claimed(said: Any) -> None:
    assert said("check", "modest", "--json").json["group"] == "shift"


def test_one_step_has_nowhere_to_go(said: Any, tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("a\n1\n")
    answer = said("check", "clocked", "--data", tmp_path / "one.csv", "--json")
    assert answer.code == 3 and answer.json["verdict"] == "no law"


def test_captures_of_a_delayed_sequence_are_what_the_network_computes(said: Any, tmp_path: Path) -> None:
    assert said("run", "causal", "--transform", "shift:4", "--no-pictures", "--out", tmp_path / "o").code == 0
    found = {key: np.asarray(value) for key, value in load_file(tmp_path / "o" / "captures.safetensors").items()}
    x = find_sample("sine").x.values
    np.testing.assert_array_equal(found["input@base"], x)
    np.testing.assert_array_equal(found["input"], np.concatenate([np.zeros((4, 1), np.float32), x[:-4]]))
    before = np.concatenate([np.zeros((1, 1), np.float32), x[:-1]])
    np.testing.assert_allclose(found["0@base"], x - 0.5 * before, atol=1e-6)
    np.testing.assert_allclose(found["2"][4:], found["2@base"][:-4], atol=1e-6)


def test_an_export_is_read_back(said: Any, tmp_path: Path) -> None:
    for sample, ending in (("ecg", ".csv"), ("dna-motif", ".fasta"), ("adding-task", ".npz")):
        path = tmp_path / f"kept{ending}"
        assert said("export", sample, "--out", path).code == 0
        back = read_file(path)
        assert back.domain == "sequence"
        np.testing.assert_allclose(back.x.values, find_sample(sample).x.values, rtol=1e-6, atol=1e-7)


def test_sequences_are_listed(said: Any) -> None:
    rows = said("list", "data", "--json").json
    assert {"sine", "dna-motif", "alice-words"} <= {row["name"] for row in rows if row["domain"] == "sequence"}


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("check causal --group D4", ["D4 acts on a grid, and the input is a sequence"]),
        ("check causal --group shifts", ["did you mean 'shift'"]),
        ("check causal --data karate", ["karate", "lies on a graph", "takes a sequence"]),
        ("run causal --out o --no-pictures --transform rotate:90", ["rotate acts on a grid", "lives on a sequence"]),
        ("run causal --out o --no-pictures --transform shift:1,wrap", ["boundary must be one of zero, circular"]),
        ("run causal --out o --no-pictures --transform rescale:99", ["rate must lie between 0.1 and 10"]),
        ("run causal --out o --no-pictures --step 5000", [" places, 0 to ", "--step says 5000"]),
        ("export sine --out s.graphml", ["a sequence is not written as .graphml", ".csv"]),
        ("export sine --out s.fasta", ["holds no DNA", ".csv"]),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    said: Any, words: str, parts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(said(*words.split()), *parts)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_judged_says_why(said: Any, tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("a\n1\n")
    assert (
        "an input of 1 step(s) has no element of this group"
        in said("check", "clocked", "--data", tmp_path / "one.csv").out
    )
