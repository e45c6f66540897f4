"""Claims of the lessons on vision transformers, codes and adversarial networks are true of the networks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from explorer.declare.states.interventions import parse_intervention
from explorer.network.opening.loading import load_model
from explorer.state.state import State
from models.generation.gan_densities import COLLAPSE, PLANE, by_hand
from models.layers.adversarial.losses import LOSSES
from tests.models.cards.lesson_frames import BROKEN, EXACT, LESSONS, answer, at, engine, error


def numbers(number: str, **changes: Any) -> dict[str, float]:
    """Return the figures that a network of densities draws."""
    found = at(number, **changes).squares[0].matrices
    return {name[2:]: float(v[0, 0]) for name, v in found.items() if name.startswith("= ")}


def test_lesson_64_a_shift_by_a_patch_is_exact_until_places_are_told() -> None:
    frame = at("64")
    assert all(m.cumulative is None or m.cumulative < EXACT for m in frame.squares[0].measures.values())
    assert error(at("64", "translate:1,0")) > BROKEN
    assert error(at("64", params={"positions": 0}), "head") > BROKEN


@pytest.mark.slow
def test_lesson_65_codes_are_drawn_with_noise_and_pictures_completed() -> None:
    plain, drawn = (at("65", params={"temperature": t}).squares[0] for t in (0.0, 2.0))
    assert np.abs(plain.fx - drawn.fx).max() > 0.5
    made = at("65", model="dalle", layer="", params={"rows": 3}).squares[0].layers
    assert "writer.next" in {layer.name for layer in made}


@pytest.mark.slow
def test_lesson_66_with_g_fixed_d_comes_to_its_optimum() -> None:
    both = numbers("66", params={"together": 200})
    alone = numbers("66", params={"together": 200, "d_alone": 300})
    assert alone["JSD"] == both["JSD"] and alone["|D − D*|"] < 0.6 * both["|D − D*|"]
    away = numbers("66", params={"together": 200, "d_alone": 300, "g_alone": 300})
    assert away["JSD"] > 1.5 * both["JSD"]
    network: Any = load_model(engine().cards["gan-line"])
    curves = network.drawing().curves
    inside = np.abs(curves["G(z)"] - 0) < 0.3  # between the two Gaussians
    assert inside.any() and curves["|dG/dz|"][inside].min() > 3 * np.median(curves["|dG/dz|"])


@pytest.mark.slow
def test_lesson_67_minimax_says_next_to_nothing_where_d_is_sure() -> None:
    mean = {}
    for rounds in (100, 500):
        drawing = by_hand(d_alone=rounds).drawing().curves
        mean[rounds] = [np.abs(drawing[f"gradient, {loss}"]).mean() for loss in LOSSES]
    assert mean[500][1] < 0.8 * mean[100][1] and mean[500][1] < 0.05 * mean[500][0] and mean[500][0] > mean[100][0]


def test_lesson_68_one_mode_is_made_and_d_has_fallen_behind() -> None:
    collapsed, sound = numbers("68"), numbers("68", model="gan-plane")
    assert collapsed["modes"] <= 2 and sound["modes"] == 8
    assert collapsed["|D − D*|"] > 3 * sound["|D − D*|"]
    assert error(at("68")) < EXACT


@pytest.mark.slow
def test_lesson_69_shortened_to_nothing_all_codes_make_one_face() -> None:
    assert error(at("69")) > BROKEN
    a, b = (
        at("69", params={"glasses": 1.0, "truncation": 0.0}, sample=s).squares[0].output for s in ("face-1", "face-3")
    )
    assert np.array_equal(np.asarray(a), np.asarray(b))
    sgan: Any = load_model(engine().cards["sgan"])
    with torch.no_grad():
        assert sgan(torch.zeros(1, 1, 29, 29)).shape == (1, 11)


@pytest.mark.slow
def test_lesson_98_there_and_back_is_near_and_moves_with_a_shift() -> None:
    shifted = at("98").squares[0]
    assert all(m.cumulative is None or m.cumulative < EXACT for m in shifted.measures.values())
    assert error(at("98", "rotate:90")) > BROKEN
    part: Any = shifted.part
    y, _back, missed = (station.of_x for station in part.stations)
    assert missed.mean() < 0.2 * np.abs(y - shifted.x).mean()
    other: Any = at("98", params={"direction": 1}, sample="outlined-8").squares[0].part
    assert (
        "filled" in other.told
        and other.stations[0].of_x.mean() > 1.1 * np.asarray(at("98", sample="outlined-8").squares[0].x).mean()
    )


@pytest.mark.slow
def test_lesson_99_the_second_stage_draws_what_the_first_cannot_hold() -> None:
    frame = at("99", params={"style": 2})
    part: Any = frame.squares[0].part
    rough, fine = (station.of_x for station in part.stations)
    assert rough.shape[-1] == 15 and fine.shape[-1] == 29
    grey = [float(((v > 0.2) & (v < 0.8)).sum() / (v > 0.2).sum()) for v in (rough, fine)]
    assert grey[1] < 0.6 * grey[0], "stripes are black and white at last"
    wide: Any = at("99", params={"spread": 1.5}).squares[0].part
    assert np.abs(wide.stations[1].of_x - fine).max() > 0.2
    assert frame.squares[0].latent is not None, "Samples has something to show"


@pytest.mark.parametrize("layer", ["generator", "discriminator"])
def test_a_frozen_half_is_drawn_without_densities(layer: str) -> None:
    """The densities run each half on other inputs, for which nothing is kept."""
    wanted = State(model="gan-line", sample="latents-1")
    frozen = answer(replace(wanted, interventions=(parse_intervention(f"{layer}:freeze"),))).squares[0]
    assert answer(wanted).squares[0].matrices and not frozen.matrices and frozen.interventions


def test_lesson_68_says_how_often_each_half_steps() -> None:
    text = LESSONS["68"].read_text(encoding="utf-8")
    words = {1: "one", 2: "two", 3: "three", 5: "five"}
    assert f"D makes {words[PLANE.d_steps]} steps for each {words[PLANE.g_steps]} of G" in text
    assert f"{words[COLLAPSE.g_steps]} steps of G for {words[COLLAPSE.d_steps]} of D" in text
