"""Read off somebody's own network what it takes: what its file says, what its forward is called with, its layers."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from explorer.declare.telling.values import told_value
from explorer.network.opening.scripts import UNWATCHED
from explorer.network.tracing.walking import named_modules, named_tensors

_NONE = re.compile(r"\b(None|Optional|NoneType)\b")
MANY = 128  # places, more than the data have that a network is shown first


def shapes_of(network: nn.Module) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of all that a network keeps, each once; what its first run is to make has none yet."""
    kept = (t for _, t in named_tensors(network) if not is_lazy(t))
    return tuple(dict.fromkeys(tuple(t.shape) for t in kept))


def filters_planes(network: nn.Module) -> bool:
    """Say whether a network has filters several places wide: over a matrix they tie values to the order of its rows."""
    return any(len(shape) == 4 and max(shape[2:]) > 1 for shape in shapes_of(network))


def most_places(network: nn.Module, runs: Callable[[int], bool]) -> int | None:
    """Return the largest number of places that a network has a table for; None where it takes many.

    Args:
        runs: says whether the network runs on so many places.
    """
    if runs(MANY):
        return None
    return next((n for n in table_lengths(network, MANY) if runs(n) and not runs(n + 1)), None)


def table_lengths(network: nn.Module, below: int) -> list[int]:
    """Return how many rows, fewer than that, what a network keeps has: each once, in ascending order."""
    return sorted({n for shape in shapes_of(network) for n in shape[:-1] if 1 < n < below})


class Ambiguous(ValueError):
    """Report that data can be given to a network in several ways, all of which run."""


@dataclass(frozen=True, slots=True)
class Recognised:
    """A network in somebody's file, as far as it is known before it runs.

    Attributes:
        made: the callable or the module that the file names.
        module: the file, executed.
        where: its path, for messages.
        network: makes the network; only called where nothing else tells.
        why: {what of its input: the reason for what is taken}, noted as it is found out; "data" is the kind of data.
        doubts: sentences about what was taken for something, and may be something else.
        last_resort: kinds of data that a space took though nothing tells of them but that the network runs.
        unproven: what was taken for the input though no trial of it ran.
        reads_nothing: why it is known to read nothing by name off its only argument, empty where it is not.
        sparing: whether few trials must do, as it is one of many guesses.
    """

    made: Any
    module: ModuleType
    where: str
    network: Callable[[], nn.Module]
    why: dict[str, str] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)
    last_resort: list[str] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)
    reads_nothing: list[str] = field(default_factory=list)
    sparing: bool = False

    def said(self, name: str) -> Any:
        """Return what the class says as `input_channels`, or its file as INPUT_CHANNELS; None where neither does."""
        own = getattr(self.made, name, None)
        value = getattr(self.module, name.upper(), None) if own is None else own
        if value is not None:
            where = name.upper() if own is None else f"{getattr(self.made, '__name__', 'the network')}.{name}"
            self.why[name.removeprefix("input_")] = f"the file says {where} = {told_value(value)}"
        return value

    def says_something(self) -> bool:
        """Say whether the file, or the class, says anything of its input."""
        own = (name.upper() for name in dir(self.made) if name.startswith("input_"))
        return any(name.startswith("INPUT_") for name in (*vars(self.module), *own))

    def arguments(self, known: Collection[str]) -> tuple[str, ...]:
        """Return the leading arguments of its forward that are among the known names, and that a call must give.

        What has a default is passed to nobody's network unasked: the file's INPUT_SIGNALS ask for it.
        """
        needed = self.required()
        found = tuple(itertools.takewhile(lambda name: name in known, needed))
        if found:
            self.why["signals"] = f"its forward takes ({', '.join(needed)})"
        return found

    def required(self) -> tuple[str, ...]:
        """Return the arguments of its forward that have no default, also where a function makes the network."""
        varied = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        return tuple(p.name for p in self._parameters() if p.default is p.empty and p.kind not in varied)

    def optional(self) -> tuple[str, ...]:
        """Return the arguments of its forward that may be None, as their annotations say."""
        return tuple(p.name for p in self._parameters() if _NONE.search(str(p.annotation)))

    def by_keyword(self) -> tuple[str, ...]:
        """Return the arguments of its forward that can only be given by name, and have no default."""
        return tuple(p.name for p in self._parameters() if p.kind is p.KEYWORD_ONLY and p.default is p.empty)

    def takes_one(self) -> bool:
        """Say whether its forward takes one argument and no more."""
        found = self._parameters()
        return len(found) == 1 and found[0].kind in (found[0].POSITIONAL_ONLY, found[0].POSITIONAL_OR_KEYWORD)

    def _parameters(self) -> list[inspect.Parameter]:
        """Return the parameters of its forward as it is called, without the one that stands for the network itself."""
        made = self.made if isinstance(self.made, nn.Module) or inspect.isclass(self.made) else self.network()
        if (forward := getattr(made, "forward", None)) is None:
            return []
        if not callable(forward):
            raise ValueError(f"its forward is {told_value(forward)}, not a function")
        if isinstance(made, torch.jit.ScriptModule):  # a program, of which Python knows no arguments
            raise ValueError(UNWATCHED)
        found = list(inspect.signature(forward).parameters.values())
        bound = not inspect.isclass(made) or isinstance(inspect.getattr_static(made, "forward"), staticmethod)
        return found if bound else found[1:]

    def channels(self) -> int | None:
        """Return the width of x that the file says, or None; of several arguments it may say that of each.

        Raises:
            ValueError: it is no whole number above 0.
        """
        channels = self.said("input_channels")
        if channels is None or isinstance(channels, Mapping):
            return None
        if not isinstance(channels, int) or isinstance(channels, bool) or channels < 1:
            raise ValueError(f"INPUT_CHANNELS must be a whole number above 0, not {told_value(channels)}")
        return channels

    def widths_of_filters(self, dimensions: int) -> tuple[int, ...]:
        """Return the widths that filters over so many dimensions take, parameters of no convolution among them."""
        shapes = shapes_of(self.network())
        widths = [shape[1] for shape in shapes if len(shape) == dimensions + 2]
        # filters that are made anew for each sample are kept with an axis for that
        kept = {
            id(p) for _, m in named_modules(self.network()) if hasattr(m, "kernel_size") for p in m.parameters(False)
        }
        own = (t.shape for _, t in named_tensors(self.network()) if id(t) not in kept and not is_lazy(t))
        return tuple(dict.fromkeys((*widths, *(s[2] for s in own if len(s) == dimensions + 3 and s[0] == 1))))

    def first_width(self) -> int | None:
        """Return how many channels the first layer takes, where it says so."""
        for name, m in named_modules(self.network()):
            if isinstance(width := getattr(m, "in_channels", getattr(m, "in_features", None)), int) and width > 0:
                self.why["channels"] = f"its first layer with a width, {name or type(m).__name__}, takes {width}"
                return width
        return None
