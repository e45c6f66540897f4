"""Prepare an epoch (model, sample, device, precision) once: the network, its trace, and every layer of F(x)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.inputs import Inputs
from explorer.declare.samples import Sample
from explorer.declare.states.interventions import Intervention
from explorer.declare.states.model_name import code_of
from explorer.declare.types.fields import FieldType, Scalar
from explorer.equivariance.sampled import fed_otherwise
from explorer.equivariance.trial.precision import rounding
from explorer.equivariance.trial.precision.floors import in_precision
from explorer.equivariance.trial.precision.vanishing import vanishing
from explorer.equivariance.verdict.sentences import draws, uncalled
from explorer.network.changing.conduct import IN_PLACE, require_values, reuses, unmeasured
from explorer.network.changing.precision import converted, copied, on_device
from explorer.network.describing.statistics import exact, first_strange
from explorer.network.input.inputs import called, noticing
from explorer.network.opening.global_state import reseed
from explorer.network.opening.helpers import causes
from explorer.network.space import space_of, spaces
from explorer.network.tracing.capture import capture
from explorer.network.tracing.layers import Layer, LayerError, Trace, innermost
from explorer.network.tracing.running import attended, evaluating
from explorer.network.tracing.trace import traced_run
from explorer.network.tracing.walking import named_modules, named_tensors, parameters_of
from explorer.square.preparing.trouble import (
    NO_TROUBLE,
    Trouble,
    cut_behind,
    first_changed,
    first_not_finite,
    runs_as_made,
    varying,
)
from explorer.work.budget import held_bytes
from explorer.work.progress import Cancelled, step

DTYPES = {"float32": torch.float32, "float64": torch.float64}
SLOW_SECONDS = 0.5  # of a forward pass: a network this slow is not run once more than its first frame needs
QUICK_SECONDS = 0.05  # of a forward pass: a network this quick is run once more, in double precision


class Frozen(Protocol):
    """Interventions that are on a network."""

    def freeze(self, values: Mapping[str, Tensor]) -> None:
        """Let frozen layers give these values from here on."""


@dataclass(slots=True)
class Prepared:
    """F(x) with all its layers, on the device; built once per epoch, read by every request and orbit of it.

    Attributes:
        values, fed: {layer: output} and {layer: its tensor inputs} of F(x).
        chance: the layers of another, unrelated input; of a slow network none until `meet_chance` is called.
        float_floor: relative rounding error per layer.
        stored: the epsilon that each parameter and buffer was made with.
        notes: sentences about the network.
        weights_notes: those about its weights: which did not fit, or are random.
        interventions, base: what was changed in the network, and F(x) without that; None where nothing was.
        kept: the store of `square.kept`: what depends on the epoch and is made when it is first needed.
        trouble: why there can be no verdict, and in which layer.
        least: {layer: up to which norm its values are rounding alone}, where a second run was made; else None.
        without: modules and inner values that are no layers, as the network does not call them on every input.
        innermost: the watched layers that are compared by themselves, as `network.tracing.layers` defines them.
    """

    card: Card
    model: nn.Module
    trace: Trace
    inputs: Inputs
    values: Mapping[str, Tensor]
    fed: Mapping[str, tuple[Tensor, ...]]
    forward_seconds: float
    watched: tuple[Layer, ...]
    chance: Mapping[str, Tensor] = field(default_factory=dict)
    float_floor: dict[str, float] = field(default_factory=dict)
    stored: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    sample: Sample | None = None
    notes: tuple[str, ...] = ()
    weights_notes: tuple[str, ...] = ()
    interventions: tuple[Intervention, ...] = ()
    base: Prepared | None = None
    kept: dict[object, Any] = field(default_factory=dict)
    trouble: Trouble = NO_TROUBLE
    least: dict[str, float] | None = None
    without: frozenset[str] = frozenset()
    innermost: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.innermost = innermost(self.watched)

    @property
    def x(self) -> Tensor:
        return self.inputs.x

    @property
    def x_field(self) -> FieldType:
        return self.inputs.field

    @property
    def dtype(self) -> torch.dtype:
        """Return the precision of the run; numbers of tokens and of elements have none."""
        return next((v.dtype for v in (*self.inputs.values, self.output) if v.is_floating_point()), torch.float32)

    @property
    def output(self) -> Tensor:
        """Return F(x) at the network's end; the last finite layer where the network `answers` nothing."""
        return self.values[self.trace.output]

    @property
    def answers(self) -> bool:
        """Say whether the network has an answer: one that is cut off behind a layer that gives NaN has none."""
        return not self.trouble.layer

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the names of the outputs, or () when they are not one per output."""
        return self.card.labels if tuple(self.output.shape[1:]) == (len(self.card.labels),) else ()

    @property
    def nbytes(self) -> int:
        """Return what it takes on the device: captured values, the network's own, and what is kept with the epoch."""
        own = [tensor for _, tensor in named_tensors(self.model)]
        return held_bytes((self.values, self.chance, self.fed, own, self.kept))

    def unrecorded(self) -> AbstractContextManager[Any]:
        """Return the context to run the network in that records least for derivatives, and lets it take its own."""
        return torch.no_grad() if self.trace.differentiates else torch.inference_mode()

    def layer(self, name: str, fraction: float | None = None) -> Layer:
        """Return the layer called `name`, else the one at relative depth `fraction`, else the first worth seeing."""
        if name in self.trace.by_name and self.trace[name] in self.watched:
            return self.trace[name]
        if fraction is not None:
            return self.watched[round(fraction * (len(self.watched) - 1))]
        seen = [w for w in self.watched if w.name in self.innermost and w.params and w.field and not w.field.invariant]
        # values that an element mixes tell more than scalars, which it only moves
        mixed = (w for w in seen if w.field and not isinstance(w.field.rep, Scalar))
        return next(mixed, (seen or self.watched)[0])

    def whole(self) -> Prepared:
        """Return this where the network was run to its end.

        Raises:
            LayerError: a layer gave NaN, and what comes behind it is left out.
        """
        if self.trouble.layer:
            raise LayerError(self.trouble.layer, self.trouble.sentence)
        return self

    def run(self, x: Inputs, cancelled: Callable[[], bool] | None = None) -> dict[str, Tensor]:
        """Return every watched layer of F(x), with the random numbers that every run of this epoch draws."""
        reseed(self.seed)
        names = [w.name for w in self.watched]
        with noticing(code_of(self.card.name) is not None) as seen:
            ends = () if self.trouble.layer else self.trace.outputs
            found = capture(self.model, x, names, clone=self.trace.clones, cancelled=cancelled, ends=ends)[0]
        self.notes = (*self.notes, *(note for note in seen if note not in self.notes))
        return found


