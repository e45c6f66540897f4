"""Lead through a lesson: see what the state shows done, point at what comes next, keep how far one has come."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from weakref import WeakSet

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QComboBox, QMenu, QScrollArea

from explorer.square.frame import Frame
from explorer.state.lessons.pattern import Sight, holds, views_in
from explorer.state.lessons.tasks import Task
from explorer.state.lessons.walk import Walk
from explorer.state.runs import models_of
from explorer.state.session import Session
from explorer.state.state import State
from widgets.base.controls.menus import empty
from widgets.base.text.kinds_of_data import lessons_of
from widgets.window.lessons.course import Course
from widgets.window.lessons.panel import LessonPanel
from widgets.window.lessons.pulse import Pulse
from widgets.window.lessons.strip import LessonStrip
from widgets.window.lessons.targets import areas_of, bring, choices, in_sight, place_of, scroll_to, seen_in
from widgets.window.room.shell import Shell

RIDDLE = "Which layer is to blame? The lesson has the answer, behind Reveal."
HEARD = "heard by lessons"  # of a list or tabs in which a step may ask to choose
WIDTH = 320  # pixels of the page at the left


class Guide(QObject):
    """Owns the lesson that is open. It asks the state, and changes it only by opening a lesson."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._shell, self._controller = shell, shell.controller
        self.course = Course(shell.settings)
        self.panel: LessonPanel | None = None  # made when the first lesson is opened
        self.strip: LessonStrip | None = None
        self.pulse: Pulse | None = None
        self.walk = Walk(())
        self._session, self._path = Session(State()), Path()
        self._start = State()
        self._answered: set[int] = set()
        self._panel_in_sight = False
        self._meant: Task | None = None  # the step that is pointed at
        self._followed = WeakSet[QScrollArea]()  # where it may move while it is
        self.wanted: str | None = None  # the view that is to be in front once there is a frame
        # after the turn in which something happened: by then what was opened is laid out
        self._looking = QTimer(self, singleShot=True, interval=0)
        self._looking.timeout.connect(self._look)
        self._controller.state_changed.connect(self._look_soon)
        self._controller.frame_ready.connect(self._frame_came)
        shell.panes.currentChanged.connect(self._look_soon)
        shell.panes.made.connect(self._look_soon)  # with lists that were not there
        for dock in shell.docks.docks.values():  # which still hide while a window ends
            dock.visibilityChanged.connect(self._look_soon)

    # lessons ----------------------------------------------------------------------------------------------
    def fill_menu(self, menu: QMenu) -> None:
        """List the lessons by their titles, in the order of their file names, under what their models live on."""
        empty(menu)
        catalogue = self._controller.catalogue
        known = catalogue.by_name if catalogue is not None else {}
        groups: dict[str, list[tuple[str, Path]]] = {}
        for number, path in enumerate(self.course.paths(), 1):
            title, heading = path.stem, next(reversed(groups), "")
            if (session := self.course.session(path)) is not None:
                title = session.title or title
                heading = lessons_of(known[session.state.model].domain) if session.state.model in known else heading
            groups.setdefault(heading, []).append((f"{number}  {title}".replace("&", "&&"), path))
        for heading, lessons in groups.items():
            inner = menu.addMenu(heading) if len(groups) > 1 and heading else menu
            for text, file in lessons:
                action = inner.addAction(text, partial(self._controller.open_session, str(file)))
                action.setCheckable(True)
                action.setChecked(self.course.done(file))

    def turn(self, by: int) -> None:
        """Open the lesson before or behind the one that is open; the first where none is."""
        path = self.course.beside(self._path, by) if self.course.number(self._path) else None
        if path is None and not self.course.number(self._path):
            path = next(iter(self.course.paths()), None)
        if path is not None:
            self._controller.open_session(str(path))

    def begin_again(self) -> None:
        """Go back to how the lesson begins, with no step done."""
        self.course.forget(self._path)
        self._controller.open_state(self._session.state)
        self.open(self._session, str(self._path))

    def open(self, session: Session, path: str) -> None:
        """Show a lesson at the left, where it hides neither the stage nor the controls."""
        self._session, self._path = session, Path(path)
        self.walk = self.course.walk(self._path, session)
        self._start = self._controller.state
        self._answered = {k for k, done in enumerate(self.walk.done) if done}
        for view in (seat.view for seat in self._shell.panes.seats):
            if view is not None:
                view.forget_choices()
        self._want(session)
        panel = self._build()
        panel.show_session(session)
        panel.show()
        panel.raise_()
        self._show()
        self._looking.start()
        frame = self._controller.frame
        if frame is not None and frame.state == self._controller.state:  # none will come
            self._frame_came(frame)
        self._point()

    def leave(self) -> None:
        """Close the lesson that is open."""
        self._session, self._path, self.walk = Session(State()), Path(), Walk(())
        if self.panel is not None:
            self.panel.show_session(self._session)
            self.panel.hide()
        self._show()
        self.stop()

    def stop(self) -> None:
        """Point at nothing any more."""
        self._looking.stop()
        if self.pulse is not None:
            self.pulse.stop()

    def _build(self) -> LessonPanel:
        shell = self._shell
        if self.panel is None:
            self.panel = panel = LessonPanel(shell)
            shell.docks.add_guest(panel, "left", WIDTH)
            self.strip, self.pulse = LessonStrip(), Pulse(shell)
            shell.add_strip(self.strip)
            panel.turned.connect(self.turn)
            panel.again.connect(self.begin_again)
            for steps in (panel, self.strip.card):
                steps.show_asked.connect(self.show_step)
                steps.seen.connect(self._seen)
                steps.revealed.connect(self.reveal)
            self.strip.page_asked.connect(panel.show)
            self.strip.page_asked.connect(panel.raise_)
            self.strip.closed.connect(self.leave)
            panel.visibilityChanged.connect(self._panel_shown)
        return self.panel

    # the view in front --------------------------------------------------------------------------------------
    def _want(self, session: Session) -> None:
        """Bring the view that a session names to the front, now and when its first frame has come.

        Which panels there are for a kind of data is decided with the frame, so before it the view may have no place.
        """
        self.wanted = session.view or self._named(session)
        if self.wanted:
            self._shell.show_view(self.wanted)

    def _named(self, session: Session) -> str:
        """Return the panel below the stage that a lesson speaks of or means, "" where a step asks to open it."""
        asked = self._asked(session)
        titles = {self._shell.docks.docks[name].windowTitle(): name for name in self._shell.docks.below()}
        words = re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)", session.text)
        meant = [titles.get(word, "") for word in words] + [task.show for task in session.tasks]
        return next((name for name in meant if name in titles.values() and name not in asked), "")

    def _put_away(self) -> None:
        """Bring others to the front of panels that steps ask to open: the lesson before has left them there."""
        asked = self._asked(self._session) - {self._session.view}  # it may ask to choose something in its own
        for name in asked & set(self._shell.docks.docks):
            dock = self._shell.docks.docks[name]
            beside = [other for other in self._shell.tabifiedDockWidgets(dock) if other.objectName() not in asked]
            beside = [other for other in beside if other.isEnabled() and self._shell.docks.fits(other.objectName())]
            if beside and name in in_sight(self._shell):
                first = min(beside, key=lambda other: list(self._shell.docks.docks).index(other.objectName()))
                first.raise_()

    @staticmethod
    def _asked(session: Session) -> set[str]:
        """Return the views that steps of a lesson ask to open."""
        return set[str]().union(*(views_in(pattern) for task in session.tasks for pattern in task.patterns))

    def want(self, session: Session) -> None:
        """Do so for a session that is no lesson."""
        if session.view:
            self._want(session)

    def _frame_came(self, frame: Frame) -> None:
        self._looking.start()
        if self.walk.tasks:
            self._withhold()  # before anybody can read it
        if self.wanted is None or frame.state.epoch != self._controller.state.epoch:
            return
        wanted, self.wanted = self.wanted, None
        if not wanted or wanted in self._shell.docks.docks:
            # where it names none for the centre, a lesson begins with the view of its kind of data there
            self._shell.panes.show_home(self._controller.domain)
        if wanted:
            self._shell.show_view(wanted)
            if not self._shell.offers(wanted):
                self._shell.say("info", f"The panel {wanted!r} has nothing to show of these data.")
        if self.walk.tasks and (front := self._shell.panes.front()) is not None:
            front.setFocus()  # the arrows are for the picture, whatever panel a lesson speaks of
        self._put_away()
        self._point()

    # steps ------------------------------------------------------------------------------------------------
    def show_step(self, k: int) -> None:
        """Bring to the front what a step means, and point at it."""
        bring(self._shell, self.walk.tasks[k])
        self._point(k)

    def reveal(self, k: int) -> None:
        """Show the answer of a step; where nothing else has to be done, that does it."""
        self._answered.add(k)
        if self.walk.tasks[k].patterns:
            self._show()  # and with it the verdict
        else:
            self._seen(k)

    def _seen(self, k: int) -> None:
        self.walk.tick(k)
        self._progressed()

    def _look_soon(self, *_: object) -> None:
        self._looking.start()

    def _look(self) -> None:
        """See what is done; nothing while the lesson's own first frame has not come."""
        if self.walk.tasks and self.wanted is None:
            before = self.walk.current
            self._listen()
            if self.walk.see(self._sight()):
                self._progressed(before)
                return
            self._withhold()
        self._show_strip()

    def _listen(self) -> None:
        """Look again when something is chosen in a list, or by tabs, of a view, which changes no state."""
        for _, box in choices(self._shell, seen=False):
            if not box.property(HEARD):  # Python forgets bars of tabs that Qt has made
                box.setProperty(HEARD, True)
                (box.currentTextChanged if isinstance(box, QComboBox) else box.currentChanged).connect(self._look_soon)

    def _sight(self) -> Sight:
        info = self._controller.info
        params = info.params if info is not None else ()
        return Sight(self._controller.state, self._start, seen_in(self._shell), params)

    def _progressed(self, before: int = -1) -> None:
        self.course.keep(self._path, self.walk.marks)
        self._show()
        if self.walk.current != before:
            self._point()

    def _show(self) -> None:
        if self.panel is None:
            return
        self.panel.show_walk(self.walk, self._answered)
        self.panel.show_place(self.course.number(self._path), *self.course.progress())
        self.panel.bring_card(self.walk.current)
        self._withhold()
        self._show_strip()

    def _withhold(self) -> None:
        """Do not let the window name the culprit that a lesson asks for, before its answer was asked for."""
        asked = [t for k, t in enumerate(self.walk.tasks) if t.reveal and k not in self._answered]
        # other answers are no verdicts
        # and one about the network that the lesson opens keeps back nothing of another that is shown in its place
        here = self._start.model in models_of(self._controller.state)
        riddle = any(t.names_layer for t in asked if not t.patterns and here) or any(map(self._names_culprit, asked))
        self._shell.withhold(RIDDLE if riddle else "")

    def _names_culprit(self, task: Task) -> bool:
        """Say whether the answer of a step is the guilty layer of what is shown, which the step asks to be shown."""
        frame = self._controller.frame
        guilty = {name for square in frame.squares for name in square.guilty} if frame is not None else set()
        sight = self._sight()
        return any(f"*{name}*" in task.reveal for name in guilty) and any(holds(p, sight) for p in task.patterns)

    def _panel_shown(self, shown: bool) -> None:
        self._panel_in_sight = shown
        self._looking.start()

    def _show_strip(self) -> None:
        if self.panel is None or self.strip is None:
            return
        if shown := bool(self.walk.tasks) and not self._panel_in_sight:
            self.strip.show_walk(self.walk, self._answered, self._shell.layer_menu.withheld)
            # above the stage it would push that down, and up again when a step is done
            below = self._shell.docks.take_below(self.strip, self.panel)
            if not below:
                self._shell.add_strip(self.strip)
            self.strip.page_button.setHidden(below and not self.panel.isHidden())  # its tab is in the same place
        self.strip.setVisible(shown)

    def _point(self, k: int | None = None) -> None:
        """Draw attention to what a step means, the next one that is to be done."""
        k = self.walk.current if k is None else k
        if self.pulse is None:
            return
        if k >= len(self.walk.tasks) or not self._shell.isVisible():
            self.pulse.stop()
        else:
            self._meant = self.walk.tasks[k]
            for area in areas_of(self._shell, self._meant):
                if area not in self._followed:
                    self._followed.add(area)
                    area.verticalScrollBar().rangeChanged.connect(self._scroll_again)
            scroll_to(self._shell, self._meant)
            self.pulse.point_at(partial(place_of, self._shell, self._meant))

    def _scroll_again(self) -> None:
        """Keep what is pointed at in sight where controls come or go beside it; a person's own scrolling is let be."""
        if self._meant is not None and self.pulse is not None and not self.pulse.isHidden():
            scroll_to(self._shell, self._meant)

    def apply_theme(self) -> None:
        """Take the colours of the theme."""
        for part in (self.panel, self.strip):
            if part is not None:
                part.apply_theme()
