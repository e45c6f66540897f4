"""Train a network on examples (x, y): classes where y counts, values where it measures.

This is the recipe of a network that brings none of its own. Its file may say another loss and a few numbers
(`work.training.recipe`); what needs more is a card with `train`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.work.training.course import Course, Loss, Scheduled
from explorer.work.training.losses import CLASSES
from explorer.work.training.recipe import recipe_of
from explorer.work.words import first_line

BATCH = 32  # examples that are judged at a time
HELD = 5  # every fifth example is not learned but judged by, where there are that many
PAIRS = (("x", "y"), ("images", "labels"), ("inputs", "targets"), ("data", "target"), ("x_train", "y_train"))
ENDINGS = (".npz", ".safetensors")
Trained = tuple[nn.Module, Mapping[str, float]]


def from_examples(
    build: Callable[[], nn.Module], given: Any, where: str, said: Mapping[str, Any] | None = None
) -> Callable[..., Trained]:
    """Return what trains a network on examples, as `Card.train`.

    Args:
        build: makes the network, which takes x of shape (examples, ...) and gives one tensor.
        given: (x, y), or a function that returns them; y of shape (examples,) counts classes where it is whole numbers,
            else it has the shape of the answer.
        where: what a sentence about them begins with.
        said: by its file, as `said_in` returns it.
    """

    def train(epochs: int | None = None, seed: int = 0, progress: Any = None) -> Trained:
        with torch.inference_mode(False), torch.enable_grad():
            torch.manual_seed(seed)
            network = build().train()
            x, y = _pair(given, where)
            recipe = recipe_of(said or {}, where)
            losses, judge = _by_own_loss(recipe.losses) if recipe.losses else _asked_of(network, x, y, where)
            chance = torch.Generator().manual_seed(seed)
            order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
            held = order[: len(x) // HELD]
            learned = order[len(x) // HELD :]
            judged = held if len(held) else learned
            named = "test" if len(held) else "training"

            answer = partial(_whole_answer if recipe.losses else _answer, network, where=where)

            def figures(network: nn.Module) -> Mapping[str, float]:
                parts = [(judge(answer(x[rows]), y[rows]), len(rows)) for rows in judged.split(BATCH)]
                total: dict[str, float] = {}
                for part, count in parts:
                    for name, value in part.items():
                        total[name] = total.get(name, 0.0) + value * count / len(judged)
                return {f"{named}_{name}": value for name, value in total.items()}

            course = Course(
                network, torch.optim.Adam(network.parameters(), lr=recipe.rate), _falling, chance,
                epochs=epochs or recipe.epochs, examples=len(learned), batch=recipe.batch, losses=losses, judge=figures,
                progress=progress,
            )  # fmt: skip
            for rows in course:
                some = learned[rows]
                course.learn(course.loss(answer(x[some]), y[some]), weight=len(rows))
            network.eval()
            with torch.no_grad():
                return network, figures(network)

    return train


def examples_in(path: Path) -> tuple[Tensor, Tensor]:
    """Return (x, y) of a file: NPZ or safetensors with arrays x and y, or named as in `PAIRS`.

    Raises:
        ValueError: it holds none; in one sentence.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(f"{path}: examples are read from {' and '.join(ENDINGS)}, with arrays x and y")
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    try:
        if ending == ".npz":
            with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
                names = set(held.files)
                pair = _names(names, path)
                return torch.from_numpy(held[pair[0]].copy()), torch.from_numpy(held[pair[1]].copy())
        from safetensors import safe_open

        with safe_open(path, "pt") as tensors:
            pair = _names(set(tensors.keys()), path)
            return tensors.get_tensor(pair[0]), tensors.get_tensor(pair[1])
    except _NoPair:
        raise
    except Exception as error:  # of a damaged file: numpy, zipfile and safetensors each have their own
        reason = first_line(error)
        if "pickle" in reason:  # which is not opened
            reason = "it holds objects in place of numbers; pictures of unequal sizes are brought to one size first"
        raise ValueError(f"{path} cannot be read: {reason}") from error


class _NoPair(ValueError):
    """Raised where a file is sound and holds no examples."""


def _names(held: set[str], path: Path) -> tuple[str, str]:
    found = next(((a, b) for a, b in PAIRS if {a, b} <= held), None)
    if found is None:
        names = ", ".join(sorted(held)[:8]) or "nothing"
        raise _NoPair(f"{path} holds {names}; examples are two arrays, x and y")
    return found


