"""Interactions of a person with the window. Each function takes the world and the draws of one interaction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QDialog, QWidget

from explorer.declare.elements import Step, transforms
from explorer.declare.states.interventions import KINDS, Intervention, with_intervention
from explorer.declare.states.latent import PROJECTIONS
from explorer.declare.states.saliency import METHODS
from explorer.state.runs import run_text
from explorer.state.state import State
from tests.widgets.soak.draws import Draws
from widgets.base.view import Wish

if TYPE_CHECKING:
    from tests.widgets.soak.world import World

Doing = Callable[["World", Draws], None]
KEYS = (
    Qt.Key.Key_Space, Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Tab,
    Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_F, Qt.Key.Key_U, Qt.Key.Key_N, Qt.Key.Key_P, Qt.Key.Key_Plus,
    Qt.Key.Key_Minus, Qt.Key.Key_BracketLeft, Qt.Key.Key_BracketRight, Qt.Key.Key_Home, Qt.Key.Key_End,
    Qt.Key.Key_PageDown, Qt.Key.Key_Delete, Qt.Key.Key_A, Qt.Key.Key_0, Qt.Key.Key_Backspace,
)  # fmt: skip
NOT_CHOSEN = {"quit", "full_screen", "what", "export_orbit", "export_turntable"}  # of the menus
DONE: dict[str, tuple[float, Doing]] = {}  # {name: (how often beside the others, what is done)}


def interaction(share: float) -> Callable[[Doing], Doing]:
    """Add a function to what is done."""

    def add(doing: Doing) -> Doing:
        DONE[doing.__name__] = share, doing
        return doing

    return add


# what is looked at --------------------------------------------------------------------------------------------
@interaction(5)
def model(world: World, draw: Draws) -> None:
    if (info := draw.pick(world.models)) is not None:
        world.controller.set_model(info.name)


@interaction(3)
def sample(world: World, draw: Draws) -> None:
    fits = [s for s in world.samples if s.domain == world.controller.domain]
    if (info := draw.pick(world.samples if draw.chance(0.3) else fits)) is not None:
        world.controller.change({"sample": info.name})


@interaction(1)
def next_part(world: World, draw: Draws) -> None:
    world.controller.go_on(1 if draw.chance(0.7) else -1)


@interaction(2)
def compare(world: World, draw: Draws) -> None:
    alike = [m for m in world.models if m.domain == world.controller.domain]
    info = draw.pick(alike)
    world.controller.set_compare(info.name if info is not None and draw.chance(0.6) else "")


@interaction(2)
def parameter(world: World, draw: Draws) -> None:
    info = world.controller.info
    if info is None or (param := draw.pick(info.params)) is None:
        return
    value = param.clamp(draw.number(param.minimum, param.maximum))
    params = dict(world.controller.state.params) | {param.name: value}
    world.controller.change({"params": tuple(params.items())})


@interaction(1)
def another_run(world: World, draw: Draws) -> None:
    info = draw.pick([s for s in world.samples if s.domain == world.controller.domain])
    world.controller.change({"against": run_text(sample=info.name) if info is not None and draw.chance(0.6) else ""})


# the element --------------------------------------------------------------------------------------------------
def _step(world: World, draw: Draws) -> Step | None:
    domain = world.controller.domain
    fits = [t for t in transforms().values() if not t.domains or domain in t.domains]
    transform = draw.pick(fits if draw.chance(0.95) else list(transforms().values()))
    if transform is None:
        return None
    return Step(transform.name, tuple(p.clamp(draw.number(p.minimum, p.maximum)) for p in transform.params))


@interaction(8)
def turn(world: World, draw: Draws) -> None:
    if (step := _step(world, draw)) is not None:
        world.controller.grant(Wish(step=(step.name, step.values)))


@interaction(3)
def apply(world: World, draw: Draws) -> None:
    if (step := _step(world, draw)) is not None:
        world.controller.apply(step.name)


@interaction(4)
def drag(world: World, draw: Draws) -> None:
    """Drag an element along: many states, of which not all are answered."""
    if (step := _step(world, draw)) is None or not step.values:
        return
    param = transforms()[step.name].params[0]
    for share in range(8):
        value = param.clamp(param.minimum + (param.maximum - param.minimum) * share / 8)
        world.controller.grant(Wish(step=(step.name, (value, *step.values[1:])), tag="drag"))
        world.pump(5)
    world.controller.grant(Wish(done=True))


@interaction(3)
def element(world: World, draw: Draws) -> None:
    c = world.controller
    doing = (c.randomise, lambda: c.randomise(exact=False), c.invert, c.reset, c.toggle_untransform)
    (draw.pick(doing) or c.reset)()


# inside the network -------------------------------------------------------------------------------------------
@interaction(8)
def layer(world: World, draw: Draws) -> None:
    if (info := draw.pick(world.layers)) is not None:
        world.controller.change({"layer": info.name})


@interaction(3)
def place(world: World, draw: Draws) -> None:
    if (square := world.square) is None:
        return
    height, width = square.fx.shape[-2:]
    at = draw.whole(0, max(0, height - 1)), draw.whole(0, max(0, width - 1))
    changes: tuple[dict[str, Any], ...] = (
        {"pixel": at}, {"pixel": None}, {"channel": draw.whole(0, max(0, len(square.fx) - 1))}, {"channel": None},
        {"node": draw.whole(0, 40)}, {"node": None}, {"node": draw.whole(0, 9), "other": draw.whole(0, 9)},
    )  # fmt: skip
    world.controller.change(draw.pick(changes) or {})


@interaction(3)
def intervene(world: World, draw: Draws) -> None:
    state, info = world.controller.state, draw.pick(world.layers)
    if info is None or draw.chance(0.3):
        world.controller.change({"interventions": ()})
        return
    kind = draw.pick([k for k in KINDS if k != "symmetrise"]) or "zero"
    one = Intervention(info.name, kind, "0.5" if kind == "scale" else "")
    world.controller.change({"interventions": with_intervention(state.interventions, one)})


@interaction(2)
def asked(world: World, draw: Draws) -> None:
    """Ask for what is computed on request."""
    drawn = draw.pick(tuple(METHODS)) or "", draw.pick(tuple(PROJECTIONS)) or "", draw.whole(0, 3)
    world.controller.change(draw.pick(_requests(world, *drawn)) or {})


def _requests(world: World, saliency: str, latent: str, seed: int) -> tuple[dict[str, Any], ...]:
    names = [info.name for info in world.layers]
    return (
        {"saliency": saliency}, {"saliency": ""}, {"gradient": "norm"}, {"gradient": "0"},
        {"gradient": ""}, {"laws": True}, {"laws": False}, {"latent": latent},
        {"watched": tuple(names[:2])}, {"watched": ()}, {"truncate": 3}, {"truncate": None}, {"seed": seed},
        {"dtype": "float64"}, {"dtype": "float32"},
    )  # fmt: skip


@interaction(1)
def orbit(world: World, draw: Draws) -> None:
    along = [t.name for t in transforms().values() if t.orbit is not None]
    world.controller.change({"orbit": draw.pick(along) or "rotate"})


@interaction(1)
def play(world: World, draw: Draws) -> None:
    world.controller.player.toggle()
    world.pump(draw.whole(10, 200))


# history, sessions, files -------------------------------------------------------------------------------------
@interaction(5)
def undo(world: World, draw: Draws) -> None:
    for _ in range(draw.whole(1, 4)):
        (world.controller.redo if draw.chance(0.35) else world.controller.undo)()


@interaction(1)
def save(world: World, draw: Draws) -> None:
    world.asked_for = f"session {draw.whole(0, 3)}.json"
    world.window.files.save_as()


@interaction(1)
def reopen(world: World, draw: Draws) -> None:
    """Open what was saved, or a lesson, or what is broken."""
    saved = sorted([*(world.folder / "saved").glob("session*.json"), *world.broken, *world.lessons])
    if (path := draw.pick(saved)) is not None:
        world.window.files.open(str(path))


@interaction(0.5)
def data_file(world: World, draw: Draws) -> None:
    if (path := draw.pick(world.data)) is not None:
        world.window.files.open(str(path))


@interaction(0.1)
def model_file(world: World, draw: Draws) -> None:
    """Open a network of one's own, which runs in a process of its own."""
    world.window.files.models.open(str(world.network))


