"""Modules that declare the types of their channels are taken at their word: stand-ins for escnn and e3nn, and escnn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from explorer.declare.elements import NoAction
from explorer.declare.inputs import Inputs
from explorer.declare.states.interventions import parse_intervention
from explorer.declare.types.declared import Declared as DeclaredField
from explorer.declare.types.field_text import parse_field
from explorer.declare.types.fields import FieldType, Regular, Scalar
from explorer.equivariance.check import check_equivariance
from explorer.network.changing.interventions.changes import change_of
from explorer.network.changing.interventions.hooks import Hooks
from explorer.network.input.typed_tensors import untested
from explorer.network.tracing.trace import trace
from explorer.spaces.grid.elements.affine import Affine
from explorer.spaces.grid.fibres import rep_of
from explorer.spaces.grid.fields import Grid

N = 4


def turn(k: int) -> np.ndarray[Any, Any]:
    a = 2 * math.pi * k / N
    return np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])


def shifted(k: int) -> np.ndarray[Any, Any]:
    """Return the regular representation of C4: e_h goes to e_(k+h)."""
    return np.roll(np.eye(N), k, axis=0)


REPS = {"trivial": lambda k: np.eye(1), "irrep_1": turn, "regular": shifted, "backwards": lambda k: shifted(-k)}
C4 = SimpleNamespace(name="C4", elements=list(range(N)), continuous=False)
PLANE = SimpleNamespace(fibergroup=C4, basespace_action=turn)


@dataclass(frozen=True)
class Declared:
    """The attributes of escnn's FieldType that are read."""

    names: tuple[str, ...]

    @property
    def gspace(self) -> Any:
        return PLANE

    @property
    def representations(self) -> list[Any]:
        return [SimpleNamespace(name=name) for name in self.names]

    @property
    def size(self) -> int:
        return len(self.representation(0))

    def representation(self, k: int) -> Any:
        blocks = [REPS[name](k) for name in self.names]
        whole = np.zeros((sum(map(len, blocks)),) * 2)
        at = 0
        for block in blocks:
            whole[at : at + len(block), at : at + len(block)] = block
            at += len(block)
        return whole

    def __call__(self, values: Tensor) -> Geometric:
        return Geometric(values, self)


class Geometric:
    """The attributes of escnn's GeometricTensor."""

    def __init__(self, tensor: Tensor, kind: Declared) -> None:
        assert tensor.shape[1] == kind.size
        self.tensor, self.type = tensor, kind


class Gradient(nn.Module):
    """Returns (d/dx, d/dy) with y upwards: a vector at each place, if `sign` is 1."""

    def __init__(self, sign: float = 1.0) -> None:
        super().__init__()
        self.in_type, self.out_type, self.sign = Declared(("trivial",)), Declared(("irrep_1",)), sign

    def evaluate_output_shape(self, shape: Any) -> Any:
        return shape

    def forward(self, x: Geometric) -> Geometric:
        assert x.type == self.in_type
        v = x.tensor
        right = v.roll(-1, -1) - v.roll(1, -1)
        up = v.roll(1, -2) - v.roll(-1, -2)
        return self.out_type(torch.cat([right, self.sign * up], 1))


class Norm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.in_type, self.out_type = Declared(("irrep_1",)), Declared(("trivial",))

    def evaluate_output_shape(self, shape: Any) -> Any:
        return shape

    def forward(self, x: Geometric) -> Geometric:
        assert x.type == self.in_type
        return self.out_type(x.tensor.square().sum(1, keepdim=True))


