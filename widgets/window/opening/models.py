"""Open models of a person's own: look on the worker thread, ask on one page, then show them like built-in ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QMenu

from explorer.app.thread.failures import sentence
from explorer.declare.states.model_name import (
    PYTHON,
    code_of,
    in_training,
    named_as_shown,
    package_of,
    split_call,
    split_input,
    split_name,
    told_apart,
    with_input,
    with_weights,
    with_whole_paths,
)
from explorer.network.opening.files.contents import Contents
from explorer.network.opening.files.edits import Edit, edits
from explorer.network.opening.files.trust import remember, remembered
from explorer.square.frame import Failure, Frame
from explorer.state.catalogue import Busy
from explorer.state.runs import models_of
from explorer.state.session import Session
from explorer.work.files.places import at_home, whole
from widgets.window.opening.inputs import Inputs
from widgets.window.opening.moved import offer_another
from widgets.window.opening.naming import ByName
from widgets.window.opening.page import ModelPage
from widgets.window.opening.recents import Recents
from widgets.window.opening.trouble import Trouble, caught
from widgets.window.room.shell import Shell

# of these, .pt and .safetensors may also be data: a look inside tells
ENDINGS = (".py", ".safetensors", ".pt", ".pth", ".pt2", ".onnx", ".bin", ".ckpt", ".pkl", ".pickle", ".ts")
CONFIG = "config.json"  # of a folder of Hugging Face's layout, beside its weights
FILTER = f"Models ({' '.join(f'*{e}' for e in ENDINGS)} {CONFIG});;All files (*)"


@dataclass(frozen=True, slots=True)
class Looked:
    """A file as the worker has found it: data, or a model whose code may be trusted already."""

    found: Contents | None
    trusted: bool = False
    edits: tuple[Edit, ...] = ()  # of what was trusted as it was before


def takes(path: str) -> bool:
    """Return whether a file or folder is looked at as a model."""
    return os.path.isdir(path) or Path(path).suffix.lower() in ENDINGS  # of any text, unlike Path


GoOn = Callable[[str], None]  # with the name of the network that was opened


class Models(QObject):
    """Has at most one page open."""

    data_found = Signal(str)  # the path of what was no model

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._shell, self._controller = shell, shell.controller
        self.page: ModelPage | None = None
        self.inputs = Inputs(shell)
        self.by_name = ByName(shell, self.reopen, self._shown)
        self.recents = Recents(shell, "recent_models", named_as_shown, _file_of, _in_file, self._find, self.reopen)
        self._noted: tuple[str, ...] = ()
        shell.infobar.ask.connect(self.reopen)
        self._controller.frame_ready.connect(self._note)
        self._controller.busy.connect(self._tell)

    # opening ----------------------------------------------------------------------------------------------
    def open(self, path: str, chosen: str = "", as_model: bool = True, reopened: bool = False) -> None:
        """Look at a file and show its page; `chosen` is a callable of it that was opened before.

        Args:
            reopened: it was opened before, as a whole where nothing is chosen.
            as_model: the person has said that it is a model; a file that may be data as well is data otherwise.
        """
        given = Path(path)
        path = str(given.parent if given.name == CONFIG else given)

        def then(looked: Looked) -> None:
            if looked.found is None:
                self.data_found.emit(path)
            elif looked.trusted and (chosen or reopened):
                self._run(looked.found, chosen, self._shown, None)
            else:
                self._ask(looked, chosen)

        self._look(path, then, as_model)

    def _look(self, path: str, then: Callable[[Looked], None], as_model: bool = True) -> None:
        def work(engine: Any) -> Looked:
            from explorer.data.readers import readers
            from explorer.network.opening.files.looking import contents

            ending = Path(path).suffix.lower()
            # a file of this ending is data only where a reader finds in it what it reads
            fits = [r.fits for r in readers().values() if r.fits is not None and ending in r.extensions]
            if not as_model and Path(path).is_file() and any(fit(Path(path)) for fit in fits):
                return Looked(None)
            found = contents(path)
            if found.code and hasattr(engine, "expect_code"):  # while the person reads it
                engine.expect_code()
            known = remembered()
            trust = getattr(engine, "trust", None)
            named = trust is not None and (trust.everything or Path(found.path).resolve() in trust.followed)
            trusted = named or (bool(found.code) and all(digest in known for _, digest in found.code))
            return Looked(found, trusted, () if trusted else edits(found.code))

        self._controller.do(work, f"Looking at {Path(path).name}…", then)

    def _ask(self, looked: Looked, chosen: str = "", why: str = "", go_on: GoOn | None = None) -> None:
        """Show the page of a file; `go_on` is done in place of showing the model, once its code may run."""
        assert looked.found is not None
        if self.page is not None:
            self.page.close()
        into = self._targets(looked.found.path)
        page = ModelPage(self._shell, looked.found, looked.trusted, chosen, why, into, looked.edits)
        then = self._shown if go_on is None else lambda changes, name: self._go_on(name, "", go_on)
        page.accepted_code.connect(partial(self._accept, page, then))
        page.asked_input.connect(partial(self._accept, page, then, ask=True))
        page.accepted_weights.connect(partial(self._load, page))
        page.finished.connect(self._closed)
        self.page = page
        page.open()

    def _closed(self) -> None:
        self.page = None

    def _targets(self, path: str) -> list[tuple[str, str]]:
        """Return the (name, title) of the models that weights can go into: that of their folder, in use, then own."""
        state, info = self._controller.state, self._controller.info
        title = info.title if info is not None else named_as_shown(state.model)
        used = split_name(state.model)[0]
        # in place of other weights
        bare = dict.fromkeys(split_name(name)[0] for name in self.recent() if code_of(name))
        own = told_apart(name for name in bare if name != used)
        folder = Path(path).parent
        beside = [(str(folder), f"the network of the folder {folder.name}")] if (folder / CONFIG).is_file() else []
        return [*beside, ("", f"{title} (in use)"), *own.items()]

    def _find(self, title: str) -> str:
        return QFileDialog.getOpenFileName(self._shell, title, str(self._shell.settings.value("folder", "")), FILTER)[0]

    # deciding ---------------------------------------------------------------------------------------------
    def _accept(
        self, page: ModelPage, then: Callable[[Any, str], None], chosen: str, follow: bool, ask: bool = False
    ) -> None:
        """Remember that this content may run, and run it."""
        try:
            remember(page.found.code)
        except OSError as error:
            self._controller.log.emit("warning", f"what you trust is not remembered: {sentence(error)}")
        page.now_trusted()
        if ask:
            self._allowed(page.found, follow, partial(self._ask_input, _named(page.found.path, chosen), then, page))
        else:
            self._run(page.found, chosen, then, page, follow)

    def _allowed(self, found: Contents, follow: bool, then: Callable[[], None]) -> None:
        """Let this content run on the worker thread, then go on."""
        self._controller.do(partial(_allow_found, found, follow), "Trusting it…", lambda _: then())

    def _ask_input(self, name: str, then: Callable[[Any, str], None], page: ModelPage | None) -> None:
        """Ask what a network of a file takes, which may run; what is wrong with the file is said on its page."""

        def done(result: Any) -> None:
            if isinstance(result, Trouble):
                self._trouble(result, page)
                return
            if page is not None and page is self.page:
                page.accept()
            self.inputs.open(result, then)

        self._do(partial(_asked, name), "Looking at what it takes…", done, page)

    def input_of_this(self) -> None:
        """Ask what the network in use takes."""
        name = self._controller.state.model
        if code_of(name) is None:
            self._shell.say("info", "What this network takes is known: only one of your own can be told otherwise.")
        else:
            self._ask_input(name, self._shown, None)

    def _run(
        self, found: Contents, chosen: str, then: Callable[[Any, str], None], page: ModelPage | None,
        follow: bool = False,
    ) -> None:  # fmt: skip
        """Make the network on the worker thread; what goes wrong is said on the page."""
        name, state = _named(found.path, chosen), self._controller.state

        def work(engine: Any) -> object:
            _allow_found(found, follow, engine)
            return engine.open_model(name, state)

        def done(result: Any) -> None:
            if isinstance(result, Trouble) and result.unknown:
                self._ask_input(name, then, page)
                return
            if isinstance(result, Trouble):
                self._trouble(result, page)
                return
            if self._controller.state.sample != state.sample:  # data dropped with it have come meanwhile
                self._run(found, chosen, then, page, follow)
                return
            if page is not None and page is self.page:
                page.accept()
            then(result, name)

        self._do(work, f"Opening {Path(found.path).name}…", done, page)

    def _load(self, page: ModelPage, into: str, partly: bool) -> None:
        """Put weights into a model on the worker thread."""
        path, state = page.found.path, self._controller.state
        if Path(path).is_dir():
            files = sorted(str(file) for file in Path(path).glob("*.safetensors"))
            if len(files) != 1:
                page.say(f"{Path(path).name} holds its weights in {len(files)} files: only one file can be loaded.")
                return
            path = files[0]

        def work(engine: Any) -> object:
            if (code := code_of(into)) is not None:
                _allow(engine, at_home(code))
            return engine.open(path, state, into, partly)

        def done(result: Any) -> None:
            if isinstance(result, Trouble) and result.unknown:
                self._ask_input(with_weights(into or state.model, path, partly), self._shown, page)
                return
            if isinstance(result, Trouble):
                self._trouble(result, page)
                return
            if page is self.page:
                page.accept()
            self._shown(result, path)

        self._do(work, f"Loading {Path(path).name}…", done, page)

    def _do(
        self, work: Callable[[Any], object], text: str, done: Callable[[Any], None], page: ModelPage | None
    ) -> None:
        """Do what a page asks for on the worker thread, until the page is closed; it says how far that is."""
        if page is None:
            self._controller.do(caught(work), text, done)
            return

        def ended(failure: Failure) -> None:
            if page is self.page:
                page.say(failure.sentence)

        page.rejected.connect(self._controller.do(caught(work), text, done, ended))

    def _tell(self, busy: Busy) -> None:
        if self.page is not None:
            self.page.tell(busy.text, busy.fraction)

    def _trouble(self, trouble: Trouble, page: ModelPage | None) -> None:
        self._controller.log.emit("error", trouble.sentence)
        if page is not None and page is self.page:
            page.say(trouble.sentence, trouble.misfit)
        else:
            self._shell.say("error", trouble.sentence)

    def _shown(self, changes: Any, name: str) -> None:
        self.keep(name)
        before = self._controller.state
        self._controller.change(changes)
        if self._controller.state == before:  # the same network of other code
            self._controller.refresh(anew=True)

    # sessions ---------------------------------------------------------------------------------------------
    def session(self, session: Session, path: str) -> None:
        """Open a session that shows models of files, once each of them may run."""
        names = [name for name in models_of(session.state) if code_of(name) is not None]
        self._next(names, session, path)

    def _next(self, names: list[str], session: Session, path: str) -> None:
        if not names:
            self._controller.take_session(session, path)
            return
        file, chosen = _parts(names[0])
        if not os.path.exists(at_home(file)):
            offer_another(self._shell, file, session, path, self._find, lambda found: self.session(found, path))
            return

        def go_on(name: str) -> None:
            self._next(names[1:], session, path)

        def then(looked: Looked) -> None:
            assert looked.found is not None
            other = another_content(session.code, looked.found.code)
            if looked.trusted:
                self._run(looked.found, chosen, lambda changes, name: self._go_on(name, other, go_on), None)
            else:
                what = chosen or "the network"
                why = f"The session {Path(path).name} shows {what} of this file, whose content you have not trusted."
                self._ask(looked, chosen, f"{why} {other}".strip(), go_on)

        self._look(str(at_home(file)), then)

    def _go_on(self, name: str, warning: str, go_on: GoOn) -> None:
        """Go on with what a network was allowed for, as a session, and say what is not as it was then."""
        self.keep(name)
        go_on(name)
        if warning:
            self._shell.say("warning", warning)

    def beside(self, name: str) -> None:
        """Show a network of the person's own beside the one in use, once its code may run."""
        go_on = self._controller.set_compare
        go_on(name) if code_of(name) is None else self._allowed_for(name, go_on)

    def _allowed_for(self, name: str, then_go_on: GoOn) -> None:
        """Do something with a network of a file once its code may run, and it is known what it takes."""
        file, chosen = _parts(name)

        def go_on(opened: str) -> None:
            """Go on with its weights, and what the person may have said that it takes."""
            then_go_on(with_input(name, split_input(opened)[1]))

        def then(looked: Looked) -> None:
            assert looked.found is not None
            if looked.trusted:
                self._run(looked.found, chosen, lambda changes, name: self._go_on(name, "", go_on), None)
            else:
                self._ask(looked, chosen, "", go_on)

        self._look(str(at_home(file)), then)

    # what was opened --------------------------------------------------------------------------------------
    def recent(self) -> list[str]:
        """Return the names of models and paths of weights that were opened, the newest first."""
        return self.recents.names()

    def _note(self, frame: Frame) -> None:
        """Keep what a frame shows of files and packages, however it was asked for: a command names networks as well."""
        shown = models_of(frame.state)
        if shown == self._noted:
            return
        self._noted = shown
        for name in reversed(shown):  # the first one is the newest
            own = package_of(name) or os.path.exists(_parts(name)[0])
            kept = name if own else "" if in_training(name) else split_name(name)[1]
            if kept and (package_of(kept) or os.path.exists(_parts(kept)[0])):
                self.keep(kept)

    def keep(self, name: str) -> None:
        self.recents.keep(with_whole_paths(name))

    def reopen(self, name: str) -> None:
        """Open a model by its name, once its code may run."""
        file, chosen = _parts(name)
        code, weights = code_of(name), split_name(name)[1]
        if code is not None and weights:
            self._allowed_for(name, self.by_name.make)
        elif weights:
            self.by_name.make(name)
        elif code is not None or os.path.exists(at_home(file)):
            self.open(str(at_home(file)), chosen, reopened=code is not None)
        else:
            self.by_name.make(name)

    def fill_recent(self, menu: QMenu) -> None:
        self.recents.fill(menu)


