"""Tell of what size the images are that somebody's network takes."""

from __future__ import annotations

import math

from torch import nn

from explorer.network.recognise import Recognised
from explorer.spaces.grid.network.fit import InputShape
from explorer.spaces.grid.network.form import InputSpec
from explorer.work.limits import MAX_SIDE


def image_input(own: Recognised) -> InputSpec:
    """Return what a network on images takes.

    Raises:
        ValueError: INPUT_SHAPE is none, or is missing where nothing else tells.
    """
    declared = own.said("input_shape")
    if len(needed := own.required()) > 1:
        raise ValueError(
            f"its forward takes ({', '.join(needed)}), and an image is one tensor; a network on graphs says in the "
            "file INPUT_SIGNALS = ('x', 'edge_index', ...), in the order of its arguments; for any other write a "
            "forward of one tensor"
        )
    return InputSpec(_input_shape(own.network()) if declared is None else _declared_shape(declared))


def _declared_shape(shape: object) -> InputShape:
    if not isinstance(shape, list | tuple) or len(shape) != 3 or not isinstance(shape[0], int):
        raise ValueError(f"INPUT_SHAPE must be (channels, height, width), not {shape!r:.60}")
    channels, height, width = shape
    for side in (channels, *(s for s in (height, width) if s is not None)):
        if not isinstance(side, int) or isinstance(side, bool) or not 1 <= side <= MAX_SIDE:
            raise ValueError(f"INPUT_SHAPE must hold whole numbers from 1 to {MAX_SIDE}, not {side!r:.60}")
    return (channels, height, width)


def _input_shape(model: nn.Module) -> InputShape:
    """Return what the first convolution eats: its input channels, any size.

    Raises:
        ValueError: there is none, and a dense layer eats vectors, whose image size nobody knows.
    """
    for module in model.modules():
        # 0 is what a lazy convolution says
        if isinstance(channels := getattr(module, "in_channels", None), int) and channels > 0:
            return (channels, None, None)
    dense = next((m for m in model.modules() if isinstance(m, nn.Linear)), None)
    if dense is None:
        return (1, None, None)
    side = math.isqrt(dense.in_features)
    example = f"(1, {side}, {side})" if side**2 == dense.in_features else "(channels, height, width)"
    raise ValueError(
        f"the first layer takes {dense.in_features} numbers; say in the file of what size an image is, INPUT_SHAPE = "
        f"{example}, or what a network on graphs is called with, INPUT_SIGNALS = ('x', 'edge_index')",
    )
