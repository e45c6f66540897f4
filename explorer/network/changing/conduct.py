"""Find out how somebody's network behaves beside what it computes: what it gives, and whether it repeats itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor, nn
from torch._C._functorch import is_functorch_wrapped_tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.parameter import is_lazy

from explorer.network.tracing.layers import LayerError
from explorer.network.tracing.running import all_tensors_in, tensors_in
from explorer.network.tracing.walking import named_tensors
from explorer.work.words import printable

IN_PLACE = "the network changes its input in place; it was given a copy each time"
CALLS = 3  # in which a network has to repeat itself before it is measured, and again after
_PRECISE = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def unusual(value: Tensor) -> str:
    """Return what a tensor is that nothing can be measured on, and what to do; "" of one that is as usual."""
    if value.is_meta:
        return "a tensor on the meta device, which holds no values: make the network on a real device"
    if isinstance(value, FakeTensor):
        return "a fake tensor, which holds no values: leave the FakeTensorMode"
    if is_lazy(value):
        return "a parameter that has no shape yet: run its layer once before"
    if value.is_nested:
        return "a nested tensor: pad it with torch.nested.to_padded_tensor"
    if value.is_mkldnn:
        return "a tensor in oneDNN's own layout: return it with .to_dense()"
    if torch._is_functional_tensor(value):
        return "a tensor of torch's functionalisation, which stands for another one: return that one"
    if value.layout != torch.strided:
        return "a sparse tensor: make it dense with .to_dense()"
    if value.is_quantized:
        return "a quantised tensor: return it with .dequantize()"
    if value.numel() and not is_functorch_wrapped_tensor(value) and not value.untyped_storage().nbytes():
        return "a tensor whose memory has been given back: its storage was resized to nothing"
    if value.is_floating_point() and value.dtype not in _PRECISE:
        return f"{str(value.dtype).removeprefix('torch.')} values, with which torch computes nothing: return .float()"
    own = type(value) not in (Tensor, nn.Parameter) and not is_functorch_wrapped_tensor(value)
    if own and value.is_floating_point() and not _computes(value):
        return f"{_named(value)}, with which torch does not compute as with a tensor: return the plain tensor within"
    return ""


def _computes(value: Tensor) -> bool:
    """Find out by trial whether a tensor of a class of its own can be measured as any other: with what comes of it."""
    try:
        with torch.no_grad():
            found = _figures(value.detach())
            with torch._C.DisableTorchFunctionSubclass():  # as torch itself does it
                return found == _figures(value.detach().as_subclass(Tensor))
    except (KeyboardInterrupt, torch.OutOfMemoryError):
        raise
    except BaseException:  # somebody else's class may raise anything
        return False


def _figures(value: Tensor) -> list[str]:
    """Return what errors are made of, as text, in which NaN is NaN."""
    apart = value - 2 * value.clone().flatten().flip(0).view(value.shape)
    sizes = apart.flatten().norm(), torch.linalg.vector_norm(apart), value.abs().sum(), value.isfinite().sum()
    return [str(float(size)) for size in sizes]


def _named(value: Tensor) -> str:
    kind = printable(type(value).__name__[:60])
    return f"{'an' if kind[:1] in 'AEIOU' else 'a'} {kind}"


class Unusual(LayerError):
    """A layer gives a tensor that nothing can be measured on."""


def require_usual(name: str, result: object) -> None:
    """Raise Unusual where a layer of that name, "" for the network itself, gives a tensor that cannot be measured."""
    if what := next(filter(None, map(unusual, all_tensors_in(result))), ""):
        raise Unusual(name, f"layer {name} gives {what}" if name else f"the network gives {what}")


def left_out(result: object) -> tuple[str, ...]:
    """Return a sentence for each tensor of a network's result beside others that nothing can be measured on."""
    found = list(tensors_in(result))
    return tuple(
        f"tensor {k + 1} of the network's answer {wrong}: it is not judged"
        for k, t in enumerate(found) if len(found) > 1 and (wrong := unmeasured(t))
    )  # fmt: skip


