"""Find by trial what somebody's network takes, of the kinds of data that the group acts on that is asked for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import torch
from torch import nn

from explorer.app.thread.failures import LONGEST_SENTENCE
from explorer.declare.card import Card, Form
from explorer.declare.space import kinds
from explorer.declare.states.model_name import beside, code_of, split_call, split_input, split_name, with_input
from explorer.declare.symmetries import find_symmetry
from explorer.declare.telling.asking import Declared
from explorer.network.input.declared import Taken
from explorer.network.opening.refusals import ModelError, Unknown
from explorer.network.tracing.layers import LayerError
from explorer.square.preparing.prepare import Prepared
from explorer.square.space import Space, space_of_kind
from explorer.state.state import State

_IN_BRACKETS = re.compile(r" \([^()]*(?:\([^()]*\)[^()]*)*\)")


class Networks(Protocol):
    """Whoever makes networks and prepares epochs: the engine."""

    def card(self, name: str) -> Card: ...

    def network(self, state: State, name: str) -> nn.Module: ...

    def prepared(self, state: State, name: str) -> Prepared: ...


def settled(engine: Networks, state: State, group: str) -> tuple[State, str]:
    """Return the state with an input that the network takes and the group acts on, and a note of it.

    What a file or a person says stays as it is, and so does what was recognised and runs. "" where nothing is changed.

    Raises:
        Unknown: nobody says what it takes nor a group, and it is not recognised or does not run on data that nobody
            chose; with the inputs that it runs with.
    """
    if not says_nothing(state.model):
        return state, ""
    if not group:
        try:
            stopped = _stopped(engine, state, engine.card(state.model))
        except Unknown as error:
            if found := _runs_with(engine, state):
                raise Unknown(error.where, _told(str(error), found)) from None
            raise
        # data that somebody chose may be wrong for it
        if isinstance(stopped, LayerError) and not state.sample:
            if found := _runs_with(engine, state):
                raise Unknown(stopped.where, _told(str(stopped).partition("; ")[0], found)) from stopped
        return state, ""
    symmetry = find_symmetry(group)
    try:
        card = engine.card(state.model)
        if card.domain in symmetry.domains and _runs(engine, state, card):
            return state, ""
    except Unknown:
        card = None
    refused: list[str] = []
    if (first := next(_running(engine, state, symmetry.domains, refused), None)) is not None:
        text, changed = first
        return changed, f"nothing says what it takes; it runs with --input '{text}', which {group} acts on"
    if card is None and refused:
        raise Unknown(state.model, f"{split_call(split_name(state.model)[0])[0]}: {refused[0]}")
    return state, ""


def _told(refusal: str, found: str) -> str:
    """Return a refusal with what a network runs with; without what was raised where there is no room for that."""
    what, mark, how = refusal.partition("; ")
    rest = f"; it runs with {found}{mark}{how}"
    return f"{what if len(what + rest) <= LONGEST_SENTENCE else _IN_BRACKETS.sub('', what)}{rest}"


def _runs_with(engine: Networks, state: State) -> str:
    """Return an input of each kind that a network runs with, as somebody would say it; "" where it runs with none."""
    found: list[str] = []
    for kind, known in kinds().items():
        if (first := next(_running(engine, state, (kind,), []), None)) is not None:
            found.append(f"--input '{first[0]}' ({known.group})")
    return ", ".join(found)


def _running(engine: Networks, state: State, domains: Sequence[str], refused: list[str]) -> Iterator[tuple[str, State]]:
    """Yield each input of some kinds that a network runs with, as somebody would say it, and the state with it."""
    for text in _attempts(engine, state, domains, refused):
        changed = replace(state, model=with_input(state.model, text))
        try:
            if _runs(engine, changed, engine.card(changed.model)):
                yield text, changed
        except (ModelError, ValueError):
            continue


def says_nothing(model: str) -> bool:
    """Say whether neither a person nor the file of a network says what it takes."""
    base = split_name(model)[0]
    path = code_of(model)
    if path is None or path.suffix != ".py" or not split_call(base)[1] or split_input(base)[1]:
        return False
    try:
        tree = ast.parse(path.read_text(errors="replace"))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return not _said_in(tree, split_call(base)[1]) and not beside(path).exists()


def _said_in(tree: ast.Module, name: str) -> bool:
    """Say whether a file says what its networks take, or a class of it what that one takes, by this name.

    What a function makes may be of any class. What is assigned inside of functions says nothing.
    """
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    asked, open_ends = {}, [name] if name in classes else [*classes]
    while open_ends:
        one = open_ends.pop()
        if one in classes and one not in asked:
            asked[one] = classes[one]
            open_ends += [base.id for base in classes[one].bases if isinstance(base, ast.Name)]
    bodies = [(tree.body, "INPUT_"), *((node.body, "input_") for node in asked.values())]
    return any(target.startswith(prefix) for body, prefix in bodies for line in body for target in _assigned(line))


def _assigned(line: ast.stmt) -> list[str]:
    found = line.targets if isinstance(line, ast.Assign) else [line.target] if isinstance(line, ast.AnnAssign) else []
    return [target.id for target in found if isinstance(target, ast.Name)]


def _runs(engine: Networks, state: State, card: Card) -> bool:
    """Say whether a network runs on the data of its card, on the processor, where every network runs."""
    return _stopped(engine, state, card) is None


def _stopped(engine: Networks, state: State, card: Card) -> Exception | None:
    """Return what a network raises on the data of its card; None where it runs."""
    try:
        engine.prepared(replace(state, sample=state.sample or card.sample, device="cpu"), state.model)
    except torch.OutOfMemoryError:
        raise
    except (LayerError, ValueError) as error:
        return error
    return None


def _attempts(engine: Networks, state: State, domains: Sequence[str], refused: list[str]) -> Iterator[str]:
    """Yield inputs as somebody would say them; what a space refuses is added to `refused`."""
    for kind in domains:
        space = space_of_kind(kind)
        if space.form is None:
            continue
        network = engine.network(state, with_input(state.model, kind))
        try:
            for form in space.attempts(network, kind):
                yield text_of(space, kind, form)
        except ValueError as error:
            refused.append(str(error))


def text_of(space: Space, kind: str, form: Form) -> str:
    """Return an input as somebody would say it, without what goes without saying."""
    usual = dict(Taken(space, kind, space.declared(Declared(kind)), {}).declared().answers)
    said = Taken(space, kind, form, {}).declared()
    return replace(said, answers=tuple(a for a in said.answers if usual.get(a[0]) != a[1])).text()
