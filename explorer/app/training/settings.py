"""Settings that a training is steered with, and from which step on: what is changed while it runs is on record."""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a step.

    Attributes:
        rate: what the learning rates of the trainer are multiplied by.
        drawn: the number of steps after which chance was drawn anew, from `seed`; None where it never was.
    """

    rate: float
    loss: str
    seed: int
    drawn: int | None = None


class Steered:
    """The settings of all steps of one training, as far as it has come."""

    def __init__(self, first: Settings) -> None:
        self._since = [(0, first)]  # (steps that were over, the settings of those that followed)

    def at(self, step: int) -> Settings:
        """Return what the last of so many steps was made with; of none, what the training was started with."""
        found = [settings for over, settings in self._since if over < step]
        return found[-1] if found else self._since[0][1]

    def made(self, step: int, settings: Settings) -> bool:
        """Note with which settings a step was made; return whether they are others than before."""
        changed = settings != self._since[-1][1]
        if changed:
            self._since.append((step - 1, settings))
        return changed

    def text(self) -> str:
        """Return all of it as JSON."""
        return json.dumps([[over, *astuple(settings)] for over, settings in self._since])

    @classmethod
    def read(cls, text: str) -> Steered:
        """Undo `text`; raise ValueError of another one."""
        try:
            since = [(int(over), Settings(float(rate), str(loss), int(seed), drawn))
                     for over, rate, loss, seed, drawn in json.loads(text)]  # fmt: skip
        except TypeError as error:
            raise ValueError(str(error)) from None
        made = cls(since[0][1])
        made._since = since
        return made

    def cut(self, step: int) -> None:
        """Forget what followed a step: the training goes on from there in another way."""
        self._since[1:] = [(over, settings) for over, settings in self._since[1:] if over < step]

    @property
    def turns(self) -> list[tuple[int, str]]:
        """Return after how many steps what was changed: (40, "seed 7"), (90, "rate 0.5")."""
        found = []
        for (_, old), (over, new) in zip(self._since, self._since[1:], strict=False):
            changed = [f"rate {new.rate:g}"] if new.rate != old.rate else []
            changed += [f"loss {new.loss}"] if new.loss != old.loss else []
            changed += [f"seed {new.seed}"] if (new.seed, new.drawn) != (old.seed, old.drawn) else []
            found.append((over, ", ".join(changed)))
        return found

    @property
    def words(self) -> str:
        """Return what was changed, "after 40 steps: seed 7; after 90 steps: rate 0.5"; "" where nothing was."""
        return "; ".join(f"after {over} steps: {changed}" for over, changed in self.turns)
