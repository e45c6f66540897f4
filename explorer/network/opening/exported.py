"""Make a network, with layers, of a program that torch.export has written."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import torch
from torch import nn
from torch.export import ExportedProgram, unflatten
from torch.export.graph_signature import InputKind
from torch.export.unflatten import InterpreterModule, UnflattenedModule

NODES = 2  # axes of values at nodes
EDGES = "edge_index"
_MOVING = ("transpose", "permute")

Shape = tuple[int | None, ...]


def layered(program: ExportedProgram) -> nn.Module:
    """Return the program with the modules that it was exported from, each called what it was there."""
    # torch says so of its own arguments, whenever they are copied
    warnings.filterwarnings("ignore", ".*isinstance.treespec", FutureWarning)
    network: nn.Module = unflatten(program)
    kinds: dict[tuple[type, str], Any] = {}
    for module in network.modules():
        if not isinstance(module, UnflattenedModule | InterpreterModule):
            continue
        for node in module.graph.nodes:
            node.meta = {}  # what it was traced with: sizes by symbols cannot be copied
        if name := str(module.type_name() or "").rpartition(".")[2]:
            kind = type(module)
            kinds.setdefault((kind, name), type(name, (kind,), {}))
            module.__class__ = kinds[kind, name]
    return network


def said_of(program: ExportedProgram) -> ModuleType:
    """Return what the program says of its input, as a file of its network would: INPUT_SHAPE and its kin."""
    module = ModuleType("exported")
    said: Any = module
    given = list(_inputs(program))
    shapes = [shape for _, shape, _ in given]
    names = [name for name, _, _ in given]
    told = _of_one(program, *given[0]) if len(given) == 1 else {}
    if told:
        vars(said).update(told)
    elif len(given) > 1 and EDGES in names and len(shapes[0]) == NODES and isinstance(shapes[0][1], int):
        said.INPUT_SIGNALS, said.INPUT_CHANNELS = tuple(names), shapes[0][1]
    else:
        said.taken = ", ".join(f"{n} {'x'.join('?' if k is None else str(k) for k in s)}" for n, s, _ in given)
    return module


def _of_one(program: ExportedProgram, name: str, shape: Shape, dtype: torch.dtype) -> dict[str, object]:
    """Return what a program with one argument says of it, {} where nothing tells what that is."""
    if dtype.is_floating_point and len(shape) == 4 and shape[1] is not None:
        return {"INPUT_SHAPE": shape[1:]}
    along, known = _first_use(program, name)
    if len(shape) == 2 and known is not None:
        told: dict[str, object] = {"INPUT_KIND": "ids", "INPUT_CHANNELS": known, "texts": shape[0] or 1}
        steps = shape[1]
    elif len(shape) == 2 and dtype.is_floating_point and along == 1:
        told, steps = {"INPUT_LAYOUT": "CT", "INPUT_CHANNELS": 1}, shape[1]  # a wave without an axis of channels
    elif len(shape) == 3 and dtype.is_floating_point:
        steps, channels = shape[1:] if along != 2 else (shape[2], shape[1])
        if channels is None:
            return {}
        told = {"INPUT_LAYOUT": "NTC" if along != 2 else "NCT", "INPUT_CHANNELS": channels}
    else:
        return {}
    return told | ({} if steps is None else {"INPUT_STEPS": steps})


def _first_use(program: ExportedProgram, name: str) -> tuple[int | None, int | None]:
    """Return the axis of an argument that a convolution runs along, and how many numbers a table knows that it reads.

    It is followed through what moves axes and what keeps them, up to its first layer.
    """
    start = next(node for node in program.graph.nodes if node.name == name)
    axes = {start: list(range(start.meta["val"].ndim))}  # {node: which axis of the argument each of its own is}
    for node in program.graph.nodes:
        value, kind = node.meta.get("val"), getattr(node.target, "__name__", "").partition(".")[0]
        of = next((n for n in node.all_input_nodes if n in axes), None)
        if of is None or node is start:
            continue
        here = axes[of]
        if kind == "conv1d" and node.args[0] is of:
            return here[-1], None
        if kind == "embedding" and node.args[1] is of:
            return None, int(node.args[0].meta["val"].shape[0])
        if not isinstance(value, torch.Tensor):
            continue
        if kind in _MOVING:
            axes[node] = _moved(here, kind, node.args[1:])
        elif kind == "unsqueeze":
            at = node.args[1] % (len(here) + 1)
            axes[node] = [*here[:at], -1, *here[at:]]
        elif value.shape == of.meta["val"].shape:
            axes[node] = here
    return None, None


def _moved(axes: list[int], kind: str, args: tuple[Any, ...]) -> list[int]:
    """Return the axes in the order that transpose or permute puts them in."""
    if kind == "permute":
        return [axes[k] for k in args[0]]
    one, other = args
    found = list(axes)
    found[one], found[other] = axes[other], axes[one]
    return found


def _inputs(program: ExportedProgram) -> Iterator[tuple[str, Shape, torch.dtype]]:
    """Yield (name, shape, dtype) of each argument of the program; None stands for any size."""
    wanted = {s.arg.name for s in program.graph_signature.input_specs if s.kind == InputKind.USER_INPUT}
    for node in program.graph.nodes:
        value = node.meta.get("val")
        if node.op == "placeholder" and node.name in wanted and isinstance(value, torch.Tensor):
            yield node.name, tuple(n if isinstance(n, int) else None for n in value.shape), value.dtype
