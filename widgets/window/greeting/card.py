"""A card above the stage: one sentence, and three buttons that do what they say. It goes once and for all."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolButton, QWidget

from widgets.base.look import theme
from widgets.base.look.icons import icon

SENTENCE = (
    "Turn the picture. If the network respects turning, its answer turns with it. "
    "The relative error is what is left over."
)
BUTTONS = (
    ("turn", "Turn it", "Turn the picture by a quarter; the ring does the same by hand"),
    ("ordinary", "The same with an ordinary network", "A network without this symmetry, at the same angle"),
    ("mine", "Open mine…", "Data of your own, or a model: its file is shown to you before anything in it runs"),
)


class GreetingCard(QFrame):
    """Hidden until it is asked for; says which button was pressed, and that it was closed."""

    chosen = Signal(str)  # "turn", "ordinary" or "mine"
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("greeting")
        self.setAccessibleName("Welcome")
        self.text = QLabel(SENTENCE)
        self.text.setWordWrap(True)
        # a long sentence wraps; it never makes the window wider
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.text.setSizePolicy(policy)
        self.buttons = {name: self._button(name, title, tip) for name, title, tip in BUTTONS}
        self.close_button = QToolButton(autoRaise=True)
        self.close_button.setToolTip("Close; Help ▸ Welcome brings it back")
        self.close_button.setAccessibleName("Close the welcome")
        self.close_button.clicked.connect(self.closed)
        row = QHBoxLayout()
        row.setSpacing(8)
        for button in self.buttons.values():
            row.addWidget(button)
        row.addStretch(1)
        grid = QGridLayout(self)
        grid.setContentsMargins(14, 6, 8, 8)
        grid.setSpacing(6)
        grid.addWidget(self.text, 0, 0)
        grid.addWidget(self.close_button, 0, 1, Qt.AlignmentFlag.AlignTop)
        grid.addLayout(row, 1, 0)
        grid.setColumnStretch(0, 1)
        self.hide()
        self.apply_theme()

    def _button(self, name: str, title: str, tip: str) -> QPushButton:
        button = QPushButton(title)
        button.setToolTip(tip)
        button.clicked.connect(lambda checked=False: self.chosen.emit(name))
        return button

    def apply_theme(self) -> None:
        t = theme.current()
        self.setStyleSheet(
            f"QFrame#greeting {{ background: {t.raised}; border: 1px solid {t.line};"
            f" border-left: 4px solid {t.accent}; }}"
        )
        self.close_button.setIcon(icon("close"))
