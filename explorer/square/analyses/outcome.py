"""The outcome of an experiment on one layer, as a value that any process can read."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """Holds what one experiment on one layer did, measured as `check` measures.

    Attributes:
        intervention: as `--intervene` takes it.
        title, told: of the experiment.
        reason: why it was not done; "" where it was.
        verdict, guilty: of the network with it.
        was, now: the largest cumulative error at the output without it and with it.
        own_was, own_now: the layer's own error, local where it can be fed alone.
        mended: whether the layer is no longer guilty.
        shift_was, shift_now: of an experiment that softens, how far shifts by less than the stride change the output
            without it and with it, the mean over such shifts; None of every other one.
    """

    intervention: str
    layer: str
    group: str
    title: str
    told: str
    reason: str = ""
    verdict: str = ""
    guilty: tuple[str, ...] = ()
    was: float | None = None
    now: float | None = None
    own_was: float | None = None
    own_now: float | None = None
    mended: bool = False
    shift_was: float | None = None
    shift_now: float | None = None

    @property
    def useful(self) -> bool:
        """Return whether it can be proposed: it mends the law, or lowers what shifts do."""
        return self.mended or (
            self.shift_was is not None and self.shift_now is not None and self.shift_now < self.shift_was
        )

    @property
    def sentence(self) -> str:
        """Return what follows of it, for a person."""
        if self.reason:
            return f"not tried: {self.reason}"
        if self.shift_was is not None and self.shift_now is not None:
            figures = f"{_figure(self.shift_now)} in place of {_figure(self.shift_was)}"
            less = 1 - self.shift_now / self.shift_was if self.shift_was else 0.0
            if not self.useful:
                return f"shifts by less than its stride change the output no less: {figures}"
            return f"shifts by less than its stride change the output {less:.0%} less: {figures}; no law becomes exact"
        if not self.mended:
            return f"the law still fails in {self.layer} ({_figure(self.own_now)}; it was {_figure(self.own_was)})"
        figures = f"({_figure(self.now)}; it was {_figure(self.was)})"
        if self.verdict == "holds":
            return f"with {self.layer} symmetrised the law holds at the output {figures}"
        rest = [name for name in self.guilty if name != self.layer]
        nxt = f": the next guilty layer is {rest[0]}" if rest else ""
        return f"with {self.layer} symmetrised the law is still broken at the output {figures}{nxt}"


def _figure(value: float | None) -> str:
    return "no law" if value is None or math.isnan(value) else f"{value:.2g}"
