"""Find the equations that the modules of a network state, and send what stands in them along with a frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from explorer.declare.telling.equations import Equation, names_in, renamed
from explorer.declare.types.fields import Pairs, Point
from explorer.network.tracing.layers import Layer
from explorer.network.tracing.walking import modules_of, named_modules
from explorer.spaces.sequence.fields import Steps
from explorer.square.drawing.by_place import raw
from explorer.square.drawing.equation_values import Array, Working
from explorer.square.preparing.kept import kept
from explorer.square.preparing.prepare import Prepared

MOST_VALUES = 2**22  # of one layer, and of all constants of a block
INPUT = "x"  # by this name an equation calls the input of the network


def working(
    p: Prepared, selected: str, gates: Mapping[str, Array], moved: Mapping[str, Array], x: Array, gx: Array,
    answers: Mapping[str, Tensor],
) -> Working | None:  # fmt: skip
    """Return the equations of the block that `selected` lies in, or of the next one; None where none are stated.

    Args:
        gates, moved: what is sent anyway and is not sent twice; x, gx: the input; answers: {layer: F(rho(g) x)}.
    """
    blocks = find_blocks(p)
    if not blocks:
        return None
    block = blocks[_chosen(p, selected, blocks)]
    module = p.model.get_submodule(block.block)
    follows = any(getattr(m, "alpha", 1.0) != 1.0 for m in modules_of(module))  # its constants are others for rho(g) x
    return replace(
        block, values=_sent(p, block, gates, x, p.values), moved=_sent(p, block, moved, gx, answers),
        moved_constants=_constants(p.model, block.block) if follows else block.constants,
    )  # fmt: skip


@kept()
def find_blocks(p: Prepared) -> dict[str, Working]:
    """Return the equations of every block, without values, in the order of the layers; sought once an epoch."""
    return _blocks(p)


def _sent(
    p: Prepared, block: Working, have: Mapping[str, Array], x: Array, values: Mapping[str, Tensor]
) -> dict[str, Array]:
    found = {}
    for name in names_in(block.equations):
        if name == INPUT:
            found[name] = x
        elif name in have:
            found[name] = have[name]
        elif name in values and values[name].numel() <= MOST_VALUES and _along(p.trace.by_name.get(name)):
            found[name] = raw(values[name], p.trace[name].field, None)
    return found


def _along(layer: Layer | None) -> bool:
    return layer is not None and layer.field is not None and isinstance(layer.field.domain, Steps | Pairs | Point)


def _chosen(p: Prepared, selected: str, blocks: Mapping[str, Working]) -> str:
    inside = [name for name in blocks if not name or selected == name or selected.startswith(f"{name}.")]
    if inside:
        return inside[0]
    order = [layer.name for layer in p.trace.layers]
    at = order.index(selected)
    firsts = next(iter(blocks.values())).blocks
    return next((name for name, first in firsts if order.index(first) > at), firsts[-1][0])


def _blocks(p: Prepared) -> dict[str, Working]:
    """Return the outermost modules that state equations, with those of all modules in them, in order of the layers."""
    stated = {name: m for name, m in named_modules(p.model) if getattr(m, "equations", ())}
    order = {layer.name: k for k, layer in enumerate(p.trace.layers)}
    found: dict[str, list[tuple[int, Equation]]] = {}
    for name, module in stated.items():
        outer = next(o for o in stated if not o or o == name or name.startswith(f"{o}."))
        found.setdefault(outer, []).extend(_placed(p, name, module, order))
    blocks: list[tuple[int, Working]] = []
    firsts: list[tuple[int, tuple[str, str]]] = []
    for name, placed in found.items():
        constants = _constants(p.model, name)
        placed = [pair for pair in placed if pair[0] >= 0]
        if not placed or sum(c.size for c in constants.values()) > MOST_VALUES:
            continue
        placed.sort(key=lambda pair: pair[0])
        firsts.append((placed[0][0], (name, next(e.left.name for _, e in placed if e.left.name in order))))
        equations = tuple(e for _, e in placed)
        blocks.append((placed[0][0], Working(name, equations, constants, constants, {}, {})))
    listed = tuple(pair for _, pair in sorted(firsts))
    return {b.block: replace(b, blocks=listed) for _, b in sorted(blocks, key=lambda pair: pair[0])}


@torch.inference_mode(False)
@torch.no_grad()
def _constants(model: nn.Module, block: str) -> dict[str, Array]:
    """Return {module:name: array} of every constant that the modules of a block have."""
    inside = model.get_submodule(block).named_modules(prefix=block)
    stating = ((name, m) for name, m in inside if getattr(m, "equations", ()))
    return {f"{name}:{key}": _array(value) for name, m in stating for key, value in constants_of(m).items()}


def constants_of(module: Any) -> Mapping[str, Tensor]:
    """Return the constants of a module that states equations, by the names that these give them."""
    found: Mapping[str, Tensor] = module.constants
    return found


def _placed(p: Prepared, name: str, module: Any, order: Mapping[str, int]) -> list[tuple[int, Equation]]:
    """Return (place in the order of layers, equation with absolute names); what is worked out stands where it is used.

    The place is -1 where the layer was not called.
    """
    inside = f"{name}." if name else ""

    def layers(own: str) -> str:
        return _source(p, name, int(own[1:-1])) if own.startswith("<") else inside + own

    def constants(own: str) -> str:
        return f"{name}:{own}"

    def named(term: Any) -> Any:
        return renamed(term, layers, constants)

    made = [
        replace(
            e, left=named(e.left), right=named(e.right), start=None if e.start is None else named(e.start)
        )
        for e in module.equations
    ]  # fmt: skip
    found, place = [], -1
    submodules = dict(named_modules(module))
    for e in reversed(made):
        own = e.left.name.removeprefix(inside)
        if own in submodules:
            place = order.get(e.left.name, -1)
        found.append((place, e))
    return found[::-1]


def _source(p: Prepared, module: str, k: int) -> str:
    """Return the layer whose values are the k-th input of a module, INPUT for the network's own."""
    if not module:
        return INPUT
    tensors = p.fed.get(module, ())
    if k >= len(tensors):
        return f"{module}<{k}>"
    wanted = tensors[k]
    candidates = [(INPUT, p.x)]
    candidates += [(w.name, p.values[w.name]) for w in sorted(p.trace.layers, key=lambda w: not w.leaf)]
    found = [name for name, t in candidates if t is wanted]
    found = found or [name for name, t in candidates if t.shape == wanted.shape and torch.equal(t, wanted)]
    return found[0] if found else f"{module}<{k}>"


def _array(value: Tensor | float) -> Array:
    array: Array = torch.as_tensor(value).detach().to("cpu", torch.float64).numpy().copy()
    array.flags.writeable = False
    return np.asarray(array)
