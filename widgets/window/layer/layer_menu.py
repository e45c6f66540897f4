"""The menu of a layer: change what it gives, try a symmetric version of it, take changes back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QInputDialog, QMenu, QWidget

from explorer.declare.states.interventions import CHANNEL, Intervention, with_intervention
from explorer.square.frame import LayerInfo
from widgets.base.look.icons import icon
from widgets.window.bars.culprits import culprit_beside
from widgets.window.controller import Controller

FACTORS = ((0.5, "× 0.5"), (2.0, "× 2"), (-1.0, "× −1"))
OTHER = "It applies to the first model; choose this one alone to intervene in it."


class LayerMenu(QObject):
    """Fills menus about one layer, and changes the interventions of the state."""

    tried = Signal(str)  # the layer whose symmetric versions are wanted

    def __init__(self, controller: Controller, parent: QWidget) -> None:
        super().__init__(parent)
        self._window, self._controller = parent, controller
        self._every: QMenu | None = None
        self.withheld = False  # whether a lesson asks which layer is guilty

    # what is selected -------------------------------------------------------------------------------------
    @property
    def layer(self) -> str:
        """Return the name of the layer that is shown, "" before there is one."""
        frame = self._controller.frame
        return frame.squares[0].layer.name if frame is not None and frame.squares else ""

    @property
    def guilty(self) -> str:
        """Return the layer that the verdict accuses: the one that is shown, or the first; "" where none is.

        Where none makes the fault, it is the one that it first shows in.
        """
        frame = self._controller.frame
        if frame is None or not frame.squares or self.withheld:
            return ""
        square = frame.squares[0]
        return self.layer if self.layer in square.guilty else next(iter(square.guilty), square.shows)

    def _info(self, layer: str) -> LayerInfo | None:
        frame = self._controller.frame
        layers = frame.squares[0].layers if frame is not None and frame.squares else ()
        return next((one for one in layers if one.name == layer), None)

    def mendable(self, layer: str) -> str:
        """Return the layer to make symmetric in place of this one: itself, or the one that makes it; "" for none."""
        info = self._info(layer)
        return info.mendable if info is not None else ""

    # menus ------------------------------------------------------------------------------------------------
    def popup(self, layer: str, unit: str, index: int, at: QPoint) -> None:
        """Show the menu of a layer, and of a channel or place of it, where the mouse is."""
        menu = QMenu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.fill(menu, layer, unit, index)
        menu.popup(at)

    def fill(self, menu: QMenu, layer: str, unit: str = "", index: int = -1) -> None:
        """Put what can be done with a layer into a menu: its part under the mouse first."""
        if self._info(layer) is None:
            menu.addAction(OTHER if layer else "No layer is shown yet").setEnabled(False)
            return
        if unit:
            self._changes(menu, layer, unit, (index,), f"{unit} {index}")
            menu.addSeparator()
        self._changes(menu, layer, "", (), layer)
        menu.addSeparator()
        if made_by := self.mendable(layer):
            what = f"{made_by}, which makes it" if made_by != layer else layer
            attempt = QAction(f"Try a symmetric version of {what}…", menu)
            attempt.triggered.connect(partial(self._call, partial(self.tried.emit, made_by)))
            menu.addAction(attempt)
        here = [one for one in self._controller.state.interventions if one.layer == layer]
        if here:
            menu.addSeparator()
        for one in here:
            back = QAction(icon("close"), f"Take back: {one.told}", menu)
            back.triggered.connect(partial(self._call, partial(self.remove, one)))
            menu.addAction(back)

    def _changes(self, menu: QMenu, layer: str, unit: str, index: tuple[int, ...], name: str) -> None:
        def add(into: QMenu, text: str, kind: str, value: str = "") -> None:
            action = QAction(text, into)
            one = Intervention(layer, kind, value, unit, index)
            action.triggered.connect(partial(self._call, partial(self.add, one)))
            into.addAction(action)

        known = {one.where: one for one in self._controller.state.interventions}
        add(menu, f"Zero {name}", "zero")
        scale = menu.addMenu(f"Scale {name}")
        for factor, text in FACTORS:
            add(scale, text, "scale", f"{factor:g}")
        other = QAction("Other factor…", scale)
        other.triggered.connect(partial(self._call, partial(self.ask_factor, layer, unit, index)))
        scale.addAction(other)
        add(menu, f"Freeze {name} to the unmoved run", "freeze")
        add(menu, f"Replace {name} by another input's", "replace")
        present = known.get((layer, unit, index))
        for action in menu.actions():
            if present is not None and present.kind == "freeze" and action.text().startswith(f"Freeze {name} "):
                action.setEnabled(False)

    @staticmethod
    def _call(slot: Callable[[], object], checked: bool = False) -> None:
        slot()

    # changes ----------------------------------------------------------------------------------------------
    def add(self, one: Intervention) -> None:
        """Intervene; what was done at the same place before gives way."""
        state = self._controller.state
        changes: dict[str, object] = {"interventions": with_intervention(state.interventions, one)}
        if state.layer == "" and one.layer == self.layer:
            changes["layer"] = one.layer  # what is chosen for the person now may be another one later
        self._controller.change(changes)

    def remove(self, one: Intervention) -> None:
        """Take one change back."""
        left = tuple(other for other in self._controller.state.interventions if other != one)
        self._controller.change({"interventions": left})

    def clear(self) -> None:
        """Take everything back."""
        self._controller.change({"interventions": ()})

    def ask_factor(self, layer: str, unit: str, index: tuple[int, ...]) -> None:
        """Ask for a factor, and scale by it."""
        dialog = QInputDialog(self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle("Scale")
        what = f"{unit} {index[0]} of {layer}" if unit else layer
        dialog.setLabelText(f"Multiply {what} by:")
        dialog.setInputMode(QInputDialog.InputMode.DoubleInput)
        dialog.setDoubleDecimals(4)
        dialog.setDoubleRange(-1e6, 1e6)
        dialog.setDoubleValue(0.5)
        dialog.doubleValueSelected.connect(
            lambda factor: self.add(Intervention(layer, "scale", f"{factor:g}", unit, index))
        )
        dialog.open()

    # the menu of the window -------------------------------------------------------------------------------
    def refill(self, menu: QMenu) -> None:
        """Fill the window's own menu for what is selected now."""
        from widgets.base.controls.menus import empty

        empty(menu)
        state = self._controller.state
        channel = state.channel if state.channel is not None else -1
        self.fill(menu, self.layer, CHANNEL if channel >= 0 else "", channel)
        guilty = self.guilty
        made_by = self.mendable(guilty)
        if made_by and made_by != self.mendable(self.layer):
            frame = self._controller.frame
            made = frame is not None and guilty in frame.squares[0].guilty
            why = "which breaks the law" if made else "where the fault first shows"
            inner = f"which makes {guilty}, " if made_by != guilty else ""
            attempt = QAction(f"Try a symmetric version of {made_by}, {inner}{why}…", menu)
            attempt.triggered.connect(partial(self._call, partial(self.tried.emit, made_by)))
            menu.addAction(attempt)
        if guilty and self._beside(1):
            menu.addSeparator()
            for title, by in (("Next guilty layer", 1), ("Guilty layer before", -1)):
                menu.addAction(title).triggered.connect(partial(self._call, partial(self._go, by)))
        menu.addSeparator()
        clear = QAction(icon("trash"), "Take back all interventions", menu)
        clear.setEnabled(bool(state.interventions))
        clear.triggered.connect(partial(self._call, self.clear))
        menu.addAction(clear)

    def layers(self) -> QMenu:
        """Return a menu of all layers, for who looks for one by its name."""
        if self._every is not None:
            self._every.deleteLater()
        menu = self._every = QMenu("Layers", self._window)
        frame = self._controller.frame
        for one in frame.squares[0].layers if frame is not None and frame.squares else ():
            action = menu.addAction(one.name.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(one.name == self.layer)
            action.triggered.connect(partial(self._call, partial(self._show, one.name)))
        return menu

    def _beside(self, by: int) -> str:
        frame = self._controller.frame
        return culprit_beside(frame.squares[0], by) if frame is not None and frame.squares else ""

    def _go(self, by: int) -> None:
        if name := self._beside(by):
            self._show(name)

    def _show(self, layer: str) -> None:
        self._controller.change({"layer": layer})