@interaction(2)
def export(world: World, draw: Draws) -> None:
    files = world.window.files
    doing = (files.export_view, files.export_captures, files.export_data, files.copy_command, world.export_picture)
    (draw.pick(doing) or files.copy_command)()


@interaction(0.15)
def film(world: World, draw: Draws) -> None:
    """Begin a film; it may be given up by what comes next."""
    files = world.window.files
    (files.export_turntable if draw.chance(0.5) else files.export_orbit)()
    world.pump(300)


@interaction(1)
def cancel(world: World, draw: Draws) -> None:
    world.window.cancel()


# the window ---------------------------------------------------------------------------------------------------
@interaction(8)
def view(world: World, draw: Draws) -> None:
    if (spec := draw.pick(world.window.panes.specs)) is not None:
        world.window.show_view(spec.name)


@interaction(2)
def panel(world: World, draw: Draws) -> None:
    if (dock := draw.pick(list(world.window.docks.docks.values()))) is not None:
        doing = (dock.close, dock.show, lambda: dock.setFloating(not dock.isFloating()), world.window.docks.reset)
        (draw.pick(doing) or dock.show)()


@interaction(1)
def size(world: World, draw: Draws) -> None:
    world.window.resize(draw.whole(700, 1900), draw.whole(500, 1200))


