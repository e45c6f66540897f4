"""Delta ladder: every number of the network that is shown, step by step."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from explorer.declare.elements import parse_chain
from explorer.state.state import State
from explorer.work.training.backprop import LOSSES, Chain, Dense
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, settle
from widgets.figures.export import export_view
from widgets.figures.style import Style
from widgets.spaces.grid.views.ladder import LadderView, short


@pytest.mark.slow
def test_the_ladder_of_a_window(qtbot: QtBot, open_window: Open) -> None:
    still = parse_chain("rotate:0")
    window = open_window(State("back-propagation", device="cpu", sample="bar-row-2", layer="dense2", steps=still))
    window.resize(1280, 800)
    settle(qtbot, window)
    window.panes.raise_tab("ladder")
    qtbot.waitUntil(lambda: window.findChild(LadderView) is not None, timeout=LONGEST_MS)
    view = window.findChild(LadderView)
    assert isinstance(view, LadderView)
    qtbot.waitUntil(lambda: len(view.sheet.rungs) == 3, timeout=LONGEST_MS)
    qtbot.waitUntil(lambda: view.area.viewport().height() > 250, timeout=LONGEST_MS)
    assert view.area.horizontalScrollBar().maximum() == 0, "δ is not seen without scrolling"
    window.resize(1165, 800)  # as narrow as beside a lesson
    qtbot.waitUntil(lambda: 600 < view.area.viewport().width() < 660, timeout=LONGEST_MS)
    assert view.area.horizontalScrollBar().maximum() == 0, "δ is not seen without scrolling"
    view.grab()
    right = max(one.mapRectToScene(one.boundingRect()).right() for one in view.sheet.cells.shown)
    assert view.area.viewport().width() - 40 < right <= view.area.viewport().width()
    numbers = view.numbers()
    assert numbers["dense1_W"].shape == (6, 9) and numbers["dense3_delta"].shape == (2,)
    assert [view.target.itemText(k) for k in range(2)] == ["row", "column"]
    seen = []
    for step in range(view.slider.maximum() + 1):
        view.slider.setValue(step)
        seen.append([view.sheet.seen(k) for k in range(3)])
    assert seen[0] == [(False, False)] * 3 and seen[3] == [(True, False)] * 3 and seen[6] == [(True, True)] * 3
    assert seen[4] == [(True, False), (True, False), (True, True)]  # the error comes back from the last layer
    right = np.abs(numbers["dense3_delta"]).max()
    view.target.setCurrentIndex(1)
    view.target.activated.emit(1)
    wrong = np.abs(view.numbers()["dense3_delta"]).max()
    view.loss.setCurrentIndex(list(LOSSES).index("cross-entropy"))
    view.loss.activated.emit(1)
    assert right < wrong < np.abs(view.numbers()["dense3_delta"]).max()  # σ′ cancels
    for k in range(view.tabs.count()):
        view.tabs.setCurrentIndex(k)
        assert not view.grab().isNull()
    told = {k: (view.tabs.setCurrentIndex(k), view.numbers(), view.caption())[1:] for k in (1, 3)}
    assert {"epochs", "|δ| · cross-entropy 2/2"} <= told[1][0].keys() and "One neuron" in told[1][1]
    assert "learning rates" in told[3][0] and any(name.endswith("second order") for name in told[3][0])
    heads = [chart.header.parts[0][0] for chart in (view.neuron, view.taylor)]
    assert heads[0].endswith("over epochs") and heads[1].endswith("over learning rates")
    assert "of the cross-entropy to column" in view.caption()
    assert view.sheet.given_name == "x"
    window.controller.set_steps(parse_chain("rotate:90"))
    settle(qtbot, window)
    assert view.sheet.given_name == "ρ(g)x", "the numbers are those of the image that has been turned"
    window.controller.set_model("d4-cnn")
    settle(qtbot, window)
    qtbot.waitUntil(lambda: not window.panes.offered("ladder"), timeout=LONGEST_MS)  # it says nothing of other networks


@pytest.mark.parametrize("width", [None, 85.0])
def test_a_figure_is_the_whole_ladder_without_controls(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: float | None
) -> None:
    chance = np.random.default_rng(0)
    sizes = (9, 6, 6, 2)
    layers = tuple(
        Dense(f"dense{k + 1}", chance.normal(size=(out, given)), chance.normal(size=out), "sigmoid")
        for k, (given, out) in enumerate(pairwise(sizes))
    )
    view = LadderView()
    qtbot.addWidget(view)
    view.resize(700, 220)
    view.show()
    parts = [(cast(Any, None), Chain(layers, np.ones(9), ("row", "column")))]
    monkeypatch.setattr(view, "parts", lambda: parts)
    monkeypatch.setattr(view, "reason", lambda _: "")
    view.refresh()
    size = view.size()
    export_view(view, tmp_path / "ladder.svg", style=Style(width=width))
    words = re.findall(r">([^<>]+)</text>", (tmp_path / "ladder.svg").read_text(encoding="utf-8"))
    assert sum(word.startswith("dense") for word in words) == 3 and {"row", "column"} <= set(words)
    assert not {"Loss", "Target", "Weights as", "Ladder", "One neuron"} & set(words)
    last = view.sheet.rungs[-1]
    assert {short(float(value)) for value in (*last.z, *last.a)} <= set(words), "the last layer is in the figure too"
    assert view.controls.isVisible() and view.size() == size


def test_the_layer_of_a_step_is_scrolled_to(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the stage two rows have room: what a step writes into the last layer was not seen."""
    chance = np.random.default_rng(0)
    layers = tuple(
        Dense(f"dense{k + 1}", chance.normal(size=(out, given)), chance.normal(size=out), "sigmoid")
        for k, (given, out) in enumerate(pairwise((9, 6, 6, 2)))
    )
    view = LadderView()
    qtbot.addWidget(view)
    view.resize(1200, 200)
    view.show()
    parts = [(cast(Any, None), Chain(layers, np.ones(9), ("row", "column")))]
    monkeypatch.setattr(view, "parts", lambda: parts)
    monkeypatch.setattr(view, "reason", lambda _: "")
    view.refresh()
    for step, layer in ((0, 0), (1, 0), (2, 1), (3, 2), (4, 2), (5, 1), (6, 0)):
        view.slider.setValue(step)
        top, high = view.area.verticalScrollBar().value(), view.area.viewport().height()
        first = view.sheet.place_of(layer)[0]
        assert top <= first <= top + high - 40, f"step {step}"
    view.target.setCurrentIndex(1)
    view.tabs.setCurrentIndex(2)
    view.slider.setValue(0)
    view.forget_choices()
    assert (view.target.currentText(), view.tabs.currentIndex(), view.slider.value()) == ("row", 0, 6)
