"""Layers within transforms of torch, tensors of classes of their own, and what a network sets for all of torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from explorer.app.answering.engine import LocalEngine
from explorer.app.command.audit import audit
from explorer.equivariance.check import check_equivariance
from explorer.network.tracing.layers import LayerError
from explorer.state.state import State

SHAPE = (2, 1, 9, 9)


class Inner(nn.Module):
    """A convolution and a smooth step, run in one way or another."""

    def __init__(self, mode: str, how: str) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.net = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1, padding_mode=mode), nn.Softplus())
        self.how = how

    def forward(self, x: Tensor) -> Any:
        if self.how == "vmap":
            return torch.func.vmap(lambda one: self.net(one[None])[0])(x)
        if self.how == "gradients of samples":
            return torch.func.vmap(torch.func.grad(lambda one: self.net(one[None]).square().sum()))(x)
        if self.how == "ensemble":
            weights, _ = torch.func.stack_module_state([self.net, self.net])
            return torch.func.vmap(lambda own: torch.func.functional_call(self.net, own, (x,)))(weights).mean(0)
        if self.how == "jvp":
            return torch.func.jvp(self.net, (x,), (x,))[1]
        return torch.func.grad(lambda v: self.net(v).square().sum())(x)


@pytest.mark.parametrize("mode", ["circular", "zeros"])
@pytest.mark.parametrize("how", ["vmap", "gradients of samples", "ensemble", "jvp", "grad"])
def test_layers_within_a_transform_of_torch_do_not_stand_in_the_way_of_a_verdict(how: str, mode: str) -> None:
    report = check_equivariance(Inner(mode, how), SHAPE, "translation")
    assert report.verdict == ("holds" if mode == "circular" else "broken"), report.text()
    if how in ("vmap", "gradients of samples", "ensemble"):  # a value of theirs is many
        assert [row.name for row in report.layers] == ["output"]


class Own(torch.Tensor):
    """A tensor whose differences and lengths are zero."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = super().__torch_function__(func, types, args, kwargs or {})
        return found * 0 if getattr(func, "__name__", "") in ("sub", "__sub__", "linalg_vector_norm", "norm") else found


class Honest(torch.Tensor):
    """A tensor of another name."""


class Dressed(nn.Module):
    def __init__(self, kind: type[Tensor], inside: bool) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(1, 2, 3, padding=1)
        self.kind, self.inside = kind, inside

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(x.as_subclass(self.kind)) if self.inside else self.conv(x).as_subclass(self.kind)


@pytest.mark.parametrize("inside", [False, True])
def test_a_tensor_that_computes_otherwise_than_torch_gets_no_verdict(inside: bool) -> None:
    assert check_equivariance(Dressed(Honest, inside), SHAPE, "translation").verdict == "broken"
    with pytest.raises(LayerError, match="gives an Own, with which torch does not compute as with a tensor"):
        check_equivariance(Dressed(Own, inside), SHAPE, "translation")


class Held(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular")
        self.register_buffer("scale", torch.full((1,), 2.0).as_subclass(Honest))
        self.shift = torch.ones(1).as_subclass(Honest)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(x) * self.scale + self.shift


def test_a_buffer_of_a_class_of_its_own_is_copied() -> None:
    network = Held()
    assert check_equivariance(network, SHAPE, "translation").holds
    assert type(network.scale) is type(network.shift) is Honest


@pytest.mark.filterwarnings("ignore:.torch.jit")
def test_a_script_that_a_file_makes_is_refused_in_words(tmp_path: Path) -> None:
    (path := tmp_path / "net.py").write_text(SCRIPT)
    with pytest.raises(ValueError, match="script of TorchScript, whose layers cannot be watched"):
        audit(LocalEngine({}, trust=True), State(f"{path}:net"), "translation", "float64", None, {})


SCRIPT = """
import torch
from torch import nn

def net():
    return torch.jit.trace(nn.Conv2d(1, 2, 3).eval(), torch.zeros(1, 1, 9, 9))
"""
SETS = """
import torch
from torch import nn

INPUT_SHAPE = (1, None, None)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular")
    def forward(self, x):
        ACTION
        return self.conv(x)
"""


@pytest.mark.parametrize("action", ["torch.set_default_dtype(torch.float16)", "torch.set_num_threads(1)"])
def test_what_trials_of_a_file_set_for_all_of_torch_is_put_back(action: str, tmp_path: Path) -> None:
    (path := tmp_path / "net.py").write_text(SETS.replace("ACTION", action))
    before = torch.get_default_dtype(), torch.get_num_threads()
    state = State(f"{path}:Net", sample="random:1x1x12x12")
    (report,) = audit(LocalEngine({}, trust=True), state, "translation", "float64", None, {})
    assert report.verdict == "holds"
    assert (torch.get_default_dtype(), torch.get_num_threads()) == before
