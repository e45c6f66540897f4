"""Interventions on a network: closed forms, every form of result, and nothing left behind."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn

from explorer.declare.inputs import Inputs
from explorer.declare.states.interventions import parse_intervention
from explorer.declare.types.field_text import parse_field
from explorer.network.changing.interventions.changes import change_of
from explorer.network.changing.interventions.hooks import Hooks, with_tensor
from explorer.network.tracing.capture import capture, feed
from explorer.network.tracing.layers import LayerError, Trace
from explorer.network.tracing.trace import trace


def traced(model: nn.Module, inputs: Inputs, **options: Any) -> Trace:
    return trace(model.eval(), inputs, **options)


def image(*shape: int) -> Inputs:
    return Inputs((torch.randn(shape, dtype=torch.float64),), (parse_field("grid scalar"),))


def hooked(model: nn.Module, t: Trace, *texts: str, kept: dict[str, Tensor] | None = None) -> Hooks:
    found = []
    for one in map(parse_intervention, texts):
        layer = t[one.layer]
        values = (lambda name=one.layer: kept.get(name)) if kept is not None else None
        found.append((layer, change_of(one, model, layer, values)))
    return Hooks(model, found)


def hooks_on(model: nn.Module) -> int:
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())


@pytest.fixture
def linear() -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.Conv2d(4, 3, 1)).double()


def test_zeroing_a_channel_of_a_linear_network_takes_its_part_away(linear: nn.Sequential) -> None:
    x, k = image(1, 2, 5, 5), 2
    t = traced(linear, x)
    whole, middle = linear(x.x), linear[0](x.x)
    hooks = hooked(linear, t, f"0[{k}]:zero")
    expected = whole - torch.einsum("o,byx->boyx", linear[1].weight[:, k, 0, 0], middle[:, k])
    assert torch.allclose(linear(x.x), expected, rtol=0, atol=1e-14)
    hooks.remove()
    assert torch.equal(linear(x.x), whole)
    assert hooks_on(linear) == 0


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("0:zero", lambda h: h * 0),
        ("0:scale=-2", lambda h: -2 * h),
        ("0[1]:scale=0.5", lambda h: h * torch.tensor([1, 0.5, 1, 1]).double()[:, None, None]),
        ("0[head 1/2]:zero", lambda h: torch.cat((h[:, :2], h[:, 2:] * 0), 1)),
        ("0[pixel 1,3]:zero", lambda h: h * (torch.arange(25).reshape(5, 5) != 8)),
        ("0[place 8]:zero", lambda h: h * (torch.arange(25).reshape(5, 5) != 8)),
    ],
)
def test_the_next_layer_sees_what_was_changed(linear: nn.Sequential, text: str, change: Any) -> None:
    x = image(3, 2, 5, 5)  # a batch: each sample alike
    t = traced(linear, x.with_x(x.x[:1]))
    hooks = hooked(linear, t, text)
    values, fed = capture(linear, x, ["0", "1"], inputs=True)
    hooks.remove()
    assert torch.equal(values["0"], change(linear[0](x.x)))
    assert torch.equal(fed["1"][0], values["0"])
    assert torch.equal(values["1"], linear[1](values["0"]))


def test_a_channel_of_a_node_field_and_a_node() -> None:
    net, x = nn.Sequential(nn.Linear(3, 4)).double(), torch.randn(6, 3, dtype=torch.float64)
    inputs = Inputs((x,), (parse_field("node scalar"),))
    t = traced(net, inputs)
    for text, where in (("0[2]:zero", (slice(None), 2)), ("0[node 5]:zero", (5, slice(None)))):
        hooks = hooked(net, t, text)
        expected = net[0].forward(x).clone()
        expected[where] = 0
        assert torch.equal(net(x), expected)
        hooks.remove()
    with pytest.raises(ValueError, match="no step; its parts are channel, head, node or place"):
        hooked(net, t, "0[step 1]:zero")
    with pytest.raises(ValueError, match="no node 6; there are 0 to 5"):
        hooked(net, t, "0[node 6]:zero")
    with pytest.raises(ValueError, match="nothing says how many heads"):
        hooked(net, t, "0[head 1]:zero")
    with pytest.raises(ValueError, match="make no 3 heads"):
        hooked(net, t, "0[head 1/3]:zero")


class Twice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.relu(self.conv(self.relu(self.conv(x))))


@pytest.mark.parametrize("call", [1, 2])
def test_one_call_of_a_layer_is_changed_and_the_other_is_not(call: int) -> None:
    net, x = Twice().double(), image(1, 2, 4, 4)
    t = traced(net, x)
    first, second = "conv", "conv#2"
    hooks = hooked(net, t, f"{first if call == 1 else second}:scale=3")
    for _ in range(2):  # calls are counted in each run
        found, _fed = capture(net, x, [first, second], clone=True)
    h = net.conv.forward(x.x) * (3 if call == 1 else 1)
    assert torch.equal(found[first], h)
    assert torch.equal(found[second], net.conv.forward(h.relu()) * (3 if call == 2 else 1))
    # alone it stands for the call that it is asked about
    assert torch.equal(feed(net, t, second, (x.x,)), net.conv.forward(x.x) * (3 if call == 2 else 1))
    hooks.remove()


def test_what_is_kept_survives_layers_that_work_in_place() -> None:
    net, x = Twice().double(), image(1, 2, 4, 4)
    t = traced(net, x)
    kept = {"conv": net.conv(x.x).detach() - 1}
    before = kept["conv"].clone()
    hooks = hooked(net, t, "conv:freeze", kept=kept)
    net(x.x + 1)
    assert torch.equal(kept["conv"], before)
    hooks.remove()


def test_everything_frozen_changes_nothing(linear: nn.Sequential) -> None:
    x, other = image(1, 2, 5, 5), image(1, 2, 5, 5)
    t = traced(linear, x)
    kept: dict[str, Tensor] = {}
    hooks = hooked(linear, t, "0:freeze", "1:freeze", kept=kept)
    values, _ = capture(linear, x, ["0", "1"])
    assert torch.equal(values["1"], linear(x.x))  # nothing is frozen yet
    kept.update(values)
    again, _ = capture(linear, other, ["0", "1"])
    assert all(torch.equal(again[name], values[name]) for name in values)
    hooks.remove()


def test_a_frozen_channel_is_that_of_the_other_run(linear: nn.Sequential) -> None:
    x, other = image(1, 2, 5, 5), image(1, 2, 5, 5)
    t = traced(linear, x)
    kept = {"0": linear[0](x.x).detach()}
    hooks = hooked(linear, t, "0[1]:freeze", kept=kept)
    expected = linear[0].forward(other.x).clone()
    expected[:, 1] = kept["0"][:, 1]
    assert torch.equal(capture(linear, other, ["0"])[0]["0"], expected)
    with pytest.raises(LayerError, match="it gives 1×4×6×5 on this input"):
        linear(torch.randn(1, 2, 6, 5, dtype=torch.float64))
    hooks.remove()


def test_a_copy_has_hooks_of_its_own(linear: nn.Sequential) -> None:
    x = image(1, 2, 5, 5)
    hooks = hooked(linear, traced(linear, x), "0:zero")
    twin = copy.deepcopy(linear)
    hooks.remove()
    assert hooks_on(linear) == 0
    assert torch.equal(twin(x.x), linear[1](torch.zeros(1, 4, 5, 5).double()))


class Failing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.bad = nn.Conv2d(2, 2, 1), False

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv(x)
        if self.bad:
            raise RuntimeError("no")
        return self.conv(x)


def test_a_run_that_fails_is_forgotten_by_the_next() -> None:
    net, x = Failing().double(), image(1, 2, 4, 4)
    t = traced(net, x)
    hooks = hooked(net, t, "conv#2:zero")
    net.bad = True
    with pytest.raises(RuntimeError):
        net(x.x)
    net.bad = False
    assert not net(x.x).any()
    assert feed(net, t, "conv", (x.x,)).any()
    hooks.remove()


# heads ------------------------------------------------------------------------------------------------------------
class Attends(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mha = nn.MultiheadAttention(8, 4, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.mha(x[None], x[None], x[None])[0][0]


@pytest.mark.parametrize("head", [0, 3])
def test_a_head_is_taken_out_of_the_sum(head: int) -> None:
    net, x = Attends().double(), torch.randn(5, 8, dtype=torch.float64)
    inputs = Inputs((x,), (parse_field("node scalar"),))
    t = traced(net, inputs, overrides={})
    w = net.mha.out_proj.weight
    with torch.no_grad():
        parts = [net(x) - net.mha.out_proj.bias]
        saved = w.clone()
        w[:, 2 * head : 2 * head + 2] = 0
        without = net(x)
        w.copy_(saved)
    hooks = hooked(net, t, f"mha[head {head}]:zero")
    assert torch.allclose(net(x), without, rtol=0, atol=1e-14)
    hooks.remove()
    hooks = hooked(net, t, f"mha[head {head}]:scale=2")
    assert torch.allclose(net(x), 2 * (parts[0] + net.mha.out_proj.bias) - without, rtol=0, atol=1e-14)
    hooks.remove()
    assert torch.equal(w, saved)


# forms of results ---------------------------------------------------------------------------------------------------
class Pair(NamedTuple):
    one: Tensor
    two: Tensor


@dataclass(frozen=True)
class Held:
    one: Tensor
    rest: tuple[Tensor, str]


def test_a_tensor_is_replaced_inside_of_any_result() -> None:
    a, b, c = (torch.full((1,), float(k)) for k in range(3))
    assert with_tensor(a, 0, c) is c
    found = with_tensor(Pair(a, b), 1, c)
    assert isinstance(found, Pair)
    assert found.one is a
    assert found.two is c
    held = with_tensor(Held(a, (b, "x")), 1, c)
    assert isinstance(held, Held)
    assert held.one is a
    assert held.rest == (c, "x")
    nested = {"k": [a, {"z": b}], "n": None}
    changed = with_tensor(nested, 1, c)
    assert changed["k"][1]["z"] is c
    assert nested["k"][1]["z"] is b  # the module's own result is left alone
    assert with_tensor((a, b), 5, c) == (a, b)


class Returns(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(3, 4)

    def forward(self, x: Tensor) -> Tensor:
        out, (h, _) = self.lstm(x)
        return out + h


def test_the_first_tensor_of_a_tuple_is_changed() -> None:
    net, x = Returns().double(), torch.randn(5, 3, dtype=torch.float64)
    inputs = Inputs((x,), (parse_field("step scalar"),))
    t = traced(net, inputs)
    hooks = hooked(net, t, "lstm:zero")
    assert torch.equal(net(x), net.lstm.forward(x)[1][0].expand(5, 4))
    hooks.remove()


class Kind:
    """The attributes of escnn's FieldType."""

    gspace = representation = representations = None
    size = 2

    def __call__(self, values: Tensor) -> Typed:
        return Typed(values, self)


class Typed:
    """The attributes of escnn's GeometricTensor."""

    def __init__(self, tensor: Tensor, kind: Kind) -> None:
        self.tensor, self.type = tensor, kind


def test_a_tensor_that_carries_its_type_is_replaced_with_it() -> None:
    """Every intervention in a layer of escnn was told, and did nothing."""
    a, b = torch.zeros(1, 2), torch.ones(1, 2)
    given = Kind()(a)
    found = with_tensor([given, b], 0, b)
    assert isinstance(found[0], Typed)
    assert found[0].tensor is b
    assert found[0].type is given.type
    assert given.tensor is a


def test_what_has_no_places_is_not_counted_among_what_is_replaced() -> None:
    sparse, b, c = torch.ones(2, 2).to_sparse(), torch.zeros(2), torch.ones(2)
    found = with_tensor((sparse, b), 0, c)
    assert found[0] is sparse
    assert found[1] is c
