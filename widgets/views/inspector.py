"""The group element: a control for every parameter of every transform, the chain as text, and what it does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.declare.elements import Step, Transform, chain_text, parse_chain, transforms
from explorer.declare.params import Param
from explorer.declare.states.model_name import split_name
from explorer.declare.telling.numerals import with_minus
from explorer.state.catalogue import Catalogue
from explorer.state.state import State
from widgets.base.controls.measure_table import MeasureTable
from widgets.base.controls.param_control import BROAD, NARROW, ParamControl
from widgets.base.frame_view import StateView
from widgets.base.look import theme
from widgets.base.look.icons import icon
from widgets.base.text.words import figure, subject
from widgets.base.veil import Veil
from widgets.base.view import ViewSpec, Wish

ELEMENTS = (("identity", "reset", "Identity", "Take every transform back"),
            ("inverse", "invert", "Inverse", "The element that undoes this one"),
            ("random", "random", "Random", "A random exact element (Space)"))  # fmt: skip
GESTURES = ("ring", "drag", "key", "")  # what is done by hand comes first
UNBOUNDED = 1e6  # a whole number that may be so large is the number of a place


class Section(QWidget):
    """A heading that folds, with controls of declared parameters under it."""

    changed = Signal(str, object, bool)  # parameter, all values, whether the gesture is over
    cleared = Signal()

    def __init__(
        self, title: str, symbol: str, params: Sequence[Param], addable: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._title, self._symbol = title, symbol
        self._addable = addable  # its default does something: a button puts it in the chain
        self.used = False
        self._opened = False  # by coming into use
        self._said = symbol
        self._followed: object = None  # the values shown, and whether they are in use
        self.head, self.summary, self.clear = QToolButton(self), QLabel(self), QToolButton(self)
        self.head.setCheckable(True)
        self.head.setAutoRaise(True)
        self.head.setText(title)
        self.head.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.head.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.head.toggled.connect(self._fold)
        self.summary.setMinimumWidth(1)  # long values do not push the boxes below out of the panel
        self.clear.setAutoRaise(True)
        self.clear.clicked.connect(self._button_clicked)
        policy = self.clear.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.clear.setSizePolicy(policy)
        self.controls = {p.name: ParamControl(p, self) for p in params if not p.quiet}
        self._params, self._held = tuple(params), tuple(p.default for p in params)
        self._body = QWidget(self)
        body = QVBoxLayout(self._body)
        body.setContentsMargins(10, 0, 6, 6)
        body.setSpacing(3)
        needed = max(
            (c.label.fontMetrics().horizontalAdvance(c.param.title) + 4 for c in self.controls.values()), default=0
        )
        for name, control in self.controls.items():
            control.set_label_width(min(max(needed, NARROW), BROAD))
            body.addWidget(control)
            control.changed.connect(lambda _v, done, n=name: self.changed.emit(n, self.values(), done))
        row = QHBoxLayout()
        row.setContentsMargins(2, 0, 2, 0)
        row.setSpacing(2)
        for widget in (self.head, self.summary, self.clear):
            row.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(self._body)
        self._fold(False)

    def _fold(self, open_: bool) -> None:
        self.head.setArrowType(Qt.ArrowType.DownArrow if open_ else Qt.ArrowType.RightArrow)
        self._body.setVisible(open_)

    def _button_clicked(self) -> None:
        if self.used:
            self.cleared.emit()
        else:
            self.changed.emit(next(iter(self.controls), ""), self.values(), True)

    def values(self) -> tuple[float, ...]:
        """Return the values of all parameters; those without a control are as they were shown."""
        pairs = zip(self._params, self._held, strict=True)
        return tuple(self.controls[p.name].value() if p.name in self.controls else held for p, held in pairs)

    def show_values(self, values: Sequence[float], used: bool) -> None:
        """Follow the state; `used` says whether the transform is in the chain."""
        same = (tuple(values), used) == self._followed
        # what is folded up cannot have been moved by hand
        if same and (not self.head.isChecked() or self.values() == tuple(values)):
            return
        self._followed, self._held = (tuple(values), used), tuple(values)
        shown = [(self.controls[p.name], v) for p, v in zip(self._params, values) if p.name in self.controls]
        for control, value in shown:
            control.set_value(value)
        changed, self.used = used != self.used, used
        if changed and self.head.isChecked() != used and (used or self._opened):
            self._opened = used  # what acts can be seen and moved; what the person opened stays open
            self.head.setChecked(used)
        self.clear.setVisible(used or self._addable)
        self.clear.setText("×" if used else "+")
        name = self._title.lower()
        self.clear.setToolTip(f"Take {name} out of the chain" if used else f"Put {name} into the chain")
        texts = [with_unit(c.param, v) for c, v in shown]
        while len(texts) > 1 and shown[len(texts) - 1][1] == shown[len(texts) - 1][0].param.default:
            texts.pop()
        hidden = [(p, v) for p, v in zip(self._params, values) if p.name not in self.controls]
        texts += ["…"] if any(v != p.default for p, v in hidden) else []
        self._said = ", ".join(texts) if used else self._symbol
        self._elide()
        if changed:
            self.apply_theme()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        """Say as much of the values as there is room for beside the title: they stand in the boxes below as well."""
        room = self.width() - self.head.sizeHint().width() - self.clear.sizeHint().width() - 12
        said = self.summary.fontMetrics().elidedText(self._said, Qt.TextElideMode.ElideRight, max(room, 24))
        self.summary.setText(said)
        self.summary.setToolTip(self._said if said != self._said else "")

    def apply_theme(self) -> None:
        t = theme.current()
        self.head.setStyleSheet("QToolButton { border: none; font-weight: 600; text-align: left; padding: 4px 2px; }")
        self.summary.setStyleSheet(f"color: {t.accent if self.used else t.muted};")
        self.clear.setStyleSheet(f"QToolButton {{ border: none; color: {t.muted}; }}")
        for control in self.controls.values():
            control.apply_theme()


class InspectorView(StateView):
    """Shows and edits the group element and the model's parameters; reads out the measure of the layer."""

    FOLLOWS = ("model", "params", "steps", "untransform")

    requested = Signal(str)  # "identity", "inverse" or "random"

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sections: dict[str, Section] = {}
        self.model_section: Section | None = None
        self._model_params: tuple[str, tuple[Param, ...]] = ("", ())
        self._placed: tuple[list[str], list[str]] = [], []  # the transforms that were shown and in use
        self.buttons: dict[str, QToolButton] = {}
        self.untransform = QCheckBox("Untransform: pull answers back", self)
        self.chain, self.complaint = QLineEdit(self), QLabel(self)
        self.table = MeasureTable(self)
        self.veil = Veil(self.table)
        self._build()
        self._show_state(self.state)
        self.apply_theme()

    def _build(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(8, 6, 8, 4)
        top.setSpacing(4)
        for name, _icon, title, tip in ELEMENTS:
            button = self.buttons[name] = QToolButton(self)
            button.setText(title)
            button.setToolTip(tip)
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            button.clicked.connect(lambda _on=False, n=name: self.requested.emit(n))
            top.addWidget(button)
        self.chain.setPlaceholderText("identity")
        self.chain.setToolTip("The chain of transforms, the first acting first: rotate:30+translate:4,0")
        self.chain.setAccessibleName("Chain of transforms")
        self.chain.editingFinished.connect(self._read_chain)
        self.chain.textEdited.connect(lambda _text: self._complain(""))
        self.complaint.setWordWrap(True)
        self.complaint.hide()
        content = QWidget()
        self._column = QVBoxLayout(content)
        self._column.setContentsMargins(0, 0, 0, 4)
        self._column.setSpacing(0)
        found = sorted(transforms().values(), key=_rank)
        for transform in found:
            section = self.sections[transform.name] = self._section_of(transform)
            section.head.setChecked(bool(transform.gesture) or _shuffles(transform))
            self._column.addWidget(section)
        self.untransform.setToolTip("Show ρ′(g)⁻¹ F(ρ(g) x) beside F(x)")
        self.untransform.clicked.connect(lambda on: self.wished.emit(Wish(changes={"untransform": on})))
        self._column.addSpacing(4)
        beside = QHBoxLayout()
        beside.setContentsMargins(10, 2, 6, 6)
        beside.addWidget(self.untransform)
        self._column.addLayout(beside)
        self._column.addStretch(1)
        self._content = content
        self.area = QScrollArea(self)
        self.area.setWidget(content)
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        line = QVBoxLayout()
        line.setContentsMargins(8, 4, 8, 4)
        line.setSpacing(2)
        line.addWidget(self.chain)
        line.addWidget(self.complaint)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addLayout(line)
        column.addWidget(self.area, 1)
        column.addWidget(self.table)
        self.setTabOrder(self.buttons[ELEMENTS[-1][0]], self.chain)  # from above to below

    def _section_of(self, transform: Transform) -> Section:
        acts = not transform.element(*transform.defaults).identity  # then no slider brings it into the chain
        section = Section(transform.title, transform.symbol, transform.params, acts)
        for control in section.controls.values():
            control.of = transform.name
        section.head.setToolTip(transform.summary)
        name = transform.name
        section.changed.connect(
            lambda param, values, done: self.wished.emit(
                Wish(step=(name, values), tag=f"inspector:{name}:{param}", done=done)
            )
        )
        section.cleared.connect(lambda: self._take_out(name))
        return section

    # what comes in --------------------------------------------------------------------------------------------
    def show_catalogue(self, catalogue: Catalogue) -> None:
        super().show_catalogue(catalogue)
        self._show_state(self.state)

    def show_stale(self, text: str) -> bool:
        self.veil.setGeometry(self.table.rect())
        self.veil.say(text)
        return True

    def follow(self) -> None:
        """Follow the person's choice at once, without answering it."""
        self._show_state(self.state)

    def refresh(self) -> None:
        if not self.told:
            self._show_state(self.state)  # alone, without a controller
        if self.squares:
            self._show_sections(self.state)
            self._bring(self.state)
            side = max(self.squares[0].x.shape[-2:], default=0)
            places = self.squares[0].places
            for section in self.sections.values():
                for control in section.controls.values():
                    control.set_reach(float(max(8, side // 2)))
                    if places and control.param.whole and control.param.maximum >= UNBOUNDED:
                        control.set_most(float(places - 1))
        self.table.show_frame(self.frame)

    def _show_state(self, state: State) -> None:
        card = split_name(state.model)[0]  # also with other weights than its own, as while it learns
        info = self.catalogue.by_name.get(card) if self.catalogue else None
        self._show_sections(state)
        for name, section in self.sections.items():
            if not section.isHidden():  # the others when they are shown: a drag changes the state with every turn
                self._show_values(name, state)
        if not self.chain.isModified():
            with QSignalBlocker(self.chain):
                self.chain.setText(chain_text(state.steps))
        with QSignalBlocker(self.untransform):
            self.untransform.setChecked(state.untransform)
        self._show_params(state, info.params if info is not None else ())
        self.buttons["identity"].setEnabled(bool(state.steps))
        self.buttons["inverse"].setEnabled(bool(state.steps))
        self._bring(state)

    def _bring(self, state: State) -> None:
        """Scroll to what has come into use, and of other data to the beginning, once it is laid out."""
        shown = [name for name, section in self.sections.items() if not section.isHidden()]
        used = [step.name for step in state.steps if step.name in shown]
        before, self._placed = self._placed, (shown, used)
        if shown != before[0]:
            QTimer.singleShot(0, self, lambda: self.area.verticalScrollBar().setValue(0))
        new = next((name for name in used if shown != before[0] or name not in before[1]), None)
        if new is not None:
            QTimer.singleShot(0, self, lambda: self.area.ensureWidgetVisible(self.sections[new], 0, 0))

    def _show_sections(self, state: State) -> None:
        """Show the transforms of what the model lives on; while that is not known, those in use."""
        domain = self.catalogue.domain_of(state.model) if self.catalogue else ""
        if self.catalogue and not domain and self.frame is not None and self.frame.state.model == state.model:
            domain = self.frame.squares[0].domain if self.frame.squares else ""  # a model from a file
        named = {step.name for step in state.steps}
        for name, transform in transforms().items():
            section = self.sections[name]
            # of a network that has not answered yet only what the person has named
            shown = domain in transform.domains if domain else not self.told or name in named
            if shown == section.isHidden():
                section.setVisible(shown)
                self._show_values(name, state)

    def _show_values(self, name: str, state: State) -> None:
        step = state.step(name)
        self.sections[name].show_values(transforms()[name].defaults if step is None else step.values, step is not None)

    def _show_params(self, state: State, params: tuple[Param, ...]) -> None:
        """Show the model's own parameters; the section is made anew only for another model."""
        if (state.model, params) != self._model_params:
            self._model_params = (state.model, params)
            if self.model_section is not None:
                self.model_section.setParent(None)
                self.model_section.deleteLater()
                self.model_section = None
            if params:
                section = self.model_section = Section("Model", "", params)
                section.head.setToolTip("What the network is built with; it is built anew on every change")
                section.head.setChecked(True)
                section.changed.connect(self._wish_params)
                section.cleared.connect(lambda: self.wished.emit(Wish(changes={"params": ()})))
                section.clear.setToolTip("Take the defaults")
                section.apply_theme()
                self._column.insertWidget(self._column.count() - 1, section)
        if self.model_section is not None:
            given = dict(state.params)
            values = [given.get(p.name, p.default) for p in params]
            self.model_section.show_values(values, bool(given))
            self.model_section.summary.setText("")

    # what goes out --------------------------------------------------------------------------------------------
    def _wish_params(self, name: str, values: tuple[float, ...], done: bool) -> None:
        _, params = self._model_params
        changed = tuple((p.name, v) for p, v in zip(params, values) if v != p.default)
        self.wished.emit(Wish(changes={"params": changed}, tag=f"inspector:model:{name}", done=done))

    def _take_out(self, name: str) -> None:
        steps = tuple(step for step in self.state.steps if step.name != name)
        self.wished.emit(Wish(changes={"steps": steps}))

    def _read_chain(self) -> None:
        if not self.chain.isModified():
            return
        try:
            steps: tuple[Step, ...] = parse_chain(self.chain.text())
        except ValueError as error:
            self._complain(str(error)[:1].upper() + str(error)[1:] + ".")
            return
        self._complain("")
        self.chain.setModified(False)
        self.chain.setText(chain_text(steps))
        self.wished.emit(Wish(changes={"steps": steps}))

    def _complain(self, sentence: str) -> None:
        self.complaint.setText(sentence)
        self.complaint.setVisible(bool(sentence))

    # exports --------------------------------------------------------------------------------------------------
    def figure_size(self) -> QSize:
        """Return the size at which no control is scrolled out of sight, for exported figures."""
        content = self._content.sizeHint().height()
        rest = self.sizeHint().height() - self.area.sizeHint().height()
        return QSize(max(self.width(), 270), content + rest + 12)

    def numbers(self) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {}
        for i, step in enumerate(self.state.steps):
            found[f"step {i} {step.name}"] = np.array(step.values, dtype=float)
        found.update(self.table.numbers())
        return found

    def caption(self) -> str:
        if self.frame is None or not self.frame.squares:
            return ""
        square = self.frame.squares[0]
        measure = square.measures.get(square.layer.name)
        error = f"; cumulative relative error at {square.layer.name}: {figure(measure.cumulative)}" if measure else ""
        return f"{subject(self.frame)}{error}."

    def apply_theme(self) -> None:
        t = theme.current()
        for name, drawing, _title, _tip in ELEMENTS:
            self.buttons[name].setIcon(icon(drawing))
        self.complaint.setStyleSheet(f"color: {t.bad};")
        for section in (*self.sections.values(), *([self.model_section] if self.model_section else [])):
            section.apply_theme()
        self.table.apply_theme()


def _shuffles(transform: Transform) -> bool:
    """Say whether it has nothing but seeds to run through: any of its elements is as good as another."""
    return transform.orbit is not None and transform.params[transform.orbit].name == "seed"


def _rank(transform: Transform) -> int:
    if transform.gesture in GESTURES and transform.gesture:
        return GESTURES.index(transform.gesture)
    return len(GESTURES) + (not _shuffles(transform))


def with_unit(param: Param, value: float) -> str:
    """Return the value of a parameter as it is read beside its title."""
    if param.name == "share":
        return f"{100 * value:.4g} %"
    unit = f" {param.unit}" if param.unit.isalpha() else param.unit
    if param.least and value == param.minimum:
        return param.least
    text = param.text(value)
    return f"{text}{unit}" if param.choices else with_minus(f"{text}{unit}")  # a name keeps its hyphen


VIEW = ViewSpec("inspector", "Transform", InspectorView, "right", 0, "The group element, its controls and its measure.")

if __name__ == "__main__":
    from types import SimpleNamespace

    from widgets.base.preview import preview

    def fill(view: InspectorView, samples: SimpleNamespace) -> None:
        view.show_catalogue(samples.make_catalogue())
        view.set_frame(samples.make_frame(compare=True))

    preview(InspectorView, fill)
