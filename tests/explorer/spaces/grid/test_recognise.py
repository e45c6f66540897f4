"""Sizes of images that nothing but a trial tells: of networks that cut images into patches with a dense layer."""

from __future__ import annotations

from types import ModuleType

import pytest
import torch
from torch import Tensor, nn

from explorer.network.input.recognise import Recognised
from explorer.spaces.grid.network.form import InputSpec
from explorer.spaces.grid.network.recognise import image_input


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
