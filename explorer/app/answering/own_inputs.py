"""Ask what a network of somebody's own takes: what is known and why, whether an answer runs, and keep it beside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from explorer.app.thread.failures import sentence
from explorer.data.finding import find_sample, fitted
from explorer.declare.card import Form
from explorer.declare.inputs import Inputs
from explorer.declare.space import kinds
from explorer.declare.states.model_name import beside, split_call, split_input, split_name, with_input
from explorer.declare.telling.asking import Declared, Question, parse_declared
from explorer.network.changing.precision import precision_of
from explorer.network.input.declared import Taken, remember_input, remembered_inputs, taken
from explorer.network.input.inputs import called, inputs_from
from explorer.network.input.recognise import Recognised
from explorer.network.input.ways import meant
from explorer.network.opening.files.trust import Trust
from explorer.network.opening.helpers import place_of
from explorer.network.opening.loading import find_card, found_in, load_model, recognised
from explorer.network.opening.refusals import ModelError
from explorer.network.tracing.running import evaluating, tensors_in
from explorer.square.space import space_of_kind
from explorer.work.files.places import at_home
from explorer.work.progress import Cancelled, step

NO_REASON = "nothing says otherwise"


@dataclass(frozen=True, slots=True)
class Row:
    """A question with the answer so far, and why it is that."""

    question: Question
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Kind:
    """The questions of one kind of data."""

    name: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class InputAsked:
    """The questions about the input of a network: plain values only.

    Attributes:
        name: of the model, without what it takes.
        kind, why: the kind of data that it lives on so far, and the reason.
        kinds: what is asked for each kind of data.
        arguments: of its forward, in their order.
        problem: why its input is not known; "" where it is.
        beside: the file that may remember it.
    """

    name: str
    kind: str
    why: str
    kinds: tuple[Kind, ...]
    arguments: tuple[str, ...]
    problem: str
    beside: str


def asked(name: str, trust: bool | Trust) -> InputAsked:
    """Return what to ask about a model's input; its file is executed.

    Raises:
        ModelError: it makes no network.
    """
    bare, said = split_input(name)
    path, attribute, arguments = _code(bare)
    own, _ = recognised(*found_in(path, attribute, trust), path, attribute, arguments)
    known: Taken | None = None
    problem = ""
    try:
        remembered = None if said else remembered_inputs(path).get(attribute)
        told = parse_declared(said) if said else remembered
        known = taken(own, told, "you say so" if said else f"{beside(path).name} says so")
    except ModelError:
        raise
    except ValueError as error:
        problem = sentence(error)
        try:  # a damaged file beside it hides nothing of what the network says
            known = taken(own, None, "")
        except ModelError:
            raise
        except ValueError:
            pass
    given: dict[str, Taken] = {}
    asked_of = [name for name in kinds() if space_of_kind(name).form is not None]
    for k, name in enumerate(asked_of):
        step(_looking(name), k / (2 * len(asked_of)))
        given[name] = _proposed(name, own)
    if known is not None:
        given[known.kind] = known
        why = known.why
        reason = why.get("data") or why.get("signals") or why.get("shape") or next(iter(why.values()), NO_REASON)
        kind = known.kind
    else:
        kind, reason = _running(given, own)
    order = sorted(given, key=lambda name: kinds()[name].place)
    found = tuple(Kind(name, _rows(given[name])) for name in order)
    return InputAsked(bare, kind, reason, found, _arguments(own), problem, str(beside(path)))


def _proposed(kind: str, own: Recognised) -> Taken:
    """Return what a network would take if it took that kind of data, with a reason for what can be read off it."""
    space = space_of_kind(kind)
    assert space.form is not None
    values: dict[str, Any] = {}
    why: dict[str, str] = {}
    arguments = _arguments(own)
    for question in space.asks():
        if question.sort == "ordered" and arguments:
            values[question.name] = _assigned(arguments, question)
            why[question.name] = f"its forward takes ({', '.join(arguments)})"
    try:
        if any(q.name == "channels" for q in space.asks()) and (width := own.first_width()) is not None:
            values["channels"], why["channels"] = width, own.why["channels"]
        for name, (value, reason) in space.proposed(own).items():
            values[name], why[name] = value, reason
    except Cancelled:
        raise
    except (Exception, SystemExit):  # its network cannot be made, which is said elsewhere
        pass
    return Taken(space, kind, space.form(**values), why)


def _assigned(arguments: tuple[str, ...], question: Question) -> tuple[str, ...]:
    """Return a choice for each argument: what its name means, else the next one that is left."""
    choices = question.choices
    named = {name: signals[0] for name in arguments if (signals := meant(name, choices))}
    left = iter([choice for choice in choices if choice not in named.values()])
    found = [named.get(name) or next(left, choices[0]) for name in arguments]
    first = (question.first,) if question.first else ()
    return tuple(dict.fromkeys((*first, *found)))[: max(1, len(arguments))]


def _running(given: Mapping[str, Taken], own: Recognised) -> tuple[str, str]:
    """Return the first kind of data whose inputs run through a network, trying the most general kind first."""
    order = list(given)[::-1]
    for k, kind in enumerate(order):
        step(_looking(kind), 0.5 + k / (2 * len(order)))
        try:
            _run(own.network(), given[kind].space.first_sample(given[kind].form), given[kind].form)
        except Cancelled:
            raise
        except (Exception, SystemExit):  # a forward of somebody else's may raise anything
            continue
        return kind, "an input of this kind runs through it"
    several = len(_arguments(own)) > 1
    fits = [k for k in order if several == any(q.sort == "ordered" for q in given[k].space.asks())]
    return (fits or order)[0], "no input runs through it as filled in here"


def _looking(kind: str) -> str:
    return f"Looking whether it takes {(kinds()[kind].title or kind).lower()}"


def _rows(known: Taken) -> tuple[Row, ...]:
    return tuple(
        Row(q, q.write(getattr(known.form, q.name)), known.why.get(q.name) or NO_REASON) for q in known.space.asks()
    )


def _arguments(own: Recognised) -> tuple[str, ...]:
    try:
        return own.required()
    except (Exception, SystemExit):  # as above
        return ()


def _run(model: nn.Module, sample: str, form: Form) -> tuple[Inputs, list[Tensor], str]:
    """Run a network once; return what went in, what came out, and the title of the data."""
    data = fitted(find_sample(sample, 0), form)
    inputs = inputs_from(data, form, torch.device("cpu"), precision_of(model))
    with torch.inference_mode(), evaluating(model):
        return inputs, list(tensors_in(called(model, inputs, clone=True))), data.title


def tried(name: str, said: Declared, trust: bool | Trust) -> str:
    """Run a network once on an input of that kind; return what went in and what came out, in one line.

    Raises:
        ModelError: it is said wrongly, or the network does not take it; one sentence with the line of its file.
    """
    path = _code(split_input(name)[0])[0]
    card = find_card(with_input(name, said.text()), {}, trust)
    model = load_model(card)
    try:
        inputs, answer, title = _run(model, card.sample, card.input)
    except (Exception, SystemExit) as error:  # a forward of somebody else's may raise anything
        at = place_of(error, path)
        where = f" ({Path(at[0]).name}, line {at[1]})" if at is not None else ""
        raise ModelError(str(path), sentence(error).rstrip(".") + where) from error
    if not answer:
        raise ModelError(str(path), "the network returned nothing that holds a tensor")
    pairs = zip(inputs.names, inputs.arguments, strict=False)
    given = ", ".join(f"{argument} {_shape(tuple(value.shape))}" for argument, value in pairs)
    return f"{given} → {', '.join(_shape(tuple(value.shape)) for value in answer[:4])}, on {title}"


def remembered(name: str, said: Declared) -> Path:
    """Remember beside the file what its network takes; return the path of what was written.

    Raises:
        ModelError: the folder cannot be written to.
    """
    path, attribute, _ = _code(split_input(name)[0])
    try:
        return remember_input(path, attribute, said)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise ModelError(str(path), f"{beside(path).name} cannot be written in {path.parent}: {reason}") from None


def _code(bare: str) -> tuple[Path, str, str | None]:
    path, attribute, arguments = split_call(split_name(bare)[0])
    if not path.endswith(".py"):
        raise ModelError(bare, f"{bare} is no network of a Python file: what it takes is known")
    return at_home(path), attribute, arguments


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "one number"
