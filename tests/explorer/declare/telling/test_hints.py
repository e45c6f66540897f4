"""Hints of many layers are told once, with the first of them."""

from __future__ import annotations

import pickle

from explorer.declare.telling.hints import SAMPLING, Hint, first, grouped, of_kind


def test_one_reason_of_many_layers_is_told_once() -> None:
    hints = [*(f"conv{k}: pads with zeros" for k in range(6)), "fc: its weights differ", "head: its weights differ"]
    assert grouped(hints) == ["conv0, conv1, conv2 and 3 more: pads with zeros", "fc, head: their weights differ"]
    assert grouped(hints, ("head",))[0] == "head, fc: their weights differ"
    assert grouped(["the batch is one"]) == ["the batch is one"]
    assert grouped(["fc: its weights differ"], unnamed=("fc",)) == ["its weights differ"]


def test_one_name_more_is_named_rather_than_counted() -> None:
    assert first("abcd", 3) == "a, b, c, d"
    assert first("abcde", 3) == "a, b, c and 2 more"


def test_a_hint_is_known_by_its_kind_whatever_its_words_in_another_process_too() -> None:
    hint = pickle.loads(pickle.dumps(Hint("pool: 7x7 does not fit", SAMPLING)))
    assert of_kind(["pool: 7x7 is no multiple", hint], SAMPLING) == [hint] == ["pool: 7x7 does not fit"]
