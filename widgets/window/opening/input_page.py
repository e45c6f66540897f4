"""Ask what a network of a person's own takes, with the reason for what is filled in; try it; remember it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from explorer.declare.states.model_name import split_name
from explorer.declare.telling.asking import Declared, Question
from widgets.base.controls.dialog import Dialog
from widgets.base.look import theme
from widgets.base.text.kinds_of_data import title_of
from widgets.window.opening.trouble import in_the_window

if TYPE_CHECKING:  # the worker makes it, with torch
    from explorer.app.answering.own_inputs import InputAsked, Kind, Row

WIDTH = 640
EDITOR = 190  # pixels
LONGEST = 300  # of a line that has more to show
MOST_LINES = 7
TITLE = 60  # of the window, and some ground around it
LEAST = 120  # pixels of the questions, however low the screen is


class Ordered(QWidget):
    """A choice for each argument of a forward."""

    changed = Signal()

    def __init__(self, question: Question, text: str, arguments: tuple[str, ...]) -> None:
        super().__init__()
        self.combos: list[QComboBox] = []
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        found = text.split(",")
        for k in range(max(len(found), len(arguments))):
            name = arguments[k] if k < len(arguments) else f"argument {k + 1}"
            combo = QComboBox()
            combo.addItems(question.choices)
            combo.setCurrentText(found[k] if k < len(found) else question.choices[min(k, len(question.choices) - 1)])
            combo.setAccessibleName(f"What {name} is")
            combo.currentTextChanged.connect(self.changed)
            grid.addWidget(QLabel(f"{name} is"), k, 0)
            grid.addWidget(combo, k, 1)
            self.combos.append(combo)
        grid.setColumnStretch(1, 1)

    def text(self) -> str:
        return ",".join(combo.currentText() for combo in self.combos)


class Choice(QComboBox):
    """One of several words."""

    def __init__(self, question: Question, text: str) -> None:
        super().__init__()
        self.addItems(question.choices)
        self.setCurrentText(text)
        self.changed = self.currentTextChanged

    def text(self) -> str:
        return self.currentText()


class Written(QLineEdit):
    """A number, sizes, or "any"."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.changed = self.textChanged
        # several inputs with their sizes are long: all of them are seen, or else the first ones
        self.setMinimumWidth(min(LONGEST, self.fontMetrics().horizontalAdvance(text) + 24))
        self.setCursorPosition(0)


class Listed(QPlainTextEdit):
    """Several inputs with their sizes, one a line: side by side the last of them were cut off."""

    changed = Signal()

    def __init__(self, text: str) -> None:
        lines = text.split(",")
        super().__init__("\n".join(lines))
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        metrics, around = self.fontMetrics(), 2 * round(self.document().documentMargin()) + 2 * self.frameWidth()
        # a line more than there are, so that it is seen that another one may follow
        self.setFixedHeight(metrics.lineSpacing() * min(len(lines) + 1, MOST_LINES) + around)
        wide = max(metrics.horizontalAdvance(line) for line in lines) + around + 24
        self.setMinimumWidth(min(LONGEST, max(EDITOR, wide)))
        self.textChanged.connect(self.changed)

    def text(self) -> str:
        return ",".join(filter(None, (line.strip().rstrip(",") for line in self.toPlainText().splitlines())))


