"""Examples that a network of codes is looked at on: many inputs with what is known of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class Examples:
    """Inputs of one kind, read-only.

    Attributes:
        inputs: (n, ...) as the network takes them, without a device.
        labels: (n,) of ints, the class of each; `names` says what each class is called.
        factors: {name: (n,)} of numbers that each input was made of, where they are known.
        title: what they are, for a sentence.
    """

    inputs: NDArray[np.float32]
    labels: NDArray[np.int64]
    names: tuple[str, ...]
    title: str
    factors: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)


@runtime_checkable
class Coding(Protocol):
    """A network that has a code between an encoder and a decoder, of whoever wrote it.

    `encode` gives the code, (n, d), of inputs (n, ...); `decode` gives inputs of codes. A network may have four more
    methods: `examples() -> Examples`, `posterior(x) -> (mean, log of the variance)` where the code is drawn,
    `draw_codes(count, seed) -> (codes, words)` where it has a way of its own to draw them, with the words for it, and
    `code_names(codes) -> names` where a code says in words what it asks for, as a class or a caption does.
    """

    def encode(self, x: Any) -> Any:
        """Return the codes of inputs."""

    def decode(self, z: Any) -> Any:
        """Return what codes stand for."""
