"""The chart of the latent plane without a window: what of it is in sight."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtWidgets import QGraphicsSimpleTextItem
from pytestqt.qtbot import QtBot

from explorer.declare.states.latent import LatentChoice
from explorer.square.analyses.latent.part import Latent, Turned
from widgets.latent.pictures import Pictures
from widgets.latent.plane_chart import PlaneChart


def way(*path: tuple[float, float]) -> Turned:
    """Return the way of a code through those places."""
    places = np.array(path, float)
    exact = np.zeros(len(places), bool)
    return Turned(np.arange(len(places)) * 1.0, "°", places, exact, places * np.nan, "wanders", "", "rotate")


@pytest.fixture
def chart(qtbot: QtBot) -> PlaneChart:
    chart = PlaneChart()
    qtbot.addWidget(chart)
    chart.resize(400, 300)
    chart.show()
    return chart


def test_the_way_of_a_code_is_in_sight_where_it_leads_beyond_the_examples(chart: PlaneChart) -> None:
    code = np.zeros(2)
    latent = Latent(
        LatentChoice(), ("axes",), "code", "", 2, code, code, None,
        points=np.array([[-1.0, -1.0], [1.0, 1.0]]), labels=np.array([0, 1]),
    )  # fmt: skip
    chart.show_latent(latent, moved=True)
    assert chart.box.viewRange()[1][0] > -1.5
    chart.show_latent(replace(latent, orbit=way((0.0, 0.0), (0.0, -5.0), (0.5, 0.0))), moved=True)
    low, high = chart.box.viewRange()[1]
    assert low < -5.0 and high > 1.0
    chart.box.setRange(yRange=(-0.5, 0.5), padding=0)
    chart.box.sigRangeChangedManually.emit((True, True))
    chart.show_latent(replace(latent, orbit=way((0.0, 0.0), (0.0, -9.0))), moved=True)
    assert chart.box.viewRange()[1][0] > -5.0, "whoever looks closely is left there"


def of_classes(names: tuple[str, ...]) -> Latent:
    """Return codes with an example of each class."""
    code, count = np.zeros(2), len(names)
    return Latent(
        LatentChoice(), ("axes",), "code", "", 2, code, code, None, names=names,
        points=np.random.default_rng(0).normal(size=(count, 2)), labels=np.arange(count),
    )  # fmt: skip


def test_classes_without_room_above_the_plane_are_all_named_beside_it(chart: PlaneChart, qtbot: QtBot) -> None:
    """Of eight kinds of faces two were named."""
    faces = tuple(
        f"{a}, {b}, {c} glasses" for a in ("round", "square") for b in ("sad", "glad") for c in ("with", "no")
    )
    chart.show_latent(of_classes(faces), moved=False)
    told = chart.name_classes(elsewhere=True)
    assert [name for name, _ in told] == list(faces) and len({colour for _, colour in told}) == len(faces)
    assert len(chart.header.parts) == 1, "not above as well"
    pictures = Pictures()
    qtbot.addWidget(pictures)
    pictures.resize(260, 300)
    pictures.show_latent(of_classes(faces))
    pictures.name_classes(told)
    pictures.grab()
    items = [one for one in pictures.board.root.childItems() if isinstance(one, QGraphicsSimpleTextItem)]
    shown = {one.text(): one for one in items if one.isVisible()}
    assert set(faces) <= shown.keys()
    assert all(shown[name].y() + 10 < pictures.height() for name in faces)
    assert not chart.name_classes(elsewhere=False) and len(chart.header.parts) == 1 + len(faces)
    chart.show_latent(of_classes(("0", "1", "2")), moved=False)
    assert not chart.name_classes(elsewhere=True) and chart.header.whole and len(chart.header.parts) == 4
