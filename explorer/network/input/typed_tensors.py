"""Networks whose tensors carry a declared type: escnn's GeometricTensor, and modules that say `in_type`, `out_type`.

Known by what they have and not by their package, which need not be installed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from torch import Tensor, nn
from torch.utils._pytree import SUPPORTED_NODES, register_pytree_node

from explorer.network.tracing.walking import attribute, named_modules

_WHOLE = ("evaluate_output_shape",)  # what modules have that are called with such tensors, and return them


def is_type(value: object) -> bool:
    """Return whether a value says of what representations a tensor's channels are."""
    return value is not None and all(
        hasattr(value, name) for name in ("gspace", "representation", "representations", "size")
    )


def tensor_of(value: object) -> Tensor | None:
    """Return the tensor of a value that carries its type, None of any other."""
    tensor = getattr(value, "tensor", None)
    return tensor if isinstance(tensor, Tensor) and is_type(getattr(value, "type", None)) else None


def type_of(value: object) -> Any:
    """Return the type that a value carries with its tensor, None of any other."""
    return None if tensor_of(value) is None else getattr(value, "type", None)


def retyped(value: Any, made: Tensor) -> Any:
    """Return what carries its type as `value` does, with another tensor."""
    return _together([made], value.type)


def enrol(values: Iterable[object]) -> None:
    """Let such values be taken apart and put together again wherever they lie in arguments."""
    for value in values:
        kind: Any = type(value)
        if kind not in SUPPORTED_NODES and tensor_of(value) is not None:
            register_pytree_node(kind, _apart, _together)


def _apart(value: Any) -> tuple[list[Tensor], Any]:
    return [value.tensor], value.type


def _together(leaves: Iterable[Any], declared: Any) -> Any:
    return declared(next(iter(leaves)))


def declares(module: nn.Module) -> bool:
    """Return whether a module declares what its answer is a field of."""
    return is_type(attribute(module, "out_type")) or bool(irreps_text(module))


def wrapped(model: nn.Module, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments of a network that is itself called with tensors of a declared type."""
    kind: Any = getattr(model, "in_type", None)
    if not (
        is_type(kind) and is_type(getattr(model, "out_type", None)) and all(hasattr(model, name) for name in _WHOLE)
    ):
        return given
    return (kind(given[0]), *given[1:]) if given and isinstance(given[0], Tensor) else given


def irreps_text(module: nn.Module, of: str = "out") -> str:
    """Return the irreps of rotations in space that a module of e3nn says its answer has, "4x0e+2x1o"; else "".

    Args:
        of: the attribute that says them: of an argument "in", or "in1", "in2" where there are two.
    """
    declared = attribute(module, f"irreps_{of}")
    return str(declared).replace(" ", "") if declared is not None else ""


def untested(model: nn.Module, known: Collection[str]) -> list[str]:
    """Return one sentence about irreps of rotations in space, as e3nn's modules declare them, that are not tested.

    Args:
        known: layers whose fields are declared as they are measured.
    """
    found, tested = {}, False
    for name, module in named_modules(model):
        text = irreps_text(module)
        tested = tested or bool(text and name in known)
        if name not in known and any(part.rpartition("x")[2] not in ("0e", "") for part in text.split("+")):
            found[name or type(module).__name__] = text
    if not found:
        return []
    last = list(found)[-1]
    why = (
        "they lie at no point of the data, such as those of all pairs in one axis, and so are not tested there"
        if tested
        else "rotations are tested where the data is points in space, by the groups SO3 and O3"
    )
    return [f"{len(found)} layer(s) declare values that turn with space, such as {last}: {found[last]}; {why}"]
