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
    if len(given) == 1 and len(shapes[0]) == 4 and isinstance(shapes[0][1], int):
        said.INPUT_SHAPE = shapes[0][1:]
    elif len(given) == 1 and len(shapes[0]) == 3 and isinstance(shapes[0][2], int):
        said.INPUT_LAYOUT, said.INPUT_CHANNELS = "NTC", shapes[0][2]
        if shapes[0][1] is not None:
            said.INPUT_STEPS = shapes[0][1]
    elif len(given) > 1 and EDGES in names and len(shapes[0]) == NODES and isinstance(shapes[0][1], int):
        said.INPUT_SIGNALS, said.INPUT_CHANNELS = tuple(names), shapes[0][1]
    else:
        said.taken = ", ".join(f"{n} {'x'.join('?' if k is None else str(k) for k in s)}" for n, s, _ in given)
    return module


def _inputs(program: ExportedProgram) -> Iterator[tuple[str, tuple[int | None, ...], torch.dtype]]:
    """Yield (name, shape, dtype) of each argument of the program; None stands for any size."""
    wanted = {s.arg.name for s in program.graph_signature.input_specs if s.kind == InputKind.USER_INPUT}
    for node in program.graph.nodes:
        value = node.meta.get("val")
        if node.op == "placeholder" and node.name in wanted and isinstance(value, torch.Tensor):
            yield node.name, tuple(n if isinstance(n, int) else None for n in value.shape), value.dtype
