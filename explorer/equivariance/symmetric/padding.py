"""Let a convolution go on at the other edge of the image in place of padding it with zeros."""

from __future__ import annotations

from explorer.equivariance.symmetric.setting import Experiment, NotApplicable, Setting
from explorer.network.tracing.walking import modules_of


def circular(setting: Setting) -> None:
    """Change how every module of the layer pads."""
    # what says how it pads can be told to pad in another way
    found = [m for m in modules_of(setting.module) if getattr(m, "padding_mode", "circular") != "circular"]
    if not any(any(m.padding) if isinstance(m.padding, tuple) else m.padding for m in found):
        raise NotApplicable("it pads nothing with zeros")
    for module in found:
        module.padding_mode = "circular"  # type: ignore[assignment]


EXPERIMENT = Experiment("padding", "Circular padding", "with circular padding", circular, 30)