class Whole(nn.Module):
    """Takes a plain image, as most networks of escnn's users do."""

    def __init__(self, sign: float = 1.0) -> None:
        super().__init__()
        self.kind, self.gradient, self.norm = Declared(("trivial",)), Gradient(sign), Norm()

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.gradient(self.kind(x))).tensor.mean((2, 3))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_declared_vector_is_measured_as_one(sign: float) -> None:
    report = check_equivariance(Whole(sign), (2, 1, 9, 9), "C4")
    rows = {row.name: row for row in report.layers}
    assert rows["gradient"].field == "grid declared(1 irrep_1)" and not rows["gradient"].guessed
    assert rows["norm"].field == "grid scalar" and not rows["norm"].guessed
    assert report.verdict == ("holds" if sign == 1.0 else "broken")
    assert report.guilty == (() if sign == 1.0 else ("gradient",))
    assert (rows["gradient"].local_max or 0.0) < 1e-12 if sign == 1.0 else (rows["gradient"].local or 0.0) > 0.1
    assert rows["norm"].local is not None and rows["norm"].local < 1e-12  # fed alone with what is rotated as declared


def test_a_network_that_is_called_with_declared_tensors_is_called_so() -> None:
    net = nn.Module.__new__(Gradient)
    Gradient.__init__(net)
    report = check_equivariance(net, (2, 1, 8, 8), "C4")
    assert report.verdict == "holds" and report.layers[0].field == "grid declared(1 irrep_1)"
    assert not net._forward_hooks


def test_a_layer_that_gives_a_declared_tensor_can_be_intervened_in() -> None:
    """Every intervention there was told, and did nothing."""
    net, x = Whole().eval(), torch.rand(1, 1, 9, 9)
    inputs = Inputs((x,), (parse_field("grid scalar"),))
    layer, before = trace(net, inputs)["gradient"], net(x)
    hooks = Hooks(net, [(layer, change_of(parse_intervention("gradient[0]:zero"), net, layer, None))])
    with torch.no_grad():
        changed, up = net(x), net.gradient(net.kind(x)).tensor[:, 1:]
    hooks.remove()
    assert torch.equal(changed, up.square().mean((2, 3)))
    assert torch.equal(net(x), before)


class Added(nn.Module):
    """Declares nothing, and its answer carries its type; what it adds turns with nothing, unless it is zero."""

    def __init__(self, amount: float) -> None:
        super().__init__()
        self.amount = nn.Parameter(torch.tensor([amount, 0.0])[:, None, None])

    def forward(self, x: Geometric) -> Geometric:
        return x.type(x.tensor + self.amount)


class WithAdded(Whole):
    def __init__(self, amount: float) -> None:
        super().__init__()
        self.added = Added(amount)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.added(self.gradient(self.kind(x)))).tensor.mean((2, 3))


@pytest.mark.parametrize("amount", [0.0, 0.5])
def test_the_type_that_an_answer_carries_is_its_field(amount: float) -> None:
    report = check_equivariance(WithAdded(amount), (2, 1, 9, 9), "C4")
    rows = {row.name: row for row in report.layers}
    assert rows["added"].field == "grid declared(1 irrep_1)" and not rows["added"].guessed
    assert report.guilty == (("added",) if amount else ()) and report.verdict == ("broken" if amount else "holds")
    assert rows["norm"].verdict == "holds"  # it is fed what is turned as the answer says


class Oddly(nn.Module):
    """Names layers with the signs that the parts and calls of others are written with."""

    def __init__(self) -> None:
        super().__init__()
        for name in ("conv_[16]", "conv#2", "conv"):
            self.add_module(name, nn.Conv2d(1, 1, 3, padding=1))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.children():
            x = layer(x)
        return x + self.conv(x)


def test_layers_with_odd_names_are_watched() -> None:
    report = check_equivariance(Oddly(), (2, 1, 9, 9), "C4")
    assert [row.name for row in report.layers][:3] == ["conv_[16]", "conv#2", "conv"]
    assert all(row.local for row in report.layers[:3]) and {"conv_[16]", "conv"} <= set(report.guilty)


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (("trivial", "trivial"), Scalar),
        (("regular",) * 3, Regular),
        (("backwards",), DeclaredField),  # another order of channels than ours is told by trial
        (("regular", "trivial"), DeclaredField),
    ],
)
def test_a_declared_type_is_ours_where_it_acts_alike(names: tuple[str, ...], wanted: type) -> None:
    declared = Declared(names)
    rep = rep_of(declared, declared.size)
    assert type(rep) is wanted
    values = torch.randn(1, declared.size, 5, 5, dtype=torch.float64)
    for k in range(N):
        matrix = np.round(turn(k))
        found = Affine(tuple(matrix.ravel())).act(values, FieldType(Grid(), rep))  # type: ignore[arg-type]
        mix = torch.from_numpy(declared.representation(k))
        assert torch.allclose(found, torch.rot90(torch.einsum("rs,bsyx->bryx", mix, values), k, (2, 3)))


