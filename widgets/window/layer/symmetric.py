"""The page of symmetric versions of a layer: what each of them would do, and a button to use it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from explorer.app.thread.failures import failure_of
from explorer.declare.states.interventions import parse_intervention
from explorer.square.analyses.outcome import Outcome
from explorer.square.frame import Failure
from explorer.state.state import State
from widgets.base.controls.dialog import Dialog
from widgets.base.controls.progress import Progress
from widgets.base.look import theme

WIDTH = 560
WAITING = "Each version is put into a copy of the network, and the whole network is measured again."


class SymmetricPage(Dialog):
    """Lists the experiments on one layer; the network itself is changed by "Use this" alone, which can be undone."""

    about = "A symmetric version"
    chosen = Signal(object)  # Intervention

    def __init__(self, layer: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.layer = layer
        self.outcomes: tuple[Outcome, ...] = ()
        self.complete = False  # whether every version was tried
        self.buttons: dict[str, QPushButton] = {}
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(f"A symmetric version of {layer}")
        self.setMinimumWidth(WIDTH)
        self.title = QLabel(f"Would the law hold if {layer} were symmetric?")
        self.title.setWordWrap(True)
        self.words = QLabel(WAITING)
        self.words.setWordWrap(True)
        self.progress = Progress()
        self.progress.setRange(0, 0)
        self.progress.setTextVisible(False)
        self.progress.setFixedHeight(4)
        self._rows = QGridLayout()
        self._rows.setHorizontalSpacing(14)
        self._rows.setVerticalSpacing(10)
        self._rows.setColumnStretch(0, 1)
        close = QPushButton("Close")
        close.clicked.connect(self.close)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 16, 18, 14)
        column.setSpacing(10)
        column.addWidget(self.title)
        column.addWidget(self.words)
        column.addWidget(self.progress)
        column.addLayout(self._rows)
        column.addStretch(1)
        column.addLayout(foot)
        self.apply_theme()

    def show_outcomes(self, found: Sequence[Outcome], all_tried: bool = True) -> None:
        """Show what each version did, the ones that work first.

        Args:
            all_tried: none is still being tried.
        """
        self.complete = all_tried
        self.outcomes = tuple(sorted(found, key=lambda one: (not one.mended, not one.useful, bool(one.reason))))
        works = [one for one in found if one.useful]
        group = found[0].group if found else ""
        if works:
            said = f"Measured as a check under {group} does, in double precision. Your file is not changed."
        elif all_tried:
            said = f"No version that was tried makes {self.layer} obey its law under {group}."
        else:
            said = WAITING
        self.words.setText(said if all_tried or not works else f"{said} Further versions are being tried.")
        self._clear()
        for row, one in enumerate(self.outcomes):
            self._add(2 * row, one)
        self.apply_theme()
        self._grow(waiting=not all_tried)

    def show_failure(self, failure: Failure) -> None:
        """Say why nothing could be tried."""
        self.words.setText(failure.sentence)
        self._grow()

    def _clear(self) -> None:
        """Take away what was shown before."""
        self.buttons.clear()
        self._empty(self._rows)

    def _empty(self, layout: QLayout) -> None:
        while (item := layout.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()
            elif (inner := item.layout()) is not None:
                self._empty(inner)

    def _grow(self, waiting: bool = False) -> None:
        """Give each sentence the height that it has at this width; Qt keeps one in which wrapped ones are cut."""
        column = self.layout()
        assert column is not None
        for child in self.findChildren(QWidget):
            child.show()  # what is not shown yet has no place
        column.activate()
        for label in self.findChildren(QLabel):
            if label.wordWrap():
                label.setMinimumHeight(label.heightForWidth(label.width()))
        self.progress.setVisible(waiting)
        column.activate()
        self.resize(self.width(), max(self.height(), column.totalMinimumSize().height()))

    def _add(self, row: int, one: Outcome) -> None:
        name, said = QLabel(one.title), QLabel(one.sentence[:1].upper() + one.sentence[1:] + ".")
        said.setWordWrap(True)
        name.setProperty("role", "text" if one.useful else "muted")
        said.setProperty("role", "good" if one.mended and one.verdict == "holds" else "muted")
        box = QVBoxLayout()
        box.setSpacing(1)
        box.addWidget(name)
        box.addWidget(said)
        if row:
            rule = QFrame(frameShape=QFrame.Shape.HLine)
            rule.setProperty("role", "rule")
            self._rows.addWidget(rule, row - 1, 0, 1, 2)
        self._rows.addLayout(box, row, 0)
        if one.useful:
            button = QPushButton("Use this")
            button.setToolTip(f"--intervene {one.intervention!r}; undo takes it back")
            button.clicked.connect(lambda _=False, text=one.intervention: self._choose(text))
            self._rows.addWidget(button, row, 1, Qt.AlignmentFlag.AlignVCenter)
            self.buttons[one.intervention] = button

    def _choose(self, text: str) -> None:
        self.chosen.emit(parse_intervention(text))
        self.close()

    def apply_theme(self) -> None:
        t = theme.current()
        self.title.setStyleSheet(f"font-size: {1.25 * self.font().pointSizeF():.1f}pt; color: {t.text};")
        self.words.setStyleSheet(f"color: {t.muted};")
        colours = {"text": t.text, "muted": t.muted, "good": t.good}
        for label in self.findChildren(QLabel):
            if (role := label.property("role")) in colours:
                weight = " font-weight: 600;" if role == "text" else ""
                label.setStyleSheet(f"color: {colours[role]};{weight}")
        for rule in self.findChildren(QFrame):
            if rule.property("role") == "rule":
                rule.setStyleSheet(f"color: {t.line}; background: {t.line}; border: none; max-height: 1px;")


class _Courier(QObject):
    """Carries what is known so far from the worker's thread to the one that it was made on."""

    found = Signal(object)  # tuple[Outcome, ...]

    def __init__(self, show: Callable[[Any], None]) -> None:
        super().__init__()
        self._show = show
        self.found.connect(self._arrived)

    @Slot(object)
    def _arrived(self, found: Any) -> None:
        self._show(found)


def try_versions(
    do: Callable[[Any, str, Callable[[Any], None]], Callable[[], None]], state: State, layer: str, parent: QWidget
) -> SymmetricPage:
    """Open the page of a layer and let the worker fill it; what is not tried when it is closed is not tried any more.

    Args:
        do: as `Controller.do`.
    """
    page = SymmetricPage(layer, parent)
    open_ = {"page": True}
    page.destroyed.connect(lambda: open_.update(page=False))
    # it lives as long as the work does, longer than a page that is closed
    courier = _Courier(lambda found: page.show_outcomes(found, all_tried=False) if open_["page"] else None)

    def work(engine: Any) -> Any:
        found: Any = f"Nothing could be tried on {layer}."
        try:
            for part in engine.proposals(state, layer):
                if not isinstance(part, tuple):
                    yield part
                    continue
                found = part
                courier.found.emit(part)
            return found
        except (Exception, SystemExit) as error:  # said on the page, where it was asked
            return failure_of(error, state).sentence

    def show(found: Any) -> None:
        if not open_["page"]:
            return
        if isinstance(found, str):
            page.show_failure(Failure(state, found))
        else:
            page.show_outcomes(found)

    give_up = do(work, f"Trying symmetric versions of {layer}…", show)
    page.finished.connect(lambda _: give_up())
    page.show()
    return page
