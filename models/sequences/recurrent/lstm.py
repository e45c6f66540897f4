"""Long short-term memory, trained to hold a pulse: gates decide what the cell takes in, keeps and shows.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.8, eq. (43)-(48), after Hochreiter and
Schmidhuber, "Long Short-Term Memory", 1997. The layer is in `models.layers.recurrent.lstm`; here it answers at every
step (y = V h + a) with the height of the last pulse (`models.training.sequences.held_pulses`).
"""

from __future__ import annotations

from functools import partial

from models.layers.recurrent.forecast import forecast, sequence_card
from models.layers.recurrent.lstm import LSTM
from models.layers.recurrent.recurrence import Recurrence
from models.training.sequences import held_pulses

build = partial(forecast, LSTM)

CARD = sequence_card(
    name="lstm",
    title="Long short-term memory (LSTM)",
    rows=("R3",),
    reference=(
        'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.8, eq. (43)-(48); '
        'Hochreiter, Schmidhuber, "Long Short-Term Memory", 1997'
    ),
    equation=(
        "ĉ⁽ᵗ⁾ = tanh( W_c z⁽ᵗ⁾ + U_c h⁽ᵗ⁻¹⁾ + b_c )\n"
        "i⁽ᵗ⁾ = logistic( W_i z⁽ᵗ⁾ + U_i h⁽ᵗ⁻¹⁾ + b_i )\n"
        "f⁽ᵗ⁾ = logistic( W_f z⁽ᵗ⁾ + U_f h⁽ᵗ⁻¹⁾ + b_f )\n"
        "o⁽ᵗ⁾ = logistic( W_o z⁽ᵗ⁾ + U_o h⁽ᵗ⁻¹⁾ + b_o )\n"
        "c⁽ᵗ⁾ = i⁽ᵗ⁾ ⊙ ĉ⁽ᵗ⁾ + f⁽ᵗ⁾ ⊙ c⁽ᵗ⁻¹⁾\n"
        "h⁽ᵗ⁾ = o⁽ᵗ⁾ ⊙ tanh c⁽ᵗ⁾"
    ),
    summary=(
        "Trained to hold the last pulse until the next one. Follow unit 5: its forget gate keeps the cell between "
        "pulses and lets go at one; the input gate lets the candidate in, the output gate shows the cell. Where the "
        "forget gate is near 1 the cell, and the gradient, last for many steps. The state that must be a fixed point "
        "for the law of shifts is c and h together."
    ),
    build=build,
    sample=held_pulses.SAMPLE,
    weights="lstm.safetensors",
    train=partial(held_pulses.trained, build),
    source=(LSTM, Recurrence),
    notes=held_pulses.NOTES["lstm"],
)
