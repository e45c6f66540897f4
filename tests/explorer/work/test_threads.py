"""The window, and whatever else runs, keeps a core."""

from __future__ import annotations

import types
from typing import Any

import pytest
import torch

from explorer.app.command import cli
from explorer.work.threads import leave_a_core


@pytest.mark.parametrize(("given", "cores", "threads"), [("", 2, 1), ("", 3, 2), ("", 1, 1), ("2", 2, 2)])
def test_the_window_keeps_a_core(monkeypatch: Any, given: str, cores: int, threads: int) -> None:
    asked: list[int] = [2]
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    monkeypatch.setattr(torch, "set_num_threads", asked.append)
    leave_a_core()
    assert asked[-1] == threads


def test_every_command_leaves_a_core(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[bool] = []
    monkeypatch.setattr("explorer.work.threads.leave_a_core", lambda: left.append(True))
    doors = types.SimpleNamespace(cards=dict)
    start = cli.engine_starter(cli.parser().parse_args(["check", "plain-cnn"]), doors)  # type: ignore[arg-type]
    assert not left  # torch is not imported before the engine is needed
    start().close()
    assert left == [True]
