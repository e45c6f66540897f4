"""Names of models: what they are split into, and that no name takes the square of its length."""

from __future__ import annotations

import time

import pytest

from explorer.declare.states.model_name import (
    files_of,
    named_as_shown,
    several,
    split_call,
    split_input,
    split_name,
    told_apart,
)


@pytest.mark.parametrize(
    ("name", "base", "weights"),
    [
        ("d4-cnn@my.safetensors", "d4-cnn", "my.safetensors"),
        ("a@b/net.py:Net(3, x='@')@w.pt", "a@b/net.py:Net(3, x='@')", "w.pt"),
        ("net.py:Net[graph channels=3]@w.safetensors", "net.py:Net[graph channels=3]", "w.safetensors"),
        ("timm:vit_tiny", "timm:vit_tiny", ""),
    ],
)
def test_weights_stand_behind_the_last_of_a_name(name: str, base: str, weights: str) -> None:
    assert split_name(name) == (base, weights)


@pytest.mark.parametrize("words", ["a", "tests/", "a.py:", "a=", "[", "@", "/@", "a.pt[", "\n", "a:(", "a.py:N("])
@pytest.mark.parametrize("count", [9_000, 400_000])
def test_no_name_takes_the_square_of_its_length(words: str, count: int) -> None:
    name, began = words * (count // len(words)) + "!", time.process_time()
    for read in (split_name, split_input, split_call, files_of, named_as_shown):
        read(name)
    assert time.process_time() - began < 5.0


def test_names_that_are_alike_are_told_apart_by_their_folders() -> None:
    told = told_apart(
        [
            "/a/one/src/net.py:Net", "/a/two/src/net.py:Net(3, 'x/y')", "/b/net.py:Net@/w.pt", "/b/net.py:Net",
            "/b/other.py:Net", "/a/one",
        ]
    )  # fmt: skip
    assert list(told.values()) == [
        "Net in net.py (one/src)", "Net in net.py (two/src)", "Net in net.py (b), w.pt", "Net in net.py (b)",
        "Net in other.py", "one",
    ]  # fmt: skip


def test_networks_of_one_class_are_told_apart_by_what_they_differ_in() -> None:
    """Two of them stood as "Net in net.py" in the gallery and in the menu of recent models."""
    told = told_apart(
        [
            "/a/net.py:Net", "/a/net.py:Net@/w/one.pt", "/a/net.py:Net@/w/two.pt", "/a/net.py:Net@/v/two.pt",
            "/a/net.py:Net(3)", "/a/net.py:Net(4, deep=True)", "/a/net.py:Net[graph channels=3]", "/a/other.py:Net(3)",
        ]
    )  # fmt: skip
    assert list(told.values()) == [
        "Net in net.py", "Net in net.py, one.pt", "Net in net.py, two.pt, /w", "Net in net.py, two.pt, /v",
        "Net in net.py, with 3", "Net in net.py, with 4, deep=True", "Net in net.py, graph channels=3",
        "Net in other.py",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ()),
        ("d4-cnn,plain-cnn", ("d4-cnn", "plain-cnn")),
        ("/a/net.py:Net(4, deep=True),fine", ("/a/net.py:Net(4, deep=True)", "fine")),
        ("net.py:Net('a,(b')[grid images=a:3xanyxany,m:1xanyxany]@w.pt,b", (
            "net.py:Net('a,(b')[grid images=a:3xanyxany,m:1xanyxany]@w.pt", "b",
        )),
        ("/it's here/net.py:Net,fine", ("/it's here/net.py:Net", "fine")),
        ("/a (b/net.py:Net,fine", ("/a (b/net.py:Net", "fine")),
    ],
)  # fmt: skip
def test_names_in_one_text_are_parted_outside_of_brackets(text: str, names: tuple[str, ...]) -> None:
    """A network made with two arguments could not be shown beside another one."""
    assert several(text) == names
