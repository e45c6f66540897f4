"""The window: views found by scanning, docks round the stage, menus, and lines that say what is going on."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QByteArray, QEvent, QSettings, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QGuiApplication,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLabel,
    QMainWindow,
    QStackedWidget,
    QTabWidget,
    QToolBar,
    QVBoxLayout,
    QWhatsThis,
    QWidget,
)

import widgets
from explorer.app.runner import Engine
from explorer.declare.elements import chain_text
from explorer.declare.registry import scan
from explorer.square.frame import Failure, Frame, OrbitCurve
from explorer.state.catalogue import Busy, Catalogue
from explorer.state.session import Session
from explorer.state.state import State
from widgets.base import theme
from widgets.base.icons import app_icon
from widgets.base.pace import Pace
from widgets.base.view import View, ViewSpec
from widgets.views.log import LogView
from widgets.window import help as help_pages
from widgets.window.chrome import Corner, StatusBar
from widgets.window.controller import Controller
from widgets.window.docks import Docks
from widgets.window.files import Files
from widgets.window.infobar import InfoBar
from widgets.window.menus import Menus
from widgets.window.palette import Palette, actions_of
from widgets.window.waiting import LoadingPage

SIZE = QSize(1280, 800)
SETTINGS = "EQUISCOPE_SETTINGS"  # environment: the path of an INI file in place of the person's own settings


def open_settings() -> QSettings:
    """Return where layout, theme and recent files are remembered."""
    path = os.environ.get(SETTINGS)
    return QSettings(path, QSettings.Format.IniFormat) if path else QSettings("equiscope", "equiscope")


class MainWindow(QMainWindow):
    """Everything on screen. It knows views by their base class only, and the engine not at all."""

    on_screen = Signal()  # painted for the first time: now there is time to start the engine
    closed = Signal(object)  # whether the worker ended

    def __init__(
        self,
        start_engine: Callable[[], Engine],
        state: State | None = None,
        settings: QSettings | None = None,
        specs: Sequence[ViewSpec] | None = None,
    ) -> None:
        super().__init__()
        self.settings = settings or open_settings()
        self._painted = self._closed = False
        theme.use(str(self.settings.value("theme", "system")))
        self.setWindowIcon(app_icon())
        self.setAcceptDrops(True)
        self.controller = Controller(start_engine, state, self)
        found = sorted(specs if specs is not None else scan(widgets, "VIEW", "views").values(), key=_in_order)
        self.views = [(spec, self._make_view(spec)) for spec in found]
        self._build_center()
        self.docks = Docks(self, [(s, v) for s, v in self.views if s.area != "center"])
        self.files = Files(self)
        self.menus = Menus(self)
        self._build_chrome()
        self.palette_box = Palette(self)
        self._pace = Pace(lambda ready: self._each(lambda view: view.catch_up() if view is ready else None), self)
        self._lesson: help_pages.LessonPanel | None = None
        self._connect()
        self._restore()
        self._theme_changed()
        self._show_state(self.controller.state, self.controller.state)

    # building ---------------------------------------------------------------------------------------------
    def _make_view(self, spec: ViewSpec) -> View:
        view = spec.make()
        view.setObjectName(spec.name)
        view.setWhatsThis(spec.summary)
        view.setAccessibleName(spec.title)
        view.wished.connect(self.controller.grant)
        view.hovered.connect(lambda text: self.status.read(text))
        # a view that plays the orbit has a button for it
        if hasattr(view, "play_toggled"):
            view.play_toggled.connect(self._play)
        if hasattr(view, "set_playing"):
            self.controller.played.connect(view.set_playing)
        if hasattr(view, "requested"):
            view.requested.connect(self._requested)
        if isinstance(view, LogView):
            self.controller.log.connect(view.add)
        return view

    def _requested(self, what: str) -> None:
        """Do what a view's button asks of the element: "identity", "inverse" or "random"."""
        c = self.controller
        {"identity": c.reset, "inverse": c.invert, "random": c.randomise}[what]()

    def _build_center(self) -> None:
        self._domain = ""  # of what is shown
        self.tabs = QTabWidget(documentMode=True)
        self.tabs.setTabBarAutoHide(True)
        for spec, view in self.views:
            if spec.area == "center":
                self.tabs.addTab(view, spec.title)
        self.loading = LoadingPage()
        self.stack = QStackedWidget()
        self.stack.addWidget(self.loading)
        self.stack.addWidget(self.tabs)
        self.infobar = InfoBar()
        center = self._center = QWidget()
        center.setObjectName("center")
        column = QVBoxLayout(center)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.infobar)
        column.addWidget(self.stack, 1)
        self.setCentralWidget(center)
        self._drop_hint = QLabel("Drop to open", center, alignment=Qt.AlignmentFlag.AlignCenter)
        self._drop_hint.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._drop_hint.hide()

    def _build_chrome(self) -> None:
        a = self.menus.actions
        self.quick = Corner(
            [
                [a["undo"], a["redo"]],
                [a["random"], a["invert"], a["reset"], a["untransform"]],
                [a["play"]],
            ]
        )
        if self.menuBar().isNativeMenuBar():  # macOS: the menus are elsewhere
            bar = QToolBar("Quick", movable=False)
            bar.addWidget(self.quick)
            self.addToolBar(bar)
        else:
            self.menuBar().setCornerWidget(self.quick)
        self.status = StatusBar()
        self.setStatusBar(self.status)
        for name, action in a.items():
            # with a native or hidden menu bar too, keys work because the actions are the window's
            (self._center if name.startswith("shift_") else self).addAction(action)

    def _connect(self) -> None:
        c = self.controller
        c.state_changed.connect(self._show_state)
        c.frame_ready.connect(self._show_frame)
        c.orbit_ready.connect(self._show_orbit)
        c.catalogue_ready.connect(self._show_catalogue)
        c.failed.connect(self.say_failure)
        c.told.connect(partial(self.say, "info"))
        c.engine_lost.connect(self._engine_lost)
        c.busy.connect(self._show_busy)
        c.played.connect(self.menus.show_playing)
        c.session_opened.connect(self.files.opened_session)
        self.quick.device_chosen.connect(lambda name: c.change({"device": name}))
        self.quick.dtype_chosen.connect(lambda name: c.change({"dtype": name}))
        self.status.cancel_asked.connect(self.cancel)
        self.infobar.details.connect(partial(self.show_view, "log"))
        self.loading.quit_asked.connect(self.close)
        theme.changes.changed.connect(self._theme_changed)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._system_changed)

    def _restore(self) -> None:
        geometry = self.settings.value("geometry")
        if not (isinstance(geometry, QByteArray) and self.restoreGeometry(geometry)):
            screen = QGuiApplication.primaryScreen()
            self.resize(SIZE.boundedTo(screen.availableSize()) if screen is not None else SIZE)
        self.docks.reset()
        layout = self.settings.value("layout")
        if isinstance(layout, QByteArray):
            self.docks.restore(bytes(layout.data()))

    # what the controller says -----------------------------------------------------------------------------
    def _show_state(self, old: State, new: State) -> None:
        if old.epoch != new.epoch:
            self.status.read("")  # what lay under the cursor is gone
        self.menus.show_state(new)
        self.quick.show_state(new)
        self._each(lambda view: view.set_state(new))
        self.setWindowTitle(self._title(new))

    def _title(self, state: State) -> str:
        info, frame = self.controller.info, self.controller.frame
        same = frame is not None and frame.state.epoch == state.epoch
        sample = frame.sample_title if same and frame is not None else ""
        sample = sample or state.sample.replace("\\", "/").rpartition("/")[2]
        parts = [
            info.title if info is not None else state.model,
            sample,
            chain_text(state.steps) or "identity",
        ]
        return f"{' · '.join(filter(None, parts))} — Equiscope"

    def _show_frame(self, frame: Frame) -> None:
        if self.stack.currentWidget() is self.loading and (stage := self.stage_view()) is not None:
            stage.setFocus()  # Space, F and the arrows are for the picture, not for the first field that takes text
        self.stack.setCurrentWidget(self.tabs)
        self._follow_domain(frame)
        self.infobar.frame_came()
        self.quick.show_frame(frame)
        first = self.stage_view()
        two = frame if len(frame.squares) <= View.MOST else replace(frame, squares=frame.squares[: View.MOST])
        self._each(lambda view: self._pace.give(view, frame if view.MOST > View.MOST else two, view is first))
        self.setWindowTitle(self._title(self.controller.state))

    def _follow_domain(self, frame: Frame) -> None:
        """Offer the views of this kind of data, and begin with the one that was made for it."""
        first_square = frame.squares[0] if frame.squares else None
        domain = "grid" if first_square is None else first_square.domain
        if domain == self._domain:
            return
        fresh, self._domain = self._domain != "", domain
        for spec, view in self.views:
            if spec.area == "center":
                self.tabs.setTabVisible(self.tabs.indexOf(view), not spec.domains or domain in spec.domains)
        self.docks.follow(domain)
        if fresh or domain != "grid":
            self.show_home(domain)

    def show_home(self, domain: str) -> None:
        """Bring the view in the middle to the front that was made for a kind of data."""
        first = next((view for spec, view in self.views if spec.area == "center" and domain in spec.domains[:1]), None)
        if first is not None:
            self.tabs.setCurrentWidget(first)

    def _show_orbit(self, curves: tuple[OrbitCurve, ...]) -> None:
        self._each(lambda view: view.set_orbit(curves))

    def _show_catalogue(self, catalogue: Catalogue) -> None:
        self.loading.say("Computing the first frame…")
        self.menus.show_catalogue(catalogue)
        self.quick.set_devices(catalogue.devices)
        self._each(lambda view: view.show_catalogue(catalogue))
        self._show_state(self.controller.state, self.controller.state)

    def _show_busy(self, busy: Busy) -> None:
        if self.controller.catalogue is None and busy.text:
            self.loading.say(busy.text)  # said in the middle of the window, once is enough
        else:
            self.status.show_busy(busy)

    def _engine_lost(self, failure: Failure) -> None:
        self.status.show_busy(Busy(""))
        self.loading.fail(failure)
        self.stack.setCurrentWidget(self.loading)
        self.show_view("log")

    def _each(self, show: Callable[[View], None]) -> None:
        """Do something with every view; one that breaks must not take the others with it."""
        for spec, view in self.views:
            try:
                show(view)
            except Exception as error:
                self.controller.log.emit("error", f"{spec.title}: {type(error).__name__}: {error}")
                sys.excepthook(type(error), error, error.__traceback__)

    def say(self, level: str, text: str) -> None:
        """Say something above the stage and in the log."""
        self.controller.log.emit(level, text)
        self.infobar.say(level, text)

    def say_failure(self, failure: Failure) -> None:
        """Say what failed; the last good frame stays."""
        self.stack.setCurrentWidget(self.tabs)
        self.infobar.show_failure(failure)

    # what the menus do ------------------------------------------------------------------------------------
    def show_view(self, name: str) -> None:
        """Bring a view to the front, wherever it is."""
        view = next((v for s, v in self.views if s.name == name), None)
        if view is not None and name in self.docks.docks:
            self.docks.bring(name)
        elif view is not None:
            self.tabs.setTabVisible(self.tabs.indexOf(view), True)  # asked for by name
            self.tabs.setCurrentWidget(view)
        if view is not None:
            view.setFocus()

    def stage_view(self) -> View | None:
        current = self.tabs.currentWidget()
        return current if isinstance(current, View) else None

    def active_view(self) -> View | None:
        """Return the view that has the focus, else the one in the centre."""
        widget = QApplication.focusWidget()
        while widget is not None and not isinstance(widget, View):
            widget = widget.parentWidget()
        return widget if isinstance(widget, View) and widget.window() is self else self.stage_view()

    def set_theme(self, choice: str) -> None:
        self.settings.setValue("theme", choice)
        theme.use(choice)

    def _system_changed(self) -> None:
        if str(self.settings.value("theme", "system")) == "system":
            theme.use("system")

    def _theme_changed(self) -> None:
        self.menus.show_theme(str(self.settings.value("theme", "system")))
        for part in (self.infobar, self.loading, self.quick, self.status, self.docks):
            part.apply_theme()
        t = theme.current()
        self.menuBar().setStyleSheet(
            f"QMenuBar {{ background: {t.window}; }}"
            "QMenuBar::item { padding: 6px 9px; background: transparent; border-radius: 4px; }"
            f"QMenuBar::item:selected {{ background: {t.raised}; }}"
        )
        self._drop_hint.setStyleSheet(
            f"background: {t.panel}; color: {t.accent}; border: 2px dashed {t.accent}; border-radius: 8px;"
            "font-size: 14pt;"
        )
        self._each(lambda view: view.apply_theme())

    def reset_layout(self) -> None:
        self.docks.reset()

    def toggle_full_screen(self) -> None:
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    def set_speed(self, speed: str) -> None:
        self.controller.player.speed = float(speed)
        self.menus.show_speed(float(speed))

    def _play(self, on: bool) -> None:
        player = self.controller.player
        player.start() if on else player.stop()

    def cancel(self) -> None:
        self.infobar.hide()
        self.files.stop_filming()
        self.controller.cancel()

    def open_palette(self) -> None:
        self.palette_box.open(list(actions_of(list(self.menus.menus.values()))))

    def what_is_this(self) -> None:
        QWhatsThis.enterWhatsThisMode()

    def show_keys(self) -> None:
        every = actions_of(list(self.menus.menus.values()), usable=False)
        help_pages.keys_dialog(self, list(every)).show()

    def show_about(self) -> None:
        help_pages.about_dialog(self, self.controller.catalogue).show()

    def show_lesson(self, session: Session) -> None:
        """Show the text of a lesson at the left, where it hides neither the stage nor the controls."""
        if self._lesson is None:
            self._lesson = help_pages.LessonPanel(self)
            self.docks.add_guest(self._lesson, "left", 320)
        self._lesson.show_session(session)
        self._lesson.show()
        self._lesson.raise_()

    # Qt's events ------------------------------------------------------------------------------------------
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and _wants_key(QApplication.focusWidget(), event):
            event.accept()  # the widget gets the key, no action does
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self, self.on_screen.emit)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.palette_box.dismiss()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()
            self._drop_hint.setGeometry(self._center.rect().adjusted(12, 12, -12, -12))
            self._drop_hint.show()
            self._drop_hint.raise_()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._drop_hint.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        self._drop_hint.hide()
        event.acceptProposedAction()
        for url in event.mimeData().urls():
            if url.isLocalFile():
                self.files.open(url.toLocalFile())

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self._closed:
            self._closed = True
            self.settings.setValue("geometry", self.saveGeometry())
            self.settings.setValue("layout", QByteArray(self.docks.save()))
            self.settings.sync()
            self.hide()  # the person is done at once, whatever the worker still has to finish
            theme.changes.changed.disconnect(self._theme_changed)
            QGuiApplication.styleHints().colorSchemeChanged.disconnect(self._system_changed)
            ended = self.controller.close()
            for _, view in self.views:
                view.close()
            self.closed.emit(ended)
        super().closeEvent(event)


def _in_order(spec: ViewSpec) -> tuple[int, str]:
    return (spec.order, spec.name)


def _wants_key(widget: QWidget | None, event: Any) -> bool:
    """Say whether a single key belongs to the widget with the focus: Space to a button, arrows to a box."""
    if event.modifiers() not in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier):
        return False
    if isinstance(widget, QAbstractButton):
        return event.key() == Qt.Key.Key_Space
    # what they take in: letters choose an item, brackets and arrows belong to them
    return isinstance(widget, QComboBox | QAbstractSpinBox) and event.key() != Qt.Key.Key_Escape
