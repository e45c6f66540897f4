"""The views of a window: those of the centre as tabs, the others for the docks; each told in its turn."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QApplication, QTabWidget, QWidget

from explorer.square.frame import Frame
from widgets.base.pace import Pace
from widgets.base.view import View, ViewSpec


class Panes(QTabWidget):
    """Makes every view, shows those of the centre as tabs, and hands frames to all. It knows no view by its class."""

    failed = Signal(str)  # a view broke, and how

    def __init__(self, specs: Sequence[ViewSpec], parent: QWidget | None = None) -> None:
        super().__init__(parent, documentMode=True)
        self.setTabBarAutoHide(True)
        self.views = [(spec, _made(spec)) for spec in sorted(specs, key=lambda s: (s.order, s.name))]
        for spec, view in self.centred:
            self.addTab(view, spec.title)
        self._pace = Pace(lambda ready: self.each(View.catch_up, [ready]), self)

    @property
    def centred(self) -> list[tuple[ViewSpec, View]]:
        """The views of the centre."""
        return [(spec, view) for spec, view in self.views if spec.area == "center"]

    @property
    def docked(self) -> list[tuple[ViewSpec, View]]:
        """The views for the docks."""
        return [(spec, view) for spec, view in self.views if spec.area != "center"]

    def named(self, name: str) -> View | None:
        """Return the view of that name."""
        return next((view for spec, view in self.views if spec.name == name), None)

    def front(self) -> View | None:
        """Return the view of the centre that can be seen."""
        current = self.currentWidget()
        return current if isinstance(current, View) else None

    def active(self) -> View | None:
        """Return the view that has the focus, else the one in front."""
        widget = QApplication.focusWidget()
        while widget is not None and not isinstance(widget, View):
            widget = widget.parentWidget()
        return widget if isinstance(widget, View) and widget.window() is self.window() else self.front()

    # telling ----------------------------------------------------------------------------------------------
    def each(self, show: Callable[[View], None], some: Sequence[View] | None = None) -> None:
        """Do something with every view, or `some`; one that breaks must not take the others with it."""
        for spec, view in self.views:
            if some is not None and view not in some:
                continue
            try:
                show(view)
            except Exception as error:
                self.failed.emit(f"{spec.title}: {type(error).__name__}: {error}")
                sys.excepthook(type(error), error, error.__traceback__)

    def show_frame(self, frame: Frame) -> None:
        """Let the view in front show a frame at once and the others soon."""
        front = self.front()
        two = frame if len(frame.squares) <= View.MOST else replace(frame, squares=frame.squares[: View.MOST])
        self.each(lambda view: self._pace.give(view, frame if view.MOST > View.MOST else two, view is front))

    # tabs -------------------------------------------------------------------------------------------------
    def raise_tab(self, view: View) -> None:
        """Bring a view of the centre to the front, also one that is not offered for this kind of data."""
        self.setTabVisible(self.indexOf(view), True)
        self.setCurrentWidget(view)

    def offer(self, domain: str) -> None:
        """Offer the tabs that have something to say of a kind of data."""
        for spec, view in self.centred:
            self.setTabVisible(self.indexOf(view), not spec.domains or domain in spec.domains)

    def at_home(self, domain: str) -> bool:
        """Say whether the view in front was made for a kind of data, or for all of them."""
        spec = next((spec for spec, view in self.centred if view is self.currentWidget()), None)
        return spec is not None and (not spec.domains or domain in spec.domains[:1])

    def show_home(self, domain: str) -> None:
        """Bring the view of the centre to the front that was made for a kind of data."""
        first = next((view for spec, view in self.centred if domain in spec.domains[:1]), None)
        if first is not None:
            self.setCurrentWidget(first)

    def close_all(self) -> None:
        """Close every view, wherever it is."""
        for _, view in self.views:
            view.close()


def _made(spec: ViewSpec) -> View:
    view = spec.make()
    view.setObjectName(spec.name)
    view.setWhatsThis(spec.summary)
    view.setAccessibleName(spec.title)
    return view
