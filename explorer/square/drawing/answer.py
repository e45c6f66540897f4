"""Hold whose the numbers at a network's end are, and what their labels are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.square.frame import Array, LayerInfo, Square


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The words beside the numbers: `labels` of all of them or (), and `whose` they are, "" where it is plain.

    `each` is (2, N), F(x) and F(ρ(g)x), where there is one number for each of N named places, to be ranked. `written`
    is the text of both where each place has an answer of its own and none is selected.
    """

    labels: tuple[str, ...] = ()
    whose: str = ""
    each: Array | None = None
    written: tuple[str, str] | None = None


def labels_of(square: Square) -> tuple[str, ...]:
    """Return the labels of the outputs, () where they are not one for each."""
    return square.labels if len(square.labels) == square.output.size else ()


def values_of(square: Square, answer: Answer) -> tuple[Array, Array]:
    """Return the numbers that `answer` is about, before and after."""
    if answer.each is not None:
        return answer.each[0], answer.each[1]
    return np.asarray(square.output), np.asarray(square.output_g)


def output_layer(square: Square) -> LayerInfo | None:
    """Return the last layer that has at one place as many values as the output."""
    return next((n for n in reversed(square.layers) if n.kind_of_places and n.channels == square.output.size), None)
