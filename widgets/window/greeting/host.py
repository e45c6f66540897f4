"""Show the greeting to who has not closed it yet, and do what its buttons say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QEasingCurve, QObject, QSettings, QVariantAnimation

from explorer.declare.elements import transforms
from explorer.state.state import State
from widgets.base import motion
from widgets.base.view import Wish
from widgets.window.greeting.card import GreetingCard

ORDINARY = "plain-cnn"  # the twin of the network that the program opens with, without the symmetry
CLOSED = "greeting_closed"
TURN = "rotate"
QUARTER = 90.0
TURN_MS = 1500
TAG = "greeting"  # of all that one press changes


class Host(Protocol):
    """The one that has the state and is asked to change it."""

    @property
    def state(self) -> State:
        """The state that is asked for."""

    @property
    def domain(self) -> str:
        """Return the kind of data that the model in use lives on."""

    def grant(self, wish: Wish) -> None:
        """Change the state as is asked."""


class Greeting(QObject):
    """Owns the card. A turn is one entry of the history, however many frames it takes."""

    def __init__(
        self, card: GreetingCard, host: Host, settings: QSettings, open_mine: Callable[[], object], parent: QObject
    ) -> None:
        super().__init__(parent)
        self.card, self._host, self._settings, self._open_mine = card, host, settings, open_mine
        self._asked = False  # for the card, whatever is shown
        self.turning = QVariantAnimation(self)
        self.turning.setDuration(TURN_MS)
        self.turning.setEasingCurve(QEasingCurve.Type.InOutQuad)
        self.turning.valueChanged.connect(self._turn_to)
        self.turning.finished.connect(lambda: host.grant(Wish(done=True)))
        card.chosen.connect(self._do)
        card.closed.connect(self.close)

    def greet(self) -> None:
        """Show the card, unless the person has closed it before."""
        if self._settings.value(CLOSED) is None:
            self.card.show()

    def show_again(self) -> None:
        """Show the card because it was asked for."""
        self._asked = True
        self.card.show()

    def follow(self) -> None:
        """Let the card go, until the next start, once something is shown that cannot be turned."""
        if self.card.isVisible() and not self._asked and self._host.domain and not self._turns():
            self.card.hide()

    def give_way(self) -> None:
        """Let the card go, until the next start: a lesson or a session leads on from here."""
        self._asked = False
        self.card.hide()

    def _turns(self) -> bool:
        return self._host.domain in transforms()[TURN].domains

    def close(self) -> None:
        """Close the card once and for all."""
        self._settings.setValue(CLOSED, "yes")
        self.card.hide()

    def stop(self) -> None:
        """Stop turning; the window closes."""
        self.turning.stop()

    def _do(self, what: str) -> None:
        {"turn": self._turn, "ordinary": self._show_ordinary, "mine": self._open}[what]()

    def _turn(self) -> None:
        """Turn by a quarter from wherever the picture is, in steps that are seen."""
        if not self._turns():  # what is shown now cannot be turned
            self._show(State().model)
        step = self._host.state.step(TURN)
        # a turn under way is finished first, so that pressing twice is half a turn
        start = self.turning.endValue() if self.runs() else step.values[0] if step is not None else 0.0
        self.turning.stop()
        self.turning.setDuration(0 if motion.reduced() else TURN_MS)
        self.turning.setStartValue(start)
        self.turning.setEndValue(_next_quarter(start))
        self.turning.start()

    def runs(self) -> bool:
        return self.turning.state() == QVariantAnimation.State.Running

    def _turn_to(self, angle: float) -> None:
        self._host.grant(Wish(step=(TURN, (round(angle, 1),)), tag=TAG))

    def _show_ordinary(self) -> None:
        if self.runs():  # the press before this one is an entry of its own, and a whole turn
            self.turning.setCurrentTime(self.turning.duration())
        self._show(ORDINARY)
        step = self._host.state.step(TURN)
        if step is None or not step.values[0]:
            self._turn()  # at the identity every network is right
        else:
            self._host.grant(Wish(done=True))

    def _show(self, model: str) -> None:
        """Show a model; a turn that follows is of the same entry of the history: one press, one undo."""
        self._host.grant(Wish(changes={"model": model}, tag=TAG))

    def _open(self) -> None:
        self._open_mine()


def _next_quarter(angle: float) -> float:
    """Return the next multiple of 90 degrees that is a visible turn away."""
    return (angle + QUARTER) // QUARTER * QUARTER
