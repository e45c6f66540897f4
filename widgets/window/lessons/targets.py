"""Find in the window what a step of a lesson means: a view, its tab while it is behind others, or one control in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from PySide6.QtCore import QModelIndex, QPoint, QRect
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QScrollArea, QTabBar, QWidget

from explorer.state.lessons.pattern import CHOSEN, view_named
from explorer.state.lessons.tasks import Task
from widgets.base.controls.param_control import ParamControl
from widgets.base.view import View
from widgets.window.room.shell import Shell

# the view in which a person changes a field of the state; of all others the view in front
WHERE = {
    "model": "gallery", "models": "gallery", "compare": "gallery", "sample": "gallery", "layer": "layers",
    "steps": "inspector", "params": "inspector", "orbit": "inspector", "interventions": "layers", "watched": "layers",
    "gradient": "weights", "saliency": "saliency", "laws": "laws", "against": "differences",
}  # fmt: skip


def view_of(task: Task) -> str:
    """Return the name of the view that a step means, "" for the one in front."""
    if task.show or not task.patterns:
        return task.show
    first = task.patterns[0]
    first = first["any"][0] if "any" in first else first
    if isinstance(named := first.get("view"), str):
        return view_named(named)
    return next((WHERE[name] for name in first if name in WHERE), "")


def _aim(shell: Shell, task: Task) -> str:
    """Return the view to point at: where the one that is named is seen already, that of what is to be changed."""
    name = view_of(task) or _front(shell)
    if task.show or not controls_of(task) or name not in in_sight(shell):
        return name
    view = shell.panes.named(name)
    if view is not None and any((c.of, c.param.name) in controls_of(task) for c in view.findChildren(ParamControl)):
        return name
    return WHERE["params"]


def menu_of(shell: Shell, task: Task) -> QAction | None:
    """Return the menu that a step says to go through, as in "With Model › Compare with", None where it names none.

    With the menus of macOS, which are not in the window, nothing can be pointed at.
    """
    if shell.menuBar().isNativeMenuBar():
        return None
    words = set(re.findall(r"(\w+) ›", task.do))
    found = (action for action in shell.menuBar().actions() if action.text().replace("&", "") in words)
    return next(found, None)


def controls_of(task: Task) -> list[tuple[str, str]]:
    """Return the parameters that a step is about: the transform of each, "" for the model's own, and its name."""
    found: list[tuple[str, str]] = []
    for pattern in task.patterns:
        found += [("", name) for name in _inside(pattern.get("params"))]
        for transform, wanted in _inside(pattern.get("steps")).items():
            found += [(transform, name) for name in _inside(wanted)]
    return list(dict.fromkeys(found))


def _inside(wanted: Any) -> Mapping[str, Any]:
    return wanted if isinstance(wanted, Mapping) else {}


def place_of(shell: Shell, task: Task) -> QRect | None:
    """Return the place in the window that a step means, None where it has none."""
    if (menu := menu_of(shell, task)) is not None:
        bar = shell.menuBar()
        return QRect(bar.mapTo(shell, bar.actionGeometry(menu).topLeft()), bar.actionGeometry(menu).size())
    name = _aim(shell, task)
    seat = next((seat for seat in shell.panes.seats if seat.spec.name == name), None)
    if seat is None:
        return None
    if not seat.isVisible():
        return _tab_of(shell, seat.spec.title)
    if (place := _list_of(shell, name, task)) is not None:
        return place
    if seat.view is not None and (row := _row_in(shell, seat.view, task)) is not None:
        return row
    for control in _controls(seat if seat.view is not None else None, task):
        seen = _unfolded(control, seat)
        if seen is not None and not seen.visibleRegion().isEmpty():
            return _rect_in(shell, seen)
    return _rect_in(shell, seat)


def bring(shell: Shell, task: Task) -> None:
    """Bring the view that a step means to the front, and in it the control; a menu is only pointed at."""
    if menu_of(shell, task) is not None and not task.show:
        return
    name = _aim(shell, task)
    shell.show_view(name)
    view = shell.panes.named(name)
    _scroll(view, task)
    if view is not None and (index := _entry(view, task)) is not None:
        view.bring_row(index)


def scroll_to(shell: Shell, task: Task) -> None:
    """Scroll to the control that a step means, where its view is seen: half of it at the edge is easily overlooked."""
    name = _aim(shell, task)
    if name in in_sight(shell):
        _scroll(shell.panes.named(name), task)


def _entry(view: View, task: Task) -> QModelIndex | None:
    """Return the row of a list in a view that a step names as what to choose; a riddle names none."""
    for pattern in () if task.reveal else task.patterns:
        for field, wanted in pattern.items():
            for name in wanted if isinstance(wanted, list | tuple) else (wanted,):
                if isinstance(name, str) and (index := view.choice_row(field, name, task.do)) is not None:
                    return index
    return None


