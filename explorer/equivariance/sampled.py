"""Run a network on one sample: every layer's values, what it draws at random, and unrelated inputs beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from explorer.declare.inputs import Inputs
from explorer.equivariance import measure
from explorer.equivariance.trial.precision import rounding
from explorer.network.space import inference_of
from explorer.network.tracing.capture import Fed
from explorer.network.tracing.layers import Trace
from explorer.network.tracing.walking import named_modules


class Runs(Protocol):
    """Whoever runs a traced network: an audit."""

    model: nn.Module
    trace: Trace
    seed: int
    dtype: torch.dtype
    names: list[str]

    def run(
        self, x: Inputs, seed: int | None = None, inputs: bool = False
    ) -> tuple[dict[str, Tensor], dict[str, tuple[Tensor, ...]]]: ...


class Case:
    """One sample (a batch of images, or one graph): every layer of F(x), and the unrelated input beside it."""

    def __init__(self, audit: Runs, inputs: Inputs) -> None:
        self.inputs = inputs
        self.values, fed = audit.run(inputs, inputs=True)
        self.fed = {name: _shared(tensors, self.values) for name, tensors in fed.items()}
        self.least: dict[str, float] = {}  # up to which norm values are rounding alone
        self.most: dict[str, float] = {}  # from which size on values are constants that rule a layer
        self.other = inference_of(inputs).others(inputs, audit.seed + 1)
        # how far values are from those on numbers that are drawn anew
        self.variation = rounding.variation_anew(
            audit.trace, self.values, inputs, audit.seed, lambda x: audit.run(x)[0]
        )
        # only what the same seed repeats was given the same random numbers in every run
        self.casts = rounding.Casts(audit.dtype)
        with self.casts:
            self.unsteady = self._changed(audit, audit.seed)
        self.random = [] if self.unsteady else self._changed(audit, audit.seed + 1)
        self.states = self._states(audit) if self.random else {}
        self.unrelated: dict[str, Tensor] = {} if self.random or self.unsteady else audit.run(self.other)[0]

    def _changed(self, audit: Runs, seed: int) -> list[str]:
        """Return the layers that another run on the same input changes by more than rounding."""
        again, found = audit.run(self.inputs, seed)[0], []
        for name in audit.names:
            if torch.equal(self.values[name], again[name]):
                continue
            one, other = self.values[name].double(), again[name].double()
            # what is turned into coarser numbers is only repeated to those: sums on a GPU come in any order
            rounding = measure.tolerance(self.casts.lowest or self.values[name].dtype, audit.trace[name].rank)
            if one.shape != other.shape or float((one - other).norm()) > rounding * float(one.norm()):
                found.append(name)
        if found:
            fed = audit.run(self.inputs, seed, inputs=True)[1]
            self.before = fed_otherwise(self.fed.get(found[0], ()), fed.get(found[0], ()))
        else:
            self.before = False
        return found

    def _states(self, audit: Runs) -> dict[str, Tensor]:
        """Return the random state that each layer met, so that alone it draws the same numbers."""
        states: dict[str, Tensor] = {}
        calls: dict[str, int] = {}

        def entering(name: str) -> Callable[[nn.Module, Any], None]:
            def hook(_: nn.Module, __: Any) -> None:
                calls[name] = calls.get(name, 0) + 1
                states[name if calls[name] == 1 else f"{name}#{calls[name]}"] = random_state(self.inputs.x)

            return hook

        handles = [m.register_forward_pre_hook(entering(n)) for n, m in named_modules(audit.model)]
        try:
            audit.run(self.inputs)
        finally:
            for handle in handles:
                handle.remove()
        return states


def _shared(fed: tuple[Tensor, ...], values: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
    """Return what a layer was fed, as the very tensors that other layers returned, so that an element acts on one."""

    def one(given: Tensor) -> Tensor:
        alike = (v for v in reversed(list(values.values())) if v.shape == given.shape and v.dtype == given.dtype)
        return next((v for v in alike if torch.equal(v, given)), given)

    return Fed.like((one(given) for given in fed), fed)


def fed_otherwise(one: Sequence[Tensor], other: Sequence[Tensor]) -> bool:
    """Say whether a layer was fed other tensors in one run than in another."""
    return len(one) != len(other) or any(a.shape != b.shape or not torch.equal(a, b) for a, b in zip(one, other))


def random_state(x: Tensor) -> Tensor:
    return torch.cuda.get_rng_state(x.device) if x.is_cuda else torch.get_rng_state()


def restore_random_state(x: Tensor, state: Tensor) -> None:
    torch.cuda.set_rng_state(state, x.device) if x.is_cuda else torch.set_rng_state(state)
