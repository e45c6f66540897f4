"""Arguments that a forward must be given and that are None: left out by name, found by trial, said, given in Python."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from equiscope import check_equivariance
from explorer.app.answering.engine import LocalEngine
from explorer.network.changing.copying import duplicate
from explorer.network.input.absent import without
from explorer.network.opening.loading import find_card, load_model
from explorer.network.opening.refusals import ModelError
from explorer.network.tracing.layers import LayerError
from tests.explorer.parts.own_files import checked_under, written

RING = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
CODE = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 3)

class Weighted(Net):
    def forward(self, x, weights, edge_index):
        h = self.first(x)
        if weights is not None:
            h = h * weights["own"]
        return h.index_add(0, edge_index[1], h[edge_index[0]])

class Paired(Net):
    def forward(self, x, edge_index, edge_attr):
        scalars, vectors, more, others = x
        return self.first(scalars) + vectors.norm(dim=-1) + edge_attr[0] + more + others
"""


class Middle(nn.Module):
    """Tells what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x: Tensor, mask: Tensor | None, y: Tensor, *more: Tensor, times: float = 2.0) -> Tensor:
        assert mask is None
        return self.scale * (x - y) * times + sum(more)


def test_the_others_keep_their_places_and_names() -> None:
    made = without(Middle(), ["mask"])
    x, y = torch.tensor(3.0), torch.tensor(1.0)
    assert list(inspect.signature(made.forward).parameters) == ["x", "y", "more", "times"]
    assert [made(x, y).item(), made(x, y, x).item(), made(x, y=y, times=1.0).item()] == [4.0, 7.0, 2.0]
    twin = duplicate(made)
    with torch.no_grad():
        twin.get_parameter("scale").zero_()
    assert [made(x, y).item(), twin(x, y).item()] == [4.0, 0.0]  # a copy runs with its own weights
    with pytest.raises(ValueError, match=r"takes \(x, y, more, times\), and 'mask' is none of them"):
        without(made, ["mask"])


def test_one_in_the_middle_is_found_and_told_and_can_be_said(tmp_path: Path) -> None:
    name = f"{written(tmp_path, CODE)}:Weighted"
    assert LocalEngine({}, trust=True).card(name).input.absent == ("weights",)
    report = checked_under("permutation", name, "karate")
    assert report.verdict == "holds" and any(note.startswith("weights is None") for note in report.warnings)
    said = find_card(f"{name}[graph signals=x,edge_index channels=4 absent=weights]", {}, trust=True)
    x = torch.rand(4, 4)
    assert torch.equal(load_model(said)(x, RING), load_model(find_card(name, {}, trust=True))(x, RING))
    with pytest.raises(ModelError, match="'weight' is none of them"):
        load_model(find_card(f"{name}[graph signals=x,edge_index absent=weight]", {}, trust=True))


def test_none_among_the_arguments_in_python(tmp_path: Path) -> None:
    held: dict[str, object] = {}
    exec(CODE, held)
    network = held["Weighted"]()  # type: ignore[operator]
    assert check_equivariance(network, (torch.rand(4, 4), None, RING), "permutation").verdict == "holds"
    assert "weights" in inspect.signature(network.forward).parameters  # it is left as it was
    with pytest.raises(ValueError, match="argument 3 of the data is None"):
        check_equivariance(network, (torch.rand(4, 4), None, RING, None), "permutation")


def test_what_runs_with_nothing_that_was_tried_says_so(tmp_path: Path) -> None:
    name = f"{written(tmp_path, CODE)}:Paired"
    with pytest.raises(LayerError, match="it runs with no signals of a graph that were tried; --input says what"):
        checked_under("permutation", name, "karate")
