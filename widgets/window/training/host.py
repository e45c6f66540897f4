"""Open the page of trainings, and show in the window what learns and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from explorer.app.training.channel import told
from explorer.declare.card import ModelInfo
from explorer.declare.elements import chain_text
from explorer.declare.states.model_name import WEIGHTS_MARK, code_of, in_training, named_as_shown, split_name
from explorer.square.frame import Frame
from explorer.work.files.places import whole
from widgets.window.opening.trouble import Trouble, caught
from widgets.window.room.shell import Shell
from widgets.window.training.left import Left, find
from widgets.window.training.run import may_end

if TYPE_CHECKING:  # its charts take a second to import, and not at the start
    from widgets.window.training.page import TrainPage
    from widgets.window.training.run import Run

QUITS = (
    "A network is learning: finish it on the page Train, or quit once more. What is kept of it then lies beside its "
    "weights, and Train goes on from there."
)


class Trainer(QObject):
    """Has at most one page open."""

    exported = Signal(object)  # a view of the page

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._shell = shell
        self.page: TrainPage | None = None
        shell.controller.frame_ready.connect(self.follow)
        shell.controller.state_changed.connect(self._went)
        self._seen: dict[str, ModelInfo] = {}  # networks of the person's own whose page was opened
        self._before: dict[str, str] = {}  # {name of a network that learns: the model that was shown before it}
        self._drawn = ""  # the network that learns and is shown
        self._left: dict[str, Left] | None = None  # by its network: what a window that was killed has left

    def card(self) -> ModelInfo | None:
        """Return the card in use if it can be trained, also one that is shown with other weights."""
        return next((m for m in self._trainable() if m.name == self._base), None)

    @property
    def offered(self) -> bool:
        """Return whether the network in use can be trained, or is the person's own and may come to be."""
        return self.card() is not None or self._own

    @property
    def _base(self) -> str:
        return split_name(self._shell.controller.state.model)[0]

    @property
    def _own(self) -> bool:
        catalogue = self._shell.controller.catalogue
        return catalogue is not None and bool(self._base) and self._base not in catalogue.by_name

    def _trainable(self) -> list[ModelInfo]:
        catalogue = self._shell.controller.catalogue
        return [m for m in catalogue.models if m.trainable] if catalogue is not None else []

    def open(self) -> None:
        """Open the page for the network in use; of the person's own one its file is asked what trains it."""
        if (info := self.card()) is not None:
            self._open(info, [m for m in self._trainable() if m.domain == info.domain])
        elif self._own:
            name = self._base
            text = f"Asking {named_as_shown(name)} what trains it…"
            self._shell.controller.do(caught(lambda engine: engine.info(name)), text, self._asked)
        else:
            self._shell.say("info", "This network has no training of its own.")

    def _asked(self, found: Any) -> None:
        if isinstance(found, Trouble):
            self._shell.say("error", found.sentence)
            return
        self._seen[found.name] = found
        self._open(found, [info for info in self._seen.values() if info.domain == found.domain])

    def _open(self, info: ModelInfo, beside: Sequence[ModelInfo]) -> None:
        from widgets.window.training.page import TrainPage

        if self.page is None:
            folder = str(self._shell.settings.value("folder", ""))
            if (code := code_of(info.name)) is not None:
                folder = str(whole(code).parent)
            elif folder and whole(folder) == whole(info.name):  # a network that is a folder is not written into
                folder = str(whole(folder).parent)
            self.page = TrainPage(self._shell, beside, info.name, folder)
            self.page.launch = self._launch
            self.page.trained.connect(self._trained)
            self.page.shown.connect(self._shown)
            self.page.gone.connect(self._gone)
            self.page.exported.connect(self.exported)
        elif info in self.page.infos.values():
            self.page.choose(info.name)
        else:  # of other data, or not known as it is now
            self.page.offer(beside, info.name)
        if self._left and (left := self._left.pop(info.name, None)) is not None:
            self.page.path.setText(str(left.path))
        self.page.chain = chain_text(self._shell.controller.state.steps)
        self.page.show()
        self.page.raise_()

    def _launch(self, run: Run) -> None:
        """Start a training; the process of a person's own network is told what they have allowed."""
        if run.info.name in self._seen:
            name = named_as_shown(run.info.name)
            self._shell.controller.do(lambda engine: told(engine.trust), f"Starting to train {name}…", run.start)
        else:
            run.start()

    def _trained(self, card: str, path: str) -> None:
        """Show the card with its new weights; the element, and the layer where it is the same network, stay."""
        self._show(card, f"{card}{WEIGHTS_MARK}{path}")

    def _shown(self, card: str, path: str) -> None:
        """Show the network as it is in the middle of its training; the next time, ask for it again."""
        controller, name = self._shell.controller, f"{card}{WEIGHTS_MARK}{path}"
        if controller.state.model == name:
            controller.refresh()
        elif name not in self._before:
            self._before[name] = controller.state.model
            self._show(card, name)

    def _went(self, *_: object) -> None:
        """Untick what shows a network that learns where a person has gone away from it, by undo or another choice."""
        name, left = self._shell.controller.state.model, self._drawn
        self._drawn = name if in_training(name) else ""
        if self.page is None or name == left or not self.page.learns(split_name(self._drawn or left)[1]):
            return
        self.page.follow.setChecked(bool(self._drawn))
        if not self._drawn:
            self._before.pop(left, None)  # so that it is shown when that is wished again

    def follow(self, frame: Frame | None) -> None:
        """Say that a network that learns has been drawn, whole where it is looked at: it may show the next one."""
        if frame is not None and self._left is None:
            self._left = {}
            QTimer.singleShot(0, self._look)
        if self.page is None or frame is None or not in_training(frame.state.model):
            return
        if not self._shell.panes.awaits(frame):
            self.page.drawn(split_name(frame.state.model)[1])

    def _look(self) -> None:
        """Offer to go on with a training whose window was killed."""
        found = find()
        self._left = {left.model: left for left in found}
        if not found:
            return
        last = found[-1]
        name = named_as_shown(last.model)
        text = f"A training of {name} was cut off with its window after step {last.step:,}. "
        text += f"What is kept of it lies beside {last.path}."
        if len(found) > 1:
            text += f" {len(found) - 1} more lie beside their weights."
        info = next((m for m in self._trainable() if m.name == last.model), None)
        if info is None:
            self._shell.say("warning", f"{text} Open {name}, and Train goes on from there.")
        else:
            beside = [m for m in self._trainable() if m.domain == info.domain]
            self._shell.offer(text, "Go on…", lambda: self._open(info, beside))

    def _gone(self, path: str) -> None:
        """Show what was shown before a network whose training has ended without weights."""
        name = self._shell.controller.state.model
        if name.endswith(f"{WEIGHTS_MARK}{path}") and name in self._before:
            # what was cut off may go on, and is shown again then
            self._show(split_name(name)[0], self._before.pop(name))

    def _show(self, card: str, name: str) -> None:
        controller = self._shell.controller
        state = controller.state
        same = split_name(state.model)[0] == card
        fields = ("params", "layer", "sample", "latent") if same else ()
        kept = {field: getattr(state, field) for field in fields}
        controller.change({"model": name, **kept})

    def may_end(self) -> bool:
        """Say whether the window may be closed: nothing learns, or it was said before that it would be lost."""
        if self.page is None or may_end(self.page.runs, self.page.run):
            return True
        self._shell.say("warning", QUITS)
        return False

    def close(self) -> None:
        """End what runs."""
        if self.page is not None:
            self.page.close()
            self.page.deleteLater()
            self.page = None
