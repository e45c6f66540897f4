"""Networks that take several sequences of values: what each is called and how wide it is, found by trial, and data."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor, nn

from explorer.data.unplaced import first_text, given_or_first
from explorer.declare.inputs import Inputs
from explorer.declare.samples import Sample, Signal
from explorer.declare.telling.asking import NUMBER, Named, Sizes, is_unplaced, parse_unplaced
from explorer.declare.telling.values import told_value
from explorer.declare.types.fields import INVARIANT, FieldType, Scalar
from explorer.network.changing.copying import duplicate
from explorer.network.changing.precision import copied
from explorer.network.input.arguments import ByName
from explorer.network.input.inputs import called, from_signals
from explorer.network.input.refusals import Refusals
from explorer.network.input.unplaced import (
    BATCH,
    in_order,
    settled_forms,
    unplaced_forms,
    unplaced_others,
    unplaced_trial,
)
from explorer.network.tracing.bounded import bounded
from explorer.network.tracing.running import evaluating, first_tensor, tried
from explorer.network.tracing.trials import answer_of
from explorer.spaces.sequence.fields import Steps
from explorer.spaces.sequence.network.extents import FORMS, extent, told_extent
from explorer.spaces.sequence.network.fit import fit_sequence
from explorer.spaces.sequence.network.form import EXTENTS, LAYOUTS, SequenceInput, is_extent
from explorer.spaces.sequence.network.hearing import mixes
from explorer.spaces.sequence.network.inputs import sequence_inputs
from explorer.spaces.sequence.network.layouts import Unclear, widths_in
from explorer.spaces.sequence.sample import sequence_sample
from explorer.work.progress import Cancelled, waited

STEPS = 64  # of noise where nothing says how many
STEPS_TRIED = 23
MOST_WIDTHS = 4  # of sequences beside numbers
MOST_TRIALS = 720  # of widths and orders of axes


def said_sequences(channels: object) -> Named | None:
    """Return the name and width of each argument as a file says them, INPUT_CHANNELS = {"audio": 8, "text": 4}.

    Raises:
        Unclear: a name that is none, or a width that is no whole number above 0.
    """
    if not isinstance(channels, Mapping):
        return None
    for name, width in channels.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise Unclear(f"INPUT_CHANNELS must name the arguments of the network, and {name!r:.40} is no name")
        if isinstance(width, str) and _form_of(width) is not None:
            continue
        if not isinstance(width, int) or isinstance(width, bool) or width < 1:
            raise Unclear(f"INPUT_CHANNELS must hold whole numbers above 0, not {told_value(width)} for {name!r}")
    if not channels:
        raise Unclear("INPUT_CHANNELS must name at least one argument, as in {'audio': 8, 'text': 4}")
    said = ((name, _form_of(width) if isinstance(width, str) else (width,)) for name, width in channels.items())
    found = tuple((name, form) for name, form in said if form is not None)
    if all(is_unplaced(form) for _, form in found):
        raise Unclear("INPUT_CHANNELS needs a sequence among what it names, as in {'audio': 8}")
    return found


def several_sequences(
    network: nn.Module, names: tuple[str, ...], told: Mapping[str, object], known: Named = ()
) -> SequenceInput:
    """Return what a network takes that is called with these names: widths and axes by trial where the file is silent.

    Raises:
        Unclear: no widths and no order of the axes run, or several orders do and differ; with what to declare.
    """
    steps = told.get("steps")
    most = steps if isinstance(steps, int) else None
    known = known or said_sequences(told.get("channels")) or ()
    if known and any(is_unplaced(form) for _, form in known):
        return _said_beside(network, known, str(told.get("layout", "")), most)
    names = tuple(name for name, _ in known) if known else names
    found = [width for width in widths_in(network) if width > 0] or [1]
    choices = [[_width(form)] for _, form in known] if known else [found] * len(names)
    orders = [str(told["layout"])] if "layout" in told else list(LAYOUTS)
    trials = itertools.islice(itertools.product(orders, itertools.product(*choices)), MOST_TRIALS)
    trial = duplicate(network)
    running: dict[str, tuple[int, ...]] = {}
    mixing: dict[str, tuple[int, ...]] = {}
    failed: Exception | None = None
    refusals = {order: Refusals() for order in orders}
    for order, widths in trials:
        if order in mixing or refusals[order].know(widths):
            continue
        waited()
        try:
            heard = mixes(trial, most or STEPS_TRIED, widths, order, refusals[order].heard(ByName(names), widths))[0]
        except (torch.OutOfMemoryError, KeyboardInterrupt, Cancelled):
            raise
        except Exception as error:  # a forward of somebody else's may raise anything
            failed = failed or error
            continue
        running.setdefault(order, widths)
        if heard:
            mixing[order] = widths
    batched = {order: widths for order, widths in mixing.items() if "N" in order} or mixing
    listed = ", ".join(f"{name!r}: ..." for name in names)
    if len(batched) > 1:
        raise Unclear(
            f"its sequences {', '.join(names)} could each be {' or '.join(batched)}; say which in the file, "
            f"INPUT_LAYOUT = {next(iter(batched))!r}"
        )
    if not batched and not running and not known and len(names) > 1:
        beside = with_extents(network, names, found, orders, most) or _beside(network, names, found, orders, most)
        if beside is not None:
            return beside
    if not batched and not running:
        reason = f" ({type(failed).__name__}: {' '.join(str(failed).split())[:120]})" if failed is not None else ""
        raise Unclear(
            f"its forward takes ({', '.join(names)}), and no sequences of {most or STEPS_TRIED} steps run through "
            f"it{reason}; say in the file how wide each is, INPUT_CHANNELS = {{{listed}}}, and INPUT_LAYOUT = 'NTC'; "
            "INPUT_STEPS where it takes so many and no other number"
        )
    order, widths = next(iter((batched or running).items()))
    return declared_sequences(tuple((n, (w,)) for n, w in zip(names, widths, strict=True)), order, most)


def _form_of(text: str) -> Sizes | None:
    """Read what has no width: numbers at no place, a length or a mask; return None of anything else."""
    return (text,) if text in EXTENTS else parse_unplaced(text)


def _width(form: Sizes) -> int:
    (width,) = form
    assert isinstance(width, int)
    return width


def _trial(form: Sizes, order: str, steps: int, batch: int) -> Tensor:
    """Return noise for an argument: a batch of sequences with that order of axes, or of numbers at no place."""
    if is_extent(form):
        return extent(form, batch, steps, steps)
    if is_unplaced(form):
        return unplaced_trial(form, batch)
    sizes = {"N": batch, "T": steps, "C": _width(form)}
    return torch.rand([sizes[a] for a in order], generator=torch.Generator().manual_seed(0), device="cpu")


def with_extents(
    network: nn.Module, names: tuple[str, ...], widths: Sequence[int] = (), orders: Sequence[str] = LAYOUTS,
    most: int | None = None,
) -> SequenceInput | None:  # fmt: skip
    """Return what a network takes of which one argument says how far the sequences go, by trial; None if unclear."""
    steps, found = most or STEPS_TRIED, dict[str, tuple[Sizes, ...]]()
    widths = widths or [width for width in widths_in(network) if width > 0] or [1]
    for order in (order for order in orders if "N" in order):
        for at, some in itertools.product(
            reversed(range(len(names))), itertools.product(widths[:MOST_WIDTHS], repeat=len(names) - 1)
        ):
            waited()
            forms: list[Sizes] = [(width,) for width in some]
            forms.insert(at, FORMS[0])
            given = [_trial(form, order, steps, BATCH) for form in forms]
            if (told := told_extent(network, ByName(names), given, at, order)) is not None:
                found[order] = (*forms[:at], told, *forms[at + 1 :])
                break
    if len(found) != 1:
        return None
    ((order, settled),) = found.items()
    return declared_sequences(tuple(zip(names, settled, strict=True)), order, most)


def _beside(
    network: nn.Module, names: tuple[str, ...], widths: Sequence[int], orders: Sequence[str], most: int | None
) -> SequenceInput | None:
    """Return what a network takes of which some arguments are numbers that lie at no place, by trial; None if unclear.

    It runs with each order of axes on a batch of two, in which numbers that each sample has are told from sequences,
    and with nothing else in the place of an argument. Of several orders nobody can tell which it is.
    """
    sequences: list[Sizes] = [(width,) for width in widths[:MOST_WIDTHS]]
    alone, steps = unplaced_forms(network), most or STEPS_TRIED
    mixed = itertools.product([*sequences, *alone], repeat=len(names))
    trials = [f for f in mixed if any(map(is_unplaced, f)) and not all(map(is_unplaced, f))][:MOST_TRIALS]
    found: dict[str, tuple[Sizes, ...]] = {}
    refusals = {order: Refusals() for order in orders}
    for order, forms in itertools.product([order for order in orders if "N" in order], trials):
        if order in found or refusals[order].know(forms):
            continue
        waited()
        given = [_trial(form, order, steps, BATCH) for form in forms]
        if answer_of(network, given, refusals[order].heard(ByName(names), forms)) is None:
            continue

        def others(form: Sizes, order: str = order) -> list[Tensor]:
            if is_unplaced(form):
                placed = [_trial(one, order, steps, BATCH) for one in sequences]
                return [*placed, *unplaced_others(form, alone, BATCH)]
            numbers = [unplaced_trial((NUMBER,), n) for n in (1, BATCH)]
            return [*numbers, _trial((_width(form) + 1,), order, steps, BATCH)]

        if settled := settled_forms(network, ByName(names), given, forms, others, BATCH):
            found[order] = settled
    if len(found) != 1:
        return None
    ((order, forms),) = found.items()
    return declared_sequences(tuple(zip(names, forms, strict=True)), order, most)


def _said_beside(network: nn.Module, known: Named, order: str, most: int | None) -> SequenceInput:
    """Return what a file says of sequences beside numbers; the order of axes by trial where it does not say that.

    Raises:
        Unclear: none or several orders run.
    """
    names, forms = tuple(name for name, _ in known), [form for _, form in known]
    steps = most or STEPS_TRIED
    running = [order] if order else [
        one for one in LAYOUTS if "N" in one
        and answer_of(network, [_trial(f, one, steps, BATCH) for f in forms], ByName(names)) is not None
    ]  # fmt: skip
    if len(running) != 1:
        which = f"{' and '.join(running)} run" if running else "none of its orders of axes runs"
        raise Unclear(f"of the sequences of INPUT_CHANNELS {which}; say in the file INPUT_LAYOUT = 'NTC'")
    return declared_sequences(known, running[0], most)


def proposed_sequences(network: nn.Module, names: tuple[str, ...]) -> Named:
    """Return what a network with these arguments could take, for a person to change."""
    try:
        return several_sequences(network, names, {}).sequences
    except Unclear:
        return tuple((name, (next(iter(widths_in(network)), 1),)) for name in names)


def declared_sequences(sequences: Named, layout: str, most: int | None) -> SequenceInput:
    """Return what a network takes whose arguments are these."""
    first = next((form for _, form in sequences if not is_unplaced(form)), None)
    if first is None:
        raise Unclear("the arguments need a sequence among them, as in audio:8")
    return SequenceInput(_width(first), "values", most, layout, sequences=sequences)


def first_data(sequences: Named, most: int | None) -> str:
    """Return the data that such a network is shown on first: noise for each argument."""
    steps = min(most or STEPS, STEPS)
    return ",".join(
        f"{name}={first_text(form) if is_unplaced(form) else f'random:{steps}x{_width(form)}'}"
        for name, form in sequences
        if not is_extent(form)
    )


def fit_several(sample: Sample, form: SequenceInput) -> Sample:
    """Adapt a sample to several arguments; of one sequence alone the first is made, and the others are noise.

    Raises:
        ValueError: it is no sequence, has other names, or one does not fit.
    """
    extents = tuple(name for name, sizes in form.sequences if is_extent(sizes))
    names = [name for name, _ in form.sequences if name not in extents]
    own = dict(sample.signals)
    single = not any(name in own for name in names)
    if not single and (lacking := [name for name in names if name not in own]):
        raise ValueError(
            f"{sample.name!r} has {', '.join(own)}, and this network takes {', '.join(names)}: {lacking[0]} is missing"
        )
    made: dict[str, Signal] = {}
    notes, first = sample.notes, sample
    # what lies at no place comes last: the first is the one that is drawn
    told = [one for one in form.sequences if one[0] not in extents]
    for k, (name, sizes) in enumerate(sorted(told, key=lambda named: is_unplaced(named[1]))):
        if is_unplaced(sizes):
            made[name], more = given_or_first(name, sizes, None if single else own[name], "sequence", k)
            notes += more
            continue
        width = _width(sizes)
        one = replace(form, channels=width, sequences=())
        if single and k:
            steps = len(next(iter(made.values())).values)
            noise = np.random.default_rng(k).standard_normal((steps, width)).astype(np.float32)
            made[name] = sequence_sample(name, noise).x
            notes += (f"the data is one sequence: {name} is noise",)
            continue
        given = sample if single else replace(
            sample, name=name, signals=MappingProxyType({"x": own[name]}), names=sample.names if not k else (),
            channels=sample.channels if not k else (), notes=(),
        )  # fmt: skip
        fit = fit_sequence(replace(given, notes=()), one)
        notes += tuple(f"{name}: {note}" for note in fit.notes)
        made[name] = fit.x
        if not k:
            first = fit
    notes += tuple(f"{name} says that all steps count" for name in extents)
    rest = {k: v for k, v in first.signals.items() if k != next(iter(first.signals))} if single else {}
    return replace(first, name=sample.name, title=sample.title if not single else first.title,
                   signals=MappingProxyType(made | rest), notes=notes)  # fmt: skip


def several_inputs(sample: Sample, form: SequenceInput, device: torch.device, dtype: torch.dtype) -> Inputs:
    """Return the arguments of such a network, given by name.

    Raises:
        ValueError: NaN and infinities.
    """
    held, call = in_order(form.sequences)
    forms = dict(form.sequences)
    made = from_signals(sample, tuple(name for name in held if not is_extent(forms[name])), device, dtype)
    own = dict(zip(made.names, zip(made.values, made.fields, strict=True), strict=True))
    for name, sizes in form.sequences:
        if not is_unplaced(sizes):
            one = sequence_inputs(own[name][0], form.layout)
            own[name] = one.x, one.field
    steps = own[held[0]][1].domain.places_first(own[held[0]][0]).shape[0]
    for name in held:
        if is_extent(forms[name]):
            said = extent(forms[name], 1, steps, steps).to(device)
            own[name] = said.to(dtype) if said.is_floating_point() else said, INVARIANT
    return Inputs(tuple(own[n][0] for n in held), tuple(own[n][1] for n in held), held, call=call)


def is_sequence(value: object) -> bool:
    """Say whether a tensor can be one sequence of values with a batch axis of one."""
    return isinstance(value, Tensor) and value.ndim == 3 and value.is_floating_point() and 1 in value.shape[:2]


def named_sequences(tensors: Mapping[str, Tensor]) -> Inputs | None:
    """Return sequences of values that came by name, with the axis of time still to be found; None for anything else."""
    values = tuple(tensors.values())
    if not values or not all(map(is_sequence, values)):
        return None
    return Inputs(values, (_unsettled(),) * len(values), tuple(tensors))


def require_time(inputs: Inputs, model: nn.Module) -> None:
    """Refuse a sequence with as many channels as steps whose time lies on another axis than a network takes it on.

    Raises:
        ValueError: the network takes half as many channels, and not half as many steps.
    """
    x, domain = inputs.x, inputs.field.domain
    if len(inputs.arguments) > 1 or not isinstance(domain, Steps) or not x.is_floating_point():
        return
    alike = [axis for axis in range(x.ndim) if axis != domain.axis and x.shape[axis] == inputs.places > 1]
    if not alike or _takes_half(inputs, trial := copied(model), domain.axis):
        return
    if any(_takes_half(inputs, trial, axis) for axis in alike):
        raise ValueError(
            f"x of shape {tuple(x.shape)} is said to have its steps on axis {domain.axis}, and the network takes fewer "
            f"along axis {alike[0]} alone, where there are as many: say the layout that the network takes, as in "
            "equiscope.sequence(x, 'NCT') of x of (steps, channels), or give more steps than channels"
        )


def _takes_half(inputs: Inputs, trial: nn.Module, axis: int) -> bool:
    """Say whether a network runs with half of what its arguments have along an axis."""
    fewer = tuple(v.narrow(axis, 0, (v.shape[axis] + 1) // 2).clone() for v in inputs.values)
    return tried(trial, lambda: first_tensor(called(trial, replace(inputs, values=fewer)))) is not None


def _unsettled() -> FieldType:
    return FieldType(Steps(-1), Scalar(intensity=True))


def settled(inputs: Inputs, model: nn.Module) -> Inputs:
    """Return the inputs with the axis of time that a trial tells: a network takes half as many steps.

    Raises:
        ValueError: it takes fewer along several axes, or along none.
    """
    if not any(f.domain == Steps(-1) for f in inputs.fields):
        return inputs
    batch = next((axis for axis in (0, 1) if all(v.shape[axis] == 1 for v in inputs.values)), None)
    axes = [axis for axis in range(3) if axis != batch] if batch is not None else []
    # where an argument has one step, nothing can be left out
    axes = [axis for axis in axes if all(v.shape[axis] > 1 for v in inputs.values)]
    trial = copied(model)
    found = [axis for axis in axes if _takes_half(inputs, trial, axis)]
    if not found:
        # it takes so many steps and no other number: they are what all arguments and the answer have as many of
        with torch.no_grad(), evaluating(trial), bounded(trial):
            answer = first_tensor(called(trial, inputs, clone=True))
        sizes = {axis: {v.shape[axis] for v in inputs.values} for axis in axes}
        found = [a for a, of in sizes.items() if len(of) == 1 and answer is not None and of <= set(answer.shape)]
    if len(found) != 1:
        shapes = ", ".join(f"{n}: {tuple(v.shape)}" for n, v in zip(inputs.names, inputs.values, strict=True))
        why = "fewer steps run along several axes" if found else "the network takes no fewer steps along any axis"
        raise ValueError(
            f"which axis of {shapes} is time is not known ({why}); give equiscope.Inputs with the field of each, as "
            "equiscope.sequence(x[0], 'NTC') has it"
        )
    fields = tuple(replace(f, domain=Steps(found[0])) for f in inputs.fields)
    return replace(inputs, fields=fields)
