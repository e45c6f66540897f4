"""Do what the File menu offers: opening, sessions, exports, recent files, lessons."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QByteArray, QObject, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMenu

from explorer.app.thread.failures import failure_of
from explorer.data.finding import with_whole_path
from explorer.data.opening import expect_file
from explorer.declare.space import kinds, space_of_kind
from explorer.declare.states.model_name import split_name
from explorer.network.opening.files.trust import code_of_models
from explorer.state.lasting import learning, with_copies, with_whole_paths
from explorer.state.runs import models_of
from explorer.state.session import Session, save_session
from explorer.work.files.places import RESOURCES, whole
from widgets.base.look import theme
from widgets.base.view import View
from widgets.window.automation.recording import Recorder, Turntable
from widgets.window.lessons.guide import Guide
from widgets.window.opening.comparing import Comparing
from widgets.window.opening.filling import Filling
from widgets.window.opening.imports import Imports
from widgets.window.opening.models import FILTER, Models, takes
from widgets.window.opening.recents import Recents
from widgets.window.opening.trusted import TrustedFiles
from widgets.window.room.shell import Shell
from widgets.window.training.host import Trainer

if TYPE_CHECKING:  # it takes half a second, and not at the start
    from widgets.figures.page import FigurePage

SESSIONS = "Equiscope session (*.json)"
PICTURES = ("PNG picture (*.png)", "SVG drawing (*.svg)", "PDF page (*.pdf)")
FILMS = "GIF animation (*.gif);;MP4 film (*.mp4)"
NOTHING_TO_FILM = "There is nothing to film: open data or a network first, with File › Open data…"
PICTURES_OF_A_TURN = 72
MOST_IN_FOLDER = 2_000  # files that are looked through
NUMBERS = ("Table (*.csv)", "NumPy arrays (*.npz)")


def name_in_file(model: str) -> str:
    """Return a model's name as part of a file's: of a path what stands last."""
    return re.sub(r"[^\w.-]+", "-", "-".join(Path(part).stem for part in split_name(model) if part))


class Files(QObject):
    """Asks for paths and does the work; what fails is said above the stage."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._shell = shell
        self._controller = shell.controller
        self.comparing = Comparing(shell, lambda title, filters: self.ask_open(title, filters))
        self.filling = Filling(shell)
        self.models = Models(shell)
        self.imports = Imports(shell)
        self.trainer = Trainer(shell)
        self.trainer.exported.connect(self.export_view)
        self.guide = Guide(shell)
        self.recents = Recents(
            shell, "recent", lambda path: Path(path).name, str, lambda _, path: path,
            lambda title: self.ask_open(title, "All files (*)"), self.open,
        )  # fmt: skip
        self.models.data_found.connect(self._open_data)
        shell.panes.made.connect(self._view_made)
        self._controller.code_asked.connect(self.models.session)
        self.figure_page: FigurePage | None = None
        self.session_path = ""
        self._recorder: Recorder | None = None
        self._turntable: Turntable | None = None
        self._film_to = ""  # the file of a film that waits for the first answer

    def _view_made(self, view: View) -> None:
        if hasattr(view, "open_asked") and hasattr(view, "beside_asked"):  # it lists networks of the person's own
            view.open_asked.connect(self.models.reopen)
            view.beside_asked.connect(self.models.beside)

    def show_trusted(self) -> None:
        """List what may run without being asked, to be taken back."""
        TrustedFiles(self._shell, self._controller).open()

    # asking; tests answer in place of the person ----------------------------------------------------------
    def ask_open(self, title: str, filters: str) -> str:
        expect_file()
        return QFileDialog.getOpenFileName(self._shell, title, self._folder(), filters)[0]

    def ask_save(self, title: str, name: str, filters: str) -> str:
        """Return the path to write to, with the extension of the chosen filter when none was typed."""
        path, chosen = QFileDialog.getSaveFileName(self._shell, title, str(Path(self._folder(), name)), filters)
        if path and not Path(path).suffix and "*." in chosen:
            path += "." + chosen.split("*.", 1)[1].split(")")[0].split(" ")[0]
        return path

    def _folder(self) -> str:
        return str(self._shell.settings.value("folder", ""))

    # opening ----------------------------------------------------------------------------------------------
    def open_data(self) -> None:
        known = self._data_endings()
        data = f"Data ({known});;" if known else ""
        if path := self.ask_open("Open data", f"{data}All files (*)"):
            self.open(path)

    def open_mine(self) -> None:
        """Open what a person has brought, whether it is data or a model."""
        models, data = FILTER.split(";;")[0], self._data_endings()
        both = f"Data and models ({data} {models.partition('(')[2]};;Data ({data});;" if data else ""
        if path := self.ask_open("Open mine", f"{both}{models};;All files (*)"):
            self._shell.settings.setValue("folder", str(Path(path).parent))
            self.open(path)

    def _data_endings(self) -> str:
        catalogue = self._controller.catalogue
        return " ".join(f"*{one}" for one in sorted(catalogue.extensions)) if catalogue else ""

    def open_model(self) -> None:
        if path := self.ask_open("Open model", FILTER):
            self._shell.settings.setValue("folder", str(Path(path).parent))
            self.models.open(path)

    def ask_session(self) -> None:
        if path := self.ask_open("Open session", f"{SESSIONS};;All files (*)"):
            self.open(path)

    def open(self, path: str) -> None:
        """Open whatever it is, and remember it."""
        self._shell.infobar.over(passing=True)  # what was said of another file
        if takes(path):
            self.models.open(path, as_model=False)
        else:
            self._open_data(path)

    def open_all(self, paths: Sequence[str]) -> None:
        """Open what was dropped together: the first data and the first model; the others are recent files."""
        paths = [one for path in paths for one in self._files_in(path)]
        data = [path for path in paths if not takes(path)]
        models = [path for path in paths if takes(path)]
        for path in reversed([*data[1:], *models[1:]]):
            self.remember(path)
        for path in (*data[:1], *models[:1]):
            self.open(path)
        if left := [Path(path).name for path in (*data[1:], *models[1:])]:
            more = f" and {len(left) - 2} more" if len(left) > 2 else ""
            are = "are" if len(left) > 1 else "is"
            told = f"One at a time: {', '.join(left[:2])}{more} {are} under File › Open recent."
            self._shell.say("info", told)

    def _files_in(self, path: str) -> list[str]:
        """Return the data in a folder that is no model, else the path itself."""
        folder, catalogue = Path(path), self._controller.catalogue
        if catalogue is None or not folder.is_dir() or (folder / "config.json").exists():
            return [path]
        try:
            files = [one for one in islice(folder.iterdir(), MOST_IN_FOLDER) if one.is_file()]
        except OSError:  # what is wrong with it is said where it is opened
            return [path]
        return sorted(str(one) for one in files if one.suffix.lower() in catalogue.extensions) or [path]

    def _open_data(self, path: str) -> None:
        self.remember(path)
        self.imports.open(path)

    def opened_session(self, session: Session, path: str) -> None:
        """Take over what a session has beyond its state."""
        if session.lost:
            more = f", and {len(session.lost) - 1} more" if len(session.lost) > 1 else ""
            told = f"{Path(path).name} is damaged ({session.lost[0]}{more}): the rest of it is used."
            self._shell.say("warning", told)
        lesson = bool(self.guide.course.number(Path(path)))
        self.session_path = "" if lesson or session.lost else path  # what could not be read stays in the file
        if session.layout and not lesson:
            layout = bytes(QByteArray.fromBase64(session.layout.encode()).data())
            self._shell.docks.restore(layout)
        panes, sample = self._shell.panes, session.state.sample
        panes.tell("looks", lambda view: view.take_looks(session.looks.get(view.objectName(), {}), sample))
        if session.text or session.equation or session.tasks:
            self.guide.open(session, path)
        else:
            self.guide.want(session)

    def remember(self, path: str) -> None:
        path = str(whole(path))
        self.recents.keep(path)
        if not Path(path).is_relative_to(whole(RESOURCES)):  # what a person makes is not kept among the program's files
            self._shell.settings.setValue("folder", str(Path(path).parent))

    def recent(self) -> list[str]:
        return self.recents.names()

    def fill_recent(self, menu: QMenu) -> None:
        self.recents.fill(menu)

    # sessions ---------------------------------------------------------------------------------------------
    def save(self) -> None:
        if self.session_path:
            self._save_to(self.session_path)
        else:
            self.save_as()

    def save_as(self) -> None:
        name = self.session_path or f"{name_in_file(self._controller.state.model)}.json"
        if path := self.ask_save("Save session", Path(name).name, SESSIONS):
            self._save_to(path)

    def _save_to(self, path: str) -> None:
        layout = bytes(QByteArray(self._shell.docks.save()).toBase64().data()).decode()
        try:
            state, copies = with_copies(self._controller.state, Path(path))
            state = with_whole_paths(state, with_whole_path)
            code = code_of_models(models_of(state))
            front = self._shell.panes.front()
            extras = {"layout": layout, "view": front.objectName() if front is not None else ""}
            save_session(path, state, extras, code, looks=self._shell.panes.looks())
        except (OSError, ValueError) as error:
            self._shell.say_failure(failure_of(error, self._controller.state))
            return
        self.session_path = path
        self.remember(path)
        beside = " and ".join(copy.name for copy in copies)
        self._shell.say("info", f"Saved {path}{', and beside it what was learned so far, ' if beside else ''}{beside}")

    def copy_command(self) -> None:
        command = self._controller.state.command()
        front, first = self._shell.panes.front(), self._shell.panes.first(self._controller.domain)
        if front is not None and front.objectName() != first:
            command += f" --view {front.objectName()}"
        QGuiApplication.clipboard().setText(command)
        if learning(self._controller.state):  # the command says of which file
            told = "its weights go with the training: save the session to keep them"
            self._shell.say("info", f"Copied: {command} ({told})")
            return
        self._shell.say("info", f"Copied: {command}")

    # exports ----------------------------------------------------------------------------------------------
    def export_view(self, view: View | None = None) -> None:
        """Ask how the view with the focus, or the stage, is saved: as a figure or as numbers."""
        from widgets.figures.page import FigurePage

        view = view or self._shell.panes.active()
        if view is None:
            return
        if self._controller.frame is None:
            self._shell.say("info", "There is nothing to export before the first picture.")
            return
        page = FigurePage(self._shell, view, self._shell.settings)
        page.accepted_figure.connect(partial(self._save_view, view))
        self.figure_page = page
        page.open()

    def _save_view(self, view: View, ending: str, style: Any) -> None:
        name = f"{name_in_file(self._controller.state.model)}-{view.objectName() or 'view'}{ending}"
        first = next(f for f in (*PICTURES, *NUMBERS) if f"*{ending}" in f)
        path = self.ask_save("Export view", name, first)
        if not path:
            return
        self._shell.settings.setValue("folder", str(Path(path).parent))
        try:
            from widgets.figures import export, numbers

            if Path(path).suffix.lower() in numbers.NUMBERS:
                found = numbers.numbers_of(view)
                write = partial(numbers.writing_numbers, found, path)
                # a hundred megabytes take half a minute: not on this thread, and between two answers of the network
                said = partial(self._shell.say, "info", f"Saved {path}")
                self._controller.do(lambda _: write(), "Writing numbers…", lambda _: said())
                return
            export.export_view(view, path, theme="light" if style.light else theme.current().name, style=style)
        except Exception as error:  # whatever stops an export, the window goes on
            self._shell.say_failure(failure_of(error, self._controller.state))
        else:
            self._shell.say("info", f"Saved {path}")

    def export_captures(self) -> None:
        """Save what every layer answered, on the worker thread: the tensors never come here."""
        state = self._controller.state
        kind = self._controller.domain
        own = space_of_kind(kind).capture_endings if kind in kinds() else {}
        more = "".join(f";;{title} (*{ending})" for title, ending in own.items())
        name = f"{name_in_file(state.model)}-captures.safetensors"
        path = self.ask_save("Export captures", name, f"Safetensors (*.safetensors){more}")
        if not path:
            return

        def work(engine: Any) -> object:
            if not hasattr(engine, "export_captures"):
                raise ValueError("Captures cannot be exported by this engine: `main.py run` writes them.")
            return engine.export_captures(state, path)

        self._controller.do(work, "Exporting captures…", lambda _: self._shell.say("info", f"Saved {path}"))

    def export_data(self) -> None:
        """Save the sample in another format, on the worker thread."""
        state = self._controller.state
        catalogue = self._controller.catalogue
        known = catalogue.writable if catalogue is not None else ()
        endings = [e for e, domain in known if domain == self._controller.domain]
        filters = ";;".join(f"{e[1:].upper()} (*{e})" for e in endings)
        name = Path(state.sample or "data").stem + (endings[0] if endings else "")
        path = self.ask_save("Export data", name, filters)
        if not path:
            return

        def work(engine: Any) -> object:
            if not hasattr(engine, "export_data"):
                raise ValueError("Data cannot be exported by this engine: `main.py export` writes them.")
            return engine.export_data(state, path)

        def said(notes: Any) -> None:
            self._shell.say("info", "; ".join([f"Saved {path}", *notes]))

        self._controller.do(work, "Exporting data…", said)

    def export_orbit(self) -> None:
        """Film the stage along the orbit."""
        controller = self._controller
        if controller.frame is None and not controller.waiting and controller.catalogue is not None:
            self._shell.say("warning", NOTHING_TO_FILM)
            return
        name = f"{name_in_file(controller.state.model)}-{controller.state.orbit}.gif"
        if not (path := self.ask_save("Export orbit", name, FILMS)):
            return
        self.stop_filming()
        if controller.frame is not None:
            self._film(path)
            return
        self._film_to = path
        # once the views have been made for it
        controller.frame_ready.connect(self._film_at_last, Qt.ConnectionType.QueuedConnection)
        self._shell.say("info", "The film begins with the first answer of the network.")

    def _film_at_last(self) -> None:
        if path := self._film_to:  # it may have been given up meanwhile
            self._controller.frame_ready.disconnect(self._film_at_last)
            self._film_to = ""
            self._film(path)

    def _film(self, path: str) -> None:
        if (view := self._shell.panes.front()) is None:
            self._shell.say("warning", NOTHING_TO_FILM)
            return
        self._recorder = Recorder(self._controller, view, path)
        self._recorder.finished.connect(lambda: self._shell.say("info", f"Saved {path}"))
        self._recorder.begin()

    @property
    def turns(self) -> bool:
        """Return whether the view in front can be filmed from all round."""
        return getattr(type(self._shell.panes.front()), "turntable", None) not in (None, View.turntable)

    def export_turntable(self) -> None:
        """Film one full turn of what is shown."""
        view = self._shell.panes.active()
        turn = view.turntable(PICTURES_OF_A_TURN) if view is not None else None
        if turn is None:
            self._shell.say("warning", "Nothing turns here: choose a view in space, as Surface or Points.")
            return
        name = f"{name_in_file(self._controller.state.model)}-turntable.gif"
        if path := self.ask_save("Export turntable", name, FILMS):
            self.stop_filming()
            self._turntable = Turntable(self._controller, turn, PICTURES_OF_A_TURN, path)
            self._turntable.finished.connect(lambda: self._shell.say("info", f"Saved {path}"))
            self._turntable.begin()

    def stop_filming(self) -> None:
        """Give up the film that is being taken or waits to be, if there is one."""
        for film in (self._recorder, self._turntable):
            if film is not None:
                film.stop()
        self._recorder = self._turntable = None
        if self._film_to:
            self._film_to = ""
            self._controller.frame_ready.disconnect(self._film_at_last)
