"""Rounding of one network, layer by layer: of this very run, and of filters that were made symmetric in low precision.

A law that permutes rows, shifts or turns frames asks nothing of the weights: it holds to the precision of the run.
Turning an image asks that filters be symmetric themselves, and they are so only as far as they are stored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from explorer.declare.inputs import Inputs
from explorer.declare.symmetries import Symmetry
from explorer.equivariance import measure
from explorer.network.changing.precision import copied, precision_of
from explorer.network.input.inputs import called
from explorer.network.tracing.layers import LayerError, Trace
from explorer.network.tracing.running import evaluating
from explorer.network.tracing.walking import named_tensors

LEAST = (
    1e-12  # relative, in float64: means of large volumes round by 1e-13, and no fault that anybody makes is as small
)
_COARSE = 1e-4  # epsilon from which on rounding may be as large as faults that people make
_LIKELY = 2.0  # epsilons of rounding that a layer has as a rule: what permutes places changes the order of sums alone
_HALF_K = 4.0  # in place of measure.K: a filter that is symmetric up to half precision differs by a few roundings


def of_run(trace: Trace, dtype: torch.dtype, shown: Mapping[str, float] | None = None) -> dict[str, float]:
    """Return per layer the relative error that a run in `dtype` may have, by the number of weighted layers.

    Args:
        shown: the rounding that this very network shows, which is never called a fault.
    """
    shown = shown or {}
    # a norm of almost constant maps enlarges the rounding of long sums, on one sample of many
    least = LEAST if dtype == torch.float64 else 0.0
    return {n.name: max(measure.tolerance(dtype, n.rank), 8 * shown.get(n.name, 0.0), least) for n in trace.layers}


def stored(model: nn.Module) -> dict[str, float]:
    """Return the epsilon that each parameter and buffer of a network with more than one number was made with.

    Double weights that all fit into float32 were made there.
    """
    weights = {n: p.detach() for n, p in named_tensors(model) if p.is_floating_point()}
    single = all(torch.equal(p, p.float().to(p.dtype)) for p in weights.values())
    return {
        n: torch.finfo(torch.float32 if single and p.dtype == torch.float64 else p.dtype).eps
        for n, p in weights.items()
        if p.numel() > 1
    }


def counted(made: Mapping[str, float], model: nn.Module, symmetry: Symmetry) -> dict[str, float]:
    """Return those of what is `stored` that a network obeys such a symmetry by: filters, constants, or nothing."""
    if symmetry.filters:
        return dict(made)
    buffers = {name for name, _ in model.named_buffers()} if symmetry.constants else set()
    return {name: eps for name, eps in made.items() if name in buffers}


def of_filters(made: Mapping[str, float], trace: Trace, alone: bool = False) -> dict[str, float]:
    """Return per layer the relative error that stored filters excuse: its own, and those of layers before it.

    Args:
        made: what `stored` says of the network before any conversion.
        alone: count its own filters only, as for a layer that is fed without the layers before it.
    """
    own: dict[str, float] = {}  # {owner: the coarsest of its parameters}
    below: dict[str, float] = {}  # {container: the same of all that it is made of}
    for name, eps in made.items():
        owner = name.rpartition(".")[0]
        own[owner] = max(eps, own.get(owner, 0.0))
        for container in _around(owner):
            below[container] = max(eps, below.get(container, 0.0))
    found, coarsest = {}, 0.0
    for layer in trace.layers:
        coarsest = 0.0 if alone else coarsest
        # a parameter that a container or the network itself holds acts somewhere among its layers
        acting = [own.get(owner, 0.0) for owner in ("", *_around(layer.module), layer.module)]
        coarsest = max(coarsest, below.get(layer.module, 0.0), *acting)
        found[layer.name] = coarseness(coarsest) * math.sqrt(max(layer.rank, 1))
    return found


def coarseness(eps: float) -> float:
    """Return the relative error that one layer of numbers stored with `eps` may have."""
    return (measure.K if eps <= torch.finfo(torch.float32).eps else _HALF_K) * eps


def unclear(error: float, dtype: torch.dtype, rank: int) -> bool:
    """Say whether an error that rounding excuses is so large that it may be a fault as well.

    Args:
        dtype: the lowest precision of the run.
        rank: how many weighted layers led to it.
    """
    eps = torch.finfo(dtype).eps
    return eps > _COARSE and error > _LIKELY * eps * math.sqrt(max(rank, 1))


class _Row(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def cumulative_max(self) -> float | None: ...
    @property
    def tolerance(self) -> float: ...


def doubtful(
    rows: Iterable[_Row], trace: Trace, excused: Mapping[str, float], dtype: torch.dtype
) -> dict[str, float]:  # fmt: skip
    """Return {layer: error} of those that rounding excuses, and nobody's wish, although they may be faults."""
    found = {row.name: row.cumulative_max or 0.0 for row in rows if row.tolerance >= excused[row.name]}
    return {name: error for name, error in found.items() if unclear(error, dtype, trace[name].rank)}


