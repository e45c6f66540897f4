"""Tell of what size the volumes are that somebody's network takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from explorer.declare.telling.values import told_value
from explorer.network.input.recognise import Recognised
from explorer.network.input.typed_tensors import is_type
from explorer.network.tracing.trials import answer_of
from explorer.network.tracing.walking import named_modules
from explorer.spaces.volume.network.form import Shape, VolumeInput
from explorer.work.limits import MAX_SIDE

SIDE = 25  # of the volumes that come with the program
OF_VOLUMES = (nn.Conv3d, nn.LazyConv3d, nn.ConvTranspose3d, nn.MaxPool3d, nn.AvgPool3d, nn.BatchNorm3d)
OF_OTHERS = (nn.Conv2d, nn.Conv1d, nn.ConvTranspose2d)


def volume_input(own: Recognised) -> VolumeInput | None:
    """Return the input of a network on volumes, from its first convolution; None where it is no such network.

    Raises:
        ValueError: INPUT_SHAPE is none of a volume where its layers are those of volumes.
    """
    declared = own.said("input_shape")
    if declared is not None:
        if not isinstance(declared, list | tuple) or len(declared) != 4:
            return None
        return VolumeInput(_declared(declared))
    if len(own.required()) != 1:
        return None
    for name, module in named_modules(own.network()):
        if isinstance(module, OF_OTHERS) or _of_the_plane(module):
            return None
        if isinstance(module, OF_VOLUMES):
            own.why["data"] = f"{name or 'it'} is a {type(module).__name__}, which takes volumes"
            channels = int(getattr(module, "in_channels", getattr(module, "num_features", 0)) or 1)
            own.why["shape"] = f"{name or type(module).__name__} takes {channels} channel(s)"
            # it need not be the first that is called, and filters may be a parameter of the network itself
            for other in dict.fromkeys((channels, *own.widths_of_filters(3), 1)):
                if answer_of(own.network(), (torch.rand(1, other, SIDE, SIDE, SIDE, device="cpu"),)) is not None:
                    if other != channels:
                        own.why["shape"] = f"of the widths that were tried it runs on volumes of {other} channel(s)"
                    return VolumeInput((other, None, None, None))
            return VolumeInput((channels, None, None, None))
    return None


def _of_the_plane(module: nn.Module) -> bool:
    """Say whether a module declares that it takes fields on a plane: layers of volumes in it see orientations."""
    declared: Any = getattr(module, "in_type", None)
    return is_type(declared) and getattr(declared.gspace, "dimensionality", None) == 2


def _declared(shape: list[object] | tuple[object, ...]) -> Shape:
    for side in (shape[0], *(s for s in shape[1:] if s is not None)):
        if not isinstance(side, int) or isinstance(side, bool) or not 1 <= side <= MAX_SIDE:
            raise ValueError(f"INPUT_SHAPE must hold whole numbers from 1 to {MAX_SIDE}, not {told_value(side)}")
    channels, z, y, x = shape
    return (channels, z, y, x)  # type: ignore[return-value]


def volume_inputs(network: nn.Module) -> Iterator[VolumeInput]:
    """Yield what a network takes of a volume of one channel: any side, or sides that can be halved three times."""
    chance = torch.Generator().manual_seed(0)
    for side in (None, 24, 32):
        shape = (1, 1, *3 * (side or SIDE,))
        if answer_of(network, (torch.rand(shape, generator=chance, device="cpu"),)) is not None:
            yield VolumeInput((1, side, side, side))
