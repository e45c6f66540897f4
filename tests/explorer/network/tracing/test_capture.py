"""Captures: the values that the layers really gave, gradients through them, and no hook left behind."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.network.tracing.capture import capture, feed, state_values, thumbnails
from explorer.network.tracing.layers import FORWARD, OUTPUT, LayerError
from explorer.network.tracing.trace import trace
from explorer.spaces.grid.fields import grid
from explorer.work.progress import Cancelled


def network(inplace: bool = False) -> nn.Sequential:
    return nn.Sequential(
        OrderedDict(
            conv=nn.Conv2d(1, 3, 3, padding=1),
            relu=nn.ReLU(inplace),
            block=nn.Sequential(nn.Conv2d(3, 2, 3), nn.Hardtanh(inplace=inplace)),
            head=nn.AdaptiveAvgPool2d(1),
        )
    )


NAMES = ["conv", "relu", "block.0", "block.1", "block", "head"]


def image() -> Tensor:
    return torch.randn(2, 1, 7, 7)


def hooks(model: nn.Module) -> int:
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())


def by_hand(model: nn.Sequential, x: Tensor) -> dict[str, Tensor]:
    conv, relu = model.conv(x), model.conv(x).relu()
    inner = model.block[0](relu)
    hard = inner.clamp(-1, 1)
    return {
        "conv": conv, "relu": relu, "block.0": inner, "block.1": hard, "block": hard, "head": hard.mean((2, 3), True)
    }  # fmt: skip


@pytest.mark.parametrize("inplace", [False, True])
@torch.no_grad()
def test_values_are_those_of_the_layers_also_where_a_layer_works_in_place(inplace: bool) -> None:
    model, x = network(inplace), image()
    given = x.clone()
    values, fed = capture(model, x, NAMES, clone=inplace, inputs=True)
    for name, value in by_hand(_copy(model), x).items():
        assert torch.allclose(values[name], value, atol=1e-6), name
    assert torch.equal(x, given) and hooks(model) == 0
    assert torch.equal(fed["conv"][0], x) and torch.equal(fed["relu"][0], values["conv"])
    assert list(values) == NAMES


def _copy(model: nn.Sequential) -> nn.Sequential:
    other = network(False)
    other.load_state_dict(model.state_dict())
    return other


@torch.no_grad()
def test_the_input_is_kept_where_the_first_layer_works_in_place() -> None:
    model, x = nn.Sequential(nn.ReLU(inplace=True), nn.Conv2d(1, 1, 3)), image()
    given = x.clone()
    values, fed = capture(model, x, ["0", "1", OUTPUT], clone=True, inputs=True)
    assert torch.equal(x, given) and torch.equal(fed["0"][0], given) and torch.equal(values["0"], given.relu())
    x.requires_grad_(True)
    with torch.enable_grad():
        outputs, _ = capture(model, x, [OUTPUT], clone=True)
        (grad,) = torch.autograd.grad(outputs[OUTPUT].sum(), x)
    assert bool(grad.any())


@torch.no_grad()
def test_without_copies_a_layer_in_place_does_overwrite() -> None:
    """This is what `clone` is for."""
    values, _ = capture(network(inplace=True), image(), ["conv", "relu"])
    assert torch.equal(values["conv"], values["relu"])


def test_only_what_is_watched_is_kept() -> None:
    values, fed = capture(network(), image(), ["relu"])
    assert list(values) == ["relu"] and fed == {}


class Twice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.times = nn.Linear(1, 1, bias=False)
        nn.init.constant_(self.times.weight, 2.0)

    def forward(self, x: Tensor) -> Tensor:
        return self.times(self.times(self.times(x))) + 1


@torch.no_grad()
def test_calls_are_counted() -> None:
    x = torch.ones(1, 1)
    values, fed = capture(Twice(), x, ["times", "times#3", OUTPUT], inputs=True)
    assert {n: float(v) for n, v in values.items()} == {"times": 2.0, "times#3": 8.0, OUTPUT: 9.0}
    assert {n: float(v[0]) for n, v in fed.items()} == {"times": 1.0, "times#3": 4.0}
    with pytest.raises(LayerError, match=r"layer times#4 was not called on this input") as caught:
        capture(Twice(), x, ["times#4"])
    assert caught.value.where == "times#4"


@torch.no_grad()
def test_the_trace_and_the_capture_count_alike() -> None:
    class Mixed(nn.Module):
        """A module whose first call returns no floating point, which the trace leaves out."""

        class Odd(nn.Module):
            def forward(self, x: Tensor, whole: bool) -> Tensor:
                return (x > 0).long() if whole else x * 2

        def __init__(self) -> None:
            super().__init__()
            self.odd = self.Odd()

        def forward(self, x: Tensor) -> Tensor:
            return self.odd(x, True) + self.odd(x, False)

    x = image()
    found = trace(Mixed(), x, grid())
    assert [layer.name for layer in found.layers] == ["odd#2", OUTPUT]
    values, _ = capture(Mixed(), x, [layer.name for layer in found.layers])
    assert torch.equal(values["odd#2"], 2 * x)


@torch.no_grad()
def test_dicts_and_tuples() -> None:
    class Both(nn.Module):
        def __init__(self, result: Callable[[Tensor], Any]) -> None:
            super().__init__()
            self.inner = nn.Identity()
            self.result = result

        def forward(self, x: Tensor) -> Any:
            return self.result(self.inner(x))

    for wrap in (lambda x: {"a": x}, lambda x: (x, 3), lambda x: [None, {"b": x}]):
        for clone in (False, True):
            values, _ = capture(nn.Sequential(Both(wrap)), torch.ones(1, 2), ["0", "0.inner", OUTPUT], clone=clone)
            assert all(torch.equal(v, torch.ones(1, 2)) for v in values.values())
    with pytest.raises(LayerError, match="the network returned int, which holds no tensor"):
        capture(Both(lambda x: 3), torch.ones(1), [OUTPUT])


@torch.no_grad()
def test_a_layer_called_output_and_the_networks_result() -> None:
    class Named(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.output = nn.Identity()

        def forward(self, x: Tensor) -> Tensor:
            return self.output(x) + 1

    values, _ = capture(Named(), torch.zeros(2), [OUTPUT, FORWARD])
    assert values[OUTPUT].tolist() == [0, 0] and values[FORWARD].tolist() == [1, 1]


@torch.no_grad()
def test_reductions_are_made_inside_the_hook() -> None:
    model = network(inplace=True)
    sums, _ = capture(model, image(), ["conv", "relu"], reduce=lambda name, value: (name, float(value.min())))
    assert sums["conv"][0] == "conv" and sums["conv"][1] < 0 <= sums["relu"][1]  # before the next layer overwrote it


def test_thumbnails_are_small_copies() -> None:
    reduce = thumbnails(side=4, channels=2)
    value = torch.arange(2 * 3 * 9 * 9.0).reshape(2, 3, 9, 9)
    kept = reduce("x", value)
    assert kept.shape == (2, 3, 3) and torch.equal(kept, value[0, :2, ::3, ::3])
    assert kept.data_ptr() != value.data_ptr()
    assert reduce("x", torch.ones(2, 5)).shape == (2,)


@pytest.mark.parametrize("inplace", [False, True])
def test_gradients_reach_what_was_captured(inplace: bool) -> None:
    model, x = network(inplace), image()
    values, _ = capture(model, x, NAMES, clone=inplace)
    grads = torch.autograd.grad(values["head"].sum(), [values[n] for n in NAMES])
    true, _ = capture(_copy(model), x, NAMES)
    expected = torch.autograd.grad(true["head"].sum(), [true[n] for n in NAMES])
    for name, grad, want in zip(NAMES, grads, expected):
        assert torch.equal(grad, want) and bool(grad.any()), name


@torch.no_grad()
def test_a_layer_fed_alone_gives_what_it_gave() -> None:
    model, x = network(inplace=True), image()
    found = trace(model, x, grid())
    values, fed = capture(model, x, NAMES, clone=True, inputs=True)
    for name in NAMES:
        kept = fed[name][0].clone()
        assert torch.equal(feed(model, found, name, fed[name]), values[name])
        assert torch.equal(fed[name][0], kept), f"{name} overwrote its input"
    with pytest.raises(LayerError, match="layer conv raised RuntimeError: ") as caught:
        feed(model, found, "conv", (torch.ones(1, 9, 3, 3),))
    assert caught.value.where == "conv"


class Failing(nn.Module):
    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def forward(self, x: Tensor) -> Tensor:
        raise self.error


@pytest.mark.parametrize("watching", [{}, {"cancelled": lambda: False}, {"inputs": True, "clone": True}])
def test_an_error_names_the_layer_and_leaves_no_hooks(watching: dict[str, Any]) -> None:
    model = nn.Sequential(nn.ReLU(), nn.Sequential(nn.ReLU(), Failing(ValueError("too bad"))), nn.ReLU())
    with pytest.raises(LayerError, match=r"^layer 1\.1 raised ValueError: too bad$") as caught:
        capture(model, image(), ["0"], **watching)
    assert caught.value.where == "1.1" and hooks(model) == 0
    with pytest.raises(LayerError, match=r"layer nosuch was not called"):
        capture(network(), image(), ["nosuch"])


def test_functional_code_that_fails_is_not_blamed_on_the_last_layer() -> None:
    class Tail(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(1, 1, 3)

        def forward(self, x: Tensor) -> Tensor:
            return F.linear(self.conv(x), torch.ones(2, 99))

    for watching in ({}, {"cancelled": lambda: False}):
        with pytest.raises(LayerError, match=r"^the network's forward raised RuntimeError") as caught:
            capture(Tail(), image(), ["conv"], **watching)
        assert caught.value.where == ""


def test_running_out_of_memory_is_told_as_such() -> None:
    with pytest.raises(torch.OutOfMemoryError):
        capture(nn.Sequential(Failing(torch.OutOfMemoryError("full"))), image(), ["0"])
    with pytest.raises(torch.OutOfMemoryError):
        trace(nn.Sequential(Failing(torch.OutOfMemoryError("full"))), image(), grid())


@pytest.mark.parametrize("after", range(4))
def test_a_run_is_cancelled_between_layers(after: int) -> None:
    model, entered = network(), []

    def cancelled() -> bool:
        entered.append(1)
        return len(entered) > after

    kept: dict[str, Tensor] = {}
    with pytest.raises(Cancelled):
        capture(model, image(), NAMES, reduce=lambda n, v: kept.setdefault(n, v), cancelled=cancelled)
    assert len(entered) == after + 1 and hooks(model) == 0
    # asked before the model itself and before each layer
    assert list(kept) == NAMES[: max(0, after - 1)]


def test_captures_are_ready_to_be_saved() -> None:
    values, _ = capture(network(), image(), ["conv"])
    saved = state_values({"conv": values["conv"].mT})
    assert saved["conv"].is_contiguous() and not saved["conv"].requires_grad
