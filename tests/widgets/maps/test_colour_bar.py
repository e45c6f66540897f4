"""The colour bar beside maps has the colours that the maps have."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from widgets.base.look import theme
from widgets.maps.colour_bar import TABLES, ColourBar


def _colours(bar: ColourBar) -> np.ndarray:
    """Return red, green and blue at the stops of the bar, from the lowest value up."""
    stops = bar.ramp.brush().gradient().stops()
    return np.array([colour.getRgb()[:3] for _, colour in stops])


def _expected(kind: str, count: int) -> np.ndarray:
    table = TABLES[kind]()
    return table[np.linspace(0, len(table) - 1, count).round().astype(int)][:, :3]


def test_the_bar_has_the_colours_of_its_maps_before_and_after_its_kind_changes(qtbot: QtBot) -> None:
    bar = ColourBar()
    bar.dress()
    for kind in ("signed", "error", "grey", "signed"):
        bar.set_levels(-2.0, 2.0, kind)
        assert_allclose(_colours(bar), _expected(kind, 17))


class RightClick:
    """A click of the right button, as a scene tells it to an item."""

    taken = False

    def button(self) -> Qt.MouseButton:
        return Qt.MouseButton.RightButton

    def screenPos(self) -> QPointF:
        return QPointF(100, 100)

    def accept(self) -> None:
        self.taken = True


def test_the_right_button_offers_no_other_colours_for_the_bar_alone(qtbot: QtBot) -> None:
    bar, click = ColourBar(), RightClick()
    bar.mouseClickEvent(click)
    opened = [one for one in QApplication.topLevelWidgets() if isinstance(one, QMenu) and one.isVisible()]
    for menu in opened:
        menu.close()
    assert not click.taken and not opened


def test_other_ends_alone_change_the_numbers_and_not_the_colours(qtbot: QtBot) -> None:
    bar = ColourBar()
    bar.dress()
    bar.set_levels(-2.0, 2.0)
    before = _colours(bar)
    bar.set_levels(-0.5, 0.5)
    assert_allclose(_colours(bar), before)
    assert [text for _, text in bar.axis._tickLevels[0]][-1] == "0.5"


def test_a_scale_of_one_value_says_it_once(qtbot: QtBot) -> None:
    bar = ColourBar()
    bar.dress()
    bar.set_levels(0.0, 0.0, "grey")
    assert bar.axis._tickLevels[0] == [(0.5, "0")], "of a volume of zeros it went up to 1e-12"


def test_what_no_colour_shows_is_written_as_zero(qtbot: QtBot) -> None:
    bar = ColourBar()
    bar.dress()
    bar.set_levels(8.9e-24, 0.995, "grey")
    assert bar.axis._tickLevels[0][0][1] == "0"
    bar.set_levels(2e-9, 5e-9, "grey")
    assert bar.axis._tickLevels[0][0][1] == "2.0e−9", "beside the largest, not beside one"


def test_another_theme_gives_the_bar_other_colours(qtbot: QtBot) -> None:
    bar = ColourBar()
    was = theme.current().name
    try:
        for name in ("light", "dark"):
            theme.use(name)
            bar.dress()
            assert_allclose(_colours(bar), _expected("signed", 17))
    finally:
        theme.use(was)
