"""explorer/ works without Qt: in a run of their own, these tests cannot import it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import take_toolkits_away


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Act in the earliest hook there is, before pytest-qt imports Qt."""
    take_toolkits_away(pluginmanager)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run one command on the small cards; see tests/explorer/parts/command_line.py."""
    from explorer.app.command import cli
    from tests.explorer.parts.command_line import Said
    from tests.explorer.parts.small_cards import doors

    def command(*words: object, **more: Any) -> Said:
        code = cli.main([str(w) for w in words], doors(**more))
        out, err = capsys.readouterr()
        return Said(code, out, err)

    return command
