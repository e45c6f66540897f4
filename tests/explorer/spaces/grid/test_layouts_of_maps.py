"""Maps whose channels go to the last axis and back, parts of images, and maps with as many rows as there are tokens."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from equiscope import check_equivariance
from explorer.app.answering.engine import LocalEngine
from explorer.app.command.audit import audit
from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import FieldType
from explorer.network.tracing.trace import trace
from explorer.spaces.grid.fields import Grid, Pixels, grid
from explorer.spaces.grid.network.inference import GridInference
from explorer.state.state import State


class Turned(nn.Module):
    """A layer that only moves axes, as torchvision's Permute."""

    def __init__(self, *order: int) -> None:
        super().__init__()
        self.order = order

    def forward(self, x: Tensor) -> Tensor:
        return x.permute(self.order)


def conv_next(padding_mode: str) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 12, 4, 4), nn.Conv2d(12, 12, 3, padding=1, groups=12, padding_mode=padding_mode),
        Turned(0, 2, 3, 1), nn.LayerNorm(12), nn.Linear(12, 48), nn.GELU(), nn.Linear(48, 12), Turned(0, 3, 1, 2),
        nn.Conv2d(12, 6, 2, 2),
    )  # fmt: skip


def test_maps_keep_their_step_when_channels_come_back_from_the_last_axis() -> None:
    layers = trace(conv_next("circular").eval(), torch.rand(1, 1, 32, 32), grid())
    fields = {n: found.field.domain for n in "1467" if (found := layers[n]).field is not None}
    assert fields == {"1": Grid(4.0), "4": Pixels(4.0), "6": Pixels(4.0), "7": Grid(4.0)}
    x = torch.rand(2, 1, 32, 32)
    assert check_equivariance(conv_next("circular"), x, "translation").verdict == "holds"
    broken = check_equivariance(conv_next("zeros"), x, "translation")
    assert (broken.verdict, broken.guilty) == ("broken", ("1",))


class Last(nn.Module):
    """A network whose stages hold their channels last from the stem on, as MambaOut's do."""

    def __init__(self, faulty: bool = False) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.stem, self.norm, self.faulty = nn.Conv2d(1, 16, 1), nn.LayerNorm(16), faulty
        self.up, self.down = nn.Linear(16, 24), nn.Linear(24, 16)

    def forward(self, x: Tensor) -> Tensor:
        h = self.norm(F.max_pool2d(self.stem(x), 3, 4, 1).permute(0, 2, 3, 1))
        if self.faulty:
            h = h * torch.linspace(1, 1.1, h.shape[1], dtype=h.dtype)[:, None, None]
        h = h + self.down(F.gelu(self.up(h)))
        return h.mean((1, 2))


@pytest.mark.parametrize("side", [33, 29, 61, 65])
def test_channels_on_the_last_axis_are_found_on_sides_that_are_no_multiple(side: int) -> None:
    layers = trace(Last().eval(), torch.rand(1, 1, side, side), grid())
    found = [layers[name].field for name in ("norm", "up", "down")]
    assert [f.domain for f in found if f is not None] == [Pixels(4.0)] * 3
    x = torch.rand(2, 1, side, side)
    assert check_equivariance(Last(), x, "D4").holds
    assert not check_equivariance(Last(faulty=True), x, "D4").holds


def test_maps_with_as_many_channels_as_rows_and_places_on_the_last_two_axes_stay_maps() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(1, 9, 1), nn.MaxPool2d(3, 4, 1), nn.ReLU(), nn.Conv2d(9, 9, 1))
    layers = trace(network.eval(), torch.rand(1, 1, 33, 33), grid())
    assert [layers[str(k)].field for k in (1, 2, 3)] == [FieldType(Grid(4.0), guessed=True)] * 3
    assert layers["1"].shape == (1, 9, 9, 9)


def radius(layer: Callable[[Tensor], Tensor], x: Tensor, domain: Pixels | Grid) -> float:
    given = Inputs((x,), (FieldType(domain),))
    found = GridInference(given).reaches(lambda v, *_: {"layer": layer(v)}, given, {"layer": FieldType(domain)})
    return found["layer"]


def test_a_layer_sees_as_far_wherever_its_channels_lie() -> None:
    torch.manual_seed(0)
    far, point = nn.Conv2d(3, 3, 5, padding=2), nn.Linear(3, 3)
    maps, pixels = torch.randn(1, 3, 12, 12), torch.randn(1, 12, 12, 3)
    with torch.no_grad():
        assert radius(far, maps, Grid()) == 2.0
        assert radius(lambda v: far(v.movedim(-1, 1)).movedim(1, -1), pixels, Pixels()) == 2.0
        assert radius(point, pixels, Pixels()) == 0.0
        assert (
            radius(lambda v: far(v.unflatten(1, (3, 12, 12))).flatten(1), maps.flatten(1), Grid(1.0, (12, 12))) == 2.0
        )
        assert radius(far, maps[..., :1], Grid()) == math.inf  # no half of one column can be changed


class Windows(nn.Module):
    """A map cut into windows, (batch, window, place within it, channel), as of MaxViT."""

    def forward(self, x: Tensor) -> Tensor:
        n, c, h, w = x.shape
        cut = x.reshape(n, c, h // 7, 7, w // 7, 7).permute(0, 2, 4, 3, 5, 1)
        return cut.reshape(n, -1, 49, c)


def test_windows_of_a_map_are_no_map() -> None:
    for channels, side in ((64, 56), (128, 28), (256, 14)):
        net = nn.Sequential(nn.Conv2d(1, channels, 1), Windows(), nn.Linear(channels, 8))
        layers = trace(net.eval(), torch.rand(1, 1, side, side), grid())
        assert layers["1"].field is None, channels


class Downsampled(nn.Module):
    """Tokens of 4 x 4 patches beside maps of 16 x 16, which 16 tokens by 16 tokens would be as well."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.norm, self.down = nn.Conv2d(1, 8, 4, 4), nn.LayerNorm(8), nn.Conv2d(8, 8, 4, 4)
        self.tokens, self.act = nn.Linear(8, 8), nn.Hardswish()

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        x = self.norm(x.flatten(2).transpose(1, 2)).transpose(1, 2).reshape(x.shape)
        y = self.down(self.act(x + 1))
        tokens = self.tokens(y.flatten(2).transpose(1, 2))
        return F.softmax(tokens, -1).mean(1)


def test_a_map_with_as_many_rows_as_there_are_tokens_stays_a_map() -> None:
    layers = trace(Downsampled().eval(), torch.rand(2, 1, 64, 64), grid())
    for name, step in (("act", 4.0), ("down", 16.0)):
        field = layers[name].field
        assert field is not None and field.domain == Grid(step), (name, field)


STRIDES = """
from torch import nn
net = nn.Sequential(nn.Conv2d(3, 8, 8, 8), nn.ReLU(), nn.Conv2d(8, 8, 4, 4), nn.ReLU(), nn.Conv2d(8, 4, 1),
    nn.AdaptiveAvgPool2d(1), nn.Flatten())
def make(): return net
"""


def test_data_that_nobody_chose_has_at_least_two_steps_of_the_network(tmp_path: Path) -> None:
    (tmp_path / "strides.py").write_text(STRIDES)
    engine = LocalEngine({}, trust=True)
    try:
        model = f"{tmp_path / 'strides.py'}:make"
        (found,) = audit(engine, State(model), "translation", "float64", None, {})
    finally:
        engine.close()
    assert found.verdict == "holds" and len(found.elements) > 1
