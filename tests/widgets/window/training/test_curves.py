"""The page of trainings without a process: parts of one loss, values below zero, losses that are offered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from widgets.base.look.switched_parts import sharp
from widgets.charts.items.marks import Marks
from widgets.window.training.curves import colour_of
from widgets.window.training.page import TrainPage
from widgets.window.training.panels import PARTS, LossPanel
from widgets.window.training.run import Run
from widgets.window.training.told import Series, Told


def run_of(number: int, **losses: list[float]) -> Run:
    """Return what a training has told, without its process."""
    told = Told(losses={name: Series() for name in losses})
    for name, values in losses.items():
        for step, value in enumerate(values, 1):
            told.losses[name].add(step, value)
        told.step = len(values)
    wanted = SimpleNamespace(seed=0, rate=1.0, path=Path(f"{number}.safetensors"))
    process = SimpleNamespace(running=False, ask=lambda *_, **__: None)
    info = SimpleNamespace(input_shape=(1, 29, 29))
    made = SimpleNamespace(name=f"{number} gan", number=number, told=told, wanted=wanted, process=process, info=info)
    return made  # type: ignore[return-value]


@pytest.fixture
def panel(qtbot: QtBot) -> Iterator[LossPanel]:
    parent = QWidget()
    qtbot.addWidget(parent)
    yield LossPanel(parent)


def test_the_parts_of_a_loss_are_drawn_together_of_the_run_that_is_steered(panel: LossPanel) -> None:
    first = run_of(1, loss=[3.0, 2.5], D=[1.0, 0.5], G=[2.0, 2.0])
    second = run_of(2, loss=[4.0, 1.5], D=[1.5, 0.25], G=[2.5, 1.25])
    panel.show_runs([first, second], second)
    panel.part.setCurrentText(PARTS)
    panel.show_runs([first, second], second)
    assert panel.part.sizeHint().width() > panel.part.fontMetrics().horizontalAdvance(PARTS), "its name is whole"
    drawn = [(name, points.y.tolist(), colour) for name, points, colour in panel.chart.drawn]
    assert drawn == [("D", [1.5, 0.25], colour_of(1)), ("G", [2.5, 1.25], colour_of(2))]
    assert {name.removeprefix("2 gan, ") for name in panel.numbers()} == {"D", "D, step", "G", "G, step"}


def test_a_loss_of_one_part_has_no_parts_to_choose(panel: LossPanel) -> None:
    panel.show_runs([run := run_of(1, loss=[3.0])], run)
    assert panel.part.findText(PARTS) < 0


def test_values_below_zero_are_drawn_on_a_level_axis_until_others_are_chosen(panel: LossPanel) -> None:
    run = run_of(1, loss=[1.0, 0.75], D=[1.0, 0.75], G=[-0.5, -2.0])
    panel.show_runs([run], run)
    assert panel.scales.currentWidget() is panel.chart
    panel.part.setCurrentText("G")
    panel.show_runs([run], run)
    assert panel.scales.currentWidget() is panel.level and panel.log.isChecked() and not panel.log.isEnabled()
    low, high, _ = panel.level.ends
    assert low < -2.0 and high > -0.5, "all of it is seen"
    panel.part.setCurrentText("D")
    panel.show_runs([run], run)
    assert panel.scales.currentWidget() is panel.chart and panel.log.isEnabled()


def test_what_followed_a_step_that_was_gone_back_to_is_faint_dots_and_all(panel: LossPanel) -> None:
    run = run_of(1, loss=[3.0, 2.5, 2.0, 1.5])
    run.told.step = 2
    panel.show_runs([run], run)
    (dots,) = (item for item in panel.chart.scene().items() if isinstance(item, Marks) and item.isVisible())
    opaque = [spot.brush().color().alpha() == 255 for spot in dots.points()]
    assert opaque == [True, True, False, False]


def test_a_long_curve_is_drawn_as_fine_as_can_be_seen_with_all_that_stands_out(panel: LossPanel) -> None:
    values = (2.0 + np.random.default_rng(0).random(20_000)).tolist()
    values[12_345], values[777], values[-1] = 90.0, 0.01, 2.5
    run = run_of(1, loss=values)
    parent = panel.parentWidget()
    QVBoxLayout(parent).addWidget(panel)
    parent.resize(450, 300)
    parent.show()
    panel.show_runs([run], run)

    def drawn() -> tuple[list[float], int]:
        line = panel.chart.key_of(run.name)
        assert line is not None
        return line.yData.tolist(), int(panel.chart.plotted.width())

    few, width = drawn()
    assert 0.3 * width < len(few) <= width, "a stretch as wide as the line has one point at most"
    assert {max(few), min(few), few[-1]} == {np.log10(90.0), -2.0, np.log10(2.5)}
    parent.resize(1600, 300)
    more, wider = drawn()
    assert width < len(more) <= wider, "it is finer where there is room"
    panel.chart.box.setXRange(12_000, 12_500, padding=0)
    assert len(drawn()[0]) > 2 * len(more), "and where it is looked at closely"


def test_a_sharp_picture_has_lines_as_wide_as_the_screen(panel: LossPanel) -> None:
    """In a PNG the curves were half as wide as on the screen, the axes were not."""
    run = run_of(1, loss=[1.0, 0.75])
    panel.show_runs([run], run)

    def wide() -> float:
        line = panel.chart.key_of(run.name)
        assert line is not None
        return float(line.opts["pen"].widthF())

    before = wide()
    with sharp(2.0):
        panel.apply_theme()
        assert wide() == 2 * before
    panel.apply_theme()
    assert wide() == before


def test_a_training_on_other_data_is_not_drawn_over_a_new_one_until_it_is_chosen(panel: LossPanel) -> None:
    """A training of 40,000 steps left one of another network, of 300, two pixels of the axis."""
    long, short, beside = run_of(1, loss=[1.0] * 400), run_of(2, loss=[300.0] * 3), run_of(3, loss=[200.0] * 3)
    long.info = SimpleNamespace(input_shape=(64,))  # type: ignore[assignment]
    panel.show_runs([long], long)
    panel.show_runs([long, short], short)
    panel.show_runs([long, short, beside], beside)
    assert [name for name, _, _ in panel.chart.drawn] == ["3 gan", "2 gan"] and panel.chart.ends[2] == 3
    panel.overlaid.menu().actions()[0].trigger()
    panel.show_runs([long, short, beside], beside)
    assert [name for name, _, _ in panel.chart.drawn] == ["3 gan", "2 gan", "1 gan"]
    panel.overlaid.menu().actions()[1].trigger()
    panel.show_runs([long, short, beside], long)
    assert "2 gan" not in [name for name, _, _ in panel.chart.drawn], "what was chosen stays"


def test_the_caption_of_curves_says_what_was_changed_while_they_were_drawn(panel: LossPanel) -> None:
    """It named the rate of the start alone, also where most steps were made with another one."""
    run = run_of(1, loss=[1.0])
    panel.show_runs([run], run)
    assert panel.caption() == "Loss and figures of trainings: 1 gan, seed 0, rate × 1."
    run.told.hear({"steps": [[2, 0.5, {}]], "changes": "after 1 steps: rate 0.1"})
    assert panel.caption() == "Loss and figures of trainings: 1 gan, seed 0, rate × 1 (after 1 steps: rate 0.1)."
    run.told.hear({"kept": [1, 2]})
    assert "after 1 steps" in panel.caption(), "until something else is said"
    run.told.hear({"steps": [[3, 0.5, {}]], "changes": ""})
    assert "after" not in panel.caption(), "it was gone back to before that"


def test_a_figure_of_long_ago_is_told_with_its_step() -> None:
    told = Told(step=100, figures={"pixel_error": Series(), "accuracy": Series()})
    told.figures["pixel_error"].add(0, 0.25)
    for step in (0, 90):
        told.figures["accuracy"].add(step, 0.5)
    assert told.figure("pixel_error", told.figures["pixel_error"]) == "pixel error 0.25 at step 0"
    assert told.figure("accuracy", told.figures["accuracy"]) == "accuracy 0.5"
    assert told.figure("none", Series()) == ""
    told.figures["V"] = Series()
    told.figures["V"].add(90, -1.333)
    assert told.figure("V", told.figures["V"]) == "V −1.33"


@pytest.fixture
def page(qtbot: QtBot, tmp_path: Path) -> Iterator[TrainPage]:
    """Yield a page with one training that is over, of the first of two networks."""
    infos: Any = [SimpleNamespace(name=n, title=n, input_shape=(1, 29, 29), trainable=True) for n in ("gan", "vae")]
    parent = QWidget()
    qtbot.addWidget(parent)
    made = TrainPage(parent, infos, "gan", str(tmp_path))
    run: Any = run_of(1, loss=[1.0])
    run.info, run.sentence, run.warning, run.alarming, run.resumable = infos[0], "Trained.", "", False, False
    run.told.choices, run.told.loss = ("in turn", "D alone"), "D alone"
    made.runs.append(run)
    made.which.addItem(run.name)
    yield made
    made.runs.clear()


def test_what_keeps_a_training_from_its_start_is_said_until_the_next_try(page: TrainPage) -> None:
    page.path.setText("/nowhere/at/all.safetensors")
    page.start()
    for _ in range(2):  # as often as a training that runs says something
        page.draw()
        assert page.status.text() == (
            "Trained. Weights are written to FILE.safetensors in a folder that is there, not to "
            "/nowhere/at/all.safetensors."
        )


def test_the_loss_of_a_training_that_is_over_is_offered_to_its_own_network_alone(page: TrainPage) -> None:
    page.draw()
    assert page.loss.currentText() == "D alone", "what is chosen stays chosen for the same network"
    page.choose("vae")
    assert [page.loss.itemText(k) for k in range(page.loss.count())] == ["of its recipe"]
    page.draw()
    assert page.loss.currentText() == "of its recipe"
    page.choose("gan")
    assert page.loss.currentText() == "D alone"


def test_those_trained_beside_a_network_are_written_into_its_folder(page: TrainPage, tmp_path: Path) -> None:
    """They went to the home folder, whatever folder was named."""
    page.runs.clear()
    (tmp_path / "mine").mkdir()
    page.path.setText(str(tmp_path / "mine" / "first.safetensors"))
    page.path.take()
    assert page.path.free(page.infos["vae"]) == tmp_path / "mine" / "vae.safetensors"


def test_steps_after_which_a_setting_was_changed_are_marked_in_the_chart(panel: LossPanel) -> None:
    """It was written into the caption alone: a bend of the curve looked as if the network had done it."""
    run = run_of(1, loss=[1.0] * 100)
    run.told.hear({"turns": [[40, "rate 0.1"], [80, "loss minimax"]]})
    panel.show_runs([run], run)
    assert panel.chart.turns == ((40, "rate 0.1"), (80, "loss minimax"))
    assert "after 40 steps: rate 0.1" in panel.chart.read(QPointF(40.0, 0.0))
    assert "after" not in panel.chart.read(QPointF(60.0, 0.0))
    run.told.hear({"turns": []})
    panel.show_runs([run], run)
    assert "after" not in panel.chart.read(QPointF(40.0, 0.0)), "it was gone back to before that"


def test_figures_are_called_by_words(panel: LossPanel) -> None:
    run = run_of(1, loss=[3.0, 2.5], pixel_error=[0.5, 0.25])
    panel.show_runs([run], run)
    panel.part.setCurrentText("pixel error")
    panel.show_runs([run], run)
    assert [points.y.tolist() for points in panel.chosen(run).values()] == [[0.5, 0.25]]
    assert panel.chart.header.shown()[0].startswith("pixel ")  # a small panel cuts it
    other = run_of(2, loss=[3.0], pixel_error=[0.5], neighbours=[0.5])
    panel.show_runs([other], other)
    assert panel.part.currentText() == "pixel error", "what was chosen stays"
