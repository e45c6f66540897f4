"""The latent plane: codes of examples and of the input, what any place decodes to, walks and orbits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLabel, QPushButton, QWidget

from explorer.declare.states.latent import PROJECTIONS, LatentChoice, parse_latent
from explorer.square.analyses.latent.part import Latent
from explorer.square.frame import Frame
from widgets.base.controls.elided_combo import ElidedCombo
from widgets.base.controls.row import ControlRow, stacked
from widgets.base.frame_view import FrameView, Pages
from widgets.base.look import theme
from widgets.base.text.words import subject
from widgets.base.view import Wish
from widgets.latent.pictures import Pictures
from widgets.latent.plane_chart import PlaneChart

NARROW = 520  # pixels below which the pictures give way
WORDY = 720  # pixels of a row of controls in which words have room too


class LatentView(FrameView[Latent]):
    """Codes in a plane. Click or drag: what is decoded there. Walk: from the input to the nearest example."""

    MOST = 1
    NOTHING = "Choose an autoencoder, such as vae, to see the plane of its codes."
    NONE = (
        "This network has no code between an encoder and a decoder.\nChoose an autoencoder in the gallery, such as vae."
    )

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.projection = ElidedCombo()
        self.projection.setAccessibleName("Plane")
        self.projection.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.projection.activated.connect(self._project)
        self.grid, self.points = QCheckBox("Decoded grid"), QCheckBox("Examples")
        for box in (self.grid, self.points):
            box.setChecked(True)
            box.toggled.connect(self._what)
        self.walk = QPushButton("Walk to the nearest")
        self.walk.setToolTip(
            "From the input to the example nearest to the chosen place: through pixels and through codes"
        )
        self.walk.clicked.connect(self._walk)
        self.clear = QPushButton("Clear")
        self.clear.setToolTip("Take away the chosen place and the walk")
        self.clear.clicked.connect(lambda: self._wish(replace(self._choice(), at=None, other=None)))
        self.said = QLabel()
        parts = (self.projection, self.grid, self.points, self.walk, self.clear, self.said)
        self.bar = ControlRow("Show", *parts, margins=(8, 4, 8, 4), narrow=WORDY)
        self.chart, self.pictures = PlaneChart(), Pictures()
        self.chart.chosen.connect(self._choose)
        self.chart.hovered.connect(self.hovered)
        self.chart.resized.connect(self._name)
        both = QWidget()
        side = QHBoxLayout(both)
        side.setContentsMargins(0, 0, 0, 0)
        side.setSpacing(0)
        side.addWidget(self.chart, 3)
        side.addWidget(self.pictures, 2)
        content = QWidget()
        self.pages = Pages(content, both, self.NOTHING)
        stacked(self, self.bar, content)
        self.apply_theme()
        self.refresh()

    # what comes in --------------------------------------------------------------------------------------------
    def parts(self) -> list[Latent]:
        """Return the codes of the first network."""
        return [s.latent for s in self.squares if s.latent is not None]

    def awaits(self, frame: Frame) -> bool:
        return any(s.latent is not None and not (s.latent.laid or s.latent.whole) for s in frame.squares[: self.MOST])

    def reason(self, parts: list[Latent]) -> str:
        if not self.squares:
            return self.NOTHING
        return (parts[0].busy if not parts[0].ready else "") if parts else self.NONE

    def show_empty(self, sentence: str) -> None:
        self.bar.setVisible(bool(self.parts()))
        self._offer()
        self.pages.say(sentence)
        self.chart.show_latent(None, False)
        self.pictures.show_latent(None)

    def draw(self, parts: list[Latent]) -> None:
        self.bar.show()
        self._offer()
        self.pages.say("")
        latent = parts[0]
        images = latent.picture is not None
        for control in (self.grid, self.walk):
            control.setVisible(images)
        chosen = self._choice()
        self.clear.setVisible(images and (chosen.at, chosen.other) != (None, None))
        self.pictures.setVisible(images and self.width() >= NARROW)
        self.chart.show_latent(latent, bool(self.state.steps))
        self.pictures.show_latent(latent)
        self._name()
        self.said.setText(latent.busy)

    def _offer(self) -> None:
        """Offer the projections that there are, the one in use chosen."""
        parts = self.parts()
        if not parts:
            return
        with QSignalBlocker(self.projection):
            names = parts[0].offered
            if [self.projection.itemData(k) for k in range(self.projection.count())] != list(names):
                self.projection.clear()
                for name in names:
                    self.projection.addItem(PROJECTIONS[name], name)
            self.projection.setCurrentIndex(max(0, self.projection.findData(parts[0].choice.projection)))

    def _name(self) -> None:
        """Name the classes above the plane, or beside it where there is more room."""
        self.pictures.name_classes(self.chart.name_classes(elsewhere=not self.pictures.isHidden()))

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        parts = self.parts()
        self.pictures.setVisible(self.width() >= NARROW and bool(parts) and parts[0].picture is not None)

    # what goes out --------------------------------------------------------------------------------------------
    def _choice(self) -> LatentChoice:
        try:
            return parse_latent(self.state.latent)
        except ValueError:
            return LatentChoice()

    def _wish(self, choice: LatentChoice, tag: str = "", done: bool = True) -> None:
        self.wished.emit(Wish({"latent": str(choice)}, tag=tag, done=done))

    def _project(self) -> None:
        # a place of one plane is none of another
        self._wish(LatentChoice(str(self.projection.currentData()), None, self._choice().other))

    def _choose(self, x: float, y: float, done: bool) -> None:
        parts = self.parts()
        if parts and parts[0].picture is not None:
            self._wish(replace(self._choice(), at=(x, y)), "latent", done)
        elif parts and parts[0].ready:
            self.wished.emit(Wish({"node": int(((parts[0].points - [x, y]) ** 2).sum(1).argmin())}, done=done))

    def _walk(self) -> None:
        parts = self.parts()
        if parts and parts[0].nearest is not None:
            self._wish(replace(self._choice(), other=parts[0].nearest[0]))

    def _what(self) -> None:
        self.chart.show_grid, self.chart.show_points = self.grid.isChecked(), self.points.isChecked()
        self.chart.dress()

    # files ----------------------------------------------------------------------------------------------------
    def numbers(self) -> dict[str, NDArray[Any]]:
        return self.chart.numbers()

    def caption(self) -> str:
        parts = self.parts()
        if self.frame is None or not parts or not parts[0].ready:
            return ""
        latent = parts[0]
        what = PROJECTIONS[latent.choice.projection]
        of = latent.title or "the places of the input"
        told = f" {latent.orbit.told}." if latent.orbit is not None else ""
        marks = "ring: the input; accent dot: the moved input"
        if latent.wanted is not None:
            marks += "; diamonds: where the code's field brings it"
        return f"{what} of {of}; {marks}: {subject(self.frame)}.{told}"

    def apply_theme(self) -> None:
        self.said.setStyleSheet(f"color: {theme.current().muted};")
        self.bar.apply_theme()
        self.pages.apply_theme()
        self.chart.dress()
        self.pictures.update()
