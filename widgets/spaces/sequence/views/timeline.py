"""A sequence and what happens at each of its steps: input, gates and states over time, before and after g."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QMenu, QToolButton, QVBoxLayout, QWidget

from explorer.spaces.sequence.drawing.values import TimePart, parts_of_one_time
from explorer.square.frame import Square
from widgets.base.frame_view import FrameView
from widgets.base.look import theme
from widgets.base.view import ViewSpec, Wish, numbers_of
from widgets.spaces.sequence.timeline.canvas import TimeCanvas
from widgets.spaces.sequence.timeline.pyramids.building import Building
from widgets.spaces.sequence.timeline.pyramids.pyramid import Pyramid
from widgets.spaces.sequence.timeline.rows import (
    SIDES,
    Scene,
    attention_row,
    moved_names,
    one_hot,
    rows_of,
    scale_of,
    short_names,
)
from widgets.spaces.sequence.token_text import TokenText
from widgets.spaces.sequence.words import caption_of, step_text

NOTHING = "Pick a sequence to see its gates and states over time."
NONE = "This model does not live on a sequence.\nPick a sequence, and a model for it, in the gallery."
TITLES = {"before": "x and F(x)", "after": "ρ(g)x and F(ρ(g)x)", "difference": "Difference", "text": "Text to read"}
HINTS = (
    "Wheel: zoom in time · drag: pan · double click: all\n"
    "Drag the input left or right: shift it\n"
    "Click a step: the gradient back through time from it\n"
    "Click a name: that layer · the small arrow folds a row away\n"
    "Shift and wheel: rows up and down · ← →: the selected step"
)


class TimelineView(FrameView[tuple[Square, TimePart]]):
    """Draws the frame's time part; the selected step and the shift are wishes, zoom and folded rows are its own."""

    POINTS_AT, FOLLOWS, NOTHING, NONE = "step", ("node", "channel"), NOTHING, NONE

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._base: tuple[float, ...] | None = None
        self._picked: str | None = None  # the colour of tokens that the person chose
        self._of = ("", "")  # the network and the data whose rows are shown
        self._own = ""  # the layer of it that was selected when they were drawn last
        self.building = Building(self)
        self.canvas, self.text = TimeCanvas(pointer=self.pointer), TokenText(pointer=self.pointer)
        self.colour = QComboBox()
        self.colour.setAccessibleName("Tokens")
        self.colour.setToolTip("What the colour of a token means")
        self.colour.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.colour.setMinimumContentsLength(12)
        self.peaks, self.look, self.fit, self.help = (_button(w) for w in ("Extremes", "Show", "Fit", "?"))
        self.peaks.setCheckable(True)
        self.peaks.setToolTip("Where many steps share a pixel: show the one farthest from zero, not the mean")
        self.fit.setToolTip("Show all steps (0, or double click)")
        self.help.setToolTip(HINTS)
        self.look.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu = QMenu(self)
        self.actions_ = {name: self.menu.addAction(title) for name, title in TITLES.items()}
        for action in self.actions_.values():
            action.setCheckable(True)
            action.setChecked(True)
            action.toggled.connect(lambda _: self.refresh())
        self.look.setMenu(self.menu)
        self._build()
        self._connect()
        self.apply_theme()

    def _build(self) -> None:
        self._chrome = QWidget()
        self._chrome.setProperty("chrome", True)  # left out of exported figures
        row = QHBoxLayout(self._chrome)
        row.setContentsMargins(12, 6, 8, 4)
        row.setSpacing(6)
        self._word, self._note = QLabel("Tokens"), QLabel()
        for part in (self._word, self.colour, self._note):
            row.addWidget(part)
        row.addStretch(1)
        for button in (self.peaks, self.look, self.fit, self.help):
            row.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for widget in (self._chrome, self.text):
            column.addWidget(widget)
        column.addWidget(self.canvas, 1)
        self.setFocusProxy(self.canvas)

    def _connect(self) -> None:
        c = self.canvas
        self.colour.activated.connect(self._pick)
        self.peaks.toggled.connect(c.show_extremes)
        self.fit.clicked.connect(c.fit)
        self.building.grown.connect(self._grown)
        for told in (c.told, self.text.pointed):
            told.connect(self._point)
        for source in (c, self.text):
            source.clicked.connect(self._click)
        c.named.connect(lambda layer: self.wished.emit(Wish({"layer": layer, "channel": None})))
        c.shifted.connect(self._shift)
        c.panned.connect(self._panned)

    # what is shown ----------------------------------------------------------------------------------------------
    def parts(self) -> list[tuple[Square, TimePart]]:
        """Return the squares that live on the first one's sequence."""
        return parts_of_one_time(self.frame)

    def sides(self) -> list[str]:
        """Return the sides that are shown: without a transform there is only one."""
        parts = self.parts()
        if not parts:
            return []
        part = parts[0][1]
        same = len(part.gx) == part.steps and np.array_equal(part.order, np.arange(part.steps))
        still = self.frame is not None and not self.frame.state.steps and same
        return [s for s in SIDES if self.actions_[s].isChecked() and (not still or s == "before")]

    def show_empty(self, sentence: str) -> None:
        for widget in (self._word, self.colour, self.text):
            widget.hide()
        self._chrome.setEnabled(False)
        self.canvas.message = sentence
        self.canvas.set_scene(Scene())

    def draw(self, parts: list[tuple[Square, TimePart]]) -> None:
        c, tokens = self.canvas, len(parts[0][1].names) == parts[0][1].steps
        self._chrome.setEnabled(True)
        c.message = ""
        for widget in (self._word, self.colour):
            widget.setVisible(tokens)
        if tokens:
            self._offer(parts[0][1])
        sides, part = self.sides(), parts[0][1]
        node = self.state.node if self.state.node is not None and 0 <= self.state.node < part.steps else None
        rows = tuple(rows_of(parts, sides, self.building.pyramid, node is not None))
        self.building.keep_only({id(a) for _, p in parts for a in _arrays(p)})
        tint, scale = self._tint(part) if tokens else ({}, ("", 1.0))
        scene = Scene(
            rows, part.steps, len(part.gx), part.names, moved_names(part) if tokens else (), part.times,
            np.asarray(part.order, np.float64), part.known if "after" in sides or "difference" in sides else None,
            part.gradient, node, tint, scale, self._tint_name(part) if tint else "",
        )  # fmt: skip
        own, before = parts[0][0].layer.name, self._own
        if (of := (parts[0][0].model, self.state.sample)) != self._of:
            self._of, before = of, own
            c.bar.setValue(0)  # how far rows of another network were scrolled says nothing here
        self._own = own
        c.set_scene(scene)
        if own != before:
            c.show_own()  # it was chosen here, in sight, or in another view
        if tokens and self.actions_["text"].isChecked() and self.text.worth(scene, c.axis.right - c.axis.left):
            self.text.show_scene(scene, max(0, int(c.axis.first)))
        else:
            self.text.hide()
        self._say(self.building.done if self.building.running else 1.0)

    def _say(self, done: float) -> None:
        """Say what is not to be seen in the rows: how far their sums are, and what the hatching means."""
        known = self.canvas.shown.known
        words = "" if known is None or known.all() else "hatched: not compared"
        self._note.setText(words if done >= 1 else f"summing up {done:.0%}")

    def _offer(self, part: TimePart) -> None:
        """Offer what tokens can be coloured by."""
        items = [("", "their letters" if one_hot(part.x) and part.x.shape[1] <= 10 else "plain")]
        if part.kind == "pair":
            given = self.state.node is not None
            items.append(("attention", "attention given" if given else "attention received"))
        if part.attended is not None:
            items.append(("attended", "attention given"))
        if part.kind == "step":
            items.append(("layer", "the layer"))
        items += [
            (f"gate:{name}", title) for name, title in zip(part.gates, short_names(list(part.gates)), strict=True)
        ]
        names = [name for name, _ in items]
        wanted = self._picked
        if wanted not in names:
            lettered = items[0][1] != "plain"
            wanted = "attention" if part.kind == "pair" else "" if lettered or "layer" not in names else "layer"
            wanted = "attended" if self._attends(part) else wanted
        self.colour.blockSignals(True)
        if [(self.colour.itemData(i), self.colour.itemText(i)) for i in range(self.colour.count())] != items:
            self.colour.clear()
            for name, text in items:
                self.colour.addItem(text, name)
        self.colour.setCurrentIndex(names.index(wanted))
        self.colour.blockSignals(False)

    def _attends(self, part: TimePart) -> bool:
        """Say whether the selected layer lies in the attention that a row is shown of."""
        layer = self.parts()[0][0].layer.name
        return part.attended is not None and f"{layer}.".startswith(f"{part.attended.name}.")

    def _pick(self) -> None:
        """Keep what the person chose for as long as it is offered."""
        self._picked = str(self.colour.currentData())
        self.refresh()

    def _tint_name(self, part: TimePart) -> str:
        """Return what the colours of tokens mean, in words."""
        what, channel = str(self.colour.currentData() or ""), self.state.channel
        if what == "attention":
            head = f"head {channel}" if channel is not None else _mean_of(len(part.values))
            node = self.state.node
            return f"what each step receives, {head}" if node is None else f"attention of step {node}, {head}"
        if what == "attended" and part.attended is not None:
            heads = part.attended.row.shape[1]
            head = f"head {channel}" if channel is not None and channel < heads else _mean_of(heads)
            where = part.attended.name.replace("_", " ").replace(".", " ")
            return f"attention of step {self.state.node}, {head}, {where}"
        values = part.values if what == "layer" else part.gates.get(what.removeprefix("gate:"))
        if values is None:
            return ""
        layer = self.parts()[0][0].layer.name if what == "layer" else what.removeprefix("gate:")
        units = values.shape[1]
        own = channel is not None and channel < units
        which = f"unit {channel}" if own else f"mean of {units} units" if units > 1 else ""
        return ", ".join(filter(None, (short_names([layer])[0], which)))

    def _tint(self, part: TimePart) -> tuple[dict[str, NDArray[Any]], tuple[str, float]]:
        """Return what tokens are coloured by, on both sides, and the scale of it."""
        what = str(self.colour.currentData() or "")
        if what == "attention":
            node, head = self.state.node, self.state.channel
            found = {"before": attention_row(part, part.values, node, head)}
            # a node may be one of data whose frame is yet to come
            there = None
            if node is not None and node < len(part.order) and np.isfinite(part.order[node]):
                there = round(float(part.order[node]))
            found["after"] = attention_row(part, part.moved, there, head)
        elif what == "attended" and part.attended is not None:
            sides = {"before": part.attended.row, "after": part.attended.moved}
            found = {side: None if v is None else _at_step(v, self.state.channel) for side, v in sides.items()}
        elif what == "layer":
            found = {
                side: _at_step(v, self.state.channel) for side, v in (("before", part.values), ("after", part.moved))
            }
        elif what.startswith("gate:"):
            name = what.removeprefix("gate:")
            after = part.moved_gates.get(name)
            found = {"before": _at_step(part.gates[name], self.state.channel),
                     "after": None if after is None else _at_step(after, self.state.channel)}  # fmt: skip
        else:
            return {}, ("", 1.0)
        known = {side: values for side, values in found.items() if values is not None}
        name = self.parts()[0][0].layer.name if what == "layer" else what
        scale, limit = scale_of(name, *(Pyramid(v) for v in known.values()))
        if what in ("attention", "attended"):
            spans = [Pyramid(v).span() for v in known.values()]
            low, high = min((s[0] for s in spans), default=0.0), max((s[1] for s in spans), default=0.0)
            # logits are seen so as well, and masked ones are far below zero
            scale, limit = ("signed", max(-low, high)) if low < 0 else ("positive", high or 1.0)
        return known, (scale, limit)

    # what the hand does -----------------------------------------------------------------------------------------
    def _grown(self, done: float) -> None:
        if done >= 1:
            self.refresh()  # limits are known exactly now
        else:
            self._say(done)

    def _point(self, found: tuple[Any, str, int, int | None] | None) -> None:
        if found is None:
            self.hovered.emit("")
            return
        row, side, step, unit = found
        self.hovered.emit(step_text(self.canvas.shown, side, step, row, unit))

    def _click(self, side: str, step: int) -> None:
        scene = self.canvas.shown
        own = step if side == "before" else scene.back(step)
        if own is None or own >= scene.steps:
            self.hovered.emit(f"step {step} of ρ(g)x is padding: no step of x is there")
            return
        self.wished.emit(Wish({"node": None if own == self.state.node else own, "other": None}))

    def _shift(self, steps: int, done: bool) -> None:
        """Ask for the input to be shifted by so many steps more than when the drag began."""
        if self._base is None:
            step = self.state.step("shift")
            self._base = tuple(step.values) if step is not None else (0.0, 0.0)
        values = (self._base[0] + float(steps), *self._base[1:])
        self.wished.emit(Wish(step=("shift", values), tag="shift", done=done))
        if done:
            self._base = None

    def _panned(self) -> None:
        if not self.text.isHidden():
            self.text.start_at(max(0, int(self.canvas.axis.first)))

    def keyPressEvent(self, event: Any) -> None:
        steps, node = self.canvas.shown.steps, self.state.node
        match event.key():
            case Qt.Key.Key_0:
                self.canvas.fit()
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal:
                self.canvas.zoom(0.8)
            case Qt.Key.Key_Minus:
                self.canvas.zoom(1.25)
            case Qt.Key.Key_Left | Qt.Key.Key_Right if steps:
                by = 1 if event.key() == Qt.Key.Key_Right else -1
                wanted = min(steps - 1, max(0, 0 if node is None else node + by))
                self.canvas.show_step(wanted)
                self.wished.emit(Wish({"node": wanted, "other": None}, tag="step"))
            case Qt.Key.Key_Escape if node is not None:
                self.wished.emit(Wish({"node": None, "other": None}))
            case _:
                super().keyPressEvent(event)

    # what every view can do ---------------------------------------------------------------------------------------
    def apply_theme(self) -> None:
        for label in (self._word, self._note):
            label.setStyleSheet(f"color: {theme.current().muted};")
        self.canvas.dress()
        self.refresh()
        self.text.update()

    def settle(self) -> None:
        """Run the event loop until all pyramids are built, and draw sharply."""
        self.building.settle()
        self.canvas.settle()

    def figure_size(self) -> QSize:
        """Return the size at which no row is out of sight."""
        text = 0 if self.text.isHidden() else self.text.sizeHint().height()
        return QSize(max(640, self.width()), max(self.height(), self.canvas.full_height() + text))

    def numbers(self) -> dict[str, NDArray[Any]]:
        sides = []
        for square, part in self.parts():
            known = {"time": part.times, "name": np.array(part.names, np.str_) if part.names else None, "x": part.x,
                     "ρ(g)x": part.gx, "order": part.order, "F(x)": part.values, "F(ρ(g)x)": part.moved,
                     "ρ′(g)F(x)": part.expected, "difference": part.difference, "known": part.known,
                     "gradient": part.gradient}  # fmt: skip
            if part.attended is not None:
                known |= {"attention": part.attended.row, "attention after": part.attended.moved}
            moved = {f"{name} after": v for name, v in part.moved_gates.items()}
            sides.append((square, {**known, **part.gates, **moved}))
        return numbers_of(sides)

    def caption(self) -> str:
        if not self.parts() or self.frame is None:
            return ""
        axis = self.canvas.axis
        return caption_of(self.frame, self.canvas.shown, axis.first, axis.last, self.sides(), self.peaks.isChecked())

    def hideEvent(self, event: Any) -> None:
        super().hideEvent(event)
        self.pointer.moved.emit(None)

    def closeEvent(self, event: Any) -> None:
        self.building.close()
        super().closeEvent(event)


def _arrays(part: TimePart) -> list[Any]:
    own = [part.x, part.gx, part.values, part.moved, part.difference, part.gradient]
    if part.attended is not None:
        own += [part.attended.row, part.attended.moved]
    return [a for a in (*own, *part.gates.values(), *part.moved_gates.values()) if a is not None]


def _at_step(values: NDArray[Any], channel: int | None) -> NDArray[Any]:
    """Return one number a step: the unit looked at, or the mean of all."""
    flat = np.asarray(values).reshape(len(values), -1)
    return np.asarray(flat[:, channel] if channel is not None and channel < flat.shape[1] else flat.mean(1))


def _button(text: str) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setAutoRaise(True)
    return button


def _mean_of(heads: int) -> str:
    return f"mean of {heads} heads" if heads > 1 else "one head"


VIEW = ViewSpec(
    "timeline", "Timeline", TimelineView, "center", -1, "A sequence, its gates and its states over time.",
    domains=("sequence",),
)  # fmt: skip


if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(TimelineView, lambda view, samples: view.set_frame(samples.make_frame()))
