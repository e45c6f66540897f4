"""Keep the files of a training while it runs where another window finds them if this one is killed."""

from __future__ import annotations

import contextlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from PySide6.QtCore import QLockFile

from explorer.work.files.places import cache_folder
from widgets.window.training.kept import KEPT, plan_of, put_beside, recover
from widgets.window.training.told import Wanted

PREFIX, LOCK, NOTE = "training-", "window.lock", "wanted.json"
_ours: set[str] = set()  # folders of this program's own trainings


@dataclass(frozen=True, slots=True)
class Left:
    """A training that ended with its window: it is kept beside its weights now.

    Attributes:
        path: of the weights, which are not written yet.
    """

    path: Path
    model: str
    step: int


class Place:
    """The folder of one training, locked for as long as its window lives.

    Attributes:
        name: its path.
    """

    def __init__(self, wanted: Wanted) -> None:
        home: Path | None = _home()
        try:
            _home().mkdir(parents=True, exist_ok=True)
        except OSError:
            home = None  # then where files of a moment are, and nobody looks for it
        self._folder = TemporaryDirectory(prefix=PREFIX, dir=home, ignore_cleanup_errors=True)
        self.name = self._folder.name
        _ours.add(self.name)
        self._lock = _lock(Path(self.name))
        self._lock.tryLock(0)
        with contextlib.suppress(OSError):  # a disk that is full is told of with the first step that is not kept
            note = {"path": str(wanted.path.absolute()), "examples": wanted.examples}
            (Path(self.name) / NOTE).write_text(json.dumps(note), encoding="utf-8")  # last: it is locked by then

    def cleanup(self) -> None:
        """Take it away."""
        self._lock.unlock()
        self._folder.cleanup()
        _ours.discard(self.name)


def written_by_others() -> set[Path]:
    """Return the files that trainings of windows of other programs will write: two must not write the same."""
    found = set()
    for note in _home().glob(f"{PREFIX}*/{NOTE}"):
        if str(note.parent) in _ours:
            continue
        lock = _lock(note.parent)
        if lock.tryLock(0):  # its window is gone
            lock.unlock()
        elif (wanted := _noted(note.parent)) is not None:
            found.add(wanted[0])
    return found


def find() -> list[Left]:
    """Put what is left of trainings whose windows are gone beside their weights; return what there is of them."""
    found = []
    for note in sorted(_home().glob(f"{PREFIX}*/{NOTE}")):
        folder, lock = note.parent, _lock(note.parent)
        if not lock.tryLock(0):
            continue  # its window is there
        left = _taken_home(folder)
        lock.unlock()
        if left is not None:
            found.append(left)
        if left is not None or not plan_of(folder / KEPT):  # what cannot be put anywhere stays for another time
            shutil.rmtree(folder, ignore_errors=True)
    return found


def _taken_home(folder: Path) -> Left | None:
    made = folder / KEPT
    if (wanted := _noted(folder)) is None:
        return None
    path, examples = wanted
    plan = plan_of(made)
    if not plan or not path.parent.is_dir():
        return None
    recover(folder, examples)
    return Left(path, str(plan["model"]), plan["step"]) if put_beside(folder, path) else None


def _noted(folder: Path) -> tuple[Path, str] | None:
    """Return where a training writes its weights and what it learns, None where that cannot be read."""
    try:
        note = json.loads((folder / NOTE).read_text(encoding="utf-8"))
        return Path(note["path"]), str(note["examples"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _home() -> Path:
    return cache_folder() / "trainings"


def _lock(folder: Path) -> QLockFile:
    lock = QLockFile(str(folder / LOCK))
    lock.setStaleLockTime(0)  # however old it is: it is another's until that process has ended
    return lock
