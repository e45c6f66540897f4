"""The process that runs networks: it answers one request after the other, as an engine in it does."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from explorer.app.remote.block import Block
from explorer.app.remote.crossing import Receiver, Sender
from explorer.app.remote.life.deaths import BROKEN
from explorer.app.remote.note import Note
from explorer.app.thread.orders import new_only
from explorer.declare.states.model_name import named_as_shown
from explorer.square.frame import Frame
from explorer.state.runs import models_of
from explorer.state.state import State
from explorer.work.memory import RESTED, give_back, uncollected
from explorer.work.processes.birth import born, end_fork, keep_to, own
from explorer.work.processes.hearing import MOST
from explorer.work.processes.wire import Unwritable
from explorer.work.progress import Cancelled, listening

TELLING = (  # what goes wrong is told by these: once it has, a network may have made every import impossible
    "explorer.app.remote.life.deaths",
    "explorer.app.thread.failures",
    "explorer.network.tracing.damage",
)
QUIET = 0.2  # seconds after an answer that no drag goes on
EVERY = 0.1  # seconds between two words on how far it is


def main(words: list[str]) -> None:
    """Serve until the line is closed."""
    end, leave = born(words), os._exit
    block, note, program, limit = end.words
    server = Server(end.connection, Block(int(block)), Note(int(note)), program, int(limit))
    try:
        server.serve()
    except BaseException:  # what a network raises is answered: this one has taken from Python what that is done with
        leave(BROKEN)


class Server:
    """Has an engine, the generators that are under way, and the frame that was answered last."""

    def __init__(self, connection: Connection[Any, Any], block: Block, note: Note, program: str, limit: int) -> None:
        with uncollected():
            from explorer.app.answering.engine import LocalEngine
            from explorer.app.remote.tampering import Untouched
            from explorer.work import crumbs
            from explorer.work.threads import tune

            tune()
            for name in TELLING:
                import_module(name)
            self._engine = LocalEngine(import_module(program).cards())
        self._connection, self._note = connection, note
        self._sender, self._receiver = Sender(block), Receiver(block)
        self._running: dict[int, Iterator[object]] = {}
        self._frame: Frame | None = None
        self._said = 0.0
        crumbs.listen(own(connection, note.write))
        keep_to(limit)
        self._untouched = Untouched()
        self._changed, self._emptied = False, ""

    def serve(self) -> None:
        self._connection.send_bytes(b"ready")
        number = 0
        while True:
            try:
                self._rest()
                request = self._receiver.unpacked(self._connection.recv_bytes())
            except (EOFError, OSError):
                return
            number += 1
            self._note.hear(number)
            self._note.write("")
            self._said = time.monotonic()
            self._reply(*self._fair(request, self._answered(request)))
            self._note.answer(number)

    def _rest(self) -> None:
        """Wait for a request; meanwhile look for what others would meet, which nobody need wait for."""
        if self._connection.poll(QUIET):
            return
        self._tell_changes()
        if not self._connection.poll(RESTED):
            give_back()

    def _tell_changes(self) -> None:
        if not self._changed and (what := self._what_changed()):
            self._changed = True
            self._reply("changed", what)

    def _what_changed(self) -> str:
        """Return what a network has changed that others would meet, "" where nothing is."""
        try:
            return self._emptied or self._untouched.changed()
        except BaseException:  # it cannot even be looked at
            return "what Python consists of"

    def _replaced(self) -> str:
        try:
            return self._untouched.replaced()
        except BaseException:  # as above
            return "what Python consists of"

    def _answered(self, request: tuple[Any, ...]) -> tuple[object, ...]:
        try:
            with listening(self._told, viewer=partial(self._reply, "seen")):
                return "done", self._done(*request)
        except Cancelled:
            return ("cancelled",)
        except BaseException as error:  # whatever the code of a person's network raises
            self._emptied = self._untouched.refilled()  # or nothing more can be said
            from explorer.app.remote.life.deaths import who
            from explorer.app.remote.tampering import Damaged
            from explorer.app.thread.failures import relayed
            from explorer.network.tracing.damage import damage

            if told := damage(error):
                error = Damaged(f"{who(_named_in(request))}: {told}")
            return "failed", *relayed(error, _named_in(request))

    def _fair(self, request: tuple[Any, ...], reply: tuple[object, ...]) -> tuple[object, ...]:
        """Return an answer, or what is wrong with it: the network has replaced what it is measured with."""
        emptied = self._emptied = self._emptied or self._untouched.refilled()
        if not (what := emptied or self._replaced()):
            return reply
        from explorer.app.remote.tampering import Emptied, Tampered
        from explorer.app.thread.failures import relayed

        state = next((given for given in request if isinstance(given, State)), None)
        name = named_as_shown(state.model) if state is not None else "The network"
        return "failed", *relayed((Emptied if emptied else Tampered)(name, what))

    def _reply(self, *reply: object) -> None:
        end_fork(self._connection)
        try:
            message = self._sender.packed(reply, keep=reply[0] == "done")
            if len(message) > MOST:
                raise Unwritable("this network has too many layers, names or notes to be shown: choose a smaller one")
        except Unwritable as error:  # only a network that changes what is told of it makes such a value
            from explorer.app.thread.failures import relayed

            message = self._sender.packed(("failed", *relayed(error)))
        self._connection.send_bytes(message)

    def _told(self, text: str, share: float) -> None:
        if self._note.given_up:
            raise Cancelled
        now = time.monotonic()
        if text and now - self._said >= EVERY:
            self._said = now
            self._reply("told", text, share)

    def _done(self, what: str, *given: Any) -> object:
        match what:
            case "trust":
                everything, contents, followed = given
                trust = self._engine.trust
                trust.everything, trust.contents = everything, set(contents)
                trust.followed = {Path(path) for path in followed}
                return None
            case "settled":  # another network comes next
                self._tell_changes()
                return None
            case "answer":
                self._sender.forget()
                self._frame = self._engine.answer(given[0], lambda: self._note.given_up)
                return self._frame
            case "outline":
                return self._engine.outline(given[0], lambda: self._note.given_up)
            case "refine":
                shown = self._frame is not None and self._frame.state == given[1]
                frames = self._engine.refine(self._frame) if shown and self._frame else iter(())
                self._running[given[0]] = new_only(frames)
                return None
            case "orbit":
                self._running[given[0]] = self._engine.orbit(given[1])
                return None
            case "proposals":
                self._running[given[0]] = iter(self._engine.proposals(given[1], given[2]))
                return None
            case "next":
                running = self._running.get(given[0], iter(()))
                try:
                    return (next(running),)
                except BaseException as end:
                    self._running.pop(given[0], None)
                    if isinstance(end, StopIteration):
                        return ()
                    raise
            case "drop":
                running = self._running.pop(given[0], iter(()))
                if hasattr(running, "close"):
                    running.close()
                return None
            case "movable":
                from explorer.app.remote.movable import sent

                return sent(self._engine.prepared(given[0], given[0].model))
            case "look":
                from explorer.app.answering.importing import look

                return look(self._engine, *given)
            case "report":
                from safetensors.torch import save

                report, tensors = self._engine.report(*given)
                return report, save({name: value.contiguous() for name, value in tensors.items()})
            case _:
                return getattr(self._engine, what)(*given)


def _named_in(request: tuple[Any, ...]) -> Iterator[str]:
    """Yield the networks that a request is about."""
    for given in request[1:]:
        if isinstance(given, str):
            yield given
        elif isinstance(given, State):
            yield from models_of(given)
