"""Claims of the lessons on sequences are true of the networks; what every lesson must have is in test_lessons.py.

The lessons on the simple network show it with 12 units, which are fresh and always the same. Of trained networks
nothing is claimed that would change when they are trained again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from explorer.spaces.sequence.drawing.values import TimePart
from explorer.square.frame import Frame
from tests.models.cards.lesson_frames import BROKEN, EXACT, at, error, guilty, lesson, measured


def part(frame: Frame, which: int = 0) -> TimePart:
    found = frame.squares[which].of(TimePart)
    assert found is not None
    return found


def gates(frame: Frame, name: str, which: int = 0) -> NDArray[Any]:
    return part(frame, which).gates[name]


def gradient(frame: Frame) -> NDArray[np.floating]:
    found = part(frame).gradient
    assert found is not None
    return found


def held(frame: Frame) -> tuple[NDArray[np.bool_], float]:
    """Return where pulses are, and how far the prediction is from the last one, as a share of what is held."""
    own = part(frame)
    x, y = own.x[:, 0], own.gates["prediction"][:, 0]
    pulses = np.abs(x) > 0.45
    first = int(pulses.argmax())
    last = x[np.maximum.accumulate(np.where(pulses, np.arange(len(x)), 0))][first:]
    return pulses, float(np.sqrt(np.mean((y[first:] - last) ** 2) / np.mean(last**2)))


def moved_at(pulses: NDArray[np.bool_], gate: NDArray[Any]) -> float:
    """Return how much more a gate moves at pulses than where nothing comes."""
    change = np.abs(np.diff(gate, axis=0)).mean(1)
    here, after = pulses[1:], pulses[:-1]
    return float(change[here].mean() / change[~here & ~after].mean())


def holds(frame: Frame, which: int = 0) -> bool:
    """Say whether every layer with a law follows the element."""
    found = [m.cumulative for m in frame.squares[which].measures.values() if m.cumulative is not None]
    return bool(found) and max(found) < EXACT


# 5.7 Recurrent networks -------------------------------------------------------------------------------------


def test_lesson_50_a_state_knows_its_past_and_not_its_future() -> None:
    assert holds(at("50")) and holds(at("50", "shift:33"))
    assert error(at("50", "reverse")) > BROKEN
    steps = gradient(at("50"))
    node = lesson("50").node
    assert node is not None and np.all(steps[node + 1 :] == 0.0) and np.all(steps[node - 4 : node + 1] > 0.0)
    np.testing.assert_allclose(part(at("50")).moved[20:], part(at("50")).values[:-20], atol=1e-6)


def test_lesson_51_zeros_move_a_state_that_is_no_fixed_point() -> None:
    frame = at("51")
    assert error(frame) > BROKEN and measured(frame, "recurrent").verdict == "broken"
    assert [name for name, m in frame.squares[0].measures.items() if m.verdict == "broken"] == ["recurrent"]
    wrong = part(frame).difference
    assert wrong is not None
    size = np.abs(wrong).max(1)
    assert size.argmax() < 30 and size[-20:].max() < 0.01 * size.max(), "the network forgets where it started"
    for delay in (1, 20, 50):
        assert holds(at("51", f"shift:{delay}", {"start": 1}))
    rest = part(frame).settlings[0].orbit
    begun = part(at("51", params={"start": 1})).settlings[0].orbit[-1]
    np.testing.assert_allclose(rest[-1], begun, atol=1e-5)
    assert not rest[0].any() and rest[-1].any()


def test_lesson_52_a_contraction_settles_and_a_large_update_does_not() -> None:
    small, middle, usual = (at("52", params={"gain": gain}) for gain in (0.1, 0.5, 0.9))
    for frame in (small, middle, usual):
        found = part(frame).settlings[0]
        assert found.converged and found.contraction < 1.0 and holds(frame)
    lengths = [len(part(frame).settlings[0].orbit) for frame in (small, middle, usual)]
    assert lengths == sorted(lengths) and lengths[0] < lengths[-1]
    back = [float(gradient(frame)[30]) for frame in (small, middle, usual)]
    assert back == sorted(back) and back[0] < 1e-6 < back[-1], "the smaller U, the less is remembered"
    large = at("52", params={"gain": 2.0})
    assert not part(large).settlings[0].converged and error(large) > BROKEN
    silent = at("52", params={"gain": 2.0, "activation": 1})
    assert part(silent).settlings[0].converged and holds(silent)
    assert np.mean(part(silent).settlings[0].orbit[-1] == 0.0) > 0.5, "most units are silent at rest"


def test_lesson_53_gradients_vanish_and_explode() -> None:
    def reached(gain: float) -> NDArray[np.floating]:
        found = gradient(at("53", params={"gain": gain}))
        return np.asarray(found / found[100])

    assert reached(0.9)[70] < 0.02
    assert reached(0.5)[70] < 1e-6 < 1e-3 < reached(1.0)[70]
    exploded = reached(2.0)
    assert exploded[0] > 100 * exploded[90:101].max()
    assert error(at("53", params={"gain": 2.0})) > BROKEN and holds(at("53"))
    # a straight line on a logarithmic scale
    slope = np.log(reached(0.5)[60:100])
    assert np.corrcoef(np.arange(40), slope)[0, 1] > 0.99


# 5.8 Gates --------------------------------------------------------------------------------------------------


def test_lesson_54_the_cell_is_what_the_gates_say() -> None:
    frame = at("54")
    names = ("input_gate", "forget_gate", "cell_candidate", "output_gate", "cell", "hidden")
    i, f, g, o, c, h = (gates(frame, f"recurrent.{name}") for name in names)
    for gate in (i, f, o):
        assert 0.0 <= gate.min() and gate.max() <= 1.0
    np.testing.assert_allclose(c[1:], f[1:] * c[:-1] + i[1:] * g[1:], atol=1e-5)
    np.testing.assert_allclose(h, o * np.tanh(c), atol=1e-5)
    pulses, wrong = held(frame)
    assert wrong < 0.25 and all(moved_at(pulses, gate) > 2.0 for gate in (i, f, o))
    assert holds(frame)
    assert measured(at("54", params={"start": 0}), "recurrent").verdict == "broken"


def test_lesson_55_the_new_state_lies_between_candidate_and_old_state() -> None:
    frame = at("55")
    z, n, h = (gates(frame, f"recurrent.{name}") for name in ("update", "candidate", "hidden"))
    assert 0.0 <= z.min() and z.max() <= 1.0
    np.testing.assert_allclose(h[1:], (1 - z[1:]) * n[1:] + z[1:] * h[:-1], atol=1e-5)
    low, high = np.minimum(n[1:], h[:-1]), np.maximum(n[1:], h[:-1])
    assert np.all(h[1:] >= low - 1e-6) and np.all(h[1:] <= high + 1e-6)
    pulses, wrong = held(frame)
    assert wrong < 0.25
    assert all(moved_at(pulses, gates(frame, f"recurrent.{name}")) > 2.0 for name in ("reset", "update"))
    both = at("55", "shift:31", compare="lstm")
    assert holds(both) and holds(both, 1)


@pytest.mark.slow
def test_lesson_56_half_the_speed_needs_half_of_gamma() -> None:
    def wrong(alpha: float, pace: float = 0.1) -> float:
        return error(at("56", params={"alpha": alpha, "pace": pace}))

    assert wrong(0.5) < 0.1 * wrong(1.0) and wrong(0.5) < wrong(0.75) < wrong(1.0)
    assert wrong(0.5, 0.05) < wrong(0.5, 0.1) < wrong(0.5, 0.2)
    assert wrong(0.5, 0.05) == pytest.approx(wrong(0.5, 0.1) / 2, rel=0.3), "Euler's method is of the first order"


def test_lesson_57_a_gate_changes_its_pace_and_a_leak_does_not() -> None:
    both = at("57", compare="leaky-rnn")
    gate, leak = gates(both, "recurrent.gate"), gates(both, "recurrent.gate", 1)
    assert gate.std(0).min() > 1e-3 > 1e-5 > leak.std(0).max()
    quick, slow = (part(at("57", f"warp:{early},0,0")).order for early in (0.2, -0.2))
    assert quick[20] < 20 < slow[20], "a value is met sooner where time runs quicker"


@pytest.mark.slow
def test_lesson_58_biases_say_how_long_a_unit_remembers() -> None:
    for longest in (20, 200, 2000):
        forget = gates(at("58", params={"longest": longest}), "recurrent.forget_gate")
        times = 1 / (1 - forget.mean(0))
        assert times.max() < 1.2 * longest and times.max() > 0.5 * longest and times.min() < 0.5 * times.max()
    assert gates(at("58"), "recurrent.forget_gate").min() > 0.9
    short, long = (gradient(at("58", params={"longest": longest})) for longest in (20, 2000))
    assert long[0] > 0.5 * long[100] and short[0] < 0.01 * short[100]


@pytest.mark.slow
def test_lesson_59_one_vector_is_too_little_for_24_letters() -> None:
    frame = at("59", layer="output")
    letters = part(frame).x.argmax(1)[::-1]
    right = [float(np.mean(part(frame, k).values.argmax(1) == letters)) for k in (0, 1)]
    assert right[0] == 1.0 and right[1] < 0.5
    assert "bottleneck" in [layer.name for layer in frame.squares[1].layers]
    for sample in ("letters-12", "letters-24"):
        alignment = part(at("59", sample=sample)).values[0]
        assert np.array_equal(alignment.argmax(1), np.arange(len(alignment))[::-1])
    pointed = part(at("59", "reverse", model="pointer-glimpse", sample="numbers-5", layer="pointers", compare=""))
    sorted_ = pointed.x[pointed.values[0].argmax(1), 0]
    assert np.all(np.diff(sorted_) >= 0)
    np.testing.assert_allclose(pointed.moved[0], pointed.values[0][:, ::-1], atol=1e-5)
    answers = at("59", "permute:3", model="set2set", sample="bag-5", layer="set2set.attention", compare="")
    assert error(answers) < EXACT and error(answers, "answer") < EXACT and not guilty(answers.squares[0])
