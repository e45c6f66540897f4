"""A training that is kept, told of and shown beside the bare loop of torch; how long the window is held up by it.

Ratios are of processor time, taken in turns, so that other work on the machine hits all alike. How long it takes until
a step that was gone back to is drawn is wall time of a window with its training: it means something on a machine that
is quiet, and the processor time of this process is beside it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any

STEPS = 41  # of one epoch over the digits
CARD = "plain-cnn"
P99_MS, BACK_MS = 16.0, 200.0
WATCH_S = 12.0
BACKS = 5  # ways there and back
UNWATCHED, WATCHED = 1.05, 1.15


def run(rounds: int = 5) -> list[dict[str, Any]]:
    """Return ratios to the bare loop, the time of going back, and of the turns of the window's event loop."""
    from benchmarks.parts.timing import interleaved, ratio

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        peers: dict[str, Callable[[], object]] = {
            "bare": _bare,
            "driven": lambda: _driven(folder, False),
            "watched": lambda: _driven(folder, True),
        }
        times = interleaved(peers, rounds, warmup=1, clock=time.process_time)
        rows: list[dict[str, Any]] = [
            {"what": f"{CARD}, {text}", "ms": 1e3 * statistics.median(times[peer]), "peer": "a bare loop",
             "peer_ms": 1e3 * statistics.median(times["bare"]), "ratio": ratio(times, peer, "bare"), "target": target}
            for peer, text, target in (
                ("driven", "kept, nothing watched", UNWATCHED),
                ("watched", "layers measured, network shown", WATCHED),
            )
        ]  # fmt: skip
        rows.append(_back(folder))
    return [*rows, *_window()]


