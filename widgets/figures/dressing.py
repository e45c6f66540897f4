"""Views as they are on paper: in its colours, as wide as a column, without controls; and back again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QWidget

from widgets.base.look import theme as themes
from widgets.base.view import View
from widgets.figures.style import Style

SMALLEST = QSize(320, 160)  # of a view that was never laid out
LEFT_OUT = "left out"  # the property of what is hidden while a figure is drawn


@contextmanager
def dressed(view: View, theme: themes.Theme, style: Style) -> Iterator[Callable[[float], None]]:
    """Set a theme for `view`, leave out controls, give a call that gives it the size of a figure; then take all back.

    Who enters tells the view to apply the theme, once all else that it draws by is set.

    The call takes by how much more is drawn on the width of the figure. The window behind does not flicker: no event is
    handled, and so nothing repainted, before the end.
    """
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    kept, sheet, geometry = dict(themes._state), view.styleSheet(), view.geometry()
    view._flush()  # a view that was never seen holds its frame back
    view.settle()
    bars = {
        a: (a.horizontalScrollBarPolicy(), a.verticalScrollBarPolicy()) for a in view.findChildren(QAbstractScrollArea)
    }
    around = _around(view)

    def sized(factor: float) -> None:
        view.resize(geometry.size())  # a figure is as flat as the view, whatever was tried before
        for _ in range(2):  # some views show their controls again when they are given another size
            lay_out_bare(view)
            view.resize(_figure_size(view, style, factor))
        lay_out(view)

    try:
        # a chart that shows itself at the new size has them carried out, and the view its old size again
        _lay_out_by(around, False)
        for area in bars:  # on paper nothing scrolls
            area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        themes._state["theme"] = theme
        # the program's palette, because under a style sheet a widget does not inherit that of its parent
        app.setPalette(themes.palette(theme))
        view.setStyleSheet(themes.style_sheet(theme))
        view.ensurePolished()
        yield sized
    finally:
        themes._state.update(kept)
        for widget in view.findChildren(QWidget):
            if widget.property(LEFT_OUT):
                widget.setProperty(LEFT_OUT, None)
                widget.show()
        for area, (across, down) in bars.items():
            area.setHorizontalScrollBarPolicy(across)
            area.setVerticalScrollBarPolicy(down)
        themes.colour_controls(app, themes.current())
        view.setStyleSheet(sheet)
        view.apply_theme()
        view.setGeometry(geometry)
        _lay_out_by(around, True)
        lay_out(view)


def _around(view: QWidget) -> list[QWidget]:
    """Return the widgets whose layouts give a view its place in the window."""
    found, at = [], view.parentWidget()
    while at is not None:
        if (layout := at.layout()) is not None and layout.isEnabled():
            found.append(at)
        at = None if at.isWindow() else at.parentWidget()
    return found


def _lay_out_by(widgets: list[QWidget], on: bool) -> None:
    for widget in widgets:
        if (layout := widget.layout()) is not None:
            layout.setEnabled(on)


def grow(view: QWidget) -> bool:
    """Make a view higher by what stands in more lines on paper than on the screen; return whether it is.

    What is drawn below keeps its height. A view that knows the size of all its rows may know a larger one by now.
    """
    rows: dict[int, int] = {}
    for widget in view.findChildren(QWidget):
        if (more := getattr(widget, "extra_height", 0)) and widget.isVisibleTo(view):
            top = widget.mapTo(view, QPoint()).y()
            rows[top] = max(rows.get(top, 0), round(more))
    wanted = getattr(view, "figure_size", None)
    least = wanted().height() if wanted is not None else 0
    before = view.height()
    view.resize(view.width(), max(before + sum(rows.values()), least))
    return view.height() != before


def left_out(view: QWidget) -> int:
    """Return how many names the charts of a view have no room for."""
    return sum(getattr(w, "left_out", 0) for w in view.findChildren(QWidget) if w.isVisibleTo(view))


def chrome(view: View) -> list[QWidget]:
    """Return what of the seen is no part of a figure: controls, and charts that only say how they would be filled."""
    shown = [w for w in view.findChildren(QWidget) if not w.isHidden()]
    charts = [w for w in shown if isinstance(getattr(w, "message", None), str) and w.isVisibleTo(view)]
    hints = [w for w in charts if getattr(w, "message", "")]
    return [w for w in shown if w.property("chrome") or (w in hints and len(hints) < len(charts))]


def _figure_size(view: View, style: Style, factor: float) -> QSize:
    """Return the size asked for by the view (all rows of a list), else the one on screen.

    Of a certain width it has as many pixels as let its text have the wished size when it is brought to that width.
    """
    wanted = getattr(view, "figure_size", None)
    size: QSize = wanted() if wanted is not None else view.size()
    size = size.expandedTo(view.minimumSizeHint()).expandedTo(SMALLEST)
    if style.width is None:
        return size
    width = style.width / 25.4 * view.logicalDpiX() * view.fontInfo().pointSizeF() / style.points * factor
    # a figure that is narrower is less flat: its text does not shrink with it
    # several pictures side by side would be tiny in a column: such a view asks for height
    flat = max(min(size.height() / size.width(), 0.75), getattr(view, "figure_height", 0.0))
    high = size.height() if wanted is not None else max(round(width * flat), 200)
    if (at := getattr(view, "height_at", None)) is not None:
        high = at(round(width))
    return QSize(round(width), high).expandedTo(view.minimumSizeHint())


def lay_out_bare(view: View) -> None:
    """Lay out a view without what is no part of a figure, also what came with its last picture."""
    for widget in chrome(view):
        widget.setProperty(LEFT_OUT, True)
        widget.hide()
    lay_out(view)


def lay_out(view: QWidget) -> None:
    """Carry out layouts that are waiting for the event loop, and nothing else that waits there."""
    for _ in range(2):  # scroll areas find their size after the layouts round them have
        for widget in (view, *view.findChildren(QWidget)):
            QApplication.sendPostedEvents(widget, QEvent.Type.LayoutRequest)
            if (layout := widget.layout()) is not None:
                layout.activate()
        view.grab(QRect(0, 0, 1, 1))  # sends a hidden view the sizes it would be sent when shown
