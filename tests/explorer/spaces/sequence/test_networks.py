"""Networks of one's own on sequences: which axis is time, what is measured, what is said where it is not clear.

Laws are compared with what torch's modules compute when they are called by hand.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from explorer.app.answering.engine import LocalEngine
from explorer.data.finding import find_sample
from explorer.declare.elements import chain_element, parse_chain
from explorer.declare.inputs import Inputs, as_given, places_first
from explorer.declare.types.field_text import parse_field
from explorer.declare.types.fields import FieldType
from explorer.equivariance import measure
from explorer.equivariance.check import check_equivariance
from explorer.network.opening.loading import file_card
from explorer.network.opening.refusals import ModelError
from explorer.spaces.grid.network.form import InputSpec
from explorer.spaces.sequence.drawing.values import TimePart
from explorer.spaces.sequence.elements.time_map import TimeMap
from explorer.spaces.sequence.fields import STEP, Steps, Strands
from explorer.spaces.sequence.network.form import SequenceInput
from explorer.spaces.sequence.network.inference import time_axis
from explorer.spaces.sequence.network.inputs import LAYOUTS, sequence_inputs
from explorer.spaces.sequence.network.layouts import Unclear, sequence_input
from explorer.square.analyses.orbits import orbit
from explorer.state.state import State
from tests.explorer.parts.command_line import Said, refused

HEAD = "import torch\nfrom torch import nn\n\n"
NETWORKS = """
class Each(nn.Module):
    def __init__(self, batch_first=True):
        super().__init__()
        self.lstm = nn.LSTM(1, 8, batch_first=batch_first)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.lstm(x)[0])

class Last(Each):
    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])

class Turned(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 6, 5, padding=2)
        self.head = nn.Linear(6, 2)

    def forward(self, x):
        return self.head(self.conv(x.transpose(1, 2)).transpose(1, 2).relu())

class Causal(nn.Module):
    def __init__(self):
        super().__init__()
        self.pad = nn.ConstantPad1d((4, 0), 0.0)
        self.conv = nn.Conv1d(1, 6, 5)

    def forward(self, x):
        return self.conv(self.pad(x))

class Attends(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(2, 8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x):
        x = self.up(x)
        return self.attention(x, x, x)[0]

class Fixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 4, 3, padding=1)
        self.head = nn.Linear(4 * 64, 5)

    def forward(self, x):
        return self.head(self.conv(x).flatten(1))

class Running(nn.Module):
    "Sums over axes 0 and 1 alike: its order cannot be told."
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(2, 2)
        self.gru = nn.GRUCell(2, 2)

    def forward(self, x):
        return self.line(x).cumsum(0).cumsum(1)

def each_after():
    return Each(batch_first=False)

def bare():
    return nn.GRU(2, 6)

def temporal():
    return nn.Sequential(nn.Conv1d(1, 6, 5, padding=2), nn.BatchNorm1d(6), nn.ReLU(), nn.Conv1d(6, 2, 3, padding=1))

def encoder():
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 1)

def encoder_after():
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32), 1, enable_nested_tensor=False)

def images():
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(2), nn.Conv1d(2, 2, 1))

def symbols():
    return nn.Sequential(nn.Embedding(9, 4), nn.Linear(4, 2), nn.RNN(2, 2))
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "nets.py"
    path.write_text(HEAD + NETWORKS)
    return path


@pytest.mark.parametrize(
    ("name", "channels", "layout"),
    [
        ("Each", 1, "NTC"), ("Last", 1, "NTC"), ("each_after", 1, "TNC"), ("bare", 2, "TNC"), ("temporal", 1, "NCT"),
        ("Causal", 1, "NCT"), ("Turned", 3, "NTC"), ("encoder", 16, "NTC"), ("encoder_after", 16, "TNC"),
        ("Attends", 2, "NTC"),
    ],
)  # fmt: skip
def test_the_order_of_the_axes_is_found_out(file: Path, name: str, channels: int, layout: str) -> None:
    found = file_card(file, name, trust=True)
    # a sine would leave all channels but one at zero, where no fault shows
    assert found.domain == "sequence" and found.sample == ("sine" if channels == 1 else f"random:128x{channels}")
    assert found.input == SequenceInput(channels=channels, layout=layout)