def test_an_element_outside_of_the_declared_group_has_no_action() -> None:
    rep = rep_of(Declared(("irrep_1",)), 2)
    mirror, field = Affine((-1.0, 0.0, 0.0, 1.0)), FieldType(Grid(), rep)  # type: ignore[arg-type]
    assert not mirror.exact(field, (1, 2, 5, 5))
    with pytest.raises(NoAction, match="not in its group"):
        mirror.act(torch.zeros(1, 2, 5, 5), field)


class Tensorial(nn.Module):
    irreps_in, irreps_out = "4x0e", "4x0e+2x1o"

    def forward(self, x: Tensor) -> Tensor:
        return x * 2


def test_irreps_of_space_are_shown_and_not_judged() -> None:
    x, edges = torch.randn(5, 4), torch.tensor([[0, 1], [1, 2]])

    class Net(nn.Module):
        def __init__(self, irreps: str) -> None:
            super().__init__()
            self.layer = Tensorial()
            self.layer.irreps_out = irreps

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.layer(x)

    said = check_equivariance(Net("4x0e+2x1o"), (x, edges), "permutation").warnings
    assert any("such as layer: 4x0e+2x1o; rotations are tested where the data is points" in n for n in said)
    assert not any("turn with space" in n for n in check_equivariance(Net("10x0e"), (x, edges), "permutation").warnings)


def test_irreps_that_lie_at_no_point_are_told_as_that() -> None:
    """Of values of all pairs in one axis it was said that rotations are tested by the group that was being tested."""
    net = nn.Sequential(Tensorial(), Tensorial())
    (alone,), (beside,) = untested(net, ()), untested(net, {"1"})
    assert "where the data is points in space" in alone and alone.startswith("2 layer(s)")
    assert "they lie at no point of the data" in beside and beside.startswith("1 layer(s)") and "such as 0: " in beside


@pytest.mark.filterwarnings("ignore")
def test_escnn_itself() -> None:
    gspaces, enn = pytest.importorskip("escnn.gspaces"), pytest.importorskip("escnn.nn")
    plane = gspaces.rot2dOnR2(4)
    kinds = [enn.FieldType(plane, reps) for reps in (
        [plane.trivial_repr], 3 * [plane.regular_repr], 2 * [plane.irrep(1)] + [plane.trivial_repr],
    )]  # fmt: skip
    torch.manual_seed(0)
    net = enn.SequentialModule(
        enn.R2Conv(kinds[0], kinds[1], 3, padding=1), enn.ReLU(kinds[1]), enn.R2Conv(kinds[1], kinds[2], 3, padding=1)
    )
    report = check_equivariance(net, (2, 1, 9, 9), "C4", dtype=torch.float32)
    assert report.verdict == "holds" and [row.field for row in report.layers] == [
        "grid regular(C4)", "grid regular(C4)", "grid declared(2 irrep_1 + 1 irrep_0)",
    ]  # fmt: skip
    values = torch.randn(1, kinds[2].size, 7, 7)
    ours = Affine((0.0, -1.0, 1.0, 0.0)).act(values, FieldType(Grid(), rep_of(kinds[2], kinds[2].size)))  # type: ignore[arg-type]
    theirs = kinds[2](values).transform(plane.fibergroup.element(1)).tensor
    assert torch.allclose(ours, theirs, atol=1e-6)
