"""The frame of the window without its menus: controller, views, docks, messages, and what is shown of a frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QLabel, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from explorer.app.thread.orders import Engine
from explorer.app.thread.runner import STOP_AFTER
from explorer.declare.elements import Step
from explorer.square.frame import Failure, Frame, Moved, Outline
from explorer.state.catalogue import Busy, Catalogue
from explorer.state.state import State
from widgets.base.look import theme
from widgets.base.look.icons import app_icon
from widgets.base.pointer import Pointers
from widgets.base.settings import open_settings
from widgets.base.view import View, ViewSpec, Wish
from widgets.views.log import LogView, now
from widgets.window.automation.retrying import Hopes
from widgets.window.bars.buttons import StatusBar
from widgets.window.bars.data_line import DataLine
from widgets.window.bars.diagnosis import Diagnosis
from widgets.window.bars.head import Head
from widgets.window.bars.infobar import InfoBar
from widgets.window.bars.interventions import InterventionBar
from widgets.window.controller import Controller
from widgets.window.greeting.card import GreetingCard
from widgets.window.layer.layer_menu import LayerMenu
from widgets.window.layer.symmetric import try_versions
from widgets.window.lessons.withheld import without_verdicts
from widgets.window.room.docks import Docks
from widgets.window.room.finding import view_specs
from widgets.window.room.fronts import Fronts
from widgets.window.room.glimpses import Glimpses
from widgets.window.room.panes import Panes
from widgets.window.room.squeezed import Squeezed
from widgets.window.room.staleness import Staleness
from widgets.window.room.waiting import LoadingPage

PATIENCE_MS = 500  # between the catalogue and the first frame


class Shell(QMainWindow):
    """Shows what the controller says. It knows views by their base class only, and the engine not at all."""

    def __init__(
        self,
        start_engine: Callable[[], Engine],
        state: State | None = None,
        settings: QSettings | None = None,
        specs: Sequence[ViewSpec] | None = None,
    ) -> None:
        super().__init__()
        self.settings = settings or open_settings()
        theme.use(str(self.settings.value("theme", "system")))
        self.setWindowIcon(app_icon())
        self.controller = Controller(start_engine, state, self)
        self.pointers = Pointers(self)
        self.panes = Panes(specs if specs is not None else view_specs())
        self.status = StatusBar()
        self.setStatusBar(self.status)
        self._build_center()
        self.docks = Docks(self, self.panes.docked)
        self.squeezed = Squeezed(self, self.center, lambda: [self.docks.docks[name] for name in self.docks.below()])
        self._domain = ""  # of what is shown
        self._session: tuple[object, str] = (None, "")  # the epoch and the file of the session that was opened last
        self._seen: object = None  # the epoch of the frame that is shown
        self.infobar.awaited = lambda: self.controller.waiting
        self._said_of: set[object] = set()  # epochs: the message above the stage is about one of them
        self._logged: list[tuple[str, str, str]] = []  # until there is a view for it
        c = self.controller
        c.log.connect(self._log)
        self.panes.failed.connect(partial(c.log.emit, "error"))
        self.panes.made.connect(self._connect_view)
        c.frame_ready.connect(self.show_frame)
        c.orbit_ready.connect(lambda curves: self.panes.tell("orbit", lambda view: view.set_orbit(curves)))
        c.catalogue_ready.connect(self.show_catalogue)
        c.busy.connect(self.show_busy)
        c.failed.connect(self.say_failure)
        c.session_opened.connect(self._session_opened)
        c.request_failed.connect(self.infobar.leave_with_frame)
        c.gave_up.connect(lambda state: self.infobar.keep())
        self.glimpses = Glimpses(c, self.stack, self.loading, self.panes)
        self.hopes = Hopes(c)
        self.hopes.again.connect(self.infobar.hide)
        c.told.connect(partial(self.say, "info"))
        c.warned.connect(partial(self.say, "warning"))
        c.engine_lost.connect(self.show_loss)
        self.infobar.details.connect(partial(self.show_view, "log"))
        self.fronts = Fronts(c, self.panes, self.docks)
        self.layer_menu = LayerMenu(c, self)
        self.layer_menu.tried.connect(self.try_symmetric)
        self.interventions.removed.connect(self.layer_menu.remove)
        self.interventions.cleared.connect(self.layer_menu.clear)
        self.interventions.shown.connect(lambda layer: c.change({"layer": layer}))
        c.state_changed.connect(lambda _, new: self.interventions.show_interventions(new.interventions))
        self.interventions.show_interventions(c.state.interventions)
        self.staleness = Staleness(c)
        self.staleness.changed.connect(self.panes.show_stale)
        self.staleness.changed.connect(self.diagnosis.show_stale)
        self.staleness.changed.connect(lambda _: self._read(""))
        self.diagnosis.show_asked.connect(self.show_something)
        self.diagnosis.exact_asked.connect(self.go_exact)
        self.diagnosis.try_asked.connect(self.try_guilty)
        self.diagnosis.layer_asked.connect(lambda layer: c.change({"layer": layer}))
        c.delivered.connect(self._show_before, Qt.ConnectionType.QueuedConnection)
        self.loading.quit_asked.connect(self.close)

    def _build_center(self) -> None:
        self.loading = LoadingPage()
        self.stack = QStackedWidget()
        self.stack.addWidget(self.loading)
        self.stack.addWidget(self.panes)
        self.infobar, self.diagnosis, self.interventions = InfoBar(), Diagnosis(), InterventionBar()
        self.data_line = DataLine()
        self.greeting_card = GreetingCard()
        self.center = QWidget()
        self.center.setObjectName("center")
        self._column = column = QVBoxLayout(self.center)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.interventions)
        column.addWidget(Head(self.infobar, self.data_line, self.center))
        column.addWidget(self.greeting_card)
        column.addWidget(self.stack, 1)
        column.addWidget(self.diagnosis)
        self.setCentralWidget(self.center)
        self.drop_hint = QLabel("Drop to open", self.center, alignment=Qt.AlignmentFlag.AlignCenter)
        self.drop_hint.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.drop_hint.hide()

    def _connect_view(self, view: View) -> None:
        c = self.controller
        if view.POINTS_AT:
            self.pointers.link(view.POINTS_AT, view.pointer)
        view.wished.connect(self._grant)
        view.hovered.connect(self._read)
        # a view that plays the orbit has a button for it
        if hasattr(view, "play_toggled"):
            view.play_toggled.connect(self._play)
        if hasattr(view, "set_playing"):
            c.played.connect(view.set_playing)
            view.set_playing(c.player.playing)
        if hasattr(view, "requested"):
            view.requested.connect(self._requested)
        view.menu_asked.connect(self.layer_menu.popup)
        if hasattr(view, "menu_opened"):
            view.menu_opened.connect(self.layer_menu.fill)
        if isinstance(view, LogView):
            c.log.disconnect(self._log)
            for entry in self._logged:
                view.add(*entry)
            c.log.connect(view.add)

    def _grant(self, wish: Wish) -> None:
        """Let the controller grant what a view wishes for, but for a place in a picture that is out of date."""
        if not self.staleness.misses(wish):
            self.controller.grant(wish)

    def _log(self, level: str, text: str) -> None:
        """Keep what is said for the log while there is no view for it."""
        self._logged.append((level, text, now()))

    def _requested(self, what: str) -> None:
        """Do what a view's button asks: of the element "identity", "inverse" or "random", of the layer its "source"."""
        c = self.controller
        {
            "identity": c.reset,
            "inverse": c.invert,
            "random": c.randomise,
            "source": self.show_source,
            "symmetric": self.try_guilty,
        }[what]()

    def try_guilty(self) -> None:
        """Try symmetric versions of the layer that the verdict accuses, or of the one that is shown."""
        menu = self.layer_menu
        if layer := menu.mendable(menu.guilty or menu.layer):
            self.try_symmetric(layer)

    def show_source(self) -> None:
        """Show the selected layer's own lines of source."""
        self.show_view("equation")
        if (view := self.panes.named("equation")) is not None:
            view.reveal(self.controller.state.layer)

    def try_symmetric(self, layer: str) -> None:
        """Try symmetric versions of a layer, on a page that says what each of them would do."""
        page = try_versions(self.controller.do, self.controller.state, layer, self)
        page.chosen.connect(self.layer_menu.add)

    def show_something(self) -> None:
        """Take an element that shows something of these data."""
        state = self.controller.state
        self.controller.do(
            lambda engine: engine.first_steps(state), "Looking for an element…", self.controller.set_steps
        )

    def go_exact(self) -> None:
        """Go to the nearest element that permutes places, so that there is a verdict."""
        state = self.controller.state

        def went(steps: tuple[Step, ...] | None) -> None:
            if steps is None:
                self.say("info", "No element of these transforms permutes places here.")
            elif steps == state.steps:
                self.say("info", "No element of these transforms near this one permutes places at every layer.")
            else:
                self.controller.set_steps(steps)

        self.controller.do(lambda engine: engine.nearest_exact(state), "Looking for an exact element…", went)

    def _read(self, text: str) -> None:
        """Show what is under the cursor, but no figure of an element that is chosen no more."""
        self.status.read("" if self.staleness.of_another else text)

    def _play(self, on: bool) -> None:
        player = self.controller.player
        player.start() if on else player.stop()

    # what the controller says -----------------------------------------------------------------------------
    def show_frame(self, frame: Frame) -> None:
        """Show a frame in every view, and its kind of data in the view that was made for it."""
        first = self.stack.currentWidget() is self.loading
        self.stack.setCurrentWidget(self.panes)
        self._follow_domain(frame)
        if frame.state.epoch != self._seen:
            self._seen = frame.state.epoch
            self.infobar.read_again()
        if frame.state.epoch == self._session[0]:
            self._session = None, ""  # it can be shown: what fails later is no fault of the session
        if first and (front := self.panes.front()) is not None:
            front.setFocus()  # Space, F and the arrows are for the picture, not for the first field that takes text
        if frame.stale is None:  # else the sentence about the file stays until it runs again
            self.infobar.frame_came()
            if frame.state.epoch not in self._said_of:  # another model or other data: what failed before is over
                self.infobar.over()
        self.panes.forget("outline")
        self.panes.show_frame(self._told(frame))
        self.diagnosis.show_frame(frame)
        self.panes.open_soon()

    def _told(self, frame: Frame) -> Frame:
        """Return what views are told of a frame: nothing of its verdicts while a lesson asks for them."""
        return without_verdicts(frame) if self.layer_menu.withheld else frame

    def withhold(self, riddle: str) -> None:
        """Keep quiet about the guilty layer in every panel, and say `riddle` in place of the verdict; "" tells all."""
        changed, self.layer_menu.withheld = self.layer_menu.withheld != bool(riddle), bool(riddle)
        self.diagnosis.withhold(riddle)
        if changed:
            self.show_again()

    def show_again(self) -> None:
        """Show the newest frame once more, because of what is said of it."""
        if self.controller.frame is not None:
            self.panes.show_frame(self._told(self.controller.frame))

    def _follow_domain(self, frame: Frame) -> None:
        """Offer the views of this kind of data, and begin with the one that was made for it."""
        first_square = frame.squares[0] if frame.squares else None
        domain = "" if first_square is None else first_square.domain
        self.panes.offer(domain, first_square)
        self.docks.follow(domain, first_square)
        if domain == self._domain:
            return
        fresh, self._domain = self._domain != "", domain
        self.panes.prepare(domain)
        if fresh or not self.panes.at_home(domain):
            self.panes.show_home(domain)
        self.fronts.bring_back(frame)

    def _show_before(self, message: object) -> None:
        """Show rho(g) x, or the modules of a large network, while the network has not answered."""
        if not self.controller.waiting:
            return
        if isinstance(message, Moved) and message.state == self.controller.state:
            self.panes.each(lambda view: view.show_moved(message))
        elif isinstance(message, Outline) and message.state.epoch == self.controller.state.epoch:
            self.loading.say(f"Computing the first frame… Layers has its {len(message.modules):,} modules.")
            self.panes.open_soon()
            self.panes.tell("outline", lambda view: view.show_outline(message))
            self.panes.show_stale(self.staleness.text)

    def show_catalogue(self, catalogue: Catalogue) -> None:
        """Tell every view what there is to choose from."""
        self.loading.say("Computing the first frame…")
        self.panes.tell("catalogue", lambda view: view.show_catalogue(catalogue))
        self.panes.open_soon(PATIENCE_MS)  # a long first frame must not withhold the lists

    def show_busy(self, busy: Busy) -> None:
        """Say what is being done: in the middle of the window until the first frame, then in the status bar."""
        if self.controller.catalogue is None and busy.text:
            self.loading.say(busy.text)  # said in the middle of the window, once is enough
        else:
            self.status.show_busy(busy)
        if busy.stop:
            doing = busy.text.rstrip("…. ").lower()
            self.infobar.offer_stop(f"There has been no answer for {STOP_AFTER:.0f} s ({doing}).")
        else:
            self.infobar.answered()

    def show_loss(self, failure: Failure) -> None:
        """Say that there will be no frame any more."""
        self.status.show_busy(Busy(""))
        self.loading.fail(failure)
        self.stack.setCurrentWidget(self.loading)
        self.panes.open()
        self.show_view("log")

    # what is said and shown -------------------------------------------------------------------------------
    def say(self, level: str, text: str) -> None:
        """Say something above the stage and in the log."""
        self.controller.log.emit(level, text)
        self._said_of = self._epochs()
        self.infobar.say(level, text)

    def offer(self, text: str, label: str, then: Callable[[], None]) -> None:
        """Say what is not as it was, with a button that does something about it."""
        self.say("warning", text)
        self.infobar.offer(text, label, then)

    def say_failure(self, failure: Failure) -> None:
        """Say what failed; the last good frame stays."""
        self.stack.setCurrentWidget(self.panes)
        self.panes.open()
        self._said_of = self._epochs()
        frame, epoch = self.controller.frame, failure.state.epoch
        shown = frame is not None and frame.state.epoch == epoch  # then it is not the session that is at fault
        if failure.where != "orbit" and epoch == self._session[0] and not shown:
            failure = replace(failure, where=self._session[1])  # it names a model, say, that there is not
        self.infobar.show_failure(failure)

    def _session_opened(self, session: object, path: str) -> None:
        self._session = self.controller.state.epoch, path

    def _epochs(self) -> set[object]:
        """Return what is shown and what is asked for: a message may be about either."""
        shown = self.controller.frame
        return {self.controller.state.epoch, *([shown.state.epoch] if shown is not None else [])}

    def show_view(self, name: str) -> None:
        """Bring a view to the front, wherever it is."""
        view = self.panes.named(name)
        if view is None:
            return
        if name in self.docks.docks:
            self.docks.bring(name)
        else:
            self.panes.raise_tab(name)
        view.setFocus()

    def offers(self, name: str) -> bool:
        """Say whether a view has something to say of what is shown."""
        return self.docks.fits(name) if name in self.docks.docks else self.panes.offered(name)

    def add_strip(self, strip: QWidget) -> None:
        """Take in a line above the stage."""
        if strip.parentWidget() is not self.center:
            self._column.insertWidget(self._column.indexOf(self.stack), strip)

    def apply_theme(self) -> None:
        """Take the colours of the theme."""
        bars = (self.infobar, self.interventions, self.data_line, self.greeting_card, self.diagnosis)
        for part in (*bars, self.loading, self.status, self.docks):
            part.apply_theme()
        t = theme.current()
        self.drop_hint.setStyleSheet(
            f"background: {t.panel}; color: {t.accent}; border: 2px dashed {t.accent}; border-radius: 8px;"
            "font-size: 14pt;"
        )
        self.panes.tell("theme", lambda view: view.apply_theme())
