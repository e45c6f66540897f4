"""Take arguments of which some are tuples, lists or dicts of tensors, such as the features of two sets of nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn
from torch.utils._pytree import tree_flatten_with_path, tree_unflatten

from explorer.network.input.arguments import Named, needed_arguments
from explorer.network.tracing.trials import answer_of


def nested(data: Sequence[Any], model: nn.Module) -> Named | None:
    """Return the tensors of arguments of which some are containers, by where they lie, as in "x[0]".

    None where none is, and where the network does not take them so.
    """
    if not any(isinstance(v, list | tuple) or (isinstance(v, Mapping) and not _by_text(v)) for v in data):
        return None
    leaves, structure = tree_flatten_with_path(list(data))
    if not leaves or not all(isinstance(leaf, Tensor) for _, leaf in leaves):
        return None
    own = needed_arguments(model)
    arguments = own if len(own) == len(data) else [f"argument {k}" for k in range(len(data))]
    tensors = {_name(arguments, path): leaf for path, leaf in leaves}
    at = {name: k for k, name in enumerate(tensors)}

    def call(network: nn.Module, names: Sequence[str], given: Sequence[Tensor]) -> Any:
        whole = [leaf for _, leaf in leaves]
        for name, tensor in zip(names, given, strict=True):
            whole[at[name]] = tensor
        return network(*tree_unflatten(whole, structure))

    if answer_of(model, list(tensors.values()), lambda network, given: call(network, list(tensors), given)) is None:
        return None
    return Named(tensors, f"a {type(data).__name__} of {', '.join(tensors)}", call)


def _by_text(items: Mapping[Any, Any]) -> bool:
    return all(isinstance(name, str) for name in items)


def _name(arguments: Sequence[str], path: Sequence[Any]) -> str:
    """Return how a person writes where a tensor lies: "x[0]", "edges[user buys item]"."""
    keys = [getattr(step, "key", getattr(step, "idx", step)) for step in path[1:]]
    told = (" ".join(map(str, key)) if isinstance(key, tuple) else str(key) for key in keys)
    argument: str = arguments[path[0].idx]
    return argument + "".join(f"[{key}]" for key in told)