def meet_chance(p: Prepared) -> None:
    """Run the network on the unrelated input, unless that was done already."""
    if p.chance:
        return

    def waited() -> bool:
        step("Computing", 0.0)  # which raises Cancelled
        return False

    reseed(p.seed)
    other = space_of(p.inputs).inference(p.inputs).another(p.inputs, p.seed)
    start = time.perf_counter()
    with torch.no_grad(), evaluating(p.model):
        names = [layer.name for layer in p.trace.layers]
        p.chance, _ = capture(p.model, other, names, clone=p.trace.clones, cancelled=waited)
    if p.forward_seconds >= SLOW_SECONDS and not p.x.is_cuda:
        # the first run was the only one yet, and may have made what later ones find
        p.forward_seconds = min(p.forward_seconds, time.perf_counter() - start)


@contextmanager
def interruptible(model: nn.Module, cancelled: Callable[[], bool] | None) -> Iterator[None]:
    """Let every forward pass of `model` end with Cancelled, between two layers, once nobody waits for it."""

    handles = attended(model, cancelled)
    try:
        yield
    except LayerError as error:
        if isinstance(error.__cause__, Cancelled):
            raise Cancelled from None
        raise
    finally:
        for handle in handles:
            handle.remove()


def prepare(
    card: Card,
    model: nn.Module,
    sample: Sample,
    *,
    device: torch.device,
    dtype: torch.dtype,
    overrides: Mapping[str, str] | None = None,
    declared: bool = True,
    seed: int = 0,
    cancelled: Callable[[], bool] | None = None,
    base: Prepared | None = None,
    intervened: Callable[[nn.Module], Frozen] | None = None,
    like: Trace | None = None,
    without: frozenset[str] = frozenset(),
) -> Prepared:
    """Run F(x) once with everything captured.

    A network is cut off behind the first layer that gives NaN, so that this layer and those before it can be seen.

    Args:
        model: is moved to `device` and `dtype`: give a copy.
        base, intervened: F(x) without interventions, whose layers and fields these are too, and what puts them on the
            copy, which they belong to as long as it lives.
        like: the trace of this network with other weights, of which it is taken where the shapes are the same.
        without: what is no layer of it, as it is not called on every input.

    Raises:
        LayerError: a layer raised, or the first one gave NaN, or the answer cannot be measured; `.where` names it.
        ValueError: unusable data, or an override of a layer that is not there.
        Cancelled: nobody waits any more.
    """
    space = spaces()[card.input.space]
    x = space.inputs(sample, card.input, device, dtype)
    inference = space.inference(x)
    require_values(model)
    lazy = any(isinstance(q, nn.parameter.UninitializedParameter) for q in parameters_of(model))
    stored = {} if lazy else rounding.stored(model)
    made_in = {} if lazy else {name: value.dtype for name, value in named_tensors(model)}
    moved = on_device(model, device)  # whatever a class of somebody's own returns
    model = converted(moved if isinstance(moved, nn.Module) else model, dtype)
    model.eval()
    with interruptible(model, cancelled), torch.no_grad(), evaluating(model):
        reseed(seed)
        changed = intervened(model) if intervened is not None else None
        try:
            if (known := base.trace if base is not None else like) is not None:
                traced, first = known, None
            else:
                traced, first = traced_run(model, x, overrides=overrides, declared=declared, without=without)
        except KeyError as error:
            there = ", ".join(name for name, _ in named_modules(model) if name)
            raise ValueError(f"{error.args[0]}; {card.name} has: {there}") from None
        except LayerError as error:
            raised = any(not isinstance(step, LayerError) for step in causes(error))  # else it ran with its input
            why = [*(card.notes if card.own and raised else ()), *runs_as_made(model, x, made_in, dtype)]
            if not why:
                raise
            raise LayerError(error.where, f"{str(error).rstrip('.')}; {'; '.join(why)}") from error
        names = [layer.name for layer in traced.layers]
        slow = first is not None and first.seconds >= SLOW_SECONDS
        if first is not None and slow:
            values, fed, seconds = first.values, first.fed, first.seconds
        else:
            reseed(seed)
            start = time.perf_counter()
            values, fed = capture(model, x, names, clone=traced.clones, inputs=True)
            seconds = time.perf_counter() - start
            if first is not None and reuses(first.values, values, [t for _, t in named_tensors(model)]):
                traced = replace(traced, clones=True)  # the answer to the moved data would lie in its place
                reseed(seed)
                values, fed = capture(model, x, names, clone=True, inputs=True)
        if known is like is not None and any(n not in values or values[n].shape != like[n].shape for n in names):
            # what a network calls, or how many it keeps of its values, may hang on its weights
            return prepare(card, model, sample, device=device, dtype=dtype, overrides=overrides, declared=declared,
                           seed=seed, cancelled=cancelled, without=without)  # fmt: skip
        del first
        _check_output(card.name, values[traced.output], traced.output, x.batched, inference.may_be_empty())
        trouble, random = NO_TROUBLE, ""
        if strange := first_not_finite(values, names, traced.outputs):
            clause = first_strange({strange: exact(values[strange])}, fed)
            traced, trouble = cut_behind(traced, strange, clause)
            names = [layer.name for layer in traced.layers]
            values = {name: values[name] for name in names}
            fed = {name: fed[name] for name in names if name in fed}
        if seconds < SLOW_SECONDS:
            reseed(seed)
            state = torch.get_rng_state()
            seconds, again = _seconds(partial(called, model, x, clone=traced.changes_input), device)
            drew = not torch.equal(state, torch.get_rng_state())
            answer: object = values[traced.output]
            if traced.clones:  # what was captured of a layer may have been overwritten before it was returned
                reseed(seed)
                answer = called(model, x, clone=True)
            trouble = trouble or varying(answer, again, dtype)
            if drew and not trouble:
                reseed(seed + 1)
                others, fed_others = capture(model, x, names, clone=traced.clones, inputs=True)
                if name := first_changed(values, others, names):
                    random = draws([name], [], fed_otherwise(fed.get(name, ()), fed_others.get(name, ())))
                del others, fed_others
            del again
        watched = tuple(layer for layer in traced.layers if layer.field is not None or layer.name == traced.output)
        floor = {w.name: torch.finfo(dtype).eps * math.sqrt(max(w.rank, 1)) for w in traced.layers}
        least: dict[str, float] | None = None
        if dtype == torch.float32 and seconds < QUICK_SECONDS and not (random or trouble):
            # rounding is measured, not guessed, where a second run in double precision costs nothing noticeable
            reseed(seed)
            double = converted(copied(model), torch.float64)
            rerun = in_precision(double, x, names, torch.float64)
            least = None if rerun is None else vanishing(traced, values, rerun, fed)
            for name, precise in (rerun or {}).items():
                value, precise = values[name], precise.double()
                size = float(precise.norm())
                if size and value.shape == precise.shape:
                    floor[name] = float((value.double() - precise).norm()) / size
        if changed is not None:
            changed.freeze(values)
        made = Prepared(
            card, model, traced, x, values, fed, seconds, watched, {}, floor, stored, seed, sample,
            _notes(traced, random, without), base=base, trouble=trouble, least=least, without=without,
        )  # fmt: skip
        if not slow:
            meet_chance(made)
    return made


def _check_output(name: str, out: Tensor, where: str, batched: bool, may_be_empty: bool) -> None:
    """Raise LayerError when the network's answer to one sample is nothing that can be compared or drawn.

    Of a graph without edges an answer for each edge is empty, and rightly so.
    """
    shape = tuple(out.shape)
    wrong = ""
    if (out.numel() or not may_be_empty) and (why := unmeasured(out)):
        wrong = why
    elif batched and shape[:1] != (1,):
        wrong = f"has the shape {shape}; its first axis must be the batch, which is 1 here"
    if wrong:
        raise LayerError(where, f"the output of {name} {wrong}")


def _notes(trace: Trace, random: str, without: frozenset[str]) -> tuple[str, ...]:
    chosen = (uncalled(sorted(without)),) if without else ()
    return (*chosen, *trace.left_out, *((IN_PLACE,) if trace.changes_input else ()), *((random,) if random else ()))


def _seconds(forward: Callable[[], object], device: torch.device) -> tuple[float, object]:
    """Return what one forward pass takes, and its answer; the first ones, which warm up, have been before."""
    start = time.perf_counter()
    answer = forward()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start, answer