@interaction(1)
def theme(world: World, draw: Draws) -> None:
    world.window.set_theme(draw.pick(("light", "dark", "system")) or "light")


@interaction(5)
def action(world: World, draw: Draws) -> None:
    """Choose something of the menus, whatever it is."""
    usable = [a for name, a in sorted(world.window.menus.actions.items()) if a.isEnabled() and name not in NOT_CHOSEN]
    if (chosen := draw.pick(usable)) is not None:
        world.note(chosen.text())
        chosen.trigger()


@interaction(6)
def mouse(world: World, draw: Draws) -> None:
    """Click, drag or turn the wheel somewhere in the window."""
    window = world.window
    at = QPoint(draw.whole(0, window.width() - 1), draw.whole(0, window.height() - 1))
    found = window.childAt(at)
    if found is None:
        return
    here = found.mapFrom(window, at)
    kind = draw.whole(0, 4)
    button = Qt.MouseButton.RightButton if kind == 1 else Qt.MouseButton.LeftButton
    world.note(f"{type(found).__name__} {found.objectName()}")
    if kind == 2:
        QTest.mouseDClick(found, button, pos=here)
    elif kind == 3:
        QTest.mousePress(found, button, pos=here)
        for share in range(1, 5):
            QTest.mouseMove(found, here + QPoint(round(draw.number(-60, 60)), 6 * share))
        QTest.mouseRelease(found, button, pos=here)
    elif kind == 4:
        QTest.mouseMove(found, here)
    else:
        QTest.mouseClick(found, button, pos=here)


@interaction(4)
def key(world: World, draw: Draws) -> None:
    focus = QApplication.focusWidget()
    QTest.keyClick(focus if isinstance(focus, QWidget) else world.window, draw.pick(KEYS) or Qt.Key.Key_Space)


