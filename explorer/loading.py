"""Make networks: from cards with their shipped weights, or from a person's own file when they have said so.

A Python file is code: it runs only with `trust`. Weights are read as safetensors, or with
`torch.load(weights_only=True)`; a full pickle, TorchScript or .pt2 archive is never opened.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from explorer.card import Card, InputSpec, ModelInfo

WEIGHTS_MARK = "@"  # "d4-cnn@my.safetensors": that card with the parameters of that file
WEIGHTS = Path(__file__).resolve().parents[1] / "resources" / "weights"


class ModelError(ValueError):
    """A model that cannot be made; one sentence, with `where`: the card, file or parameter."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(message)
        self.where = where


def find_card(name: str, cards: Mapping[str, Card], trust: bool = False) -> Card:
    """Return the card called `name`, or one made for "file.py:callable".

    Raises:
        ModelError: unknown, or a file without `trust`.
    """
    if name in cards:
        return cards[name]
    base, mark, file = name.partition(WEIGHTS_MARK)
    if mark and file:
        card = find_card(base, cards, trust)
        return replace(card, name=name, title=f"{card.title}, {Path(file).name}", weights=str(Path(file).resolve()))
    path, colon, attribute = name.rpartition(":")
    if colon and path.endswith(".py"):
        return file_card(Path(path), attribute, trust)
    if name.endswith((".pt2", ".pt", ".pth", ".pkl", ".ts", ".torchscript")):
        how = "give file.py:callable with --trust"
        raise ModelError(name, f"{name} may hold code, so it is not opened as a model; {how}")
    near = get_close_matches(name, cards, 1, 0.5)
    hint = f"did you mean {near[0]!r}?" if near else "'list models' names them all"
    raise ModelError(name, f"there is no model {name!r}; {hint}")


def file_card(path: Path, attribute: str, trust: bool) -> Card:
    """Return a card for a callable in a Python file: a function or class that makes an nn.Module, or a module."""
    if not path.is_file():
        raise ModelError(str(path), f"there is no file {path}")
    if not trust:
        raise ModelError(str(path), f"{path} is Python code, which would be executed: add --trust if you trust it")
    if not attribute.isidentifier():
        raise ModelError(str(path), f"{attribute!r} after the colon must be the name of a callable in {path}")
    spec = importlib.util.spec_from_file_location(f"equiscope_user_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        raise ModelError(str(path), f"{path} could not be run: {type(error).__name__}: {error}") from error
    made = getattr(module, attribute, None)
    if made is None:
        raise ModelError(str(path), f"{path} defines no {attribute!r}")

    def build(**_: float) -> nn.Module:
        network = made if isinstance(made, nn.Module) else made()
        if not isinstance(network, nn.Module):
            kind = type(network).__name__
            raise ModelError(str(path), f"{attribute} in {path} returned {kind}, not a torch.nn.Module")
        return network

    shape = getattr(made, "input_shape", getattr(module, "INPUT_SHAPE", None)) or _input_shape(build(), str(path))
    return Card(
        name=f"{path}:{attribute}", title=f"{attribute} ({path.name})", rows=(), reference=str(path),
        equation="", summary=(inspect.getdoc(made) or "Your own model.").split("\n\n")[0], build=build,
        input=InputSpec(tuple(shape)), labels=tuple(getattr(module, "LABELS", ())),
        source=(made if inspect.isclass(made) or inspect.isfunction(made) else type(made),),
    )  # fmt: skip


def _input_shape(model: nn.Module, where: str) -> tuple[int, None, None]:
    """Return what the first layer eats: its input channels, any size.

    Raises:
        ModelError: it eats vectors, whose image size nobody knows.
    """
    for module in model.modules():
        if isinstance(channels := getattr(module, "in_channels", None), int):
            return (channels, None, None)
        if isinstance(module, nn.Linear):
            raise ModelError(where, f"{where}: the first layer is dense; say INPUT_SHAPE = (channels, height, width)")
    return (1, None, None)


def load_model(card: Card, params: Mapping[str, float] | None = None, weights: Path | None = None) -> nn.Module:
    """Build the card's network with its shipped weights (or those of a file), in eval mode.

    Raises:
        ModelError: an unknown parameter, or weights that do not fit.
    """
    values = {p.name: p.default for p in card.params}
    for name, value in (params or {}).items():
        if name not in values:
            known = ", ".join(values) or "none"
            raise ModelError(card.name, f"{card.name} has no parameter {name!r}; it has: {known}")
        values[name] = value
    state = torch.get_rng_state()
    try:
        torch.manual_seed(0)  # untrained networks must be the same one every time
        model = card.build(**values)
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(card.name, f"{card.name} could not be built: {type(error).__name__}: {error}") from error
    finally:
        torch.set_rng_state(state)
    path = weights or (WEIGHTS / card.weights if card.weights else None)
    if path is not None:
        # a person's own file has to fit; shipped weights may leave what a parameter has reshaped as it is
        load_weights(model, path, strict=path.parent != WEIGHTS)
    return model.eval()


def load_weights(model: nn.Module, path: Path, strict: bool = True) -> None:
    """Read safetensors (or a weights-only checkpoint) into the model; with `strict` False, misfits are left fresh."""
    tensors = read_weights(path)
    own = model.state_dict()
    misfits = [k for k, v in tensors.items() if k not in own or own[k].shape != v.shape]
    missing = [k for k in own if k not in tensors]
    if strict and (misfits or missing):
        first = (misfits or missing)[0]
        what = "does not fit" if misfits else "is missing"
        counts = f"{len(misfits)} misfit(s), {len(missing)} missing"
        raise ModelError(str(path), f"{path.name}: the tensor {first!r} {what} this network ({counts})")
    if not misfits or strict:
        model.load_state_dict({k: v for k, v in tensors.items() if k not in misfits}, strict=False)


def read_weights(path: Path) -> dict[str, Tensor]:
    """Return {name: float tensor} of a safetensors file or a weights-only checkpoint; nothing is executed."""
    if not path.is_file():
        raise ModelError(str(path), f"there is no weights file {path}")
    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            tensors = load_file(path)
        else:
            tensors = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ModelError(str(path), f"{path.name} is no readable weights file: {reason[:200]}") from error
    if not isinstance(tensors, dict):
        raise ModelError(str(path), f"{path.name} holds a {type(tensors).__name__}, not tensors by name")
    if "state_dict" in tensors and isinstance(tensors["state_dict"], dict):
        tensors = tensors["state_dict"]
    # weights are stored in half precision to stay small; networks are built in float32
    return {
        k: v.float() if v.is_floating_point() else v for k, v in tensors.items() if isinstance(v, Tensor)
    }


def source_of(objects: tuple[Any, ...]) -> str:
    """Return the source of classes and functions, one after the other; what has none is left out."""
    texts = []
    for item in objects:
        try:
            texts.append(inspect.getsource(item))
        except (OSError, TypeError):
            continue
    return "\n\n".join(text.rstrip() for text in texts)


def model_info(card: Card) -> ModelInfo:
    """Return what of a card crosses to the window."""
    builder: Callable[..., Any] = card.build
    return ModelInfo(
        name=card.name, title=card.title, domain=card.domain, groups=card.groups, rows=card.rows,
        reference=card.reference, equation=card.equation, summary=card.summary, notes=card.notes, params=card.params,
        sample=card.sample, labels=card.labels, input_shape=card.input.shape,
        trained=card.weights is not None and (WEIGHTS / card.weights).is_file(), trainable=card.train is not None,
        source=source_of(card.source or (builder,)),
    )  # fmt: skip
