"""A training that a window steers: lines of JSON go both ways, the network as it is lies in a file.

What is asked of it, one line each: {"do": "play"}, "pause", "step", "finish", {"do": "back", "step": 120}, and {"do":
"rate", "value": 0.5}, "speed", "loss", "seed", "watch"; "shown" when the last network has been drawn. What it says:
{"began": ...} with what can be chosen; {"steps": [[step, loss, parts], ...]}, several at once; {"kept": [...]};
{"now": ...}, the loss and the seed that were asked for or restored; {"live": step} whenever the file holds another
network; {"errors": ..., "figures": ..., "step": ...}; {"paused": step}; {"trouble": sentence}; {"written": path}.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from explorer.app.command.doors import BadInput
from explorer.app.command.writing import save_tensors
from explorer.app.thread.failures import out_of_memory
from explorer.app.training.channel import Channel
from explorer.app.training.driving import Diverged, Drive, Steers, Trained
from explorer.app.training.errors import LayerErrors
from explorer.app.training.from_command_line import figures_now
from explorer.app.training.keeping import Keeper, Plan, save_trained
from explorer.app.training.settings import Settings, Steered
from explorer.app.training.telling import TimeLeft
from explorer.declare.card import Card
from explorer.declare.states.model_name import LIVE
from explorer.work.files.replacing import replacing, write_whole
from explorer.work.progress import Cancelled

TELL_S = 0.1  # between two lines of steps
LIVE_S = 0.5  # between two networks that are shown
LIVE_SHARE = 0.02  # of the time may be spent on writing them
ERRORS_SHARE = 0.05  # of the time may be spent on measuring layers
ERRORS_S = 0.5
MOST_STEPS = 4000  # in one line


def serve(card: Card, args: argparse.Namespace, path: Path, channel: Channel) -> int:
    """Train as the window says."""
    live = Live(card, args, path, channel.listen(), channel.record(Path(args.live)))
    try:
        live.run()
    except Cancelled:
        return 0
    except Diverged as error:
        raise BadInput(str(error)) from None
    return 0


class Live(Steers):
    """Between two steps: does what is asked, tells what is new."""

    def __init__(
        self,
        card: Card,
        args: argparse.Namespace,
        path: Path,
        asked: SimpleQueue[Mapping[str, Any]],
        say: Callable[[Mapping[str, Any]], None],
    ) -> None:
        self._card, self._args, self._path, self._asked, self._say = card, args, path, asked, say
        self.folder = Path(args.live)
        self.keeper = Keeper(self.folder / "kept", Plan(card.name, args.epochs, args.seed), every_s=0.5)
        self._training = card, args.epochs, int(args.seed)
        self.drive = Drive(*self._training, args.rate, self)
        self._taken_up, self._trouble = False, ""  # set up anew after memory had run out, and not yet steered
        self.drive.limit = args.steps
        self._left = TimeLeft()
        self._paused, self._single, self._speed = False, False, 0.0
        self._wanted = True  # whether the window has drawn the last network, and may be given another one
        self._watched = True  # whether anybody looks at the network, and not at the loss alone
        self._new: list[list[Any]] = []
        self._told = self._live_due = self._last = 0.0
        self._errors_due = 0.0
        self._errors: LayerErrors | None = None
        self._refused = ""
        self._branch: int | None = None  # the step that the training was taken back to, until the next one
        self._seed: int = args.seed
        self._drawn: int | None = None  # the steps after which chance was drawn from the seed
        self._steered = Steered(Settings(args.rate, "", self._seed))
        self._stood: int | None = None  # the step to which a loss that went wrong has led back

    def run(self) -> None:
        """Train to the end and write the weights.

        Raises:
            BadInput: memory has run out for good; what was last shown is written.
        """
        try:
            network, figures = self._driven()
        except Exception as error:
            live = self.folder / LIVE
            if not out_of_memory(error) or not live.is_file():
                raise
            with replacing(self._path) as beside:
                shutil.copyfile(live, beside)  # which takes no memory; its metadata say of which step it is
            what = f"the network as the window showed it last is written to {self._path}"
            raise BadInput(f"memory has run out while {self._card.name} was trained; {what}") from None
        self._tell(last=True)
        told = {"model": self._card.name, "seed": str(self._args.seed), **{k: f"{v:.6g}" for k, v in figures.items()}}
        first = self._steered.at(0)
        told |= {"rate": f"{first.rate:g}"} if first.rate != 1 else {}
        told |= {"loss": first.loss} if self._args.loss else {}
        if changes := self._steered.words:
            told["changes"] = changes
        save_trained(self._path, network, told)
        self._say({"refused": self.drive.unjudged})  # also "": it is over, whatever a disk did not take
        self._say({"written": str(self._path), "figures": {k: float(v) for k, v in figures.items()}})

    def _driven(self) -> Trained:
        """Train to the end; where memory runs out, from the last kept step on, once a person says so."""
        while True:
            try:
                return self.drive.run()
            except Exception as error:
                # without a course nothing is kept; while it is taken up again, there is not even room for that
                kept = self.drive.course is not None and bool(self.keeper.ring.steps)
                if not kept or self._taken_up or not out_of_memory(error):
                    raise
                at = self.drive.step.step
            # what the training held has gone with the exception, before it is set up anew
            self._tell()
            rate, limit = self.drive.rate, self.drive.limit
            self.drive, self._errors, self._taken_up = Drive(*self._training, rate, self), None, True
            self.drive.limit = limit
            self._trouble = f"Memory has run out after step {at:,}, while {self._card.name} was trained"

    # between two steps ----------------------------------------------------------------------------------------
    def begun(self, drive: Drive) -> None:
        if self._taken_up:
            self._take_up(drive)
            return
        course = drive.course
        if course is not None and self._args.loss:
            course.choose(self._args.loss)
        self._steered = Steered(self._settings(drive))
        began = {
            "total": drive.step.total, "losses": list(course.named_losses) if course is not None else [],
            "loss": course.loss_name if course is not None else "", "steered": course is not None,
            "live": str(self.folder / LIVE),
        }  # fmt: skip
        self._say({"began": began})
        if self._args.resume and (kept := self.keeper.ring.newest()) is not None:
            self._go_on(drive, kept)
            return
        self.keeper.begin()
        self.keeper.keep(drive)
        self._say({"kept": self.keeper.ring.steps})
        self._look(drive)
        self._measure(drive)
        self._heed(drive)

    def stepped(self, drive: Drive) -> None:
        if self._branch is not None:
            self.keeper.ring.drop_after(self._branch)
            self._steered.cut(self._branch)
            self._branch = None
        step, now = drive.step, time.monotonic()
        if self._steered.made(step.step, self._settings(drive)):
            with contextlib.suppress(OSError):  # a disk that is full is told with the next state to be kept
                write_whole(self._record, self._steered.text().encode())
        loss = step.losses.get("loss")
        self._new.append([step.step, loss, {k: v for k, v in step.losses.items() if k != "loss"}])
        if drive.limit is not None and step.step >= drive.limit:
            drive.finish()
        due = self.keeper.due()  # what is kept is on record before: a kill would leave a gap in the curve
        if due or now - self._told >= TELL_S or len(self._new) >= MOST_STEPS:
            self._tell()
        if due and self.keeper.keep(drive):
            self._say({"kept": self.keeper.ring.steps})
        self._complain()
        if self._watched and self._wanted and now >= self._live_due:
            self._look(drive)
        if self._watched and now >= self._errors_due:
            self._measure(drive)
        if self._single:
            self._single, self._paused = False, True
            self._stand(drive)
        if self._speed > 0 and not self._paused:
            self._wait(self._last + 1 / self._speed, drive)
        self._last = time.monotonic()
        self._heed(drive)

    def diverged(self, drive: Drive, error: Diverged) -> None:
        """Go back to the last state of which every number is one, and stand there."""
        sentence = str(error)
        sentence = f"{sentence[:1].upper()}{sentence[1:]}"
        ring = self.keeper.ring
        if drive.course is None or not ring.steps:
            raise error
        before = [step for step in ring.steps if step <= error.step] or ring.steps[:1]
        if self._stood == before[-1] and len(before) > 1:
            before.pop()  # every number of that state is one, and yet it leads nowhere
        ring.drop_after(before[-1])
        sound = ring.newest()
        if sound is None:
            raise error
        self._restore(drive, sound)
        self._stood = drive.step.step
        self._stand_again(drive, sentence)
        self._heed(drive)

    def _take_up(self, drive: Drive) -> None:
        """Stand at the last kept step of a training that was set up anew."""
        kept = self.keeper.ring.newest()
        if kept is None:
            raise BadInput(f"{self._trouble}, and {self.folder} holds no step that can be gone on from")
        self._restore(drive, kept)
        self._stand_again(drive, self._trouble)
        self._taken_up = False
        self._heed(drive)

    def _go_on(self, drive: Drive, kept: Mapping[str, Any]) -> None:
        """Go on from the last kept step of a process that was cut off."""
        with contextlib.suppress(OSError, ValueError):  # what was changed is then not on record
            self._steered = Steered.read(self._record.read_text(encoding="utf-8"))
        try:
            self._restore(drive, kept)
        except ValueError as error:
            told = f"what is kept does not fit {self._card.name} as it is now, {error}: begin it anew"
            raise BadInput(told) from None
        self._steered.cut(drive.step.step)
        drive.rate = self._steered.at(drive.step.step).rate
        self.keeper.ring.drop_after(drive.step.step)
        self._say({"back": drive.step.step, "epoch": drive.step.epoch, "kept": self.keeper.ring.steps,
                   "now": self._now(drive)})  # fmt: skip
        self._look(drive)
        self._measure(drive)
        self._heed(drive)

    @property
    def _record(self) -> Path:
        """Return the file of the settings that all steps were made with."""
        return self.folder / "steered.json"

    def _stand_again(self, drive: Drive, sentence: str) -> None:
        self._steered.cut(drive.step.step)
        self._tell()
        self._say({"trouble": f"{sentence}. It stands at step {drive.step.step:,} again, the last kept one before it.",
                   "back": drive.step.step, "epoch": drive.step.epoch, "kept": self.keeper.ring.steps,
                   "now": self._now(drive)})  # fmt: skip
        self._paused = True
        self._stand(drive)

    def _heed(self, drive: Drive) -> None:
        """Do what is asked; while it is paused, wait for more."""
        while True:
            try:
                # a pause waits for the next wish
                wish = self._asked.get(block=self._paused and not self._single)
            except Empty:
                return
            self._do(drive, wish)
            if self._single or (not self._paused and self._asked.empty()):
                return

    def _wait(self, until: float, drive: Drive) -> None:
        """Wait at a low speed; a wish ends the wait."""
        while (left := until - time.monotonic()) > 0:
            try:
                wish = self._asked.get(timeout=left)
            except Empty:
                return
            self._do(drive, wish)
            if self._paused or self._speed <= 0:
                return
            until = self._last + 1 / self._speed

    def _do(self, drive: Drive, wish: Mapping[str, Any]) -> None:
        what, value = wish.get("do"), wish.get("value")
        try:
            if what == "end":
                raise Cancelled
            if what == "play":
                self._paused = False
            elif what == "pause":
                self._paused = True
                self._stand(drive)
            elif what == "step":
                self._single = True
            elif what == "finish":
                self._paused = False
                drive.finish()
            elif what == "rate":
                drive.rate = float(str(value))
            elif what == "speed":
                self._speed = float(str(value))
            elif what == "shown":
                self._wanted = True
            elif what == "watch":
                self._watched = bool(value)
            elif what == "loss" and drive.course is not None:
                drive.course.choose(str(value))
                self._say({"now": self._now(drive)})
            elif what == "seed" and drive.course is not None:
                drive.course.reseed(int(str(value)))
                self._seed, self._drawn = int(str(value)), drive.step.step
                self._say({"now": self._now(drive)})
            elif what == "back":
                self._back(drive, int(str(wish["step"])))
        except ValueError as error:
            self._say({"refused": str(error)})

    def _back(self, drive: Drive, step: int) -> None:
        self._tell()
        self._restore(drive, self.keeper.ring.load(step))
        self._branch = step
        self._paused, self._single = True, False
        self._say({"back": step, "epoch": drive.step.epoch, "now": self._now(drive)})
        self._look(drive)

    def _restore(self, drive: Drive, state: Mapping[str, Any]) -> None:
        drive.restore(state)
        was = self._steered.at(drive.step.step)
        self._seed, self._drawn = was.seed, was.drawn  # with the loss it is part of the state, the rate is not

    def _settings(self, drive: Drive) -> Settings:
        loss = drive.course.loss_name if drive.course is not None else ""
        return Settings(drive.rate, loss, self._seed, self._drawn)

    def _now(self, drive: Drive) -> dict[str, Any]:
        now = self._settings(drive)
        return {"loss": now.loss, "seed": now.seed, "drawn": now.drawn}

    # what is told ---------------------------------------------------------------------------------------------
    def _tell(self, last: bool = False) -> None:
        if not self._new and not last:
            return
        step = self.drive.step
        left = self._left.seconds(step.step, step.total)
        self._say({"steps": self._new, "epoch": step.epoch, "epochs": step.epochs, "total": step.total, "left": left,
                   "changes": self._steered.words, "turns": self._steered.turns})  # fmt: skip
        self._new, self._told = [], time.monotonic()

    def _stand(self, drive: Drive) -> None:
        """Say all there is to say of the step at which the training stands."""
        self._tell()
        self._look(drive)
        self._measure(drive)
        self._say({"paused": drive.step.step})
        self._left.rest()

    def _look(self, drive: Drive) -> None:
        """Write the network as it is, for the window to show."""
        network, start = drive.network, time.monotonic()
        if network is None:
            return
        tensors = {name: t.detach().cpu().contiguous().clone() for name, t in network.state_dict().items()}
        try:
            told = {"model": self._card.name, "step": str(drive.step.step)}
            save_tensors(self.folder / LIVE, tensors, told, lasting=False)
        except OSError as error:
            said = f"{self.folder} cannot be written ({error.strerror}): the window shows an older network"
            self.keeper.told = self.keeper.told or said  # that nothing is kept any more matters more
            return
        self._say({"live": drive.step.step})
        self._wanted = False
        end = time.monotonic()
        self._live_due = end + max(LIVE_S, (end - start) / LIVE_SHARE)

    def _measure(self, drive: Drive) -> None:
        """Measure the error of every layer, at most so often that it takes a small part of the time."""
        network = drive.network
        if network is None or not self._args.errors:
            self._errors_due = float("inf")
            return
        try:
            if self._errors is None:
                self._errors = LayerErrors(self._card, network, self._args.transform)
            start = time.monotonic()  # without the tracing, which is done once
            found = self._errors.of(network)
        except Exception as error:  # of a network that cannot be measured: it can still learn
            self._say({"refused": f"its layers cannot be measured: {error}"})
            self._errors_due = float("inf")
            return
        self._say({"step": drive.step.step, "errors": dict(found), "figures": figures_now(drive),
                   "transform": self._errors.chain})  # fmt: skip
        end = time.monotonic()
        self._errors_due = end + max(ERRORS_S, (end - start) / ERRORS_SHARE)

    def _complain(self) -> None:
        """Say once what the disk does not take, and that it does again."""
        if self.keeper.told != self._refused:
            self._say({"refused": self.keeper.told})
        self._refused = self.keeper.told
