"""Put a person's interventions on a copy of a network, from what F(x) without them has shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.elements import Element
from explorer.declare.inputs import Inputs
from explorer.declare.registry import did_you_mean
from explorer.declare.space import kinds
from explorer.declare.states.interventions import CHANNEL, HEAD, Intervention
from explorer.declare.symmetries import Situation, find_symmetry
from explorer.equivariance.check import common_step
from explorer.equivariance.symmetric.setting import Experiment, NotApplicable, Setting, experiments, mended
from explorer.network.changing.interventions.changes import Values, change_of
from explorer.network.changing.interventions.hooks import Change, Hooks, changed_layer
from explorer.network.changing.precision import precision_of
from explorer.network.inner.value import GATE
from explorer.network.opening.global_state import reseed
from explorer.network.tracing.capture import Fed, capture
from explorer.network.tracing.layers import Layer
from explorer.network.tracing.running import evaluating
from explorer.network.tracing.walking import modules_of
from explorer.square.frame import Change as Changed
from explorer.square.preparing.kept import kept
from explorer.square.preparing.prepare import Prepared
from explorer.square.space import space_of

COUNT = 6  # elements of an infinite group that a layer is symmetrised for
MOST_FOUND = 8  # layers whose found weights are kept with the network that they are found for
Named = Callable[[str], Inputs]  # the inputs that a sample's name stands for


class Interventions:
    """Interventions that are on a network; `remove` takes its hooks away, and nothing of them is left.

    Only weights that an experiment has changed stay changed: they are those of a copy.
    """

    def __init__(self, hooks: Hooks, frozen: dict[str, Tensor], wanted: Sequence[str]) -> None:
        self._hooks, self._frozen, self._wanted = hooks, frozen, wanted

    def freeze(self, values: Mapping[str, Tensor]) -> None:
        """Let frozen layers give these values from here on."""
        self._frozen.update({name: values[name] for name in self._wanted})

    def remove(self) -> None:
        """Take the hooks away."""
        self._hooks.remove()


def intervene(base: Prepared, model: nn.Module, some: Sequence[Intervention], named: Named) -> Interventions:
    """Put interventions on `model`, a copy of the network of `base`, in the order in which they were made.

    Args:
        base: F(x) without them.
        named: the inputs of another sample, for a layer that is replaced.

    Raises:
        ValueError: a layer, a part of it or a method does not exist, or cannot be changed so; in one sentence.
    """
    frozen: dict[str, Tensor] = {}
    changes: list[tuple[Layer, Change]] = []
    some = [_meant(base, one) for one in some]
    for one in some:
        layer = _layer(base, model, one)
        if one.kind == "symmetrise":
            earlier = [str(other) for other in some[: some.index(one)] if other.kind == "symmetrise"]
            made = symmetrised(base, model, one, earlier)
            if made is not None:
                changes.append((layer, made))
        elif one.kind == "freeze":
            changes.append((layer, change_of(one, model, layer, partial(frozen.get, one.layer))))
        elif one.kind == "replace":
            summed = layer.within is None and isinstance(model.get_submodule(layer.module), nn.MultiheadAttention)
            if one.unit == HEAD and summed:
                raise ValueError(f"a head of {one.layer} can be zeroed, scaled and frozen, not replaced")
            instead: Values = partial(_same, _of_another(base, one, named))
            changes.append((layer, change_of(one, model, layer, instead)))
        else:
            changes.append((layer, change_of(one, model, layer)))
    return Interventions(Hooks(model, changes), frozen, [one.layer for one in some if one.kind == "freeze"])


def _same(values: Tensor) -> Tensor:
    return values


def _meant(base: Prepared, one: Intervention) -> Intervention:
    """Return an intervention in a layer whose own name ends in a number in brackets, where it was read as a channel."""
    name = f"{one.layer}[{one.index[0]}]" if one.unit == CHANNEL else ""
    if one.layer in base.trace.by_name or name not in base.trace.by_name:
        return one
    return replace(one, layer=name, unit="", index=())


def _layer(base: Prepared, model: nn.Module, one: Intervention) -> Layer:
    if one.layer not in base.trace.by_name:
        known = list(base.trace.by_name)
        near = get_close_matches(one.layer, known, 3, 0.4)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else f"; it has: {', '.join(known[:12])}"
        raise ValueError(f"intervention {str(one)!r}: {base.card.name} has no layer {one.layer!r}{hint}")
    layer = base.trace[one.layer]
    if layer.within is None:
        return changed_layer(base.trace.by_name, one.layer, model)
    if layer.kind.startswith(GATE) or one.kind == "symmetrise":
        beside = "is worked out beside the network's own way, where nothing can be changed"
        why = beside if layer.kind.startswith(GATE) else "is returned by no module, so nothing of it can be symmetrised"
        raise ValueError(f"intervention {str(one)!r}: {one.layer} {why}; change {layer.within or 'another layer'}")
    return layer


def _of_another(base: Prepared, one: Intervention, named: Named) -> Tensor:
    """Return what the layer gives another input: the named sample, or the unrelated one that chance is measured on."""
    inputs = (
        named(one.value) if one.value else space_of(base.inputs).inference(base.inputs).another(base.inputs, base.seed)
    )
    with torch.no_grad(), evaluating(base.model):
        reseed(base.seed)
        found: Tensor = capture(base.model, inputs, [one.layer], clone=True)[0][one.layer]
    here = base.values[one.layer]
    if found.shape != here.shape:
        sizes = ["×".join(map(str, t.shape)) for t in (found, here)]
        raise ValueError(f"{one.value} gives {one.layer} the size {sizes[0]}, not {sizes[1]}: it cannot take its place")
    return found


# layers made symmetric ---------------------------------------------------------------------------------------------
@kept()
def _found_weights(base: Prepared) -> dict[tuple[object, ...], dict[str, Tensor]]:
    """Return what long searches for a layer's weights have found, so that a further change does not wait for them."""
    return {}


