"""Make networks: from cards with their shipped weights, or from a person's own file when they have said so.

A Python file is code: it runs only with `trust`. Weights are read as safetensors, or with
`torch.load(weights_only=True)`; a full pickle, TorchScript or .pt2 archive is never opened.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import cache, partial
from importlib.util import decode_source
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import nn

from explorer.declare.card import Card, Form, ModelInfo
from explorer.declare.registry import did_you_mean
from explorer.declare.states.model_name import (
    PARTLY,
    WEIGHTS_MARK,
    beside,
    code_of,
    split_call,
    split_input,
    split_name,
)
from explorer.declare.telling.asking import Declared, parse_declared
from explorer.declare.telling.values import told_value
from explorer.network.changing.copying import duplicate
from explorer.network.describing.source_lines import TEXT
from explorer.network.input.absent import without
from explorer.network.input.declared import Taken, remembered_inputs, taken
from explorer.network.input.recognise import Recognised
from explorer.network.opening.files.contents import Damaged
from explorer.network.opening.files.importing import FromText
from explorer.network.opening.files.python_text import code_files, read_python
from explorer.network.opening.files.trust import Trust
from explorer.network.opening.global_state import drawn_by_shape, reseed, same_numbers, settled
from explorer.network.opening.handing import handing_on
from explorer.network.opening.helpers import importing_from, line_told
from explorer.network.opening.refusals import ModelError, Unknown, Untrusted
from explorer.network.opening.stored_weights import WEIGHTS, load_weights
from explorer.network.opening.typed_arguments import maker
from explorer.network.opening.way import ways
from explorer.network.space import space_of_kind, spaces
from explorer.network.tracing.layers import named_error
from explorer.network.tracing.walking import IN_ITSELF, holds_itself, modules_of, named_modules
from explorer.work.files.places import at_home
from explorer.work.progress import Cancelled
from explorer.work.training.examples import from_examples
from explorer.work.training.recipe import said_in
from explorer.work.words import printable

_LONGEST_NAME = 200  # characters of the name of a layer
_HASHLESS = (
    "its {} has an __eq__ and no __hash__, so that torch cannot hold it: leave __eq__ out, or write __hash__ = "
    "object.__hash__ beside it (of a dataclass: eq=False)"
)
_NAMES = f"a name has at most {_LONGEST_NAME} characters, all of which can be shown; rename it"


def find_card(
    name: str, cards: Mapping[str, Card], trust: bool | Trust = False, before: Form | None = None
) -> Card:  # fmt: skip
    """Return the card called `name`, or one made for "file.py:callable"; with "@file", with the weights of that file.

    Args:
        before: what a network of a Python file took before it was changed, where nothing tells what it takes now.

    Raises:
        ModelError: unknown, or a file without `trust`.
    """
    if name in cards:
        return cards[name]
    base, weights = split_name(name)
    if weights:
        card = find_card(base, cards, trust, before)
        file = at_home(weights).resolve()
        partly = name.removeprefix(base).startswith(WEIGHTS_MARK + PARTLY)
        return replace(card, name=name, title=f"{card.title}, {file.name}", weights=str(file), weights_partly=partly)
    base, said = split_input(base)
    path, attribute, arguments = split_call(base)
    if path.endswith(".py") and path != base:
        return replace(file_card(at_home(path), attribute, trust, arguments, said, before), name=name, own=True)
    if base.endswith(".py") and at_home(base).is_file():
        return replace(exported_card(at_home(base), trust), name=name, own=True)
    if (way := next((way for way in ways().values() if way.takes(base)), None)) is not None:
        return replace(_declared(way.card(base, trust), said), name=name, own=True)
    if base.endswith(".safetensors"):
        how = f"put a model's name before it, as in d4-cnn{WEIGHTS_MARK}{base}"
        raise ModelError(name, f"{name} holds weights and no network; {how}")
    if base.endswith(".onnx"):
        raise ModelError(name, f"{name} is a graph of operators, which 'inspect' lists; torch runs none: give a .pt2")
    if at_home(name).exists():
        raise ModelError(
            name, f"{name} is no model; give a card's name ('list models' names them all) or file.py:callable"
        )
    if "/" in name or "\\" in name:
        raise ModelError(name, f"there is no file or folder {name}")
    hint = did_you_mean(name, cards, "; 'list models' names them all", 0.5)
    raise ModelError(name, f"there is no model {name!r}{hint}")


def exported_card(path: Path, trust: bool | Trust) -> Card:
    """Return the CARD that a Python file exports.

    Raises:
        ModelError: it exports none, or runs without trust.
    """
    try:
        constants = read_python(path).constants
    except Damaged as error:
        told = f"{path.name} cannot be read as a model: {error}; save it as text in UTF-8"
        raise ModelError(str(path), told) from None
    if not any(name == "CARD" for name, _ in constants):
        names = _defined(path)
        hint = f": it defines {', '.join(names[:8])}{', …' if len(names) > 8 else ''}" if names else ""
        raise ModelError(str(path), f"say what in {path} makes the network, {path.name}:NAME{hint}")
    found = getattr(trusted_module(path, trust), "CARD", None)
    if not isinstance(found, Card):
        raise ModelError(str(path), f"CARD in {path} is of type {type(found).__name__}, not an equiscope.Card")
    return with_weights_beside(found, path)


def with_weights_beside(card: Card, path: Path) -> Card:
    """Return a card of somebody's file, whose weights lie beside that."""
    return card if card.weights is None else replace(card, weights=str(path.resolve().parent / card.weights))


