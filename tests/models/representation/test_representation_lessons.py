"""Claims of the lessons on codes and on generated graphs are true of the networks."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.square.analyses.latent.part import Latent
from tests.models.cards.lesson_frames import BROKEN, EXACT, at, engine, error


def codes(number: str, **changes: object) -> Latent:
    frame = at(number, **changes)  # type: ignore[arg-type]
    found = list(engine().refine(engine().answer(frame.state, lambda: False)))[-1].squares[0].latent
    assert found is not None and found.ready
    return found


@pytest.mark.slow
def test_lesson_85_two_numbers_obey_no_law() -> None:
    assert error(at("85")) > BROKEN
    found = codes("85")
    assert found.orbit is not None and found.orbit.kind in ("wanders", "jumps")
    assert found.dims == 2 and found.grid is not None
    titles = list(at("85", model="linear-autoencoder", layer="").squares[0].matrices)
    assert "two principal components" in titles


@pytest.mark.slow
def test_lesson_86_four_of_six_collapse() -> None:
    found = codes("86")
    assert (found.divergence > 0.01).sum() == 2 and found.samples is not None and len(found.samples) == 2048
    off = codes("86", params={"sampling": 1.0})
    assert np.abs(off.code - found.code).max() > 0.1


@pytest.mark.slow
def test_lesson_87_the_code_turns() -> None:
    for angle in (90, 180, 270):
        assert error(at("87", f"rotate:{angle}")) < EXACT
    found = codes("87")
    assert found.orbit is not None and found.orbit.kind == "rotates"
    for chain in ("reflect", "rotate:90"):
        assert error(at("87", chain, model="d4-autoencoder")) < EXACT


def test_lesson_88_the_likelihood_depends_on_the_order() -> None:
    for values in (0.0, 1.0):
        assert error(at("88", params={"order": values}), "total") > 1e-3
    titles = list(at("88").squares[0].matrices)
    assert any(t.startswith("learned from") for t in titles) and any(t.startswith("drawn") for t in titles)
    assert error(at("88", model="vgae", layer="adjacency", params={}), "adjacency") < EXACT
