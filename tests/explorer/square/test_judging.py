"""A frame and an audit judge by the same limits, whatever precision a network or one number of it has."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from explorer.app.answering.engine import LocalEngine
from explorer.app.command.audit import audit
from explorer.data.finding import find_sample
from explorer.declare.elements import chain_element, parse_chain
from explorer.equivariance.check import check_equivariance
from explorer.equivariance.verdict.sentences import ELSEWHERE, HIDDEN
from explorer.network.input.inputs import inputs_from
from explorer.spaces.grid.network.form import InputSpec
from explorer.square.evaluate import refine, square
from explorer.square.frame import Square
from explorer.square.judging import judged
from explorer.square.preparing.prepare import DTYPES, prepare
from explorer.state.state import State
from tests.explorer.parts.networks import GlobalMean, conv
from tests.explorer.parts.small_cards import card

SHAPE = (1, 29, 29)


class Shares(nn.Module):
    """Multiplies with one number, which may be stored coarsely."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.share = nn.Parameter(torch.tensor(0.5, dtype=dtype))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.share.to(x.dtype)


class Places(nn.Module):
    """Adds a table by position, stored in half precision."""

    def __init__(self, size: float) -> None:
        super().__init__()
        self.table = nn.Parameter((size * torch.randn(29, 29)).half())

    def forward(self, x: Tensor) -> Tensor:
        return x + self.table.to(x.dtype)


class Low(nn.Module):
    """A convolution that rounds in bfloat16; with a fault, its right half is a little more than its left."""

    def __init__(self, fault: float) -> None:
        super().__init__()
        self.fault, self.conv = fault, nn.Conv2d(1, 4, 3, padding=1, padding_mode="circular")

    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            h = self.conv(x)
        return (h * (1 + self.fault * torch.linspace(-1, 1, h.shape[-1]).bfloat16())).float()


def round_net(fault: bool = False) -> nn.Module:
    """Return a network on the torus, whose filters are symmetric under D4; with a fault, those of its second layer."""
    layers = [conv(1, 4, padding_mode="circular"), nn.ReLU(), conv(4, 4, fault=fault, padding_mode="circular")]
    return nn.Sequential(*layers, nn.ReLU(), GlobalMean(), nn.Linear(4, 10))


def complete(model: nn.Module, steps: str, dtype: str = "float64") -> Square:
    """Return the square of a network with every layer measured, as the window shows it."""
    made = card("net", lambda: model, input=InputSpec(SHAPE))
    sample = find_sample("digit-3")
    p = prepare(
        made, copy.deepcopy(model).eval(), sample, device=torch.device("cpu"), dtype=DTYPES[dtype], declared=False
    )
    state = State(steps=parse_chain(steps))
    found, answers = square(p, state)
    for measures in refine(p, state, answers, found.measures):
        element = chain_element(state.steps).on(p.inputs)
        found = judged(p, found, measures, element)
    return found


def image() -> Tensor:
    form = InputSpec(SHAPE)
    return inputs_from(find_sample("digit-3"), form, torch.device("cpu"), torch.float64).x


@pytest.mark.parametrize(
    ("steps", "group"), [("rotate:90", "C4"), ("reflect:vertical", "D4"), ("translate:3,-2", "translation")]
)
def test_one_coarse_number_excuses_no_fault(steps: str, group: str) -> None:
    """A number of bfloat16 says nothing of the filters beside it."""
    torch.manual_seed(1)
    first, second = conv(1, 4, padding_mode="circular"), conv(4, 4, padding_mode="circular")
    net = nn.Sequential(first, Shares(torch.bfloat16), second, Places(0.1), nn.ReLU(), GlobalMean())
    report = check_equivariance(copy.deepcopy(net), image(), group)
    shown = complete(net, steps)
    assert report.guilty == shown.guilty == ("3",)
    assert shown.measures["0"].verdict == shown.measures["2"].verdict == "holds"


@pytest.mark.parametrize("steps", ["rotate:90", "translate:3,-2"])
def test_a_frame_judges_every_layer_as_the_audit_does(steps: str) -> None:
    for model in (round_net(), round_net(fault=True), round_net().half().float()):
        report = check_equivariance(copy.deepcopy(model), image(), "C4" if "rotate" in steps else "translation")
        shown = complete(model, steps)
        assert (shown.verdict, shown.guilty) == (report.verdict, report.guilty)
        assert {n: m.verdict for n, m in shown.measures.items()} == {row.name: row.verdict for row in report.layers}
        for row in report.layers:
            assert shown.measures[row.name].tolerance == pytest.approx(row.tolerance, rel=3)


