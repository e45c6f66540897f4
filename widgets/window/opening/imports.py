"""Open data files: without a question where it is clear how, else on a page; what was chosen is kept for the folder."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject

from explorer.app.thread.failures import failure_of
from explorer.data.finding import base_of, split_part
from explorer.data.formats.foreign_formats import refuse_other
from explorer.declare.space import kinds, space_of_kind
from explorer.declare.states.model_name import named_as_shown
from explorer.declare.telling.choices import split_asked
from explorer.square.frame import Frame
from explorer.work.files.places import at_home, whole
from widgets.window.automation.choosing import models_for, open_sample
from widgets.window.opening.import_page import ImportPage
from widgets.window.room.shell import Shell

KEPT = "imports"  # the setting
UNKNOWN = ""  # the title alone is told
MOST_KEPT = 200  # folders and endings


class Imports(QObject):
    """Has at most one page open."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._shell, self._controller = shell, shell.controller
        self.page: ImportPage | None = None
        shell.data_line.asked.connect(self.change)
        shell.controller.frame_ready.connect(self.tell)
        shell.controller.catalogue_ready.connect(self._told_anew)

    # opening ----------------------------------------------------------------------------------------------
    def open(self, path: str) -> None:
        """Open a file of data, or whatever else the controller makes of it."""
        catalogue = self._controller.catalogue
        ending = Path(path).suffix.lower()
        if catalogue is None or ending not in catalogue.extensions:
            try:
                refuse_other(Path(path))
            except ValueError as error:
                self._shell.say_failure(failure_of(error, self._controller.state))
                return
        if catalogue is None or not os.path.isfile(path) or ending not in catalogue.extensions or ending == ".json":
            self._controller.open_path(path)
            return
        kind, asked = self._controller.domain, self._kept(path)

        def work(engine: Any) -> Any:
            from explorer.app.answering.importing import decide

            return decide(path, kind, asked)

        def done(decision: Any) -> None:
            if decision.ask:
                self.ask(decision.text)
                return
            if decision.remembered:
                self._shell.say("info", f"{Path(path).name} is read as was chosen for this folder.")
            if decision.text == path:
                self._controller.open_path(path)
            else:
                open_sample(self._controller, decision.text)

        self._controller.do(work, f"Looking at {Path(path).name}…", done)

    def change(self) -> None:
        """Ask how the data that are shown are to be read and fitted."""
        info = self._controller.info
        if text := self._controller.state.sample or (info.sample if info is not None else ""):
            self.ask(text)

    def ask(self, text: str) -> None:
        """Show the page."""
        if self.page is not None:
            self.page.close()
        page = ImportPage(self._shell, text, bool(self._kept(base_of(text))))
        page.asked.connect(partial(self._look, page))
        page.accepted_data.connect(self._accept)
        page.finished.connect(self._closed)
        self.page = page
        page.open()
        self._look(page, text)

    def _closed(self) -> None:
        self.page = None

    def _look(self, page: ImportPage, text: str) -> None:
        """Have the worker read the data in one way; the page shows the newest answer alone."""
        state = replace(self._controller.state, sample=text)
        catalogue = self._controller.catalogue
        known = {m.name: m.title for m in catalogue.models} if catalogue is not None else {}
        known.setdefault(state.model, named_as_shown(state.model))
        models = [name for name in models_for(text, state.model, catalogue) if name in known]

        def work(engine: Any) -> Any:
            from explorer.app.answering.importing import look

            return look(engine, state, models)

        def done(found: Any) -> None:
            if page is self.page and page.text in (found.text, text):
                page.show_look(found, known.get(found.model, ""))

        self._controller.do(work, f"Looking at {Path(base_of(text)).name}…", done)

    def _accept(self, text: str, remember: bool) -> None:
        base = base_of(text)
        if Path(base).is_file():
            asked = text[len(base) :].partition("#")[0].removeprefix("?")
            self._keep(base, asked if remember else "")
        if text != self._controller.state.sample:
            open_sample(self._controller, text)

    # what was chosen before -------------------------------------------------------------------------------
    def _all(self) -> dict[str, str]:
        self._shell.settings.sync()  # another program may have kept something since
        try:
            found = json.loads(str(self._shell.settings.value(KEPT, "{}")))
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def _kept(self, path: str) -> str:
        return str(self._all().get(_place(path), ""))

    def _keep(self, path: str, asked: str) -> None:
        kept = self._all()
        kept.pop(_place(path), None)
        if asked:
            kept[_place(path)] = asked
        self._shell.settings.setValue(KEPT, json.dumps(dict(list(kept.items())[-MOST_KEPT:])))

    # what was done ----------------------------------------------------------------------------------------
    def tell(self, frame: Frame) -> None:
        """Tell what was done to the data of a frame; what a sample of the program says of itself is no conversion."""
        c = self._controller
        kind = frame.squares[0].domain if frame.squares else ""
        text = frame.state.sample or (c.info.sample if c.info is not None else "")
        base, asked = base_of(text), split_asked(split_part(text)[0])[1]
        samples = c.catalogue.samples if c.catalogue is not None else ()
        known = {s.name: s.notes for s in samples}
        if not text:  # of a network of one's own the engine has chosen the sample
            base = next((s.name for s in samples if s.title == frame.sample_title), base)
        file = base not in known and at_home(base).is_file()
        own = () if asked or file else known.get(base, ())
        # until the samples are illustrated it is not known what they say of themselves
        unclear = own is None and bool(frame.sample_notes)
        notes = (UNKNOWN,) if unclear else tuple(n for n in frame.sample_notes if n not in (own or ()))
        form = space_of_kind(kind).form if kind in kinds() else None
        others = file or (form is not None and form.fitted_as and bool(notes) and not unclear)
        self._shell.data_line.show_notes(frame.sample_title or base, notes, others)

    def _told_anew(self, _: object) -> None:
        if self._controller.frame is not None:
            self.tell(self._controller.frame)


def _place(path: str) -> str:
    """Return under what the choice for files of one folder and ending is kept."""
    found = whole(at_home(path))
    return f"{found.parent}|{found.suffix.lower()}"
