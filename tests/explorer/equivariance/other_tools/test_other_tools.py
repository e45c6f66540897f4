"""The same networks by other tools and by this program: the same verdicts, and figures that convert into each other.

`figures.json` holds what the tools said (`record.py` asks them); where a tool is installed it is asked again.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from equiscope import check_equivariance, image
from explorer.declare.elements import Element
from explorer.declare.inputs import Inputs
from explorer.equivariance import measure
from explorer.equivariance.presets import PRESETS, preset_figures
from explorer.network.input.inputs import called
from explorer.network.tracing.trace import trace
from explorer.spaces.grid.analysis.lie import lie_derivative
from explorer.spaces.grid.elements.affine import Affine
from explorer.spaces.grid.fields import grid
from tests.explorer.equivariance.other_tools import networks, ours, record

FIGURES: dict[str, dict[str, Any]] = json.loads(Path(record.FIGURES).read_text())
EACH = pytest.mark.parametrize("name", ["sound", "broken"])


def square(model: nn.Module, x: Inputs, element: Element) -> tuple[Tensor, Tensor]:
    """Return rho(g) F(x) and F(rho(g) x) at the end of a network."""
    with torch.no_grad():
        traced = trace(model, x)
        end, value = traced[traced.output], called(model, x)
        expected = measure.expected_after(element, end, value)
        assert expected is not None
        return expected, called(model, x.moved(element))


@EACH
def test_escnn(name: str) -> None:
    """Its figure is the mean of |e| by element, and it accepts |e| <= atol + rtol |F(g x)|."""
    said = FIGURES["escnn"][name]
    model = networks.quarter_turns(FIGURES["escnn"]["filters"], name == "broken")
    x = image(networks.waves(3, 1, 10, 10))
    excess = 0.0
    for turns, mean in said["mean |e| by quarter turns"].items():
        angle = int(turns) * math.pi / 2
        linear = ((math.cos(angle), -math.sin(angle)), (math.sin(angle), math.cos(angle)))
        linear = tuple(tuple(float(round(v)) for v in row) for row in linear)
        expected, answer = square(model, x, Affine(linear))  # type: ignore[arg-type]
        distance = measure.distance(expected, answer, measure.EVERYWHERE, grid())
        assert float(distance.mean_abs.mean()) == pytest.approx(mean, abs=1e-6)
        excess = max(excess, preset_figures(expected, answer)["escnn"])
    assert excess == pytest.approx(said["excess over rtol"], abs=1e-6)
    assert (excess <= (PRESETS["escnn"].limit or 0)) == said["passes"] == (name == "sound")
    # its filters are symmetric to float32, in which it keeps them: in float64 they would be accused, and rightly so
    report = check_equivariance(model.float(), x, "C4")
    assert report.holds == said["passes"] and report.guilty == (() if name == "sound" else ("2",))
    assert report.presets["escnn"] == pytest.approx(excess, abs=1e-6)


@EACH
def test_e3nn(name: str) -> None:
    """Its figure is the largest |e|, an element at a time, with and without a mirror."""
    said = FIGURES["e3nn"][name]
    model = networks.Vectors(FIGURES["e3nn"]["weight"], name == "broken")
    x, largest = ours.vectors(), 0.0
    for element, matrix, row in zip(ours.elements(), ours.motions(), said["elements"], strict=True):
        assert torch.allclose(matrix, torch.tensor(row["matrix"], dtype=matrix.dtype), atol=1e-12)
        figure = preset_figures(*square(model, x, element))["e3nn"]
        assert figure == pytest.approx(row["max |e|"], abs=1e-6)
        largest = max(largest, figure)
    report = check_equivariance(model, x, "E3")
    assert report.holds == said["passes"] == (name == "sound")
    assert report.presets["e3nn"] == pytest.approx(largest, abs=1e-6)


@EACH
def test_lie_derivative(name: str) -> None:
    """The paper squares (eq. 4), its code takes absolute values, and its bilinear shift accuses the sound network."""
    said = FIGURES["lie-deriv"][name]
    model, x = networks.Circles(name == "broken"), networks.smooth(16)
    traced = trace(model, x, grid())
    found = lie_derivative(model, x, traced, grid(), "right")[traced.output]
    assert found == pytest.approx(said["mean square"], rel=1e-6, abs=1e-20)
    assert (found < 1e-20) == (name == "sound")
    report = check_equivariance(model, x, "translation")
    assert report.holds == (name == "sound")
    assert report[traced.output].lie["right"] == pytest.approx(said["mean square"], rel=1e-6, abs=1e-20)


def test_the_bilinear_shift_of_lie_deriv_accuses_the_sound_network_more() -> None:
    """This is why its published figures are not reproduced, but those of its formula."""
    key = "mean |.| by its bilinear shift, of half a width"
    assert FIGURES["lie-deriv"]["sound"][key] > FIGURES["lie-deriv"]["broken"][key] > 1.0


@EACH
def test_the_oracle_of_the_lie_derivative_is_the_formula(name: str) -> None:
    """A third way to eq. 4: differences of shifted answers, without any derivative of ours or theirs."""
    model, x, h = networks.Circles(name == "broken"), networks.smooth(16), 1e-4

    def back(t: float) -> Tensor:
        shift = torch.tensor([t], dtype=torch.float64)
        return ours.spectral_shift(model(ours.spectral_shift(x, shift)), -shift)

    with torch.no_grad():
        derivative = (back(h) - back(-h)) / (2 * h)
    said = FIGURES["lie-deriv"][name]
    assert float(derivative.square().mean()) == pytest.approx(said["mean square"], rel=1e-6, abs=1e-16)
    assert float(derivative.abs().mean()) == pytest.approx(said["mean |.|"], rel=1e-6, abs=1e-8)


@EACH
def test_eq_t(name: str) -> None:
    """EQ-T is the decibels of the mean square over the places that the shift leaves known, of a range of 2."""
    said = FIGURES["stylegan3"][name]["EQ-T"]
    model, x = networks.padded(name == "broken"), image(networks.waves(2, 1, 12, 12))
    shift = Affine(shift=(3.0, 2.0), boundary="zero")
    expected, answer = square(model, x, shift)
    known = measure.mask(shift, expected, grid())
    pair = (measure.masked(v, known, grid()) for v in (expected, answer))
    found = preset_figures(*pair, known.kept)["eq-t"]
    assert known.kept == pytest.approx(9 * 10 / 144)
    assert min(found, 1e6) == pytest.approx(said, abs=1e-6)
    report = check_equivariance(model, x, "translation", boundary="zero")
    assert report.holds == math.isinf(found) == (name == "sound")
    worst = report.presets["eq-t"]
    assert math.isinf(worst) if name == "sound" else 0 < worst < 40


def test_eq_r_is_the_same_of_a_turn() -> None:
    a, b = networks.waves(2, 3, 4, 4), networks.waves(2, 3, 4, 4, pitch=0.71)
    mse = float((a - b).square().mean())
    assert preset_figures(a, b)["eq-r"] == pytest.approx(20 * math.log10(2) - 10 * math.log10(mse), abs=1e-9)


@pytest.mark.parametrize("tool", ["escnn", "e3nn"])
def test_a_tool_that_is_installed_says_what_it_said(tool: str) -> None:
    pytest.importorskip(tool, exc_type=ImportError)
    assert alike(getattr(record, tool)(), FIGURES[tool])


def alike(one: Any, other: Any) -> bool:
    """Compare figures to 1e-6; versions may differ."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(v, other[k]) for k, v in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return isinstance(one, str) or one == pytest.approx(other, abs=1e-6)
