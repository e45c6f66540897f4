"""The chart of the latent plane without a window: what of it is in sight."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from explorer.declare.states.latent import LatentChoice
from explorer.square.analyses.latent.part import Latent, Turned
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
