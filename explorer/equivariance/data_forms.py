"""Take the data of an audit in any of the forms that a person gives it in, and refuse every other in one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from explorer.declare.inputs import Inputs
from explorer.declare.space import domain_word, kinds
from explorer.declare.symmetries import Symmetry
from explorer.declare.types.fields import FieldType
from explorer.network.input.arguments import Named, named
from explorer.network.input.nested import nested
from explorer.network.space import NetworkSpace, space_of, spaces
from explorer.network.tracing.running import tensors_in

BOUNDARIES = ("circular", "zero")
# an object with tensors by name, such as torch_geometric's Data, is any object to a type checker
Data = Tensor | Sequence[int] | Sequence[Tensor] | Inputs | Sequence[Inputs] | Mapping[str, Any] | Any


def given_inputs(
    data: object, symmetry: Symmetry, group: str, x_field: FieldType | None, seed: int, model: nn.Module
) -> list[Inputs]:
    """Return the inputs to measure on: one batch of images, or graphs, meshes or sequences one by one.

    Args:
        data: any of `Data`.
        symmetry, group: what acts on them, and what the caller calls it.
        x_field: the field of the first tensor, where tensors are given and it is not what their space takes it for.
        model: is asked by trial where shapes do not tell; it is left as it was.

    Raises:
        ValueError: a form that is none of `Data`, or data that the group does not act on.
    """
    if any(t.is_meta for t in tensors_in(data)):
        raise ValueError("the data is on the device 'meta', where tensors have no numbers; give real ones")
    if isinstance(data, Tensor) and x_field is not None:
        data = Inputs((data,), (x_field,))
    if isinstance(data, Inputs):
        data = [data]
    if isinstance(data, np.ndarray):
        raise ValueError("the data is a NumPy array; give a tensor: torch.from_numpy(x)")
    if not isinstance(data, Tensor) and (by_name := named(data, model)) is not None:
        return [_by_name(by_name, symmetry, group, seed, model)]
    if isinstance(data, list | tuple) and (inside := nested(data, model)) is not None:
        return [_by_name(inside, symmetry, group, seed, model)]
    if isinstance(data, list | tuple) and data and not any(isinstance(v, Tensor | Inputs) for v in data):
        all_named = [named(v, model) for v in data]
        if all(v is not None for v in all_named):
            return [_by_name(v, symmetry, group, seed, model) for v in all_named if v is not None]
    if not isinstance(data, Tensor | Sequence) or isinstance(data, str | bytes):
        kind = type(data).__name__
        raise ValueError(f"the data is of type {kind}; give a tensor of images, or make inputs: {_listed(symmetry)}")
    if not isinstance(data, Tensor) and data and all(isinstance(x, Inputs) for x in data):
        found = [x for x in data if isinstance(x, Inputs)]
        for x in found:
            _require(symmetry, group, space_of(x), "the input is", f" with x of shape {tuple(x.x.shape)}")
            space_of(x).require_taken(x, model)
        return [space_of(x).stimulus(x, seed) for x in found]
    for space in _asked(symmetry):
        if taken := space.reads(data):
            tensor = None if isinstance(data, Tensor) else next((v for v in data if isinstance(v, Tensor)), None)
            _require(symmetry, group, space, taken, "" if tensor is None else f" with x of shape {tuple(tensor.shape)}")
            made = space.given(data, seed)
            fields = made.fields if x_field is None else (x_field, *made.fields[1:])
            return [space.stimulus(space.settled(replace(made, fields=fields), model), seed)]
    of = ", ".join(dict.fromkeys(type(x).__name__ for x in data))
    raise ValueError(
        f"the data is a {type(data).__name__} of {of}; give one tensor, a shape, or inputs, of which there may be "
        f"several: {_listed(symmetry)}"
    )


def _by_name(data: Named, symmetry: Symmetry, group: str, seed: int, model: nn.Module) -> Inputs:
    """Return tensors that came by name as the inputs of the space that knows them."""
    for space in _asked(symmetry):
        if (found := space.named(data.tensors)) is not None:
            order, made = found
            _require(symmetry, group, space, f"{data.what} is taken for")
            made = replace(made, call=partial(_called, data, order))
            return space.stimulus(space.settled(made, model), seed)
    raise ValueError(f"the data is {data.what}, and nothing says of which kind; make inputs: {_listed(symmetry)}")


def _asked(symmetry: Symmetry) -> list[NetworkSpace]:
    """Return the spaces in the order in which they are asked: first those that the group acts on, in its own order."""
    order = list(symmetry.domains)
    return sorted(
        spaces().values(),
        key=lambda s: min([order.index(k.name) for k in s.kinds if k.name in order], default=len(order)),
    )


def _called(data: Named, order: Sequence[str], network: nn.Module, given: Sequence[Tensor]) -> Any:
    return data.call(network, order, given)


def require_options(
    group: object, x_field: object, overrides: object, boundary: object, dtype: object, tol: object, count: object
) -> None:
    """Refuse what `check_equivariance` cannot be asked.

    Raises:
        TypeError, ValueError: in one sentence.
    """
    if not isinstance(group, str):
        raise TypeError(f"the group is named by a text such as 'D4' or 'permutation', not {group!r}")
    if x_field is not None and not isinstance(x_field, FieldType):
        raise TypeError(f"x_field is a FieldType, as equiscope.fields has them, not {x_field!r}")
    if overrides is not None and not (
        isinstance(overrides, Mapping) and all(isinstance(v, str) for pair in overrides.items() for v in pair)
    ):
        raise TypeError(f"overrides are {{layer: text of a field}}, as {{'conv1': 'grid scalar'}}, not {overrides!r}")
    if boundary not in BOUNDARIES:
        raise ValueError(f"the boundary is one of {', '.join(BOUNDARIES)}, not {boundary!r}")
    if dtype is not None and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise TypeError(f"dtype is a real precision, such as torch.float64, or None, not {dtype!r}")
    if tol is not None and not (isinstance(tol, int | float) and 0 <= tol < math.inf):
        raise ValueError(f"tol is a number from 0 on, or None, not {tol!r}")
    if not isinstance(count, int) or count < 1:
        raise ValueError(f"count is a whole number from 1 on, not {count!r}")


def _require(symmetry: Symmetry, group: str, space: NetworkSpace, taken: str, shape: str = "") -> None:
    """Raise ValueError, with how to give it, where the group does not act on data of this space."""
    if any(kind.name in symmetry.domains for kind in space.kinds):
        return
    where = " or ".join(map(domain_word, symmetry.domains))
    word = domain_word(space.kinds[0].name)
    raise ValueError(f"{group} acts on a {where}, and {taken} a {word}{shape}; give {_listed(symmetry)}")


def _listed(symmetry: Symmetry) -> str:
    makers = [kinds()[kind].maker for kind in symmetry.domains if kind in kinds() and kinds()[kind].maker]
    return " or ".join(makers) or "equiscope.Inputs(values, fields)"
