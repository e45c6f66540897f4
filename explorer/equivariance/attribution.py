"""Measure what a layer's own error does to the output: ||J_{l -> out} e_l||, by random probes in one backward pass.

For v standard normal, E <v, J e>^2 = ||J e||^2, and <v, J e> = <J^T v, e>: one vector-Jacobian product per probe
serves every layer at once.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from explorer.network.capture import capture, differentiable, gradients_to_inputs
from explorer.network.inputs import Given, Inputs
from explorer.network.layers import Trace


def attributed(
    model: nn.Module, trace: Trace, gx: Given, local_errors: Mapping[str, Tensor], probes: int = 8, seed: int = 0
) -> dict[str, float]:
    """Return {layer: ||J e_l|| / ||F(rho(g) x)||}, the relative change of the output that each local error makes.

    Args:
        gx: rho(g) x, where the Jacobians are taken.
        local_errors: {layer: f_l(rho h) - rho f_l(h)}, shaped as the layer's output.
    """
    names = [n for n in local_errors if n in trace.by_name]
    if not names:
        return {}
    names = list(dict.fromkeys([*names, trace.output]))
    # the input needs a gradient so that every layer after it is in the graph
    with gradients_to_inputs(model):
        fed = gx.with_x(differentiable(gx.x)) if isinstance(gx, Inputs) else differentiable(gx)
        outputs, _ = capture(model, fed, names, clone=trace.clones)
        out = outputs[trace.output]
        inside = [n for n in names if n in local_errors and outputs[n].requires_grad]
        if not inside or not out.requires_grad:
            return {}  # what is counted or chosen has no derivative
        generator = torch.Generator(device="cpu").manual_seed(seed)
        total = dict.fromkeys(inside, 0.0)
        for _ in range(probes):
            v = torch.randn(out.shape, generator=generator, dtype=torch.float64).to(out)
            grads = torch.autograd.grad(out, [outputs[n] for n in inside], v, retain_graph=True, allow_unused=True)
            for name, grad in zip(inside, grads, strict=True):
                if grad is not None:
                    total[name] += float((grad * local_errors[name]).sum()) ** 2
        size = float(out.detach().norm())
    return {name: (value / probes) ** 0.5 / size if size else 0.0 for name, value in total.items()}
