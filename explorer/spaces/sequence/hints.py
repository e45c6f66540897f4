"""Name what in a layer does not follow a delay."""

from __future__ import annotations

from torch import nn


def memory(module: nn.Module, name: str) -> list[str]:
    """Return what of a delay a layer with a state, or one that hears all steps, does not follow."""
    if isinstance(module, nn.RNNBase):
        both = "; and it reads backwards as well, from an end that a delay cuts off" if module.bidirectional else ""
        return [
            f"{name}: starts from the zero state, which the zeros of a delay move; from the state that they leave "
            f"alone, h = R(0, h), the law would hold{both}"
        ]
    if isinstance(module, nn.MultiheadAttention | nn.TransformerEncoderLayer):
        return [f"{name}: attention hears the zeros of a delay as well, and what comes later where nothing masks it"]
    return []
