"""Find by trial which layers hear of a layer: its values are changed a little, and the network runs again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from explorer.network.tracing.layers import Layer, LayerError
from explorer.network.tracing.running import tensors_in
from explorer.network.tracing.walking import named_modules

MOST = 16  # layers that are tried, of a network with more than that unknown
SHARE = 0.1  # of its size, by which a value is changed


class Hearers:
    """Tells which of some layers hear of a layer; each is tried once, when it is asked for.

    Args:
        of: the layers that are asked about.
        values: of them, as they are.
        run: gives them anew.
    """

    def __init__(
        self, model: nn.Module, of: Collection[str], values: Mapping[str, Tensor],
        run: Callable[[], Mapping[str, Tensor]],
    ) -> None:  # fmt: skip
        self.model, self.of, self.values, self.run = model, set(of), values, run
        self.known: dict[tuple[str, int], set[str]] = {}

    def __call__(self, layer: Layer) -> set[str]:
        """Return the layers that hear of this one; all of them where no trial tells."""
        key = layer.module, layer.part
        if key not in self.known:
            few = len(self.known) < MOST
            found = hear(self.model, *key, self.of, self.values, self.run) if few and layer.module else None
            self.known[key] = self.of if found is None else found
        return self.known[key]


def hear(
    model: nn.Module, module: str, part: int, of: Collection[str], values: Mapping[str, Tensor],
    run: Callable[[], Mapping[str, Tensor]],
) -> set[str] | None:  # fmt: skip
    """Return those layers whose values change when a tensor that `module` gives is changed; None where no run tells."""
    if module not in dict(named_modules(model)):
        return None  # a value that no module returns

    def change(_: nn.Module, __: Any, result: Any) -> None:
        for k, tensor in enumerate(tensors_in(result)):
            if k == part and tensor.is_floating_point():
                generator = torch.Generator().manual_seed(0)
                drawn = torch.randn(tensor.shape, generator=generator, device="cpu", dtype=torch.float64).to(tensor)
                with torch.no_grad():
                    tensor.copy_(tensor + SHARE * (tensor.abs() + 1.0) * drawn)

    handle = model.get_submodule(module).register_forward_hook(change)
    try:
        changed = run()
    except (LayerError, RuntimeError):
        return None
    finally:
        handle.remove()
    return {name for name in of if name in changed and not torch.equal(changed[name], values[name])}
