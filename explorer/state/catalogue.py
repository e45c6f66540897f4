"""List what there is to choose from, as plain values for the window and for `list`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from explorer.declare.card import ModelInfo
from explorer.declare.states.model_name import split_name


@dataclass(frozen=True, slots=True, eq=False)
class SampleInfo:
    """A sample by name, with a thumbnail (height, width, 3) uint8 or None, and its own notes once it was made."""

    name: str
    title: str
    domain: str
    summary: str = ""
    thumbnail: NDArray[np.uint8] | None = None
    notes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Catalogue:
    """Everything the window can offer once the worker is ready."""

    models: tuple[ModelInfo, ...]
    samples: tuple[SampleInfo, ...]
    devices: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]
    extensions: tuple[str, ...]  # file extensions that the readers take, with the dot
    domains: tuple[tuple[str, str], ...] = ()  # (extension, domain that such a file holds), if there is one
    writable: tuple[tuple[str, str], ...] = ()  # (extension, domain of what can be written so)
    by_name: Mapping[str, ModelInfo] = field(init=False, repr=False)  # the models

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {model.name: model for model in self.models})

    def domain_of(self, name: str) -> str:
        """Return the kind of data of a model by its name, which other weights leave as it is; "" of an unknown one."""
        found = self.by_name.get(split_name(name)[0])
        return "" if found is None else found.domain


@dataclass(frozen=True, slots=True)
class Busy:
    """Progress of something long: `fraction` in [0, 1], or None when unknown; text "" when done.

    Attributes:
        stop: it has not been heard of for so long that the person is offered to stop it.
    """

    text: str
    fraction: float | None = None
    stop: bool = False