class Towers(nn.Module):
    """Filters of two orientations that are meant to be one; a copy of one was trained a little further."""

    def __init__(self, apart: float) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.first = nn.Conv2d(1, 4, 3, padding=1)
        self.second = copy.deepcopy(self.first)
        with torch.no_grad():
            self.second.weight[0, 0, 0, 0] += apart

    def forward(self, x: Tensor) -> Tensor:
        back = torch.rot90(self.second(torch.rot90(x, 2, (2, 3))), -2, (2, 3))
        return self.first(x) + back


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_storing_excuses_no_small_difference_of_filters_that_code_turns(dtype: str) -> None:
    """A half turn exchanges the filters, and single precision stores both alike: 1e-5 is a fault."""
    verdicts = {apart: complete(Towers(apart), "rotate:180", dtype).verdict for apart in (0.0, 1e-5)}
    assert verdicts == {0.0: "holds", 1e-5: "broken"}


def test_nothing_is_proved_by_the_identity() -> None:
    shown = complete(round_net(fault=True), "")
    assert {m.verdict for m in shown.measures.values()} == {shown.verdict} == {"unmoved"} and shown.guilty == ()


class Turns(nn.Module):
    """Multiplies by i twice: without imaginary parts nothing would be left."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = nn.Parameter(torch.tensor([0 + 1j]))

    def forward(self, x: Tensor) -> Tensor:
        return (x * self.turn * self.turn).real


def test_complex_weights_stay_complex_in_the_window() -> None:
    shown = complete(nn.Sequential(Turns(), conv(1, 1)), "rotate:90", "float32")
    assert shown.fx.max() > 0 or shown.fx.min() < 0
    assert shown.measures["0"].verdict == "holds"


class Single(nn.Module):
    """Makes numbers of torch's own precision, which cannot be multiplied with those of another."""

    def forward(self, x: Tensor) -> Tensor:
        return x @ torch.ones(x.shape[-1], x.shape[-1])


def test_a_network_of_one_precision_opens_and_is_checked(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "import torch\nfrom torch import nn\n\n\n"
        "class Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.conv = nn.Conv2d(1, 2, 1)\n\n"
        "    def forward(self, x):\n        return self.conv(x) @ torch.eye(29)\n\n\n"
        "INPUT_SHAPE = (1, 29, 29)\n"
    )
    assert complete(nn.Sequential(Single(), GlobalMean()), "translate:3,-2", "float32").layers
    engine = LocalEngine({}, trust=True)
    state = State(model=f"{tmp_path / 'net.py'}:Net", sample="digit-3")
    (report,) = audit(engine, state, "translation", "float64", None, {})
    assert report.dtype == "float32" and any("runs in float32 only" in note for note in report.warnings)
    assert all(row.floor >= torch.finfo(torch.float32).eps for row in report.layers)  # of the precision that it ran in
    engine.close()


class Tilt(nn.Module):
    """Adds a ramp along the rows."""

    def __init__(self, size: float) -> None:
        super().__init__()
        self.size = size

    def forward(self, x: Tensor) -> Tensor:
        return x + self.size * torch.linspace(0, 1, x.shape[-1], dtype=x.dtype, device=x.device)


def nearly_constant(tilt: float) -> nn.Module:
    """Return a network whose answers are nearly one number, as they are before a training."""
    torch.manual_seed(0)
    net = nn.Sequential(
        conv(1, 4, padding_mode="circular"), nn.SiLU(), Tilt(tilt), conv(4, 4, padding_mode="circular"), nn.SiLU(),
        GlobalMean(), nn.Linear(4, 10),
    )  # fmt: skip
    with torch.no_grad():
        net[-1].weight.mul_(1e-4)
        net[-1].bias.fill_(1.0)
    return net


@pytest.mark.parametrize("tilt", [0.1, 0.0])
def test_a_fault_below_the_rounding_of_a_short_run_is_found_in_double(tilt: float) -> None:
    found = complete(nearly_constant(tilt), "translate:3,2,circular", "float32")
    last = found.measures["6"]
    assert last.cumulative is not None and last.cumulative < last.tolerance  # single precision acquits the answer
    assert (found.verdict, found.guilty) == (("broken", ("2",)) if tilt else ("holds", ()))


