"""The recipe by which a file says that its network learns examples: LOSS, and TRAINING with a few numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import torch
from torch import Tensor

from explorer.work.training.course import Loss
from explorer.work.words import first_line

SAID = ("LOSS", "TRAINING")


@dataclass(frozen=True, slots=True)
class Recipe:
    """The losses by name, of which the first is learned, {} where those that fit the examples are; and numbers."""

    losses: Mapping[str, Loss] = field(default_factory=dict)
    epochs: int = 10
    batch: int = 32
    rate: float = 1e-3


def said_in(module: object) -> Mapping[str, Any]:
    """Return what a file says, as it stands there: it is read when the training begins."""
    return {name: value for name in SAID if (value := getattr(module, name, None)) is not None}


def recipe_of(said: Mapping[str, Any], where: str) -> Recipe:
    """Return what a file says as a recipe.

    Raises:
        ValueError: it says nothing that can be followed; in one sentence.
    """
    given, numbers = said.get("LOSS"), said.get("TRAINING", {})
    named = given if isinstance(given, Mapping) else {} if given is None else {_name(given): given}
    if not all(callable(loss) for loss in named.values()):
        kind = type(given).__name__
        raise ValueError(f"{where}: LOSS is a function of (answer, y), or a dict of such by name, not {kind}")
    known = {f.name: f.type for f in fields(Recipe) if f.name != "losses"}
    if not isinstance(numbers, Mapping) or (strange := next((k for k in numbers if k not in known), None)) is not None:
        named_so = f"{strange!r}" if isinstance(numbers, Mapping) else type(numbers).__name__
        raise ValueError(f"{where}: TRAINING is a dict of {', '.join(known)}, and has no {named_so}")
    for name, value in numbers.items():
        whole = name != "rate"
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or value <= 0:
            kind = "whole number" if whole else "number"
            raise ValueError(f"{where}: TRAINING[{name!r}] is a {kind} above zero, not {value!r:.40}")
    return Recipe({str(name): _checked(loss, where) for name, loss in named.items()}, **numbers)


def _name(loss: Any) -> str:
    name = getattr(loss, "__name__", type(loss).__name__)
    return "loss of the file" if name.startswith("<") else str(name)


def _checked(loss: Callable[..., Any], where: str) -> Loss:
    """Return a loss of somebody's own, of which what goes wrong is told in one sentence."""

    def checked(found: Any, wanted: Tensor) -> Tensor:
        try:
            value = loss(found, wanted)
        except torch.OutOfMemoryError:
            raise
        except Exception as error:  # of anybody's code
            raise ValueError(f"{where}: LOSS raised {type(error).__name__}: {first_line(error)}") from error
        if not isinstance(value, Tensor) or value.numel() != 1:
            told = f"shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
            raise ValueError(f"{where}: LOSS has to give one number as a tensor, and gives {told}")
        return value.reshape(())

    return checked
