"""Settings: the place where the program remembers how a person likes it."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QSettings, QTimer, Signal

from explorer.work.files.replacing import is_device, keep_aside

LOOK_MS = 2000  # between two looks at whether the settings can be written
MOST_TEXTS = 1000  # of a list, of which no person has made more by hand
ASIDE = "kept_aside"  # property of damaged settings: the name of the copy
SETTINGS = "EQUISCOPE_SETTINGS"  # environment: the path of an INI file in place of the person's own settings


def open_settings() -> QSettings:
    """Return where layout, theme, recent files and columns are remembered."""
    path = os.environ.get(SETTINGS)
    if path and is_device(Path(path)):
        path = _forgotten()  # Qt would put a file in the place of /dev/null
    return QSettings(path, QSettings.Format.IniFormat) if path else QSettings("equiscope", "equiscope")


def _forgotten() -> str:
    """Return a file that is gone when the program ends."""
    folder = tempfile.mkdtemp(prefix="equiscope-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return str(Path(folder, "settings.ini"))


def texts(settings: QSettings, key: str) -> list[str]:
    """Return a list of texts that was kept; what is none is left out, whatever the file has come to hold."""
    settings.sync()  # another program of ours may have added to it, and what is written next replaces the list
    value: Any = settings.value(key, [])
    # an INI file gives a list of one back as text
    found = [value] if isinstance(value, str) else value if isinstance(value, Iterable) else []
    return [text for text in islice(found, MOST_TEXTS) if isinstance(text, str) and text]


def trouble(settings: QSettings) -> str:
    """Return in a sentence what is wrong with the file of the settings, "" where it can be read and written."""
    name = settings.fileName()
    if settings.status() == QSettings.Status.FormatError:
        kept = settings.property(ASIDE)
        if kept is None:  # before Qt writes the file again
            copy = keep_aside(Path(name))
            settings.setProperty(ASIDE, kept := copy.name if copy is not None else "")
        more = f", and {kept} beside it holds the file as it was" if kept else ""
        return f"The settings in {name} are damaged: what can be read of them is used{more}."
    if settings.status() == QSettings.Status.AccessError or (Path(name).is_file() and not settings.isWritable()):
        return f"The settings in {name} cannot be read or written: what you choose is forgotten when the window closes."
    return ""


class Watch(QObject):
    """Looks now and then whether the settings of an open window are still kept: a disk fills, a folder goes.

    Qt writes them by itself a moment after each choice, and says nothing where it cannot. What could not be written
    is written with the next choice that can be, or when it is seen that the folder is back.
    """

    found = Signal(str)  # once, what is wrong
    back = Signal(str)  # that they are kept again

    def __init__(self, settings: QSettings, parent: QObject, busy: Callable[[], bool], also: str = "") -> None:
        """Watch.

        Args:
            busy: whether an answer is awaited, which takes back what is said before it.
            also: what else was wrong from the start.
        """
        super().__init__(parent)
        self._settings, self._busy, self._also = settings, busy, also
        self.told = ""
        self._lost = False
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(lambda: None if self._busy() else self.look())
        self._timer.start()

    def look(self) -> str:
        """Return what has gone wrong since the last look, "" where nothing has, and say so."""
        if self._lost:
            self._look_again()
            return ""
        wrong = "" if self.told else trouble(self._settings)
        if self.told or not (found := " ".join(filter(None, (wrong, self._also)))):
            return ""
        self.told = found
        self._lost = bool(wrong) and self._settings.status() != QSettings.Status.FormatError
        self.found.emit(found)
        return found

    def _look_again(self) -> None:
        # what Qt has once found wrong stays with its object, however well it writes since
        fresh = QSettings(self._settings.fileName(), self._settings.format())
        fresh.sync()
        if not trouble(fresh):
            self._settings, self._lost, self.told, self._also = fresh, False, "", ""
            self.back.emit(f"The settings in {fresh.fileName()} are kept again.")
