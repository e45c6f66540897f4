"""Equiscope: see and measure, layer by layer, what a network does to a symmetry.

Beside the public library, equiscope, the only module that imports explorer, models and widgets. Nothing heavy is
imported before it is needed: the window is on screen before torch has arrived.
"""

from __future__ import annotations

if __name__ == "__main__":  # before all other imports, which take half a second
    try:
        from explorer.work.processes.no_room import say_no_room

        say_no_room()
        from explorer.work.processes.asked_to_end import leave_at_once

        leave_at_once()
    except KeyboardInterrupt:  # in the hundredth of a second that this takes
        raise SystemExit(130) from None
    from explorer.work.files.compiled import keep_compiled

    keep_compiled()

import argparse
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.app.command import cli
from explorer.app.command.doors import BadInput, Doors
from explorer.state.state import State
from explorer.work.files.places import INSTALLED, PREFIX
from explorer.work.processes.asked_to_end import leave_as_asked
from explorer.work.processes.ending import age
from explorer.work.processes.streams import open_missing

if TYPE_CHECKING:
    from explorer.app.answering.engine import LocalEngine
    from explorer.app.command.doors import WindowEngine
    from explorer.declare.card import Card
    from widgets.window.main_window import MainWindow

OUT = Path("out")


def cards() -> dict[str, Card]:
    import models
    from explorer.declare.registry import scan

    return scan(models, "CARD")


def no_display() -> str:
    """Say why no window can be opened, "" where one can: there is no display, or it does not answer.

    A platform that was chosen by hand is taken as it is.
    """
    if not sys.platform.startswith("linux") or os.environ.get("WAYLAND_DISPLAY"):
        return ""
    platform, display = os.environ.get("QT_QPA_PLATFORM", ""), os.environ.get("DISPLAY", "")
    if not display:
        return "No display" if platform in ("", "offscreen") else ""
    return f"The display {display} does not answer" if platform in ("", "xcb") and not _answers(display) else ""


def _answers(display: str) -> bool:
    """Return whether an X server answers: Qt ends the program where none does. True where nothing can ask it."""
    import ctypes

    try:
        xcb = ctypes.CDLL("libxcb.so.1")
        xcb.xcb_connect.restype = ctypes.c_void_p
        connection = ctypes.c_void_p(xcb.xcb_connect(os.fsencode(display), None))
        answers = not xcb.xcb_connection_has_error(connection)
        xcb.xcb_disconnect(connection)
    except (OSError, AttributeError):
        return True
    return answers


def off_screen() -> None:
    """Draw without a display from here on."""
    if no_display():
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        # the plugin says on every window that it knows no size hints, which nobody needs to read
        os.environ.setdefault("QT_LOGGING_RULES", "default.warning=false")


def alone() -> None:
    """Import what the classes of Qt are bound with: it goes through all modules, and dies of a new one."""
    import shiboken6  # noqa: F401


def window(start: Callable[[], WindowEngine], state: State, args: argparse.Namespace) -> int:
    width, _, height = (args.size or "1280x800").partition("x")
    if args.view:
        args.view = _known_view(args.view)

    def opened(shown: MainWindow) -> None:
        if args.size:
            shown.begin_with(int(width), int(height))
        if args.theme:
            from widgets.base.look import theme

            theme.use(args.theme)  # for this window; what the person has chosen for all stays
        if not args.session and not args.transform:
            shown.begin_moved()  # a first look at the identity would show nothing but zeros
        if args.session and args.opened.state != state:
            shown.controller.open_session(args.session)  # it shows a network of a file, which is asked for
        elif args.session:  # the state is there already; its text and layout are the window's
            shown.controller.session_opened.emit(args.opened, args.session)
        elif not args.screenshot and not _wishes(args):
            shown.greeting.greet()
        if args.view:
            from explorer.state.session import Session

            shown.files.guide.want(Session(state, view=args.view))

    missing = no_display()
    if args.screenshot or missing:
        if args.session and args.opened.state != state:
            from explorer.app.command.trusting import refuse_code

            refuse_code(args.opened.state)
        off_screen()
        from widgets.window.pictures.offscreen import grab_window

        path = Path(args.screenshot or OUT / "window.png")
        size = (int(width), int(height))
        grab_window(start, state, size, args.theme or "light", path, prepare=opened)
        if not args.screenshot:
            from explorer.app.command.writing import write_report

            engine = start()
            write_report(OUT / "report", *engine.report(state))
            engine.close()
            print(f"{missing}: the window was drawn off screen to {path}, its report is in {OUT / 'report'}.")
        else:
            print(path)
        return 0
    from widgets.window.app import run_window

    return run_window(start, state, argv=[sys.argv[0]], on_ready=opened)


def _wishes(args: argparse.Namespace) -> bool:
    """Return whether the command names something to look at; size, theme and device only say how."""
    return bool(args.model or args.compare or args.data or args.transform or args.layer or args.view)


def _known_view(name: str) -> str:
    """Return the view called so, by its name or as its tab is called in the window, in any case."""
    from explorer.declare.registry import known_names
    from widgets.window.room.finding import view_specs

    known = {written.casefold(): spec.name for spec in view_specs() for written in (spec.title, spec.name)}
    if (found := known.get(name.casefold())) is None:
        raise BadInput(f"unknown --view {name!r}; {known_names(name, set(known.values()), 'list views')}")
    return found


def pictures(start: Callable[[], LocalEngine], state: State, folder: Path) -> list[Path]:
    off_screen()
    from widgets.window.pictures.gallery import view_pictures

    return view_pictures(start, state, folder)


def gallery(start: Callable[[], LocalEngine], folder: Path, what: str = "all") -> list[Path]:
    off_screen()
    if what == "thumbnails":
        from widgets.window.pictures.thumbnails import thumbnail_pictures

        return thumbnail_pictures(start, folder)
    if what == "page":
        from widgets.window.pictures.page import page_pictures

        return page_pictures(start, folder)
    from widgets.window.pictures.gallery import gallery_pictures

    return gallery_pictures(start, folder)


def views() -> list[tuple[str, str]]:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    import widgets
    from explorer.declare.registry import scan

    return [(spec.name, spec.title) for spec in scan(widgets, "VIEW", "views").values()]


def benchmarks() -> Mapping[str, Callable[[], list[dict[str, Any]]]]:
    import importlib
    import pkgutil

    if INSTALLED:  # a package called benchmarks would be somebody else's
        raise BadInput("the benchmarks come with the source tree; run `make bench` there")
    import benchmarks as package

    found = {}
    for info in pkgutil.walk_packages(package.__path__, "benchmarks."):
        module = importlib.import_module(info.name)
        if hasattr(module, "run"):
            found[info.name.rpartition(".")[2]] = module.run
    return found


def main(argv: list[str] | None = None) -> int:
    if argv is None:
        open_missing()
    began = time.monotonic() - age(os.getpid()) if argv is None else None  # a timeout counts from there
    doors = Doors(cards, window, pictures, gallery, views, benchmarks, f"{PREFIX}main", began, alone)
    code = cli.main(sys.argv[1:] if argv is None else argv, doors)
    if argv is None:
        leave_as_asked(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