def test_numbers_of_tokens_are_recognised_by_trial(file: Path) -> None:
    found = file_card(file, "symbols", trust=True)
    assert found.input == SequenceInput(9, "ids", layout="TNC") and found.sample == "alice-characters"
    engine = LocalEngine({}, trust=True)
    frame = engine.answer(State(f"{file}:symbols", sample="text:abca"), lambda: False)
    p = engine.prepared(frame.state, frame.state.model)
    assert p.x.tolist() == [[0], [1], [2], [0]] and p.x.dtype == torch.int64 and p.dtype == torch.float32
    assert p.trace["0"].shape == (4, 1, 4) and str(p.trace["0"].field) == "step scalar"
    with pytest.raises(ValueError, match="holds no text and no whole numbers"):
        engine.answer(State(f"{file}:symbols", sample="sine"), lambda: False)


OWN_ATTENTION = """
import torch
from torch import nn
import torch.nn.functional as F

class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(11, 8), nn.Embedding(16, 8)
        self.qkv, self.head = nn.Linear(8, 24), nn.Linear(8, 11)

    def forward(self, idx, targets=None):
        assert idx.shape[1] <= 16, "the sequence is too long"
        x = self.words(idx) + self.places(torch.arange(idx.shape[1]))
        return self.head(x + F.scaled_dot_product_attention(*self.qkv(x).chunk(3, -1), is_causal=True)), None

class Last(Language):
    def forward(self, idx, targets=None):
        return self.head(self.words(idx)[:, [-1], :]), None

class Recurrent(nn.Module):
    def __init__(self, batch_first=False):
        super().__init__()
        self.words, self.lstm = nn.Embedding(11, 8), nn.LSTM(8, 6, batch_first=batch_first)

    def forward(self, src):
        return self.lstm(self.words(src))[0]

class Translates(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.lstm, self.cell = nn.Embedding(11, 8), nn.LSTM(8, 6), nn.LSTM(8, 6)

    def forward(self, src, trg):
        state = self.lstm(self.words(src))[1]
        outputs = torch.zeros(trg.shape[0], trg.shape[1], 6)
        for t in range(1, len(trg)):
            outputs[t], state = self.cell(self.words(trg[t - 1 : t]), state)
        return outputs

class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.rows = nn.Linear(3 * 8 * 8, 20), nn.Conv1d(16, 16, 1)

    def forward(self, x):
        b, c, h, w = x.shape
        x = x.reshape(b, c, h // 8, 8, w // 8, 8).permute(0, 2, 4, 3, 5, 1).reshape(b, -1, 8 * 8 * c)
        return self.rows(self.tokens(x)).mean(1)
"""


