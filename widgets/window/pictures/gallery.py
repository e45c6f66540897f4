"""Pictures of the views, made by the program itself: for `run`, for `gallery` and for the documentation."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from explorer.app.thread.orders import Engine
from explorer.declare.card import ModelInfo
from explorer.declare.elements import parse_chain
from explorer.declare.space import Scene, spaces
from explorer.state.state import State
from explorer.work.files.replacing import write_whole
from explorer.work.processes.asked_to_end import give_way
from widgets.base.view import View
from widgets.figures.export import ExportError, export_view
from widgets.window.main_window import MainWindow
from widgets.window.pictures.offscreen import NoPicture, visit_window

# views that list what there is rather than show what a network does
_LISTS = ("gallery", "log", "inspector")


def scenes() -> list[Scene]:
    """Return the windows that the spaces want to be shown, in the order in which kinds of data are listed."""
    return [scene for space in sorted(spaces().values(), key=lambda s: s.kinds[0].place) for scene in space.scenes]


def state_of(scene: Scene) -> State:
    """Return the state that a window is opened on."""
    return State(
        model=scene.model, compare=scene.compare, sample=scene.sample, layer=scene.layer, node=scene.node,
        steps=parse_chain(scene.chain),
    )  # fmt: skip


def view_pictures(start: Callable[[], Engine], state: State, folder: Path) -> list[Path]:
    """Save the window and every view of `state` as PNG in `folder`; return the paths."""
    made: list[Path] = []

    def visit(window: MainWindow) -> None:
        made.extend(_save_views(window, folder))

    visit_window(start, state, [state], visit, path=folder / "window.png")
    return [folder / "window.png", *made]


def gallery_pictures(start: Callable[[], Engine], folder: Path) -> list[Path]:
    """Save every card x view, the window light and dark at two sizes, and an index; return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    states = states_of_models(start)
    made = window_pictures(start, folder, [state.model for state in states])

    def visit(window: MainWindow) -> None:
        model = window.controller.state.model
        target = folder / model
        target.mkdir(exist_ok=True)
        # a picture that says that there is nothing to see is worth no place on the page
        saved = _save_views(window, target, lambda view: bool(view.numbers()))
        for path in saved:
            compact(path)
        made.extend(saved)
        print(target, file=sys.stderr, flush=True)

    visit_window(start, states[0], states, visit, path=None)
    index = folder / "README.md"
    index.write_text(_index(made, folder), encoding="utf-8")
    return [*made, index]


def window_pictures(start: Callable[[], Engine], folder: Path, models: Collection[str]) -> list[Path]:
    """Save the windows that the spaces want to be shown, light and dark; return the paths."""
    made = []
    for theme in ("light", "dark"):
        for scene in scenes():
            if not {scene.model, scene.compare} <= {"", *models}:
                continue
            state, path = state_of(scene), folder / f"{scene.name}-{theme}.png"
            size = (2560, 1440) if scene.large else (1280, 800)
            visit_window(start, state, [state], None, size=size, theme_name=theme, path=path)
            compact(path)
            made.append(path)
            print(path, file=sys.stderr, flush=True)
    return made


def models_of(start: Callable[[], Engine]) -> dict[str, ModelInfo]:
    """Return what there is to know of the models, by name."""
    engine = start()
    try:
        return {m.name: m for m in engine.catalogue().models}
    finally:
        engine.close()


def states_of_models(start: Callable[[], Engine]) -> list[State]:
    """Return the states in which the models are shown: each under an element that shows something of its data."""
    engine = start()
    try:
        states = [State(model=m.name) for m in engine.catalogue().models]
        return [replace(state, steps=engine.first_steps(state)) for state in states]
    finally:
        engine.close()


def _shows(view: View) -> bool:
    """Return whether a view shows more than a sentence that says why it shows nothing."""
    return not view.only_told


def _save_views(window: MainWindow, folder: Path, worth: Callable[[View], bool] = _shows) -> list[Path]:
    made = []
    squares = window.controller.frame.squares if window.controller.frame is not None else ()
    domain = squares[0].domain if squares else ""
    for spec, view in window.panes.views:
        give_way()
        if spec.name in _LISTS or (spec.domains and domain not in spec.domains):
            continue
        if not spec.tells(squares[0] if squares else None):
            continue  # a view with nothing to say of these data has no tab either
        # a hidden view has not drawn the frame yet; bringing it to the front makes it do so
        window.show_view(spec.name)
        if not worth(view):
            continue
        path = folder / f"{spec.name}.png"
        try:
            export_view(view, path)
        except ExportError as error:
            raise NoPicture(str(error)) from error
        made.append(path)
    # the window as it is found: the first tab of each place
    for name in ("gallery", "inspector", "errors"):
        window.show_view(name)
    window.panes.show_home(domain)
    return made


def compact(path: Path) -> None:
    """Rewrite a PNG with a palette of its own: a gallery is looked at on a page, and is a quarter of the size so."""
    from PIL import Image

    data = io.BytesIO()
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(data, "PNG", optimize=True)
    write_whole(path, data.getvalue())


def _index(made: list[Path], folder: Path) -> str:
    lines = [
        "# Gallery",
        "",
        "Every picture here was made by the program: `python main.py gallery --out docs/gallery`.",
        "",
    ]
    for path in made:
        name = path.relative_to(folder)
        if len(name.parts) == 1:
            lines += [f"![{name.stem}]({name})", ""]
    for model in dict.fromkeys(p.relative_to(folder).parts[0] for p in made if p.parent != folder):
        lines += [f"## {model}", ""]
        lines += [f"![{p.stem}]({p.relative_to(folder)})" for p in made if p.parent == folder / model]
        lines.append("")
    return "\n".join(lines)
