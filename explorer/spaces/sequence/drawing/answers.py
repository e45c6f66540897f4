"""Say whose the answer on a sequence is: one step's, a mean over steps, or what is written at all of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from explorer.declare.telling.counting import number_of
from explorer.spaces.sequence.drawing.values import TimePart
from explorer.square.drawing.answer import Answer, labels_of, output_layer
from explorer.square.frame import Square

MOST_ALIKE = 6  # steps with the same text that are all written out


def answer_on_sequence(square: Square, step: int | None) -> Answer | None:
    """Return whose the outputs are; None where they do not sit at steps."""
    part, layer, labels = square.of(TimePart), output_layer(square), labels_of(square)
    if part is None or layer is None or layer.kind_of_places != "step":
        return None
    if step is not None and 0 <= step < part.steps:
        return Answer(labels, f"step {step}" + (f" “{part.names[step]}”" if step < len(part.names) else ""))
    both = (part.written, part.moved_written)
    written = (written_text(both[0], labels), written_text(both[1], labels)) if part.written else None
    return Answer(labels, f"mean over {number_of(part.steps, 'step')}", written=written)


def written_text(names: Sequence[str], labels: Sequence[str]) -> str:
    """Return what stands at the steps as one text, of letters without spaces; repetitions are counted: "_ ×86"."""
    letters = 2 * sum(len(name) == 1 for name in labels) > len(labels)
    runs = [(name, len(list(same))) for name, same in groupby(names)]
    found, sep = "", "" if letters else " "
    for name, count in runs:
        counted = count > MOST_ALIKE or (letters and len(name) > 1)
        if counted:
            found = f"{found.rstrip()} {name} ×{count} "
        else:
            found += sep.join([name] * count) + sep
    return found.strip()
