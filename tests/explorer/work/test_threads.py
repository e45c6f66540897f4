"""The window, and whatever else runs, keeps a core."""

from __future__ import annotations

import os
import types
from typing import Any

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits

from explorer.app.command import cli
from explorer.work.threads import leave_a_core


@pytest.mark.parametrize(("given", "cores", "threads"), [("", 2, 1), ("", 3, 2), ("", 1, 1), ("2", 2, 2)])
def test_the_window_keeps_a_core(monkeypatch: Any, given: str, cores: int, threads: int) -> None:
    asked: list[int] = [2]
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    monkeypatch.setattr(torch, "set_num_threads", asked.append)
    leave_a_core()
    assert asked[-1] == threads


def test_products_of_numpy_leave_a_core_too(monkeypatch: Any) -> None:
    """Those of what is loaded already, as numpy is here, and of what is loaded later."""
    monkeypatch.setenv("OMP_NUM_THREADS", "")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "")
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    monkeypatch.setattr(torch, "set_num_threads", lambda threads: None)
    with threadpool_limits(2, "blas"):  # which are put back afterwards
        assert np.ones(2) @ np.ones(2) == 2.0
        leave_a_core()
        assert {pool["num_threads"] for pool in threadpool_info() if pool["internal_api"] == "openblas"} == {1}
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"


def test_every_command_leaves_a_core(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[bool] = []
    monkeypatch.setattr("explorer.work.threads.leave_a_core", lambda: left.append(True))
    doors = types.SimpleNamespace(cards=dict)
    start = cli.engine_starter(cli.parser().parse_args(["check", "plain-cnn"]), doors)  # type: ignore[arg-type]
    assert not left  # torch is not imported before the engine is needed
    start().close()
    assert left == [True]
