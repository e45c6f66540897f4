"""The line above the stage that says how the network was intervened in, with a button to take each change back."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from explorer.declare.states.interventions import Intervention
from widgets.base.look import theme
from widgets.base.look.icons import icon, picture

MOST = 6  # chips; of more the rest is counted
WIDEST = 260  # pixels of a chip's text


class InterventionBar(QFrame):
    """Hidden while the network is as its author made it."""

    removed = Signal(object)  # Intervention
    cleared = Signal()
    shown = Signal(str)  # layer that a chip was clicked for

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("interventions")
        self.setAccessibleName("Interventions")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._some: tuple[Intervention, ...] = ()
        self._icon = QLabel()
        self.badge = QLabel()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(10, 4, 6, 4)
        self._row.setSpacing(6)
        self._row.addWidget(self._icon)
        self._row.addWidget(self.badge)
        self._chips = QHBoxLayout()
        self._chips.setSpacing(6)
        self._row.addLayout(self._chips)
        self._row.addStretch(1)
        self.clear_button = QToolButton(autoRaise=True)
        self.clear_button.setText("Remove all")
        self.clear_button.setToolTip("Measure the network as its author made it")
        self.clear_button.clicked.connect(self.cleared)
        self._row.addWidget(self.clear_button)
        self.chips: list[Chip] = []
        self.hide()
        self.apply_theme()

    def show_interventions(self, some: Sequence[Intervention]) -> None:
        """Show a chip for each change."""
        if tuple(some) == self._some:
            return
        self._some = tuple(some)
        for chip in self.chips:
            self._chips.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        self.chips = [Chip(one, self) for one in self._some[:MOST]]
        for chip in self.chips:
            chip.remove.clicked.connect(lambda _=False, one=chip.one: self.removed.emit(one))
            chip.name.clicked.connect(lambda _=False, one=chip.one: self.shown.emit(one.layer))
            self._chips.addWidget(chip)
        count, more = len(self._some), len(self._some) - MOST
        words = f"{count} intervention{'s' * (count != 1)}"
        self.badge.setText(words + (f", {more} of them not shown" if more > 0 else ""))
        self.clear_button.setVisible(count > 1)
        self.setVisible(bool(count))
        self.apply_theme()

    def apply_theme(self) -> None:
        t = theme.current()
        self._icon.setPixmap(picture("intervene", 16, t.second))
        self.setStyleSheet(
            f"#interventions {{ background: {t.raised}; border: none; border-left: 3px solid {t.second}; }}"
        )
        self.badge.setStyleSheet(f"color: {t.text}; font-weight: 600;")
        for chip in self.chips:
            chip.apply_theme()


class Chip(QFrame):
    """One change: its words select the layer, its cross takes it back."""

    def __init__(self, one: Intervention, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.one = one
        self.setObjectName("chip")
        self.name, self.remove = QToolButton(autoRaise=True), QToolButton(autoRaise=True)
        text = self.fontMetrics().elidedText(one.told, Qt.TextElideMode.ElideMiddle, WIDEST)
        self.name.setText(text)
        self.name.setToolTip(f"{one.told}: show the layer\n--intervene {str(one)!r}")
        self.remove.setIconSize(QSize(12, 12))
        self.remove.setToolTip(f"Take back: {one.told}")
        self.remove.setAccessibleName(f"Take back: {one.told}")
        row = QHBoxLayout(self)
        row.setContentsMargins(2, 0, 2, 0)
        row.setSpacing(0)
        row.addWidget(self.name)
        row.addWidget(self.remove)
        self.apply_theme()

    def apply_theme(self) -> None:
        t = theme.current()
        self.remove.setIcon(icon("close"))
        self.setStyleSheet(f"#chip {{ background: {t.panel}; border: 1px solid {t.line}; border-radius: 4px; }}")
