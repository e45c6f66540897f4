"""The public library: every name is there, nothing heavy is imported before it is needed."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import equiscope
import explorer.declare.types.fields
import models.layers.taps
from explorer.equivariance.check import check_equivariance

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("cards", "data", "fields", "spaces", "transforms")


def test_names_are_those_of_the_program() -> None:
    assert equiscope.check_equivariance is check_equivariance
    assert equiscope.Scalar is explorer.declare.types.fields.Scalar is equiscope.fields.Scalar
    assert equiscope.Tap is models.layers.taps.Tap is equiscope.cards.Tap


@pytest.mark.parametrize("name", [n for n in equiscope.__all__ if n != "views"])
def test_every_name_is_there(name: str) -> None:
    assert getattr(equiscope, name) is getattr(equiscope, name)
    assert name in dir(equiscope)


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_of_a_room_is_there(room: str) -> None:
    module = importlib.import_module(f"equiscope.{room}")
    assert module.__all__ and all(hasattr(module, name) for name in module.__all__)


def test_views_are_there_with_qt() -> None:
    code = "import equiscope; print(*[getattr(equiscope.views, name).__name__ for name in equiscope.views.__all__])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert "ViewSpec" in done.stdout.split(), done.stderr


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'equiscope' has no attribute 'nope'"):
        equiscope.nope  # noqa: B018


def test_the_program_is_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "equiscope", "list", "transforms"], cwd=ROOT, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0 and "rotate" in done.stdout, done.stderr


def test_a_broken_law_is_an_assertion_error_with_the_table() -> None:
    network = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.ReLU())
    with pytest.raises(AssertionError, match=r"(?s)0 +grid scalar.*the fault is made in 0"):
        equiscope.assert_equivariant(network, torch.rand(1, 1, 8, 8), "C4")
    assert equiscope.assert_equivariant(nn.ReLU(), torch.rand(1, 1, 8, 8), "C4").holds


def test_a_layer_that_is_not_there_is_told() -> None:
    report = check_equivariance(nn.Sequential(nn.ReLU(), nn.Sigmoid()), torch.rand(1, 1, 8, 8), "C4")
    assert report["1"].kind == "Sigmoid"
    with pytest.raises(KeyError, match="Sequential has no layer 'nope'; there are '0', '1'"):
        report["nope"]
    with pytest.raises(KeyError, match="did you mean '1'"):
        report["11"]
