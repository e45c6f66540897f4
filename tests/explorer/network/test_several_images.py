"""Networks that take several images, one by its name, or a dict of them: from their file, and as data says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from explorer.app.answering.engine import LocalEngine
from explorer.app.answering.own_inputs import asked, tried
from explorer.data.finding import find_sample
from explorer.declare.elements import parse_chain
from explorer.declare.telling.asking import Declared, parse_declared
from explorer.square.drawing.layers import receptive_field
from explorer.state.state import State
from tests.explorer.parts.own_files import checked_under, written

NETWORKS = """
import torch
from torch import nn

def conv(a, b, mode="circular"):
    return nn.Conv2d(a, b, 3, padding=1, padding_mode=mode)

class Base(nn.Module):
    mode = "circular"
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last = conv(3, 4), conv(4, 2, self.mode)
    def end(self, x, mask=1.0):
        return self.last(self.first(x).relu() * mask)

class Masked(Base):
    input_shape = {"image": (3, None, None), "mask": (1, None, None)}
    def forward(self, image, mask):
        return self.end(image, mask)

class Border(Masked):
    mode = "zeros"

class ByKeyword(Base):
    def forward(self, *, image):
        return self.end(image)

class Dict(Base):
    input_shape = {"image": (3, 12, 12), "mask": (1, 12, 12)}
    def forward(self, batch):
        return {"out": self.end(batch["image"], batch["mask"])}

class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.photo, self.depth = conv(3, 4), conv(1, 4, "zeros")
    def forward(self, seen, far):
        return (self.photo(seen).relu() * self.depth(far).sigmoid()).mean((2, 3))

