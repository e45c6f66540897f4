"""Lists of what was opened before: what is gone is said, and looked for where it lay, before the person is asked."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QMenu

from explorer.app.thread.failures import path_in_sentence
from explorer.declare.states.model_name import told_apart
from widgets.base.settings import texts
from widgets.window.room.shell import Shell

MOST_RECENT = 10
MOST_LOOKED_AT = 2000  # entries of a folder in which a file that is gone is looked for


class Recents:
    """One list of the settings, the newest first.

    Args:
        key: of the settings.
        title: of an entry in the menu.
        path_of: the file or folder of an entry; "" of one that needs none.
        with_path: the entry of the same in another file.
        find: (title) -> a path, or "" where the person has thought better of it.
        open_: opens an entry whose file is there.
    """

    def __init__(
        self, shell: Shell, key: str, title: Callable[[str], str], path_of: Callable[[str], str],
        with_path: Callable[[str, str], str], find: Callable[[str], str], open_: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._shell, self._key = shell, key
        self._title, self._path_of, self._with_path = title, path_of, with_path
        self._find, self._open = find, open_

    def names(self) -> list[str]:
        """Return the entries, the newest first."""
        return texts(self._shell.settings, self._key)[:MOST_RECENT]

    def keep(self, name: str, gone: str = "") -> None:
        """Put an entry first, in place of another one that is gone."""
        names = [name, *(n for n in self.names() if n not in (name, gone))][:MOST_RECENT]
        self._shell.settings.setValue(self._key, names)
        seen = self._seen() | {path: mark for path in [self._path_of(name)] if (mark := _mark(path))}
        held = {self._path_of(n) for n in names}
        kept = json.dumps({path: mark for path, mark in seen.items() if path in held})
        self._shell.settings.setValue(f"{self._key}_seen", kept)

    def fill(self, menu: QMenu) -> None:
        menu.clear()
        for name, title in told_apart(self.names(), self._title).items():
            path = self._path_of(name)
            gone = "" if not path or os.path.exists(path) else "  (gone)"
            said = f"{path_in_sentence(title)}{gone}".replace("&", "&&")
            menu.addAction(said, partial(self.choose, name)).setToolTip(path_in_sentence(name))
        if menu.isEmpty():
            menu.addAction("Nothing yet").setEnabled(False)
        else:
            menu.addSeparator()
            menu.addAction("Clear this list", lambda: self._shell.settings.remove(self._key))

    def choose(self, name: str) -> None:
        """Open an entry; say what of it is gone, and offer what may be it."""
        path = self._path_of(name)
        if not path or os.path.exists(path):
            self._open(name)
            return
        file, folder = os.path.basename(path), os.path.dirname(path)
        if not os.path.isdir(folder):
            told, twin = f"The folder {folder}, where {file} lay, is no longer there.", ""
        elif twin := _twin(path, self._seen().get(path)):
            told = f"{file} is no longer in {folder}; {os.path.basename(twin)} there has its size and date."
        else:
            told = f"{file} is no longer in {folder}."
        if twin:
            self._shell.offer(told, f"Open {os.path.basename(twin)}", partial(self._in_place_of, name, twin))
        else:
            self._shell.offer(told, "Find it…", partial(self._ask, name, file))

    def _ask(self, name: str, file: str) -> None:
        if path := self._find(f"Find {file}"):
            self._in_place_of(name, path)

    def _in_place_of(self, gone: str, path: str) -> None:
        name = self._with_path(gone, path)
        self.keep(name, gone)
        self._open(name)

    def _seen(self) -> dict[str, list[int]]:
        """Return the size and the time of each file when it was opened last."""
        try:
            found = json.loads(str(self._shell.settings.value(f"{self._key}_seen", "{}")))
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


def _mark(path: str) -> list[int]:
    """Return the size of a file and when it was written, neither of which another name changes; [] of none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return []
    return [found.st_size, found.st_mtime_ns]


def _twin(path: str, mark: object) -> str:
    """Return what has the size and the time that a file in its folder had, if it is one alone; "" else."""
    if not mark:
        return ""
    gone, found = Path(path), []
    try:
        for k, entry in enumerate(os.scandir(gone.parent)):
            if k == MOST_LOOKED_AT:
                return ""
            if Path(entry.name).suffix.lower() == gone.suffix.lower() and _mark(entry.path) == mark:
                found.append(entry.path)
    except OSError:
        return ""
    return found[0] if len(found) == 1 else ""
