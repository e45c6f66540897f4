"""Trials leave a network as it is, its own hooks included, and put those of the program aside."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from explorer.network.inner.watching import watching
from explorer.network.tracing.trials import Counting, answer_of, pointwise


class Reads(nn.Module):
    """Returns what a hook of its own has kept of a layer."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.kept = nn.Linear(3, 3), list[Tensor]()
        self.layer.register_forward_hook(lambda module, given, result: self.kept.append(result))

    def forward(self, x: Tensor) -> Tensor:
        self.layer(x)
        return self.kept.pop()


def test_hooks_of_a_network_take_part_in_its_trials() -> None:
    network, x = Reads(), torch.rand(2, 3)
    found = answer_of(network, [x])
    assert found is not None and torch.equal(found, network.layer(x)) and len(network.layer._forward_hooks) == 1


def test_a_hook_that_mixes_places_is_seen_in_a_trial() -> None:
    plain, mixed = nn.ReLU(), nn.ReLU()
    mixed.register_forward_hook(lambda module, given, result: result.flip(-1))
    assert pointwise(plain, [torch.rand(2, 3)], {}) and not pointwise(mixed, [torch.rand(2, 3)], {})


def test_hooks_of_the_program_rest_in_a_trial() -> None:
    network, x = Reads(), torch.rand(2, 3)

    def call(made: nn.Module, given: tuple[Tensor, ...]) -> Any:
        answer_of(made, given)  # within another trial, whose hooks count what is called
        return made(*given)

    counting = Counting(call)
    assert answer_of(network, [x], counting) is not None
    assert counting.calls == 2, "the layer and the network, once each"


def test_hooks_of_the_program_rest_also_where_they_watch_what_arises_inside() -> None:
    network, x = nn.RNN(3, 4, batch_first=True), torch.rand(2, 5, 3)
    found: list[str] = []
    with watching(network, lambda name, inner: found.append(name)) as finish:
        answer_of(network, [x])
        network(x)
        finish()
    assert found and not any("#" in name for name in found), "the trial was none of its calls"


def test_a_trial_gives_no_shapes_to_a_layer_that_has_none_yet() -> None:
    """The hook by which such a layer takes the shape of its first data is one of its own."""
    layer = nn.LazyLinear(3)
    assert answer_of(layer, (torch.randn(2, 4),)) is None and is_lazy(layer.weight)
    layer(torch.randn(2, 5))
    assert layer.weight.shape == (3, 5)
