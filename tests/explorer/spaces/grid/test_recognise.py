"""Sizes of images that nothing but a trial tells: of networks that cut images into patches with a dense layer."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch import Tensor, nn

from explorer.app.answering.engine import LocalEngine
from explorer.app.command.audit import audit
from explorer.network.input.recognise import Recognised
from explorer.spaces.grid.network.form import InputSpec
from explorer.spaces.grid.network.recognise import image_input
from explorer.state.state import State


def recognised(network: nn.Module) -> Recognised:
    """Return a network of which a file says nothing."""
    return Recognised(network, ModuleType("net"), "net.py", network.eval)


class Patches(nn.Module):
    """Embeds patches, with a table of places that is cut to as many as there are."""

    def __init__(self, patch: int, side: int, channels: int = 3) -> None:
        super().__init__()
        self.patch = patch
        self.norm, self.embed = nn.LayerNorm(channels * patch**2), nn.Linear(channels * patch**2, 8)
        self.places = nn.Parameter(torch.randn(1, (side // patch) ** 2 + 1, 8))
        self.token = nn.Parameter(torch.randn(1, 1, 8))

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[-1] % self.patch:
            raise ValueError("no whole patches")
        tokens = nn.functional.unfold(x, self.patch, stride=self.patch).transpose(1, 2)
        tokens = torch.cat([self.token.expand(len(x), -1, -1), self.embed(self.norm(tokens))], 1)
        answer: Tensor = (tokens + self.places[:, : tokens.shape[1]]).tanh().mean(1)
        return answer


@pytest.mark.parametrize(("patch", "side", "channels"), [(8, 32, 3), (8, 24, 3), (4, 32, 3), (4, 16, 1), (7, 28, 1)])
def test_a_table_that_is_cut_to_the_image_tells_the_size_that_the_network_is_made_for(
    patch: int, side: int, channels: int
) -> None:
    own = recognised(Patches(patch, side, channels))
    assert image_input(own) == InputSpec((channels, side, side))
    assert not own.doubts


def test_a_layer_that_takes_all_pixels_takes_them_of_one_size() -> None:
    own = recognised(nn.Sequential(nn.Flatten(), nn.Linear(192, 4)))
    assert image_input(own) == InputSpec((3, 8, 8))
    assert own.doubts


def test_what_runs_on_all_multiples_of_a_large_side_is_shown_the_smallest() -> None:
    own = recognised(nn.Sequential(nn.PixelUnshuffle(64), nn.Conv2d(3 * 64**2, 2, 1)))
    own.network().get_submodule("1").in_channels = 3  # as of a first convolution behind what takes the image apart
    assert image_input(own) == InputSpec((3, 64, 64))


class Clips(nn.Module):
    """Takes the mean of what one convolution sees on each frame of a video."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, clip: Tensor) -> Tensor:
        batch, frames, *_ = clip.shape
        answer: Tensor = self.conv(clip.flatten(0, 1)).mean((2, 3)).unflatten(0, (batch, frames)).mean(1)
        return answer


def test_frames_are_tried_where_no_image_runs() -> None:
    own = recognised(Clips())
    found = image_input(own)
    assert found.frames > 1 and found == InputSpec((3, None, None), frames=found.frames)
    assert found.drawn == (3 * found.frames, None, None) and f"{found.frames} of them" in own.why["frames"]


def test_a_file_may_say_how_many_frames_a_network_takes() -> None:
    said = ModuleType("net")
    said.INPUT_FRAMES, said.INPUT_SHAPE = 8, (3, 16, 16)  # type: ignore[attr-defined]
    network = Clips()
    found = image_input(Recognised(network, said, "net.py", network.eval))
    assert found == InputSpec((3, 16, 16), frames=8)
    x = torch.randn(2, 24, 16, 16)
    answer = found.given(network, (x,))
    assert torch.equal(answer, network(x.reshape(2, 8, 3, 16, 16)))


class Last(nn.Module):
    """A block of ConvNeXt (Liu et al. 2022) on images with their channels last, from the picture on."""

    def __init__(self, mode: str = "circular") -> None:
        super().__init__()
        torch.manual_seed(0)
        self.stem, self.out = nn.Linear(3, 6), nn.Linear(6, 2)
        self.deep = nn.Conv2d(6, 6, 3, padding=1, groups=6, padding_mode=mode)

    def forward(self, x: Tensor) -> Tensor:
        answer: Tensor = self.out(self.deep(self.stem(x).permute(0, 3, 1, 2)).permute(0, 2, 3, 1).tanh())
        return answer


def test_channels_may_be_last() -> None:
    own = recognised(Last())
    found = image_input(own)
    assert found == InputSpec((3, None, None), axes="NHWC") and "channels last" in own.why["axes"]
    x = torch.randn(2, 3, 16, 16)
    assert torch.equal(found.given(Last(), (x,)), Last()(x.permute(0, 2, 3, 1)))
    said = ModuleType("net")
    said.INPUT_AXES, said.INPUT_SHAPE = "NHWC", (3, 16, 16)  # type: ignore[attr-defined]
    assert image_input(Recognised(Last(), said, "net.py", Last)) == InputSpec((3, 16, 16), axes="NHWC")
    said.INPUT_AXES = "HWC"  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="INPUT_AXES must be one of NCHW, NHWC, not 'HWC'"):
        image_input(Recognised(Last(), said, "net.py", Last))


@pytest.mark.parametrize(("mode", "verdict"), [("circular", "holds"), ("replicate", "broken")])
def test_a_network_with_channels_last_is_judged(tmp_path: Path, mode: str, verdict: str) -> None:
    path = tmp_path / "net.py"
    path.write_text("import torch\nfrom torch import Tensor, nn\n\n\n" + inspect.getsource(Last))
    state = State(f"{path}:Last({mode!r})")
    (report,) = audit(LocalEngine({}, trust=True), state, "translation", "float64", None, {})
    assert report.verdict == verdict and report["stem"].field == "pixel scalar"
    assert verdict == "holds" or report.guilty == ("deep",)