def _pair(given: Any, where: str) -> tuple[Tensor, Tensor]:
    """Return x and y as tensors.

    Raises:
        ValueError: they are none, in one sentence.
    """
    found = given() if callable(given) else given
    if not isinstance(found, tuple | list) or len(found) != 2:
        raise ValueError(f"{where}: examples are a pair (x, y), not {type(found).__name__}")
    tensors = []
    for name, value in zip("xy", found, strict=True):
        sizes = {tuple(np.shape(one)) for one in value} if _is_list_of_arrays(value) else set()
        if len(sizes) > 1:
            one, other = sorted(sizes)[:2]
            raise ValueError(
                f"{where}: {name} holds arrays of unequal sizes, {one} and {other} among them: "
                "bring them to one size first"
            )
        try:
            tensors.append((torch.stack([*map(torch.as_tensor, value)]) if sizes else torch.as_tensor(value)).detach())
        except (TypeError, ValueError, RuntimeError):
            raise ValueError(f"{where}: {name} is no array of numbers but {type(value).__name__}") from None
    x, y = tensors
    if not x.ndim or not y.ndim or len(x) != len(y):
        raise ValueError(f"{where}: x of shape {tuple(x.shape)} and y of shape {tuple(y.shape)} do not go in pairs")
    if not len(x):
        raise ValueError(f"{where}: there is no example to learn from: give the training at least one")
    if len(x) == 1:
        raise ValueError(f"{where}: there is one example, and none is left to judge by: give the training at least two")
    for name, value in zip("xy", tensors, strict=True):
        if value.is_complex() or (value.is_floating_point() and not bool(value.isfinite().all())):
            raise ValueError(f"{where}: {name} holds values that are no finite real numbers")
    return x, y if y.is_floating_point() else y.long()


def _is_list_of_arrays(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(v, Tensor | np.ndarray) for v in value)


def _whole_answer(network: nn.Module, x: Tensor, where: str) -> Any:
    """Return what the network says of some examples.

    Raises:
        ValueError: they do not fit it.
    """
    first = next((p for p in network.parameters() if p.is_floating_point()), None)
    if first is not None:
        x = x.to(first.device, first.dtype if x.is_floating_point() or not _counts(network) else None)
    try:
        return network(x)
    except RuntimeError as error:
        reason = first_line(error)
        raise ValueError(f"{where}: x of shape {tuple(x.shape)} does not go through the network: {reason}") from error


def _answer(network: nn.Module, x: Tensor, where: str) -> Tensor:
    """Return the one tensor that the network says of some examples.

    Raises:
        ValueError: they do not fit it, or it gives something else.
    """
    answer = _whole_answer(network, x, where)
    if not isinstance(answer, Tensor):
        told = type(answer).__name__
        raise ValueError(
            f"{where}: the network gives a {told} and not one tensor, so its loss is unknown: say LOSS = "
            "f(answer, y) in its file"
        )
    return answer


def _counts(network: nn.Module) -> bool:
    """Return whether a network begins with a table: whole numbers go into it as they are."""
    leaves = (m for m in network.modules() if not any(True for _ in m.children()))
    return any(isinstance(m, nn.Embedding | nn.EmbeddingBag) for m in leaves)


def _asked_of(
    network: nn.Module, x: Tensor, y: Tensor, where: str
) -> tuple[Mapping[str, Loss], Callable[[Tensor, Tensor], Mapping[str, float]]]:
    """Return the losses that fit a network and its examples, and what judges it.

    Raises:
        ValueError: the answers and y do not go together, in one sentence.
    """
    with torch.no_grad(), _as_it_was(network):
        network.eval()
        answer = _answer(network, x[:2], where)
    if y.is_floating_point():
        if answer.numel() != y[:2].numel():
            raise ValueError(
                f"{where}: y has the shape {tuple(y.shape[1:])} for each example, "
                f"and the network gives {tuple(answer.shape[1:])}"
            )
        return VALUES, lambda found, wanted: {"error": float(mean_square(found, wanted))}
    if answer.ndim < 2 or answer.shape[:1] + answer.shape[2:] != y[:2].shape:
        raise ValueError(
            f"{where}: y of shape {tuple(y.shape)} counts classes, which a network scores as (examples, classes); "
            f"this one gives {tuple(answer.shape)}"
        )
    lowest, highest = int(y.min()), int(y.max())
    if lowest < 0 or highest >= answer.shape[1]:
        wrong = lowest if lowest < 0 else highest
        raise ValueError(f"{where}: y holds the class {wrong}, and the network scores 0 to {answer.shape[1] - 1}")
    if lowest == highest:
        raise ValueError(f"{where}: every example is of the class {lowest}: give the training at least two classes")

    def judge(found: Tensor, wanted: Tensor) -> Mapping[str, float]:
        return {"accuracy": float((found.argmax(1) == wanted).double().mean())}

    return CLASSES if y.ndim == 1 else {"cross-entropy": F.cross_entropy}, judge


def _by_own_loss(losses: Mapping[str, Loss]) -> tuple[Mapping[str, Loss], Callable[[Any, Tensor], Mapping[str, float]]]:
    """Return the losses of a file, and what judges by them."""
    return losses, lambda found, wanted: {name: float(loss(found, wanted)) for name, loss in losses.items()}


@contextmanager
def _as_it_was(network: nn.Module) -> Any:
    training = network.training
    try:
        yield
    finally:
        network.train(training)


def mean_square(found: Tensor, wanted: Tensor) -> Tensor:
    """Return the mean of the squared differences."""
    return F.mse_loss(found, wanted.reshape(found.shape).to(found))


def mean_absolute(found: Tensor, wanted: Tensor) -> Tensor:
    """Return the mean of the absolute differences."""
    return F.l1_loss(found, wanted.reshape(found.shape).to(found))


VALUES: Mapping[str, Loss] = {"squared error": mean_square, "absolute error": mean_absolute}


def _falling(optimizer: torch.optim.Optimizer, steps: int) -> Scheduled:
    return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
