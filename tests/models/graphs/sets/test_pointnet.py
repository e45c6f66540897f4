"""Row S1, PointNet: the maximum over the points, and the critical points, which are all that it hears."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from models.graphs.sets.pointnet import PointNet
from tests.models.graphs.relabelling import Shuffle, law_errors


def run(net: nn.Module, x: Tensor, batch: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the output, the marks of the critical points, and the channels they won."""
    seen: dict[str, Tensor] = {}
    handles = [
        net.get_submodule(name).register_forward_hook(lambda _m, _a, y, name=name: seen.update({name: y}))
        for name in ("critical", "won")
    ]
    with torch.no_grad():
        y = net(x, batch)
    for handle in handles:
        handle.remove()
    return y, seen["critical"][:, 0] > 0, seen["won"][:, 0]


def test_the_formula() -> None:
    net, x = PointNet().double(), torch.randn(20, 3, dtype=torch.float64)
    h = nn.Sequential(net.point1, nn.ReLU(), net.point2, nn.ReLU(), net.point3, nn.ReLU())  # with ReLU before max
    g = nn.Sequential(net.whole1, nn.ReLU(), net.whole2)
    expected = g(torch.stack([h(point) for point in x]).max(dim=0).values)
    torch.testing.assert_close(net(x, torch.zeros(20, dtype=torch.int64))[0], expected, rtol=0, atol=1e-12)


@given(st.integers(0, 10_000))
def test_without_all_other_points_the_answer_is_the_same(seed: int) -> None:
    torch.manual_seed(seed)
    net, x = PointNet(), torch.randn(300, 3)
    batch = torch.zeros(300, dtype=torch.int64)
    _, critical, won = run(net, x, batch)
    assert 1 <= critical.sum() <= 128 and won.sum() == 128
    alone = run(net.double(), x.double(), batch)[0]
    torch.testing.assert_close(run(net, x[critical].double(), batch[critical])[0], alone, rtol=0, atol=1e-12)


def test_without_a_critical_point_its_channels_change() -> None:
    net, x = PointNet().double(), torch.randn(50, 3, dtype=torch.float64)
    batch = torch.zeros(50, dtype=torch.int64)
    _, critical, _ = run(net, x, batch)
    largest = net.max(net.point3(net.relu2(net.point2(net.relu1(net.point1(x))))), batch)
    for point in critical.nonzero()[:3, 0].tolist():
        rest = torch.arange(50) != point
        fewer = net.max(net.point3(net.relu2(net.point2(net.relu1(net.point1(x[rest]))))), batch[rest])
        assert (fewer <= largest).all() and (fewer < largest).any()


def test_points_that_coincide_win_together() -> None:
    net = PointNet().double()
    x = torch.randn(10, 3, dtype=torch.float64)
    batch = torch.zeros(20, dtype=torch.int64)
    _, critical, _ = run(net, torch.cat([x, x]), batch)
    assert torch.equal(critical[:10], critical[10:])


def test_every_layer_obeys_the_law_and_a_broken_one_does_not() -> None:
    x, batch = torch.randn(40, 3, dtype=torch.float64), (torch.arange(40) >= 15).long()
    net = PointNet().double()
    errors = law_errors(net, (x, batch), Shuffle.drawn(40, 0))
    assert {"critical", "won", "max", ""} <= errors.keys() and max(errors.values()) < 1e-9

    class FirstTen(nn.Module):
        out_field = net.max.out_field

        def forward(self, h: Tensor, batch: Tensor) -> Tensor:
            return torch.stack([h[batch == g][:10].amax(0) for g in (0, 1)])

    net.max = FirstTen()  # type: ignore[assignment]
    assert law_errors(net, (x, batch), Shuffle.drawn(40, 0))["max"] > 1e-3


def test_one_point_and_none() -> None:
    net = PointNet()
    assert run(net, torch.randn(1, 3), torch.zeros(1, dtype=torch.int64))[1].tolist() == [True]
    assert net(torch.zeros(0, 3), torch.zeros(0, dtype=torch.int64)).shape == (1, 4)