class Weighs(nn.Module):
    """Weighs channels by their means, which its own code takes with a slope over the rows."""

    def __init__(self, slope: float) -> None:
        super().__init__()
        self.down, self.up = nn.Linear(4, 3), nn.Linear(3, 4)
        self.slope = slope

    def forward(self, x: Tensor) -> Tensor:
        rows = torch.linspace(1 - self.slope, 1 + self.slope, x.shape[-2], dtype=x.dtype)[:, None]
        shares = torch.sigmoid(self.up(torch.tanh(self.down((x * rows).mean((-2, -1))))))
        return x * shares[:, :, None, None]


class Block(nn.Module):
    """Adds what two layers make of x."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.conv, self.inner = conv(4, 4, padding_mode="circular"), inner

    def forward(self, x: Tensor) -> Tensor:
        return x + torch.tanh(self.inner(self.conv(x)))


def weighing(slope: float) -> nn.Module:
    torch.manual_seed(4)
    blocks = [Block(nn.Identity()), Block(Weighs(slope)), Block(nn.Identity())]
    return nn.Sequential(conv(1, 4, padding_mode="circular"), *blocks, GlobalMean())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("slope", "guilty"), [(0.0, ()), (0.05, ("2.inner",)), (0.5, ("2.inner",))])
def test_the_code_of_a_module_that_holds_others_is_guilty(slope: float, guilty: tuple[str, ...], dtype: str) -> None:
    """Its own layers obey their laws, and what it makes wrong may be less than the rounding of single precision."""
    net = weighing(slope)
    assert check_equivariance(copy.deepcopy(net), image(), "translation").guilty == guilty
    found = complete(net, "translate:5,3", dtype)
    assert (found.verdict, found.guilty) == ("broken" if guilty else "holds", guilty)
    assert all(found.measures[name].verdict == "broken" for name in guilty)
    assert (HIDDEN in found.hints) == (slope == 0.05 and dtype == "float32")


def test_a_module_that_holds_others_is_asked_alone_where_a_fault_came_before_it() -> None:
    report = check_equivariance(weighing(0.5), image(), "translation")
    found = complete(weighing(0.5), "translate:5,3").measures
    assert {n: m.verdict for n, m in found.items()} == {row.name: row.verdict for row in report.layers}
    inherits = found["3"]
    assert inherits.seen and inherits.verdict == "holds" and inherits.local is not None


def test_chance_is_measured_where_sides_are_exchanged() -> None:
    net = nn.Sequential(conv(1, 4, padding_mode="circular"), nn.ReLU())
    made = card("net", lambda: net, input=InputSpec((1, None, None)))
    sample = find_sample("random:1x1x12x16")
    p = prepare(made, net.eval(), sample, device=torch.device("cpu"), dtype=torch.float64, declared=False)
    state = State(steps=parse_chain("rotate:90"))
    found, answers = square(p, state)
    for measures in refine(p, state, answers, found.measures):
        assert all(m.chance is not None and m.chance > 0.1 for m in measures.values())


class Closed(nn.Module):
    """Shows nothing but its answer, as a program that was compiled does."""

    def __init__(self, mode: str) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.weights = nn.ParameterList(torch.randn(4, c, 3, 3) / 3 for c in (1, 4))
        self.mode = "constant" if mode == "zeros" else "circular"

    def forward(self, x: Tensor) -> Tensor:
        for weight in self.weights:
            x = torch.conv2d(nn.functional.pad(x, (1, 1, 1, 1), mode=self.mode), weight, torch.ones(4).to(x)).relu()
        return x.mean((2, 3))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("mode", "verdict"), [("zeros", "broken"), ("circular", "holds")])
def test_a_fault_at_an_empty_border_of_a_network_that_shows_its_answer_alone(
    mode: str, verdict: str, dtype: str
) -> None:
    """A digit that is shifted by 2 px keeps off the border: its answer stays, that of other numbers does not."""
    model = Closed(mode).to(DTYPES[dtype])
    found = complete(model, "translate:2,1", dtype)
    assert found.verdict == check_equivariance(model.double(), torch.rand(2, *SHAPE), "translation").verdict == verdict
    assert found.guilty == (("output",) if verdict == "broken" else ())
    measured = found.measures["output"]
    assert measured.cumulative is not None and measured.cumulative < 1e-5
    if dtype == "float32":  # in double precision the faint edge of the digit shows it
        assert ("on other numbers" in " ".join(found.hints)) == (verdict == "broken")


def test_a_layer_that_is_given_resampled_values_is_not_judged_alone() -> None:
    """A shift by three pixels is none of half as many: the stride makes the fault, and the mean has a law without."""
    torch.manual_seed(0)
    layers = [nn.Conv2d(1, 4, 3, padding=1, padding_mode="circular"), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    found = complete(nn.Sequential(*layers, GlobalMean(), nn.Linear(4, 10)), "translate:3")
    mean = found.measures["3"]
    assert mean.exact and mean.cumulative is not None and mean.cumulative > 1e-3
    assert mean.local is None and mean.verdict == "no law" and mean.seen
    assert found.verdict == "broken" and found.guilty == ()


def test_a_layer_that_is_given_whole_shifts_is_judged_alone() -> None:
    torch.manual_seed(0)
    layers = [nn.Conv2d(1, 4, 3, padding=1, padding_mode="circular"), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 29**2, 3)]
    found = complete(nn.Sequential(*layers), "translate:3")
    assert found.verdict == "broken" and found.guilty == ("3",)


ATTENDS = """
import torch
from torch import nn

