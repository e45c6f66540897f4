"""Words about a square: above the stage, and below its picture."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.square.frame import Frame, Square
from widgets.base.text.words import badge, figure
from widgets.maps.linking import channel_text, element_text


def header_words(square: Square, channel: int | None, missing: int) -> list[str]:
    """Return the words above the stage: of the model, the layer, the enlarged channel, and what is left out.

    Args:
        missing: how many values are not numbers.
    """
    words = [square.title, square.layer.name]
    if channel is not None:
        words.append(channel_text(channel, square.group))
    words += [square.layer.kind, square.layer.size_text]
    words.append(square.layer.field + (" (guessed)" if square.layer.guessed else ""))
    if square.shown and square.shown < square.layer.channels:
        words.append(f"first {square.shown} of {square.layer.channels} channels")
    if missing:
        words.append(f"{missing} values are not numbers (magenta)")
    if any(one.layer == square.layer.name for one in square.interventions):
        words.append("intervened in")
    return words


def headers(squares: Sequence[Square], channel: int | None, missing: int) -> tuple[str, ...]:
    """Return the line above the stage of one model or two, the whole first, then for less and less room.

    The names of two models stand at their rows.
    """
    words = [header_words(square, channel, missing) for square in squares]
    if len(words) == 1:
        return tuple("  ·  ".join(some) for some in (words[0], words[0][1:], words[0][1:4]))
    two = ["   |   ".join("  ·  ".join(some[1:]) for some in words)]
    return (*two, "   |   ".join(f"{q.layer.name}  ·  {q.layer.size_text}" for q in squares), squares[0].layer.name)


def square_caption(frame: Frame, square: Square) -> str:
    """Return one line on a square: model, layer, element, relative error, scale."""
    measure = square.measures.get(square.layer.name)
    error = "no measure"
    if measure is not None:
        floor, verdict = figure(measure.floor), badge(measure)
        error = f"relative error {figure(measure.cumulative)} (floor {floor}, {verdict})"
        if measure.emptied:
            error = f"nothing is left to compare ({verdict})"
    return (
        f"{square.model}, layer {square.layer.name} ({square.layer.kind}, {square.layer.field}), "
        f"g = {element_text(frame.state.steps)}, {error}, colours ±{figure(square.scale)}, "
        f"{frame.sample_title or frame.state.sample}"
    )
