"""Watch a TorchScript program as one layer: torch takes no hooks on what lies in it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

UNWATCHED = (
    "the network is a script of TorchScript, whose layers cannot be watched; give the torch.nn.Module that it was made "
    "from, and load its weights with load_state_dict"
)


class Script(nn.Module):
    """Calls a script, whose parameters are its own; the script itself is no submodule.

    The script is given what somebody has put into one of them (`parameter.data = ...`) before it runs.
    """

    def __init__(self, script: torch.jit.ScriptModule) -> None:
        super().__init__()
        self._held = (script,)  # in a tuple, which nn.Module takes for no submodule
        self._share()

    @property
    def script(self) -> torch.jit.ScriptModule:
        return self._held[0]

    def forward(self, *given: Tensor, **named: Any) -> Any:
        for held, own in self._shared:
            if own.dtype != held.dtype or not own.is_set_to(held):
                held.data = own.data
        return self.script(*given, **named)

    def _share(self) -> None:
        self._shared: list[tuple[Tensor, nn.Parameter]] = []  # the script's parameters, each with the one here
        for name, parameter in self.script.named_parameters():
            # one of its own, since that of a script that was copied is no leaf, and takes no gradient
            own = self._parameters[name.replace(".", "/")] = nn.Parameter(parameter.data, parameter.requires_grad)
            self._shared.append((parameter, own))
        for name, buffer in self.script.named_buffers():
            self._buffers[name.replace(".", "/")] = buffer

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Script:
        # the script's own way reads gradients of tensors that are no leaves
        for held in (*self.script.parameters(), *self.script.buffers()):
            held.data = fn(held.data)
        self._share()
        return self

    def train(self, mode: bool = True) -> Script:
        self.script.train(mode)
        return super().train(mode)

    def state_dict(self, *args: Any, **named: Any) -> Any:
        return self.script.state_dict(*args, **named)

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        found = self.script.load_state_dict(state_dict, strict=strict, assign=assign)
        self._share()
        return found

    def __deepcopy__(self, memo: dict[int, Any]) -> Script:
        return Script(copy.deepcopy(self.script, memo)).train(self.training)