def test_numbers_of_tokens_are_recognised_where_attention_is_made_of_dense_layers(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(OWN_ATTENTION)
    card = file_card(path, "Language", trust=True)
    assert card.input == SequenceInput(11, "ids", 16, "NTC") and card.domain == "sequence"


@pytest.mark.parametrize(
    ("name", "layout", "names"),
    [("Recurrent", "TNC", ()), ("Recurrent(True)", "NTC", ()), ("Translates", "TNC", ("src", "trg"))],
)
def test_steps_of_tokens_lie_where_one_changes_the_answer_at_others(
    name: str, layout: str, names: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "own.py"
    path.write_text(OWN_ATTENTION)
    engine = LocalEngine({}, trust=True)
    card = engine.card(f"{path}:{name}")
    assert card.input == SequenceInput(11, "ids", None, layout, names=tuple((name, ("ids",)) for name in names))
    frame = engine.answer(State(f"{path}:{name}", sample=card.sample, device="cpu"), lambda: False)
    last = frame.squares[0].layers[-1]
    assert last.field is not None and last.field.startswith("step") and last.shape[layout.index("T")] > 1


def test_an_answer_of_an_unknown_field_is_the_reason_why_a_whole_delay_gives_no_verdict(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(OWN_ATTENTION)
    engine = LocalEngine({}, trust=True)
    state = State(f"{path}:Last", steps=parse_chain("shift:5"), device="cpu")
    square = engine.answer(replace(state, sample=engine.card(state.model).sample), lambda: False).squares[0]
    assert square.cut_off.startswith("the field type of the output head is not known")


def test_a_network_on_images_that_mixes_their_patches_is_no_sequence(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(OWN_ATTENTION)
    card = file_card(path, "Mixer", trust=True)
    assert card.domain == "grid" and card.input == InputSpec((3, 32, 32))
    path.write_text(f"{OWN_ATTENTION}\nINPUT_KIND = 'values'\n")
    with pytest.raises(ModelError, match="takes no sequence"):  # what the file says counts
        file_card(path, "Mixer", trust=True)


def test_a_network_on_images_stays_one(file: Path) -> None:
    assert file_card(file, "images", trust=True).domain == "grid"


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ("INPUT_LAYOUT = 'TC'", SequenceInput(channels=1, layout="TC")),
        ("INPUT_KIND = 'tokens'\nINPUT_CHANNELS = 1", SequenceInput(channels=1, kind="tokens", layout="NTC")),
        ("INPUT_STEPS = 40", SequenceInput(channels=1, most=40, layout="NTC")),
    ],
)
def test_what_a_file_says_counts(lines: str, wanted: SequenceInput, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(HEAD + NETWORKS + lines + "\n")
    found = file_card(path, "Each", trust=True)
    assert found.input == wanted
    assert found.sample == ("alice-characters" if wanted.kind == "tokens" else "sine")


def test_a_network_for_so_many_steps_says_how_many(file: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"takes no sequence of 23 steps .*INPUT_STEPS") as caught:
        file_card(file, "Fixed", trust=True)
    assert "\n" not in str(caught.value)
    path = tmp_path / "net.py"
    path.write_text(HEAD + NETWORKS + "INPUT_STEPS = 64\n")
    found = file_card(path, "Fixed", trust=True)
    assert found.input == SequenceInput(channels=1, most=64, layout="NCT")
    frame = LocalEngine({}, trust=True).answer(State(f"{path}:Fixed", sample="sine"), lambda: False)
    assert frame.squares[0].output.shape == (5,) and "the first 64 of 128 steps" in " ".join(frame.sample_notes)


@pytest.mark.parametrize(
    ("name", "lines", "told"),
    [
        ("Running", "", r"x could be .* or .*: say which|x could be .* or .*; say which"),
        ("symbols", "INPUT_KIND = 'ids'\nINPUT_NAMES = 'ids'", "INPUT_NAMES must be names of arguments"),
        ("Each", "INPUT_KIND = 'ids'", "say INPUT_CHANNELS = 30522"),
        ("Each", "INPUT_LAYOUT = 'TCN'", "INPUT_LAYOUT must be one of NTC, TNC, NCT, TC, CT, not 'TCN'"),
        ("Each", "INPUT_KIND = 'words'", "INPUT_KIND must be one of values, tokens, dna"),
        ("Each", "INPUT_KIND = 'values'\nINPUT_CHANNELS = 0", "INPUT_CHANNELS must be a whole number above 0"),
        ("Each", "INPUT_STEPS = 2.5", "INPUT_STEPS must be a whole number above 0"),
    ],
)
def test_what_is_not_clear_is_told_in_one_sentence(name: str, lines: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(HEAD + NETWORKS + lines + "\n")
    with pytest.raises(ModelError, match=told) as caught:
        file_card(path, name, trust=True)
    assert "\n" not in str(caught.value)


def test_a_trial_leaves_the_network_as_it_was() -> None:
    network = nn.Sequential(nn.BatchNorm1d(2), nn.Conv1d(2, 2, 3, padding=1)).train()
    before = {k: v.clone() for k, v in network.state_dict().items()}
    state = torch.get_rng_state()
    assert sequence_input(network, {}).layout == "NCT"
    assert all(torch.equal(before[k], v) for k, v in network.state_dict().items())
    assert all(m.training for m in network.modules()) and torch.equal(state, torch.get_rng_state())
    with pytest.raises(Unclear, match="takes no sequence"):
        sequence_input(nn.Sequential(nn.RNN(2, 2), nn.Linear(2, 1)), {})  # the second is given a tuple


# layouts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_sequence_in_any_order_is_the_same_sequence(layout: str) -> None:
    x = torch.arange(14.0).view(7, 2)
    given = sequence_inputs(x, layout)
    assert given.x.shape == tuple({"N": 1, "T": 7, "C": 2}[letter] for letter in layout)
    assert given.places == 7 and given.field.domain.space == "sequence" and not given.batched
    assert torch.equal(places_first(given.x, given.field).reshape(7, 2), x)
    assert torch.equal(as_given(places_first(given.x, given.field), given.field), given.x)
    field = given.field.declared()
    assert parse_field(str(field)) == field
    moved = chain_element(parse_chain("shift:2+reverse"))
    plain = moved.act(x, STEP)
    assert torch.equal(places_first(moved.act(given.x, given.field), field).reshape(7, 2), plain)
    one, other = moved.known(x, STEP), moved.known(given.x, given.field)
    assert one is not None and other is not None and torch.equal(one, other)
    where = measure.mask(TimeMap(shift=3.0), given.x, field)
    assert torch.equal(
        places_first(measure.masked(given.x, where, field), field).reshape(7, 2), x * (torch.arange(7) >= 3)[:, None]
    )
    assert torch.equal(field.domain.by_channel(given.x)[0], x.t())


@pytest.mark.parametrize(("axis", "shape"), [(0, (5, 4)), (1, (1, 5, 4)), (2, (1, 4, 5))])
def test_strands_are_exchanged_on_the_axis_of_channels(axis: int, shape: tuple[int, ...]) -> None:
    x = torch.rand(shape)
    field = FieldType(Steps(axis), Strands())
    found = TimeMap(backwards=True, complement=True).act(x, field)
    channels = {0: 1, 1: 2, 2: 1}[axis]
    assert torch.equal(found, x.flip(axis).flip(channels))


def test_modules_of_torch_say_which_axis_is_time() -> None:
    assert time_axis(nn.LSTM(2, 2), 3) == 0 and time_axis(nn.LSTM(2, 2, batch_first=True), 3) == 1
    assert time_axis(nn.Conv1d(2, 2, 1), 3) == 2 and time_axis(nn.Conv1d(2, 2, 1), 2) == 1
    assert time_axis(nn.Linear(2, 2), 3) is None and time_axis(nn.BatchNorm1d(2), 2) is None
    layer = nn.TransformerEncoderLayer(4, 2, 4, batch_first=True)
    assert time_axis(nn.TransformerEncoder(layer, 1), 3) == time_axis(layer, 3) == 1


def test_as_many_channels_as_steps_do_not_confuse_them() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv1d(1, 12, 5, padding=2), nn.ReLU(), nn.Conv1d(12, 12, 1)).double()
    report = check_equivariance(network, sequence_inputs(torch.randn(12, 1).double(), "NCT"), "shift")
    assert {row.field for row in report.layers} == {"step scalar on axis 2"} and report.verdict == "holds"


# laws -----------------------------------------------------------------------------------------------------


def checked(file: Path, name: str, sample: str = "sine") -> Any:
    from explorer.app.command.audit import audit

    (report,) = audit(LocalEngine({}, trust=True), State(f"{file}:{name}", sample=sample), "shift", "float64", None, {})
    return report


@pytest.mark.parametrize("name", ["temporal", "Turned", "Causal"])
def test_convolutions_follow_delays(file: Path, name: str) -> None:
    report = checked(file, name)
    assert report.verdict == "holds" and report.layers[-1].cumulative_max < 1e-12
    assert report.layers[-1].chance > 0.1


def test_a_convolution_that_knows_the_step_is_caught() -> None:
    class Clock(nn.Conv1d):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x) + 0.1 * torch.arange(x.shape[-1]).to(x)

    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv1d(1, 4, 3, padding=1), Clock(4, 2, 3, padding=1)).double()
    given = sequence_inputs(torch.randn(40, 1).double(), "NCT")
    report = check_equivariance(network, given, "shift")
    assert report.verdict == "broken" and report.guilty == ("1",)


@pytest.mark.parametrize(
    ("name", "guilty"),
    [("Each", "lstm"), ("Last", "lstm"), ("each_after", "lstm"), ("encoder", "layers.0.self_attn.attention")],
)
def test_what_starts_from_zero_or_hears_everything_does_not(file: Path, name: str, guilty: str) -> None:
    report = checked(file, name)
    assert report.verdict == "broken" and report.guilty == (guilty,)
    assert any(guilty in hint for hint in report.hints)


def test_an_lstm_is_measured_as_by_hand() -> None:
    torch.manual_seed(0)
    lstm = nn.LSTM(2, 3, batch_first=True).double()
    x = torch.randn(30, 2).double()
    moved = torch.cat([torch.zeros(4, 2).double(), x[:-4]])
    with torch.no_grad():
        one, other = (lstm(v[None])[0][0] for v in (x, moved))
    by_hand = float((one[:-4] - other[4:]).norm() / one[:-4].norm())
    given = sequence_inputs(x, "NTC")
    element = TimeMap(shift=4.0)
    field = FieldType(Steps(1))
    with torch.no_grad():
        expected, answer = element.act(lstm(given.x)[0], field), lstm(given.moved(element).x)[0]
    where = measure.mask(element, expected, field)
    assert float(measure.distance(expected, answer, where, field).relative) == pytest.approx(by_hand, rel=1e-12)
    assert by_hand > 1e-3


@pytest.mark.slow
def test_a_frame_of_a_network_with_a_batch_axis_is_as_that_of_one_without(file: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.py"
    plain.write_text(HEAD + NETWORKS + "INPUT_LAYOUT = 'TC'\n")
    engine = LocalEngine({}, trust=True)
    parts = []
    for path, layout in ((file, "each_after"), (file, "Each"), (plain, "Each")):
        state = State(
            f"{path}:{layout}", sample="chirp", steps=parse_chain("warp:0.1,0,0+shift:3"), layer="lstm", node=40,
            orbit="shift", device="cpu",
        )  # fmt: skip
        frame = engine.answer(state, lambda: False)
        for more in engine.refine(frame):
            frame = more
        square = frame.squares[0]
        part = square.of(TimePart)
        assert part is not None and part.gradient is not None and part.kind == "step" and part.steps == 256
        assert square.layer.channels == 8 and part.values.shape == (256, 8) and part.gates["head"].shape == (256, 3)
        assert np.all(part.gradient[41:] == 0) and np.all(part.gradient[36:41] > 0)
        curve = list(orbit(engine.prepared(state, state.model), state, count=6))[-1]
        parts.append((part, square, curve.errors["lstm"]))
    for part, square, errors in parts[1:]:
        first, image, curve_of = parts[0]
        np.testing.assert_allclose(part.values, first.values, atol=1e-6)
        np.testing.assert_allclose(part.moved, first.moved, atol=1e-6)
        assert part.gradient is not None and first.gradient is not None
        np.testing.assert_allclose(part.gradient, first.gradient, rtol=1e-4, atol=1e-7)
        np.testing.assert_allclose(square.fx, image.fx, atol=1e-6)
        np.testing.assert_allclose(errors, curve_of, rtol=1e-4, atol=1e-6)


def test_an_answer_without_a_batch_axis_is_shown_whole(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(HEAD + NETWORKS.replace("[:, -1]", "[-1]") + "INPUT_LAYOUT = 'TC'\n")
    frame = LocalEngine({}, trust=True).answer(State(f"{path}:Last", sample="sine", layer="head"), lambda: False)
    square = frame.squares[0]
    assert square.output.shape == (3,) and square.fx.shape == (3, 1, 1)
    assert square.of(TimePart) is not None and square.of(TimePart).values.shape == (1, 3)
    np.testing.assert_allclose(square.of(TimePart).values[0], square.output, atol=1e-7)


def test_trained_weights_are_put_into_a_network_of_ones_own(file: Path, tmp_path: Path) -> None:
    engine = LocalEngine({}, trust=True)
    state = State(f"{file}:Each", sample="sine")
    network = engine.prepared(state, state.model).model
    weights = tmp_path / "w.safetensors"
    save_file({k: torch.zeros_like(v) for k, v in network.state_dict().items()}, weights)
    frame = engine.answer(State(f"{file}:Each@{weights}", sample="sine"), lambda: False)
    assert not frame.squares[0].output.any()
    assert engine.answer(state, lambda: False).squares[0].output.any()


# several sequences in one file ----------------------------------------------------------------------------


def test_one_of_several_sequences_is_picked(tmp_path: Path) -> None:
    path = tmp_path / "three.jsonl"
    path.write_text('{"x":[1,2,3],"time":[0,1,2]}\n{"x":[4,5,6,7],"time":[5,6,7,9]}\n{"x":[8],"time":[0]}\n')
    second = find_sample(f"{path}#2")
    assert second.x.values[:, 0].tolist() == [4, 5, 6, 7] and "batch" not in second.signals
    assert second.signals["time"].values.tolist() == [5, 6, 7, 9]
    assert second.notes[-1] == "sequence 2 of 3, 4 steps" and "3 sequences of 3, 4, 1 steps" in second.notes
    assert find_sample("unequal-lengths#3").x.values.shape == (30, 1)
    assert [find_sample(text).parts for text in (str(path), f"{path}#2", "unequal-lengths#3", "sine")] == [3, 3, 4, 1]
    letters = tmp_path / "two.fa"
    letters.write_text(">a\nACGT\n>b\nTTG\n")
    assert find_sample(f"{letters}#2").names == ("T", "T", "G")
    hashed = tmp_path / "odd#2"
    hashed.write_text('{"x":[1]}\n')
    hashed = hashed.rename(tmp_path / "odd#2.jsonl")
    assert find_sample(str(hashed)).x.values.tolist() == [[1.0]], "a file of that very name comes first"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("three.jsonl#4", "no part '4': it holds 3 sequences, #1 to #3"),
        ("three.jsonl#0", "no part '0'"),
        ("three.jsonl#b", "no part 'b'"),
        ("three.jsonl#1.5", "no part '1.5'"),
        ("one.csv#2", "no part '2': it holds one sequence, #1"),
        ("sine#2", "no part '2': it holds one sequence, #1"),
        ("karate#2", "no part '2'"),
        ("missing.jsonl#2", "missing.jsonl"),
    ],
)
def test_a_part_that_is_not_there_is_told(text: str, told: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("three.jsonl").write_text('{"x":[1,2,3]}\n{"x":[4,5]}\n{"x":[8]}\n')
    Path("one.csv").write_text("a\n1.5\n2.5\n")
    with pytest.raises(ValueError, match=told.replace("(", r"\(")) as caught:
        find_sample(text)
    assert "\n" not in str(caught.value)


def test_a_check_measures_the_first_sequences_of_a_file(file: Path, run: Any, tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    rows = np.random.default_rng(0).normal(size=(6, 40)).round(3).tolist()
    path.write_text("".join(f'{{"x": {row}}}\n' for row in rows))

    def check(data: str) -> Said:
        found: Said = run("check", f"{file}:temporal", "--trust", "--group", "shift", "--data", data, "--json")
        return found

    several, one = check(str(path)), check(f"{path}#6")
    assert (several.code, several.json["verdict"], several.json["samples"]) == (0, "holds", 4)
    assert (one.code, one.json["samples"]) == (0, 1)
    refused(check(f"{path}#7"), "no part '7'", "#1 to #6")


def test_a_part_of_a_file_that_has_changed_is_read_again(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "two.jsonl"
    path.write_text('{"x":[1,2,3]}\n{"x":[4,5]}\n')
    engine = LocalEngine({}, trust=True)
    state = State(f"{file}:temporal", sample=f"{path}#2")
    assert len(engine.prepared(state, state.model).sample.x.values) == 2  # type: ignore[union-attr]
    assert engine.answer(state, lambda: False).sample_parts == 2
    path.write_text('{"x":[1,2,3]}\n{"x":[4,5,6,7,8]}\n')
    assert len(engine.prepared(state, state.model).sample.x.values) == 5  # type: ignore[union-attr]


def test_inputs_are_what_a_network_is_called_with(file: Path) -> None:
    engine = LocalEngine({}, trust=True)
    p = engine.prepared(State(f"{file}:temporal", sample="sine"), f"{file}:temporal")
    assert isinstance(p.inputs, Inputs) and p.x.shape == (1, 1, 128) and p.inputs.places == 128
    np.testing.assert_array_equal(p.x[0].t().numpy(), find_sample("sine").x.values)


def test_numbers_of_tokens_have_no_silence_to_come_in() -> None:
    """Count as a token what enters at the front, so that a network that hears it is not at fault."""

    class Reader(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.lstm = nn.Embedding(9, 4), nn.LSTM(4, 4, batch_first=True)

        def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
            heard, _ = self.lstm(self.embed(ids))
            return heard, heard.mean(1)

    torch.manual_seed(0)
    ids = Inputs((torch.randint(1, 9, (1, 14)),), (FieldType(Steps(1)),))
    report = check_equivariance(Reader(), ids, "shift")
    assert report.verdict == "no law" and not report.guilty
    assert any("something else comes in at the other end: there is a curve" in note for note in report.warnings)


BESIDE = """
import torch
from torch import nn


class Voice(nn.Module):
    def __init__(self):
        super().__init__()
        self.near, self.gain, self.out = nn.Conv1d(8, 16, 5, padding=2), nn.Linear(6, 16), nn.Conv1d(16, 8, 1)

    def forward(self, mel, speaker):
        return mel + self.out(self.near(mel).relu() * (1 + self.gain(speaker)[..., None]))


"""


def test_a_file_says_the_width_of_each_argument_whatever_other_spaces_ask_of_one(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(f"{BESIDE}\nINPUT_CHANNELS = {{'mel': 8, 'speaker': 'vector 6'}}\n")
    found = file_card(path, "Voice", trust=True).input
    assert isinstance(found, SequenceInput) and found.sequences == (("mel", (8,)), ("speaker", ("vector", 6)))


def test_the_order_of_axes_that_nobody_declares_is_tried(tmp_path: Path, run: Any) -> None:
    path = tmp_path / "own.py"
    path.write_text(BESIDE)
    sequences = "sequences=mel:8,speaker:vector6"
    said = run("check", f"{path}:Voice", "--trust", "--group", "shift", "--input", f"sequence {sequences}")
    assert said.code == 0 and "verdict: holds" in said.out
    said = run("check", f"{path}:Voice", "--trust", "--group", "shift", "--input", f"sequence {sequences} layout=NTC")
    assert said.code == 2 and "layer near raised" in said.err  # what is said counts
