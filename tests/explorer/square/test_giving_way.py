"""Idle trials that complete a frame start no further run of a network once somebody waits for something else."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.spaces.grid.network.form import InputSpec
from explorer.state.state import State
from explorer.work.progress import Cancelled, listening
from tests.explorer.parts.small_cards import card

runs: list[int] = []


class Slow(nn.Module):
    """Counts its runs, also those of its copies; the real one takes seconds before its first layer."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.head = nn.Conv2d(1, 3, 3, padding=1), nn.Conv2d(3, 2, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        runs.append(len(runs))
        return self.head(self.conv(x).relu()).mean((2, 3))


def overtaken(last: int) -> int:
    """Refine a frame until its run `last`, within which something else is asked for; return how many runs began."""
    engine = LocalEngine({"net": card("net", Slow, input=InputSpec((1, None, None)))})
    shown = engine.answer(State("net", sample="digit-3", device="cpu", steps=parse_chain("rotate:90")), lambda: False)
    runs.clear()

    def told(text: str, share: float) -> None:
        if len(runs) >= last:
            raise Cancelled(False)

    try:
        with listening(told):
            for _ in engine.refine(shown):
                if len(runs) >= last:  # what is asked for comes before the next part
                    break
    except Cancelled:
        pass
    engine.close()
    return len(runs)


def test_no_run_begins_after_something_else_was_asked_for() -> None:
    for last in itertools.count(1):
        begun = overtaken(last)
        if begun < last:
            assert last > 3, "nothing was run in idle time"
            return
        assert begun == last, f"{begun - last} more runs began after run {last}"