@interaction(3)
def dialog(world: World, draw: Draws) -> None:
    """Answer a dialog that is open, by any of its buttons."""
    shown = [w for w in QApplication.topLevelWidgets() if isinstance(w, QDialog) and w.isVisible()]
    if (chosen := draw.pick(shown)) is None:
        return
    for box in chosen.findChildren(QComboBox):
        if box.count() and box.isEnabled():
            box.setCurrentIndex(draw.whole(0, box.count() - 1))
    buttons = [b for b in chosen.findChildren(QAbstractButton) if b.isEnabled() and b.isVisible()]
    pressed = draw.pick(buttons)
    world.note(f"{chosen.objectName()} {pressed.text() if pressed is not None else 'closed'}")
    chosen.reject() if pressed is None or draw.chance(0.4) else pressed.click()


@interaction(0.4)
def close_and_open(world: World, draw: Draws) -> None:
    """Close the window and open one on another state."""
    chosen = draw.pick(world.models)
    world.close_window()
    world.open_window(replace(State(), model=chosen.name) if chosen is not None else State())


@interaction(0.3)
def beside(world: World, draw: Draws) -> None:
    """Open a second window on the same settings and caches, or close it."""
    if len(world.windows) > 1:
        world.close_window()
    else:
        world.open_window(State())


@interaction(0.5)
def other_window(world: World, draw: Draws) -> None:
    """Go on in the other window."""
    world.windows.append(world.windows.pop(0))
    world.window.activateWindow()


@interaction(2)
def wait(world: World, draw: Draws) -> None:
    world.settle()


# everything of a kind, once: what is loaded with it is no growth afterwards ------------------------------------
@interaction(0)
def all_of_a_kind(world: World, draw: Draws) -> None:
    """Use what is new with this network: views, and where its kind of data is new, samples and what is asked for."""
    _new_views(world)
    latent = None if world.square is None else world.square.latent
    if latent is not None and (key := f"codes of {world.controller.domain}") not in world.met:
        world.met.add(key)
        for name in latent.offered:
            world.controller.change({"latent": name})
            world.settle()
            world.await_codes()
    if (kind := world.controller.domain) not in world.met:
        world.met.add(kind)
        for doing in (_all_samples, _all_numbers):
            doing(world)


def _new_views(world: World) -> None:
    shell = world.window
    for spec in shell.panes.specs:
        key = f"{spec.name} of {world.controller.domain}"
        if shell.offers(spec.name) and key not in world.met:
            world.met.add(key)
            shell.show_view(spec.name)
            world.settle()
            world.export_picture()
            world.pump(1)


def _all_samples(world: World) -> None:
    for info in world.samples:
        if info.domain == world.controller.domain:
            world.controller.change({"sample": info.name})
            world.settle()


def _all_numbers(world: World) -> None:
    for change in (*({"saliency": name} for name in METHODS), *_requests(world, "", "", 1)):
        world.controller.change(change)
        world.settle()
    for number in range(4):
        for doing in (intervene, place, compare, parameter, another_run, orbit):
            doing(world, Draws([(number + 0.5) / 4] * 6))
            world.settle()


@interaction(0)
def all_actions(world: World, draw: Draws) -> None:
    """Choose everything of the menus that can be chosen, and leave what it opens."""
    for name in sorted(world.window.menus.actions):
        chosen = world.window.menus.actions[name]
        if chosen.isEnabled() and name not in NOT_CHOSEN:
            world.note(chosen.text())
            chosen.trigger()
            world.pump(20)
            dialog(world, Draws((0.0, 0.0, 0.0)))


@interaction(0)
def all_looks(world: World, draw: Draws) -> None:
    for name in ("light", "dark", "system"):
        world.window.set_theme(name)
        world.settle()


@interaction(0)
def all_files(world: World, draw: Draws) -> None:
    """Write and open each kind of file, a film and a network of one's own among them."""
    files = world.window.files
    for write in (files.export_captures, files.export_data, files.copy_command, files.save_as):
        world.asked_for = "saved first.json" if write is files.save_as else ""
        write()
        world.settle()
    film(world, Draws((0.25,)))
    world.pump(5_000)
    for path in (*world.data, world.network):
        files.open(str(path))
        world.settle()