def trusted_module(path: Path, trust: bool | Trust) -> ModuleType:
    """Return a Python file as a module that has run.

    Raises:
        Untrusted: nobody has said that it may; ModelError: there is none, or it raised.
    """
    if not path.is_file():
        raise ModelError(str(path), f"there is no file {path}")
    if not allowed(path, trust):
        raise Untrusted(str(path), f"{path} is Python code, which would be executed: add --trust if you trust it")
    return _executed(path)


def allowed(path: Path, trust: bool | Trust) -> bool:
    """Return whether a person has said that this file may be executed."""
    return trust.allows(path) if isinstance(trust, Trust) else trust


def file_card(
    path: Path, attribute: str, trust: bool | Trust, arguments: str | None = None, said: str = "",
    before: Form | None = None,
) -> Card:  # fmt: skip
    """Return a card for a callable in a Python file: a function or class that makes an nn.Module, or a module.

    Args:
        arguments: what it is called with, as text of literals: "3, width=64".
        said: what it takes (`parse_declared`), else that is what is remembered beside the file, or what that says.
        before: what it took before, where nothing tells what it takes.

    The file may say INPUT_SHAPE = (channels, height, width), None for any size, LABELS, the names of the outputs, and
    EXAMPLES, (x, y) or a function that returns them, on which it is trained (`from_examples`), by LOSS and TRAINING.
    A network on graphs or points may say INPUT_SIGNALS = ("x", "edge_index", ...), in the order of its arguments, and
    INPUT_CHANNELS, the width of x; one whose arguments have names that are known needs not (`network.input.ways`).
    A network on sequences may say INPUT_KIND ("values", "tokens", "dna"), INPUT_LAYOUT ("NTC", ...), INPUT_CHANNELS and
    INPUT_STEPS; one with recurrent layers, attention or temporal convolutions needs not say it (`sequence_layouts`).
    One that names what only a surface has, "radius", "angle", "transport", "cotan", "mass", "patch_index" or
    "patch_weight", is called with a mesh; INPUT_FEATURES, what x is made of, and INPUT_GAUGE are those of `MeshInput`.
    """
    module, made = found_in(path, attribute, trust)
    if isinstance(made, Card):
        return with_weights_beside(made, path)
    own, build = recognised(module, made, path, attribute, arguments)
    called = f"{attribute}({arguments})" if arguments is not None else attribute
    try:
        told = parse_declared(said) if said else remembered_inputs(path).get(attribute)
    except ValueError as error:
        raise Unknown(str(path), f"{path}: {error}") from None
    summary = (inspect.getdoc(made) or "Your own model.").split("\n\n")[0]
    made_by = made if inspect.isclass(made) or inspect.isfunction(made) else type(made)
    train = None
    if (examples := getattr(module, "EXAMPLES", None)) is not None:
        train = from_examples(build, examples, f"{path}: EXAMPLES", said_in(module))
    with handing_on(own, build) as (own, build):
        card = own_card(
            own, f"{path}:{called}", f"{called} ({path.name})", summary, build,
            labels=getattr(module, "LABELS", ()), said=told,
            why="you say so" if said else f"{beside(path).name} says so", source=(made_by,), before=before,
        )  # fmt: skip
    return replace(card, train=train, recipe=said_in(module))


