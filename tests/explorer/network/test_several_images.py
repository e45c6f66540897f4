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
    with pytest.raises(ValueError, match=r"INPUT_SHAPE = \{'image': \(channels, height, width\), \.\.\.\}"):
        checked_under("translation", f"{file}:Unsaid")


def test_the_form_asks_for_several_images(file: str) -> None:
    said = parse_declared("grid images=image:3xanyxany,mask:1x12xany")
    line = tried(f"{file}:Unsaid", said, True)
    assert line.startswith("image 1×3×12×12, mask 1×1×12×12 → 1×2×12×12")
    (grid,) = (k for k in asked(f"{file}:Masked", True).kinds if k.name == "grid")
    assert {r.question.name: r.text for r in grid.rows} == {
        "shape": "3xanyxany", "images": "image:3xanyxany,mask:1xanyxany", "multiple": "1",
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
