"""Choose what of the models is listed: a kind of data, a group, trained or faulty ones, favourites, one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSettings, QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from explorer.declare.card import ModelInfo
from explorer.declare.states.model_name import code_of
from widgets.base.controls.flow import Flow
from widgets.base.look import theme
from widgets.base.settings import open_settings, texts
from widgets.base.text.groups import written
from widgets.base.text.kinds_of_data import place_of, title_of

FAVOURITES = "favourite_models"
FAULT = "fault-"  # how names of cards with a planted fault begin
HOW = {  # to come by what there is none of at first
    "favourites": "No favourites yet. The star at the right of a model, seen under the mouse, makes it one; so does"
    " its menu.",
    "own": "No network of your own yet. <i>File › Open model…</i> (Ctrl+Shift+M) opens one, or drop its file onto the"
    " window; here it stays.",
}
Asks = Callable[[ModelInfo], bool]


class Favourites:
    """Names of models that a person likes, kept in the settings."""

    def __init__(self, settings: QSettings | None = None) -> None:
        self._settings = settings or open_settings()
        self.names = texts(self._settings, FAVOURITES)

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def toggle(self, name: str) -> None:
        liked = name not in self.names
        kept = [n for n in texts(self._settings, FAVOURITES) if n != name]  # another program may have added some
        self.names = [*kept, name] if liked else kept
        self._settings.setValue(FAVOURITES, self.names)


def is_own(info: ModelInfo) -> bool:
    """Return whether a model is a person's own file."""
    return code_of(info.name) is not None


class Filters(QWidget):
    """Two lists and four switches, in as many lines as there must be; all that is chosen has to be true."""

    changed = Signal()

    def __init__(self, favourites: Favourites, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(8, 0, 8, 5)
        self._row = Flow()
        outer.addLayout(self._row)
        self._models: tuple[ModelInfo, ...] = ()
        self.kind, self.group = self._list("Kind of data"), self._list("Claimed group")
        self.kind.currentIndexChanged.connect(self._offer_groups)  # before the list is told
        for box in (self.kind, self.group):
            box.currentIndexChanged.connect(lambda index: self.changed.emit())
        self.switches: dict[str, QToolButton] = {}
        asks: tuple[tuple[str, str, str, Asks], ...] = (
            ("trained", "Trained", "With weights that were trained", lambda info: info.trained),
            ("fault", "Faulty", "With a fault planted on purpose", lambda info: info.name.startswith(FAULT)),
            ("favourites", "★", "Favourites", lambda info: info.name in favourites),
            ("own", "Own", "Networks from your own files, opened before", is_own),
        )
        self._asks = {name: ask for name, _, _, ask in asks}
        for name, text, tip, _ in asks:
            button = QToolButton(self)
            button.setCheckable(True)
            button.setText(text)
            button.setToolTip(tip)
            button.setAccessibleName(tip)
            button.toggled.connect(self.changed)
            self.switches[name] = button
            self._row.addWidget(button)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    @property
    def controls(self) -> list[QWidget]:
        """Return what has the keyboard, from left to right."""
        return [self.kind, self.group, *self.switches.values()]

    def _list(self, name: str) -> QComboBox:
        box = QComboBox(self)
        box.setAccessibleName(name)
        box.setToolTip(name)
        # two of them side by side also where the panel is narrow; the lists that open are as wide as they must be
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(6)
        self._row.addWidget(box)
        return box

    def show_models(self, models: Sequence[ModelInfo]) -> None:
        """Offer what these models have; what was chosen stays where it is still there."""
        self._models = tuple(models)
        kinds = sorted({m.domain for m in models}, key=place_of)
        self._fill(self.kind, "Any data", [(k, title_of(k)) for k in kinds])
        self._offer_groups()

    def _offer_groups(self) -> None:
        """Offer the groups of the models on the chosen kind of data."""
        kind = self.kind.currentData()
        claimed = {g for m in self._models if not kind or m.domain == kind for g in m.groups}
        self._fill(
            self.group, "Any group", [(g, written(g)) for g in sorted(claimed, key=lambda g: written(g).casefold())]
        )

    def _fill(self, box: QComboBox, every: str, items: Sequence[tuple[str, str]]) -> None:
        chosen = box.currentData()
        with QSignalBlocker(box):
            box.clear()
            box.addItem(every, "")
            for value, text in items:
                box.addItem(text, value)
            box.setCurrentIndex(max(0, box.findData(chosen)))
        self.apply_theme()

    def apply_theme(self) -> None:
        t = theme.current()
        self.setStyleSheet(
            f"QToolButton:checked {{ background: {t.accent}; color: {t.panel}; border: none; border-radius: 4px;"
            " padding: 4px 7px; }"
        )
        for box in (self.kind, self.group):
            box.view().setMinimumWidth(box.view().sizeHintForColumn(0) + 24)

    @property
    def active(self) -> bool:
        """Say that anything is left out."""
        lists = (self.kind, self.group)
        return any(box.currentData() for box in lists) or any(b.isChecked() for b in self.switches.values())

    def fits(self, info: ModelInfo) -> bool:
        """Return whether a model is listed."""
        kind, group = str(self.kind.currentData() or ""), str(self.group.currentData() or "")
        chosen = all(self._asks[name](info) for name, button in self.switches.items() if button.isChecked())
        return chosen and (not kind or info.domain == kind) and (not group or group in info.groups)

    def advice(self, models: Sequence[ModelInfo]) -> str:
        """Say how to come by what a switch asks for, where none of all models is so; "" where some are."""
        for name, button in self.switches.items():
            if button.isChecked() and name in HOW and not any(self._asks[name](info) for info in models):
                return HOW[name]
        return ""

    def clear(self) -> None:
        """Leave nothing out."""
        for box in (self.kind, self.group):
            with QSignalBlocker(box):
                box.setCurrentIndex(0)
        self._offer_groups()
        for button in self.switches.values():
            with QSignalBlocker(button):
                button.setChecked(False)
        self.changed.emit()
