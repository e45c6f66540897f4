"""First lines of exceptions, as parts of a sentence."""

from __future__ import annotations

import time

import pytest

from explorer.work.words import first_line


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("", "ValueError"),
        ("  \n ", "ValueError"),
        ("\nsizes differ.\nSee the manual.", "sizes differ"),
        ("mat1 and mat2", "mat1 and mat2"),
        ("colours \x1b[31m", "colours ?[31m"),
        ("a" * 300, "a" * 199 + "…"),
    ],
)
def test_what_is_told_of_an_exception_is_one_line_that_can_be_shown(said: str, line: str) -> None:
    assert first_line(ValueError(said)) == line


def test_an_endless_message_takes_no_time() -> None:
    began = time.process_time()
    assert len(first_line(ValueError("\x00 " * 5_000_000), 120)) == 120
    assert time.process_time() - began < 1.0
