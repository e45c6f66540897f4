"""Base of the views that draw a part of each frame: what was told is kept, what is missing is said, the rest drawn."""

from __future__ import annotations

from typing import Generic, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QStackedLayout, QWidget

from explorer.square.frame import Frame, Square
from explorer.state.catalogue import Catalogue
from explorer.state.state import State
from widgets.base.theme import current
from widgets.base.view import View

Part = TypeVar("Part")


class FrameView(View, Generic[Part]):
    """Keeps the frame, the state and the catalogue told last, and draws the parts of the frame that it is about.

    A subclass returns its `parts`, draws them in `draw`, and shows a sentence in their place in `show_empty`; `missing`
    names further reasons for a sentence. The state is that of the frame until somebody calls `set_state`.
    """

    NOTHING = ""  # the sentence while there is no frame
    NONE = ""  # the sentence where the frame has no such part
    FOLLOWS: tuple[str, ...] = ()  # fields of the state that are drawn at once, before the frame that answers them

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.frame: Frame | None = None
        self.state = State()
        self.told = False  # whether the state was told by itself, not with a frame
        self.catalogue: Catalogue | None = None

    # what comes in --------------------------------------------------------------------------------------------
    def show_frame(self, frame: Frame | None) -> None:
        self.frame = frame
        if frame is not None and not self.told:
            self.state = frame.state
        self.refresh()

    def set_state(self, state: State) -> None:
        before, self.state, self.told = self.state, state, True
        if any(getattr(before, name) != getattr(state, name) for name in self.FOLLOWS):
            self._when_visible("state", self.follow)

    def show_catalogue(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue

    @property
    def squares(self) -> tuple[Square, ...]:
        """The squares that are shown beside each other."""
        return self.frame.squares[: self.MOST] if self.frame is not None else ()

    def refresh(self) -> None:
        """Draw the parts, or say why there are none."""
        parts = self.parts()
        sentence = self.reason(parts)
        if sentence:
            self.show_empty(sentence)
        else:
            self.draw(parts)

    def reason(self, parts: list[Part]) -> str:
        """Return what is said in place of the parts; "" where they are drawn."""
        if not self.squares:
            return self.NOTHING
        return self.missing(parts) if parts else self.NONE

    # what a view overrides ------------------------------------------------------------------------------------
    def parts(self) -> list[Part]:
        """Return what of the frame is drawn."""
        return []

    def missing(self, parts: list[Part]) -> str:
        """Return why the parts cannot be drawn; "" where they can."""
        return ""

    def draw(self, parts: list[Part]) -> None:
        """Draw the parts: at least one."""

    def show_empty(self, sentence: str) -> None:
        """Show the sentence in place of the parts."""

    def follow(self) -> None:
        """Draw what follows the state at once."""
        self.refresh()


class Pages(QStackedLayout):
    """The content of a view, or a sentence in its place."""

    def __init__(self, view: QWidget, content: QWidget, sentence: str) -> None:
        super().__init__(view)
        self.label = QLabel(sentence)
        self.label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.label.setWordWrap(True)
        self.addWidget(self.label)
        self.addWidget(content)

    def say(self, sentence: str) -> None:
        """Show the sentence; with "" the content."""
        if sentence:
            self.label.setText(sentence)
        self.setCurrentIndex(0 if sentence else 1)

    def apply_theme(self) -> None:
        t = current()
        self.label.setStyleSheet(f"background: {t.panel}; color: {t.muted}; font-size: 15px; padding: 24px;")
