"""A small picture of every model, for its card in the Gallery: the view that was made for its kind of data."""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from explorer.app.thread.orders import Engine
from explorer.work.files.replacing import write_whole
from widgets.base.look import theme
from widgets.figures.export import ExportError, export_view
from widgets.views.choosing.pictures import SIZE, THEMES, picture_of
from widgets.window.main_window import MainWindow
from widgets.window.pictures.gallery import states_of_models
from widgets.window.pictures.offscreen import NoPicture, visit_window

QUALITY = 72  # of WebP: some 4 KB each
LARGE = 2  # as large as is shown, for fine screens
SCREEN = (1000, 700)  # a small window has large pictures in it


def thumbnail_pictures(
    start: Callable[[], Engine], folder: Path, themes: Sequence[str] = THEMES, scale: int = LARGE
) -> list[Path]:
    """Save a picture of every model in each theme, `scale` times as large as the Gallery shows it; return the paths."""
    made: list[Path] = []
    grounds = {"light": theme.LIGHT.panel, "dark": theme.DARK.panel}

    def visit(window: MainWindow) -> None:
        window.panes.show_home(window.controller.domain)
        view, model = window.panes.front(), window.controller.state.model
        if view is None:
            return
        for name in themes:
            path = picture_of(model, name, folder)
            with tempfile.TemporaryDirectory() as place:
                large = Path(place, "view.png")
                try:
                    export_view(view, large, theme=name)
                except ExportError as error:
                    raise NoPicture(str(error)) from error
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, _small(large, grounds[name], scale))
            made.append(path)
        print(model, file=sys.stderr, flush=True)

    states = states_of_models(start)
    visit_window(start, states[0], states, visit, size=SCREEN, path=None, orbit=False)
    return made


def _small(path: Path, ground: str, scale: int) -> bytes:
    """Return a picture as WebP, all of it inside the size of a thumbnail."""
    from PIL import Image

    width, height = (scale * side for side in SIZE)
    data = io.BytesIO()
    with Image.open(path) as found:
        whole = found.convert("RGB")
    whole.thumbnail((width, height), Image.Resampling.LANCZOS)
    canvas = Image.new("RGB", (width, height), ground)
    canvas.paste(whole, ((width - whole.width) // 2, (height - whole.height) // 2))
    canvas.save(data, "WEBP", quality=QUALITY, method=6)
    return data.getvalue()
