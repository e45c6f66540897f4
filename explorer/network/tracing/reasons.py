"""Say why the values of a layer are taken for a field of some type."""

from __future__ import annotations

from torch import nn

from explorer.declare.types.fields import FieldType
from explorer.network.input import typed

CORRECTED = "corrected by hand"
DECLARED = "declared by the module"
AUTHOR = "declared by the author of the model"
PASSED = "its last layer's answer, passed on as it is"
ALIKE = "code after its layers gave values of a shape that an earlier layer had: its field is taken"
KEPT = "each channel of the answer depends on the same channel of its input alone, as a trial on random values showed"
RESIZED = "the axes of its shape that change with the size of the input are its places"
GIVEN = "a table that its caller gives it has no law of its own that is known"
UNFIT = "its shape fits no places of the input"


def inferred(module: nn.Module, given: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """Return how a field follows from the module's kind and its shapes."""
    if declares(module):
        return DECLARED
    kind = type(module).__name__
    if given is None or not shape_in:
        return f"by its shape alone, {_sizes(shape)}: the field of what {kind} is given is not known"
    if shape_in == shape:
        return f"{kind} is given a {given} field, and its answer has the same shape"
    return f"{kind} makes {_sizes(shape)} of a {given} field of {_sizes(shape_in)}"


def _sizes(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape))


def declares(module: nn.Module) -> bool:
    """Say whether a module declares what it changes: by `out_rep`, a whole `out_field`, or a type of its package."""
    said = getattr(module, "out_rep", None) is not None or isinstance(getattr(module, "out_field", None), FieldType)
    return said or typed.declares(module)
