"""Claims of the lessons on the Transformer are true of the shipped network; what every lesson must have is not here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.sequence.drawing.values import TimePart
from explorer.square.drawing.equation_values import BARRED, Line, Working
from explorer.square.frame import Frame
from tests.models.cards.lesson_frames import BROKEN, EXACT, at, error, guilty, local

SIDE = 12
ENCODER = "stacks.encoder.0.self_attention"
DECODER = "stacks.decoder.0.self_attention"
ACROSS = "stacks.decoder.1.cross_attention"


def part(frame: Frame) -> TimePart:
    found = frame.squares[0].of(TimePart)
    assert found is not None
    return found


def working(frame: Frame) -> Working:
    found = part(frame).working
    assert found is not None
    return found


def lines(frame: Frame, step: int) -> dict[str, Line]:
    """Return the equations that are shown at a step, by layer."""
    found = working(frame)
    return {e.left.name: line for e, line in zip(found.equations, found.at(step), strict=True) if line is not None}


def letters(frame: Frame) -> str:
    """Return what is written: the likeliest letter of each step."""
    labels = "abcdefgh"
    return "".join(labels[k] for k in part(frame).gates["output"].argmax(-1))


def weights(frame: Frame) -> NDArray[Any]:
    return np.asarray(part(frame).values, np.float64)


def test_lesson_60_six_steps_of_attention() -> None:
    frame = at("60")
    headings = [e.heading[0] for e in working(frame).equations if e.heading]
    assert headings == list("12456") and working(frame).block == "stacks.encoder.0"
    shown = lines(frame, 4)
    logits, shares = shown[f"{ENCODER}.logits"], shown[f"{ENCODER}.attention"]
    assert logits.numbers((0, 0), lambda v: f"{v:g}").endswith("/ √16") and logits.shown.shape == (2, SIDE)
    np.testing.assert_allclose(shares.shown.sum(-1), 1, atol=1e-6)
    query, keys = shown[f"{ENCODER}.query"].shown, part(frame).gates[f"{ENCODER}.key"]
    np.testing.assert_allclose(logits.shown[0], keys[:, :16] @ query[:16] / 4, atol=1e-5)
    words = shown[f"{ENCODER}.context"].numbers((0,), lambda v: f"{v:g}")
    assert words.count("·") == 3
    assert {"stacks.encoder.0.residual1", "stacks.encoder.0.norm1"} <= set(shown)
    assert error(frame) > BROKEN, "read backwards the weights are others"


def test_lesson_61_a_mask_over_the_future() -> None:
    frame = at("61")
    for step in range(SIDE):
        row = lines(frame, step)[f"{DECODER}.masked_logits"].shown
        assert np.array_equal(row[0] < BARRED, np.arange(SIDE) > step)
    assert not np.triu(weights(frame), 1).any(), "exactly 0"
    np.testing.assert_allclose(weights(frame)[:, 0, 0], 1)
    assert f"{DECODER}.masked_logits" in guilty(frame.squares[0])
    assert f"{DECODER}.logits" not in guilty(frame.squares[0])
    assert local(frame, f"{DECODER}.masked_logits") > BROKEN
    without = at("61", params={"mask": 1.0})
    assert not any("masked_logits" in layer.name for layer in without.squares[0].layers)
    assert np.triu(weights(without), 1).any() and not any(e.heading.startswith("3") for e in working(without).equations)


def test_lesson_62_looking_across_at_the_input() -> None:
    frame = at("62")
    other = SIDE - 1 - np.arange(SIDE)
    clear = weights(frame)[:, np.arange(SIDE), other].mean()
    assert (weights(frame).mean(0).argmax(-1) == other).all() and clear > 0.4
    earlier = at("62", layer="stacks.decoder.0.cross_attention.attention")
    assert weights(earlier)[:, np.arange(SIDE), other].mean() < clear / 1.5
    assert weights(frame)[:, 0, 1:].max() > 0.1, "no mask: step 0 sees later steps"
    key = next(e for e in working(frame).equations if e.left.name == f"{ACROSS}.key")
    query = next(e for e in working(frame).equations if e.left.name == f"{ACROSS}.query")
    used = [
        {name for name in ("stacks.encoder.1.norm2", "stacks.decoder.1.norm1") if name in str(e)} for e in (key, query)
    ]
    assert used == [{"stacks.encoder.1.norm2"}, {"stacks.decoder.1.norm1"}]
    text = "".join(part(frame).names)
    assert letters(frame) == text[::-1]


def test_lesson_63_where_a_letter_stands() -> None:
    frame = at("63")
    assert "embed_input.positions" in guilty(frame.squares[0]) and local(frame, "embed_input.positions") > BROKEN
    assert "embed_input.letter" not in guilty(frame.squares[0])
    without = at("63", params={"positions": 1.0}, layer="stacks.encoder.1.norm2")
    encoder = [layer.name for layer in without.squares[0].layers if layer.name.startswith("stacks.encoder")]
    assert len(encoder) > 20 and all(error(without, name) < EXACT for name in encoder)
    assert error(at("63", layer="stacks.encoder.1.norm2")) > BROKEN
    text = "".join(part(frame).names)
    assert letters(frame) == text[::-1] and letters(without) != text[::-1]
    wave = part(frame).gates["embed_input.positions"]
    np.testing.assert_array_equal(wave[0], np.tile([0.0, 1.0], 16))
    t, i = np.arange(SIDE)[:, None], np.arange(16)
    angle = t / 10000 ** (2 * i / 32)
    np.testing.assert_allclose(wave, np.stack([np.sin(angle), np.cos(angle)], -1).reshape(SIDE, 32), atol=1e-6)
    assert np.abs(np.diff(wave[:, 0])).mean() > 100 * np.abs(np.diff(wave[:, 30])).mean(), "fast ones first"
    found = lines(frame, 4)["embed_input.add_positions"]
    assert found.left is not None
    np.testing.assert_allclose(found.right, found.left, atol=1e-5)