def _row_in(shell: Shell, view: View, task: Task) -> QRect | None:
    """Return the place of that row in the window, None while it cannot be seen."""
    index = _entry(view, task)
    lists = view.findChildren(QAbstractItemView) if index is not None else []
    shown = next((each for each in lists if index is not None and each.model() is index.model()), None)
    if shown is None or index is None or not shown.isVisible():
        return None
    port = shown.viewport()
    rect = shown.visualRect(index).intersected(port.rect())
    return None if rect.isEmpty() else QRect(port.mapTo(shell, rect.topLeft()), rect.size())


def areas_of(shell: Shell, task: Task) -> list[QScrollArea]:
    """Return what scrolls in the view that a step means."""
    view = shell.panes.named(_aim(shell, task))
    return [] if view is None else view.findChildren(QScrollArea)


def _scroll(view: QWidget | None, task: Task) -> None:
    for control in _controls(view, task):
        assert view is not None
        if (seen := _unfolded(control, view)) is not None:
            for area in view.findChildren(QScrollArea):
                if area.isAncestorOf(seen):
                    area.ensureWidgetVisible(seen)
            return


def _controls(view: QWidget | None, task: Task) -> list[ParamControl]:
    """Return the controls in a view that a step is about, in the order in which it names them."""
    every = view.findChildren(ParamControl) if view is not None else []
    return [c for wanted in controls_of(task) for c in every if (c.of, c.param.name) == wanted]


def _unfolded(control: ParamControl, view: QWidget) -> QWidget | None:
    """Return a control, or the section in which it is folded away; None where that is not shown either."""
    found: QWidget | None = control
    while found is not None and found is not view and not found.isVisibleTo(view):
        found = found.parentWidget()
    if found is None or any(other.of != control.of for other in found.findChildren(ParamControl)):
        return None
    return found


def in_sight(shell: Shell) -> set[str]:
    """Return the names of the views that can be seen."""
    # a seat behind another tab is hidden, in the centre by its page and in a dock by the dock
    return {seat.spec.name for seat in shell.panes.seats if seat.isVisible()}


def choices(shell: Shell, seen: bool = True) -> list[tuple[str, QComboBox | QTabBar]]:
    """Return the lists and tabs to choose from, in views that can be `seen` or in all, with the names of the views."""
    seats = [seat for seat in shell.panes.seats if seat.view is not None and (seat.isVisible() or not seen)]
    found: list[tuple[str, QComboBox | QTabBar]] = []
    for seat in seats:
        found += [(seat.spec.name, box) for box in seat.findChildren(QComboBox)]
        found += [(seat.spec.name, bar) for bar in seat.findChildren(QTabBar)]
    return [(name, box) for name, box in found if box.isVisible() or not seen]


def options(box: QComboBox | QTabBar) -> list[str]:
    """Return what can be chosen in a list, or by tabs."""
    named = box.itemText if isinstance(box, QComboBox) else box.tabText
    return [named(k) for k in range(box.count())]


def chosen(box: QComboBox | QTabBar) -> str:
    """Return what is chosen in a list, or by tabs."""
    return box.currentText() if isinstance(box, QComboBox) else box.tabText(box.currentIndex())


def _list_of(shell: Shell, name: str, task: Task) -> QRect | None:
    """Return the place of the list, or the tab, that a step asks to choose in a view, None where it does not."""
    wanted = [asked for p in task.patterns if isinstance(asked := p.get("view"), str) and CHOSEN in asked]
    for box in (box for view, box in choices(shell) if view == name):
        for k, text in enumerate(options(box)):
            if any(fnmatchcase(f"{name}{CHOSEN}{text}", asked) for asked in wanted):
                return _rect_in(shell, box) if isinstance(box, QComboBox) else _tab_in(shell, box, k)
    return None


def seen_in(shell: Shell) -> set[str]:
    """Return the names of the views that can be seen, and what is chosen in their lists and by their tabs."""
    return in_sight(shell) | {f"{name}{CHOSEN}{chosen(box)}" for name, box in choices(shell)}


def _front(shell: Shell) -> str:
    front = shell.panes.currentWidget()
    return next((seat.spec.name for seat in shell.panes.seats if seat is front), "")


def _tab_of(shell: Shell, title: str) -> QRect | None:
    for tabs in shell.findChildren(QTabBar):
        for k in range(tabs.count()):
            if tabs.tabText(k) == title and tabs.isVisible() and tabs.isTabVisible(k):
                return _tab_in(shell, tabs, k)
    return None


def _tab_in(shell: Shell, tabs: QTabBar, k: int) -> QRect:
    rect = tabs.tabRect(k)
    return QRect(tabs.mapTo(shell, rect.topLeft()), rect.size())


def _rect_in(shell: Shell, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(shell, QPoint(0, 0)), widget.size())
