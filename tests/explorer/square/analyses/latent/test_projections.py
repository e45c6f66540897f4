"""Planes of codes: linear ones lead back, embeddings place what lies between examples, and what cannot be is said."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from explorer.declare.states.latent import LatentChoice, checked_latent, parse_latent
from explorer.square.analyses.latent.orbit import judged
from explorer.square.analyses.latent.projections import fitted, offered

CHANCE = np.random.default_rng(0)
LABELS = np.repeat(np.arange(4), 20)
CODES = CHANCE.normal(size=(80, 6)) * [5, 3, 1, 1, 0.5, 0.1] + 8 * np.eye(6)[LABELS]
ONES = np.ones(6)


@pytest.mark.parametrize("name", ["axes", "turning", "pca", "lda"])
def test_a_linear_plane_leads_back_to_the_code(name: str) -> None:
    arrow = np.array([[1.0, 0, -1, 0, 0, 0], [0, 1.0, 0, -1, 0, 0]])
    plane = fitted(name, CODES, LABELS, ONES, arrow, 0)
    assert plane.linear and plane.points.shape == (80, 2)
    assert np.allclose(plane.forward(CODES), plane.points)
    at = plane.points[:3] + 1.0
    for code, place in zip(plane.back(at, CODES[7]), at):
        assert np.allclose(plane.forward(code[None])[0], place)
    assert np.allclose(plane.back(plane.points[7:8], CODES[7])[0], CODES[7]), "the rest of the code is kept"


@pytest.mark.parametrize("name", ["tsne", "isomap", "lle", "x-tsne"])
def test_an_embedding_places_examples_where_they_are_and_decodes_the_nearest(name: str) -> None:
    plane = fitted(name, CODES, LABELS, ONES, None, 0)
    assert not plane.linear and np.isfinite(plane.points).all()
    assert np.allclose(plane.forward(CODES[:5]), plane.points[:5], atol=1e-4 * np.ptp(plane.points))
    assert np.array_equal(plane.back(plane.points[3:4], CODES[0])[0], CODES[3])


def test_pca_is_that_of_scikit_learn_and_lda_parts_classes() -> None:
    from sklearn.decomposition import PCA

    plane = fitted("pca", CODES, LABELS, ONES, None, 0)
    wanted = PCA(2).fit(CODES).components_
    found = plane.forward(np.eye(6)).T
    assert np.allclose(np.abs((found * wanted).sum(1)), 1.0)
    within = {}
    for name in ("pca", "lda"):
        points = fitted(name, CODES, LABELS, ONES, None, 0).points
        means = np.stack([points[LABELS == k].mean(0) for k in range(4)])
        within[name] = ((points - means[LABELS]) ** 2).sum() / ((means[LABELS] - points.mean(0)) ** 2).sum()
    assert within["lda"] < within["pca"]


def test_axes_are_those_that_say_most() -> None:
    plane = fitted("axes", CODES, LABELS, np.array([0.0, 2.0, 0.0, 0.0, 3.0, 0.0]), None, 0)
    assert plane.axes == ("z2", "z5") and np.array_equal(plane.points, CODES[:, [1, 4]])


def test_too_few_classes_or_examples_are_said() -> None:
    with pytest.raises(ValueError, match="three classes"):
        fitted("lda", CODES, LABELS % 2, ONES, None, 0)
    with pytest.raises(ValueError, match="three examples"):
        fitted("tsne", CODES[:2], LABELS[:2], ONES, None, 0)


@pytest.mark.parametrize("name", ["tsne", "isomap", "lle", "lda", "x-tsne"])
@pytest.mark.parametrize("value", [0.0, 1.0, -1e300])
def test_examples_that_are_all_the_same_are_said_to_be(name: str, value: float) -> None:
    """t-SNE of scikit-learn recurses until the process ends there."""
    with pytest.raises(ValueError, match="all 80 examples are the same"):
        fitted(name, np.full_like(CODES, value), LABELS, ONES, None, 0)


@pytest.mark.parametrize("name", ["tsne", "isomap", "lle", "lda"])
@pytest.mark.parametrize("unit", [2.0**-660, 2.0**660])
def test_a_plane_is_the_same_in_another_unit(name: str, unit: float) -> None:
    plane, other = (fitted(name, k * CODES, LABELS, ONES, None, 0) for k in (1.0, unit))
    own = {"isomap": unit}.get(name, 1.0)
    assert np.array_equal(other.points, own * plane.points)
    assert np.allclose(other.forward(unit * CODES[:5]), own * plane.forward(CODES[:5]), rtol=1e-12, atol=0)
    at = plane.points[3:4]
    assert np.allclose(
        other.back(own * at, unit * CODES[0]), unit * plane.back(at, CODES[0]), rtol=1e-9, atol=1e-9 * unit
    )


def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "umap", None)
    assert "umap" in offered(False, True)
    with pytest.raises(ValueError, match=r"pip install umap-learn"):
        fitted("umap", CODES, LABELS, ONES, None, 0)


def test_a_code_that_is_no_number_is_named() -> None:
    codes = CODES.copy()
    codes[4, 1] = np.inf
    with pytest.raises(ValueError, match="code of example 4 holds values that are no finite"):
        fitted("pca", codes, LABELS, ONES, None, 0)


def test_what_is_offered_is_what_can_be() -> None:
    assert "turning" not in offered(False, True) and "turning" in offered(True, True)
    assert not any(name.startswith("x-") for name in offered(False, False))


@pytest.mark.parametrize("text", ["", "pca", "tsne@0.5,-1.25", "x-lda>17", "axes@0,0>3", "@1,2"])
def test_a_choice_is_written_as_it_is_read(text: str) -> None:
    assert str(parse_latent(text)) == text


@pytest.mark.parametrize("text", ["pac", "pca@1", "pca@nan,1", "pca>x", "pca@1,2,3", "PCA"])
def test_a_wrong_choice_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(ValueError) as error:
        checked_latent(text)
    assert "\n" not in str(error.value) and len(str(error.value)) < 300
    assert LatentChoice().at is None


# the kind of a way ----------------------------------------------------------------------------------------------
ANGLES = np.arange(48) * 2 * np.pi / 48
EXACT = np.arange(48) % 12 == 0
CIRCLE = np.stack([np.cos(ANGLES), np.sin(ANGLES)], 1)
NOWHERE = np.full((48, 2), np.nan)


def kind(codes: np.ndarray, wanted: np.ndarray) -> str:
    return judged(codes, wanted, EXACT, CODES[:, :2], True, "point regular(C4)")[0]


def test_the_kind_of_a_way_is_told() -> None:
    by_field = np.where(EXACT[:, None], CIRCLE, np.nan)
    assert kind(CIRCLE, by_field) == "rotates"
    assert kind(CIRCLE + 0.1 * np.sin(4 * ANGLES)[:, None] * ~EXACT[:, None], by_field) == "rotates"
    still = np.tile(CIRCLE[:1], (48, 1))
    assert kind(still, NOWHERE) == "stands still"
    assert kind(CIRCLE, NOWHERE) == "wanders"
    assert kind(2 * CIRCLE[::-1] + 1, by_field) == "wanders", "a law that is broken is none"
    jump = np.where(np.arange(48)[:, None] < 20, 0.1 * CIRCLE, 0.1 * CIRCLE + 20)
    assert kind(jump, NOWHERE) == "jumps"
    calm = np.tile(CIRCLE[:1], (48, 1)) + 0.5 * np.sin(4 * ANGLES / 2)[:, None] ** 2 * ~EXACT[:, None]
    assert kind(calm, np.where(EXACT[:, None], still, np.nan)) == "stands still"
