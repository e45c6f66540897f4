"""One run of a training: its process, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from explorer.declare.card import ModelInfo
from explorer.declare.states.model_name import named_as_shown
from explorer.work.progress import clock
from widgets.base.text.words import figure
from widgets.window.training.kept import as_kept, forget, keep, take_up
from widgets.window.training.left import Place
from widgets.window.training.process import TrainProcess
from widgets.window.training.told import Told, Wanted

ENDS = (
    "It is not finished: close it once more to end it. What is kept of it then lies beside its weights, and a later "
    "Start goes on from there."
)
LOST = "It is not finished, and nothing is written when this page is closed: close it once more to end it."


def may_end(runs: Sequence[Run], shown: Run | None) -> bool:
    """Say whether the page may be closed: nothing learns, or it was said before that it would be lost."""
    if shown is None or shown.warning in (ENDS, LOST) or not any(run.process.running for run in runs):
        return True
    shown.warning = ENDS if all(run.told.kept for run in runs if run.process.running) else LOST
    shown.changed.emit()
    return False


class Run(QObject):
    """A training that was started."""

    changed = Signal()
    shown = Signal(str)  # another network lies at this path
    over = Signal(str)  # path of the weights; "" where there are none

    def __init__(self, info: ModelInfo, wanted: Wanted, number: int, parent: QObject) -> None:
        super().__init__(parent)
        self.info, self.wanted, self.number = info, as_kept(wanted), number
        self.told = Told(loss=wanted.loss)
        self.sentence, self.bad = "Starting…", False
        self._cut = self._again = False  # it has ended without a wish; it was started once more after that
        self._going = False  # it was asked to go back and has not answered yet
        self._next: int | None = None  # where to then: of a drag the last place counts, and no others wait in a queue
        self.warning = ""  # what cannot be done, while it goes on: said until somebody does something
        self.results: Mapping[str, float] = {}
        self.folder = Place(self.wanted)
        self._again = take_up(Path(self.folder.name), self.wanted, self.told)
        self.process = self._process()

    def _process(self) -> TrainProcess:
        made = TrainProcess(self)
        made.told.connect(self._told)
        made.done.connect(self._done)
        made.failed.connect(self._failed)
        return made

    @property
    def resumable(self) -> bool:
        """Return whether it was cut off, as by a crash or a kill, and can go on from a step that is kept."""
        return self._cut and self.told.steered and bool(self.told.kept)

    def again(self) -> None:
        """Make ready to start once more, from the last kept step."""
        self._cut, self._again, self._going = False, True, False
        self.sentence, self.bad, self.told.paused = "Starting again…", False, False
        self.process = self._process()
        self.changed.emit()

    @property
    def alarming(self) -> bool:
        """Return whether what is said of it is bad news."""
        return self.bad or bool(self.warning)

    @property
    def name(self) -> str:
        return f"{self.number} {named_as_shown(self.info.name)}"

    def progress(self) -> str:
        """Return how far it is, in a sentence."""
        t = self.told
        of = f" of {t.total:,}" if t.total else ""
        losses = [f"{name} {figure(y)}" for name, points in t.losses.items() if (y := t.at(points)) is not None]
        figures = [found for name, points in t.figures.items() if (found := t.figure(name, points))]
        seed = f"seed {t.seed} since step {t.drawn:,}" if t.drawn is not None else ""
        left = "paused" if t.paused else f"{clock(t.left)} left" if t.left is not None else ""
        epoch = f"epoch {t.epoch} of {t.epochs}" if t.epochs else ""
        return ", ".join(text for text in (f"Step {t.step:,}{of}", epoch, seed, *losses, *figures, left) if text) + "."

    def start(self, trust: tuple[bool, Sequence[str], Sequence[str]] = (False, (), ())) -> None:
        """Start it; `trust` is what a person has said may run."""
        w = self.wanted
        words = [self.info.name, "--out", str(w.path), "--seed", str(w.seed), "--rate", f"{w.rate:g}"]
        words += ["--live", self.folder.name, "--errors", "1" if w.errors else "0"]
        for option, value in (
            ("--epochs", w.epochs),
            ("--loss", w.loss),
            ("--transform", w.chain),
            ("--examples", w.examples),
        ):
            words += [option, str(value)] if value else []
        words += ["--resume"] if self._again else []
        self.process.allow(trust)
        self.process.start(words)

    def back(self, step: int) -> None:
        """Go back to the kept state that is nearest to a step."""
        if not self.told.kept or not self.process.running:
            return
        self._next = min(self.told.kept, key=lambda kept: abs(kept - step))
        if not self._going and not (self.told.paused and self._next == self.told.step):
            self._going = self.told.paused = True
            self.process.ask("back", step=self._next)
        self.changed.emit()  # also where it stands there already: the line, dropped beside it, comes to it

    def close(self) -> None:
        """End what runs and take its files away; what it cannot finish is kept beside its weights."""
        unfinished = self.process.running or self.resumable
        self.process.stop()
        if unfinished:
            keep(Path(self.folder.name), self.wanted, self.told)
        self.folder.cleanup()

    def _told(self, found: Mapping[str, Any]) -> None:
        t = self.told
        if (began := found.get("began")) is not None:
            t.total, t.steered = int(began["total"]), bool(began["steered"])
            t.choices, t.loss = tuple(began["losses"]), str(began["loss"])
            self.sentence = ""
        if (now := found.get("now")) is not None:
            t.loss, t.seed, t.drawn = str(now["loss"]), int(now["seed"]), now["drawn"]
        if found.get("steps"):
            self.sentence, self.bad = "", False
        t.hear(found)
        if "steps" in found:
            t.epoch, t.epochs, t.left = found["epoch"], found["epochs"], found["left"]
            t.total = int(found["total"])
        t.transform = str(found.get("transform", t.transform))
        if "back" in found:
            t.epoch = int(found["epoch"])
            wanted, self._going, self._next = self._next, False, None
            if wanted is not None and "trouble" not in found:
                self.back(wanted)
        if trouble := found.get("trouble"):
            self.sentence, self.bad, t.paused = str(trouble), True, True
        if "refused" in found:
            refused, self._going, self._next = str(found["refused"]), False, None
            self.warning = f"{refused[:1].upper()}{refused[1:].rstrip('.')}." if refused else ""
        if "live" in found:
            t.live = str(found["live"])
            self.shown.emit(t.live)
        self.changed.emit()

    def _done(self, path: str, figures: Mapping[str, float]) -> None:
        self.results = figures
        told = ", ".join(f"{name.replace('_', ' ')} {figure(value)}" for name, value in figures.items())
        self.sentence = f"Trained{': ' + told if told else ''}. The window shows the network with these weights."
        t = self.told
        t.goes_on(t.step + 1)  # what followed a step that it was taken back to is no part of what was written
        forget(self.wanted.path)
        t.total, t.paused = t.step, False  # it was as long as that, also where it was ended early
        self.over.emit(path)
        self.changed.emit()

    def _failed(self, sentence: str) -> None:
        self._cut = bool(sentence)
        if self.resumable:
            sentence += f" Play goes on from step {self.told.kept[-1]:,}, the last that is kept."
        self.sentence, self.bad = sentence or "Stopped; nothing was written.", bool(sentence)
        self.told.paused = False
        self.over.emit("")
        self.changed.emit()
