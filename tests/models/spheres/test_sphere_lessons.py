"""Claims of the lesson on the sphere are true of the networks."""

from __future__ import annotations

import torch

from tests.models.cards.lesson_frames import EXACT, at, error, guilty


def test_lesson_93_the_spectrum_stands_still() -> None:
    frame = at("93")
    part = frame.squares[0].part
    for before, after in (("x", "ρ(g)x"), ("F(x)", "F(ρ(g)x)")):
        torch.testing.assert_close(*(torch.tensor(part.spectra[n]) for n in (before, after)), rtol=1e-4, atol=1e-6)  # type: ignore[union-attr]
    assert all(error(at("93", f"turn-sphere:{angle},20,40"), "head") < EXACT for angle in (17, 90, -133))
    assert set(guilty(at("93", model="sphere-cnn-relu").squares[0])) <= {"act1", "act2"}
    assert guilty(at("93", model="fault-degree-bias").squares[0], 0.05) == ["shift"]
