"""Numbers as they are set."""

from __future__ import annotations

import pytest

from explorer.declare.telling.numerals import with_minus


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("-3.4124e-06", "−3.4124e−6"),
        ("1e+05", "1e5"),
        ("-2 to 2", "−2 to 2"),
        ("1.5e-12", "1.5e−12"),
        ("1e+00", "1e0"),
        ("nan", "nan"),
    ],
)
def test_signs_and_exponents_are_short(written: str, told: str) -> None:
    assert with_minus(written) == told
