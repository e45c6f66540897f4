"""Name what in a layer does not follow a delay."""

from __future__ import annotations

from torch import nn


def memory(module: nn.Module, name: str) -> list[str]:
    """Return what of a delay a layer with a state, or one that hears all steps, does not follow."""
    if isinstance(module, nn.RNNBase):
        both = "; and it reads backwards as well, from an end that a delay cuts off" if module.bidirectional else ""
        return [
            f"{name}: the state that it starts at is moved by the zeros of a delay; start at one that they leave as it "
            f"is, h = R(0, h), which without biases is zero{both}"
        ]
    if isinstance(module, nn.MultiheadAttention | nn.TransformerEncoderLayer):
        return [f"{name}: attention hears the zeros of a delay as well, unless a mask leaves them out"]
    return []
