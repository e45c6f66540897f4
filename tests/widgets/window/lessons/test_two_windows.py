"""Lessons of two windows, each of a program of its own, on one file of settings: what was done in either stays done."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSettings

from widgets.window.lessons.course import LESSONS, Course

FIRST = sorted(LESSONS.glob("*.json"))[0]


def written_by_another(path: Path, marks: str) -> None:
    """Write as another program does: a file in the place of the old one."""
    path.write_text(f"[lessons]\n{FIRST.stem}={marks}\n", encoding="utf-8")


def course(path: Path) -> Course:
    settings = QSettings(str(path), QSettings.Format.IniFormat)
    made = Course(settings)
    assert made.marks(FIRST) == ""  # what there is has been read
    return made


def test_a_lesson_done_in_another_window_stays_done(tmp_path: Path) -> None:
    """A first step done here made the whole lesson, done there, a lesson of which one step was done."""
    path = tmp_path / "settings.ini"
    here = course(path)
    written_by_another(path, "s0111")
    here.keep(FIRST, "1000")
    assert here.marks(FIRST) == "1111" and here.done(FIRST)


def test_what_another_window_has_done_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "settings.ini"
    here = course(path)
    written_by_another(path, "s1111")
    assert here.done(FIRST) and here.progress()[0] == 1


def test_a_lesson_that_is_begun_again_has_no_step_done(tmp_path: Path) -> None:
    here = course(tmp_path / "settings.ini")
    here.keep(FIRST, "1111")
    here.forget(FIRST)
    assert not here.done(FIRST)
    here.keep(FIRST, "0100")
    assert here.marks(FIRST) == "0100"
