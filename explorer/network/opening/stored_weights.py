"""Read weights from a file into a network: safetensors, or `torch.load(weights_only=True)`; nothing is executed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import Tensor, nn

from explorer.network.opening.files.contents import FileError
from explorer.network.opening.files.looking import contents
from explorer.network.opening.refusals import Misfit, ModelError
from explorer.work.files.places import RESOURCES
from explorer.work.words import first_line, printable

WEIGHTS = RESOURCES / "weights"
DEEPEST = 3  # tables within tables of a checkpoint
NAMED = 4  # of what a pickle asks for, in a sentence


def load_weights(model: nn.Module, path: Path, strict: bool = True) -> tuple[str, ...]:
    """Read safetensors (or a weights-only checkpoint) into the model.

    Args:
        strict: refuse a file that does not fit in every tensor; else what fits is loaded, and the rest left fresh.

    Returns:
        a sentence about what was left fresh, and one about what else could have been loaded.

    Raises:
        ModelError: no readable file, or with `strict` one that does not fit.
    """
    own = model.state_dict()
    named = getattr(model, "own_names", None)  # it knows what others call its parameters
    sets = {k: _renamed(named(v) if callable(named) else v, own) for k, v in _read(path).items()}
    fits = {k: sum(n in own and own[n].shape == v.shape for n, v in found.items()) for k, found in sets.items()}
    which = max(fits, key=fits.__getitem__)  # the first of those that fit best
    tensors, alike = sets[which], [k for k, n in fits.items() if n == fits[which] > 0]
    inside = f"{which} in " if len(sets) > 1 and which else ""
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
        does = f"{len(misfits)} of its {len(tensors)} tensors do not fit"
        counts = does if misfits else "all its tensors fit" if tensors else "it holds none"
        lacks = f"{len(missing)} of the network's {len(own)} are missing"
        kind = Misfit if len(missing) < len(own) else ModelError
        raise kind(str(path), f"{inside}{path.name}: the tensor {first!r} {what}; {counts}, and {lacks}")
    fitting = {k: v for k, v in tensors.items() if k not in misfits}
    if not fitting and own and path.parent != WEIGHTS:
        raise ModelError(str(path), f"{inside}{path.name}: none of its {len(tensors)} tensors fits this network")
    model.load_state_dict(fitting, strict=False)
    notes = []
    if len(alike) > 1:
        others = ", ".join(alike[1:])
        notes.append(f"{path.name} holds several sets of weights that fit: of {which}, and not of {others}, are these")
    if fresh := [k for k in own if k not in fitting]:
        names = ", ".join(fresh[:6]) + (", …" if len(fresh) > 6 else "")
        notes.append(f"{inside}{path.name} fits {len(fitting)} of {len(own)} tensors; untrained are {names}")
    return tuple(notes)


def _renamed(tensors: dict[str, Tensor], own: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return tensors by the names of the network, where most of them have one prefix more, or less.

    A network that was wrapped when it was stored (`module.`, `_orig_mod.`, `model.`) has such names.
    """
    if tensors.keys() & own.keys():
        return tensors
    more, of_more = _prefix(tensors, own)
    less, of_less = _prefix(own, tensors)
    if 2 * max(of_more, of_less) <= min(len(tensors), len(own)):  # a name that two networks share by chance
        return tensors
    return {k.removeprefix(more) if of_more >= of_less else less + k: v for k, v in tensors.items()}


def _prefix(longer: Mapping[str, Tensor], names: Mapping[str, Tensor]) -> tuple[str, int]:
    """Return the prefix, "a." or "a.b." of "a.b.weight", without which most names are others, and how many are."""
    found: Counter[str] = Counter()
    for name, value in longer.items():
        for at, sign in enumerate(name):
            if sign == "." and (other := names.get(name[at + 1 :])) is not None and other.shape == value.shape:
                found[name[: at + 1]] += 1
    return next(iter(found.most_common(1)), ("", 0))


def read_weights(path: Path) -> dict[str, Tensor]:
    """Return {name: float tensor} of a safetensors file or a weights-only checkpoint; nothing is executed.

    Of a checkpoint with several sets of them it is the first.
    """
    return next(iter(_read(path).values()))


def _read(path: Path) -> dict[str, dict[str, Tensor]]:
    """Return {place in the checkpoint: {name: float tensor}}, one at least."""
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
            found = contents(path)
            if not found.kind.startswith(("checkpoint", "pickle")):
                reason = (
                    f"it is a file of the kind {found.kind}; give safetensors or a checkpoint of model.state_dict()"
                )
            elif asked := [printable(n.name[:60]) for n in found.names if n.verdict != "allowed"]:
                more = ", …" if len(asked) > NAMED else ""
                reason = (
                    f"its pickle asks for {', '.join(asked[:NAMED])}{more}, which is code and no tensor: nothing of it "
                    "was executed; save model.state_dict()"
                )
        except FileError as damaged:  # which says where
            reason = str(damaged).partition(": ")[2]
        raise ModelError(str(path), f"{path.name} is no readable weights file: {reason}") from error
    if not isinstance(tensors, dict):
        raise ModelError(str(path), f"{path.name} holds a {type(tensors).__name__}, not tensors by name")
    sets = dict(_sets(tensors)) or {"": {}}
    for name, value in ((name, value) for found in sets.values() for name, value in found.items()):
        if value.is_meta:
            raise ModelError(str(path), f"{path.name}: the tensor {name!r} is on the device 'meta' and has no numbers")
        if value.is_nested:
            raise ModelError(str(path), f"{path.name}: the tensor {name!r} is a nested tensor, which no weights are")
    # weights are stored in half precision, or in fewer numbers, to stay small; networks are built in float32
    return {place: {k: plain(v) for k, v in found.items()} for place, found in sets.items()}


def _sets(found: Mapping[Any, Any], place: tuple[str, ...] = ()) -> Iterator[tuple[str, dict[str, Tensor]]]:
    """Yield each table of tensors by name within a checkpoint, with the names that lead there."""
    if tensors := {k: v for k, v in found.items() if isinstance(k, str) and isinstance(v, Tensor)}:
        yield ".".join(place), tensors
    for name, value in found.items():
        if isinstance(value, Mapping) and isinstance(name, str) and len(place) < DEEPEST:
            yield from _sets(value, (*place, name))


def plain(value: Tensor) -> Tensor:
    """Return the numbers of a stored tensor, the real ones in single precision."""
    value = value.dequantize() if value.is_quantized else value
    value = value.to_dense() if value.layout is not torch.strided else value
    return value.float() if value.is_floating_point() else value
