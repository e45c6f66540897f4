"""The latent plane and the samples in the program, with shipped networks and a mouse."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt
from PySide6.QtGui import QKeyEvent
from pytestqt.qtbot import QtBot

import main
from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.declare.states.latent import parse_latent
from explorer.declare.states.model_name import LIVE
from explorer.square.analyses.latent.part import Latent
from explorer.state.state import State
from tests.widgets.parts.driving.mouse import move
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, settle
from widgets.figures.export import export_view
from widgets.figures.numbers import export_numbers
from widgets.latent.plane_view import LatentView
from widgets.latent.samples_view import GAP, SamplesView, Tiles
from widgets.window.main_window import MainWindow


def shown(window: MainWindow) -> Latent | None:
    frame = window.controller.frame
    return frame.squares[0].latent if frame is not None and frame.state == window.controller.state else None


def finished(qtbot: QtBot, window: MainWindow) -> Latent:
    """Wait until all of the plane and of the samples is there."""

    def done() -> bool:
        latent = shown(window)
        return latent is not None and latent.ready and latent.samples is not None and latent.whole

    qtbot.waitUntil(done, timeout=LONGEST_MS)
    latent = shown(window)
    assert latent is not None
    return latent


def plane(window: MainWindow) -> LatentView:
    window.panes.raise_tab("latent")
    view = window.panes.named("latent")
    assert isinstance(view, LatentView)
    return view


def at(view: LatentView, x: float, y: float) -> QPoint:
    """Return where a place of the plane lies in the chart's own pixels."""
    scene = view.chart.box.mapViewToScene(QPointF(x, y))
    return view.chart.mapFromScene(scene)


def picture(window: MainWindow, name: str) -> None:
    if folder := os.environ.get("LATENT_PICS"):
        window.grab().save(f"{folder}/{name}.png")


@pytest.mark.slow
def test_a_click_decodes_a_place_and_undo_takes_it_back(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    window = open_window(State(model="vae", sample="digit-3", steps=parse_chain("rotate:90")))
    view = plane(window)
    finished(qtbot, window)
    picture(window, "vae")
    qtbot.mouseClick(view.chart.viewport(), Qt.MouseButton.LeftButton, pos=at(view, 0.5, -0.5))
    qtbot.waitUntil(lambda: (found := shown(window)) is not None and found.decoded is not None, timeout=LONGEST_MS)
    place = parse_latent(window.controller.state.latent).at
    assert place is not None and np.hypot(place[0] - 0.5, place[1] + 0.5) < 0.1
    qtbot.mouseClick(view.walk, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: (found := shown(window)) is not None and found.walk is not None, timeout=LONGEST_MS)
    picture(window, "vae-walk")
    for ending in (".svg", ".png"):
        export_view(view, tmp_path / f"plane{ending}")
        assert (tmp_path / f"plane{ending}").stat().st_size > 10_000
    svg = (tmp_path / "plane.svg").read_text(encoding="utf-8")
    assert ">z1<" in svg and ">z2<" in svg, "the axes say which numbers they are"
    pictures = svg[svg.index("<image", svg.index("Means of")) :]
    clips = set(re.findall(r'clip-path="url\(#(w\d+)clipPath(\d+)\)"', svg[svg.rindex("<svg ") :]))
    assert pictures and len(clips) <= 1, "a text that wraps does not clip what is drawn after it"
    export_numbers(view, tmp_path / "plane.csv")
    assert "divergence" in (tmp_path / "plane.csv").read_text(encoding="utf-8")
    window.controller.undo()
    window.controller.undo()
    assert window.controller.state.latent == ""


@pytest.mark.slow
def test_a_drag_is_one_step_of_undo_and_the_picture_follows(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="vae", sample="digit-3", latent="axes@0,0"))
    view = plane(window)
    finished(qtbot, window)
    viewport = view.chart.viewport()
    start, end = at(view, 0.0, 0.0), at(view, 1.0, 1.0)
    qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, pos=start)
    for share in (0.25, 0.5, 0.75, 1.0):
        move(viewport, start + (end - start) * share, Qt.MouseButton.LeftButton)
    qtbot.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=end)
    qtbot.waitUntil(lambda: shown(window) is not None, timeout=LONGEST_MS)
    place = parse_latent(window.controller.state.latent).at
    assert place is not None and np.hypot(place[0] - 1, place[1] - 1) < 0.15
    window.controller.undo()
    assert parse_latent(window.controller.state.latent).at == (0.0, 0.0)


