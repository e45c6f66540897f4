"""Tell of a training: a bar with the time left on the terminal, lines of JSON in a file."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from explorer.app.training.driving import Step
from explorer.work.progress import clock

EVERY_S = 0.1  # between two pictures of the bar
FLUSH_S = 0.05
WIDTH = 24


class TimeLeft:
    """Says how long the rest of the steps will take at the rate of the last ones."""

    def __init__(self) -> None:
        self._step, self._since, self._each = -1, 0.0, 0.0

    def seconds(self, step: int, total: int) -> float | None:
        """Return the seconds left, None where that is not known yet."""
        now = time.monotonic()
        if self._step < 0 or step < self._step:
            self._step, self._since = step, now
        elif step > self._step and now - self._since >= 0.5:
            each = (now - self._since) / (step - self._step)
            # a mean that forgets: the machine may be busier than it was
            self._each = each if self._each == 0 else 0.7 * self._each + 0.3 * each
            self._step, self._since = step, now
        return self._each * (total - step) if self._each and total else None

    def rest(self) -> None:
        """Count no time until steps are told of again: a pause is none that a step takes."""
        self._step = -1


class Bar:
    """A progress line that is redrawn in place on a terminal; anywhere else a line for each epoch."""

    def __init__(self, file: TextIO | None = None) -> None:
        self._file = file or sys.stderr
        self._moving = self._file.isatty()
        self._left = TimeLeft()
        self._last, self._epoch, self._long = 0.0, 0, 0

    def show(self, step: Step, last: bool = False) -> None:
        now = time.monotonic()
        over, self._epoch = step.epoch > self._epoch, step.epoch
        left = self._left.seconds(step.step, step.total)
        if not (last or (self._moving and now - self._last >= EVERY_S) or (over and not self._moving)):
            return
        self._last = now
        of = f"/{step.total:,}" if step.total else ""
        share = min(1.0, step.step / step.total) if step.total else 0.0
        full = round(share * WIDTH)
        parts = [
            f"[{'█' * full}{'·' * (WIDTH - full)}] {100 * share:3.0f} %" if step.total else "",
            f"step {step.step:,}{of}",
            f"epoch {step.epoch}/{step.epochs}" if step.epochs else "",
            *(f"{name} {value:.4f}" for name, value in step.losses.items()),
            f"{clock(left)} left" if left is not None and not last else "",
        ]
        text = "  ".join(part for part in parts if part)
        if self._moving:
            print(f"\r{text:<{self._long}}", end="", file=self._file, flush=True)
            self._long = len(text)
        else:
            print(text, file=self._file, flush=True)

    def end(self) -> None:
        if self._moving:
            print(file=self._file)


class Log:
    """Lines of JSON: of every step in a file, of as many as can be followed on the standard output."""

    def __init__(self, path: Path | None) -> None:
        """Begin a log; what the file held is taken over by `go_on`, or else replaced by the first line.

        Raises:
            OSError: the file cannot be written.
        """
        self._path = path
        self._file = sys.stdout if path is None else path.open("a+", encoding="utf-8")
        self._last, self._fresh = 0.0, path is not None
        self._told = False  # that it cannot be written any more

    def go_on(self, step: int) -> None:
        """Keep what is there of the steps up to this one, and take away the rest."""
        if self._path is None:
            return
        kept: list[str] = []
        self._file.seek(0)
        for line in self._file:
            try:
                found = json.loads(line)
            except ValueError:  # cut off in the middle
                break
            if not isinstance(found, dict) or found.get("step", step + 1) > step:
                break
            kept.append(line)
        self._file.truncate(0)
        self._file.writelines(kept)
        self.flush()
        self._fresh = False

    def step(self, step: Step) -> None:
        now = time.monotonic()
        if self._path is None and now - self._last < FLUSH_S:
            return
        self.line({"step": step.step, "epoch": step.epoch, "epochs": step.epochs, "losses": dict(step.losses)}, now)

    def line(self, found: Mapping[str, Any], now: float | None = None) -> None:
        """Write a line."""
        now = time.monotonic() if now is None else now
        with self._unless_full():
            if self._fresh:
                self._file.truncate(0)
                self._fresh = False
            print(json.dumps(found, ensure_ascii=False), file=self._file)
            if now - self._last >= FLUSH_S:
                self._last = now
                self._file.flush()

    def flush(self) -> None:
        with self._unless_full():
            self._file.flush()

    def close(self) -> None:
        self.flush()
        if self._path is not None:
            with suppress(OSError):
                self._file.close()

    @contextmanager
    def _unless_full(self) -> Iterator[None]:
        """Say once that the log cannot be written; a training does not end for that."""
        if self._told:
            return
        try:
            yield
        except OSError as error:
            if self._path is None:
                raise  # nobody listens any more
            self._told = True
            print(f"\nThe log {self._path} ends here: {(error.strerror or '').lower()}.", file=sys.stderr)
