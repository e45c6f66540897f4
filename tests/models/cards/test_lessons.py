"""Lessons in resources/lessons show what exists and claim what is true of the shipped networks.

Each lesson has a test that bears its number. "At rounding" means a relative error below EXACT, "broken" one above
BROKEN; between the two nothing is claimed.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from explorer.declare.elements import transforms
from explorer.declare.groups import group
from explorer.network.opening.loading import card_source
from explorer.square.analyses.orbits import orbit as curves
from explorer.square.frame import OrbitCurve, Square
from explorer.state.resolve import resolve
from explorer.state.session import load_session
from models.images.dense_to_conv import parameter_counts
from tests.models.cards.lesson_frames import (
    BROKEN,
    EXACT,
    LESSONS,
    answer,
    at,
    catalogue,
    distance,
    engine,
    error,
    guilty,
    lesson,
    local,
    measured,
)

TESTS = Path(__file__).resolve().parents[1]

each_lesson = pytest.mark.parametrize("number", LESSONS)


def digit(square: Square, moved: bool = False) -> str:
    """Return what the network reads."""
    return square.labels[int(np.argmax(square.output_g if moved else square.output))]


def orbit(number: str, count: int = 16) -> list[OrbitCurve]:
    """Return the curves of a lesson at `count` places, that of its model first."""
    state = replace(lesson(number), device="cpu")
    prepared = [engine().prepared(state, name) for name in filter(None, [state.model, state.compare])]
    return [list(curves(p, state, count=count))[-1] for p in prepared]


# what every lesson has -------------------------------------------------------------------------------------


def test_every_lesson_has_a_test_of_its_claims() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in sorted(TESTS.rglob("test_*lessons.py")))
    assert set(re.findall(r"^def test_lesson_(\d\d)_", source, re.MULTILINE)) == set(LESSONS)


@each_lesson
def test_a_lesson_shows_what_it_asks_for(number: str) -> None:
    state, frame = lesson(number), answer(lesson(number))
    assert state.model in engine().cards and (not state.compare or state.compare in engine().cards)
    assert [square.model for square in frame.squares] == [state.model, *filter(None, [state.compare])]
    assert frame.squares[0].layer.name == state.layer
    assert frame.state.sample and frame.sample_title
    assert resolve(state, catalogue(), frame.squares[0].layers) == state, "the window would change the lesson"
    if state.pixel is not None:
        assert frame.squares[0].field_of_view is not None


@each_lesson
def test_layers_controls_and_choices_in_a_lesson_exist(number: str) -> None:
    """Names in italics are layers, choices, models or panels; names in bold are controls."""
    text, state = load_session(LESSONS[number]).written, lesson(number)
    cards = [engine().cards[name] for name in filter(None, [state.model, state.compare])]
    squares = list(answer(state).squares)
    for param in cards[0].params:
        squares += at(number, params={param.name: param.minimum}).squares  # a choice may exchange layers
    known = {layer.name for square in squares for layer in square.layers}
    # of another model that a step opens; doing every step in the window shows whether it is there
    asked = (pattern.get("layer") for task in load_session(LESSONS[number]).tasks for pattern in task.patterns)
    known |= {name for name in asked if isinstance(name, str)}
    known |= {name.rpartition(".")[2] for name in known} | set(engine().cards)
    known |= {card.title for card in engine().cards.values()}
    titles = {"Do this", "Look at"}
    for param in [*cards[0].params, *(p for t in transforms().values() for p in t.params)]:
        titles.add(param.title)
        known |= set(param.choices)
    known |= {title.rpartition(":")[0] or title for title in squares[0].matrices} | set(squares[0].matrices)
    # words of the measurement, field types, and plain emphasis
    known |= {"chance", "floor", "exact", "local", "cumulative", "compared", "holds", "regular(D4)", "scalar"}
    # a field type, the row of what is written, and what a matrix may be set beside
    known |= {"tangent(0,1)", "answer", "adjacency of ρ(g) x"}
    known |= {"invariant", "difference", "equivariant", "plain", "every", "and", "another", "/2", "/4", "/8", "β"}
    for word in re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)", text):
        assert word in known or word[0].isupper(), f"{word!r} is nowhere in the window"
    for words in re.findall(r"\*\*([^*\n]+)\*\*", text):
        assert words in titles, f"{words!r} is no control"


# From a dense layer to a convolution -----------------------------------------------------------------------


def test_lesson_01_edge_detectors_follow_shifts_and_not_turns() -> None:
    assert error(at("01")) < EXACT and error(at("01", "translate:-4,1")) < EXACT
    assert error(at("01", "rotate:90")) > BROKEN
    assert at("01").squares[0].fx.shape[0] == 4


def test_lesson_02_a_dense_layer_answers_a_shifted_picture_like_another_one() -> None:
    assert parameter_counts(1000, 1000, 1)["dense W"] == 10**12
    frame = at("02")
    assert frame.squares[0].x.shape == (1, 11, 11)
    assert [m.shape for m in frame.squares[0].matrices.values()] == [(121, 121)]
    for shift in ("translate:1", "translate:3,2", "translate:0,-2"):
        assert error(at("02", shift)) > 5 * BROKEN
    chance = measured(frame).chance
    assert chance is not None and 0.5 * chance < error(frame)


def test_lesson_03_only_shared_weights_commute() -> None:
    errors = [error(at("03", params={"sharing": value})) for value in (0.0, 0.25, 0.5, 0.75, 0.95, 1.0)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < EXACT < BROKEN < errors[-2]
    assert measured(at("03", params={"sharing": 0.95})).verdict == "broken"


def test_lesson_04_one_filter_serves_all_places() -> None:
    assert parameter_counts(1000, 1000, 1, exact=True)["shift-invariant V"] == (2 * 1000 - 1) ** 2 == 3_996_001
    assert parameter_counts(1000, 1000, 1)["shift-invariant V"] == 4 * 10**6
    frame = at("04")
    whole, table = frame.squares[0].matrices.values()
    assert whole.size == 14_641 and table.size == 121
    rows = whole.reshape(11, 11, 11, 11)  # hidden (i, j), input (k, l)
    assert np.array_equal(rows[:, 1:], np.roll(rows, 1, axis=3)[:, :-1])
    for shift in ("translate:1", "translate:-5,4", "translate:3,2"):
        assert error(at("04", shift)) < EXACT
    assert error(at("04", "translate:3,2+rotate:-90")) > BROKEN
    assert frame.squares[0].layer.params == 121 + 1  # and the bias


def test_lesson_05_a_part_of_a_shared_table_is_still_shared() -> None:
    assert parameter_counts(1000, 1000, 10)["local Delta"] == 400
    assert parameter_counts(1000, 1000, 10, exact=True)["local Delta"] == 441
    for delta in range(6):
        frame = at("05", params={"delta": delta})
        assert error(frame) < EXACT
        seen = frame.squares[0].field_of_view
        assert seen is not None and np.count_nonzero(seen) == (2 * delta + 1) ** 2


def test_lesson_06_a_border_breaks_the_law_along_a_seam() -> None:
    frame, delta = at("06"), 2
    assert error(frame) > BROKEN
    difference = frame.squares[0].difference
    assert difference is not None
    inside = difference[0, delta:-delta, delta:-delta]
    assert np.abs(inside).max() < 0.05 * np.abs(difference).max()
    beside = at("06", "translate:3,2,zero")
    assert error(beside) < EXACT and 0 < measured(beside).kept < 1
    assert error(at("06", params={"boundary": 0})) < EXACT


def test_lesson_07_channels_move_along_one_by_one() -> None:
    frame = at("07")
    square = frame.squares[0]
    assert square.fx.shape[0] == 4
    assert next(iter(square.matrices.values())).shape == (484, 121) and 484 * 121 == 58_564
    assert square.layer.params == 4 * 5**2 + 4 == 104
    channels = measured(frame).channels
    assert channels is not None and channels.max() < EXACT
    assert square.filters is not None and len(square.filters) == 4


# 5.1 Convolutional neural networks --------------------------------------------------------------------------


def test_lesson_08_nine_moved_copies_make_a_convolution() -> None:
    frame = at("08")
    assert all(error(frame, layer.name) == 0 for layer in frame.squares[0].layers if layer.leaf)
    places = {"nw": (1, 1), "n": (1, 0), "ne": (1, -1), "w": (0, 1), "middle": (0, 0), "se": (-1, -1)}
    for name, shift in places.items():
        square = at("08", layer=f"generators.peak_{name}").squares[0]
        assert np.array_equal(square.fx, np.roll(square.x, shift, axis=(1, 2)))
    assert frame.squares[0].fx.shape[0] == 4
    assert next(iter(frame.squares[0].matrices.values())).shape == (4, 9)


def test_lesson_09_the_bases_agree_and_tell_different_things() -> None:
    one, other = at("09", params={"basis": 0}).squares[0], at("09").squares[0]
    assert distance(one.fx, other.fx) < 1e-6
    alpha, beta = list(other.matrices.values())[:2]
    mean = np.eye(9)[4]
    np.testing.assert_allclose(beta[0], mean, atol=1e-6)  # the blur
    assert abs(beta[1, 4]) < 1e-6 < np.abs(beta[1]).max()  # the edge
    assert np.abs(alpha[0]).min() > 0.1
    assert error(at("09")) < EXACT


def test_lesson_10_maps_shift_by_less_on_coarser_grids() -> None:
    frame = at("10")
    square = frame.squares[0]
    fields = {layer.name: layer.field for layer in square.layers}
    for k, spacing in ((1, 2), (2, 4), (3, 8)):
        assert fields[f"block{k}.pool"].endswith(f"/{spacing}")
        here = at("10", layer=f"block{k}.pool").squares[0]
        assert distance(here.f_gx, np.roll(here.fx, 8 // spacing, axis=2)) < EXACT
    assert all(error(frame, layer.name) < EXACT for layer in square.layers)
    np.testing.assert_allclose(square.output, square.output_g, atol=1e-5)


def test_lesson_11_smoothing_first_makes_the_smallest_error() -> None:
    frame = at("11")
    for name in ("block1.conv", "block1.relu"):
        assert error(frame, name) < EXACT
    assert measured(frame, "block1.pool").verdict == "no law"
    strided, largest, smooth = (error(at("11", params={"pooling": k})) for k in (2, 0, 1))
    assert strided > largest > smooth > EXACT
    for shift in (8, 16, -8):
        assert error(at("11", f"translate:{shift}")) < EXACT
    for shift, layer in ((2, "block1.pool"), (4, "block2.pool")):
        assert error(at("11", f"translate:{shift}"), layer) < EXACT
        assert error(at("11", f"translate:{shift // 2}"), layer) > 1e-3


def test_lesson_12_flattening_loses_what_the_blocks_have_kept() -> None:
    frame, further = at("12"), at("12", "translate:8")
    for which in range(2):
        assert error(frame, "block2.pool", which) < EXACT
        assert measured(frame, "block3.pool", which).verdict == "no law"
    assert [digit(square) for square in frame.squares] == ["8", "8"]
    pooled, flattened = (digit(square, moved=True) for square in frame.squares)
    assert pooled == "8" != flattened
    assert error(further) < EXACT
    assert error(further, which=1) > error(frame, which=1) > BROKEN
    assert error(at("12", params={"pooling": 1})) < EXACT
    assert guilty(further.squares[1]) == ["head.hidden"] and not guilty(further.squares[0])


def test_lesson_13_a_plain_network_forgets_the_picture() -> None:
    plain, residual = at("13"), at("13", params={"kind": 0})
    assert all(m.cumulative is not None and m.cumulative < EXACT for m in plain.squares[0].measures.values())
    assert error(residual) < EXACT

    def variation(maps: NDArray[Any]) -> float:
        return float(np.linalg.norm(maps - maps.mean((1, 2), keepdims=True)) / np.linalg.norm(maps))

    assert variation(plain.squares[0].fx) < 0.01 < 0.1 < variation(residual.squares[0].fx)
    chance = [measured(plain, f"steps.{k}").chance or 0.0 for k in range(8)]
    assert chance == sorted(chance, reverse=True) and chance[-1] < 0.01
    assert (measured(residual).chance or 0.0) > BROKEN


def test_lesson_14_halving_the_step_halves_the_error() -> None:
    def state(step: float, depth: int) -> NDArray[Any]:
        return at("14", params={"step": step, "depth": depth}).squares[0].fx

    fine = state(0.1, 20)
    off = [distance(state(step, depth), fine) for step, depth in ((1.0, 2), (0.5, 4), (0.25, 8))]
    assert [round(100 * value) for value in off] == [6, 3, 1]
    assert distance(state(0.5, 8), state(0.5, 4)) > 2 * off[1]
    assert error(at("14")) < EXACT


def test_lesson_15_what_is_averaged_over_decides_what_is_forgotten() -> None:
    assert guilty(at("15").squares[0]) == ["affine1", "affine2", "affine3"]
    for norm in range(4):
        frame = at("15", params={"norm": norm})
        assert all(m.cumulative is not None and m.cumulative < EXACT for m in frame.squares[0].measures.values())
    batch, instance = (at("15", "brightness:2", params={"norm": norm}) for norm in (0, 2))
    assert error(instance, "conv1") > BROKEN and error(instance, "norm1") < 0.01
    assert error(batch, "norm1") > BROKEN


@pytest.mark.slow
def test_lesson_16_taught_nearly_built_in_exactly() -> None:
    frame = at("16")
    assert error(frame, "conv1") > BROKEN and error(frame, "head") > BROKEN
    assert all(m.cumulative is not None and m.cumulative < EXACT for m in frame.squares[1].measures.values())
    for card in ("augmented-cnn", "d4-cnn"):
        weights = sum(p.numel() for p in engine().cards[card].build().parameters())
        assert round(weights, -4) == 30_000
    taught, built = orbit("16")
    quarter = taught.exact & (taught.values != 0)
    between = ~taught.exact
    assert taught.errors["head"][quarter].min() > BROKEN
    assert built.errors["head"][quarter].max() < EXACT
    assert taught.errors["head"][between].mean() < built.errors["head"][between].mean()


# 5.2 Group-equivariant CNNs ---------------------------------------------------------------------------------


def test_lesson_17_a_function_on_the_group_has_eight_maps_a_filter() -> None:
    for element in ("rotate:90", "rotate:-90", "reflect", "rotate:90+reflect"):
        assert error(at("17", element)) < EXACT
    square = at("17").squares[0]
    assert square.fx.shape[0] == 8 * group("D4").order == 64 and square.layer.field == "grid regular(D4)"
    assert distance(square.f_gx, square.fx) > BROKEN
    views = [at("17", channel=c, pixel=(14, 14)).squares[0].field_of_view for c in range(8)]
    assert all(view is not None and np.count_nonzero(view) <= 25 for view in views)
    assert all(view is not None and not view[:12].any() and not view[17:].any() for view in views)


def test_lesson_18_copies_are_turned_and_their_inputs_trade_places() -> None:
    lift = at("18").squares[0]
    assert lift.filters is not None and lift.filter_columns == 8
    assert [label.split(" · ")[1] for label in lift.filter_labels[:8]] == list(group("D4").labels)
    for row in range(8):
        first, *copies = lift.filters[8 * row : 8 * row + 8]
        for h, copy in enumerate(copies, start=1):
            np.testing.assert_array_equal(copy, turned(first, h))
    deep = next(m for title, m in lift.matrices.items() if title.startswith("conv2"))
    filters = np.stack([[deep[4 * h :, 4 * k :][:3, :3] for k in range(8)] for h in range(8)])
    for h in range(8):
        for k in range(8):
            source = group("D4").compose(group("D4").inverse(h), k)
            np.testing.assert_array_equal(filters[h, k], turned(filters[0, source], h))
    assert "def transformed_indices" in card_source(engine().card("d4-cnn"))


def turned(picture: NDArray[Any], h: int) -> NDArray[Any]:
    """Apply element h of D4 to a picture: h // 4 mirrors, then h % 4 quarter turns."""
    return np.rot90(picture[:, ::-1] if h >= 4 else picture, h % 4)


