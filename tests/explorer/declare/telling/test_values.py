"""A value of somebody's file is told in words for a person, whatever it is."""

from __future__ import annotations

import pytest
import torch

from explorer.declare.telling.values import told_value


class Exits:
    def __repr__(self) -> str:
        raise SystemExit("asked what it is")


ITSELF: list[object] = [1]
ITSELF.append(ITSELF)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ((1, 29, 29), "(1, 29, 29)"),
        ((), "()"),
        ((3,), "(3,)"),
        ([1, None, 2.5], "[1, None, 2.5]"),
        ({"x": (1, 2), "y": True}, "{'x': (1, 2), 'y': True}"),
        ("1x29\n", "'1x29\\n'"),
        (torch.zeros(3), "a value of the type Tensor"),
        pytest.param([Exits()], "[a value of the type Exits]", id="exits"),
        pytest.param(ITSELF, "[1, [1, [1, …]]]", id="itself"),
        pytest.param(10**5000, "a number of about 5000 digits", id="long"),
        pytest.param((1,) * 10**6, "(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1…", id="many"),
    ],
)
def test_what_is_told_of_a_value(value: object, told: str) -> None:
    assert told_value(value) == told