class Rows(QScrollArea):
    """The questions, scrolled where the page is lower than they are: a choice for each argument was a few pixels."""

    def __init__(self, questions: QWidget) -> None:
        super().__init__(widgetResizable=True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(questions)
        self._questions = questions
        self.setStyleSheet("QScrollArea { background: transparent; }")  # the page is the ground
        for ground in (self.viewport(), questions):
            ground.setAutoFillBackground(False)

    def sizeHint(self) -> QSize:
        hint = self._questions.sizeHint()
        return QSize(hint.width(), max(hint.height(), self._questions.heightForWidth(WIDTH)))

    def minimumSizeHint(self) -> QSize:
        wide = self._questions.minimumSizeHint().width() + self.verticalScrollBar().sizeHint().width()
        return QSize(wide, LEAST)


class InputPage(Dialog):
    """Shows what is known of an input; what a person decides is a signal, and what comes of it is said here."""

    about = "Input of this model"
    tried = Signal(object)  # Declared
    accepted_input = Signal(object, bool)  # Declared, whether to remember it beside the file

    def __init__(self, parent: QWidget, asked: InputAsked) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("input-page")
        self.setWindowTitle("Input of this model")
        self.asked = asked
        self.editors: dict[tuple[str, str], Ordered | Choice | Written | Listed] = {}
        self.reasons: list[QLabel] = []
        self.heading = QLabel(textFormat=Qt.TextFormat.RichText, wordWrap=True)
        self.kind = QComboBox()
        self.kind.setAccessibleName("Kind of data")
        self.pages = QStackedWidget()
        self.rows = Rows(self.pages)
        for kind in asked.kinds:
            self.kind.addItem(title_of(kind.name), kind.name)
            self.pages.addWidget(self._page(kind))
        self.kind.setCurrentIndex(max(0, self.kind.findData(asked.kind)))
        self.pages.setCurrentIndex(self.kind.currentIndex())
        self.kind.currentIndexChanged.connect(self._kind_chosen)
        self.kind_why = self._why(asked.why)
        first = QGridLayout()
        self._widen(first)
        first.addWidget(QLabel("Kind of data"), 0, 0)
        first.addWidget(self.kind, 0, 1)
        first.addWidget(self.kind_why, 0, 2)
        self.outcome = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.outcome.setAccessibleName("What came of trying it")
        self.outcome.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        kept = self.outcome.sizePolicy()
        kept.setRetainSizeWhenHidden(True)  # buttons stay where they are when there is something to say
        self.outcome.setSizePolicy(kept)
        self.remember = QCheckBox(
            f"Remember this in {asked.beside.replace(chr(92), '/').rpartition('/')[2]}, beside it"
        )
        self.remember.setToolTip(f"{asked.beside}\nThe window, check and run read it; it is never executed.")
        self.bad = bool(asked.problem)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 14, 18, 14)
        column.setSpacing(12)
        column.addWidget(self.heading)
        column.addLayout(first)
        column.addWidget(self.rows, 1)
        column.addWidget(self.outcome)
        column.addWidget(self.remember)
        column.addLayout(self._buttons())
        self.setMinimumWidth(WIDTH)
        theme.changes.changed.connect(self.apply_theme)
        self.finished.connect(lambda: theme.changes.changed.disconnect(self.apply_theme))
        self.say(asked.problem, bad=self.bad)
        self._take_room()

    def _take_room(self) -> None:
        """Be as high as all questions, if the screen is: Qt gives a page two thirds of it at first."""
        hint, found = self.sizeHint(), self.layout()
        assert found is not None
        wide = max(WIDTH, hint.width())
        high = max(hint.height(), found.totalHeightForWidth(wide))
        self.resize(wide, min(high, self.screen().availableGeometry().height() - TITLE))

    # building ---------------------------------------------------------------------------------------------
    def _page(self, kind: Kind) -> QWidget:
        page = QWidget()
        grid = QGridLayout(page)
        grid.setContentsMargins(0, 0, 0, 0)
        self._widen(grid)
        for k, row in enumerate(kind.rows):
            editor = self._editor(row)
            editor.setAccessibleName(row.question.title)
            editor.setToolTip(row.question.hint)
            editor.changed.connect(self._changed)
            self.editors[kind.name, row.question.name] = editor
            title = QLabel(row.question.title)
            title.setMinimumHeight(24)
            title.setToolTip(row.question.hint)
            for column, widget in enumerate((title, editor, self._why(row.why))):
                grid.addWidget(widget, k, column, Qt.AlignmentFlag.AlignTop)
        grid.setRowStretch(len(kind.rows), 1)
        return page

    def _editor(self, row: Row) -> Ordered | Choice | Written | Listed:
        match row.question.sort:
            case "ordered":
                return Ordered(row.question, row.text, self.asked.arguments)
            case "choice":
                return Choice(row.question, row.text)
            case "named" if "," in row.text:
                return Listed(row.text)
            case _:
                return Written(row.question.shown(row.text))

    def _widen(self, grid: QGridLayout) -> None:
        grid.setHorizontalSpacing(12)
        grid.setColumnMinimumWidth(0, 130)
        grid.setColumnMinimumWidth(1, EDITOR)
        grid.setColumnStretch(2, 1)

    def _why(self, text: str) -> QLabel:
        label = QLabel(text, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        label.setMinimumHeight(24)
        self.reasons.append(label)
        return label

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self.cancel = QPushButton("Cancel")
        self.cancel.clicked.connect(self.reject)
        self.trial = QPushButton("Try")
        self.trial.setToolTip("Run the network once on such an input")
        self.trial.clicked.connect(self._try)
        self.go = QPushButton("Open")
        self.go.clicked.connect(self._go)
        self.trial.setDefault(True)
        row.addStretch(1)
        for button in (self.cancel, self.trial, self.go):
            row.addWidget(button)
        return row

    # what is chosen ---------------------------------------------------------------------------------------
    def declared(self) -> Declared:
        """Return what is filled in."""
        kind = self.asked.kinds[self.kind.currentIndex()]
        editors = [(row.question, self.editors[kind.name, row.question.name]) for row in kind.rows]
        texts = [(question, question.read(editor.text())) for question, editor in editors]
        said = ((q.name, text) for q, text in texts if text != q.usual and (text or not q.optional))
        return Declared(kind.name, tuple(said))

    def _kind_chosen(self, index: int) -> None:
        self.pages.setCurrentIndex(index)
        chosen = self.asked.kinds[index].name
        self.kind_why.setText(self.asked.why if chosen == self.asked.kind else "you say so")
        self._changed()

    def _changed(self) -> None:
        self.say("")

    def _checked(self) -> Declared | None:
        """Return what is filled in, or None after saying what is wrong with it."""
        said = self.declared()
        kind = self.asked.kinds[self.kind.currentIndex()]
        for row in kind.rows:
            try:
                row.question.parse(dict(said.answers).get(row.question.name, row.question.usual or ""))
            except ValueError as error:
                self.say(f"{error}", bad=True)
                self.editors[kind.name, row.question.name].setFocus()
                return None
        return said

    def _try(self) -> None:
        if (said := self._checked()) is not None:
            self._wait("Trying…")
            self.tried.emit(said)

    def _go(self) -> None:
        if (said := self._checked()) is not None:
            self._wait("Opening…")
            self.accepted_input.emit(said, self.remember.isChecked())

    def _wait(self, text: str) -> None:
        self.say(text)
        self.trial.setEnabled(False)
        self.go.setEnabled(False)

    def say(self, sentence: str, bad: bool = False) -> None:
        """Say what came of it."""
        self.bad = bad
        self.outcome.setText(in_the_window(sentence))
        self.outcome.setVisible(bool(sentence))
        self.trial.setEnabled(True)
        self.go.setEnabled(True)
        self.apply_theme()

    def apply_theme(self) -> None:
        t = theme.current()
        name = split_name(self.asked.name)[0].replace("\\", "/").rpartition("/")[2]
        file, _, made = name.rpartition(":")
        self.heading.setText(
            f"<span style='font-size:13pt; font-weight:600'>What {made} in {file} takes</span><br>"
            f"<span style='color:{t.muted}'>It is called with an input like this. Beside each answer stands why it is "
            "filled in.</span>"
        )
        for label in self.reasons:
            label.setStyleSheet(f"color: {t.muted};")
        line = QColor(t.bad if self.bad else t.accent)
        ground = f"rgba({line.red()}, {line.green()}, {line.blue()}, 40)"
        self.outcome.setStyleSheet(
            f"color: {t.text}; background: {ground}; border-left: 3px solid {line.name()}; padding: 6px 10px;"
        )
