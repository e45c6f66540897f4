"""Project the layer's weights on those that obey the law: the nearest ones, in the 2-norm.

A layer is linear in its weights, as a convolution, a dense layer and a table of positions are. Then the weights that
obey rho_out(g) f(h) = f(rho_in(g) h) for every g make a linear space, and the nearest point of it is the mean of the
weights over the group wherever g acts on them by an orthogonal map: filters averaged over turns and mirrors, a table
averaged over positions, a dense layer averaged over permutations. The mean is found without saying how g acts on
weights: r(w) = rho_out(g) f_w(h) - f_w(rho_in(g) h) on random h is linear in w, and the smallest change of w that makes
it zero is found by conjugate gradients. So few elements are needed as generate the group.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from explorer.declare.elements import Element, NoAction
from explorer.equivariance import measure
from explorer.equivariance.symmetric.average import group_of
from explorer.equivariance.symmetric.setting import Experiment, NotApplicable, Setting
from explorer.network.changing.interventions.hooks import standing_for
from explorer.network.changing.precision import converted
from explorer.network.tracing.capture import Fed
from explorer.network.tracing.running import tensors_in
from explorer.network.tracing.walking import modules_of
from explorer.work import progress

STEPS = 400  # of conjugate gradients
SECONDS = 30.0  # of the processor that the search may take
SMALL = 1e-12  # relative error up to which the law holds in double precision
EQUAL = 1e-11  # share of the largest weight below which two are one
LEAST = 1e-3  # share of the weights that must be left: zero obeys every law

Weights = list[Tensor]


@dataclass(frozen=True, slots=True)
class _Trial:
    """A layer in double precision, apart from its network, with the law that it has to obey."""

    setting: Setting
    module: nn.Module
    names: tuple[str, ...]
    elements: tuple[Element, ...]

    def answer(self, weights: Weights, fed: Fed, tensors: tuple[Tensor, ...]) -> Tensor:
        args, kwargs = fed.filled(tuple(t.clone() for t in tensors))
        given = dict(zip(self.names, weights, strict=True))
        with standing_for(self.setting.layer.call):
            result = torch.func.functional_call(self.module, given, args, kwargs)
        return list(tensors_in(result))[self.setting.layer.part]

    def defects(self, weights: Weights, draws: Sequence[tuple[Tensor, ...]], fed: Fed) -> tuple[Tensor, float]:
        """Return the defects of the law on these inputs, one after the other, and the largest relative one."""
        layer = self.setting.layer
        field, found, most = layer.field, [], 0.0
        assert field is not None
        for tensors in draws:
            value = self.answer(weights, fed, tensors)
            for g in self.elements:
                moved = tuple(f.rep.acted(g, t, f) for t, f in zip(tensors, layer.inputs, strict=True) if f is not None)
                expected, answer = field.rep.acted(g, value, field), self.answer(weights, fed, moved)
                where = measure.mask(g, value, field, layer.sees)
                wrong = measure.compared(expected - answer, where, field)
                found.append(wrong.flatten())
                size = measure.compared(expected.detach(), where, field)
                most = max(most, float(measure.relative(size, wrong.detach()).max()))
        return torch.cat(found), most


def _draws(fed: Fed, layer_inputs: Sequence[object], count: int, seed: int) -> list[tuple[Tensor, ...]]:
    """Return inputs drawn at random in place of real numbers; what counts or names stays as it is."""
    generator = torch.Generator().manual_seed(seed)
    batched = all(getattr(f, "batched", False) for f in layer_inputs)
    found = []
    for _ in range(1 if batched else count):
        row = []
        for t in fed:
            shape = (count, *t.shape[1:]) if batched else tuple(t.shape)
            if t.is_floating_point():
                row.append(torch.randn(shape, generator=generator, device="cpu", dtype=torch.float64).to(t.device))
            else:
                row.append(t[:1].expand(shape) if batched else t)
        found.append(tuple(row))
    return found


def _nearest(
    trial: _Trial, start: Weights, draws: Sequence[tuple[Tensor, ...]], fed: Fed, until: float, most: int = STEPS
) -> tuple[Weights, int]:
    """Return the weights nearest to `start` that obey the law on these inputs, and the steps taken to them (CGLS).

    Args:
        most: steps that may be taken; what starts from rounding alone never ends by itself.
    """
    leaves = [w.clone().requires_grad_(True) for w in start]
    with torch.enable_grad():
        defects, _ = trial.defects(leaves, draws, fed)
    if not defects.requires_grad:
        raise NotApplicable("what it gives does not depend on its weights")

    def back(u: Tensor) -> Weights:
        found = torch.autograd.grad(defects, leaves, u, retain_graph=True, allow_unused=True)
        return [torch.zeros_like(w) if g is None else g for g, w in zip(found, start, strict=True)]

    base, weight = defects.detach(), _dot(start, start) ** 0.5

    def forth(v: Weights) -> Tensor:
        # a change much smaller than the weights would be lost in what is subtracted
        unit = _dot(v, v) ** 0.5 / weight if weight else 1.0
        return (trial.defects([w + d / unit for w, d in zip(start, v, strict=True)], draws, fed)[0] - base) * unit

    change, left = [torch.zeros_like(w) for w in start], base.clone()
    slope = back(left)
    way, size = slope, _dot(slope, slope)
    first, taken = size, 0
    while taken < most and size > 1e-30 * first and time.process_time() <= until:
        progress.step(f"Looking for the weights of {trial.setting.layer.name} that obey the law", taken / STEPS)
        there = forth(way)
        length = float(there.dot(there))
        if length == 0.0:
            break
        step = size / length
        change = [c + step * d for c, d in zip(change, way, strict=True)]
        left = left - step * there
        slope = back(left)
        fresh = _dot(slope, slope)
        way = [s + fresh / size * d for s, d in zip(slope, way, strict=True)]
        size, taken = fresh, taken + 1
    return [w - c for w, c in zip(start, change, strict=True)], taken


def _dot(one: Weights, other: Weights) -> float:
    return float(sum((a * b).sum() for a, b in zip(one, other, strict=True)))


def project(setting: Setting) -> None:
    """Put the nearest weights that obey the law into the layer.

    Raises:
        NotApplicable: there are none but zero, or the layer cannot be tried.
    """
    layer = setting.layer
    if not layer.alone or layer.field is None or not setting.fed:
        raise NotApplicable("its inputs are of no known field, so it cannot be run on moved ones")
    named = {n: p for n, p in setting.module.named_parameters() if p.is_floating_point() and p.numel()}
    if not named:
        raise NotApplicable("it has no weights")
    try:
        found = _projected(setting, tuple(named), setting.exact())
    except NoAction as error:
        raise NotApplicable(str(error)) from None
    with torch.no_grad():
        for parameter, weights in zip(named.values(), found, strict=True):
            parameter.copy_(_settled(weights).to(parameter))


def _settled(weights: Tensor) -> Tensor:
    """Return weights in which sizes that differ by rounding alone are equal, so that they stay so in low precision."""
    size, order = weights.abs().flatten().sort()
    apart = torch.ones_like(size, dtype=torch.bool)
    apart[1:] = size[1:] - size[:-1] > EQUAL * size[-1:]
    group = apart.cumsum(0) - 1
    counted = torch.zeros_like(size).index_add_(0, group, torch.ones_like(size))
    mean = torch.zeros_like(size).index_add_(0, group, size) / counted.clamp_min(1)
    found = torch.empty_like(size)
    found[order] = mean[group]
    return found.reshape(weights.shape).copysign(weights)


def _projected(setting: Setting, names: tuple[str, ...], elements: list[Element]) -> Weights:
    if not elements:
        raise NotApplicable("no element of the group has a law at it")
    module = converted(copy.deepcopy(setting.module), torch.float64).eval()
    for m in modules_of(module):
        m._forward_hooks.clear()
        m._forward_pre_hooks.clear()
    own = dict(module.named_parameters())
    start = [own[name].detach() for name in names]
    trial = _Trial(setting, module, names, tuple(_generators(elements, setting)))
    double = Fed.like((t.double() if t.is_floating_point() else t for t in setting.fed), setting.fed)
    until = time.process_time() + SECONDS
    fields, count = setting.layer.inputs, 2
    largest = max(range(len(start)), key=lambda k: start[k].numel())
    # on fewer numbers than weights the law of these alone would hold
    while time.process_time() < until and count <= 4096:
        draws = _draws(double, fields, count, setting.seed + count)
        with torch.no_grad():
            found, steps = _nearest(trial, start, draws, double, until)
            # once more from there: what is to be rounded to lower precision should be equal to the last digit
            found, _ = _nearest(trial, found, draws, double, until, steps)
            _, here = trial.defects(found, draws, double)
            if float(found[largest].norm()) < LEAST * float(start[largest].norm()):
                raise NotApplicable("no weights but zero obey the law")
            if here > SMALL and time.process_time() > until:
                break
            if here > SMALL:
                raise NotApplicable("it is not linear in its weights, or none of them obey the law")
            _, fresh = trial.defects(found, _draws(double, fields, 2, setting.seed + 1), double)
        if fresh <= SMALL:
            return found
        count *= 4
    raise NotApplicable("its weights are too many to be projected")


def _generators(elements: list[Element], setting: Setting) -> list[Element]:
    """Return those elements that no products of the ones before are; all of them where the group is large."""
    found: list[Element] = []
    known: list[Element] = []
    try:
        for g in elements:
            if not known or len(group_of([*found, g], setting.fed, setting.layer.inputs)) > len(known):
                found.append(g)
                known = group_of(found, setting.fed, setting.layer.inputs)
    except NotApplicable:
        return elements
    return found


EXPERIMENT = Experiment(
    "weights", "Average its weights over the group", "its weights averaged over the group", project, 10, slow=True
)