@pytest.mark.slow
def test_the_code_of_the_equivariant_network_is_said_to_rotate(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="c4-autoencoder", sample="sprite-angle", steps=parse_chain("rotate:90")))
    view = plane(window)
    latent = finished(qtbot, window)
    picture(window, "c4")
    assert latent.orbit is not None and latent.orbit.kind == "rotates"
    assert "rotates as its field" in view.caption()
    assert (
        latent.there is not None and latent.wanted is not None and np.allclose(latent.there, latent.wanted, atol=1e-4)
    )


def test_samples_scroll_through_thousands_and_paint_what_is_seen(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="vae", sample="digit-3"))
    window.panes.raise_tab("samples")
    view = window.panes.named("samples")
    assert isinstance(view, SamplesView)
    latent = finished(qtbot, window)
    assert latent.samples is not None and len(latent.samples) == 2048
    qtbot.waitUntil(lambda: len(view.tiles.images) == 2048, timeout=LONGEST_MS)
    picture(window, "samples")
    view.tiles.verticalScrollBar().setValue(view.tiles.verticalScrollBar().maximum())
    seen, columns, step = view.tiles.seen, view.tiles.columns, view.tiles.side + GAP
    assert seen[-1] == 2047 and len(seen) < 1000
    rows = view.tiles.viewport().height() / step
    assert rows <= len(seen) / columns < rows + 2 and view.caption().startswith(f"{len(seen):,} of 2,048 samples")


def test_a_sample_says_what_it_was_asked_for(qtbot: QtBot, open_window: Open) -> None:
    """Caption follows caption, and under the mouse stood "sample 118" alone."""
    window = open_window(State(model="stackgan", sample="digit-3"))
    window.panes.raise_tab("samples")
    view = window.panes.named("samples")
    assert isinstance(view, SamplesView)
    latent = finished(qtbot, window)
    assert latent.samples is not None and len(latent.asked) == len(latent.samples)
    assert latent.asked[0] == "a filled zero" and latent.asked[69] == "a filled one"
    qtbot.waitUntil(lambda: len(view.tiles.images) == len(latent.asked), timeout=LONGEST_MS)
    row, column = divmod(70, view.tiles.columns)
    side = view.tiles.side + GAP
    with qtbot.waitSignal(view.hovered, timeout=LONGEST_MS) as said:
        qtbot.mouseMove(view.tiles.viewport(), QPoint(column * side + side // 2, row * side + side // 2))
    assert said.args == ["sample 70: a filled one"]


@pytest.mark.slow
def test_a_network_without_a_code_is_told_so(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="plain-cnn", sample="digit-3"))
    view = plane(window)
    assert "no code" in view.pages.label.text() and view.numbers() == {}
    picture(window, "none")


def test_a_click_among_codes_of_nodes_selects_one(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="vgae", sample="karate", steps=parse_chain("permute:3")))
    window.panes.raise_tab("codes")
    view = window.panes.named("codes")
    assert isinstance(view, LatentView)
    qtbot.waitUntil(lambda: (found := shown(window)) is not None and found.ready, timeout=LONGEST_MS)
    latent = shown(window)
    assert latent is not None and len(latent.points) == 34 and not view.walk.isVisible()
    assert latent.title == "nodes of the input" and " of nodes of the input; " in view.caption()
    picture(window, "vgae")
    x, y = latent.points[7]
    qtbot.mouseClick(view.chart.viewport(), Qt.MouseButton.LeftButton, pos=at(view, x, y))
    assert window.controller.state.node == 7


# what is wrong with the examples of somebody's own network ------------------------------------------------------
OWN = """
from types import SimpleNamespace

import numpy as np
import torch
from torch import nn

INPUT_SHAPE = (1, 8, 8)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = nn.Linear(64, 3), nn.Linear(3, 64)

    def encode(self, x):
        return self.enc(x.flatten(1))

    def decode(self, z):
        return torch.sigmoid(self.dec(z)).reshape(-1, 1, 8, 8)

    def forward(self, x):
        return self.decode(self.encode(x))

    def examples(self):
        x, y, names = np.random.default_rng(0).random((40, 1, 8, 8)).astype(np.float32), np.arange(40) % 4, "abcd"
        CHANGE
        return SimpleNamespace(inputs=x, labels=y, names=names, title="pictures")
"""
BAD = {
    "y = 0 * y": "LDA needs three classes to span a plane, and the examples have 1",
    "x, y = x[:1], y[:1]": "needs three examples at least, and there are 1",
    "x, y = x[:0], y[:0]": "gives no input: the plane needs three at least",
    "x = [v[..., : 8 - k % 2] for k, v in enumerate(x)]": "inputs of unequal sizes, 1×8×7 and 1×8×8; all must be 1×8×8",
    "x = x[..., :5]": "gives inputs of 1×8×5, and it takes 1×8×8",
    "y = y[:7]": "gives 40 inputs and 7 labels",
    "names = names[:2]": "gives the label 3, and names of 2 classes",
    "x[3] = np.nan": "Example 3 of this network holds values that are no finite numbers",
    "raise RuntimeError('no disk')": "examples() of this network failed: RuntimeError: no disk",
    "return x": "gives something else than inputs, labels, names and a title",
}


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(main.cards(), trust=True)


