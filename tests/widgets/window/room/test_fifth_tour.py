"""A fifth tour of the window: what is said of a start that cannot be as it was asked for."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from explorer.declare.elements import parse_chain
from explorer.state.state import State
from tests.widgets.parts.driving.windows import Open


def test_an_element_of_another_kind_is_said_to_be_left_out(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="pointnet", steps=parse_chain("rotate3d:0,0,40"), orbit="rotate3d", device="cpu"))
    qtbot.waitUntil(window.infobar.isVisible, timeout=30_000)
    said = window.infobar.text.text()
    assert said == "rotate3d acts on a mesh, and pointnet lives on a set: it is left out."
    assert not window.controller.state.steps


def test_of_two_things_that_cannot_be_both_are_said(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="gem-cnn", sample="karate", steps=parse_chain("rotate:90"), device="cpu"))
    qtbot.waitUntil(window.infobar.isVisible, timeout=30_000)
    said = window.infobar.text.text()
    assert "rotate acts on an image" in said and "'karate' lies on a graph" in said and "body is shown" in said
