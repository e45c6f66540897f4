"""Declarations of what a network takes: written and read as text and beside the file, never executed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from explorer.app.answering.own_inputs import asked, remembered, tried
from explorer.declare.states.model_name import files_of, split_input, split_name, with_input
from explorer.declare.telling.asking import ANY, Declared, declared_from, parse_declared
from explorer.network.input.declared import remembered_inputs
from explorer.network.opening.loading import find_card
from explorer.network.opening.refusals import ModelError, Unknown
from explorer.square.space import spaces

NET = """
from torch import nn

class Flat(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(27, 4)

    def forward(self, x):
        return self.dense(x.flatten(1))
"""
SAID = Declared("grid", (("shape", "3x3x3"),))


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(NET)
    return path


@pytest.mark.parametrize("space", spaces().values(), ids=lambda space: space.name)
def test_every_form_is_written_and_read_again(space: object) -> None:
    from explorer.square.space import Space

    assert isinstance(space, Space) and space.form is not None
    form = space.form()
    answers = tuple((q.name, q.write(getattr(form, q.name))) for q in space.asks())
    said = Declared(space.kinds[0].name, answers)
    assert answers and parse_declared(said.text()) == said == declared_from(said.to_json())
    assert space.declared(said) == form
    name = with_input("net.py:Net@w.safetensors", said.text())
    assert split_input(name) == ("net.py:Net@w.safetensors", said.text())
    assert split_name(name) == (f"net.py:Net[{said.text()}]", "w.safetensors")
    assert with_input(name, "") == "net.py:Net@w.safetensors"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("grid shape=0x3x3", "'0' is no whole number"),
        ("grid shape=anyx3x3", "'any' is no whole number"),
        ("grid shape=3x3", "3 sizes"),
        ("grid size=3", "has no 'size'; it has shape"),
        ("mesh signals=edge_index,x", "begins with x"),
        ("graph signals=x,x", "twice"),
        ("graph signals=edge_index", "with x or number or adjacency among them"),
        ("points signals=edge_index", "something that lies on them"),
        ("graph given=backwards", "none of order, names, object"),
        ("graph features=wrong", "none of seeds, atoms"),
        ("plane", "no kind of data; the kinds are"),
        ("grid shape", "is not NAME=VALUE"),
        ("grid shape=99999999999999999999x3x3", "no whole number"),
    ],
)
def test_what_is_said_wrongly_is_one_sentence(net: Path, text: str, part: str) -> None:
    with pytest.raises(Unknown) as caught:
        find_card(f"{net}:Flat[{text}]", {}, trust=True)
    assert part in str(caught.value) and len(str(caught.value)) < 400


def test_what_is_remembered_beside_a_file_is_what_its_network_takes(net: Path) -> None:
    with pytest.raises(Unknown, match="takes 27 numbers"):
        find_card(f"{net}:Flat", {}, trust=True)
    found = asked(f"{net}:Flat", trust=True)
    shown = {kind.name: kind for kind in found.kinds}
    assert found.kind == "grid" and shown["grid"].rows[0].text == "3x3x3"
    assert (
        "its first layer takes 27 numbers" in shown["grid"].rows[0].why
        and {row.question.name: row.text for row in shown["graph"].rows}["most"] == ANY
    )
    assert "3×3×3 → 1×4" in tried(f"{net}:Flat", SAID, trust=True)
    path = remembered(f"{net}:Flat", SAID)
    assert path.name == "net.equiscope.json" and str(path) in files_of(f"{net}:Flat")
    card = find_card(f"{net}:Flat", {}, trust=True)
    assert card.input == spaces()["grid"].declared(SAID)
    again = asked(f"{net}:Flat", trust=True)
    assert again.why == "net.equiscope.json says so" and not again.problem
    # what is said now counts for more than what is remembered
    said = find_card(f"{net}:Flat[grid shape=27x1x1]", {}, trust=True)
    assert said.input == spaces()["grid"].declared(Declared("grid", (("shape", "27x1x1"),)))


def test_numbers_that_are_taken_for_an_image_are_told(tmp_path: Path) -> None:
    path = tmp_path / "flat.py"
    path.write_text(NET.replace("27", "192"))
    card = find_card(f"{path}:Flat", {}, trust=True)
    assert card.notes == ("the 192 numbers that it takes are taken for images of 3x8x8; --input says what they are",)


@pytest.mark.parametrize(
    "text",
    [
        "{", "[]", "\x00", '{"equiscope_inputs": 2, "inputs": {}}', '{"equiscope_inputs": 1, "inputs": []}',
        '{"equiscope_inputs": 1, "inputs": {"Flat": {"data": 3}}}', '{"equiscope_inputs": 1, "inputs": {"Flat": 1}}',
        "[" * 100_000, '{"equiscope_inputs": 1, "inputs": {"Flat": {"data": "grid", "shape": [1]}}}',
    ],
)  # fmt: skip
def test_a_damaged_file_is_told_in_a_line_and_written_anew(net: Path, text: str) -> None:
    path = net.parent / "net.equiscope.json"
    path.write_text(text)
    with pytest.raises(Unknown) as caught:
        find_card(f"{net}:Flat", {}, trust=True)
    assert "net.equiscope.json" in str(caught.value) and "damaged" in str(caught.value)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300
    assert "damaged" in asked(f"{net}:Flat", trust=True).problem
    remembered(f"{net}:Flat", SAID)
    assert remembered_inputs(net) == {"Flat": SAID}


def test_two_networks_of_a_file_are_remembered_apart(net: Path) -> None:
    remembered(f"{net}:Flat", SAID)
    remembered(f"{net}:Other", Declared("set"))
    held = json.loads((net.parent / "net.equiscope.json").read_text())
    assert held["inputs"] == {"Flat": {"data": "grid", "shape": "3x3x3"}, "Other": {"data": "set"}}
    assert not [p for p in net.parent.iterdir() if p.name.startswith(".")]


def test_a_forward_that_fails_is_named_with_its_line(net: Path) -> None:
    with pytest.raises(ModelError, match=r"net\.py, line 10"):
        tried(f"{net}:Flat", Declared("grid", (("shape", "1x4x4"),)), trust=True)


UNTOLD = """
import torch
from torch import nn

class Rows(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.mix, self.head = nn.Linear(28, 32), nn.MultiheadAttention(32, 4), nn.Linear(32, 10)

    def forward(self, x):
        y = self.embed(x[:, 0])
        return self.head(self.mix(y, y, y)[0].mean(1))

class Kernel(nn.Module):
    def __init__(self):
        super().__init__()
        self.filters = nn.Parameter(torch.randn(7))

    def forward(self, x):
        return torch.fft.irfft(torch.fft.rfft(x) * torch.fft.rfft(self.filters, x.shape[-1]), x.shape[-1])

class Blocks(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.LazyLinear(32), nn.ReLU(), nn.Linear(32, 8))

    def forward(self, x):
        return self.net(x.flatten(1))

class Pools(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.AvgPool2d(3, 1, 1)

    def forward(self, x):
        return self.pool(x)

class Unfolds(nn.Module):
    def __init__(self):
        super().__init__()
        self.filters = nn.Parameter(torch.randn(2, 9))

    def forward(self, x):
        b, c, h, w = x.shape
        return (self.filters @ nn.functional.unfold(x, 3, padding=1)).view(b, 2, h, w)
"""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Kernel", "runs on an image or .*a sequence.*--input"),
        ("Blocks", "made for as many numbers as it is first given.*INPUT_SHAPE.*INPUT_CHANNELS.*INPUT_SIGNALS"),
    ],
)
def test_what_runs_in_several_ways_is_asked_for(name: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(UNTOLD)
    with pytest.raises(Unknown) as caught:
        find_card(f"{path}:{name}", {}, trust=True)
    assert re.search(said, str(caught.value)[: 300 + len(str(path))]), "a longer sentence is cut off"


@pytest.mark.parametrize("name", ["Unfolds", "Rows", "Pools"])  # 32 steps without a batch would run through the rows
def test_what_runs_on_images_alone_is_a_network_of_images(name: str, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(UNTOLD)
    assert find_card(f"{path}:{name}", {}, trust=True).domain == "grid"
