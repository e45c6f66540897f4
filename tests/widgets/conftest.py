"""GUI tests leave nothing behind: no window, running timer, thread or process, nor a user's setting."""

from __future__ import annotations

import gc
import multiprocessing
import threading
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from explorer.work.memory import HOME
from tests.conftest import toolkits_are_absent

if toolkits_are_absent():
    raise pytest.UsageError("GUI tests need a process of their own: run `pytest tests/widgets`, or `make test-gui`")

import shiboken6
from PySide6.QtCore import QEvent, QSettings, QThread, QThreadPool, QTimer
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QWidget

from tests.widgets.parts.driving import display
from tests.widgets.parts.driving.windows import open_window, start  # noqa: F401  (fixtures)
from widgets.spaces.mesh.drawing import pyvista_import

display.open_one()  # before there is an application

WAIT_S = 2.0  # for a thread that has been told to stop
IMPORT_S = 60.0  # for an import, which stops by itself and happens once

MANY = 10_000  # objects; drawing surfaces imports five times as many

FAILED = pytest.StashKey[bool]()

# Made by Qt itself, one for the whole application, and never destroyed.
SHARED_BY_QT = frozenset({"QTipLabel", "QWhatsThat"})


@pytest.fixture(scope="session", autouse=True)
def private_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the tests out of the user's settings, and those out of the tests."""
    folder = tmp_path_factory.mktemp("settings")
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
            patch.setenv(variable, str(folder))
        QSettings.setDefaultFormat(QSettings.Format.IniFormat)
        for form in (QSettings.Format.NativeFormat, QSettings.Format.IniFormat):
            QSettings.setPath(form, QSettings.Scope.UserScope, str(folder))
        yield


@pytest.fixture(scope="session", autouse=True)
def collect_here() -> Iterator[None]:
    """Collect cycles on this thread only, as the program does.

    Python collects on whichever thread happens to allocate, and Qt objects destroyed on the worker's crash.
    """
    gc.collect()
    gc.disable()
    # What is imported by now stays for good: without it a collection after each test takes milliseconds.
    gc.freeze()
    yield
    gc.unfreeze()
    gc.enable()


@pytest.fixture(autouse=True)
def pointer_is_away(qapp: QApplication) -> None:
    """Put the pointer where no window opens: one test's last move lies over what the next one shows, and enters it."""
    QCursor.setPos(qapp.primaryScreen().geometry().bottomRight())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Remember whether the test failed, for `nothing_left`."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture(autouse=True)
def nothing_left(qapp: QApplication, request: pytest.FixtureRequest, collect_here: None) -> Iterator[None]:
    """Fail a test that leaves something behind, and name it. First set up, this is torn down last."""
    gc.disable()  # again, should the test before have enabled it
    if len(gc.get_objects()) > MANY:
        gc.freeze()  # what the test before has imported stays, too: a collection would go through it three times a test
    before = _alive().keys()
    yield
    _settle(qapp)
    left = [thing for key, thing in _alive().items() if key not in before and not _stops_soon(thing)]
    if not left:
        return
    stories = [f"  {_describe(thing)}" for thing in left]
    while left:
        _remove(left.pop())
    _settle(qapp)
    # The traceback of a failed test holds its local variables, so its windows could not go.
    if not request.node.stash.get(FAILED, False):
        if not tracemalloc.is_tracing():
            stories.append("  (PYTHONTRACEMALLOC=10 in the environment shows where each was made)")
        pytest.fail("left behind by this test:\n" + "\n".join(stories), pytrace=False)


def _settle(qapp: QApplication) -> None:
    """Carry out what is pending: deleteLater(), queued signals, and what their collection sets free."""
    for _ in range(3):
        qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        qapp.processEvents()
        gc.collect()


def _alive() -> dict[object, Any]:
    """Return all that a test can leave behind, by a key that does not keep it alive."""
    things: dict[object, Any] = {}
    for widget in QApplication.topLevelWidgets():
        # A popup with a parent goes with it, so that naming the parent is enough.
        if widget.parent() is None and widget.metaObject().className() not in SHARED_BY_QT:
            things["widget", shiboken6.getCppPointer(widget)] = widget
    for thing in gc.get_objects():
        # Not isinstance(), which runs the code of proxies that answer for their __class__.
        match type(thing):
            case kind if issubclass(kind, QTimer) and shiboken6.isValid(thing) and thing.isActive():
                things["timer", id(thing)] = thing
            case kind if issubclass(kind, QThread) and shiboken6.isValid(thing) and thing.isRunning():
                things["thread", id(thing)] = thing
    for running in (*threading.enumerate(), *multiprocessing.active_children()):
        if running.name != HOME:  # it is there as long as a surface that is kept has factors
            things["running", running.ident] = running
    if pool := QThreadPool.globalInstance().activeThreadCount():
        things["pool", pool] = QThreadPool.globalInstance()
    return things


def _stops_soon(thing: Any) -> bool:
    """Wait for what may be on its way out already, and say whether it went."""
    match thing:
        case threading.Thread() | multiprocessing.process.BaseProcess():
            thing.join(IMPORT_S if thing.name == pyvista_import.NAME else WAIT_S)
            return not thing.is_alive()
        case QThread():
            return thing.wait(round(WAIT_S * 1000))
        case QThreadPool():
            return thing.waitForDone(round(WAIT_S * 1000))
        case _:
            return False


def _describe(thing: Any) -> str:
    match thing:
        case QWidget():
            shown = "visible" if thing.isVisible() else "hidden"
            text = f"window {_class(thing)} {thing.objectName()!r} titled {thing.windowTitle()!r}, {shown}"
        case QTimer():
            owner = f"of {_class(thing.parent())}" if thing.parent() else "without a parent"
            text = f"running {_class(thing)} {thing.objectName()!r} {owner}, every {thing.interval()} ms"
        case threading.Thread():
            text = f"thread {thing.name!r} of {_class(thing)}"
        case multiprocessing.process.BaseProcess():
            text = f"process {thing.name!r}, pid {thing.pid}"
        case _:
            text = f"running {_class(thing)}"
    if origin := tracemalloc.get_object_traceback(thing):
        text += "\n    made at\n      " + "\n      ".join(origin.format())
    return text


def _class(thing: object) -> str:
    return f"{type(thing).__module__}.{type(thing).__qualname__}"


def _remove(thing: Any) -> None:
    """Get it out of the way of the next tests; a thread can only be left alone."""
    match thing:
        case QWidget():
            thing.close()
            thing.deleteLater()
        case QTimer():
            thing.stop()
        case multiprocessing.process.BaseProcess():
            thing.kill()
            thing.join()
