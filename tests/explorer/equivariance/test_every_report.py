"""The comparison of reports between machines finds what differs."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.processors.every_report import differences

REPORT = {
    "group": "C4", "verdict": "broken", "guilty": ["conv"], "notes": [], "hints": ["a hint"],
    "layers": {"conv": ["broken", 0.5, 0.5, 1.2], "head": ["holds", None, 1e-16, 1.0]},
}  # fmt: skip


def changed(**changes: Any) -> dict[str, Any]:
    return {"card": [copy.deepcopy(REPORT) | changes]}


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (changed(), ""),
        (changed(layers=REPORT["layers"] | {"conv": ["broken", 0.5 + 1e-8, 0.5, 1.2]}), ""),
        (changed(verdict="holds"), "card under C4: verdict broken and holds"),
        (changed(guilty=["head"]), "guilty ['conv'] and ['head']"),
        (changed(hints=[]), "hints ['a hint'] and []"),
        (changed(layers=REPORT["layers"] | {"conv": ["broken", 0.5 + 1e-5, 0.5, 1.2]}), "conv: cumulative 0.5 and"),
        (
            changed(layers=REPORT["layers"] | {"conv": ["broken", float("nan"), 0.5, 1.2]}),
            "conv: cumulative 0.5 and nan",
        ),
        (changed(layers=REPORT["layers"] | {"head": ["holds", 0.1, 1e-16, 1.0]}), "head: cumulative None and 0.1"),
        (changed(layers={}), "other layers"),
        ({"card": []}, "card: 1 and 0 reports"),
        ({}, "card was checked in one run only"),
    ],
)
def test_what_differs_is_said(other: dict[str, Any], words: str) -> None:
    said = differences({"card": [REPORT]}, other)
    assert len(said) == bool(words) and words in "".join(said)
