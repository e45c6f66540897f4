"""Average the layer over the group: f is replaced by the mean of rho_out(g)^-1 f(rho_in(g) h).

It works on any module, because it only asks how the elements act on the fields around it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from explorer.declare.elements import Element, Identity, NoAction, chain
from explorer.declare.types.fields import FieldType
from explorer.equivariance.symmetric.setting import Experiment, NotApplicable, Setting
from explorer.network.changing.interventions.hooks import Change, without_hooks
from explorer.network.tracing.capture import Fed
from explorer.network.tracing.running import tensors_in

MOST = 64  # elements of a group that a layer is run for


def group_of(elements: list[Element], fed: tuple[Tensor, ...], fields: tuple[FieldType | None, ...]) -> list[Element]:
    """Return all products of the elements; two are the same if they do the same to what the layer is fed.

    Raises:
        NotApplicable: there are too many.
    """
    trials = [torch.randn(t.shape, generator=torch.Generator().manual_seed(k), device="cpu") for k, t in enumerate(fed)]

    def moved(g: Element) -> Tensor:
        return torch.cat([f.rep.acted(g, t.to(fed[0].device), f).flatten() for t, f in zip(trials, fields) if f])

    found: list[Element] = [Identity()]
    seen = [moved(found[0])]
    waiting = list(elements)
    while waiting:
        g = waiting.pop(0)
        here = moved(g)
        if any(torch.allclose(here, other, atol=1e-4) for other in seen):
            continue
        if len(found) >= MOST:
            raise NotApplicable(f"the group has more than {MOST} elements")
        found.append(g)
        seen.append(here)
        waiting += [chain((g, e)) for e in elements]
    return found


def average(setting: Setting) -> Change:
    """Return the change to the mean over the group."""
    layer = setting.layer
    if not layer.alone or layer.field is None or not setting.fed:
        raise NotApplicable("its inputs are of no known field, so it cannot be run on moved ones")
    exact = setting.exact()
    if not exact:
        raise NotApplicable("no element of the group has a law at it")
    try:
        group = group_of(exact, setting.fed, layer.inputs)[1:]
    except NoAction as error:
        raise NotApplicable(str(error)) from None
    field, fields = layer.field, layer.inputs

    def change(given: Tensor, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
        fed = Fed.of(args, kwargs, clone=True)
        total = given.clone()
        for g in group:
            moved = tuple(f.rep.acted(g, t, f) for t, f in zip(fed, fields, strict=True) if f is not None)
            again, named = fed.filled(moved)
            with without_hooks(module):
                answer = list(tensors_in(module.forward(*again, **named)))[layer.part]
            total = total + field.rep.acted(g.inverse(), answer, field)
        return total / (len(group) + 1)

    return change


EXPERIMENT = Experiment("average", "Average the layer over the group", "averaged over the group", average, 40)