def test_lesson_19_turning_the_maps_without_permuting_them_would_not_do() -> None:
    for element in ("rotate:90", "reflect", "rotate:180"):
        assert error(at("19", element)) < EXACT
    square = at("19").squares[0]
    only_turned = np.rot90(square.fx, 1, (1, 2))
    assert distance(only_turned, square.f_gx) > BROKEN
    assert square.rho_fx is not None and distance(square.rho_fx, square.f_gx) < EXACT
    blocks, answers = only_turned.reshape(8, 8, 29, 29), square.f_gx.reshape(8, 8, 29, 29)
    r90 = group("D4").labels.index("r90")
    assert distance(answers[:, group("D4").compose(r90, 0)], blocks[:, 0]) < EXACT
    back = at("19", untransform=True).squares[0]
    assert back.back is not None and distance(back.back, back.fx) < EXACT
    assert {group("D4").compose(4, h) // 4 for h in range(4)} == {1}  # a mirror exchanges without and with m


def test_lesson_20_what_is_pooled_is_invariant() -> None:
    fields = {layer.name: layer.field for layer in at("20").squares[0].layers}
    assert fields["relu3"].startswith("grid regular(D4)") and fields["group_pool"].startswith("grid scalar")
    assert fields["global_pool"] == fields["head"] == "invariant"
    for element in ("rotate:90", "rotate:180", "reflect", "rotate:90+reflect"):
        assert error(at("20", element), "head") < EXACT
    assert error(at("20", "translate:1"), "head") > EXACT
    assert error(at("20", "rotate:45"), "head") > BROKEN


def test_lesson_21_the_convolutions_make_the_error_and_the_rest_inherits_it() -> None:
    frame = at("21")
    counted = [sum(p.numel() for p in engine().cards[n].build().parameters()) for n in ("plain-cnn", "d4-cnn")]
    assert counted == [31_362, 30_180]
    assert guilty(frame.squares[1]) == ["conv1", "conv2", "conv3"] and not guilty(frame.squares[0])
    for turns in ("rotate:90", "rotate:180", "rotate:-90"):
        equivariant, plain = at("21", turns).squares
        assert np.abs(equivariant.output_g - equivariant.output).max() < EXACT
        assert np.abs(plain.output_g - plain.output).max() > BROKEN
    for which in range(2):
        assert error(at("21", "rotate:45"), "head", which) > BROKEN


def test_lesson_22_c4_has_no_mirrored_orientations() -> None:
    frame = at("22")
    upper, lower = frame.squares
    assert upper.rho_fx is None and "mirror" in upper.no_action
    for name in ("lift", "relu1", "relu3"):
        assert measured(frame, name).cumulative is None and measured(frame, name).verdict == "no law"
    assert error(frame, "group_pool") > BROKEN
    assert all(m.cumulative is not None and m.cumulative < EXACT for m in lower.measures.values())
    turned_by = at("22", "rotate:-90")
    for which in range(2):
        assert error(turned_by, "head", which) < EXACT
    assert [square.fx.shape[0] // group(square.group).order for square in frame.squares] == [12, 8]


@pytest.mark.parametrize(
    ("card", "culprit"), [("fault-filter", "conv2"), ("fault-stride", "conv3"), ("fault-padding", "pad2")]
)
def test_lesson_23_only_the_culprit_is_high_on_its_own(card: str, culprit: str) -> None:
    frame = at("23", model=card)
    assert guilty(frame.squares[0]) == [culprit]
    assert local(frame, culprit) > BROKEN
    names = [layer.name for layer in frame.squares[0].layers if layer.leaf]
    before = names[: names.index(culprit)]
    assert all(error(frame, name) < EXACT for name in before)
    if card == "fault-filter":
        after = [name for name in names[names.index(culprit) :] if name.startswith(("conv", "relu"))]
        assert all(error(frame, name) > BROKEN for name in after)


def test_lesson_24_a_verdict_needs_an_exact_element() -> None:
    between, exact = at("24"), at("24", "rotate:90")
    for element in ("rotate:30", "rotate:45"):
        here = measured(at("24", element))
        assert not here.exact and here.verdict == "no law"
        assert here.cumulative is not None and here.chance is not None
        assert EXACT < here.floor < here.cumulative < here.chance
    assert measured(exact).exact and measured(exact).verdict == "holds" and measured(exact).floor < 1e-5
    assert 0 < measured(between).kept < 1 == measured(exact).kept
