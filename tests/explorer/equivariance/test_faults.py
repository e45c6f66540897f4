"""Verdicts: exact networks pass, planted faults are caught and named, nothing is said that cannot be known."""

from __future__ import annotations

import copy
import re
from collections import OrderedDict
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from equiscope import sequence
from explorer.declare.groups import cyclic
from explorer.declare.types.fields import Regular, Scalar
from explorer.equivariance.check import check_equivariance
from explorer.equivariance.trial.precision.rounding import stored
from explorer.spaces.grid.network.stimulus import noise
from tests.explorer.parts.networks import (
    GlobalMean,
    GroupMax,
    Steerable,
    conv,
    group_cnn,
    resymmetrise,
    three,
)


def image(side: int = 9, batch: int = 2, channels: int = 1) -> Tensor:
    return noise((batch, channels, side, side), 0, torch.float32)


def classifier(fault: str = "", side: int = 13) -> nn.Sequential:
    """Return a D4-invariant classifier, or one with a planted fault."""
    layers: OrderedDict[str, nn.Module] = OrderedDict(conv1=conv(1, 4), relu1=nn.ReLU())
    if fault == "padding":
        layers |= {"pad": nn.ZeroPad2d((2, 0, 2, 0)), "conv2": conv(4, 4, padding=0)}
    else:
        layers["conv2"] = conv(4, 4, fault=fault == "filter")
    layers |= {"relu2": nn.ReLU(), "conv3": conv(4, 4, stride=2), "mean": GlobalMean(), "head": nn.Linear(4, 3)}
    if fault == "flatten":
        layers |= {"mean": nn.Flatten(), "head": nn.Linear(4 * ((side + 1) // 2) ** 2, 3)}
    return nn.Sequential(layers)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", ["C4", "D4"])
def test_group_convolutional_networks_hold_in_both_precisions(name: str, dtype: torch.dtype) -> None:
    report = check_equivariance(group_cnn(name), image(), name, dtype=dtype)
    assert report.verdict == "holds" and report.guilty == () and report.group == name
    assert [row.field for row in report.layers][:5] == [f"grid regular({name})"] * 4 + ["grid scalar"]
    assert report["head"].cumulative_max < (1e-5 if dtype == torch.float32 else 1e-14)


@pytest.mark.parametrize("name", ["C4", "D4"])
def test_orientations_turned_the_wrong_way_are_found(name: str) -> None:
    report = check_equivariance(group_cnn(name, wrong=True), image(), name)
    assert report.verdict == "broken" and report.guilty == ("mix",)
    assert report["mix"].local > 0.1 and report["lift"].verdict == "holds"


@pytest.mark.parametrize(
    ("fault", "side", "guilty", "hint"),
    [
        ("", 13, (), None),
        ("filter", 13, ("conv2",), "its filters are not symmetric under quarter turns and mirrors"),
        ("", 12, ("conv3",), "stride 2 on an input of 12x12 samples off-centre"),
        ("padding", 13, ("pad",), r"padding \(2, 0, 2, 0\) differs between the sides"),
        ("flatten", 13, ("head",), "a dense layer has a weight of its own for each of 7x7 flattened places"),
    ],
    ids=["none", "filter", "stride on an even size", "asymmetric padding", "flatten and linear"],
)
def test_planted_faults_are_caught_and_named(fault: str, side: int, guilty: tuple[str, ...], hint: str | None) -> None:
    report = check_equivariance(classifier(fault, side), image(side), "D4")
    assert report.verdict == ("broken" if guilty else "holds") and report.guilty == guilty
    assert len(report.hints) == (hint is not None)
    for said in report.hints:
        assert said.startswith(f"{guilty[0]}: ") and hint is not None
        assert re.search(hint, said)
    assert [row.name for row in report.layers if row.verdict == "broken"] == list(guilty)


def test_an_even_kernel_with_same_padding_is_a_fault() -> None:
    net = nn.Sequential(conv(1, 2), nn.Conv2d(2, 2, 4, padding="same"))
    with torch.no_grad():
        net[1].weight.fill_(0.1)
    with pytest.warns(UserWarning, match="padding='same' with even kernel"):
        report = check_equivariance(net, image(), "D4")
    assert report.guilty == ("1",) and any("pads one side more than the other" in h for h in report.hints)


def test_orientation_channels_are_judged_at_their_exact_turns_alone() -> None:
    net = nn.Sequential(OrderedDict(lift=Steerable(), relu=nn.ReLU(), pool=GroupMax(8), mean=GlobalMean()))
    report = check_equivariance(net, noise((2, 1, 25, 25), 0), "C8")
    assert report.verdict == "holds" and report.elements == tuple(f"r{45 * k}" for k in range(1, 8))
    assert report.exact == (False, True) * 3 + (False,)
    row = report["lift"]
    assert row.verdict == "holds" and row.cumulative < 1e-14
    assert row.resampled_cumulative is not None and row.chance is not None
    assert 1e-4 < row.resampled_cumulative < 0.1 * row.chance  # nearly, which is a curve and no verdict
    assert report.table["lift"]["r90"][0] < 1e-14 < 1e-4 < report.table["lift"]["r45"][0]


@pytest.mark.parametrize("name", ["SO2", "O2"])
@pytest.mark.parametrize("broken", [True, False])
def test_resampled_elements_never_give_a_verdict(name: str, broken: bool) -> None:
    net = three(2 if broken else None)
    report = check_equivariance(net, noise((2, 1, 17, 17), 0), name, count=3)
    assert report.verdict == "no law" and report.guilty == () and report.hints == ()
    assert report.exact == (False,) * 3
    for row in report.layers:
        assert row.verdict == "no law" and row.local is None and row.cumulative is None
        assert row.resampled_cumulative is not None and row.resampled_floor is not None and row.resampled_floor > 0
        assert 0 < row.kept < 1
    assert any("a curve but no verdict" in note for note in report.warnings)


def test_where_nothing_is_determined_nothing_is_reported() -> None:
    """On two by two places every value of a turned map touches the outside; that is no error of zero."""
    report = check_equivariance(nn.Sequential(conv(1, 2), nn.AvgPool2d(8)), image(16), "SO2", count=2)
    assert report["0"].resampled_cumulative is not None
    assert report["1"].resampled_cumulative is None and report["1"].kept == 0.0 and report.table["1"] == {}


def test_at_a_resampled_angle_the_fault_hides_in_the_curve() -> None:
    """Why resampled elements give no verdict: what is left of an exact network there is no zero either."""
    exact = check_equivariance(three(None), noise((2, 1, 17, 17), 0), "SO2", count=3)["conv3"].resampled_cumulative
    assert exact is not None and exact > 1e-3


def test_mirrors_have_no_action_on_orientations_without_mirrors() -> None:
    report = check_equivariance(group_cnn("C4"), image(), "D4")
    assert set(report.table["lift"]) == {"r90", "r180", "r270"}
    assert report["lift"].verdict == report["mix"].verdict == "holds"
    assert report.verdict == "broken"  # the answer is no invariant of mirrors, whatever the layers promise
    # the pool only shows what the lift has lost: orientations that have no mirror images
    assert set(report.table["pool"]) == set(report.elements) and report.guilty == ("lift",)


@pytest.mark.parametrize("side", [16, 12])
def test_translations_are_judged_at_shifts_that_all_grids_share(side: int) -> None:
    options: dict[str, Any] = {"padding_mode": "circular"}
    net = nn.Sequential(
        conv(1, 3, fault=True, **options), nn.MaxPool2d(2), conv(3, 3, fault=True, stride=2, **options), GlobalMean()
    )  # fmt: skip
    report = check_equivariance(net, image(side), "translation")
    assert report.verdict == "holds" and len(report.elements) == len(set(report.elements)) >= 3
    assert all(int(v) % 4 == 0 for label in report.elements for v in label.removesuffix(" px").split(","))
    fine = check_equivariance(net[:1], image(side), "translation")
    assert fine.verdict == "holds" and any(int(label.split(",")[0]) % 4 for label in fine.elements)


def test_translations_meet_strides_and_borders() -> None:
    options: dict[str, Any] = {"padding_mode": "circular"}
    report = check_equivariance(nn.Sequential(conv(1, 2, stride=2, **options)), image(13), "translation")
    assert report.guilty == ("0",) and "no multiple of its stride 2" in report.hints[0]
    assert sum("falls between the samples" in hint for hint in report.hints) == 1
    bordered = check_equivariance(nn.Sequential(conv(1, 2, fault=True)), image(13), "translation")
    assert bordered.guilty == ("0",) and "pads with zeros" in bordered.hints[0]
    assert len(bordered.hints) == 2 and "it holds under translation-inside" in bordered.hints[1]


def test_zeros_that_enter_are_left_out_of_the_comparison() -> None:
    net = nn.Sequential(conv(1, 2, fault=True), nn.ReLU(), conv(2, 2, fault=True), GlobalMean())
    report = check_equivariance(net, image(16), "translation", boundary="zero")
    for k in (0, 1, 2):
        row = report[str(k)]
        assert row.verdict == "holds" and row.cumulative_max == pytest.approx(0, abs=1e-7) and 0.1 < row.kept < 0.95
    # the mean over the image has lost what left it: nobody's fault, and no law either
    assert report["3"].verdict == "no law" and report["3"].resampled_cumulative > 1e-3
    assert report.verdict == "no law" and any(
        "cut off a part of the input that counts in the output 3" in note for note in report.warnings
    )

    class Gain(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x * torch.linspace(0.5, 1.5, x.shape[-1], dtype=x.dtype)

    broken = check_equivariance(nn.Sequential(conv(1, 2), Gain()), image(16), "translation", boundary="zero")
    assert broken.verdict == "broken" and broken.guilty == ("1",)


class Between(nn.Module):
    """Obeys the law in every layer, but not in the code between them."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self.conv1, self.conv2 = conv(1, 3), conv(3, 3)
        self.where = where
        if where == "position":
            self.pos_embed = nn.Parameter(torch.randn(3, 9, 9))

    def forward(self, x: Tensor) -> Tensor:
        h = self.conv1(x)
        if self.where == "middle":
            h = F.pad(h, (1, 0, 1, 0))[..., :-1, :-1]  # a shift
        h = self.conv2(h)
        if self.where == "position":
            h = (h + self.pos_embed).relu()
        return h.mean((2, 3)) if self.where != "end" else h[..., 1:].mean((2, 3))


def test_functional_code_between_layers_is_found() -> None:
    report = check_equivariance(Between("middle"), image(), "D4")
    assert report.verdict == "broken" and report.guilty == ("conv2",) and report["conv2"].verdict == "holds"
    assert any("first shows in conv2, but alone conv2 obeys its law" in note for note in report.warnings)
    end = check_equivariance(Between("end"), image(), "D4")
    assert end.guilty == ("output",)  # the first to show it
    assert check_equivariance(Between(""), image(), "D4").verdict == "holds"


def test_the_output_is_not_blamed_for_what_a_layer_did() -> None:
    class Blamed(Between):
        def __init__(self) -> None:
            super().__init__("")
            self.conv1 = conv(1, 3, fault=True)

    report = check_equivariance(Blamed(), image(), "D4")
    assert report.guilty == ("conv1",) and report["output"].verdict == "broken" and report["output"].local is None


def test_a_position_encoding_is_hinted_at() -> None:
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Between("position")

        def forward(self, x: Tensor) -> Tensor:
            return self.inner(x)

    report = check_equivariance(Block(), image(), "D4")
    assert report.guilty == ("inner",)
    assert report.hints == (
        "inner: its parameter pos_embed may encode absolute positions, which ties values to places",
    )


def test_a_container_is_guilty_only_of_what_no_layer_of_it_does() -> None:
    report = check_equivariance(nn.Sequential(three(2), nn.ReLU()).double(), image(), "D4")
    assert report.guilty == ("0.conv2",) and report["0"].verdict == "broken"


def test_a_layer_called_twice_is_judged_call_by_call() -> None:
    class Again(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.pad, self.conv = nn.ZeroPad2d(1), conv(1, 1, padding=0)

        def forward(self, x: Tensor) -> Tensor:
            return self.conv(self.pad(self.conv(self.pad(x))))

    report = check_equivariance(Again(), image(), "D4")
    assert [row.name for row in report.layers] == ["pad", "conv", "pad#2", "conv#2"] and report.verdict == "holds"


@pytest.mark.parametrize("declared", [True, False])
def test_orientations_that_are_not_declared_are_found_by_trial(declared: bool) -> None:
    report = check_equivariance(group_cnn("C4", declared=declared), image(), "C4")
    assert report.verdict == "holds" and report.guilty == () and report.warnings == ()
    assert report["lift"].guessed is not declared and report["lift"].verdict == "holds"
    assert report["lift"].field == ("grid regular(C4)" if declared else "grid exchanged")


def test_a_guessed_field_that_fails_is_no_fault_while_the_output_holds() -> None:
    class Gradient(nn.Module):
        """Two maps that turn into one another, with a sign: no order of channels says it."""

        def forward(self, x: Tensor) -> Tensor:
            along = torch.tensor([[-1.0, 0.0, 1.0]]).to(x).expand(3, 3)
            return F.conv2d(x, torch.stack([along, along.t()])[:, None], padding=1)

    class Length(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gradient = Gradient()

        def forward(self, x: Tensor) -> Tensor:
            return self.gradient(x).square().sum(1, keepdim=True)

    report = check_equivariance(Length(), image(), "D4")
    assert report.verdict == "holds" and report.guilty == () and report["gradient"].verdict == "broken"
    assert any("guessed field type fails in gradient" in note for note in report.warnings)


def test_a_guessed_field_can_be_corrected() -> None:
    net = group_cnn("C4", declared=False)
    overrides = {"lift": "grid regular(C4)", "mix": "grid regular(C4)"}
    report = check_equivariance(net, image(), "C4", overrides=overrides)
    assert report.warnings == () and report["mix"].verdict == "holds" and not report["mix"].guessed
    with pytest.raises(KeyError, match="no layer is called 'mixed'"):
        check_equivariance(net, image(), "C4", overrides={"mixed": "grid scalar"})


def test_a_declared_field_that_fails_breaks_the_law_whatever_comes_out() -> None:
    class Says(nn.Module):
        out_rep = Scalar()

        def __init__(self) -> None:
            super().__init__()
            self.weight = conv(1, 3, fault=True).weight

        def forward(self, x: Tensor) -> Tensor:
            return F.conv2d(x, self.weight, padding=1)

    class Forgets(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.new_ones(len(x), 2) * x.abs().mean() ** 0

    report = check_equivariance(nn.Sequential(Says(), Forgets()), image(), "D4")
    assert report.verdict == "broken" and report.guilty == ("0",)
    # and of an output that knows nothing of its input nothing can be told
    empty = check_equivariance(nn.Sequential(conv(1, 2), Forgets()), image(), "D4")
    assert empty.verdict == "no law" and any("cannot be told" in note for note in empty.warnings)


def test_a_guessed_fault_says_that_it_is_a_guess() -> None:
    report = check_equivariance(group_cnn("C4", wrong=True, declared=False), image(), "C4")
    assert report.verdict == "broken" and report.guilty == ("mix",)  # lift is made for orientations, as trials show
    assert any("mix is measured against a guessed field type" in note for note in report.warnings)


@pytest.mark.parametrize("depth", [1, 12])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.slow
def test_a_law_that_holds_up_to_rounding_holds(depth: int, dtype: torch.dtype) -> None:
    """Filters made symmetric in single precision are so to 1e-7: no fault, in whatever precision it is seen."""
    net = nn.Sequential(*(m for k in range(depth) for m in (conv(1 if k == 0 else 4, 4), nn.Tanh())))
    single = torch.finfo(torch.float32).eps
    assert set(stored(net).values()) == set(stored(copy.deepcopy(net).double()).values()) == {single}
    for model in (net, copy.deepcopy(net).double()):
        report = check_equivariance(model, image(), "D4", dtype=dtype)
        assert report.verdict == "holds" and report.guilty == ()
        assert max(row.cumulative_max or 0.0 for row in report.layers) > 1e-9  # it is rounding that is forgiven
    assert check_equivariance(net, image(), "D4", dtype=dtype, tol=1e-12).verdict == "broken"
    exact = net.double()
    resymmetrise(exact)
    assert set(stored(exact).values()) == {torch.finfo(torch.float64).eps}
    assert check_equivariance(exact, image().double(), "D4", tol=1e-12).verdict == "holds"


def test_a_fault_just_above_rounding_is_still_found() -> None:
    net = three(None)
    with torch.no_grad():
        net.conv2.weight[0, 0, 0, 0] += 1e-9
    assert check_equivariance(net, image().double(), "D4").guilty == ("conv2",)


def test_hints_speak_of_the_group_at_hand() -> None:
    net = nn.Sequential(conv(1, 1, fault=True))
    for name, words in (("D4", "quarter turns and mirrors"), ("C4", "quarter turns (")):
        report = check_equivariance(net, image(), name)
        assert report.guilty == ("0",) and words in report.hints[0]
    shifted = check_equivariance(nn.Sequential(conv(1, 1, fault=True)), image(), "translation")
    assert not any("filters" in h for h in shifted.hints)


def test_a_field_that_lacks_the_mirrors_is_named_and_what_ends_in_one_is_not_judged() -> None:
    """C4 orientations have no mirror images: under D4 the lift loses the law, and a C4 output has none to hold."""

    class Lift(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            base = torch.randn(1, 1, 3, 3, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
            self.weight = nn.Parameter(torch.cat([torch.rot90(base, k, (-2, -1)) for k in range(4)]))
            self.out_rep = Regular(cyclic(4))

        def forward(self, x: Tensor) -> Tensor:
            return nn.functional.conv2d(x, self.weight, padding=1)

    class Pool(nn.Module):
        out_rep = Scalar()

        def forward(self, x: Tensor) -> Tensor:
            return x.unflatten(1, (-1, 4)).amax(2)

    report = check_equivariance(nn.Sequential(Lift(), Pool()), (2, 1, 9, 9), "D4")
    assert (report.verdict, report.guilty) == ("broken", ("0",))
    assert any("no action" in note for note in report.warnings)
    assert check_equivariance(nn.Sequential(Lift(), Pool()), (2, 1, 9, 9), "C4").verdict == "holds"
    ends_there = check_equivariance(nn.Sequential(Lift()), (2, 1, 9, 9), "D4")
    assert ends_there.verdict == "no law" and any("not judged" in note for note in ends_there.warnings)


class Placed(nn.Module):
    """Adds a table of places to a sequence before attention, which hears the zeros of a delay too."""

    def __init__(self) -> None:
        super().__init__()
        self.enter, self.places = nn.Linear(3, 8), nn.Embedding(64, 8)
        self.mix = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        h = self.enter(x) + self.places(torch.arange(x.shape[1], device=x.device))
        return self.mix(h, h, h)[0]


def test_a_fault_before_the_guilty_layers_is_told() -> None:
    torch.manual_seed(0)
    report = check_equivariance(Placed(), sequence(torch.rand(40, 3), "NTC"), "shift")
    assert "places" not in report.guilty and report.verdict == "broken"
    assert any("a fault shows before that, in places, which obeys its law" in note for note in report.warnings)
