"""The window as a picture, without a person: opened, waited for, saved, closed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QEventLoop, QSettings, QTimer
from PySide6.QtGui import QPixmap

from explorer.app.thread.orders import Engine
from explorer.square.frame import Failure, Frame, OrbitCurve
from explorer.state.state import State
from explorer.work.files.begun import begun
from explorer.work.files.replacing import write_whole
from explorer.work.processes.asked_to_end import give_way, held, wished
from widgets.base.look import theme
from widgets.base.view import View
from widgets.window.app import Collector, application
from widgets.window.main_window import MainWindow

TIMEOUT_S = 180.0


class NoPicture(RuntimeError):
    """The engine failed or took too long; the message says which."""


def grab_window(
    start_engine: Callable[[], Engine],
    state: State,
    size: tuple[int, int] = (1280, 800),
    theme_name: str = "light",
    path: str | Path = "window.png",
    *,
    orbit: bool = True,
    prepare: Callable[[MainWindow], None] | None = None,
    timeout: float = TIMEOUT_S,
) -> Path:
    """Save the whole window as a PNG, once the frame of `state` and (with `orbit`) its curves are complete.

    `prepare` is called with the window before it is shown, to bring a panel to the front, say. The person's
    settings are neither read nor written.

    Raises:
        NoPicture: the engine could not start or answer, or `timeout` seconds have passed.
    """

    def ready(window: MainWindow) -> None:
        if prepare is not None:
            prepare(window)

    visit_window(
        start_engine, state, [state], None, size=size, theme_name=theme_name, path=path, orbit=orbit, ready=ready,
        timeout=timeout,
    )  # fmt: skip
    return Path(path)


def visit_window(
    start_engine: Callable[[], Engine],
    state: State,
    states: Sequence[State],
    visit: Callable[[MainWindow], None] | None,
    *,
    size: tuple[int, int] = (1280, 800),
    theme_name: str = "light",
    path: str | Path | None = None,
    orbit: bool = True,
    ready: Callable[[MainWindow], None] | None = None,
    timeout: float = TIMEOUT_S,
) -> None:
    """Open one window, go through `states`, and call `visit` at each when its frame and curves are complete.

    With `path` the window is saved there at the last state. The person's settings are neither read nor written.

    Raises:
        NoPicture: the engine could not start or answer, or `timeout` seconds have passed at one state.
    """
    app = application(())
    collector = Collector()
    before = theme.current().name
    with held(), tempfile.TemporaryDirectory() as folder, begun(Path(folder)):
        settings = QSettings(str(Path(folder, "settings.ini")), QSettings.Format.IniFormat)
        settings.setValue("theme", theme_name)
        window = MainWindow(start_engine, state, settings)
        picture: QPixmap | None = None
        try:
            window.resize(*size)
            window.docks.reset()
            if ready is not None:
                ready(window)
            window.show()
            for k, wanted in enumerate(states):
                _wait(window, wanted if k else None, orbit, timeout)
                if visit is not None:
                    visit(window)
                    _settle(window)  # what came to the front again is drawn coarsely at first
            if path is not None:
                picture = window.grab()
        finally:
            window.close()
            window.deleteLater()
            app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            collector.stop()
            theme.use(before)
    if picture is not None and path is not None:
        _save(picture, Path(path))


def _wait(window: MainWindow, state: State | None, orbit: bool, timeout: float) -> None:
    """Run the event loop until there is nothing left to wait for; `state` None is the one it was opened with."""
    loop = QEventLoop()
    trouble: list[str] = []
    complete: set[str] = set()
    shown: list[Frame] = []

    def measured() -> bool:
        return bool(shown) and all(len(s.measures) == len(s.layers) for s in shown[-1].squares)

    def check() -> None:
        wanted = {square.model for square in shown[-1].squares} if shown else {""}
        if measured() and not window.controller.waiting and (not orbit or wanted <= complete):
            loop.quit()

    def frame_came(frame: Frame) -> None:
        shown.append(frame)
        check()

    def orbit_came(curves: tuple[OrbitCurve, ...]) -> None:
        complete.clear()
        complete.update(curve.model for curve in curves if curve.done >= len(curve.values))
        check()

    def failed(failure: Failure) -> None:
        # without its curve the window is still a picture
        if failure.where == "orbit" and shown:
            loop.quit()
        else:
            trouble.append(failure.sentence)
            loop.quit()

    def too_late() -> None:
        if not measured():  # else only the curve is missing, or a part of it
            what = "not every layer was measured" if shown else "nothing was drawn"
            trouble.append(f"{what} within {timeout:g} seconds: take a smaller input")
        loop.quit()

    controller = window.controller
    heard = (
        (controller.frame_ready, frame_came),
        (controller.orbit_ready, orbit_came),
        (controller.failed, failed),
        (controller.engine_lost, failed),
    )
    for signal, slot in heard:
        signal.connect(slot)
    limit = QTimer(singleShot=True, interval=round(timeout * 1000))
    limit.timeout.connect(too_late)
    limit.start()
    if state is None:
        controller.begin()
    else:
        controller.open_state(state)
    asked = QTimer(interval=100)  # Qt may wait for long before Python runs again, which hears of a wish to end
    asked.timeout.connect(lambda: loop.quit() if wished() else None)
    asked.start()
    loop.exec()
    asked.stop()
    limit.stop()
    for signal, slot in heard:
        signal.disconnect(slot)
    give_way()
    if trouble:
        raise NoPicture(trouble[0])
    window.panes.complete(give_way)
    _settle(window)


def _settle(window: MainWindow) -> None:
    """Bring every view to the newest frame, and those that are seen to their finest."""

    def settle(view: View) -> None:
        give_way()  # on a busy machine each takes seconds
        view.catch_up()
        if view.isVisible():
            view.settle()

    window.panes.each(settle)
    loop = QEventLoop()
    QTimer.singleShot(0, loop.quit)  # one more round, in which the views lay themselves out
    loop.exec()


def _save(picture: QPixmap, path: Path) -> Path:
    from PySide6.QtCore import QBuffer, QByteArray, QIODevice

    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.save(buffer, "PNG")
    buffer.close()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, bytes(data.data()))
    return path
