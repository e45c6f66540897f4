"""Views are made when they are seen, and know then what the others were told; their files are imported late."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

import widgets
from explorer.declare.registry import scan
from explorer.square.frame import Frame
from explorer.state.state import State
from tests.widgets.parts.driving.windows import Open, settle
from tests.widgets.parts.frames.sample_frames import make_frame
from widgets.base.view import View, ViewSpec
from widgets.window.room.finding import view_specs
from widgets.window.room.panes import Panes


class Told(View):
    """Keeps what it is told, in order."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heard: list[object] = []

    def set_state(self, state: State) -> None:
        self.heard.append(state)

    def show_frame(self, frame: Frame | None) -> None:
        self.heard.append(frame)


def broken() -> View:
    raise RuntimeError("no such library")


SPECS = (
    ViewSpec("first", "First", Told, "center", 0),
    ViewSpec("second", "Second", Told, "center", 1),
    ViewSpec("panel", "Panel", Told, "right"),
)


def panes_with(qtbot: QtBot, *specs: ViewSpec) -> Panes:
    panes = Panes(specs)
    for widget in (panes, *panes.docked):
        qtbot.addWidget(widget)
    return panes


def made(panes: Panes) -> set[str]:
    return {seat.spec.name for seat in panes.seats if seat.view is not None}


def test_nothing_is_made_that_is_not_seen(qtbot: QtBot) -> None:
    panes = panes_with(qtbot, *SPECS)
    panes.show()
    assert made(panes) == set()
    panes.open()
    qtbot.waitUntil(lambda: made(panes) == {"first"})
    panes.raise_tab("second")
    qtbot.waitUntil(lambda: made(panes) == {"first", "second"})
    assert panes.named("panel") is not None and made(panes) == {"first", "second", "panel"}


def test_a_view_that_comes_late_knows_what_the_others_know(qtbot: QtBot) -> None:
    panes = panes_with(qtbot, *SPECS)
    old, new = State(model="a"), State(model="b")
    panes.show()
    for state in (old, new):
        panes.tell("state", lambda view, state=state: view.set_state(state))  # type: ignore[misc]
    frame = make_frame()
    panes.show_frame(frame)
    first = panes.front()
    assert isinstance(first, Told) and first.heard == [new, frame]
    panes.raise_tab("second")
    panes.complete()
    second = panes.front()
    assert isinstance(second, Told) and second.heard == [new, frame] and second is not first


def test_a_view_that_cannot_be_made_is_said_once_and_leaves_the_others_alone(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "excepthook", lambda *_: None)
    panes = panes_with(qtbot, replace(SPECS[0], make=broken), SPECS[1])
    said: list[str] = []
    panes.failed.connect(said.append)
    panes.show()
    panes.open()
    qtbot.waitUntil(lambda: said == ["First: RuntimeError: no such library"])
    panes.show_frame(make_frame())
    panes.raise_tab("second")
    panes.complete()
    assert isinstance(panes.front(), Told) and len(said) == 1


def test_a_panel_behind_another_one_is_not_made(qtbot: QtBot) -> None:
    panes = panes_with(qtbot, *SPECS)
    (panel,) = panes.docked
    panel.show()
    panel.hide()
    panes.open()
    panes.complete()
    assert made(panes) == set()
    panel.show()
    qtbot.waitUntil(lambda: made(panes) == {"panel"})


def test_what_a_view_waits_for_is_started_once_and_for_its_kind_of_data_only(qtbot: QtBot) -> None:
    begun: list[str] = []
    mesh = replace(SPECS[1], domains=("mesh",), prepare=lambda: begun.append("mesh"))
    panes = panes_with(qtbot, SPECS[0], mesh)
    for domain in ("", "grid"):
        panes.prepare(domain)
    assert begun == []
    for domain in ("mesh", "grid", "mesh"):
        panes.prepare(domain)
    assert begun == ["mesh"]


def test_views_read_as_text_are_what_their_files_export() -> None:
    read, scanned = {spec.name: spec for spec in view_specs()}, scan(widgets, "VIEW", "views")
    assert list(read) == list(scanned)
    for name, spec in scanned.items():
        late = replace(read[name], make=spec.make, prepare=spec.prepare, fits=spec.fits)
        assert late == spec and (read[name].prepare is None) is (spec.prepare is None)
        square = make_frame().squares[0]
        assert read[name].tells(square) is spec.tells(square) and read[name].tells(None) is spec.tells(None)


@pytest.mark.slow
def test_charts_and_meshes_are_imported_when_their_view_is_made() -> None:
    code = (
        "import sys, widgets.window.app; assert not {'pyqtgraph', 'pyvista', 'torch'} & set(sys.modules)\n"
        "from widgets.window.room.finding import view_specs; specs = {s.name: s for s in view_specs()}\n"
        "late = ['widgets.views.charts.errors', 'widgets.spaces.mesh.views.surface', 'pyvista']\n"
        "assert not [m for m in late if m in sys.modules]\n"
        "from PySide6.QtWidgets import QApplication; app = QApplication([])\n"
        "view = specs['errors'].make(); assert type(view).__name__ == 'ErrorsView', view\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_panel_in_front_that_says_nothing_of_the_next_data_gives_way_to_the_first(
    qtbot: QtBot, open_window: Open
) -> None:
    first = open_window(State("lstm", device="cpu"))
    first.show_view("gates")
    settle(qtbot, first)
    first.close()
    again = open_window(State("d4-cnn", device="cpu"))
    settle(qtbot, again)
    bottom = [name for name in again.docks.below() if again.docks.fits(name)]
    seen = [name for name in bottom if not again.docks.docks[name].visibleRegion().isEmpty()]
    assert seen == bottom[:1], "and not to the last one, which is the log"