def symmetrised(base: Prepared, model: nn.Module, one: Intervention, earlier: Sequence[str] = ()) -> Change | None:
    """Make a layer symmetric: change `model`, or return what a hook does.

    Args:
        earlier: the symmetric versions that `model` has already.

    Raises:
        ValueError: there is no such method or group, or it has nothing to do here; in one sentence.
    """
    method, group = one.method
    known = experiments()
    if method and method not in known:
        hint = did_you_mean(method, known)
        raise ValueError(f"intervention {str(one)!r}: there is no way {method!r}, only {', '.join(known)}{hint}")
    setting = setting_of(base, model, one.layer, group or group_of(base.card))
    with torch.no_grad(), evaluating(model):
        if method:
            found = _found_weights(base)
            key = (*earlier, str(one), setting.inputs.x.dtype)
            own = dict(setting.module.named_parameters())
            if key in found:
                for name, weights in found[key].items():
                    own[name].copy_(weights)
                return None
            try:
                change = known[method].apply(setting)
            except NotApplicable as error:
                raise ValueError(f"{one.layer} cannot be symmetrised by {method}: {error}") from None
            if known[method].slow:
                for old in list(found)[: len(found) + 1 - MOST_FOUND]:
                    del found[old]
                found[key] = {name: weights.detach().clone() for name, weights in own.items()}
            return change
        return _first(setting, list(known.values()))


def _first(setting: Setting, ways: Sequence[Experiment]) -> Change | None:
    """Apply the first experiment after which the layer obeys its law."""
    said = ""
    layer, module = setting.layer, setting.module
    try:
        before = setting.error()
    except NotApplicable as error:
        raise ValueError(f"{layer.name} cannot be symmetrised: {error}") from None
    kept_weights = {name: value.detach().clone() for name, value in setting.model.state_dict().items()}
    padding = [(m, m.padding_mode) for m in modules_of(module) if hasattr(m, "padding_mode")]
    for way in ways:
        try:
            change = way.apply(setting)
        except NotApplicable as error:
            said = str(error)
            continue
        hooks = Hooks(setting.model, [(layer, change)] if change is not None else [])
        try:
            if mended(before, setting.error(), setting.tolerance):
                return change
        finally:
            hooks.remove()
        setting.model.load_state_dict(kept_weights)
        for m, mode in padding:
            m.padding_mode = mode
    raise ValueError(f"{layer.name} cannot be symmetrised: {said or 'no way makes it obey its law'}")


def group_of(card: Card) -> str:
    """Return the group that a layer is made symmetric for where none is told: the first one that the card claims."""
    return next(iter(card.groups), "") or kinds()[card.domain].group


def setting_of(base: Prepared, model: nn.Module, name: str, group: str) -> Setting:
    """Return what experiments on a layer are told."""
    own = precision_of(model, base.x.dtype)
    inputs = base.inputs.to(dtype=own)
    found = [g.on(inputs) for g in elements_of(base, group)]
    kept = base.fed.get(base.trace[name].called, ())
    fed = Fed.like((t.to(own) if t.is_floating_point() else t for t in kept), kept)
    return Setting(model, base.trace, base.trace[name], inputs, fed, tuple(found), base.seed)


def elements_of(base: Prepared, group: str) -> list[Element]:
    """Return elements of a group as an audit of the network takes them."""
    step = common_step(base.trace.spacings)
    space, rng = space_of(base.inputs), np.random.default_rng(base.seed)
    size = space.inference(base.inputs).size(base.inputs)
    situation = Situation(size, step, base.card.boundary, rng, COUNT, space.kinds[0].name)
    return [g for _, g in find_symmetry(group).elements(group, situation)]


# what follows ------------------------------------------------------------------------------------------------------
def relative(before: Tensor, after: Tensor) -> float:
    """Return ||after - before|| / ||before||; infinite where something stands in the place of nothing."""
    if before.shape != after.shape:
        return float("nan")
    size, wrong = (float(t.double().norm()) for t in (before, after.double() - before.double()))
    return wrong / size if size else 0.0 if not wrong else float("inf")


@kept()
def _on_x(p: Prepared) -> dict[str, float]:
    assert p.base is not None
    return {w.name: relative(p.base.values[w.name], p.values[w.name]) for w in p.watched}


def changes(p: Prepared, gx: Inputs, answers: Mapping[str, Tensor]) -> dict[str, Changed]:
    """Return how far each layer is from that of the network without the interventions, on x and on rho(g) x."""
    if p.base is None:
        return {}
    with p.unrecorded(), evaluating(p.base.model):
        without = p.base.run(gx)
    on_x = _on_x(p)
    return {w.name: Changed(on_x[w.name], relative(without[w.name], answers[w.name])) for w in p.watched}