def _bare() -> None:
    """Train for an epoch without the program: what `models.training.images.digits` does, written out."""
    import torch
    from torch.nn import functional as F

    import main
    from explorer.spaces.grid.samples import digit_images

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        images, labels = (torch.tensor(part) for part in digit_images.load("train"))
        network = main.cards()[CARD].build().train()
        chance = torch.Generator().manual_seed(0)
        optimizer = torch.optim.AdamW(network.parameters(), lr=4e-3, weight_decay=1e-2)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=STEPS, pct_start=0.2)
        for rows in torch.randperm(len(images), generator=chance).split(32):
            loss = F.cross_entropy(network(images[rows]), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            loss.item()
    finally:
        torch.set_num_threads(threads)


class _Ended(Exception):
    """Raised after the last step: judging is no part of the loop."""


def _live(folder: Path, watched: bool, over: Callable[[Any], None]) -> Any:
    import main
    from explorer.app.training.driving import Drive
    from explorer.app.training.live import Live

    class Steered(Live):
        def stepped(self, drive: Drive) -> None:
            super().stepped(drive)
            over(drive)

    args = argparse.Namespace(
        live=str(folder), epochs=1, seed=0, rate=1.0, steps=None, loss="", errors=int(watched), transform="rotate:90",
        resume=False,
    )  # fmt: skip
    card = main.cards()[CARD]
    steered = Steered(card, args, folder / "w.safetensors", SimpleQueue(), lambda _: None)
    steered._watched = watched
    return steered


def _driven(folder: Path, watched: bool) -> None:
    """Train for an epoch as the window does."""

    def over(drive: Any) -> None:
        if drive.course.at == STEPS:
            raise _Ended

    try:
        _live(folder, watched, over).run()
    except _Ended:
        pass


def _back(folder: Path) -> dict[str, Any]:
    """Return how long it takes to go back to a checkpoint, the network of it shown."""
    taken: list[float] = []

    def over(drive: Any) -> None:
        if drive.course.at == 20 and len(taken) < 10:
            start = time.perf_counter()
            live._do(drive, {"do": "back", "step": live.keeper.ring.steps[0]})
            live._paused = False
            taken.append(1e3 * (time.perf_counter() - start))
        if drive.course.at == 21:
            raise _Ended

    live = _live(folder, False, over)
    try:
        live.run()
    except _Ended:
        pass
    return {"what": "back to a checkpoint", "ms": statistics.median(taken), "target": BACK_MS}


@contextmanager
def _no_display() -> Iterator[None]:
    before = os.environ.get("QT_QPA_PLATFORM")
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("QT_QPA_PLATFORM", None)


def _window() -> list[dict[str, Any]]:
    """Return the 99th percentile of the processor time of a turn of the event loop while a network learns."""
    with _no_display():
        from PySide6.QtCore import QSettings
        from PySide6.QtWidgets import QApplication

        import main
        from explorer.app.answering.engine import LocalEngine
        from explorer.state.state import State
        from explorer.work.threads import leave_a_core
        from widgets.window.app import Collector
        from widgets.window.main_window import MainWindow

        app = QApplication.instance() or QApplication([])
        assert isinstance(app, QApplication)

        def start() -> LocalEngine:
            leave_a_core()  # as the window of the program does: torch's threads would wait for each other
            return LocalEngine(main.cards())

        collector = Collector()  # as the program runs: Python's own would collect everything within some turn
        with tempfile.TemporaryDirectory() as name:
            settings = QSettings(str(Path(name) / "s.ini"), QSettings.Format.IniFormat)
            window = MainWindow(start, State(CARD, device="cpu"), settings)
            window.resize(1280, 800)
            window.show()
            window.controller.begin()
            _turns(app, lambda: window.controller.frame is not None and not window.controller.waiting, 120.0)
            _turns(app, lambda: False, 3.0)  # what follows in idle time
            collector.settle()
            window.menus.actions["train"].trigger()
            page = window.files.trainer.page
            assert page is not None
            page.path.folder = Path(name)
            page.epochs.setValue(1000)  # it must not be over before it is gone back in
            page.follow.setChecked(False)
            page.start()
            _turns(app, lambda: page.runs[0].told.step > 5, 120.0)
            rows = []
            for watched in (False, True):
                page.follow.setChecked(watched)
                turns = sorted(_turns(app, lambda: False, WATCH_S))
                what = "the network shown" if watched else "the loss drawn"
                rows.append({"what": f"p99 of a turn, {what}", "ms": turns[int(0.99 * len(turns))], "target": P99_MS})
            rows.append(_drawn_again(app, window, page))
            window.close()
        collector.stop()
    return rows


def _drawn_again(app: Any, window: Any, page: Any) -> dict[str, Any]:
    """Return how long it takes from the slider until the network of the step that it names is drawn."""
    run = page.runs[0]
    _turns(app, lambda: len(run.told.kept) > 1, 60.0)
    page.toggle()
    _turns(app, lambda: False, 3.0)  # until it stands and is drawn

    def shown() -> list[float] | None:
        frame = window.controller.frame
        return None if frame is None or window.controller.waiting else frame.squares[0].output.tolist()

    taken, spent = [], []
    for k in range(2 * BACKS):
        step, before = run.told.kept[-(k % 2)], shown()
        start, used, own = time.perf_counter(), time.process_time(), time.thread_time()
        page.time.setValue(step)
        page.time.sliderMoved.emit(step)
        turns = _turns(app, partial(_other, shown, before), 30.0)
        taken.append(1e3 * (time.perf_counter() - start))
        # without the turns that only asked whether it is there: the longer the machine keeps it waiting, the more
        others = (time.process_time() - used) - (time.thread_time() - own)
        spent.append(1e3 * others + sum(turns))
        _turns(app, lambda: False, 1.0)  # what follows in idle time
    what = "back to a checkpoint, drawn"
    return {"what": what, "ms": statistics.median(taken), "target": BACK_MS, "processor_ms": statistics.median(spent)}


def _other(shown: Callable[[], list[float] | None], before: list[float] | None) -> bool:
    return shown() not in (None, before)


def _turns(app: Any, until: Callable[[], bool], longest: float) -> list[float]:
    """Return the milliseconds of processor time of this thread in each turn of the event loop that did something."""
    end, found = time.monotonic() + longest, []
    while time.monotonic() < end and not until():
        start = time.thread_time()
        app.processEvents()
        spent = 1e3 * (time.thread_time() - start)
        if spent > 0.05:
            found.append(spent)
        time.sleep(0.002)
    return found or [0.0]
