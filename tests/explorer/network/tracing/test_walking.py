"""Walks through a network meet what torch's own meet, in the same order."""

from __future__ import annotations

import torch
from torch import nn

from explorer.network.tracing.walking import attribute, modules_of, named_modules, named_tensors, parameters_of


class Odd(nn.Module):
    """A module with a child twice, a slot for one that is not there, a shared weight and an attribute of its class."""

    told = "by the class"

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
        self.again = self.first[0]
        self.missing = None
        self.register_module("empty", None)
        self.second = nn.Linear(4, 4)
        self.third = nn.Linear(4, 4)
        self.third.weight = self.second.weight
        self.register_buffer("none", None)
        self.register_buffer("table", torch.zeros(3))
        self.scale = nn.Parameter(torch.ones(()))


class Scripted(nn.Module):
    """A module with a script inside."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = torch.jit.script(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)))


def test_modules_and_names_are_those_of_torch() -> None:
    for network in (Odd(), Scripted(), nn.ReLU()):
        assert [id(m) for m in modules_of(network)] == [id(m) for m in network.modules()]
        assert named_modules(network) == list(network.named_modules())
        assert named_modules(network, each_name=True) == list(network.named_modules(remove_duplicate=False))


def test_tensors_are_those_of_torch() -> None:
    network = Odd()
    held = [*network.named_parameters(), *network.named_buffers()]
    assert [(n, id(v)) for n, v in named_tensors(network)] == [(n, id(v)) for n, v in held]
    assert list(dict.fromkeys(map(id, parameters_of(network)))) == list(map(id, network.parameters()))
    script = Scripted()
    assert [n for n, _ in named_tensors(script)] == [
        n for n, _ in (*script.named_parameters(), *script.named_buffers())
    ]


def test_attributes_are_found_wherever_they_are() -> None:
    network = Odd()
    for name in ("told", "first", "scale", "table", "training", "forward"):
        assert torch.is_tensor(found := attribute(network, name)) or found == getattr(network, name), name
    assert attribute(network, "scale") is network.scale
    assert attribute(network, "table") is network.table
    assert attribute(network, "out_rep") is None

    class Delegates(nn.Module):
        def __getattr__(self, name: str) -> object:
            return "of another" if name == "out_rep" else super().__getattr__(name)

    assert attribute(Delegates(), "out_rep") == "of another"
