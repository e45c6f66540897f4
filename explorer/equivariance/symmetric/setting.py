"""Tell an experiment what it needs: the layer, what it is fed, the elements, and how far the layer is from its law."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from explorer.declare.elements import Element
from explorer.declare.inputs import Inputs
from explorer.declare.registry import scan, scanned
from explorer.equivariance import measure
from explorer.network.changing.interventions.hooks import Change
from explorer.network.opening.global_state import reseed
from explorer.network.tracing.capture import capture
from explorer.network.tracing.layers import Layer, Trace


class NotApplicable(ValueError):
    """An experiment has nothing to do at a layer; the message is a clause that says why."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One layer of a network that an experiment may change.

    Attributes:
        model: may be changed: it is a copy that belongs to the experiment.
        fed: the layer's tensor inputs in F(x), empty where it has none that are known.
        elements: of the group, bound to `inputs`, without the identity.
    """

    model: nn.Module
    trace: Trace
    layer: Layer
    inputs: Inputs
    fed: tuple[Tensor, ...]
    elements: tuple[Element, ...]
    seed: int = 0

    @property
    def module(self) -> nn.Module:
        """Return the layer's module."""
        return self.model.get_submodule(self.layer.owner)

    @property
    def tolerance(self) -> float:
        """Return what rounding may leave of an error, here in several sums in place of one."""
        return 4 * measure.tolerance(self.inputs.x.dtype, max(self.layer.rank, 1))

    def exact(self) -> list[Element]:
        """Return the elements under which the layer's law can be judged, which are those to symmetrise for."""
        value = self.values()[self.layer.name]
        field, found = self.layer.field, []
        for g in self.elements if field is not None else ():
            assert field is not None
            where = measure.mask(g, value, field, self.layer.sees)
            if measure.judged(g, self.inputs, self.layer, value, where):
                found.append(g)
        return found

    @torch.no_grad()
    def values(self, inputs: Inputs | None = None) -> dict[str, Tensor]:
        """Return the layer in a run of the network as it is now."""
        reseed(self.seed)
        return capture(self.model, inputs or self.inputs, [self.layer.name], clone=True)[0]

    @torch.no_grad()
    def error(self) -> tuple[float | None, float]:
        """Return the layer's largest (local, cumulative) error as the network is now; no local one where none is fed.

        Raises:
            NotApplicable: the layer has no law under these elements.
        """
        name, field = self.layer.name, self.layer.field
        reseed(self.seed)
        values, fed = capture(self.model, self.inputs, [name], clone=True, inputs=True)
        local: list[float] = []
        cumulative: list[float] = []
        for g in self.elements:
            expected = measure.expected_after(g, self.layer, values[name])
            answer = self.values(self.inputs.moved(g))[name]
            if expected is None or field is None or expected.shape != answer.shape:
                continue
            where = measure.mask(g, values[name], field, self.layer.sees)
            if not measure.judged(g, self.inputs, self.layer, values[name], where):
                continue
            cumulative.append(float(measure.apart(expected, answer, where, field).max()))
            alone = measure.local_answer(self.model, self.trace, self.layer, g, fed.get(self.layer.called, ()))
            if alone is not None and alone.shape == expected.shape:
                local.append(float(measure.apart(expected, alone, where, field).max()))
        if not cumulative:
            raise NotApplicable("no element of the group has a law at it")
        return max(local) if local else None, max(cumulative)


@dataclass(frozen=True, slots=True)
class Experiment:
    """One way to make a layer symmetric.

    Attributes:
        name, title: in a command, and for a person: "weights", "Average its weights over the group".
        told: what was done, for a sentence: "its weights averaged".
        apply: changes `Setting.model` in place, or returns what a hook does to the layer's tensor.
        place: those of a low place are tried first.
        softens: it lowers the error of shifts by less than a stride, and makes no law exact.
        slow: it may search for long, so that a person is shown the others before, and what it finds is kept: it
            changes parameters of the layer alone.
        around: it also looks at modules around the layer, so it can mend what is made before the layer.
    """

    name: str
    title: str
    told: str
    apply: Callable[[Setting], Change | None]
    place: int
    around: bool = False
    softens: bool = False
    slow: bool = False


@scanned
def experiments() -> dict[str, Experiment]:
    """Return every experiment by name, the one that changes least first."""
    import explorer.equivariance.symmetric as package

    found: dict[str, Experiment] = scan(package, "EXPERIMENT", "symmetric")
    return dict(sorted(found.items(), key=lambda item: item[1].place))


def mended(before: tuple[float | None, float], after: tuple[float | None, float], tolerance: float) -> bool:
    """Say whether a layer that broke its law obeys it now: alone, or where it did so before in the network."""
    alone, inside = before[0] is not None and before[0] > tolerance, after[1] <= tolerance
    if not all(math.isfinite(e) for e in after if e is not None):
        return False
    return (after[0] is not None and after[0] <= tolerance) if alone else inside
