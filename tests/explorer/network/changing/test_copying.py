"""A copy of a network is what a deep copy is: ties, buffers, hooks and attributes of its own, nothing shared."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from explorer.network.changing.copying import copied_module, duplicate


class Tied(nn.Module):
    """Share a weight, hold itself in a list, a table of its own and a module outside of the tree."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)
        self.second.weight = self.first.weight
        self.again = self.first
        self.norm = nn.BatchNorm1d(3)
        self.table = {"x": torch.ones(2), "empty": []}
        self.above: list[nn.Module] = [self]
        self.size = (2, 3)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.norm(self.second(self.again(x)))
        return found


class Own(nn.Module):
    """Say itself how it is copied."""

    def __init__(self) -> None:
        super().__init__()
        self.copies = 0

    def __deepcopy__(self, memo: dict[int, Any]) -> Own:
        made = Own()
        made.copies = self.copies + 1
        return made


def test_ties_and_attributes_are_those_of_a_deep_copy() -> None:
    torch.manual_seed(0)
    model = Tied()
    model.first.register_forward_hook(lambda *_: None)
    made, other = copied_module(model, {}), copy.deepcopy(model)
    assert isinstance(made, Tied) and made.above[0] is made and made.again is made.first
    assert made.first.weight is made.second.weight and made.first.weight is not model.first.weight
    assert made.table["x"] is not model.table["x"] and made.table["empty"] is not model.table["empty"]
    assert len(made.first._forward_hooks) == 1 and made.size == (2, 3)
    assert (
        vars(made).keys() == vars(other).keys()
        and dict(made.named_children()).keys() == dict(model.named_children()).keys()
    )
    assert all(torch.equal(a, b) for a, b in zip(made.state_dict().values(), model.state_dict().values(), strict=True))
    x = torch.randn(4, 3)
    assert torch.equal(made.eval()(x), other.eval()(x))
    made.norm(x + 5), made.train()(x)
    assert torch.equal(model.norm.running_mean, other.norm.running_mean)  # type: ignore[arg-type]


class Views(nn.Module):
    """Hold buffers that share their numbers, lie across them, or need another care than to be cloned."""

    def __init__(self) -> None:
        super().__init__()
        whole = torch.arange(6.0)
        for name, value in {
            "whole": whole, "part": whole[2:4], "turned": torch.arange(6.0).reshape(2, 3).T,
            "spread": torch.ones(1).expand(4),
            "alone": torch.arange(4), "again": whole.view(2, 3), "few": torch.arange(9.0)[:3],
            "sparse": torch.eye(3).to_sparse(),
            "complex": torch.randn(3, dtype=torch.complex64).conj(), "asked": torch.zeros(2, requires_grad=True),
        }.items():  # fmt: skip
            self.register_buffer(name, value)
        self.alone.said = "by its owner"  # type: ignore[union-attr]


def test_buffers_that_share_their_numbers_still_do_so_in_the_copy() -> None:
    model = Views()
    made, other = copied_module(model, {}), copy.deepcopy(model)
    for (name, one), (_, two), (_, old) in zip(
        made.named_buffers(), other.named_buffers(), model.named_buffers(), strict=True
    ):
        assert torch.equal(one.to_dense(), two.to_dense()) and one.requires_grad == two.requires_grad, name
        assert one.is_leaf and vars(one) == vars(two) and one is not old, name
        if not one.is_sparse:
            assert one.stride() == two.stride() and one.untyped_storage().data_ptr() != old.untyped_storage().data_ptr()
    made.get_buffer("whole")[2] = 50.0
    assert made.get_buffer("part")[0] == made.get_buffer("again")[0, 2] == 50.0 and model.get_buffer("part")[0] == 2.0


def test_a_module_that_says_how_it_is_copied_is_asked() -> None:
    (made,) = copied_module(nn.Sequential(Own()), {}).children()
    assert isinstance(made, Own) and made.copies == 1


def test_what_is_copied_already_is_taken() -> None:
    model, known = nn.Linear(2, 2), torch.zeros(2, 2)
    made = copied_module(model, {id(model.weight): nn.Parameter(known)})
    assert torch.equal(made.weight, known)  # type: ignore[arg-type]


class Turns:
    """A group in the manner of escnn: its elements are keys of its own table, which no deep copy can follow."""

    def __init__(self) -> None:
        self.table = {Element(self, k): k for k in range(4)}


class Element:
    def __init__(self, group: Turns, number: int) -> None:
        self.group, self.number = group, number

    def __hash__(self) -> int:
        return hash((id(self.group), self.number))


def test_what_cannot_be_copied_and_is_no_part_of_the_network_is_shared() -> None:
    model = Tied()
    model.turn, model.also = next(iter(Turns().table)), [torch.ones(2)]  # type: ignore[assignment]
    model.of_turns = model.turn.group  # type: ignore[assignment]
    with pytest.raises(AttributeError):
        copy.deepcopy(model)
    made: Any = copied_module(model, {})
    assert made.turn is model.turn and len(made.of_turns.table) == 4
    assert made.first.weight is not model.first.weight and made.also[0] is not model.also[0]


class Enclosing(nn.Module):
    """Holds functions that its constructor has made of its layers, as minGPT does."""

    def __init__(self) -> None:
        super().__init__()
        self.mlp = nn.ModuleDict({"fc": nn.Linear(3, 4), "proj": nn.Linear(4, 2)})
        layers, m, unset = [self.mlp["fc"], self.mlp["proj"]], self.mlp, None
        self.run = lambda x: m["proj"](m["fc"](x).relu())
        self.each = lambda x, layers=layers: [layer.weight.sum() for layer in layers] + [x, unset]
        self.plain = lambda x: 2 * x

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.plain(self.run(x))


def test_functions_that_enclose_layers_run_those_of_the_copy() -> None:
    network, x = Enclosing(), torch.rand(5, 3)
    twin = duplicate(network).double()
    assert twin(x.double()).dtype == torch.float64 and network(x).dtype == torch.float32
    seen: list[str] = []
    twin.get_submodule("mlp.fc").register_forward_hook(lambda *_: seen.append("fc"))
    twin(x.double())
    assert seen == ["fc"] and twin.each(x)[0].dtype == torch.float64
    assert twin.plain is network.plain  # what encloses nothing of it is shared


class Kept(nn.Module):
    """Keeps what a layer gives by hooks of closures, in a table and in a list of its own, and reads that at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(3, 3), nn.Linear(3, 3)
        self.seen: dict[str, Tensor] = {}
        self.all: list[Tensor] = []
        entries = self.all
        self.first.register_forward_hook(lambda module, given, result: self.seen.update(first=result))
        self.last.register_forward_pre_hook(lambda module, given: entries.append(given[0]))
        self.last.register_forward_hook(self.doubled)

    def doubled(self, module: nn.Module, given: tuple[Tensor, ...], result: Tensor) -> Tensor:
        return 2 * result + self.first.bias

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.last(self.first(x))
        return y + self.seen.pop("first") + self.all.pop()


def test_hooks_that_keep_values_keep_them_in_the_copy() -> None:
    torch.manual_seed(0)
    network, x = Kept(), torch.rand(5, 3)
    expected = network(x)
    twin = duplicate(network).double()
    assert torch.allclose(twin(x.double()).float(), expected) and torch.equal(network(x), expected)
    assert not network.seen and not network.all and not twin.seen and not twin.all
