"""Row L3 and LSGAN: divergences by quadrature, the optimum of D, what G is told, and what shipped pairs do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.stats import norm

from explorer.declare.card import Card
from explorer.network.opening.loading import load_model
from explorer.work.training.course import Course, driven_by
from models.generation import gan_densities, lsgan
from models.generation.gan_densities import build_line, by_hand
from models.layers.adversarial.densities import Densities, matrix
from models.layers.adversarial.losses import LOSSES, MINIMAX, SQUARES, generator_loss
from models.layers.adversarial.quadrature import RING, TWO, best, jsd, kl, pearson, pushed, value
from models.layers.seeded import seeded
from models.training.adversarial.densities import Recipe, train
from models.training.adversarial.in_turn import D_ALONE, G_ALONE

CARDS: dict[str, Card] = {card.name: card for card in (*gan_densities.CARD, lsgan.CARD)}
STATED = {**gan_densities.FIGURES, "lsgan": lsgan.FIGURES}
EDGES = np.linspace(-12, 12, 4801)
X, CELL = 0.5 * (EDGES[1:] + EDGES[:-1]), float(EDGES[1] - EDGES[0])


def test_kl_of_two_gaussians_is_the_closed_form() -> None:
    p, q = norm.pdf(X, 0.3, 0.8), norm.pdf(X, -0.5, 1.1)
    closed = math.log(1.1 / 0.8) + (0.8**2 + 0.8**2) / (2 * 1.1**2) - 0.5
    assert kl(p, q, CELL) == pytest.approx(closed, abs=1e-9)


def test_jsd_is_the_adaptive_integral_and_between_its_bounds() -> None:
    a, b = norm(0.3, 0.8), norm(-0.5, 1.1)

    def integrand(x: float) -> float:
        p, q = a.pdf(x), b.pdf(x)
        return 0.5 * (p * math.log(2 * p / (p + q)) + q * math.log(2 * q / (p + q)))

    wanted = quad(integrand, -12, 12, epsabs=1e-13, epsrel=1e-13, limit=400)[0]
    assert jsd(a.pdf(X), b.pdf(X), CELL) == pytest.approx(wanted, abs=1e-10)
    assert jsd(a.pdf(X), a.pdf(X), CELL) == 0
    assert jsd(norm.pdf(X, -6, 0.3), norm.pdf(X, 6, 0.3), CELL) == pytest.approx(math.log(2), abs=1e-9)


def test_at_the_optimum_the_value_is_two_jsd_less_log_four_and_anywhere_else_less() -> None:
    p, q = norm.pdf(X, 0.3, 0.8), norm.pdf(X, -0.5, 1.1)
    top = value(best(p, q), p, q, CELL)
    assert top == pytest.approx(2 * jsd(p, q, CELL) - math.log(4), abs=1e-9)
    for other in (0.5 + 0 * X, np.clip(best(p, q) + 0.05 * np.sin(X), 0.01, 0.99)):
        assert value(other, p, q, CELL) < top - 1e-4


def test_a_linear_generator_makes_an_even_density_and_a_fold_adds_up() -> None:
    z = np.linspace(-1, 1, 4001)
    edges = np.linspace(-3, 3, 241)
    even = pushed(z, 2 * z, edges)
    middle = 0.5 * (edges[1:] + edges[:-1])
    np.testing.assert_allclose(even[np.abs(middle) < 1.9], 0.25, rtol=1e-9)
    folded = pushed(z, np.abs(z), edges)
    np.testing.assert_allclose(folded[(middle > 0.05) & (middle < 0.95)], 1.0, rtol=1e-9)
    assert float(folded.sum() * 0.025) == pytest.approx(1.0)


def test_data_have_their_density() -> None:
    for data in (TWO, RING):
        side = np.linspace(-4, 4, 401)
        at = np.stack(np.meshgrid(*[side] * len(data.middles[0])), -1)
        assert float(data.density(at).sum() * (side[1] - side[0]) ** at.shape[-1]) == pytest.approx(1, abs=1e-6)


def test_with_g_fixed_d_comes_to_its_optimum_and_g_stands_still() -> None:
    before, after = by_hand(together=20), by_hand(together=20, d_alone=200)
    assert all(
        torch.equal(a, b) for a, b in zip(before.generator.parameters(), after.generator.parameters(), strict=True)
    )
    assert after.figures()["|D − D*|"] < 0.5 * before.figures()["|D − D*|"]


def shipped(name: str) -> Densities:
    network = load_model(CARDS[name])
    assert isinstance(network, Densities)
    return network


@pytest.mark.parametrize("name", STATED)
def test_shipped_pairs_do_what_the_card_says(name: str) -> None:
    found = shipped(name).figures()
    for key, stated in STATED[name].items():
        assert found[key] == pytest.approx(stated, rel=0.01, abs=0.002), key


def test_a_trained_pair_lies_on_the_data_and_a_collapsed_one_does_not() -> None:
    line, plane, collapse = (shipped(name).figures() for name in ("gan-line", "gan-plane", "gan-collapse"))
    assert line["JSD"] < 0.04 and line["|D − D*|"] < 0.05
    assert plane["modes"] == 8 and collapse["modes"] <= 3 and collapse["JSD"] > 2 * plane["JSD"]


def test_least_squares_are_the_pearson_divergence_at_their_optimum() -> None:
    p, q = norm.pdf(X, 0.3, 0.8), norm.pdf(X, -0.5, 1.1)
    score = (p - q) / (p + q)  # of a = -1, b = 1
    assert float(((p + q) * score**2).sum() * CELL) == pytest.approx(pearson(p, q, CELL), rel=1e-12)
    for other in (0.9 * score, score + 0.05):  # it is the least that D can pay

        def cost(d: Any) -> float:
            return float((0.5 * p * (d - 1) ** 2 + 0.5 * q * (d + 1) ** 2).sum() * CELL)

        assert cost(other) > cost(score) + 1e-4


def test_far_on_the_right_side_least_squares_pull_back_and_the_others_do_not() -> None:
    score = torch.tensor([4.0], requires_grad=True)
    (squares,) = torch.autograd.grad(generator_loss(score, SQUARES), score)
    (other,) = torch.autograd.grad(generator_loss(score, LOSSES[0]), score)
    assert float(squares) == 4.0 and -0.02 < float(other) < 0


def test_where_d_is_sure_minimax_tells_g_nothing() -> None:
    drawing = by_hand(d_alone=300).drawing().curves
    sure = drawing["D"][np.searchsorted(drawing["x"], drawing["G(z)"])] < 0.05
    told = [np.abs(drawing[f"gradient, {loss}"])[sure].mean() for loss in LOSSES]
    assert sure.any() and told[1] < 0.1 * told[0]


def test_the_gradient_that_is_drawn_is_that_of_one_value_of_the_loss() -> None:
    network = seeded(build_line, 3).double()
    drawing, x = network.drawing().curves, 0.7
    near = int(np.abs(drawing["G(z)"] - x).argmin())
    at, h = drawing["G(z)"][near], 1e-6
    for loss in LOSSES:
        either = [generator_loss(network.discriminator(torch.tensor([[at + s]])), loss).item() for s in (-h, h)]
        assert (either[1] - either[0]) / (2 * h) == pytest.approx(drawing[f"gradient, {loss}"][near], rel=1e-5)


@pytest.mark.parametrize("name", ["gan-line", "gan-plane"])
def test_a_discriminator_that_is_silenced_pulls_nowhere(name: str) -> None:
    """A layer set to zero cuts the score off x, and drawing it ended in torch's words about unused tensors."""
    network = shipped(name)
    network.discriminator[0].register_forward_hook(lambda module, given, out: torch.zeros_like(out))
    curves = network.drawing().curves
    assert np.ptp(curves["D"]) == 0
    drawn = [values for title, values in curves.items() if title.startswith(("gradient, ", "pull, "))]
    assert len(drawn) > 1 and not any(values.any() for values in drawn)


