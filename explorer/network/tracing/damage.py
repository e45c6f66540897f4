"""Say what a network has done to its own layers, where something has failed because of it."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from explorer.network.tracing.walking import IN_ITSELF

# tables that torch keeps in each layer and reads without asking whether they are there
TABLES = ("_modules", "_parameters", "_buffers", "_forward_hooks", "_forward_pre_hooks")
KINDS = (AttributeError, TypeError, KeyError, RecursionError)  # of what fails then


def damage(error: BaseException) -> str:
    """Return a sentence on a network that an exception passed through, "" where its layers are what torch makes.

    Only where neither the network nor anybody else has said what is wrong: an exception of Python itself.
    """
    if type(error) is ReferenceError:
        return (
            "a value that it gave is a weak reference (weakref.proxy), and what that refers to is gone: let each layer "
            "return the value itself"
        )
    if type(error) is TypeError and "Multiple dispatch failed" in str(error):
        return (
            "a layer gives a tensor of a class of its own, and functions of torch do not work on that: let it return a "
            "plain one, .as_subclass(torch.Tensor)"
        )
    step, seen = error.__traceback__, set[int]()
    if type(error) not in KINDS:
        return ""
    while step is not None:
        for value in list(step.tb_frame.f_locals.values()):
            if issubclass(type(value), nn.Module) and id(value) not in seen:
                seen.add(id(value))
                if told := _damaged(value, "", frozenset(), set()):
                    return told
        step = step.tb_next
        if len(seen) > 100:  # layers, each of which is looked through
            break
    return ""


def _damaged(module: nn.Module, name: str, above: frozenset[int], whole: set[int]) -> str:
    if id(module) in above:
        return f"the network {IN_ITSELF.format(name)}"
    if id(module) in whole or issubclass(type(module), torch.jit.ScriptModule):  # which keeps these elsewhere
        return ""
    held: dict[str, Any] = object.__getattribute__(module, "__dict__")
    lost = [table for table in TABLES if not issubclass(type(held.get(table)), dict)]
    lost += ["training"] * ("training" not in held)
    named = f"layer {name}" if name else f"a layer of class {type(module).__name__}"
    if lost:
        return (
            f"{named} has lost its {lost[0]}, which torch keeps in each layer: the network has emptied or replaced it "
            "while it ran. Leave that as it is, and put what the network needs into attributes of its own"
        )
    for table in ("_modules", "_parameters", "_buffers"):
        if odd := [own for own in held[table] if not issubclass(type(own), str)]:
            return f"{named} has a name in its {table} that is no text, {odd[0]!r}: give it a name by letters"
    for own, value in [*held["_parameters"].items(), *held["_buffers"].items()]:
        if value is not None and not issubclass(type(value), torch.Tensor):
            kind = type(value).__name__
            return f"{named} has among its parameters, as {own}, what is no tensor (of class {kind}): give it tensors"
    for own, child in list(held["_modules"].items()):
        if child is None:
            continue
        if not issubclass(type(child), nn.Module):
            kind = type(child).__name__
            return (
                f"{named} has among its layers, as {own}, what is no layer (of class {kind}): give it nn.Modules only"
            )
        if told := _damaged(child, f"{name}.{own}" if name else str(own), above | {id(module)}, whole):
            return told
    whole.add(id(module))
    return ""
