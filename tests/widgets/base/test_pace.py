"""No turn of the event loop is long: views take turns with a frame, and charts keep what a frame does not change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtGui import QPainter

from explorer.square.frame import Frame
from tests.widgets.parts.frames.sample_frames import make_frame
from widgets.base.pace import Pace
from widgets.base.view import View
from widgets.charts.axis.axes import ValueAxis
from widgets.charts.items.curve import Curve
from widgets.charts.plot import Plot
from widgets.figures.export import export_view
from widgets.views.charts.errors import ErrorsView


class Recorder(View):
    """Takes note of the frames it is to draw."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Frame | None] = []

    def show_frame(self, frame: Frame | None) -> None:
        self.seen.append(frame)


def test_views_take_turns_and_skip_what_is_outdated(qtbot: Any) -> None:
    first, second, third, hidden = views = [Recorder() for _ in range(4)]
    turns: list[View] = []

    def show(view: View) -> None:
        turns.append(view)
        view.catch_up()

    pace = Pace(show)
    for view in views:
        qtbot.addWidget(view)
        view.setVisible(view is not hidden)
    frames = [make_frame(), make_frame()]
    for frame in frames:
        for view in views:
            pace.give(view, frame, view is first)
    assert first.seen == frames and not second.seen and not third.seen
    qtbot.waitUntil(lambda: len(turns) == 2)
    assert turns == [second, third] and second.seen == third.seen == frames[1:]
    hidden.show()
    assert hidden.seen == frames[1:]


def test_the_view_in_use_is_painted_before_the_others_begin(qtbot: Any) -> None:
    order: list[str] = []

    class Painted(Recorder):
        def paintEvent(self, event: Any) -> None:
            order.append("painted")

    first, second = Painted(), Recorder()
    for view in (first, second):
        qtbot.addWidget(view)
        with qtbot.waitExposed(view):
            view.show()
    order.clear()
    pace = Pace(lambda view: order.append("turn"))
    for view in (first, second):
        pace.give(view, make_frame(), view is first)
    first.update()
    later = QTimer(first, singleShot=True, interval=0)
    later.timeout.connect(lambda: order.append("between"))
    later.start()
    qtbot.waitUntil(lambda: "turn" in order)
    assert order.index("between") < order.index("turn") and order.index("painted") < order.index("turn")


class Counting(ValueAxis):
    """Counts how often its ticks are worked out."""

    worked_out = 0

    def generateDrawSpecs(self, p: QPainter) -> Any:
        self.worked_out += 1
        return super().generateDrawSpecs(p)


def test_a_chart_keeps_its_ground_until_something_changes(qtbot: Any) -> None:
    axis = Counting("bottom")
    chart = Plot(bottom=axis)
    curve = chart.add(Curve())
    qtbot.addWidget(chart)
    chart.set_ranges((0, 10), (-3, 0))
    chart.resize(200, 120)
    first = chart.grab().toImage()
    assert chart.grab().toImage() == first
    before = axis.worked_out
    assert before
    curve.setData([0, 10], [-3, 0])
    assert chart.grab().toImage() != first and axis.worked_out == before
    chart.resize(220, 120)
    chart.grab()
    assert axis.worked_out > before


def test_a_file_gets_the_text_and_not_the_kept_picture(qtbot: Any, tmp_path: Path) -> None:
    view = ErrorsView()
    qtbot.addWidget(view)
    view.resize(700, 240)
    view.show()
    view.set_frame(make_frame())
    view.grab()
    export_view(view, tmp_path / "errors.svg")
    text = (tmp_path / "errors.svg").read_text()
    assert "<image" not in text and "10⁻" in text