def test_a_half_that_is_fixed_by_hand_stands_still_while_the_other_learns() -> None:
    kept: list[dict[str, torch.Tensor]] = []

    class Hand:
        def begun(self, course: Course) -> None:
            assert set(course.named_losses) == {*LOSSES, D_ALONE, G_ALONE}

        def stepped(self, course: Course) -> None:
            if course.at % 10 == 0:
                kept.append({k: v.clone() for k, v in course.network.state_dict().items()})
                course.choose({10: D_ALONE, 20: G_ALONE, 30: MINIMAX}[course.at])
                course.over = course.at == 30

    with driven_by(Hand()):
        train(build_line, Recipe(), epochs=1)

    def moved(a: int, b: int) -> set[str]:
        return {name.partition(".")[0] for name in kept[a] if not torch.equal(kept[a][name], kept[b][name])}

    assert moved(0, 1) == {"discriminator"} and moved(1, 2) == {"generator"}


def test_the_loss_that_is_told_is_that_of_the_half_that_learns() -> None:
    """A D that stands still loses ever more against a G that wins, which looked like a divergence."""
    told: dict[str, list[Mapping[str, float]]] = {D_ALONE: [], G_ALONE: []}

    class Hand:
        def begun(self, course: Course) -> None:
            course.choose(D_ALONE)

        def stepped(self, course: Course) -> None:
            told[course.loss_name].append(course.losses)
            course.choose(D_ALONE if course.at < 5 else G_ALONE)
            course.over = course.at == 10

    with driven_by(Hand()):
        train(build_line, Recipe(), epochs=1)
    assert all(losses["loss"] == losses["D"] for losses in told[D_ALONE])
    assert told[G_ALONE] and all(losses["loss"] == losses["G"] for losses in told[G_ALONE])


