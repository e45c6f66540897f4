"""Functions that a network has replaced are told by name; looking for them costs next to nothing where none is."""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Callable
from typing import Any

import pytest
import torch

from explorer.app.remote.tampering import Untouched


@pytest.fixture(scope="module")
def before() -> Untouched:
    return Untouched()


@pytest.mark.parametrize(
    "holder, name, told",
    [
        (math, "sqrt", "math.sqrt"),
        (torch, "add", "torch.add"),
        (torch.Tensor, "backward", "Tensor.backward"),
        (torch.Tensor, "sum", "Tensor.sum"),  # which the class inherits, so that a new name hides it
    ],
)
def test_a_function_that_was_replaced_is_named(
    before: Untouched, monkeypatch: pytest.MonkeyPatch, holder: Any, name: str, told: str
) -> None:
    assert not before.replaced()
    monkeypatch.setattr(holder, name, lambda *_, **__: None)
    assert before.replaced() == told


def test_new_names_are_no_change(before: Untouched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(math, "of_a_network", len, raising=False)
    monkeypatch.setattr(torch.Tensor, "of_a_network", 3, raising=False)
    assert not before.replaced()


def test_what_was_taken_away_is_named(before: Untouched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(math, "hypot")
    assert before.replaced() == "math.hypot"


def test_a_module_that_was_emptied_is_filled_again_and_one_that_came_later_goes(before: Untouched) -> None:
    later = types.ModuleType("a_module_of_a_network")
    sys.modules[later.__name__] = later
    vars(later).clear()
    held = dict(vars(math))
    vars(math).clear()
    assert before.refilled() == "the module math" and vars(math) == held
    assert "a_module_of_a_network" not in sys.modules and not before.refilled()


@pytest.mark.parametrize("look", [Untouched.replaced, Untouched.refilled], ids=["replaced", "refilled"])
def test_nothing_is_called_for_what_is_as_it_was(before: Untouched, look: Callable[[Untouched], str]) -> None:
    calls = 0

    def count(*_: Any) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        assert not look(before)
    finally:
        sys.setprofile(None)
    assert calls < 2000, "there are some four thousand functions and two thousand modules"
