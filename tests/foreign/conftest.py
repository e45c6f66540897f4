"""Other people's networks are measured without Qt: in a run of their own, these tests cannot import it."""

from __future__ import annotations

import pytest

from tests.conftest import take_toolkits_away


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Act in the earliest hook there is, before pytest-qt imports Qt."""
    take_toolkits_away(pluginmanager)