def unmeasured(value: Tensor) -> str:
    """Return why nothing can be compared of a tensor that a network answers, in a clause; "" where it can be."""
    if not value.is_floating_point():
        kind = str(value.dtype).removeprefix("torch.")
        if value.is_complex():
            return f"holds {kind} values, and only real ones can be compared: return both parts, (y.real, y.imag)"
        return f"holds {kind} values, and only real numbers can be compared: return the scores that they are chosen by"
    return "" if value.numel() else f"has the shape {tuple(value.shape)}, which holds no values"


def require_values(model: nn.Module) -> None:
    """Raise LayerError for a network with a parameter or buffer that holds no values; `.where` names the tensor."""
    if name := next((name for name, value in named_tensors(model) if value.is_meta), ""):
        raise LayerError(
            name,
            f"{name} is on the meta device and holds no values; model.to_empty(device='cpu') gives it some, and "
            "load_state_dict the right ones",
        )


def varies(answers: Sequence[Sequence[Tensor]], tolerance: float) -> tuple[str, bool]:
    """Say how answers to the same input differ from the first one, "" where they agree.

    Args:
        tolerance: relative, what rounding may do.

    Returns:
        the difference as the end of a sentence, and whether shapes differ, so that nothing can be compared.

    Raises:
        Unusual: an answer is a tensor that nothing can be measured on.
    """
    first = answers[0]
    require_usual("", first)
    for number, again in enumerate(answers[1:], 2):
        require_usual("", again)
        shapes = [tuple(t.shape) for t in first], [tuple(t.shape) for t in again]
        if shapes[0] != shapes[1]:
            one, other = (", ".join(map(str, found)) for found in shapes)
            return f"gave the shape {one} at first and {other} in run {number}, on the same input", True
        for before, after in zip(first, again, strict=True):
            if not before.is_floating_point():
                continue
            if int(torch.isfinite(before).sum()) != int(torch.isfinite(after).sum()):
                return f"gave NaN or infinite values in run {number}, and not at first, on the same input", False
            a, b = before.double().nan_to_num(), after.double().nan_to_num()
            if float((a - b).norm()) > tolerance * float(a.norm()):
                return "gives another answer to the same input from call to call", False
    return "", False


def writes(tensor: Tensor) -> int:
    """Return how often a tensor was written to."""
    return 0 if tensor.is_inference() else tensor._version


def reuses(first: Mapping[str, Tensor], again: Mapping[str, Tensor], own: Iterable[Tensor]) -> bool:
    """Return whether a network writes an answer of a layer where it has written the one before, which is still in use.

    Args:
        first, again: {layer: its answer} of two runs, the first ones kept until now.
        own: parameters and buffers, which are given back as they are.
    """
    constant = {_memory(value) for value in own} | {0}
    return any(
        name in again and (at := _memory(value)) == _memory(again[name]) and at not in constant
        for name, value in first.items()
    )


def _memory(value: Tensor) -> int:
    """Return where the memory of a tensor begins, 0 where it has none that can be told."""
    if value.layout != torch.strided or type(value) not in (Tensor, nn.Parameter) or is_functorch_wrapped_tensor(value):
        return 0
    return value.untyped_storage().data_ptr() if not value.is_meta else 0


def overwritten(values: Sequence[Tensor], fresh: Sequence[int], given: Sequence[Tensor]) -> bool:
    """Return whether a network has changed what it was called with.

    Args:
        fresh: what `writes` gave before the call.
        given: the same values, untouched: what is written past torch, through .data or .numpy(), shows in them alone.
    """
    if list(fresh) != [writes(value) for value in values]:
        return True
    return not all(a.shape == b.shape and _same(a, b) for a, b in zip(values, given, strict=True))


def _same(one: Tensor, other: Tensor) -> bool:
    """Say whether all values are the same; what is not a number, which is no number's like, is like another such."""
    return torch.equal(one, other) or (
        one.is_floating_point() and bool(((one == other) | (one.isnan() & other.isnan())).all())
    )
