"""Networks that people build of e3nn's layers, beside e3nn's own measure of equivariance."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from equiscope.inputs import points
from explorer.equivariance.check import check_equivariance

o3 = pytest.importorskip("e3nn.o3")
enn = pytest.importorskip("e3nn.nn")
HIDDEN = "4x0e+4x1o"


class Convolution(nn.Module):
    """A tensor product with spherical harmonics of each edge, weighted by its length; the fault adds a coordinate."""

    def __init__(self, into: str, out: str, fault: bool = False) -> None:
        super().__init__()
        self.harmonics = o3.Irreps.spherical_harmonics(2)
        self.tp = o3.FullyConnectedTensorProduct(into, self.harmonics, out, shared_weights=False)
        self.fc = enn.FullyConnectedNet([4, 16, self.tp.weight_numel], torch.nn.functional.silu)
        self.irreps_in, self.irreps_out, self.fault = o3.Irreps(into), o3.Irreps(out), fault

    def forward(self, x: Tensor, pos: Tensor, edge_index: Tensor) -> Tensor:
        i, j = edge_index
        along = pos[i] - pos[j]
        length = along.norm(dim=1, keepdim=True)
        harmonics = o3.spherical_harmonics(self.harmonics, along, normalize=True, normalization="component")
        basis = torch.exp(-((length - torch.linspace(0, 3, 4, dtype=length.dtype)) ** 2))
        message = self.tp(x[i], harmonics, self.fc(basis))
        if self.fault:
            message = message + 0.1 * along[:, :1]
        return message.new_zeros(len(x), message.shape[1]).index_add(0, j, message)


class Net(nn.Module):
    def __init__(self, fault: bool = False, out: str = "1x1o") -> None:
        super().__init__()
        self.conv1 = Convolution("3x0e", HIDDEN)
        self.norm = enn.NormActivation(o3.Irreps(HIDDEN), torch.tanh)
        self.conv2 = Convolution(HIDDEN, HIDDEN, fault)
        self.lin = o3.Linear(HIDDEN, out)

    def forward(self, x: Tensor, pos: Tensor, edge_index: Tensor) -> Tensor:
        h = self.norm(self.conv1(x, pos, edge_index))
        found: Tensor = self.lin(self.conv2(h, pos, edge_index))
        return found


def data() -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(0)
    one_way = torch.combinations(torch.arange(6)).T
    return {
        "x": torch.randn(6, 3, generator=generator),
        "pos": torch.randn(6, 3, generator=generator),
        "edge_index": torch.cat([one_way, one_way.flip(0)], 1),
    }


@pytest.mark.parametrize(("fault", "out"), [(False, "1x1o"), (False, "2x0e"), (True, "1x1o")])
def test_constants_in_single_precision_are_no_fault_and_a_fault_is_named(fault: bool, out: str) -> None:
    torch.manual_seed(1)
    model, given = Net(fault, out), data()
    report = check_equivariance(model, given, "O3", dtype=torch.float64)
    from e3nn.util.test import equivariance_error

    whole = model.double()
    theirs = equivariance_error(
        lambda x, pos: whole(x, pos, given["edge_index"]),
        [given["x"].double(), given["pos"].double()], ["3x0e", "cartesian_points"], [out], ntrials=4,
    )  # fmt: skip
    error = max(float(found.max()) for found in theirs.values())
    if fault:
        assert report.verdict == "broken" and list(report.guilty) == ["conv2"] and error > 1e-2
    else:
        # e3nn keeps coefficients of coupling in single precision
        assert report.verdict == "holds" and error < 1e-6
        assert report["conv2"].local_max is not None and report["conv2"].local_max < 1e-6


class Paired(nn.Module):
    """Harmonics of all pairs, a tensor product that is compiled inside, and at last what mixes channels as it likes."""

    def __init__(self, bent: bool) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.sh = o3.SphericalHarmonics("0e+1o+2e", normalize=True)
        self.tp = o3.FullyConnectedTensorProduct("0e+1o+2e", "0e+1o+2e", "8x0e+4x1o")
        self.lin = o3.Linear("8x0e+4x1o", "2x0e+1x1o")
        self.bend = nn.Linear(5, 5) if bent else nn.Identity()

    def forward(self, pos: Tensor) -> Tensor:
        d = pos[:, None] - pos[None]
        s = self.sh(d)
        h = self.tp(s, s) * torch.exp(-d.pow(2).sum(-1, keepdim=True))
        found: Tensor = self.bend(self.lin(h.sum(1)))
        return found


@pytest.mark.parametrize("bent", [False, True])
def test_the_layer_is_named_and_not_what_is_compiled_inside_of_one_that_keeps_its_law(bent: bool) -> None:
    """Coefficients in single precision are no fault either: what they add to a layer's input was laid to code."""
    given = points(position=torch.randn(7, 3))
    report = check_equivariance(Paired(bent), given, "E3", details=False)
    assert report.verdict == ("broken" if bent else "holds")
    assert report.guilty == (("bend",) if bent else ())
    assert not any("code before" in note for note in report.warnings)
