"""Say why the values of a layer are taken for a field of some type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from explorer.declare.types.fields import FieldType
from explorer.network.input import typed_tensors
from explorer.network.space import Known
from explorer.network.tracing.walking import attribute

CORRECTED = "corrected by hand"
DECLARED = "declared by the module"
CARRIED = "declared by the type that its answer carries"
AUTHOR = "declared by the author of the model"
PASSED = "its last layer's answer, passed on as it is"
ALIKE = "code after its layers gave values of a shape that an earlier layer had: its field is taken"
KEPT = "each channel of the answer depends on the same channel of its input alone, as a trial on random values showed"
RESIZED = "the axes of its shape that change with the size of the input are its places"
GIVEN = "a table that its caller gives it has no law of its own that is known"
UNFIT = "its shape fits no places of the input"


def inferred(
    module: nn.Module, given: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...], declaring: bool
) -> str:
    """Return how a field follows from the module's kind and its shapes; `declaring` is what `declares` says."""
    if declaring:
        return DECLARED
    kind = type(module).__name__
    if given is None or not shape_in:
        return f"by its shape alone, {_sizes(shape)}: the field of what {kind} is given is not known"
    if shape_in == shape:
        return f"{kind} is given a field of type {given}, and its answer has the same shape"
    return f"{kind} makes {_sizes(shape)} of {_sizes(shape_in)}, a field of type {given}"


def _sizes(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape))


def declares(module: nn.Module) -> bool:
    """Say whether a module declares what it changes: by `out_rep`, a whole `out_field`, or a type of its package."""
    said = attribute(module, "out_rep") is not None or isinstance(attribute(module, "out_field"), FieldType)
    return said or typed_tensors.declares(module)


def inside(
    by_id: Mapping[int, Known], args: Any, kwargs: Any, told: Sequence[Tensor], known: Sequence[Known | None]
) -> list[Known | None]:
    """Return what is known of all tensors in arguments of any form; nothing where not all is known.

    Args:
        by_id: what is known of tensors of the network.
        told, known: the tensors that stand in their order, and what is known of them by their places.
    """
    leaves = tree_leaves((args, kwargs))
    # numbers of places move as numbers, which no shape tells
    by_place = {id(t): k for t, k in zip(told, known, strict=True) if t.is_floating_point()}
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    found = [by_id.get(id(t), by_place.get(id(t))) for t in tensors]
    plain = all(isinstance(leaf, Tensor | bool | int | float | str | None) for leaf in leaves)
    return found if plain and all(k is not None for k in found) else []
