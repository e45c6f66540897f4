"""The window keeps a core for itself."""

from __future__ import annotations

from typing import Any

import pytest
import torch

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
