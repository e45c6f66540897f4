"""Claims of the lessons on back-propagation are true of the network and of one neuron."""

from __future__ import annotations

import numpy as np

from explorer.work.training.backprop import STARTS, Chain, bernoulli, gaussian, ladder, neuron, steps
from tests.models.cards.lesson_frames import at, lesson


def chain_of(number: str, transform: str | None = None) -> Chain:
    part = at(number, transform).squares[0].of(Chain)
    assert part is not None
    return part


def test_lesson_95_the_error_grows_with_the_wrong_target() -> None:
    chain = chain_of("95")
    right, wrong = (ladder(chain.layers, chain.x, np.array(y), "squared error") for y in ([1.0, 0.0], [0.0, 1.0]))
    assert all(np.abs(w.delta).max() > np.abs(r.delta).max() for r, w in zip(right, wrong, strict=True))
    for rung in right:  # a row of the gradient is δ of its unit times a of the layer below
        assert np.array_equal(rung.weight_gradient, rung.delta[:, None] * rung.given[None, :])


def test_lesson_96_the_squared_error_freezes() -> None:
    slow, quick = neuron("squared error", STARTS[1]), neuron("cross-entropy", STARTS[1])
    assert slow.output[100] > 0.95 and quick.output[100] < 0.1
    assert slow.delta[200] > 5 * slow.delta[0]  # it grows before it falls
    assert slow.delta.argmax() > 150 and neuron("squared error", STARTS[0]).output[100] < 0.4
    chain = chain_of("96")
    found = steps(chain.layers, chain.x, np.array([0.0, 1.0]), "cross-entropy", np.array([1e-4, 1.0]))
    assert abs(found.second[0] - found.real[0]) < 1e-3 * found.real[0]
    assert abs(found.first[1] - found.real[1]) > 0.1 * abs(found.real[1])


def test_lesson_97_losses_are_likelihoods_and_a_turn_swaps_the_outputs() -> None:
    output = at("97", "rotate:90").squares[0]
    assert output.output.argmax() == 0 and output.output_g.argmax() == 1
    assert lesson("97").sample == "bar-row-2"
    small = 1e-3
    rise = gaussian(small, np.array([1.0]))[0] - gaussian(small, np.array([small]))[0]
    assert 0.4 < rise <= 0.5 and bernoulli(small, np.array([1.0]))[0] > 6
