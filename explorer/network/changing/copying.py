"""Copy a network as `copy.deepcopy` does, in a fraction of its time where a network has many plain modules."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Mapping
from types import CellType, FunctionType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedBuffer, is_lazy
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from explorer.network.tracing.walking import modules_of

_ATOMS = frozenset({int, float, bool, str, bytes, complex, type(None), type})
_OWN = frozenset(vars(nn.Module()))  # what torch itself keeps in a module
_NESTED = 3  # lists in lists that are looked into
_PLAIN = frozenset({dict, OrderedDict, set, list})  # a copy of an empty one is a new one


def duplicate(model: nn.Module) -> nn.Module:
    """Return a deep copy of a network, with the numbers of tensors that it has derived, as the old weight_norm does."""
    # what is no leaf of autograd cannot be copied otherwise
    held = [v for m in modules_of(model) for v in (*vars(m).values(), *m._buffers.values()) if isinstance(v, Tensor)]
    lazy: Any = UninitializedBuffer  # torch's stubs have the arguments of another class
    memo: dict[int, Any] = {id(v): lazy(v.requires_grad, v.device, v.dtype) for v in held if is_lazy(v)}
    memo |= {id(v): v.detach().clone() for v in held if not is_lazy(v) and not v.is_leaf}
    memo |= {id(v): v.detach().clone().requires_grad_(v.requires_grad) for v in held if _of_own_class(v)}
    made = copied_module(model, memo)
    for module in modules_of(made):
        own = vars(module)
        own.update({name: _enclosing(f, memo) for name, f in own.items() if isinstance(f, FunctionType)})
        for held in own.values():  # hooks, or a table of functions
            if type(held) in (dict, OrderedDict):
                held.update({k: _enclosing(f, memo) for k, f in held.items() if isinstance(f, FunctionType)})
    return made


def _of_own_class(value: Tensor) -> bool:
    """Say whether a tensor is of somebody's class that says nothing of copies: torch copies none of those.

    What such a class holds beside its numbers is lost, as it is in everything that is worked out with them.
    """
    kind = type(value)
    own = kind not in (Tensor, nn.Parameter, nn.Buffer) and isinstance(value, Tensor) and not is_lazy(value)
    plain = kind.__deepcopy__ is Tensor.__deepcopy__ and kind.new_empty is Tensor.new_empty
    return own and plain and not is_traceable_wrapper_subclass(value)


def _enclosing(function: FunctionType, memo: Mapping[int, Any]) -> FunctionType:
    """Return a function that a module holds, as one that its constructor has made, with the copies of what it encloses.

    `copy.deepcopy` leaves it as it is, and the copy of a network would run layers of the other one.
    """
    cells, defaults = function.__closure__ or (), function.__defaults__ or ()
    twins = [_cell(cell, memo) for cell in cells]
    if all(a is b for a, b in zip(cells, twins, strict=True)) and not _of_copied(defaults, memo):
        return function
    made = FunctionType(
        function.__code__, function.__globals__, function.__name__, _twin(defaults, memo) or None, tuple(twins)
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    return made


def _cell(cell: CellType, memo: Mapping[int, Any]) -> CellType:
    try:
        held = cell.cell_contents
    except ValueError:  # it is empty
        return cell
    return CellType(_twin(held, memo)) if _of_copied(held, memo) else cell


def _of_copied(value: Any, memo: Mapping[int, Any], within: int = _NESTED) -> bool:
    if type(value) in _PLAIN and type(memo.get(id(value))) is type(value):
        return True  # such as a list that a hook fills and the forward reads
    if isinstance(value, dict | list | tuple):
        inside = value.values() if isinstance(value, dict) else value
        return within > 0 and any(_of_copied(v, memo, within - 1) for v in inside)
    return isinstance(value, nn.Module | Tensor) and id(value) in memo


def _twin(value: Any, memo: Mapping[int, Any], within: int = _NESTED) -> Any:
    """Return the copy of a module or tensor, or of a plain list, tuple or dict of some; else the value."""
    if not _of_copied(value, memo, within):
        return value
    if type(known := memo.get(id(value))) is type(value):
        return known
    if type(value) is dict:
        return {key: _twin(v, memo, within - 1) for key, v in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_twin(v, memo, within - 1) for v in value)
    return memo.get(id(value), value)


def copied_module(module: nn.Module, memo: dict[int, Any]) -> nn.Module:
    """Return a deep copy of a module.

    Args:
        memo: {id: its copy}, of what is copied already; as that of `copy.deepcopy`.
    """
    if (known := memo.get(id(module))) is not None:
        found: nn.Module = known
        return found
    kind: Any = type(module)
    if not _plain(kind):
        return copy.deepcopy(module, memo)
    made: nn.Module = kind.__new__(kind)
    memo[id(module)] = made
    state = {
        name: value if type(value) in _ATOMS else _value(name, value, memo)
        for name, value in module.__getstate__().items()
    }
    made.__setstate__(state)
    return made


def _plain(kind: Any) -> bool:
    """Say whether copies of a class are made in the general way, of its attributes."""
    general = all(getattr(kind, name) is getattr(object, name) for name in ("__reduce__", "__reduce_ex__", "__new__"))
    stated = kind.__getstate__ in (object.__getstate__, nn.Module.__getstate__)
    return general and stated and not hasattr(kind, "__deepcopy__")


def _parameter(value: nn.Parameter, memo: dict[int, Any]) -> nn.Parameter:
    """Copy as `nn.Parameter.__deepcopy__` does, without what `copy.deepcopy` looks at first."""
    if (known := memo.get(id(value))) is not None:
        found: nn.Parameter = known
        return found
    made: nn.Parameter = value.__deepcopy__(memo)
    return made


def _buffer(value: Tensor, memo: dict[int, Any]) -> Tensor:
    """Copy as `Tensor.__deepcopy__` does, which keeps what shares its numbers with others so."""
    if (known := memo.get(id(value))) is not None:
        found: Tensor = known
        return found
    if _alone(value):
        memo[id(value)] = twin = value.clone()
        return twin
    made: Tensor = value.__deepcopy__(memo)
    return made


def _alone(value: Tensor) -> bool:
    """Say whether a tensor is numbers in a row that none other shares: its clone is a copy, in a tenth of the time."""
    if value.requires_grad or value.layout is not torch.strided or value.is_meta or value.is_quantized:
        return False
    if value.is_complex() or vars(value) or not value.is_contiguous() or value.is_inference() or value.is_neg():
        return False
    storage = value.untyped_storage()
    # the storage is held by the tensor and by the object that asks
    return storage.nbytes() == value.nbytes and _uses(storage) == 2


def _uses(storage: torch.UntypedStorage) -> int:
    """Return how many hold a storage, 0 where torch does not say."""
    count: Any = getattr(torch._C, "_storage_Use_Count", None)
    return int(count(storage._cdata)) if count is not None else 0


def _value(name: str, value: Any, memo: dict[int, Any]) -> Any:
    kind = type(value)
    if kind in _ATOMS or (kind is tuple and all(type(v) in _ATOMS for v in value)):
        return value
    if kind in _PLAIN and not value:
        # handles of hooks refer to the dictionaries of their module, empty ones too
        return memo.setdefault(id(value), kind())
    if name == "_modules" and kind in (dict, OrderedDict):
        return kind((n, None if m is None else copied_module(m, memo)) for n, m in value.items())
    if name == "_parameters" and kind in (dict, OrderedDict) and all(type(v) is nn.Parameter for v in value.values()):
        return kind((n, _parameter(v, memo)) for n, v in value.items())
    if name == "_buffers" and kind in (dict, OrderedDict) and all(type(v) is Tensor for v in value.values()):
        return kind((n, _buffer(v, memo)) for n, v in value.items())
    before = len(memo)
    try:
        return copy.deepcopy(value, memo)
    except (torch.OutOfMemoryError, MemoryError, RecursionError):
        raise
    except Exception:  # a class of somebody else's may raise anything
        if name in _OWN:
            raise
        # what is no weight, module or hook, such as a group whose elements are keys of its own tables, is shared
        for half_made in list(memo)[before:]:
            del memo[half_made]
        return value
