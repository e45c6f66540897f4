"""Controls say to a screen reader what they are: a box of choices does not by the choice that it shows."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

import widgets
from explorer.declare.registry import scan

SPECS = scan(widgets, "VIEW", "views")


@pytest.mark.parametrize("name", SPECS)
def test_every_box_of_choices_has_a_name(qtbot: QtBot, name: str) -> None:
    view = SPECS[name].make()
    qtbot.addWidget(view)
    nameless = [box.toolTip() for box in view.findChildren(QComboBox) if not box.accessibleName()]
    assert not nameless
