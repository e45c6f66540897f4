"""A plot answers as pyqtgraph's users know it, in the program's colours, and takes all it made with it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QContextMenuEvent, QFontMetricsF, QImage, QPainter, QPen
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QApplication, QMenu, QVBoxLayout, QWidget

from tests.widgets.parts.driving.plot_mouse import PlotMouse
from widgets.base.look import theme
from widgets.charts.axis.axes import LogAxis, Name, NameAxis, ValueAxis
from widgets.charts.axis.scales import LogScale, power
from widgets.charts.items.curve import Curve, Jagged
from widgets.charts.items.header import Header
from widgets.charts.items.marks import DOT, Columns, Marks, fill
from widgets.charts.library import pg
from widgets.charts.plot import Plot


class Sample(Plot):
    """Ten marks, a column below each, and a name."""

    def __init__(self) -> None:
        super().__init__(left=ValueAxis("left"), bottom=NameAxis("bottom"))
        self.columns = self.add(Columns(), key="columns")
        self.marks = self.add(Marks(symbol=DOT, size=6), 1, "marks")
        x = np.arange(10.0)
        self.columns.set_columns(x - 0.5, x + 0.5, 0, x)
        self.marks.set_marks(x, x, 6)
        self.bottom.set_names([Name(f"a.rather.long.name.of.layer.{i}", "accent" if i == 9 else "") for i in range(10)])
        self.set_ranges((-0.5, 9.5), (0, 10))
        self.dress()

    def dress(self) -> None:
        super().dress()
        if hasattr(self, "marks"):
            self.columns.setOpts(brush=fill(theme.current().band))
            self.marks.setBrush(fill(theme.current().first))

    def read(self, at: QPointF) -> str:
        return f"{at.x():.1f}" if self.box.viewRect().contains(at) else ""


@pytest.fixture
def plot(qtbot):
    plot = Sample()
    qtbot.addWidget(plot)
    plot.resize(500, 240)
    with qtbot.waitExposed(plot):
        plot.show()
    return plot


@pytest.fixture
def in_light():
    yield
    theme.use("light")


def test_the_wheel_zooms_a_drag_pans_and_a_double_click_shows_all(plot):
    mouse = PlotMouse(plot)
    for _ in range(3):
        mouse.wheel(mouse.middle(4), 1)
    low, high = plot.box.viewRange()[0]
    assert plot.box.zoomed and -0.5 < low < 4 < high < 9.5 and plot.box.viewRange()[1] == pytest.approx([0, 10])
    mouse.drag(mouse.middle(4), mouse.middle(3.5), mouse.middle(3))
    assert np.diff(plot.box.viewRange()[0]) == pytest.approx(high - low) and plot.box.viewRange()[0][0] > low
    mouse.double_click(mouse.middle(4))
    assert not plot.box.zoomed and plot.box.viewRange()[0] == pytest.approx([-0.5, 9.5])


def test_a_range_of_another_frame_is_shown_and_the_same_one_keeps_the_zoom(plot):
    mouse = PlotMouse(plot)
    mouse.wheel(mouse.middle(4), 2)
    zoomed = plot.box.viewRange()[0]
    plot.set_ranges((-0.5, 9.5))
    assert plot.box.viewRange()[0] == zoomed
    plot.set_ranges((-0.5, 4.5))
    assert plot.box.viewRange()[0] == pytest.approx([-0.5, 4.5])


def test_the_right_button_opens_a_menu_of_the_program_s_own(plot, qtbot):
    asked = []
    around = QWidget()
    QVBoxLayout(around).addWidget(plot)
    around.addAction("What the panel offers", lambda: asked.append(True))
    window = QWidget()
    qtbot.addWidget(window)
    QVBoxLayout(window).addWidget(around)
    window.resize(600, 300)
    with qtbot.waitExposed(window):
        window.show()
    mouse = PlotMouse(plot)

    def opened() -> QMenu:
        mouse.move(mouse.middle(4))
        mouse.press(mouse.middle(4), button=Qt.MouseButton.RightButton)
        mouse.release(mouse.middle(4))
        (menu,) = [one for one in plot.findChildren(QMenu) if one.isVisible()]
        return menu

    menu = opened()
    assert [one.text() for one in menu.actions() if one.text()] == ["Show the whole range", "What the panel offers"]
    assert not menu.actions()[0].isEnabled(), "the whole is shown"
    gone = []
    menu.destroyed.connect(lambda *_: gone.append(True))
    menu.actions()[-1].trigger()
    menu.close()
    qtbot.waitUntil(lambda: bool(gone))
    assert asked == [True]
    mouse.wheel(mouse.middle(4), 2)
    assert plot.box.zoomed
    menu = opened()
    menu.actions()[0].trigger()
    menu.close()
    assert not plot.box.zoomed
    plot.setParent(None)  # the fixture's, not this window's


def test_the_read_out_is_that_of_the_plot_or_the_whole_name_of_a_layer(plot):
    mouse = PlotMouse(plot)
    assert mouse.read(mouse.middle(4)) == "4.0"
    place = QPointF(mouse.middle(4).x(), plot.height() - 6)
    assert mouse.read(place) == "a.rather.long.name.of.layer.4"
    assert mouse.read(QPointF(2, 2)) == ""


def test_no_label_is_cut_off(plot):
    for width in (500, 160, 900):
        plot.resize(width, 240)
        plot.grab()
        for axis in (plot.left, plot.bottom):
            names = axis is plot.bottom
            for found in axis.picture[1 if names else 2]:
                rect = axis.mapRectToScene(found[2 if names else 0])
                assert rect.left() >= -0.5 and rect.right() <= width + 0.5
                assert rect.top() >= -0.5 and rect.bottom() <= 240.5


def test_a_theme_recolours(plot, in_light):
    def ink():
        place = plot.at(5, 5)
        return plot.grab().toImage().pixelColor(round(place.x()), round(place.y()))

    assert ink() == QColor(theme.LIGHT.first)
    theme.use("dark")
    plot.dress()
    assert ink() == QColor(theme.DARK.first)


def test_a_click_on_the_legend_hides_an_item(plot):
    sample = plot.header.legend.items[1][0]
    mouse = PlotMouse(plot)
    mouse.click(sample.mapToScene(QPointF(10, 7)))
    assert not plot.marks.isVisible()
    mouse.click(sample.mapToScene(QPointF(10, 7)))
    assert plot.marks.isVisible()


def test_an_empty_state_is_text_without_a_mouse(plot):
    plot.message = "Nothing yet."
    mouse = PlotMouse(plot)
    assert mouse.read(plot.viewport().rect().center().toPointF()) == ""
    mouse.wheel(QPointF(100, 100), 1)
    plot.message = ""
    assert not plot.box.zoomed and plot.plotted.left() > 10, "the axis has its room again"
    QApplication.processEvents()


@pytest.mark.parametrize("ends", [(0.83, 0.91), (0.4, 2.2), (1.4e-3, 1.5e-3), (0.9, 12.0)])
def test_an_axis_of_less_than_a_decade_has_labels_of_its_own(ends):
    ticks = LogScale(*ends).ticks(200, 12)
    assert 2 <= len(ticks) <= 12 and all(ends[0] * 0.999 <= v <= ends[1] * 1.001 for v in ticks)
    assert len({power(v) for v in ticks}) == len(ticks)


@pytest.mark.parametrize("height", [60, 150, 420])
def test_an_axis_with_one_or_two_decades_in_sight_has_labels_between_them(height):
    for ends in ((30.0, 700.0), (36.0, 600.0), (0.03, 20.0)):
        ticks = LogScale(*ends).ticks(height, 15)
        gaps = np.diff(np.log10(ticks)) * height / np.log10(ends[1] / ends[0])
        assert (len(ticks) >= 3 or height < 100) and (gaps >= 15).all()


def test_numbers_beside_decades_are_written_alike(plot):
    axis = LogAxis("left")
    assert axis.tickStrings(list(np.log10([50, 100, 200])), 1.0, 1.0) == ["50", "100", "200"]
    assert axis.tickStrings(list(np.log10([1e-5, 2e-5])), 1.0, 1.0) == ["10⁻⁵", "2·10⁻⁵"]
    assert axis.tickStrings([-2.0, -1.0, 0.0], 1.0, 1.0) == ["10⁻²", "10⁻¹", "1"]


def test_decades_are_labelled_as_powers():
    assert [power(v) for v in LogScale(1e-3, 1.0).ticks(200, 12)] == ["10⁻³", "10⁻²", "10⁻¹", "1"]


def test_a_sentence_is_as_large_as_in_other_views_and_smaller_only_where_it_would_be_cut_off(plot):
    plot.message = "There is nothing to see."
    assert plot.sentence_font(QRectF(0, 0, 500, 200)).pixelSize() == theme.SENTENCE
    assert plot.sentence_font(QRectF(0, 0, 500, 12)).pixelSize() != theme.SENTENCE


def test_a_part_of_the_header_without_room_is_said_in_brief(qapp: QApplication) -> None:
    header = Header()
    said = "broken by conv1, conv2 and 1 more"
    header.write([("A network", "#000", True), (said, "#a00", False)], brief={1: "broken"})
    header.resize(600, 20)
    assert header.shown() == ["A network", said]
    header.resize(QFontMetricsF(header.bold).horizontalAdvance("A network broken at") + 9, 20)
    assert header.shown() == ["A network", "broken"]


def test_a_part_in_brief_leaves_those_behind_it_their_room(qapp: QApplication) -> None:
    header = Header()
    header.write(
        [("power by degree", "#000", True), ("F(x)", "#00a", False), ("F(ρ(g)x)", "#a00", False)], brief={0: "power"}
    )
    header.resize(QFontMetricsF(header.bold).horizontalAdvance("power F(x) F(ρ(g)x)") + 40, 20)
    assert header.shown() == ["power", "F(x)", "F(ρ(g)x)"]


def test_a_new_range_is_painted_once(qtbot):
    """Items inside a view box are moved before it is painted: moved in the middle, all is painted a second time."""
    painted = []

    class Counted(Sample):
        def paintEvent(self, event):
            painted.append(event.rect())
            super().paintEvent(event)

    plot = Counted()
    qtbot.addWidget(plot)
    plot.resize(500, 240)
    with qtbot.waitExposed(plot):
        plot.show()
    qtbot.waitUntil(lambda: bool(painted))
    for _ in range(5):
        QApplication.processEvents()
    for high in (20.0, 30.0):
        painted.clear()
        plot.set_ranges((-0.5, 9.5), (0.0, high))
        for _ in range(5):
            QApplication.processEvents()
        assert len(painted) == 1


def _painted(item: pg.PlotCurveItem) -> np.ndarray:
    """Return how dark each pixel is that a curve is painted on, (60, 200)."""
    image = QImage(200, 60, QImage.Format.Format_Grayscale8)
    image.fill(QColor("white"))
    painter = QPainter(image)
    item.paint(painter, None, None)
    painter.end()
    return 255.0 - np.frombuffer(image.constBits(), np.uint8).reshape(60, -1)[:, :200]


def test_a_jagged_curve_looks_as_its_path_does_and_is_one_path_in_a_file(tmp_path: Path, qapp: QApplication) -> None:
    x = np.arange(100) * 2.0
    y = 30 + 12 * np.random.default_rng(0).standard_normal(100).clip(-2, 2)
    jagged, plain = Jagged(), pg.PlotCurveItem()
    for item in (jagged, plain):
        item.setData(x, y, antialias=True)
        item.setPen(QPen(QColor("black"), 1.5))
    there, wanted = _painted(jagged), _painted(plain)
    assert wanted.mean() > 20, "the path is seen"
    assert np.abs(there - wanted).mean() < 0.1 * wanted.mean()
    for item in (jagged, plain):
        item.setPen(QPen(QColor(0, 0, 0, 70), 1.0))  # of which the ends of pieces would be seen
    assert np.array_equal(_painted(jagged), _painted(plain))
    generator = QSvgGenerator()
    generator.setFileName(str(tmp_path / "curve.svg"))
    painter = QPainter(generator)
    jagged.setPen(QPen(QColor("black"), 1.5))
    jagged.paint(painter, None, None)
    painter.end()
    assert (tmp_path / "curve.svg").read_text().count("<path") == 1


def test_marks_without_an_outline_share_their_pictures(qapp: QApplication) -> None:
    marks = Marks(symbol=DOT, pen=None)
    brush = fill("#0072b2")
    for _ in range(3):
        marks.set_marks(np.arange(20.0), np.arange(20.0), 5.0, dict.fromkeys(range(20), (DOT, None, brush)))
        marks.updateSpots()
    assert len(marks.fragmentAtlas) == 1


@pytest.mark.parametrize("choice", ["light", "dark"])
def test_a_sentence_stands_on_the_ground_that_it_has_everywhere(plot, choice, qtbot):
    theme.use(choice)
    try:
        plot.message = "There is nothing to see."
        corners = plot.grab().toImage()
        assert corners.pixelColor(2, 2) == corners.pixelColor(480, 230) == QColor(theme.current().panel)
    finally:
        theme.use("light")


@pytest.mark.parametrize("room", [60, 46])
def test_short_names_are_all_there_where_they_have_room(qtbot, room):
    """Every second was left out below 78 pixels, however short they were."""
    plot = Sample()
    qtbot.addWidget(plot)
    names = [f"conv{i}" for i in range(10)]
    plot.bottom.set_names([Name(name) for name in names])
    plot.resize(10 * room + 60, 240)
    with qtbot.waitExposed(plot):
        plot.show()
    image = QImage(8, 8, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    _, texts = plot.bottom.generateDrawSpecs(painter)
    painter.end()
    assert plot.bottom.lines == 1 and [text[-1] for text in texts] == names


def test_the_keyboard_zooms_pans_and_shows_all(plot, qtbot):
    low, high = plot.box.viewRange()[0]
    plot.setFocus()
    qtbot.keyClick(plot, Qt.Key.Key_Plus)
    qtbot.keyClick(plot, Qt.Key.Key_Equal, Qt.KeyboardModifier.ShiftModifier)
    near, far = plot.box.viewRange()[0]
    assert far - near == pytest.approx(0.64 * (high - low)) and near + far == pytest.approx(low + high)
    assert plot.box.viewRange()[1] == pytest.approx([0, 10]), "as the wheel does"
    qtbot.keyClick(plot, Qt.Key.Key_Right)
    assert plot.box.viewRange()[0] == pytest.approx([near + 0.064 * (high - low), far + 0.064 * (high - low)])
    qtbot.keyClick(plot, Qt.Key.Key_Home)
    assert not plot.box.zoomed
    qtbot.keyClick(plot, Qt.Key.Key_Left)
    qtbot.keyClick(plot, Qt.Key.Key_Minus)
    assert plot.box.viewRange()[0] == pytest.approx([low, high]), "no farther than all of it"


def test_the_keyboard_goes_from_mark_to_mark_and_enter_is_a_click_there(plot, qtbot, monkeypatch):
    clicked, told = [], []
    monkeypatch.setattr(plot, "clicked_at", clicked.append)
    plot.hovered.connect(told.append)
    plot.setFocus()
    qtbot.keyClick(plot, Qt.Key.Key_Return)
    assert not clicked, "nothing is pointed at yet"
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left):
        qtbot.keyClick(plot, key)
    ring = plot.stepping.ring
    assert ring.isVisible() and told[-1] == f"{plot.stepping.at.x():.1f}" != ""
    qtbot.keyClick(plot, Qt.Key.Key_Return)
    assert clicked == [plot.stepping.at]
    before = plot.stepping.at
    qtbot.keyClick(plot, Qt.Key.Key_Up)
    assert plot.stepping.at.y() > before.y(), "Up leads upwards"
    qtbot.mouseMove(plot.viewport(), plot.viewport().rect().center())
    qtbot.waitUntil(lambda: not ring.isVisible())
    qtbot.keyClick(plot, Qt.Key.Key_Return)
    assert len(clicked) == 1, "the mouse has the word again"


def test_in_a_zoom_arrows_pan_and_with_shift_they_step_and_what_they_reach_is_seen(plot, qtbot):
    plot.setFocus()
    plot.box.zoom(0.3)
    seen = plot.box.viewRange()[0]
    qtbot.keyClick(plot, Qt.Key.Key_Right)
    assert plot.stepping.at is None and plot.box.viewRange()[0] != seen
    for _ in range(40):
        qtbot.keyClick(plot, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
        low, high = plot.box.viewRange()[0]
        assert low - 1e-9 <= plot.stepping.at.x() <= high + 1e-9
    assert plot.stepping.at.x() == 9.0, "the last column, where keys stay"


def test_along_a_line_keys_stay_on_it_and_upwards_they_change_it(plot, qtbot):
    x = np.linspace(0, 9, 10)
    for item in (plot.columns, plot.marks):
        item.hide()
    for height in (2.0, 5.0, 8.0):
        plot.add(pg.PlotDataItem(x, height - 0.1 * x * height))
    plot.setFocus()
    met = []
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down):
        qtbot.keyClick(plot, key)
        met.append((plot.stepping.at.x(), round(plot.stepping.at.y(), 6)))
    assert met == [(0, 2), (0, 5), (1, 4.5), (2, 4), (2, 6.4), (2, 4)]


def test_the_menu_key_opens_the_menu_of_the_mouse(plot):
    plot.setFocus()
    at = plot.mapToGlobal(plot.rect().center())
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, plot.rect().center(), at)
    QApplication.sendEvent(plot.viewport(), event)
    (menu,) = [one for one in plot.findChildren(QMenu) if one.isVisible()]
    assert "Show the whole range" in [one.text() for one in menu.actions()]
    menu.close()


def test_marks_of_a_curve_are_shapes_in_a_picture_too(qapp):
    """A sharp picture had blots in their place: pictures of the screen's size, with lines for a sharp one."""
    curve = Curve()
    curve.setData(np.arange(3.0), np.arange(3.0), symbol=DOT)
    curve.setSymbolSize(7)
    assert len(curve.scatter.data) == 3 and not curve.scatter.opts["useCache"]