def another_content(saved: Sequence[tuple[str, str]], now: Sequence[tuple[str, str]]) -> str:
    """Return which file is another one than when a session was saved, with both SHA-256; "" where none is."""
    then = dict(saved)
    for path, digest in now:
        before = then.get(str(whole(path)), digest)
        if before != digest:
            return (
                f"{Path(path).name} is not what it was when the session was saved: its SHA-256 was {before[:12]}… and "
                f"is {digest[:12]}… now."
            )
    return ""


def _parts(name: str) -> tuple[str, str]:
    """Return (file, what in it was opened) of a model's name: "Net(3)" of a Python file, "" of most others."""
    base = split_name(name)[0]
    path = split_call(base)[0]
    return path, base[len(path) :].removeprefix(":")


def _file_of(name: str) -> str:
    """Return the file or folder that a recent model is read from, "" of one that a package makes."""
    return "" if package_of(name) else _parts(name)[0]


def _in_file(name: str, path: str) -> str:
    """Return the name of the same network in another file."""
    return path + name[len(_parts(name)[0]) :]


def _named(path: str, chosen: str) -> str:
    """Undo `_parts`."""
    return f"{path}:{chosen}" if path.endswith(PYTHON) and chosen else path + chosen


def _allow(engine: Any, path: Path) -> None:
    """Let a file run that was trusted before, with just the content that it had."""
    from explorer.network.opening.files.looking import code_in

    code, known = code_in(path), remembered()
    if all(digest in known for _, digest in code):
        engine.trust.contents.update(digest for _, digest in code)


def _allow_found(found: Contents, follow: bool, engine: Any) -> None:
    engine.trust.contents.update(digest for _, digest in found.code)
    if follow:
        engine.trust.followed.add(Path(found.path).resolve())


def _asked(name: str, engine: Any) -> object:
    return engine.asked(name)
