"""One network of somebody else's, the data it is called with, and the truth about its symmetry."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

HOLDS, BROKEN, REFUSED = "holds", "broken", "refused"


@dataclass(frozen=True, slots=True)
class Given:
    """Arguments of a network, as a person passes them.

    Attributes:
        args: tensors in the order of the call.
        acts: the action of the group on each argument, a word of `oracle.act`.
        form: "call" for tensors one by one, "mapping" for arguments by name, "data" for one torch_geometric Data,
            "points" for signals of points in space, "pair" for the first two in one tuple.
        names: of the arguments, for all forms but "call".
        layout: of a sequence, one of "NTC", "TNC", "NCT", "TC", "CT"; a "?" before it: to be found by trial.
        step: of shifts and delays, in pixels or steps: the product of the strides.
        boundary: of shifts of images, "circular" or "zero".
    """

    args: tuple[Tensor, ...]
    acts: tuple[str, ...]
    form: str = "call"
    names: tuple[str, ...] = ()
    layout: str = ""
    step: int = 1
    boundary: str = "circular"


@dataclass(frozen=True, slots=True)
class Case:
    """A small network and what is true of it.

    Attributes:
        make: builds the network; the seed is set before.
        given: makes the data.
        out: the action of the group on each output tensor, in their order, words of `oracle.act`.
        truth: "holds", "broken", or "refused": only a declaration can settle it.
        culprit: names of layers, any of which is right to be blamed; empty where code of a forward is.
        twin: name of the sound network that differs by the planted fault alone.
        refusable: one sentence that says what to declare is as good an answer as a verdict.
        tells: pattern that such a sentence matches: advice about another kind of network helps nobody.
        inside: places at each border that the law leaves out: padding meets them.
        precision: of the oracle's run: float32 for what knows no other.
        limit: largest share of chance that is rounding.
        hooks: the oracle may find the culprit by the shapes of the layers' outputs.
        details: also attribute errors to the output, as `check_equivariance` does by itself.
        options: more arguments of `check_equivariance`.
        door: "file.py:name" for what is opened from a file, as on the command line; "" for a call in Python.
        sample: name of the data that a network from a file is checked on.
    """

    name: str
    make: Callable[[], nn.Module]
    given: Callable[[], Given]
    group: str
    out: tuple[str, ...]
    truth: str = HOLDS
    culprit: tuple[str, ...] = ()
    twin: str = ""
    refusable: bool = False
    tells: str = ""
    inside: int = 0
    precision: torch.dtype = torch.float64
    limit: float = 1e-9
    hooks: bool = True
    details: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    door: str = ""
    sample: str = ""

    def network(self) -> nn.Module:
        """Return the network, the same at every call."""
        torch.manual_seed(1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # old ways of writing networks are deprecated, and used
            return self.make()

    def broken(self, name: str, make: Callable[[], nn.Module], *culprit: str, **more: Any) -> Case:
        """Return the twin of this sound case that has a fault in it."""
        return replace(
            self, name=f"{self.name}, {name}", make=make, truth=BROKEN, culprit=culprit, twin=self.name, **more
        )


def drawn(*shape: int, seed: int = 0) -> Tensor:
    """Return normal random numbers, the same at every call."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def pair(
    name: str, make: Callable[[], nn.Module], faulty: Callable[[], nn.Module], culprit: Sequence[str],
    given: Callable[[], Given], out: tuple[str, ...], group: str, **more: Any,
) -> tuple[Case, Case]:  # fmt: skip
    """Return a sound network and its twin with a fault."""
    sound = Case(name, make, given, group, out, **more)
    return sound, sound.broken("a fault", faulty, *culprit)
