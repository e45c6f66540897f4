"""The lessons that come with the program, in their order, and how far a person has come in them."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSettings

from explorer.state.lessons.walk import Walk
from explorer.state.session import Session, SessionError, load_session
from explorer.work.files.places import RESOURCES, whole

LESSONS = whole(RESOURCES / "lessons")
PREFIX = "lessons"  # of the settings


class Course:
    """Lists lessons; each file is read once, when something is first asked of it."""

    def __init__(self, settings: QSettings) -> None:
        self._settings = settings
        self._read: dict[Path, Session | None] = {}
        self._paths: list[Path] = []

    def paths(self) -> list[Path]:
        """Return the files in their order. They come with the program: a hundred steps must not list them anew."""
        if not self._paths and LESSONS.is_dir():
            self._paths = sorted(LESSONS.glob("*.json"))
        return self._paths

    def session(self, path: Path) -> Session | None:
        """Return a lesson, None where it cannot be read: opening it says why."""
        if path not in self._read:
            try:
                self._read[path] = load_session(path)
            except (SessionError, OSError):
                self._read[path] = None
        return self._read[path]

    def number(self, path: Path) -> int:
        """Return the place of a lesson, counted from 1; 0 for a file of somebody's own."""
        paths, path = self.paths(), whole(path)  # it may be named from where the program was started
        return paths.index(path) + 1 if path in paths else 0

    def beside(self, path: Path, by: int) -> Path | None:
        """Return the lesson before or behind another one."""
        paths, number = self.paths(), self.number(path)
        at = number - 1 + by
        return paths[at] if number and 0 <= at < len(paths) else None

    def marks(self, path: Path) -> str:
        """Return which steps of a lesson were done, as `Walk.marks` wrote it."""
        if not self.number(path):
            return ""
        self._settings.sync()  # another window, of a program of its own, may have come further
        return str(self._settings.value(f"{PREFIX}/{path.stem}", "")).removeprefix("s")

    def keep(self, path: Path, marks: str) -> None:
        """Remember which steps are done; what another window has seen done of them stays."""
        before = self.marks(path)
        if len(before) == len(marks):
            marks = "".join("1" if "1" in pair else "0" for pair in zip(before, marks, strict=True))
        self._put(path, marks)

    def forget(self, path: Path) -> None:
        """Take a lesson for one of which no step is done."""
        self._put(path, "")

    def _put(self, path: Path, marks: str) -> None:
        if self.number(path):
            # a letter before it, so that no reader of settings takes it for a number
            self._settings.setValue(f"{PREFIX}/{path.stem}", f"s{marks}")

    def done(self, path: Path) -> bool:
        """Return whether all steps of a lesson were done; a lesson that notices nothing never is."""
        session = self.session(path)
        return session is not None and bool(session.tasks) and self.walk(path, session).finished

    def walk(self, path: Path, session: Session) -> Walk:
        """Return the way through a lesson, as far as it was gone before."""
        return Walk(session.tasks, self.marks(path))

    def progress(self) -> tuple[int, int]:
        """Return how many lessons are done, and of how many."""
        paths = self.paths()
        return sum(map(self.done, paths)), len(paths)
