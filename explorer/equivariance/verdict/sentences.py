"""Say in plain sentences what a report means; each says no more than was measured."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

import torch

from explorer.equivariance.verdict.outcome import CLEAR, LayerReport
from explorer.network.tracing.layers import OUTPUT, Trace

Key = TypeVar("Key")

Shapes = Mapping[str, tuple[Sequence[int], Sequence[int]]]
Path = tuple[Sequence[str], Sequence[str] | None]

ELSEWHERE = (
    "the law holds on this x and breaks on other numbers of its shape: what makes the fault meets nothing here, "
    "as a border where x is empty"
)
HIDDEN = "the fault is less than the rounding of this precision in the answer: choose float64 to read it"


def listed(names: Sequence[str], most: int = 4, mark: str = ", ") -> str:
    """Return "a, b, c, d, ..." of names, each once; `mark` stands between them."""
    names = list(dict.fromkeys(names))
    return mark.join([*names[:most], *(["..."] if len(names) > most else [])])


def draws(random: Sequence[str], unsteady: Sequence[str], before: bool = False) -> str:
    """Say which layer draws random numbers, or "".

    Args:
        before: what the first of them is given changes as well.
        random: the layers that another seed of torch changes.
        unsteady: those that change from run to run with the same seed.
    """
    if unsteady:
        return (
            f"{unsteady[0]} gives another answer to the same input in every run, with the same seed of torch: it draws "
            "random numbers elsewhere or keeps a state between runs, and its errors include that"
        )
    who = f"code before {random[0]}" if before and random else "".join(random[:1])
    return f"{who} draws random numbers in eval mode; every run was given the same seed" if random else ""


def between(
    name: str, local: float | None, trace: Trace, judged: Collection[str], path: Path = ((), None)
) -> str:  # fmt: skip
    """Say where a fault that no layer makes alone can come from.

    Args:
        name: where it first shows.
        local: the error of that layer alone, None where it cannot be fed alone.
        path: the layers of which code makes what it is given, and those in between on which there is no verdict, if
            trials tell them.
    """
    after, before = path
    if before is None:
        names = [layer.name for layer in trace.layers]
        before = [n for n in names[: names.index(name)] if n not in judged] if name in names else []
    perhaps = f", or in {listed(before)}, on which there is no verdict" if before else ""
    own = trace.by_name.get(name)
    called = [layer.name for layer in trace.layers if layer.module]
    pair = f"code between {listed(after)} and {name}" if after else ""
    if local is None and own is not None and not own.module and called:
        last = called[-1]
        made = pair or f"the network's own code after {last}, the last layer that it calls, or beside it"
        return f"the fault first shows in {name}: no layer makes it, but {made}{perhaps}"
    if local is None:
        before_it = "code before it" if name == trace.layers[0].name else "code between it and the layers before it"
        return (
            f"the fault first shows in {name}, which cannot be tested alone: it is made there, or by "
            f"{pair or before_it}{perhaps}"
        )
    made = pair or "code between the layers before it"
    return (
        f"the fault first shows in {name}, but alone {name} obeys its law: what it is given is at fault, by "
        f"{made}{perhaps}"
    )


def border(name: str) -> str:
    """Say that what an element brings in at the border makes a fault, and no layer."""
    return (
        f"the fault first shows in {name}, which hears everything: alone {name} obeys its law, and so does what it is "
        "given but at the border, where a layer before has made something else of the zeros that come in"
    )


def guess(name: str, field: str) -> str:
    """Say that a layer is measured against a guessed field type."""
    return f"{name} is measured against a guessed field type, '{field}'; if it is wrong, correct that first"


def refuted(errors: Mapping[str, tuple[float, float]]) -> str:
    """Say which guessed fields are wrong.

    Args:
        errors: {layer: errors of the output, as it is and where the layer gives what its field asks for}.
    """
    before, after = max(errors.values(), key=lambda pair: pair[1] / pair[0])
    some = len(errors) > 1
    return (
        f"{listed(list(errors))} {'are' if some else 'is'} not of the field type{'s' if some else ''} that "
        f"{'they were' if some else 'it was'} taken for: giving what that asks for, the network would err by "
        f"{after:.1g} in place of {before:.1g}, so nothing is judged there"
    )


def linear(residuals: Mapping[str, float], first: tuple[str, float] | None) -> str:
    """Say which tensors of unknown representations keep some law, and which one is the first that keeps none.

    Args:
        residuals: {layer: how far it is from an orthogonal map of its channels}.
    """
    most, some = max(residuals.values()), len(residuals) > 1
    told = (
        f"as a trial shows, {listed(list(residuals))} follow{'' if some else 's'} the elements by a rotation of "
        f"{'their' if some else 'its'} channels, the same on all data to {most:.0e}: no fault is made up to there"
    )
    return told if first is None else f"{told}, and {first[0]} follows by none: it is off by {first[1]:.1g}"


def otherwise(name: str, field: str) -> str:
    """Say of which field a tensor keeps the law that was taken for another one."""
    return f"taken for '{field}', {name} keeps its law: if it is that, say --field '{name}={field}'"


def failing(names: Sequence[str], holds: bool) -> str:
    """Say which layers do not keep the laws of fields that are guesses.

    Args:
        holds: the output keeps its own.
    """
    although = ", although that of the output holds" if holds else ""
    return f"the law of the guessed field type fails in {', '.join(names)}{although}; correct a wrong guess"


def left(name: str, although: Sequence[str]) -> str:
    """Say where a fault shows although the layers that break the laws of their guessed fields were mended."""
    return (
        f"the fault shows in what {name} is given, whether {listed(although)} keep{'' if len(although) > 1 else 's'} "
        f"the law or not: code before {name} makes it, unless a guessed field type is wrong: correct that first"
    )


def mended(names: Sequence[str], accused: Sequence[str] = ()) -> str:
    """Say how the layers were found that make a fault, and which of all that break the law alone lie inside of them."""
    do, them = ("do", "them") if len(set(names)) > 1 else ("does", "it")
    inside = [a for a in accused if any(a.startswith(f"{name}.") for name in names)]
    parts = f"; inside of {them} {listed(inside)} break{'s' * (len(inside) == 1)} the law as well" if inside else ""
    return (
        f"as a trial shows, the output keeps its law as soon as {listed(names)} {do}: nothing outside of {them} "
        f"has to{parts}"
    )


def elsewhere(names: Sequence[str]) -> str:
    """Say why layers whose guessed fields are wrong do not make a fault."""
    return (
        f"an element puts the numbers of {listed(names)} into another order, the same for all data: their places are "
        "not known, so no law can be tested there; declare its field"
    )


def exchanged(modules: Sequence[str]) -> str:
    """Say why modules that are called several times do not make a fault."""
    some = len(modules) > 1
    return (
        f"{listed(modules)} {'are' if some else 'is'} given the same tensors after an element as before, in the order "
        f"of other calls: {'they do' if some else 'it does'} not make the fault"
    )


def in_part(name: str, errors: Mapping[tuple[str, int, int], float], limit: float) -> list[str]:
    """Say that a law is broken on a part of the samples, or under a part of the elements.

    Errors of the other part are those of rounding: what is excused, and little less than what is not, may be a fault.

    Args:
        errors: {(element, number of the inputs, sample among them): relative error}.
    """
    said = []
    of_elements, of_samples = dict[str, float](), dict[tuple[int, int], float]()
    for (label, *sample), error in errors.items():
        of_elements[label] = max(error, of_elements.get(label, 0.0))
        of_samples[sample[0], sample[1]] = max(error, of_samples.get((sample[0], sample[1]), 0.0))
    if kept := _kept(of_elements, limit):
        said.append(
            f"{name} keeps its law under {listed(kept, mark='; ')} ({len(kept)} of {len(of_elements)} elements)"
        )
    if whole := _kept(of_samples, limit):
        bad = len(of_samples) - len(whole)
        said.append(
            f"{name} breaks its law on {bad} of {len(of_samples)} samples, and keeps it on the others: as where "
            "values tie, where a symmetric input leaves a direction open, or where data hide the fault"
        )
    return said


def _kept(errors: Mapping[Key, float], limit: float) -> list[Key]:
    """Return of what the error is that of rounding, where that of the rest is clearly more; else nothing."""
    kept = [key for key, error in errors.items() if error <= limit]
    if len(kept) == len(errors):
        return []
    least = min((error for error in errors.values() if error > limit), default=0.0)
    return kept if all(CLEAR * errors[key] <= least for key in kept) else []


def ties(shows: str, element: str, apart: float) -> str:
    """Say that a law failed where values tie, and on what it was tested instead."""
    return (
        f"on the data themselves the law fails ({element}) because values tie, or symmetric ones leave a direction "
        f"open, first seen in {shows}: which is taken follows their order; it was tested on numbers that differ from "
        f"these by a share of {apart:.0e}"
    )


def few(shows: str, element: str, count: int, more: int) -> str:
    """Say that a law failed on few members of a set, and on how many it was tested instead.

    Args:
        shows: the first layer that shows it, or without an element one that breaks its own law on few alone.
    """
    if not element:
        return (
            f"on the {count} members of the data {shows} breaks the law by itself, which it keeps on {more} that are "
            f"drawn alike, as where a network samples more than there are: it was tested on these {more}"
        )
    return (
        f"on the {count} members of the data the law fails ({element}), first seen in {shows}, which keeps it on "
        f"{more} that are drawn alike, as where a network samples more than there are: it was tested on these {more}"
    )


def beyond(count: int, more: int, element: str) -> str:
    """Say on how many members of a set a law fails that holds on those of the data."""
    return (
        f"on the {count} members of the data the law holds, and on {more} that are drawn alike it fails ({element}): "
        "test it on as many as it is used with"
    )


def too_few(shows: str, count: int, more: int) -> str:
    """Say that a law fails on so few members alone."""
    return (
        f"the law fails on these {count} members, first seen in {shows}; on {more} that are drawn alike it holds at "
        "every layer that has one, as where a network samples more than there are and takes some twice"
    )


def tied(shows: str, apart: float) -> str:
    """Say that the law fails on these numbers alone, since some of them tie."""
    return (
        f"the law fails on these numbers because values tie, first seen in {shows}: which of them is taken follows "
        f"their order; on numbers that differ from these by a share of {apart:.0e} it holds at every layer that has one"
    )


def perhaps(shows: str, unknown: Sequence[str]) -> str:
    """Say which layers may make a fault that shows later; their fields are not known."""
    return (
        f"the fault first shows in {shows}; it may be made in {listed(unknown)}, whose field types are not known, or "
        f"by code before {'them' if len(set(unknown)) > 1 else 'it'}: declare them"
    )


def in_steps(step: int, coarsest: str, element: str, error: float | None) -> str:
    """Say which elements of a group were left out, because the places of a layer lie farther apart.

    Args:
        element, error: one that was left out, and what it does to the output; None where it has no action there.
    """
    tested = f"tested in steps of {step}, those of the layer {coarsest}"
    return tested if error is None else f"{tested}; under {element} the error of the output is {error:.1e}"


def in_coarser_steps(step: int, kept: Sequence[str]) -> str:
    """Say by which steps a law holds that is broken in those of the layers.

    Args:
        kept: the guilty layers that keep it by themselves then.
    """
    if kept:
        return (
            f"in steps of {step} the output does follow, to rounding, and {listed(kept)} by "
            f"{'themselves' if len(set(kept)) > 1 else 'itself'}: windows or patches so wide have places of their own"
        )
    return f"in steps of {step} the output does follow, to rounding: the network may work on windows or patches so wide"


def windows(step: int, coarse: int, kept: Sequence[str]) -> str:
    """Say in which steps layers keep the law, as windows do, and that it was tested in these."""
    return (
        f"{listed(kept)} keep{'s' if len(set(kept)) == 1 else ''} the law in steps of {coarse} and not of {step}, as "
        f"windows so wide do: it was tested in steps of {coarse}, for what breaks it in these as well"
    )


def several_calls(module: str, count: int, owner: str) -> str:
    """Say that code around a module may make the fault that its calls show."""
    return (
        f"{module} is called {count} times within {owner}: if it is as it should be, {owner} makes the fault, by the "
        "views that it gives or by how it puts the answers together"
    )


def _output(name: str, several: bool = True) -> str:
    """Return an output in words, by its name where there are several and it is more than that."""
    return f"the output {name}" if several and name != OUTPUT else "the output"


def wakened(name: str, several: bool) -> str:
    """Say that an output was judged on other numbers too, as it is the same for all of the data."""
    what = _output(name, several)
    return f"on these data alone {what} stays the same, but for rounding: it is judged on their numbers drawn anew too"


def same_answer(name: str, several: bool) -> str:
    """Say that an output does not depend on the values of the input."""
    what = _output(name, several)
    return (
        f"{what} stays the same, but for rounding, when the values of the input are replaced: whether it keeps the law "
        "cannot be told; other layers are judged each by itself"
    )


def unjudged(name: str, part: int) -> str:
    """Say that a tensor of the result has no verdict."""
    return f"{name}, tensor {part + 1} of the result, has no law and was not judged"


def coarse(dtype: torch.dtype) -> str:
    """Say that a network turns numbers into a lower precision than that of the run."""
    word = str(dtype).removeprefix("torch.")
    return f"the network makes {word} numbers in its forward: its laws are tested to that precision only"


def lifted(dtype: torch.dtype, error: float) -> str:
    """Say that a network was judged without its own rounding, and how far that leads it from its law."""
    word = str(dtype).removeprefix("torch.")
    as_it_is = f"with it the last layer is off by {error:.1g}"
    return f"the network makes {word} numbers in its forward: its laws are tested without that rounding, and {as_it_is}"


def earlier(name: str) -> str:
    """Say where a fault shows before the layers that were found guilty."""
    return (
        f"a fault shows before that, in {name}, which obeys its law by itself: what it is given does not move with the "
        "data, as a table of positions does not, unless its guessed field type is wrong"
    )


def unclear(name: str, error: float, dtype: torch.dtype) -> str:
    """Say that an error may be rounding or a fault, in a precision that is too low to tell."""
    return (
        f"{name} is off by {error:.1g}: in {str(dtype).removeprefix('torch.')} that may be rounding or a fault, so "
        "there is no verdict; run it in float32, its own code as well"
    )


def no_law(
    row: LayerReport,
    idle: Sequence[str],
    elements: Sequence[str],
    exact: bool,
    places: str,
    why: str = "",
    shapes: Shapes = MappingProxyType({}),
) -> str:
    """Say why there is no verdict on an output.

    Args:
        idle: the elements that have no action on it.
        exact: whether any of the elements is exact on the input.
        places: the size of the input, as in " of 1 node(s)", or "".
        shapes: the shapes that an element should lead to and does, where they differ.
        why: elements have no action on it, in their own words.
    """
    idle = list(dict.fromkeys(idle))
    output = _output(row.name)
    if not elements:
        return f"an input{places} has no element of this group but the identity: take a larger one"
    if row.field == "unknown":
        return f"the field type of {output} is not known, so no law can be tested there: declare it"
    if shapes:
        label, (expected, found) = next(iter(shapes.items()))
        return (
            f"{output} has the shape {tuple(found)} on the moved data ({label}), where the law asks for "
            f"{tuple(expected)}: what changes its shape with the data is not judged"
        )
    if len(idle) == len(elements):
        reason = f": {why}" if why else ""
        return f"no element of this group has an action on {output}, which is a {row.field} field{reason}"
    if idle:
        some = f"{len(idle)} element has" if len(idle) == 1 else f"{len(idle)} elements have"
        return f"{some} no action on {output}, a {row.field} field ({listed(idle, 1)}): it is not judged"
    if row.resampled_cumulative is None:
        return f"every place of {output} depends on what the elements cut off: take a larger input"
    if exact:
        return (
            f"the elements cut off a part of the input that counts in {output}, and something else comes "
            "in at the other end: there is a curve but no verdict"
        )
    return f"no element is exact on {output}: there is a curve but no verdict"


def amid_zeros(zeros: int) -> str:
    """Say that an answer follows where nothing but zeros comes in or leaves."""
    return (
        f"between {zeros} zeros on either side of the same data its answer follows: what is done at the ends breaks "
        "the law, as by padding, by a state at the start that is moved by zeros, and by attention that hears them"
    )


def no_derivative(layer: str) -> str:
    """Say that torch does not differentiate an operation forward."""
    return f"torch has no forward derivative of what {layer or 'the network itself'} does"


def between_steps(size: Sequence[int], step: int) -> str:
    """Say that what goes round the edge of data of this size falls between the steps of a network."""
    return (
        f"an input of {'x'.join(map(str, size))} is no multiple of the steps of {step}, so a shift that goes round the "
        "edge falls between the samples; use a size divisible by them"
    )


def uncalled(names: Sequence[str]) -> str:
    """Say which layers a network chooses by its input, so that they have no values to compare."""
    they = "they are" if len(names) > 1 else "it is"
    return (
        f"the network does not call {listed(names)} in the same way on every input: {they} judged with the code around "
        f"{'them' if len(names) > 1 else 'it'}, by what comes after"
    )


def spared(own: torch.dtype, low: torch.dtype, measured: torch.dtype) -> str:
    """Say that a network rounds to a low precision in its own, and not in that of the measurement."""
    given, lower, here = (str(d).removeprefix("torch.") for d in (own, low, measured))
    return (
        f"in {given} the network makes {lower} numbers in its forward, as under autocast, and in {here} it does not: "
        f"its laws are tested without that rounding, which a measurement in {given} has"
    )
