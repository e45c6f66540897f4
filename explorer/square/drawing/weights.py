"""Draw the parameters of a layer, and the gradient of a chosen number by them, as small read-only arrays."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from explorer.network.input.inputs import called
from explorer.network.opening.global_state import reseed
from explorer.network.tracing.capture import recorded
from explorer.network.tracing.layers import Layer
from explorer.network.tracing.running import evaluating, first_tensor
from explorer.square.drawing.layers import frozen
from explorer.square.frame import Parameter, Weights
from explorer.square.preparing.kept import kept
from explorer.square.preparing.prepare import Prepared

NORM = "norm"  # the chosen number: the norm of the output; else the number of one of its entries, or "" for none
MOST = 12  # parameters of one layer, a container's in their order
MOST_SIDE = 512  # rows and columns of a matrix that is drawn; of a larger one means of neighbours
MOST_VALUES = 2**18  # of all filters that are drawn


def weights_of(p: Prepared, layer: Layer, target: str) -> Weights:
    """Return the parameters of the module that makes a layer, also of values that arise inside of it."""
    module = p.model.get_submodule(layer.owner) if layer.owner else p.model
    named = [(n, q) for n, q in module.named_parameters() if q.is_floating_point()][:MOST]
    return _weights(p, layer.owner, target) if named else Weights(entries=_entries(p))


@kept(most=4)
def _weights(p: Prepared, owner: str, target: str) -> Weights:
    module = p.model.get_submodule(owner) if owner else p.model
    named = {n: q for n, q in module.named_parameters() if q.is_floating_point()}
    named = dict(list(named.items())[:MOST])
    slopes = _gradients(p, list(named.values()), target)
    found = []
    for (name, value), slope in zip(named.items(), slopes, strict=True):
        picture, of = _picture(value)
        gradient = None if slope is None else frozen(_picture(slope)[0])
        norms = float(value.detach().norm()), None if slope is None else float(slope.norm())
        found.append(Parameter(name, tuple(value.shape), frozen(picture), gradient, of, *norms))
    return Weights(tuple(found), _entries(p))


def _entries(p: Prepared) -> int:
    return p.output.numel() if p.answers else 0


def _picture(value: Tensor) -> tuple[Tensor, int]:
    """Return (maps, h, w), and how many maps lie in a row: filters as maps, all else as one matrix."""
    v = value.detach()
    if v.ndim >= 4 and v.shape[-1] * v.shape[-2] > 1:
        inputs = v[0].numel() // (v.shape[-1] * v.shape[-2])
        maps = v.reshape(-1, *v.shape[-2:])
        most = max(1, MOST_VALUES // (v.shape[-1] * v.shape[-2]))
        # whole filters, as many as there is room for
        return maps[: max(1, most // inputs) * inputs if inputs <= most else most], inputs
    flat = v.reshape(1, 1, -1) if v.ndim < 2 else v.reshape(1, len(v), -1)
    if max(flat.shape[1:]) > MOST_SIDE:
        size = (min(flat.shape[1], MOST_SIDE), min(flat.shape[2], MOST_SIDE))
        flat = nn.functional.adaptive_avg_pool2d(flat[None].float(), size)[0]
    return flat, 1


@torch.inference_mode(False)
def _gradients(p: Prepared, parameters: list[nn.Parameter], target: str) -> list[Tensor | None]:
    """Return the gradient of the target by each parameter; None for all where there is no such target."""
    nothing: list[Tensor | None] = [None] * len(parameters)
    if target != NORM and not (target.isdigit() and int(target) < _entries(p)):
        return nothing
    was = [q.requires_grad for q in parameters]
    try:
        with evaluating(p.model), recorded():
            for q in parameters:
                q.requires_grad_(True)
            reseed(p.seed)
            out = first_tensor(called(p.model, p.inputs, clone=True))
            if out is None or not out.requires_grad:
                return nothing
            number = out.norm() if target == NORM else out.flatten()[int(target)]
            return list(torch.autograd.grad(number, parameters, allow_unused=True))
    except torch.OutOfMemoryError:
        raise
    except Exception:  # a forward of somebody's own need not be differentiable
        return nothing
    finally:
        for q, flag in zip(parameters, was, strict=True):
            q.requires_grad_(flag)