def _around(module: str) -> list[str]:
    """Return the names of the containers of a module."""
    return [module[:at] for at, sign in enumerate(module) if sign == "."]


def limit(of_run: float, of_filters: float, variation: float | None) -> float:
    """Return the relative error up to which a law holds at a layer.

    No tolerance for filters excuses a sizeable share of all that the values do: a large constant would hide everything.

    Args:
        of_run, of_filters: what the two kinds of rounding excuse.
        variation: the relative distance of the values on unrelated inputs, None where it is not known.
    """
    most = math.inf if variation is None else max(of_run, measure.SIZEABLE * variation)
    return min(max(of_run, of_filters), most)


def drawn_anew(inputs: Inputs, seed: int, all_of_them: bool = False) -> Inputs | None:
    """Return inputs whose numbers are drawn anew from those that are there, None where there are none.

    Other samples may lie on the orbit of these: there nothing invariant changes.

    Args:
        all_of_them: not those of x alone, but of all that the network is given, as edges.
    """
    if not inputs.x.numel():
        return None
    generator = torch.Generator().manual_seed(seed)
    if all_of_them:
        return inputs.map(lambda value, _: _drawn_anew(value, generator) if value.numel() else value)
    return inputs.with_x(_drawn_anew(inputs.x, generator))


def _drawn_anew(x: Tensor, generator: torch.Generator) -> Tensor:
    # any of the numbers at any place, so that their sum changes, each changed, so that equal ones differ too
    drawn = x.flatten()[torch.randint(x.numel(), (x.numel(),), generator=generator, device="cpu").to(x.device)]
    if x.is_floating_point():  # numbers of symbols and of atoms stay what they are
        drawn = drawn * (0.5 + torch.rand(x.numel(), generator=generator, device="cpu")).to(x)
    return drawn.view_as(x)


def variation(trace: Trace, values: Mapping[str, Tensor], others: Mapping[str, Tensor]) -> dict[str, float]:
    """Return per layer the relative distance of its values on an input from those on another, where both are finite."""
    found = {}
    for layer in trace.layers:
        here, there = values[layer.name], others[layer.name]
        if layer.field is not None and here.shape == there.shape and measure.finite(there):
            found[layer.name] = float(measure.apart(here, there, measure.EVERYWHERE, layer.field).median())
    return found


def variation_anew(
    trace: Trace, values: Mapping[str, Tensor], inputs: Inputs, seed: int,
    run: Callable[[Inputs], Mapping[str, Tensor]],
) -> dict[str, float]:  # fmt: skip
    """Return `variation` on numbers that are drawn anew; {} where there are none, or a network does not take them."""
    if (drawn := drawn_anew(inputs, seed)) is None:
        return {}
    try:
        return variation(trace, values, run(drawn))
    except LayerError:
        return {}


def all_anew(
    inputs: Inputs, seed: int, run: Callable[[Inputs], Mapping[str, Tensor]]
) -> Mapping[str, Tensor]:  # fmt: skip
    """Return the layers on inputs that are drawn anew, all of them; {} where a network does not take such."""
    drawn = drawn_anew(inputs, seed, all_of_them=True)
    try:
        return {} if drawn is None else run(drawn)
    except LayerError:
        return {}  # as of numbers that make no graph


class Casts(TorchFunctionMode):
    """Watch for numbers of a precision that are turned into a lower one, as `h.float()` in a forward does.

    Attributes:
        lowest: the lowest precision that was seen, or None.
    """

    # a TorchDispatchMode would see as much, but importing what it needs of torch takes seconds

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype = dtype
        self.lowest: torch.dtype | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        written = args[:1] if func is Tensor.__setitem__ else ()  # as into zeros that were made in single precision
        made = result if isinstance(result, tuple | list) else (result,)
        for value in (*made, *written):
            if isinstance(value, Tensor) and (of := parts(value)) is not None and self._lower(of):
                given = [*args, *(kwargs or {}).values()]
                if any(isinstance(a, Tensor) and parts(a) == self.dtype for a in given):
                    self.lowest = of
        return result

    def _lower(self, dtype: torch.dtype) -> bool:
        return torch.finfo(dtype).eps > torch.finfo(self.lowest or self.dtype).eps


def parts(value: Tensor) -> torch.dtype | None:
    """Return the type of numbers, or of the real parts of complex ones; None for whole numbers."""
    return value.dtype.to_real() if value.is_floating_point() or value.is_complex() else None


def lowest_cast(model: nn.Module, inputs: Inputs) -> torch.dtype | None:
    """Return the lowest precision that a network's own code turns numbers of the data's into; None where it does not.

    `torch.autocast` is such code, and leaves double precision alone.
    """
    casts = Casts(precision_of(model))
    trial = copied(model)
    with evaluating(trial), torch.no_grad(), casts:
        try:
            called(trial, inputs, clone=True)
        except torch.OutOfMemoryError:
            raise
        except (Exception, SystemExit):
            return None  # whoever runs it in the precision of the measurement says what is wrong
    return casts.lowest