@pytest.mark.slow
def test_training_comes_nearer_to_the_data() -> None:
    before = seeded(build_line, 0).figures()["JSD"]
    assert train(build_line, Recipe(), epochs=4)[1]["JSD"] < 0.7 * before


def test_what_is_drawn_of_a_plane() -> None:
    with torch.inference_mode():  # as frames are made
        found = matrix(shipped("lsgan"))
    assert {"p_data", "p_g", "D", "D*", "= |D − D*|", "= modes"} <= set(found)
    cell = (6.0 / 60) ** 2
    assert float(found["p_data"].sum() * cell) == pytest.approx(1, abs=1e-3)
    assert float(found["p_g"].sum() * cell) == pytest.approx(1, abs=0.02)
    with pytest.raises(AssertionError):
        matrix(torch.nn.Linear(1, 1))


@pytest.mark.parametrize("far", [5.0, 40.0])
@pytest.mark.parametrize("kind", ["gan-line", "gan-plane", "lsgan"])
def test_a_generator_that_has_run_away_is_far_from_the_data(kind: str, far: float) -> None:
    """A part of p_g beyond what is drawn counted for nothing: KL(g, data) was 0, and "JSD from D" more than JSD."""
    network = CARDS[kind].build()
    assert isinstance(network, Densities)
    with torch.no_grad():
        for layer in network.generator:
            for value in layer.parameters():
                value.mul_(0.01)
        network.generator[-1].bias.fill_(far)
    figures = network.figures()
    if kind == "lsgan":
        assert figures["Pearson"] == pytest.approx(2.0, abs=1e-3), "nothing in common"
    else:
        assert figures["JSD"] == pytest.approx(math.log(2), abs=1e-3) and figures["KL(g, data)"] > 10
        assert figures["JSD from D"] <= figures["JSD"]
    if kind == "gan-line" and far < 12:
        curves = network.drawing().curves
        width = curves["x"][1] - curves["x"][0]
        assert curves["x"][-1] > far and (curves["p_g"] * width).sum() == pytest.approx(1, abs=1e-3)