def said(qtbot: QtBot, view: LatentView | SamplesView, sentence: str) -> None:
    label = view.pages.label

    def there() -> None:
        assert label.isVisible() and sentence in label.text()

    qtbot.waitUntil(there, timeout=LONGEST_MS)


def test_examples_that_cannot_be_shown_are_said_in_the_window(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    window = open_window(State("plain-cnn", device="cpu"))
    for k, (change, sentence) in enumerate(BAD.items()):
        path = tmp_path / f"net{k}.py"
        path.write_text(OWN.replace("CHANGE", change))
        window.controller.set_model(f"{path}:Net")
        settle(qtbot, window)
        view, samples = plane(window), window.panes.named("samples")
        assert isinstance(samples, SamplesView)
        if "LDA" in sentence:
            finished(qtbot, window)
            view.projection.setCurrentIndex(view.projection.findData("lda"))
            view.projection.activated.emit(view.projection.currentIndex())
        said(qtbot, view, sentence)
        if "LDA" not in sentence:
            window.panes.raise_tab("samples")
            said(qtbot, samples, sentence)


def test_a_network_that_learns_is_drawn_whole_before_its_next_state_is_asked_for(
    qtbot: QtBot, open_window: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = open_window(State("vae", device="cpu"))
    plane(window)
    latent = finished(qtbot, window)
    qtbot.waitUntil(lambda: (found := shown(window)) is not None and found.whole, timeout=LONGEST_MS)
    frame, drawn = window.controller.frame, list[str]()
    assert frame is not None
    trainer = window.files.trainer
    monkeypatch.setattr(trainer, "page", SimpleNamespace(drawn=drawn.append))
    state = replace(frame.state, model=f"vae@/some/where/{LIVE}")

    def told(whole: bool) -> list[str]:
        drawn.clear()
        part = replace(frame.squares[0], latent=replace(latent, laid=whole, whole=whole))
        trainer.follow(replace(frame, state=state, squares=(part,)))
        return list(drawn)

    assert told(False) == [] and told(True) == [f"/some/where/{LIVE}"]
    window.panes.raise_tab("stage")
    assert told(False), "nobody looks at the codes"


def test_the_next_state_of_what_learns_waits_for_the_first_samples_alone(
    qtbot: QtBot, open_window: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = open_window(State("vae", device="cpu"))
    window.panes.raise_tab("samples")
    latent = finished(qtbot, window)
    frame, drawn = window.controller.frame, list[str]()
    assert frame is not None and latent.samples is not None
    trainer = window.files.trainer
    monkeypatch.setattr(trainer, "page", SimpleNamespace(drawn=drawn.append))
    state = replace(frame.state, model=f"vae@/some/where/{LIVE}")
    for samples, ready in ((None, False), (latent.samples[:256], True)):
        drawn.clear()
        part = replace(frame.squares[0], latent=replace(latent, samples=samples, laid=False, whole=False))
        trainer.follow(replace(frame, state=state, squares=(part,)))
        assert bool(drawn) == ready


def test_samples_are_counted_that_were_not_painted_yet(qtbot: QtBot) -> None:
    tiles = Tiles()
    qtbot.addWidget(tiles)
    tiles.resize(4 * 46 + 10, 3 * 46)
    tiles.show()
    tiles.show_images(np.zeros((100, 29, 29), np.uint8))
    assert tiles.columns == 4 and len(tiles.seen) == 12


def test_a_figure_of_samples_has_no_halves_and_arrows_scroll(qtbot: QtBot) -> None:
    tiles = Tiles()
    qtbot.addWidget(tiles)
    tiles.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)  # as on paper
    tiles.resize(330, 215)
    tiles.show()
    tiles.show_images(np.zeros((100, 29, 29), np.uint8))
    tiles.resize(tiles.size_of_whole(tiles.size()))
    step = tiles.side + GAP
    assert (tiles.viewport().width() - GAP) % step == 0 and (tiles.viewport().height() - GAP) % step == 0
    assert tiles.size_of_whole(QSize(330, 9000)).height() < 9000, "no taller than its rows"
    asked = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Down, Qt.KeyboardModifier.NoModifier)
    asked.ignore()
    assert tiles.event(asked) and asked.isAccepted(), "an action took the arrow"
    qtbot.keyClick(tiles, Qt.Key.Key_Down)
    assert tiles.verticalScrollBar().value() == step
    qtbot.keyClick(tiles, Qt.Key.Key_End)
    assert tiles.seen[-1] == 99
