"""Modules of e3nn are taken at their word: their irreps are fields of points, and e3nn's own figure is found again."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from equiscope import check_equivariance
from explorer.declare.inputs import Inputs
from explorer.spaces.graph.fields import EDGE_INDEX
from explorer.spaces.points.elements.isometry import Isometry
from explorer.spaces.points.fields import POSITION, particle

o3 = pytest.importorskip("e3nn.o3")
HIDDEN, OUT = "4x0e+3x1o+2x2e", "2x0e+1x1o"


class Messages(nn.Module):
    """One convolution of a tensor field network in the words of e3nn, with a fault where `broken` says so."""

    def __init__(self, broken: bool = False) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.tensor = o3.FullyConnectedTensorProduct("1x0e", "1x0e+1x1o+1x2e", HIDDEN)
        self.linear = o3.Linear(HIDDEN, HIDDEN)
        self.mixed = nn.Linear(self.linear.irreps_out.dim, self.linear.irreps_out.dim) if broken else nn.Identity()
        self.mixed.irreps_out = o3.Irreps(HIDDEN)
        self.out = o3.Linear(HIDDEN, OUT)

    def forward(self, position: Tensor, edge_index: Tensor) -> Tensor:
        source, target = edge_index
        along = position[source] - position[target]
        harmonics = o3.spherical_harmonics("1x0e+1x1o+1x2e", along, normalize=True, normalization="component")
        size = along.norm(dim=1, keepdim=True)
        sent = self.tensor((-size).exp(), harmonics)
        found = torch.zeros(len(position), sent.shape[1], dtype=sent.dtype).index_add(0, target, sent)
        made: Tensor = self.out(self.mixed(self.linear(found)))
        return made


def cloud() -> Inputs:
    position = torch.randn(7, 3, generator=torch.Generator().manual_seed(0))
    every = torch.cartesian_prod(torch.arange(7), torch.arange(7)).t()
    edges = every[:, every[0] != every[1]]
    return Inputs((position, edges), (POSITION, EDGE_INDEX), ("position", "edge_index"))


@pytest.mark.filterwarnings("ignore")
def test_irreps_are_fields_and_not_guesses() -> None:
    report = check_equivariance(Messages(), cloud(), "O3")
    rows = {row.name: row for row in report.layers}
    assert report.verdict == "holds" and not any("turn with space" in n for n in report.warnings)
    assert (rows["linear"].field, rows["linear"].guessed) == (f"particle irreps({HIDDEN})", False)
    assert (rows["out"].field, rows["out"].guessed) == (f"particle irreps({OUT})", False)
    assert rows["tensor"].field == f"edge irreps({HIDDEN})" and rows["tensor"].verdict == "holds"
    assert rows["linear"].local is not None and rows["linear"].local < 1e-12  # fed alone with turned irreps


@pytest.mark.filterwarnings("ignore")
def test_a_layer_that_mixes_what_turns_apart_is_named() -> None:
    report = check_equivariance(Messages(broken=True), cloud(), "SO3")
    assert report.verdict == "broken" and report.guilty == ("mixed",)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("broken", [False, True])
def test_the_figure_of_e3nn_is_found_again(broken: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its `equivariance_error` is the largest |e| under a rotation that it draws: here that of our element."""
    testing = pytest.importorskip("e3nn.util.test")
    module: Any = nn.Linear(13, 13) if broken else o3.Linear("4x0e+3x1o", "4x0e+3x1o")
    module = module.double()
    torch.manual_seed(0)
    turn = o3.rand_matrix(dtype=torch.float64)
    monkeypatch.setattr(o3, "rand_matrix", lambda *_, **__: turn)
    monkeypatch.setattr(testing.o3, "rand_matrix", lambda *_, **__: turn)
    x = torch.randn(5, 13, dtype=torch.float64)
    found = testing.equivariance_error(
        module, [x], ["4x0e+3x1o"], ["4x0e+3x1o"], ntrials=1, do_parity=False, do_translation=False,
        transform_dtype=torch.float64,
    )  # fmt: skip
    theirs = float(next(iter(found.values())).max())
    field = particle("4x0e+3x1o")
    element = Isometry(tuple(turn.flatten().tolist()))
    with torch.no_grad():
        error = element.act(module(x), field) - module(element.act(x, field))
    assert float(error.abs().max()) == pytest.approx(theirs, abs=1e-6)  # it rotates in single precision
    assert (theirs > 0.1) == broken


def test_irreps_that_do_not_fit_are_not_taken() -> None:
    class Says(nn.Identity):
        irreps_out = "2x1o"

    given = Inputs((torch.randn(5, 4),), (particle("4x0e"),), ("x",))
    report = check_equivariance(Says(), given, "permutation")
    assert report.holds and "2x1o" not in report.layers[0].field