class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.places = nn.Parameter(torch.randn(64, 4))

    def forward(self, x):
        return x + self.places[: x.shape[-2]]

class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(4, 12)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        return (q @ k.transpose(-2, -1)).softmax(-1) @ v

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = Table()
        self.attend = Attend()

    def forward(self, x):
        return self.attend(self.table(x))
"""


def test_a_value_within_a_layer_that_obeys_its_law_shows_the_fault_of_an_earlier_one(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(ATTENDS)
    engine = LocalEngine({}, trust=True)
    state = State(f"{tmp_path / 'net.py'}:Net[set signals=x channels=4]", steps=parse_chain("permute:1"))
    *_, frame = engine.refine(engine.answer(state, lambda: False))
    square = frame.squares[0]
    attention = square.measures["attend.attention"]
    assert square.guilty == ("table",) and square.measures["attend"].verdict == "holds"
    assert attention.local is None and attention.seen and attention.verdict == "holds"


class Positions(nn.Module):
    """Adds a table of positions in its own forward, between layers that obey their law."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(29, 29, generator=torch.Generator().manual_seed(0)))
        self.conv, self.mean, self.head = conv(1, 4, padding_mode="circular"), GlobalMean(), nn.Linear(4, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.mean(torch.relu(self.conv(x + self.table))))


def test_a_fault_that_no_layer_makes_is_told_where_it_shows_and_why() -> None:
    found = complete(Positions(), "rotate:90")
    assert (found.verdict, found.guilty, found.shows) == ("broken", (), "conv")
    assert found.hints[-1].startswith("the fault first shows in conv, but alone conv obeys its law: what it is given")
    assert complete(round_net(fault=True), "rotate:90").shows == ""


@pytest.mark.parametrize("fault", [0.0, 0.05])
def test_a_fault_that_may_be_rounding_has_no_verdict(fault: float) -> None:
    torch.manual_seed(0)
    found = complete(Low(fault), "translate:3,0", "float32")
    assert found.verdict == ("no law" if fault else "holds")
    assert ("in bfloat16 that may be rounding or a fault" in found.message) == bool(fault)


BORDER = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.a = nn.Conv2d(1, 4, 3, padding=1, padding_mode="circular", bias=False)
        self.b = nn.Conv2d(4, 4, 3, padding=1, padding_mode=MODE, bias=False)

    def forward(self, x):
        return self.b(torch.relu(self.a(x))).amax((2, 3))
"""


@pytest.mark.parametrize(("mode", "told"), [("zeros", (ELSEWHERE,)), ("circular", ())])
def test_a_fault_that_this_input_does_not_show_is_told_as_one_of_others(
    tmp_path: Path, mode: str, told: tuple[str, ...]
) -> None:
    """`check` finds it on other samples; the window said "holds at every layer" and no more."""
    path = tmp_path / "net.py"
    path.write_text(BORDER.replace("MODE", repr(mode)))
    engine = LocalEngine({}, trust=True)
    try:
        wanted = State(f"{path}:Net", sample="digit-3", steps=parse_chain("translate:1"), device="cpu")
        *_, frame = engine.refine(engine.answer(wanted, lambda: False))
    finally:
        engine.close()
    assert (frame.squares[0].verdict, frame.squares[0].hints) == ("holds", told)