def found_in(path: Path, attribute: str, trust: bool | Trust) -> tuple[ModuleType, Any]:
    """Return a Python file, which is executed, and what it calls by that name.

    Raises:
        ModelError: there is none, or it is not trusted.
    """
    where, module = str(path), trusted_module(path, trust)
    if not attribute.isidentifier():
        raise ModelError(where, f"{attribute!r} after the colon must be the name of a callable in {path}")
    if not hasattr(module, attribute):
        hint = did_you_mean(attribute, _defined(path), least=0.5)
        raise ModelError(where, f"{path} defines no {attribute!r}{hint}")
    return module, getattr(module, attribute)


def recognised(
    module: ModuleType, made: object, path: Path, attribute: str, arguments: str | None = None
) -> tuple[Recognised, Callable[..., nn.Module]]:
    """Return a network that a Python file defines, with its maker, before its input is recognised.

    Raises:
        ModelError: it makes no network.
    """
    build = maker(made, attribute, str(path), arguments, module)
    name = f"{path}:{attribute}" + (f"({arguments})" if arguments is not None else "")
    return Recognised(made, module, str(path), cache(lambda: built(name, build))), build


def own_card(
    own: Recognised, name: str, title: str, summary: str, build: Callable[..., nn.Module], *, labels: object = (),
    form: Form | None = None, said: Declared | None = None, why: str = "", source: tuple[Any, ...] = (),
    notes: tuple[str, ...] = (), before: Form | None = None,
) -> Card:  # fmt: skip
    """Return the card of somebody's own network.

    Args:
        form: what it takes; found out where nothing says so.
        said, why: what somebody says that it takes, and where.
        labels: names of its outputs, as its file says them.
        notes: sentences about how it was made.
        before: what it took before it was changed, where nothing tells what it takes now.

    Raises:
        ModelError: nothing tells what it takes, or the labels are none.
    """
    title = " ".join(title.split())  # a file may be called so that it takes several lines
    try:
        found = _of_form(form) if form is not None else taken(own, said, why)
    except ModelError:
        raise
    except ValueError as error:
        if before is None or said is not None or own.says_something():
            raise Unknown(own.where, f"{own.where}: {error}") from None
        found = _of_form(before)  # it is run on what it took, and that tells whether it still does
    if isinstance(labels, str) or not isinstance(labels, list | tuple) or not all(isinstance(n, str) for n in labels):
        raise ModelError(own.where, f"{own.where}: LABELS must be a list of texts, not {told_value(labels)}")
    return Card(
        name=name, title=title, rows=(), reference=own.where, equation="", summary=summary, build=build,
        input=found.form, domain=found.kind, sample=found.space.first_sample(found.form), labels=tuple(labels),
        source=source or (type(own.made),), notes=(*notes, *own.doubts), own=True,
    )  # fmt: skip


def _of_form(form: Form) -> Taken:
    space = spaces()[form.space]
    return Taken(space, form.data or space.kinds[0].name, form, {})


def _declared(card: Card, said: str) -> Card:
    """Return a card with the input that somebody says it takes, if they say so."""
    if not said:
        return card
    try:
        declared = parse_declared(said)
        space = space_of_kind(declared.kind)
        form = space.declared(declared)
    except (ValueError, KeyError) as error:
        raise Unknown(card.name, f"{card.name}: {error}") from None
    return replace(card, input=form, domain=declared.kind, sample=space.first_sample(form))


def copied_each_time(network: nn.Module) -> Callable[..., nn.Module]:
    """Return what makes a network that was loaded, anew each time."""
    return lambda **_: duplicate(network)


def _executed(path: Path) -> ModuleType:
    """Run a Python file as a module of its own, with its folder importable, as `python file.py` has it."""
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]
    name = "equiscope_user_" + re.sub(r"\W", "_", path.stem) + "_" + digest
    spec = importlib.util.spec_from_file_location(name, path, loader=FromText(name, str(path)))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    sys.modules[name] = module  # dataclasses and inspect look there
    try:
        code = path.read_bytes()
        module.__dict__[TEXT] = decode_source(code)
        with importing_from(path, (file for file, _ in code_files(path))), settled(), same_numbers():
            exec(compile(code, str(path), "exec"), module.__dict__)
    except BaseException as error:  # somebody else's code may raise anything
        del sys.modules[name]
        if before is not None:
            sys.modules[name] = before
        if isinstance(error, KeyboardInterrupt):
            raise
        told = f"{path} could not be run: {named_error(error)}"
        raise ModelError(str(path), told + line_told(error, path)) from error
    return module


