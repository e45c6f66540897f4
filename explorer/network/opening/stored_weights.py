"""Read weights from a file into a network: safetensors, or `torch.load(weights_only=True)`; nothing is executed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import Tensor, nn

from explorer.network.opening.files.contents import FileError
from explorer.network.opening.files.looking import contents
from explorer.network.opening.refusals import Misfit, ModelError
from explorer.work.files.places import RESOURCES
from explorer.work.words import first_line

WEIGHTS = RESOURCES / "weights"


def load_weights(model: nn.Module, path: Path, strict: bool = True) -> tuple[str, ...]:
    """Read safetensors (or a weights-only checkpoint) into the model.

    Args:
        strict: refuse a file that does not fit in every tensor; else what fits is loaded, and the rest left fresh.

    Returns:
        one sentence about what was left fresh, or nothing.

    Raises:
        ModelError: no readable file, or with `strict` one that does not fit.
    """
    tensors = read_weights(path)
    if callable(named := getattr(model, "own_names", None)):  # it knows what others call its parameters
        tensors = named(tensors)
    own = model.state_dict()
    tensors = _renamed(tensors, own)
    misfits = [k for k, v in tensors.items() if k not in own or own[k].shape != v.shape]
    missing = [k for k in own if k not in tensors]
    if strict and (misfits or missing):
        first = (misfits or missing)[0]
        if not misfits:
            what = "is missing"
        elif first in own:
            what = f"has the shape {tuple(tensors[first].shape)}, and in this network {tuple(own[first].shape)}"
        else:
            what = "is none of this network"
        counts = f"{len(misfits)} of its {len(tensors)} tensors do not fit"
        lacks = f"{len(missing)} of the network's {len(own)} are missing"
        kind = Misfit if len(missing) < len(own) else ModelError
        raise kind(str(path), f"{path.name}: the tensor {first!r} {what}; {counts}, and {lacks}")
    fitting = {k: v for k, v in tensors.items() if k not in misfits}
    if not fitting and own and path.parent != WEIGHTS:
        raise ModelError(str(path), f"{path.name}: none of its {len(tensors)} tensors fits this network")
    model.load_state_dict(fitting, strict=False)
    fresh = [k for k in own if k not in fitting]
    if not fresh:
        return ()
    names = ", ".join(fresh[:6]) + (", …" if len(fresh) > 6 else "")
    return (f"{path.name} fits {len(fitting)} of {len(own)} tensors; untrained are {names}",)


def _renamed(tensors: dict[str, Tensor], own: Mapping[str, object]) -> dict[str, Tensor]:
    """Return tensors by the names of the network, where all of them have one prefix more, or less.

    A network that was wrapped when it was stored (`module.`, `_orig_mod.`, `model.`) has such names.
    """
    if not tensors or tensors.keys() & own.keys():
        return tensors
    for more in _prefixes(next(iter(tensors))):
        cut = {k.removeprefix(more): v for k, v in tensors.items()}
        if cut.keys() == own.keys():
            return cut
    for less in _prefixes(next(iter(own), "")):
        put = {less + k: v for k, v in tensors.items()}
        if put.keys() == own.keys():
            return put
    return tensors


def _prefixes(name: str) -> list[str]:
    """Return "a." and "a.b." of "a.b.weight"."""
    return [name[: at + 1] for at, sign in enumerate(name) if sign == "."]


def read_weights(path: Path) -> dict[str, Tensor]:
    """Return {name: float tensor} of a safetensors file or a weights-only checkpoint; nothing is executed."""
    if not path.is_file():
        hint = "; 'train' makes shipped weights again" if path.parent == WEIGHTS else ""
        raise ModelError(str(path), f"there is no weights file {path}{hint}")
    tensors: Any
    try:
        with path.open("rb") as file:
            head = file.read(9)
        if path.suffix == ".safetensors" or head[8:] == b"{":  # as `contents` knows it
            from safetensors.torch import load_file

            tensors = load_file(path)
        else:
            tensors = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        reason = "it is damaged or holds more than tensors; save model.state_dict()"
        if not isinstance(error, UnpicklingError):
            reason = first_line(error)
        try:
            kind = contents(path).kind
            if not kind.startswith(("checkpoint", "pickle")):
                reason = f"it is a file of the kind {kind}; give safetensors or a checkpoint of model.state_dict()"
        except FileError as damaged:  # which says where
            reason = str(damaged).partition(": ")[2]
        raise ModelError(str(path), f"{path.name} is no readable weights file: {reason}") from error
    if not isinstance(tensors, dict):
        raise ModelError(str(path), f"{path.name} holds a {type(tensors).__name__}, not tensors by name")
    if "state_dict" in tensors and isinstance(tensors["state_dict"], dict):
        tensors = tensors["state_dict"]
    found = {k: v for k, v in tensors.items() if isinstance(v, Tensor)}
    for name, value in found.items():
        if value.is_meta:
            raise ModelError(str(path), f"{path.name}: the tensor {name!r} is on the device 'meta' and has no numbers")
        if value.is_nested:
            raise ModelError(str(path), f"{path.name}: the tensor {name!r} is a nested tensor, which no weights are")
    # weights are stored in half precision, or in fewer numbers, to stay small; networks are built in float32
    return {k: plain(v) for k, v in found.items()}


def plain(value: Tensor) -> Tensor:
    """Return the numbers of a stored tensor, the real ones in single precision."""
    value = value.dequantize() if value.is_quantized else value
    value = value.to_dense() if value.layout is not torch.strided else value
    return value.float() if value.is_floating_point() else value
