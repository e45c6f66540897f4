"""Terms of equations: how they are written, with brackets where they are needed, and what they come to."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from explorer.declare.telling.equations import (
    Equation,
    Number,
    Term,
    Value,
    at_step,
    barred,
    beside,
    dots,
    every,
    fixed,
    likeliest,
    logistic,
    once,
    projected,
    softmax,
    standardised,
    tanh,
    weighed,
)
from explorer.square.drawing.equation_values import BARRED, OPERATIONS, Scope, Working, evaluate, in_numbers, written

RNG = np.random.default_rng(0)
VALUES = {"a": RNG.standard_normal((5, 4)), "b": RNG.standard_normal((5, 4)), "row": RNG.standard_normal((2, 5, 5)),
          "h_T": RNG.standard_normal((1, 4))}  # fmt: skip
CONSTANTS = {"W": RNG.standard_normal((3, 4)), "zero": np.zeros(4), "v": RNG.standard_normal(4)}
A, B = at_step("a", "a"), at_step("b", "b")


def scope(step: int = 2) -> Scope:
    return Scope(VALUES, CONSTANTS, step)


def text(term: Term) -> str:
    return "".join(word for word, _ in written(term))


def numbers(term: Term, place: tuple[int, ...] = (1,)) -> str:
    return in_numbers(term, scope(), place, lambda v: f"{v:.2f}".replace("-", "−"))


def test_brackets_stand_where_they_are_needed() -> None:
    assert text((A + B) * A) == "(a + b) ⊙ a"
    assert text(A - (B + A)) == "a − (b + a)" and text(A + (B - A)) == "a + b − a"
    assert text(A * B + A) == "a ⊙ b + a"
    assert text(logistic(fixed("W") @ A + B)) == "logistic(W a + b)"
    assert text(fixed("U") @ (A + B)) == "U (a + b)"
    assert text((Number(1.0) - A) * B) == "(1 − a) ⊙ b"
    assert text(weighed(at_step("row", "a_tj"), every("b", "v_j"))) == "Σ_j a_tj v_j"


def test_words_know_their_layers_and_constants_none() -> None:
    assert [(w, name) for w, name in written(fixed("W") @ A + B) if name] == [("a", "a"), ("b", "b")]


def test_signs_are_set_as_by_hand() -> None:
    values = {"p": np.full((1, 1), 0.5), "q": np.full((1, 1), -0.25)}
    one = Scope(values, {}, 0)
    p, q = at_step("p", "p"), at_step("q", "q")
    wanted = {p + q: "0.5 − 0.25", p - q: "0.5 − (−0.25)", p * q: "0.5 · (−0.25)", tanh(p + q): "tanh(0.5 − 0.25)"}
    for term, words in wanted.items():
        assert in_numbers(term, one, (0,), lambda v: f"{v:g}".replace("-", "−")) == words


def test_a_step_before_the_first_is_the_start() -> None:
    before = beside("a", "a", -1, fixed("zero"))
    np.testing.assert_array_equal(evaluate(before, scope(0)), np.zeros(4))
    np.testing.assert_array_equal(evaluate(before, scope(3)), VALUES["a"][2])
    after = beside("a", "a", 1, once("h_T", "h_T"))
    np.testing.assert_array_equal(evaluate(after, scope(4)), VALUES["h_T"][0])
    np.testing.assert_array_equal(evaluate(after, scope(3)), VALUES["a"][4])
    half = Value("a", "a", by=-1, start=fixed("zero"), part=(1, 3))
    np.testing.assert_array_equal(evaluate(half, scope(2)), VALUES["a"][1, 1:3])


def test_operations_are_those_of_torch() -> None:
    a, row = torch.tensor(VALUES["a"]), torch.tensor(VALUES["row"])
    np.testing.assert_allclose(evaluate(logistic(A), scope()), torch.sigmoid(a[2]))
    np.testing.assert_allclose(evaluate(softmax(at_step("row", "e")), scope()), row[:, 2].softmax(-1))
    np.testing.assert_allclose(evaluate(standardised(A, Number(1e-5)), scope()), F.layer_norm(a[2], (4,)))
    np.testing.assert_allclose(evaluate(fixed("W") @ A, scope()), F.linear(a[2], torch.tensor(CONSTANTS["W"])))
    np.testing.assert_allclose(evaluate(projected(fixed("v"), every("b", "b")), scope()), VALUES["b"] @ CONSTANTS["v"])


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_attention_is_torchs(heads: int) -> None:
    q, k, v = (torch.tensor(VALUES[n]).unflatten(-1, (heads, -1)).transpose(0, 1) for n in ("a", "b", "a"))
    wanted = F.scaled_dot_product_attention(q, k, v, is_causal=True)[:, 2].flatten()
    logits = barred(dots(A, every("b", "k"), Number(float(heads))), Number(-1e9))
    found = evaluate(weighed(softmax(logits), every("a", "v")), scope())
    np.testing.assert_allclose(found, wanted)
    assert (evaluate(logits, scope())[:, 3:] < BARRED).all() and (evaluate(logits, scope())[:, :3] > BARRED).all()


def test_the_likeliest_letter_is_one_hot_and_nothing_stays_nothing() -> None:
    assert evaluate(likeliest(A), scope()).tolist() == np.eye(4)[VALUES["a"][2].argmax()].tolist()
    assert not evaluate(likeliest(fixed("zero")), scope()).any()


def test_numbers_of_a_softmax_and_of_a_sum_are_its_own() -> None:
    row = VALUES["row"][0, 2]
    words = numbers(softmax(at_step("row", "e")), (0, 3))
    assert words == f"exp({row[3]:.2f}) / {np.exp(row).sum():.2f}".replace("-", "−")
    q = numbers(dots(A, every("b", "k"), Number(1.0)), (0, 1))
    assert q.endswith("/ √4")


def test_huge_logits_are_shown_without_an_overflow() -> None:
    values = {"e": np.array([[[900.0, 880.0]]])}
    words = in_numbers(softmax(at_step("e", "e")), Scope(values, {}, 0), (0, 1), lambda v: f"{v:g}")
    assert words == "exp(-20) / 1" and math.isfinite(evaluate(softmax(at_step("e", "e")), Scope(values, {}, 0)).sum())


def test_what_was_not_sent_has_no_line_and_the_rest_has() -> None:
    working = Working("", (Equation(A, B), Equation(B, at_step("gone", "x"))), {}, {}, VALUES, {})
    known, missing = working.at(1)
    assert known is not None and missing is None
    assert working.at(99) == [None, None]


def test_a_value_on_the_way_serves_the_next_equation() -> None:
    half = Value("half", "g")
    working = Working("", (Equation(half, A + B), Equation(A, half - B)), {}, {}, VALUES, {})
    first, second = working.at(1)
    assert first is not None and first.left is None and second is not None and second.left is not None
    np.testing.assert_allclose(second.left, second.right)


def test_every_operation_is_written_and_applied() -> None:
    assert all(op.infix or op.write or op.pointwise for op in OPERATIONS.values())
