"""Modules that a loop of the network's own calls step by step: all their calls are one layer over the steps."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from equiscope import check_equivariance
from equiscope.inputs import sequence
from explorer.network.tracing.trace import trace


class Cell(nn.Module):
    def __init__(self, given: int, units: int, bias: bool) -> None:
        super().__init__()
        self.of_x, self.of_h = nn.Linear(given, units, bias=False), nn.Linear(units, units, bias=bias)

    def forward(self, x: Tensor, h: Tensor) -> Tensor:
        return torch.tanh(self.of_x(x) + self.of_h(h))


class Loop(nn.Module):
    """Reads step by step with cells that are written by hand; the fault is a bias, with which the second never rests.

    Args:
        back: it reads from the end to the beginning.
    """

    def __init__(self, fault: bool = False, back: bool = False) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.one, self.two, self.back = Cell(2, 5, False), Cell(5, 5, fault), back
        self.head, self.last = nn.Linear(5, 2, bias=False), nn.Linear(2, 2, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        a = b = x.new_zeros(x.shape[0], 5)
        found = []
        for t in range(x.shape[1] - 1, -1, -1) if self.back else range(x.shape[1]):
            a = self.one(x[:, t], a)
            b = self.two(a, b)
            found.append(self.head(b))
        answer: Tensor = self.last(torch.stack(found[::-1] if self.back else found, 1))
        return answer


X = torch.randn(20, 2, generator=torch.Generator().manual_seed(1))


def test_what_a_loop_calls_once_a_step_is_one_layer_over_the_steps() -> None:
    traced = trace(Loop(), sequence(X, layout="NTC"), parts=True)
    names = [layer.name for layer in traced.layers]
    cells = [f"{cell}{of}.steps" for cell in ("one", "two") for of in (".of_x", ".of_h", "")]
    assert names == [*cells, "head.steps", "last"], "each where its last call ended"
    assert all(str(layer.field) == "step scalar" for layer in traced.layers[:-1])
    assert traced["one.steps"].shape == (20, 1, 5)


def test_a_cell_that_never_rests_is_named_and_the_one_before_it_is_not() -> None:
    assert check_equivariance(Loop(), sequence(X, layout="NTC"), "shift").verdict == "holds"
    report = check_equivariance(Loop(True), sequence(X, layout="NTC"), "shift")
    assert report.verdict == "broken" and report.guilty == ("two.of_h.steps",)
    assert report["one.steps"].verdict == "holds"


def test_steps_of_a_loop_from_the_end_are_put_in_the_order_of_time() -> None:
    traced = trace(Loop(back=True), sequence(X, layout="NTC"), parts=True)
    there = {layer.name for layer in traced.layers}
    assert {"one.of_x.steps", "one.steps"} <= there
    flipped = check_equivariance(Loop(back=True), sequence(X, layout="NTC"), "circular-shift")
    row = flipped["one.of_x.steps"]
    assert row.cumulative is not None and row.cumulative < 1e-12, "each step is multiplied alone"


class BothWays(nn.Module):
    """Reads with one cell forth and back; the fault forgets to turn the second reading round again."""

    def __init__(self, fault: bool) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.cell, self.fault = Cell(2, 5, True), fault

    def forward(self, x: Tensor) -> Tensor:
        def read(times: range) -> Tensor:
            h, found = x.new_zeros(x.shape[0], 5), []
            for t in times:
                h = self.cell(x[:, t], h)
                found.append(h)
            return torch.stack(found, 1)

        steps = x.shape[1]
        back = read(range(steps - 1, -1, -1))
        return read(range(steps)) + (back if self.fault else back.flip(1))


def test_each_loop_through_a_module_is_a_layer_in_the_order_of_time() -> None:
    x = sequence(X, layout="NTC")
    there = [layer.name for layer in trace(BothWays(False), x, parts=True).layers]
    assert there == [f"cell{of}.steps{time}" for of in (".of_x", ".of_h", "") for time in ("", "#2")] + ["output"]
    sound = check_equivariance(BothWays(False), x, "reversal")
    assert sound.verdict == "holds"
    assert sound["cell.steps#2"].field == "unknown", "it is the other loop's, after the reversal"
    report = check_equivariance(BothWays(True), x, "reversal")
    assert report.verdict == "broken" and report.guilty in ((), ("output",))


def test_a_module_that_is_called_a_few_times_keeps_a_layer_for_each() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.dense = nn.Linear(2, 2)

        def forward(self, x: Tensor) -> Tensor:
            answer: Tensor = self.dense(self.dense(x))
            return answer

    assert {"dense", "dense#2"} <= {layer.name for layer in trace(Twice(), sequence(X), parts=True).layers}
