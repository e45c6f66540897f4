"""Views of maps, shown with frames of changed squares."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from explorer.square.frame import Frame
from tests.widgets.parts.frames.sample_frames import make_frame, make_square
from widgets.base.view import View


def shown(qtbot: QtBot, view: View, frame: Frame | None, size: tuple[int, int] = (1200, 800)) -> list[str]:
    """Show the view with a frame and return the list that its read-outs go to."""
    qtbot.addWidget(view)
    view.resize(*size)
    with qtbot.waitExposed(view):
        view.show()
    view.set_frame(frame)
    words: list[str] = []
    view.hovered.connect(words.append)
    return words


def frame_of(*changes: dict[str, Any]) -> Frame:
    """Return a frame with one square for each dictionary of changed fields."""
    models = ("d4-cnn", "plain-cnn")
    squares = tuple(replace(make_square(m), **change) for m, change in zip(models, changes))
    return replace(make_frame(), squares=squares)


def sentence(view: View) -> str:
    texts = [label.text() for label in view.findChildren(QLabel) if label.isVisible()]
    return " ".join(texts)


def same_items(view: Any) -> None:
    """Give a view frame after frame and assert that nothing is made anew."""
    frames = (make_frame(compare=True), make_frame(), None)
    view.set_frame(frames[0])

    def items() -> list[int]:
        return [id(item) for grid in view.grids for item in grid.scene().items()]

    before, children = items(), len(view.findChildren(QLabel))
    for k in range(51):
        view.set_frame(frames[k % 3])
    assert items() == before and len(view.findChildren(QLabel)) == children
