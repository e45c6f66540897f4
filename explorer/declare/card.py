"""Describe a model in its own file. A model is ONE file in models/ that exports ONE constant, CARD."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from explorer.declare.params import Param

if TYPE_CHECKING:
    from torch import nn

    from explorer.declare.telling.choices import Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The input that a network takes: signals of a sample, their sizes and order. Each space has its own.

    Attributes:
        absent: arguments that its forward must be given, and is given None.
        space: name of the space whose samples it is made from.
        data: the kind of data a card with this form lives on, unless the card says so itself.
        fitted_as: whether there are `choices` of how samples are fitted to the network.
    """

    absent: tuple[str, ...] = ()

    space: ClassVar[str] = ""
    data: ClassVar[str] = ""
    fitted_as: ClassVar[bool] = False

    def choices(self, shape: tuple[int, ...], asked: Mapping[str, str]) -> tuple[Choice, ...]:
        """Return what a person may choose of how x of that shape is fitted to the network, given what is chosen."""
        return ()


@dataclass(frozen=True, slots=True)
class Card:
    """A model's self-description.

    Attributes:
        name: unique, lower case, words joined by '-'; the name on the command line.
        title: a few words for the gallery.
        rows: ids of docs/systems.md that this model covers, such as ("G7",).
        groups: the symmetries the network *claims*, checked by `check` and by the contract tests; each is the
            name of a finite point group ("C4", "D4") or "translation". Empty: no law is claimed.
        reference: author, title, year, section or equation.
        equation: the defining equations, as plain text with Unicode mathematics, one per line.
        summary: two or three sentences: what it is and what to look for in the window.
        build: makes the network with fresh parameters; takes the values of `params` as keywords.
        input: what the network eats.
        domain: the kind of data it lives on, such as "grid", "graph" or "set"; that of `input` if empty.
        weights: file name in resources/weights of the trained parameters, or None.
        weights_partly: whether tensors of a person's own weights that do not fit are passed over.
        labels: names of the outputs, in order, or empty.
        params: what can be set when building (depth, step size, pooling, ...); each becomes a control.
        sample: the sample shown first.
        boundary: the boundary on which its translation law is exact: "circular" or "zero".
        train: trains and returns (network, metrics by name); takes epochs, seed and a progress callback.
        source: the classes and functions whose source the equation page shows; default: `build`.
        matrix: returns {title: 2-D array or tensor} of the linear operators worth drawing (the weight-matrix view).
        notes: lines shown under the summary, such as measured test errors.
        recipe: what its file says of how it learns examples (`work.training.recipe`).
        own: whether it is somebody's own network, whose fields nobody stands for.
    """

    name: str
    title: str
    rows: tuple[str, ...]
    reference: str
    equation: str
    summary: str
    build: Callable[..., nn.Module]
    groups: tuple[str, ...] = ()
    input: Form = field(kw_only=True)
    domain: str = ""
    weights: str | None = None
    weights_partly: bool = False
    labels: tuple[str, ...] = ()
    params: tuple[Param, ...] = ()
    sample: str = "digit-3"
    boundary: str = "circular"
    train: Callable[..., tuple[nn.Module, Mapping[str, float]]] | None = None
    source: tuple[Any, ...] = ()
    matrix: Callable[[nn.Module], Mapping[str, Any]] | None = None
    notes: tuple[str, ...] = field(default=())
    own: bool = False
    recipe: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.domain:
            object.__setattr__(self, "domain", self.input.data)


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The part of a card that crosses to the window and to `list models --json`: plain values only."""

    name: str
    title: str
    domain: str
    groups: tuple[str, ...]
    rows: tuple[str, ...]
    reference: str
    equation: str
    summary: str
    notes: tuple[str, ...]
    params: tuple[Param, ...]
    sample: str
    labels: tuple[str, ...]
    input_shape: tuple[int | str | None, ...]
    trained: bool
    trainable: bool
    source: str = ""
