"""The window as a person has it: menus, keys, files, theme, and what is dropped on it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QByteArray, QEvent, QPoint, QSettings, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QGuiApplication,
    QKeyEvent,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QTabBar,
    QToolBar,
    QWhatsThis,
    QWidget,
)

from explorer.app.thread.orders import Engine
from explorer.data.finding import base_of
from explorer.data.opening import expect_file
from explorer.declare.elements import chain_text
from explorer.declare.states.model_name import named_as_shown
from explorer.network.opening.files.trust import damage
from explorer.square.frame import Frame
from explorer.state.catalogue import Catalogue
from explorer.state.state import State
from widgets.base import motion
from widgets.base.look import theme
from widgets.base.look.focus import FocusRing
from widgets.base.settings import Watch, trouble
from widgets.base.text import glossary
from widgets.base.text.plainly import rewrite
from widgets.base.view import ViewSpec
from widgets.window.automation.first_element import FirstElement
from widgets.window.bars import help as help_pages
from widgets.window.bars.buttons import Corner
from widgets.window.bars.menus import Menus
from widgets.window.bars.palette import Palette, actions_of
from widgets.window.bars.panel_help import panel_dialog
from widgets.window.files import Files
from widgets.window.greeting.host import Greeting
from widgets.window.room.drops import Drops, files_in, named, taken
from widgets.window.room.popups import PopupKeys
from widgets.window.room.pulled import let_go
from widgets.window.room.shell import Shell

SIZE = QSize(1280, 800)
STEPPING = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End)
ASIDE = (Qt.Key.Key_Left, Qt.Key.Key_Right)


class MainWindow(Shell):
    """The whole window; it opens at once and is told later what there is."""

    on_screen = Signal()  # painted for the first time: now there is time to start the engine
    closed = Signal(object)  # whether the worker ended

    def __init__(
        self,
        start_engine: Callable[[], Engine],
        state: State | None = None,
        settings: QSettings | None = None,
        specs: Sequence[ViewSpec] | None = None,
    ) -> None:
        super().__init__(start_engine, state, settings, specs)
        self._painted = self._closed = self._leading = False
        self.setAcceptDrops(True)
        self.drops = Drops(self)
        self.files = Files(self)
        self.menus = Menus(self, self.files)
        self.greeting = Greeting(self.greeting_card, self.controller, self.settings, self.files.open_mine, self)
        self._build_quick()
        self.palette_box = Palette(self, self.menus.actions["palette"])
        self.focus_ring = FocusRing(self)
        self.focus_ring.follow()
        self.popup_keys = PopupKeys(self)
        self.popup_keys.follow()
        self._connect()
        self.menus.actions["reduce_motion"].setChecked(motion.kept(self.settings))
        self.reduce_motion()
        self.menus.actions["plain_words"].setChecked(glossary.kept(self.settings))
        glossary.use(glossary.kept(self.settings))
        self.panes.made.connect(lambda view: rewrite(view) if glossary.plain() else None)
        if glossary.plain():
            rewrite(self)
        self._restore()
        self._theme_changed()
        self._show_state(self.controller.state, self.controller.state)

    # building ---------------------------------------------------------------------------------------------
    def _build_quick(self) -> None:
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
        for name, action in a.items():
            # with a native or hidden menu bar too, keys work because the actions are the window's
            (self.center if name.startswith("shift_") else self).addAction(action)
        for seat in self.panes.seats:
            seat.addActions([a["export_view"], a["this_panel"]])  # the menus of its charts offer them

    def _connect(self) -> None:
        c = self.controller
        c.state_changed.connect(self._show_state)
        # of a network from a file its frame alone says what it lives on
        c.frame_ready.connect(lambda _: self.menus.show_state(c.state))
        c.session_opened.connect(self.files.opened_session)
        c.session_opened.connect(lambda *_: self.greeting.give_way())
        c.played.connect(self.menus.show_playing)
        self.quick.device_chosen.connect(lambda name: c.change({"device": name}))
        self.quick.dtype_chosen.connect(lambda name: c.change({"dtype": name}))
        self.status.cancel_asked.connect(self.cancel)
        self.infobar.stop.connect(self.cancel)
        self.menus.asked.connect(self._do)
        self.menus.theme_chosen.connect(self.set_theme)
        self.menus.speed_chosen.connect(self.set_speed)
        theme.changes.changed.connect(self._theme_changed)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._system_changed)

    def _restore(self) -> None:
        geometry = self.settings.value("geometry")
        if not (isinstance(geometry, QByteArray) and self.restoreGeometry(geometry)):
            screen = QGuiApplication.primaryScreen()
            self.resize(SIZE.boundedTo(screen.availableSize()) if screen is not None else SIZE)
        self.on_screen.connect(lambda: QTimer.singleShot(0, self, self.fit_screen))
        self.docks.reset()
        layout = self.settings.value("layout")
        if isinstance(layout, QByteArray):
            self.docks.restore(bytes(layout.data()))
        distrusted = damage()
        if told := " ".join(filter(None, (trouble(self.settings), distrusted))):
            self.on_screen.connect(lambda: self.say("warning", told))
        # once more when the first frame has come, which takes back what was said before
        busy = lambda: self.controller.waiting or self.controller.frame is None  # noqa: E731
        self.kept = Watch(self.settings, self, busy, distrusted)
        self.kept.found.connect(lambda text: self.say("warning", text))
        self.kept.back.connect(lambda text: self.say("info", text))

    def fit_screen(self) -> None:
        """Keep the whole window on the screen: what is put round it was not known when it was made."""
        unseen = QGuiApplication.platformName() in ("offscreen", "minimal")  # a picture is as large as one asks for
        if (screen := self.screen()) is None or unseen or self.isMaximized() or self.isFullScreen():
            return
        frame, room = self.frameGeometry(), screen.availableGeometry()
        if room.contains(frame):
            return
        around = frame.size() - self.size()
        size = self.size().boundedTo(room.size() - around)
        self.resize(size)
        corner = room.bottomRight() - QPoint(size.width() + around.width() - 1, size.height() + around.height() - 1)
        self.move(max(room.left(), min(frame.left(), corner.x())), max(room.top(), min(frame.top(), corner.y())))

    def begin_with(self, width: int, height: int) -> None:
        """Take a size; panels that nobody has laid out yet share it as they share the size of a first start."""
        self.resize(width, height)
        if self.settings.value("layout") is None:
            self.docks.reset()

    def begin_moved(self) -> None:
        """Begin with an element that shows something, where the program was started without one."""
        FirstElement(self.controller)

    # what the controller says -----------------------------------------------------------------------------
    def _show_state(self, old: State, new: State) -> None:
        if old.epoch != new.epoch:
            self.status.read("")  # what lay under the cursor is gone
        self.menus.show_state(new)
        self.quick.show_state(new)
        self.panes.prepare(self.controller.domain)
        self.panes.tell("state", lambda view: view.set_state(new))
        if (title := self._title(new)) != self.windowTitle():
            self.setWindowTitle(title)

    def _title(self, state: State) -> str:
        info, frame = self.controller.info, self.controller.frame
        same = frame is not None and frame.state.epoch == state.epoch
        sample = frame.sample_title if same and frame is not None else ""
        sample = sample or base_of(state.sample).replace("\\", "/").rpartition("/")[2]
        own = frame.squares[0].title if same and frame is not None and frame.squares else named_as_shown(state.model)
        parts = [
            info.title if info is not None else own,
            sample,
            chain_text(state.steps) or "identity",
        ]
        return f"{' · '.join(filter(None, parts))} — Equiscope"

    def show_frame(self, frame: Frame) -> None:
        self.quick.show_frame(frame)
        super().show_frame(frame)
        self.greeting.follow()
        self.setWindowTitle(self._title(self.controller.state))

    def show_catalogue(self, catalogue: Catalogue) -> None:
        self.menus.show_catalogue(catalogue)
        self.quick.set_devices(catalogue.devices)
        super().show_catalogue(catalogue)
        self._show_state(self.controller.state, self.controller.state)

    # what the menus ask -----------------------------------------------------------------------------------
    def _do(self, what: str) -> None:
        """Do what the menus ask of the window."""
        {
            "quit": self.quit,
            "cancel": self.cancel,
            "reset_layout": self.docks.reset,
            "full_screen": self.toggle_full_screen,
            "palette": self.open_palette,
            "what": QWhatsThis.enterWhatsThisMode,
            "keys": self.show_keys,
            "about": self.show_about,
            "greeting": self.greeting.show_again,
            "reduce_motion": self.reduce_motion,
            "plain_words": self.use_plain_words,
            "this_panel": self.show_panel_help,
        }[what]()

    def set_theme(self, choice: str) -> None:
        self.settings.setValue("theme", choice)
        theme.use(choice)

    def reduce_motion(self) -> None:
        """Follow the tick in the View menu."""
        motion.keep(self.settings, self.menus.actions["reduce_motion"].isChecked())
        self.setAnimated(not motion.reduced())

    def use_plain_words(self) -> None:
        """Follow the tick in the View menu, in every view."""
        glossary.keep(self.settings, self.menus.actions["plain_words"].isChecked())
        self.apply_theme()
        self.show_again()
        rewrite(self)

    def show_panel_help(self) -> None:
        """Say what the panel with the focus shows."""
        view = self.panes.active()
        spec = next((seat.spec for seat in self.panes.seats if view is not None and seat.view is view), None)
        if view is not None and spec is not None:
            panel_dialog(self, spec, view).show()

    def _system_changed(self) -> None:
        if str(self.settings.value("theme", "system")) == "system":
            theme.use("system")

    def _theme_changed(self) -> None:
        self.menus.show_theme(str(self.settings.value("theme", "system")))
        self.quick.apply_theme()
        t = theme.current()
        self.menuBar().setStyleSheet(
            f"QMenuBar {{ background: {t.window}; }}"
            "QMenuBar::item { padding: 6px 9px; background: transparent; border-radius: 4px; }"
            f"QMenuBar::item:selected {{ background: {t.raised}; }}"
        )
        self.apply_theme()
        self.files.guide.apply_theme()

    def toggle_full_screen(self) -> None:
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    def set_speed(self, speed: float) -> None:
        self.controller.player.speed = speed
        self.menus.show_speed(speed)

    def cancel(self) -> None:
        """Give up what is being computed or filmed."""
        self.infobar.hide()
        self.controller.cancel()
        self.files.stop_filming()  # which asks for the element of before

    def open_palette(self) -> None:
        self.layer_menu.refill(self.menus.menus["Layer"])
        self.palette_box.open(lambda: actions_of([*self.menus.menus.values(), self.layer_menu.layers()]))

    def show_keys(self) -> None:
        every = actions_of(list(self.menus.menus.values()), usable=False)
        help_pages.keys_dialog(self, list(every)).show()

    def show_about(self) -> None:
        help_pages.about_dialog(self, self.controller.catalogue).show()

    # Qt's events ------------------------------------------------------------------------------------------
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and (
            _wants_key(QApplication.focusWidget(), event, self.focus_ring.by_mouse) or self._leads_back(event)
        ):
            event.accept()  # the widget gets the key, no action does
            return True
        return super().event(event)

    def focusNextPrevChild(self, next: bool) -> bool:
        """Move the focus on Tab, and show from here on where it is."""
        self.focus_ring.by_keys()
        return super().focusNextPrevChild(next)

    def _leads_back(self, event: Any) -> bool:
        """Say whether Esc is for the view with the focus: there is nothing to cancel."""
        busy = self.controller.waiting or self.controller.player.playing or self.status.doing.isVisible()
        return event.key() == Qt.Key.Key_Escape and not event.modifiers() and not busy

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
        elif not self._leading:  # no view had a use for it
            said = self.infobar.isVisible() or not self._leads_back(event)
            self.cancel()
            if not said:
                self._lead_back(event)

    def _lead_back(self, event: QKeyEvent) -> None:
        """Let the view in front take its step back, where the focus is elsewhere and nothing there had one."""
        front, held = self.panes.front(), QApplication.focusWidget()
        if front is None or (held is not None and (held is front or front.isAncestorOf(held))):
            return
        self._leading = True
        QApplication.sendEvent(front.focusProxy() or front, QKeyEvent(event))
        self._leading = False

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        page = self.stack.currentWidget()
        if page is not None and self.focusWidget() is None:
            page.setFocus()  # else Space opened the first list of the tool bar until a frame has come
        self.drops.watch()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self, self.on_screen.emit)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.palette_box.dismiss()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if paths := files_in(event.mimeData()):
            taken(event)
            expect_file()
            self.drop_hint.setText(f"Drop to open {named(paths)}")
            self.drop_hint.setGeometry(self.center.rect().adjusted(12, 12, -12, -12))
            self.drop_hint.show()
            self.drop_hint.raise_()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.drop_hint.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        self.drop_hint.hide()
        taken(event)
        self.files.open_all(files_in(event.mimeData()))

    def quit(self) -> None:
        """Close the window, unless that has to be said twice."""
        if self.files.trainer.may_end():
            self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        if event.spontaneous() and not self._closed and not self.files.trainer.may_end():  # the frame's button
            event.ignore()
            return
        if not self._closed:
            self._closed = True
            let_go()
            self.settings.setValue("geometry", self.saveGeometry())
            self.settings.setValue("layout", QByteArray(self.docks.save()))
            self.settings.sync()
            if lost := self.kept.look():  # nobody sees the window any more
                print(f"equiscope: {lost[0].lower()}{lost[1:].rstrip('.')}", file=sys.stderr)
            self.hide()  # the person is done at once, whatever the worker still has to finish
            theme.changes.changed.disconnect(self._theme_changed)
            QGuiApplication.styleHints().colorSchemeChanged.disconnect(self._system_changed)
            self.focus_ring.stop()
            self.popup_keys.stop()
            self.greeting.stop()
            self.files.guide.stop()
            self.files.trainer.close()
            self.hopes.stop()
            ended = self.controller.close()
            self.panes.close_all()
            self.closed.emit(ended)
        super().closeEvent(event)


def _wants_key(widget: QWidget | None, event: Any, clicked: bool) -> bool:
    """Say whether a single key belongs to the widget with the focus: Space to a button, arrows to a box.

    Who has `clicked` a button or chosen from a list and then presses Space or P means the element: nothing shows that
    the button or the list would still take the key.
    """
    if event.modifiers() not in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier):
        return False
    if isinstance(widget, QAbstractButton):
        return event.key() == Qt.Key.Key_Space and not clicked
    if isinstance(widget, QComboBox) and clicked:
        return event.key() in STEPPING
    if isinstance(widget, QAbstractSlider | QTabBar | QAbstractItemView):  # a click shows where its arrows go on from
        return event.key() in STEPPING + ASIDE
    # what they take in: letters choose an item, brackets and arrows belong to them; F1 and the like say nothing to them
    others = event.key() == Qt.Key.Key_Escape or Qt.Key.Key_F1 <= event.key() <= Qt.Key.Key_F35
    return isinstance(widget, QComboBox | QAbstractSpinBox) and not others
