"""Networks that change what they are given, do not repeat themselves, or give tensors of an unusual kind."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from explorer.equivariance.check import check_equivariance
from explorer.network.changing.conduct import overwritten, writes
from explorer.network.tracing.layers import LayerError
from tests.explorer.parts.networks import Kept

SHAPE = (2, 1, 9, 9)
NAMED = "the network changes its input in place; it was given a copy each time"


class Net(nn.Module):
    """A 1 x 1 convolution, which is equivariant, with something before it and something behind it."""

    def __init__(
        self,
        after: Callable[[Tensor, int], Tensor] = lambda y, calls: y,
        before: Callable[[Tensor], object] = lambda x: None,
    ) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(1, 2, 1)
        self.after, self.before, self.calls = after, before, 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        self.before(x)
        return self.after(self.conv(x), self.calls)


def test_a_network_that_writes_to_its_input_gets_a_copy_and_is_named() -> None:
    images = torch.randn(SHAPE, dtype=torch.float64)
    kept = images.clone()
    report = check_equivariance(Net(before=lambda x: x.mul_(2.0)), images, "C4")
    assert report.holds and NAMED in report.warnings and torch.equal(images, kept)
    assert NAMED not in check_equivariance(Net(), images, "C4").warnings


def test_a_network_that_writes_to_moved_data_only_is_named() -> None:
    images = torch.zeros(SHAPE, dtype=torch.float64)
    images[..., 0, 0] = 1.0

    def write(x: Tensor) -> None:
        if not x[0, 0, 0, 0]:
            x.numpy()[..., 3, 3] = 2.0

    assert NAMED in check_equivariance(Net(before=write), images, "C4").warnings


@pytest.mark.parametrize("first", [2, 3, 5, 7, 12, 14])
def test_what_gives_nan_from_some_call_on_does_not_hold(first: int) -> None:
    network = Net(lambda y, calls: y * float("nan") if calls >= first else y)
    try:
        report = check_equivariance(network, SHAPE, "C4")
    except LayerError as error:  # between the runs on the data and those on the moved ones
        said = [str(error)]
    else:
        assert not report.holds
        said = [w for w in report.warnings if "gave NaN or infinite values in run" in w]
        assert said or report.verdict == "broken"
    assert not said or ("gave NaN or infinite values in run" in said[0] and said[0].endswith("it has no verdict"))


class Corner(nn.Module):
    """Asks for the root of what stands in one corner."""

    def forward(self, x: Tensor) -> Tensor:
        return x + x[..., :1, :1].sqrt()


def test_the_layer_in_which_nan_begins_is_named() -> None:
    images = -torch.rand(SHAPE, dtype=torch.float64) - 0.1
    images[..., 0, 0] = 1.0
    network = nn.Sequential(nn.Identity(), Corner(), nn.Hardtanh(), nn.Conv2d(1, 3, 1)).double()
    with pytest.raises(LayerError, match=r"layer 3 gave NaN .*; NaN begins in layer 1$") as end:
        check_equivariance(network, images, "C4")
    assert end.value.where == "1"


class MaskedSoftmax(nn.Module):
    """Bars what is negative with the least number there is, and weighs the rest in single precision."""

    def forward(self, x: Tensor) -> Tensor:
        barred = torch.zeros_like(x).masked_fill(x < 0, torch.finfo(x.dtype).min)
        return torch.softmax(x + barred, -1, dtype=torch.float32).to(x.dtype)


def test_what_is_not_finite_in_double_precision_alone_is_tested_in_its_own() -> None:
    images = -torch.rand(1, 1, 9, 9, dtype=torch.float64) - 0.1
    images[..., torch.arange(9), 0] = 1.0  # in each row one is left; after a turn eight rows have none
    report = check_equivariance(nn.Sequential(MaskedSoftmax(), nn.Conv2d(1, 2, 1)), images, "C4")
    assert report.verdict == "broken" and report.guilty == ("0",) and report.dtype == "float32"
    assert report.warnings[0].startswith("in float64 layer 1 gave NaN") and "tested in float32" in report.warnings[0]


def test_what_varies_from_call_to_call_does_not_hold() -> None:
    report = check_equivariance(Net(lambda y, calls: y + 0.1 * calls), SHAPE, "C4")
    told = (*report.warnings, *report.hints)
    assert not report.holds and any("gives another answer to the same input" in text for text in told)
    hidden = check_equivariance(Net(lambda y, calls: y if calls < 3 else y * calls), SHAPE, "C4")
    assert not hidden.holds


@pytest.mark.parametrize(
    ("after", "shapes"),
    [
        (lambda y, calls: y if calls % 2 else y[..., 1:], r"\(2, 2, 9, [89]\) at first and \(2, 2, 9, [89]\) in run"),
        (lambda y, calls: y.flatten(1) if calls % 2 else y, r"\(2, .* at first and \(2, .* in run"),
    ],
)
def test_what_changes_its_shape_is_told(after: Callable[[Tensor, int], Tensor], shapes: str) -> None:
    with pytest.raises(LayerError, match=f"the network gave the shape {shapes}.*nothing can be compared"):
        check_equivariance(Net(after), SHAPE, "C4")


@pytest.mark.parametrize(
    ("after", "told"),
    [
        (lambda y, _: y.to("meta"), "a tensor on the meta device"),
        (lambda y, _: torch.quantize_per_tensor(y.float(), 0.1, 0, torch.qint8), "a quantised tensor: return it with"),
        (lambda y, _: y.to(torch.float8_e4m3fn), "float8_e4m3fn values"),
        (lambda y, _: torch.nested.nested_tensor([y[0], y[0]], layout=torch.jagged), "a nested tensor: pad it"),
        (lambda y, _: y.to_sparse(), "a sparse tensor: make it dense with"),
        (lambda y, _: y[0, 0].to_sparse_csr(), "a sparse tensor: make it dense with"),
        (lambda y, _: torch.masked.masked_tensor(y.detach(), y > 0), "a MaskedTensor, with which torch does not"),
    ],
)
@pytest.mark.filterwarnings("ignore")  # torch's own, that such tensors are in beta state
def test_unusual_tensors_are_told_and_where_they_come_from(after: Callable[[Tensor, int], Tensor], told: str) -> None:
    with pytest.raises(LayerError, match=f"the network gives {told}"):
        check_equivariance(Net(after), SHAPE, "C4")
    with pytest.raises(LayerError, match=f"layer 0 gives {told}") as where:
        check_equivariance(nn.Sequential(Net(after), nn.Identity()), SHAPE, "C4")
    assert where.value.where == "0"


class Named(Tensor):
    """A subclass that computes as a tensor does."""


def test_a_subclass_that_computes_is_measured() -> None:
    assert check_equivariance(Net(lambda y, _: y.as_subclass(Named)), SHAPE, "C4").holds


def test_parameters_without_values_are_told() -> None:
    with pytest.raises(LayerError, match=r"conv\.weight is on the meta device and holds no values"):
        check_equivariance(Net().to("meta"), SHAPE, "C4")


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_half_precision_is_measured(kind: torch.dtype) -> None:
    assert check_equivariance(Net(lambda y, _: y.to(kind)), SHAPE, "C4").verdict == "holds"


def test_the_state_of_torch_is_put_back() -> None:
    def disturb(x: Tensor) -> None:
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
        torch.use_deterministic_algorithms(True)
        torch.set_num_threads(3)
        torch.manual_seed(5)
        random.seed(5)
        np.random.seed(5)  # noqa: NPY002

    def state() -> tuple[object, ...]:
        return (
            torch.get_default_dtype(), torch.is_grad_enabled(), torch.are_deterministic_algorithms_enabled(),
            torch.get_num_threads(), torch.get_rng_state().tolist(), random.getstate(),
            np.random.get_state()[1].tolist(),  # type: ignore[index]  # noqa: NPY002
        )  # fmt: skip

    network = Net(before=disturb)
    before = state()
    report = check_equivariance(network, SHAPE, "C4")
    assert report.holds and state() == before


def ends(kind: type[BaseException]) -> Tensor:
    raise kind(3)


@pytest.mark.parametrize(
    ("after", "told"),
    [
        (lambda y, calls: y / 0 * 0, "the network gives NaN or infinite values on this input: .* of output"),
        (lambda y, calls: (y, y / 0 * 0), r"NaN .* of output\[1\]"),
        (lambda y, calls: y.argmax(1), "output holds int64 values, and only real numbers can be compared"),
        (lambda y, calls: torch.fft.fft2(y), "output holds complex128 values"),
        (lambda y, calls: y[:, :0], r"output has the shape \(2, 0, 9, 9\), which holds no values"),
        (lambda y, calls: ends(SystemExit), "forward raised SystemExit: 3"),
    ],
    ids=["NaN", "NaN beside numbers", "whole numbers", "complex numbers", "nothing", "an exit"],
)
def test_an_answer_that_cannot_be_compared_is_refused(after: Callable[[Tensor, int], Tensor], told: str) -> None:
    with pytest.raises(LayerError, match=told):
        check_equivariance(Net(after), SHAPE, "C4")


@pytest.mark.parametrize("first", [True, False])
def test_what_is_chosen_beside_numbers_is_left_out_and_told(first: bool) -> None:
    def both(y: Tensor, calls: int) -> Any:
        return (y.argmax(1), y) if first else (y, y.argmax(1))

    report = check_equivariance(Net(both), SHAPE, "C4")
    number = 1 if first else 2
    assert report.holds and any(w.startswith(f"tensor {number} of the network's answer holds int64") for w in
                                report.warnings)  # fmt: skip
    slanted = check_equivariance(Net(lambda y, calls: both(y * torch.arange(9.0).to(y), calls)), SHAPE, "C4")
    assert slanted.verdict == "broken"


def test_a_layer_that_gives_infinite_scores_is_not_judged_and_what_follows_is() -> None:
    class Scores(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.masked_fill(x < 0, float("-inf"))

    class Soft(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.flatten(2).softmax(-1).view_as(x)

    def net(mode: str) -> nn.Module:
        conv = nn.Conv2d(1, 2, 3, padding=1, padding_mode=mode)
        return nn.Sequential(conv, Scores(), Soft())

    sound, broken = (check_equivariance(net(mode), SHAPE, "translation") for mode in ("circular", "zeros"))
    assert sound.holds and sound["1"].verdict == "no law"
    assert broken.verdict == "broken" and broken.guilty == ("0",)


@pytest.mark.filterwarnings("ignore:.torch.jit")
@pytest.mark.parametrize("how", ["script", "trace"])
@pytest.mark.parametrize("mode", ["circular", "zeros"])
def test_a_script_within_a_network_is_one_layer(how: str, mode: str) -> None:
    inner = nn.Sequential(
        nn.Conv2d(2, 2, 3, padding=1, padding_mode=mode), nn.Sequential(nn.Conv2d(2, 2, 1), nn.ReLU())
    )
    script = torch.jit.script(inner) if how == "script" else torch.jit.trace(inner.eval(), torch.zeros(1, 2, 9, 9))
    network = nn.Sequential(nn.Conv2d(1, 2, 1), script, nn.ReLU(), script)
    report = check_equivariance(network, SHAPE, "translation")
    assert report.verdict == ("holds" if mode == "circular" else "broken")
    assert report.guilty == (() if mode == "circular" else ("1", "1#2"))
    assert [row.name for row in report.layers] == ["0", "1", "2", "1#2"]
    assert network[1] is script and network[3] is script


@pytest.mark.filterwarnings("ignore:.torch.jit")
@pytest.mark.parametrize("how", ["script", "trace"])
def test_filters_of_a_script_are_symmetric_as_far_as_they_are_stored(how: str) -> None:
    torch.manual_seed(0)
    inner = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1, bias=False))
    with torch.no_grad():  # a mean of four, whose last digit depends on the order in which they are added
        inner[0].weight.copy_(sum(torch.rot90(inner[0].weight, k, (-2, -1)) for k in range(4)) / 4)
    script = torch.jit.script(inner) if how == "script" else torch.jit.trace(inner, torch.zeros(1, 1, 9, 9))
    for network in (nn.Sequential(inner), nn.Sequential(script)):
        report = check_equivariance(network, SHAPE, "C4")
        assert report.verdict == "holds"
        assert 1e-10 < max(row.cumulative for row in report.layers) < 1e-6


class Unfolded(nn.Module):
    """A convolution of code alone, padded with zeros; broken, it adds a ramp."""

    def __init__(self, broken: bool) -> None:
        super().__init__()
        self.filters, self.broken = nn.Parameter(torch.randn(2, 9)), broken

    def forward(self, x: Tensor) -> Tensor:
        y = (self.filters @ nn.functional.unfold(x, 3, padding=1)).view(len(x), 2, *x.shape[-2:])
        return y + torch.linspace(0, 1, x.shape[-1]).to(x) if self.broken else y


@pytest.mark.parametrize("broken", [False, True])
def test_what_fails_at_the_border_alone_is_said_to_hold_inside(broken: bool) -> None:
    torch.manual_seed(0)
    for network in (Unfolded(broken), nn.Sequential(nn.Conv2d(1, 3, 3, padding=1), Added(broken))):
        report = check_equivariance(network, (1, 1, 15, 15), "translation")
        assert report.verdict == "broken"
        assert any("holds under translation-inside" in hint for hint in report.hints) is not broken
        assert check_equivariance(network, (1, 1, 15, 15), "translation-inside").holds is not broken


class Added(nn.Module):
    def __init__(self, broken: bool) -> None:
        super().__init__()
        self.broken = broken

    def forward(self, x: Tensor) -> Tensor:
        return x + torch.linspace(0, 1, x.shape[-1]).to(x) if self.broken else x.relu()


def test_what_is_not_a_number_is_no_change() -> None:
    x = torch.tensor([1.0, float("nan")])
    assert not overwritten([x], [writes(x)], [x.clone()])
    assert overwritten([x], [writes(x)], [torch.tensor([2.0, float("nan")])])
    assert overwritten([torch.tensor([1, 2])], [0], [torch.tensor([1, 3])])


@pytest.mark.parametrize("behind", [[], [nn.ReLU(), nn.Conv2d(2, 1, 1)]])
def test_an_answer_in_the_memory_of_the_one_before_is_not_compared_with_itself(behind: list[nn.Module]) -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), Kept(), *behind)
    report = check_equivariance(network, SHAPE, "C4")
    assert (report.verdict, report.guilty) == ("broken", ("0",))
    assert report["1"].cumulative > 0.1
    assert check_equivariance(network[1:2], SHAPE, "C4").holds
