"""The simple recurrent network: one update shared by all steps, and what shifts do to it.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.7, eq. (38)-(42):

    h(t) = sigma(W z(t) + U h(t-1) + b),    y(t) = V h(t) + a,    h(0) = h*,  h* = R(0, h*)

With U of a size below 1 the update is a contraction: h* is found by iteration, and the law of shifts is exact.
"""

from __future__ import annotations

from functools import partial

from explorer.declare.params import Param
from models.layers.recurrent.fixed_point import fixed_point
from models.layers.recurrent.forecast import START, UNITS, Forecast, forecast, sequence_card
from models.layers.recurrent.recurrence import Recurrence
from models.layers.recurrent.simple_rnn import ACTIVATIONS, SimpleRNN
from models.training.sequences import held_pulses


def build(units: float = 16, start: float = 1, gain: float = 0.9, activation: float = 0) -> Forecast:
    """Build a SimpleRNN that answers at each step; U is `gain` times a matrix that starts orthogonal."""
    return forecast(SimpleRNN, units, start, gain=gain, activation=ACTIVATIONS[int(activation)])


CARD = sequence_card(
    name="simple-rnn",
    title="Simple recurrent network",
    rows=("R2",),
    reference=(
        'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.7, eq. (38)-(42); '
        'Elman, "Finding Structure in Time", 1990'
    ),
    equation=(
        "h⁽ᵗ⁾ = σ( W z⁽ᵗ⁾ + U h⁽ᵗ⁻¹⁾ + b )\n"
        "y⁽ᵗ⁾ = V h⁽ᵗ⁾ + a\n"
        "h⁽⁰⁾ = h*,   h* = R(0, h*),   h₀ = 0,  h_(k+1) = R(0, h_k)"
    ),
    summary=(
        "Trained to hold the last pulse until the next one. Shift the input: zeros come in from the left. From the "
        "fixed point h* they change nothing and the law of shifts is exact; from zero the state drifts through the "
        "padding and the law fails (Phase shows the drift). R(0, ·) is a contraction, and a pulse is forgotten, the "
        "sooner the smaller U. With relu it is none from 0.9 on, and the gradient through time explodes."
    ),
    build=build,
    params=(
        UNITS,
        START,
        Param("gain", "Size of U", 0.9, 0.1, 2.0, step=0.1),
        Param("activation", "σ", 0, 0, 1, choices=ACTIVATIONS),
    ),
    sample=held_pulses.SAMPLE,
    weights="simple-rnn.safetensors",
    train=partial(held_pulses.trained, build),
    notes=held_pulses.NOTES["simple-rnn"],
    source=(SimpleRNN, Recurrence, fixed_point),
)