def _defined(path: Path) -> list[str]:
    """Return the functions and classes of a Python file, which is read and not executed."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return []
    kinds = (ast.FunctionDef, ast.ClassDef)
    names = [node.name for node in tree.body if isinstance(node, kinds)]
    return [name for name in dict.fromkeys(names) if not name.startswith("_")]


def load_model(
    card: Card,
    params: Mapping[str, float] | None = None,
    weights: Path | None = None,
    tell: Callable[[str], object] = lambda note: None,
    strict: bool = True,
) -> nn.Module:
    """Build the card's network with its shipped weights (or those of a file), in eval mode.

    Args:
        strict: refuse a person's weights that do not fit in every tensor.
        tell: hears of the shipped weights that a parameter has left without a place.

    Raises:
        ModelError: an unknown parameter, or weights that do not fit.
    """
    values = {p.name: p.default for p in card.params}
    for name, value in (params or {}).items():
        if name not in values:
            known = ", ".join(values) or "none"
            raise ModelError(card.name, f"{card.name} has no parameter {name!r}; it has: {known}")
        values[name] = value
    model = built(card.name, partial(card.build, **values))
    if card.input.absent:
        try:
            without(model, card.input.absent)
        except ValueError as error:
            raise ModelError(card.name, f"{card.name}: {error}") from None
    for note in card.notes if card.own else ():
        tell(note)
    path = weights or (WEIGHTS / card.weights if card.weights else None)
    if path is not None:
        # a person's own file has to fit; shipped weights may leave what a parameter has reshaped as it is
        for note in load_weights(model, path, strict=strict and path.parent != WEIGHTS and not card.weights_partly):
            tell(note)
    model.eval()  # whatever a class of somebody's own returns
    return model


def built(name: str, build: Callable[[], nn.Module]) -> nn.Module:
    """Build a network; an untrained one must be the same every time."""
    state = torch.get_rng_state()
    try:
        reseed(0)
        path = code_of(name)
        with importing_from(at_home(path), ()) if path else nullcontext(), settled(), same_numbers():
            with drawn_by_shape() if path else nullcontext():
                model = build()  # which may import, too
        if inside := holds_itself(model):
            raise ModelError(name, f"{name} {IN_ITSELF.format(inside)}")
        if odd := next((type(m).__name__ for m in modules_of(model) if type(m).__hash__ is None), ""):
            raise ModelError(name, f"{name}: {_HASHLESS.format(odd)}")
        if hidden := _nameless(model):
            raise ModelError(name, f"{name} has a layer {hidden!r}: {_NAMES}")
        return model
    except (ModelError, Cancelled, KeyboardInterrupt, torch.OutOfMemoryError):
        raise
    except BaseException as error:
        told = f"{name} could not be built: {named_error(error)}"
        raise ModelError(name, told + line_told(error, code_of(name) or Path(name))) from error
    finally:
        torch.set_rng_state(state)


def _nameless(model: nn.Module) -> str:
    """Return the name of a layer that cannot be told in a line, as far as it can be; "" where there is none."""
    for name, _ in named_modules(model):
        own = name.rpartition(".")[2]
        if not own.isprintable() or len(own) > _LONGEST_NAME:
            return printable(own[:40]) + "…" * (len(own) > 40)
    return ""


def source_of(objects: tuple[Any, ...]) -> str:
    """Return the source of classes and functions, one after the other; what has none is left out."""
    texts = []
    for item in objects:
        try:
            texts.append(inspect.getsource(item))
        except (OSError, TypeError):
            continue
    return "\n\n".join(text.rstrip() for text in texts)


def card_source(card: Card) -> str:
    """Return the source of what a card names, else of what builds its network."""
    builder: Callable[..., Any] = card.build
    return source_of(card.source or (builder,))


def model_info(card: Card) -> ModelInfo:
    """Return what of a card crosses to the window, but for its source."""
    return ModelInfo(
        name=card.name, title=card.title, domain=card.domain, groups=card.groups, rows=card.rows,
        reference=card.reference, equation=card.equation, summary=card.summary, notes=card.notes, params=card.params,
        sample=card.sample, labels=card.labels, input_shape=spaces()[card.input.space].takes(card.input),
        trained=card.weights is not None and (WEIGHTS / card.weights).is_file(), trainable=card.train is not None,
    )  # fmt: skip
