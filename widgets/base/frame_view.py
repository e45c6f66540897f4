"""Base of the views that draw a part of each frame: what was told is kept, what is missing is said, the rest drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QStackedLayout, QWidget

from explorer.declare.states.model_name import in_training
from explorer.square.frame import Frame, Square
from explorer.state.catalogue import Catalogue
from explorer.state.state import State
from widgets.base.controls.kept import take_values, values_of
from widgets.base.look.theme import SENTENCE, current
from widgets.base.view import View, Wish

AWAITED = "This is drawn once the network has answered."
SELECTED = ("channel", "pixel", "node", "other")  # what of a state Esc takes back
Kind = TypeVar("Kind")  # of the part of a square
Part = TypeVar("Part")


class StateView(View):
    """Keeps the frame, the state and the catalogue told last, and follows them.

    The state is that of the frame until somebody calls `set_state`.
    """

    FOLLOWS: tuple[str, ...] = ()  # fields of the state that are drawn at once, before the frame that answers them

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.frame: Frame | None = None
        self.state = State()
        self.told = False  # whether the state was told by itself, not with a frame
        self.catalogue: Catalogue | None = None

    def show_frame(self, frame: Frame | None) -> None:
        self.frame = frame
        if frame is not None and not self.told:
            self.state = frame.state
        self.refresh()

    def set_state(self, state: State) -> None:
        before, fresh, self.state, self.told = self.state, not self.told, state, True
        if fresh or any(getattr(before, name) != getattr(state, name) for name in self.FOLLOWS):
            self._when_visible("state", self.follow)

    def show_catalogue(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue

    @property
    def known(self) -> bool:
        """Return whether anybody has told the state yet."""
        return self.told or self.frame is not None

    @property
    def squares(self) -> tuple[Square, ...]:
        """The squares that are shown beside each other."""
        return self.frame.squares[: self.MOST] if self.frame is not None else ()

    def with_part(self, kind: type[Kind]) -> list[tuple[Square, Kind]]:
        """Return the squares that are shown and have a part of that kind, with their parts."""
        return self.frame.parts(kind, self.MOST) if self.frame is not None else []

    # what a view overrides ------------------------------------------------------------------------------------
    def refresh(self) -> None:
        """Show what the frame holds."""

    def follow(self) -> None:
        """Show what follows the state at once."""
        self.refresh()


class FrameView(StateView, Generic[Part]):
    """Draws the parts of the frame that it is about, or says why there are none.

    A subclass returns its `parts`, draws them in `draw`, and shows a sentence in their place in `show_empty`; `missing`
    names further reasons for a sentence. While a network learns, what was drawn of it stays until as much is there of
    its next state.
    """

    NOTHING = ""  # the sentence while there is no frame
    NONE = ""  # the sentence where the frame has no such part
    KEPT: ClassVar[
        Mapping[str, str]
    ] = {}  # of the choices that a session keeps: their names, and those of the controls
    only_told = True  # in place of the parts
    _learning = ""  # the network in training that is drawn
    _promised: tuple[Mapping[str, Any], str] | None = None  # looks, and the sample that they are of

    def refresh(self) -> None:
        parts = self.parts()
        # while the first answer is computed, there is a network already: nobody is asked to choose one
        sentence = AWAITED if self.frame is None and self.told and self.state.model else self.reason(parts)
        model = self.frame.state.model if self.frame is not None else ""
        if sentence and model and model == self._learning and self.frame is not None and self.awaits(self.frame):
            return
        self._learning = model if in_training(model) and not sentence else ""
        self.only_told = bool(sentence)
        if sentence:
            self.show_empty(sentence)
        else:
            self.draw(parts)
            self._keep_promise()

    def _keep_promise(self) -> None:
        """Show what is drawn as a session says, once it is that session's sample."""
        if self._promised is not None and self.frame is not None and self.frame.state.sample == self._promised[1]:
            looks, self._promised = self._promised[0], None
            take_values(self._controls(), looks)
            self.see(looks)

    def _controls(self) -> dict[str, QWidget]:
        return {name: getattr(self, attribute) for name, attribute in self.KEPT.items()}

    def looks(self) -> dict[str, Any]:
        return values_of(self._controls())

    def take_looks(self, looks: Mapping[str, Any], sample: str) -> None:
        self._promised = (looks, sample) if looks else None

    def reason(self, parts: list[Part]) -> str:
        """Return what is said in place of the parts; "" where they are drawn."""
        if not self.squares:
            return self.NOTHING
        return self.missing(parts) if parts else self.NONE

    def ask_menu_of(self, square: Square, at: QPoint, unit: str = "", index: int = -1) -> None:
        """Ask for the menu of the layer that is drawn, and of a part of it: the selected channel where none is told."""
        if not unit and self.state.channel is not None:
            unit, index = "channel", self.state.channel
        first = self.frame is not None and square is self.frame.squares[0]
        self.menu_asked.emit(square.layer.name if first else "", unit, index, at)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take what is selected back on Esc, as the stage does, where nothing inside had a use for it."""
        selected = [name for name in SELECTED if getattr(self.state, name) is not None]
        if event.key() == Qt.Key.Key_Escape and selected and not self.only_told:
            self.wished.emit(Wish(changes=dict.fromkeys(selected), done=True))
        else:
            super().keyPressEvent(event)

    # what a view overrides ------------------------------------------------------------------------------------
    def see(self, looks: Mapping[str, Any]) -> None:
        """Look at what is drawn from where a session did; what in it is no such place changes nothing."""

    def parts(self) -> list[Part]:
        """Return what of the frame is drawn."""
        raise NotImplementedError

    def missing(self, parts: list[Part]) -> str:
        """Return why the parts cannot be drawn; "" where they can."""
        return ""

    def draw(self, parts: list[Part]) -> None:
        """Draw the parts: at least one."""
        raise NotImplementedError

    def show_empty(self, sentence: str) -> None:
        """Show the sentence in place of the parts."""
        raise NotImplementedError


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
        self.label.setStyleSheet(f"background: {t.panel}; color: {t.muted}; font-size: {SENTENCE}px; padding: 24px;")