class Timed(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = conv(3, 4)
    def forward(self, image, time):
        return self.first(image * time)

class Unsaid(Base):
    def forward(self, image, mask):
        return self.end(image, mask)
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    return written(tmp_path, NETWORKS)


DATA = "image=random:1x3x12x12,mask=ramp:1x1x12x12"


@pytest.mark.parametrize("data", ["", DATA, "digit-3"])
@pytest.mark.parametrize("name", ["Masked", "ByKeyword", "Dict"])
def test_arguments_are_given_by_name(name: str, data: str, file: str) -> None:
    assert checked_under("translation", f"{file}:{name}", data).verdict == "holds"


def test_a_fault_is_found_beside_a_second_image(file: str) -> None:
    report = checked_under("translation", f"{file}:Border", DATA)
    assert report.verdict == "broken" and report.guilty == ("last",)


def test_all_images_move_together(file: str) -> None:
    engine = LocalEngine({}, trust=True)
    state = State(f"{file}:Masked", sample=DATA, steps=parse_chain("translate:2,1,circular"))
    frame = engine.answer(state, lambda: False)
    last = [frame, *engine.refine(frame)][-1]
    measure = last.squares[0].measures["last"]
    assert measure.verdict == "holds" and measure.chance is not None and measure.chance > 0.1
    assert [*engine.orbit(state)]
    (note,) = (
        n for n in engine.prepared(State(state.model, sample="digit-3"), state.model).sample.notes if "noise" in n
    )
    assert note == "the data is one image: mask is noise"


def test_data_by_name_are_signals_of_one_sample() -> None:
    sample = find_sample("a=ones:1x2x9x9,b=constant:1x1x9x9=0.3")
    assert list(sample.signals) == ["a", "b"] and sample.signals["b"].values.shape == (1, 9, 9)
    assert np.all(sample.signals["b"].values == np.float32(0.3)) and sample.title.startswith("a: 1 everywhere")
    for wrong, told in (
        ("a=ones:1x2x9x9,a=ones:1x2x9x9", "names an argument twice"),
        ("a=ones:1x2x9x9,b=sine", "a and b are data of different kinds"),
        ("a=ones:1x2x9x9,b=nothing-like-this", "no sample or file 'nothing-like-this'"),
    ):
        with pytest.raises(ValueError, match=told):
            find_sample(wrong)


def test_what_lacks_is_told(file: str) -> None:
    with pytest.raises(ValueError, match="takes image, mask: mask is missing"):
        checked_under("translation", f"{file}:Masked", "image=random:1x3x12x12")
    with pytest.raises(ValueError, match=r"INPUT_SHAPE = \{'image': \(3, None, None\), 't': 'number'"):
        checked_under("translation", f"{file}:Unsaid")


def test_the_form_asks_for_several_images(file: str) -> None:
    said = parse_declared("grid images=image:3xanyxany,mask:1x12xany")
    line = tried(f"{file}:Unsaid", said, True)
    assert line.startswith("image 1×3×12×12, mask 1×1×12×12 → 1×2×12×12")
    (grid,) = (k for k in asked(f"{file}:Masked", True).kinds if k.name == "grid")
    assert {r.question.name: r.text for r in grid.rows} == {
        "shape": "3xanyxany", "images": "image:3xanyxany,mask:1xanyxany", "multiple": "1", "frames": "1",
        "axes": "NCHW", "absent": "",
    }  # fmt: skip
    for wrong in ("images=3x3x3", "images=a:3x3", "images=a:3x3x3,a:3x3x3"):
        with pytest.raises(ValueError):
            tried(f"{file}:Unsaid", Declared("grid", (tuple(wrong.split("=", 1)),)), True)  # type: ignore[arg-type]


def test_a_pixel_is_traced_back_through_a_network_that_takes_names(file: str) -> None:
    engine = LocalEngine({}, trust=True)
    state = State(f"{file}:ByKeyword", sample="digit-3")
    p = engine.prepared(state, state.model)
    seen = receptive_field(p, p.trace["last"], (9, 9), None)
    assert seen[9, 9] > 0 and seen[9, 12] == 0


def test_images_of_several_layers_are_found_by_trial(file: str) -> None:
    report = checked_under("translation", f"{file}:Pair")
    assert report.verdict == "broken" and report.guilty == ("depth",)
    (grid,) = (k for k in asked(f"{file}:Pair", True).kinds if k.name == "grid")
    assert {r.question.name: r.text for r in grid.rows}["images"] == "seen:3xanyxany,far:1xanyxany"


def test_a_number_beside_an_image_is_taken_for_no_image(file: str) -> None:
    with pytest.raises(ValueError, match=r"its forward takes \(image, time\)"):
        checked_under("translation", f"{file}:Timed")


NUMBERS = """
import torch
from torch import nn

class Told(nn.Module):
    input_shape = {"t": "number", "image": (3, None, None), "c": "vector 4", "y": "below 7"}
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Conv2d(3, 8, 3, padding=1, padding_mode="circular")
        self.c, self.y, self.last = nn.Linear(4, 8), nn.Embedding(7, 8), nn.Conv2d(8, 2, 1)
    def forward(self, t, image, c, y):
        by = (self.c(c) + self.y(y))[..., None, None]
        return self.last(torch.sin(self.first(image) * t[:, None, None, None] + by))

class Found(Told):
    input_shape = None
    def forward(self, label, image):
        return self.last(torch.sin(self.first(image) + self.y(label)[..., None, None]))

class Wrong(Told):
    input_shape = {"t": "number"}
"""


def test_numbers_beside_an_image_are_said_by_its_file_or_by_data(tmp_path: Path) -> None:
    file = written(tmp_path, NUMBERS)
    for data in ("", "image=digit-3,t=number:0.25,y=number:6,c=numbers:1,2,3,4", "digit-3"):
        assert checked_under("translation", f"{file}:Told", data).verdict == "holds"
    (grid,) = (k for k in asked(f"{file}:Told", True).kinds if k.name == "grid")
    assert {r.question.name: r.text for r in grid.rows}["images"] == "t:number,image:3xanyxany,c:vector4,y:below7"
    engine = LocalEngine({}, trust=True)
    sample = engine.prepared(State(f"{file}:Told", sample="digit-3"), f"{file}:Told").sample
    assert [*sample.signals] == ["image", "t", "c", "y"]
    assert [n for n in sample.notes if "one image" in n] == [
        "the data is one image: t is 0.5", "the data is one image: c is random:4", "the data is one image: y is 1",
    ]  # fmt: skip
    for data, told in (
        ("image=digit-3,t=number:1,y=number:7,c=random:4", "y takes a whole number from 0 to 6"),
        ("image=digit-3,t=number:1,y=number:0.5,c=random:4", "y takes a whole number from 0 to 6"),
        ("image=digit-3,t=random:3,y=number:1,c=random:4", "t takes one number, and values of shape \\(3,\\)"),
        ("image=digit-3,t=number:1,y=number:1,c=numbers:1,2", "c takes 4 numbers.*'c=random:4'"),
        ("image=digit-3,t=number:1,y=number:1,c=numbers:1,two,3,4", "is no number"),
        ("image=digit-3,t=number:nan,y=number:1,c=random:4", "NaN or an infinite value"),
        ("t=number:1,y=number:1", "numbers alone"),
    ):
        with pytest.raises(ValueError, match=told):
            checked_under("translation", f"{file}:Told", data)
    with pytest.raises(ValueError, match="needs an image"):
        checked_under("translation", f"{file}:Wrong")


def test_numbers_beside_an_image_are_found_by_trial(tmp_path: Path) -> None:
    file = written(tmp_path, NUMBERS)
    assert checked_under("translation", f"{file}:Found").verdict == "holds"
    (grid,) = (k for k in asked(f"{file}:Found", True).kinds if k.name == "grid")
    assert {r.question.name: r.text for r in grid.rows}["images"] == "label:below7,image:3xanyxany"


TEXT = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.embed = nn.Conv2d(1, 16, 3, padding=1), nn.Embedding(50, 16)
        self.text = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    def forward(self, image, tokens):
        return (self.conv(image).mean((2, 3)) * self.text(self.embed(tokens)).mean(1)).sum(-1)
"""


def test_a_text_beside_an_image_is_not_taken_for_one_number(tmp_path: Path) -> None:
    """One token of no batch was looked up: of what the network does with a text nothing was seen."""
    with pytest.raises(ValueError, match=r"its forward takes \(image, tokens\): say INPUT_SHAPE"):
        checked_under("C4", f"{written(tmp_path, TEXT)}:Net")


def test_fillings_keep_numbers_at_no_place() -> None:
    from explorer.data.filling import filling_texts

    sample = find_sample("a=ones:1x2x9x9,c=random:4,t=number:0.25")
    assert filling_texts(sample, ("ramp",), "1x") == ("a=ramp:1x2x9x9,c=ramp:4,t=number:0.25",)
    assert sample.title == "a: 1 everywhere, 2x9x9, c: 4 numbers, t: 0.25"
