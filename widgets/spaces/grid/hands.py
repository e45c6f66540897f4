"""Turn, shift, mirror and enlarge images by hand on the stage."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt

from explorer.declare.elements import Step, transforms
from explorer.state.state import State
from widgets.base.view import Wish
from widgets.maps.linking import Place
from widgets.maps.ring import FREE, wrap
from widgets.spaces.grid.link import PlaneLink
from widgets.stage.hands import Hands

ARROWS = {
    Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1),
}  # fmt: skip


class PlaneHands(Hands):
    """Makes wishes from gestures on the *displayed* picture.

    A parameter is that of the last step of its transform. Steps that act after it turn and mirror what is
    seen, so a drag to the right is first undone through them: the picture follows the pointer.
    """

    name, turns = "grid", True
    hint = "Drag the ring: rotate · drag the picture: shift · F mirror · [ ] quarter turns · click a map: enlarge"
    hint_enlarged = "Click a pixel: what it sees of x · wheel: zoom · Esc: all channels again"
    tip = "Drag to shift by whole pixels, with Alt by parts of one. Ctrl and wheel: enlarge."

    def __init__(self, wish: Callable[[Wish], None]) -> None:
        super().__init__(wish)
        self._moved = PlaneLink()
        self._grabbed: tuple[float, ...] | None = None  # the shift when the drag began
        self._held: set[Qt.Key] = set()  # arrows that shift
        self._last: tuple[float, ...] | None = None

    def follow(self, state: State) -> None:
        super().follow(state)
        self.link = self._moved = PlaneLink(state.steps)

    def ring(self) -> tuple[float, float, float]:
        up = self._moved.linear @ np.array([0.0, 1.0])
        return self.angle(), float(np.degrees(np.arctan2(up[1], up[0]))), self.sense()

    def _after(self, name: str) -> NDArray[np.float64]:
        """Return the linear part of the steps that act after the last step of that name."""
        names = [s.name for s in self.state.steps]
        last = len(names) - 1 - names[::-1].index(name) if name in names else len(names) - 1
        after = self.state.steps[last + 1 :]
        return PlaneLink(after).linear if after else np.eye(2)

    def sense(self) -> float:
        """Return -1 when a mirror acts after the rotation, which is then seen the other way round, else 1."""
        a = self._after("rotate")
        return -1.0 if a[0, 0] * a[1, 1] < a[0, 1] * a[1, 0] else 1.0

    def _values(self, name: str) -> tuple[float, ...]:
        step = self.state.step(name)
        return step.values if step else transforms()[name].defaults

    def angle(self) -> float:
        return self._values("rotate")[0]

    def turn(self, angle: float, done: bool) -> None:
        self.wish(Wish(step=("rotate", (angle,)), tag="ring", done=done))

    def _shifted(self, base: tuple[float, ...], right: float, down: float, free: bool) -> tuple[float, ...]:
        """Return the shift that moves the displayed picture by so many pixels more than `base` does."""
        inner_right, inner_up = np.linalg.solve(self._after("translate"), np.array([right, -down]))
        values = (base[0] + float(inner_right), base[1] - float(inner_up))
        return (*(round(v, 2) + 0.0 if free else float(round(v)) for v in values), *base[2:])

    def drag(
        self, grabbed: Place | None, rows: int, right: float, down: float, modifiers: Qt.KeyboardModifier, done: bool
    ) -> None:
        """Shift by so many data pixels since the press: whole ones, unless Alt or Ctrl is held."""
        if self._grabbed is None:
            self._grabbed = self._last = self._values("translate")
        values = self._shifted(self._grabbed, right, down, bool(modifiers & FREE))
        if done or values != self._last:
            self._last = values
            self.wish(Wish(step=("translate", values), tag="drag", done=done))
        if done:
            self._grabbed = self._last = None

    def dilate(self, notches: float) -> None:
        """Enlarge by 5 % for each notch of the wheel; back at the size it had, it is exactly that size."""
        factor = transforms()["dilate"].params[0].clamp(self._values("dilate")[0] * 1.05**notches)
        factor = 1.0 if abs(factor - 1.0) < 0.024 else round(factor, 3)
        self.wish(Wish(step=("dilate", (factor,)), tag="dilate"))

    def key(self, key: Qt.Key) -> bool:
        """Carry out a key's gesture; return False when the key has none."""
        if key in ARROWS:
            self._held.add(key)
            values = self._shifted(self._values("translate"), *ARROWS[key], free=False)
            self.wish(Wish(step=("translate", values), tag="arrows"))
        elif key in (Qt.Key.Key_BracketLeft, Qt.Key.Key_BracketRight):
            turn = self.sense() * (90.0 if key == Qt.Key.Key_BracketLeft else -90.0)
            self.wish(Wish(step=("rotate", (wrap(self.angle() + turn),)), done=True))
        elif key == Qt.Key.Key_F:
            self.wish(Wish(changes={"steps": self._reflected()}, done=True))
        else:
            return False
        return True

    def key_released(self, key: Qt.Key) -> bool:
        """End the gesture of an arrow that was held down; return False for other keys."""
        if key not in self._held:  # it chose something, or went down elsewhere
            return False
        self._held.discard(key)
        self.wish(Wish(step=("translate", self._values("translate")), tag="arrows", done=True))
        return True

    def _reflected(self) -> tuple[Step, ...]:
        steps = self.state.steps
        kept = tuple(s for s in steps if s.name != "reflect")
        return kept if len(kept) < len(steps) else (*steps, Step("reflect", transforms()["reflect"].defaults))


HANDS = PlaneHands
