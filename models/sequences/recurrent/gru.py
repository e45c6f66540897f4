"""Gated recurrent unit, trained to hold a pulse: one gate mixes old and new, another hides the past from the candidate.

Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder", 2014. The layer is in
`models.layers.recurrent.gru`; here it answers at every step (y = V h + a) with the height of the last pulse
(`models.training.sequences.held_pulses`).
"""

from __future__ import annotations

from functools import partial

from models.layers.recurrent.forecast import forecast, sequence_card
from models.layers.recurrent.gru import GRU
from models.layers.recurrent.recurrence import Recurrence
from models.training.sequences import held_pulses

build = partial(forecast, GRU)

CARD = sequence_card(
    name="gru",
    title="Gated recurrent unit (GRU)",
    rows=("R3",),
    reference=(
        'Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder for Statistical Machine Translation", '
        '2014; Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.8'
    ),
    equation=(
        "r⁽ᵗ⁾ = logistic( W_r x⁽ᵗ⁾ + b_r + U_r h⁽ᵗ⁻¹⁾ + d_r )\n"
        "z⁽ᵗ⁾ = logistic( W_z x⁽ᵗ⁾ + b_z + U_z h⁽ᵗ⁻¹⁾ + d_z )\n"
        "n⁽ᵗ⁾ = tanh( W_n x⁽ᵗ⁾ + b_n + r⁽ᵗ⁾ ⊙ ( U_n h⁽ᵗ⁻¹⁾ + d_n ) )\n"
        "h⁽ᵗ⁾ = (1 − z⁽ᵗ⁾) ⊙ n⁽ᵗ⁾ + z⁽ᵗ⁾ ⊙ h⁽ᵗ⁻¹⁾"
    ),
    summary=(
        "Trained to hold the last pulse until the next one. Two gates and no separate cell. Where update is near 1 the "
        "old state stays and nothing new is written; where reset is near 0 the candidate sees the input alone. "
        "1 − update is the pace dτ/dt at which the unit lives."
    ),
    build=build,
    sample=held_pulses.SAMPLE,
    weights="gru.safetensors",
    train=partial(held_pulses.trained, build),
    source=(GRU, Recurrence),
    notes=held_pulses.NOTES["gru"],
)
