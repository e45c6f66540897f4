"""Leaky and gated networks: can a network follow when time itself is stretched or warped?

Tallec, Ollivier, "Can recurrent neural networks warp time?", 2018; Bronstein, Bruna, Cohen, Veličković, "Geometric
Deep Learning", 2021, section 5.8, eq. (49)-(53). The layers are in `models.layers.recurrent.leaky_gated`:

    h(t) = Gamma R(z(t), h(t-1)) + (1 - Gamma) h(t-1),    Gamma constant (leaky) or computed at each step (gated)
"""

from __future__ import annotations

from functools import partial

from explorer.declare.params import Param
from models.layers.recurrent.forecast import START, UNITS, forecast, sequence_card
from models.layers.recurrent.leaky_gated import ALPHA, GatedRNN, LeakyRNN, rescaled
from models.layers.recurrent.recurrence import Recurrence

PACE = Param("pace", "Pace Γ at the start", 0.3, 0.01, 0.99, step=0.01)

FIGURES = {
    "leaky-rnn": (
        "Fresh weights. Relative error of the prediction for a sine at half the pace: 0.238 as it is, 0.046 with α = "
        "0.5. What is left is the discretisation of eq. (53), which halves with the pace Γ (at 0.15: 0.027).",
    ),
    "gated-rnn": (
        "Fresh weights. Relative error of the prediction for a sine at half the pace: 0.046 as it is, 0.012 with α = "
        "0.5. What is left is the discretisation of eq. (53), which falls with the pace Γ (at 0.15: 0.008).",
    ),
}

CARD = (
    sequence_card(
        name="leaky-rnn",
        title="Leaky recurrent network",
        rows=("R4",),
        reference=(
            'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.8, eq. (49)-(52); '
            'Tallec, Ollivier, "Can recurrent neural networks warp time?", 2018'
        ),
        equation=(
            "h⁽ᵗ⁾ = γ ⊙ tanh( W z⁽ᵗ⁾ + U h⁽ᵗ⁻¹⁾ + b ) + (1 − γ) ⊙ h⁽ᵗ⁻¹⁾\nγ = logistic(λ),   one constant for each unit"
        ),
        summary=(
            "A SimpleRNN that moves only a part of the way in each step. Slow the input down and multiply γ by the "
            "same factor: the network follows without learning anew. Rescale time by 0.5, and set α, which acts on the "
            "network that sees ρ(g)x alone, to 0.5 as well. A warp, whose pace changes, has no such constant."
        ),
        build=partial(forecast, LeakyRNN),
        params=(UNITS, START, PACE, ALPHA),
        source=(LeakyRNN, Recurrence, rescaled),
        notes=FIGURES["leaky-rnn"],
    ),
    sequence_card(
        name="gated-rnn",
        title="Gated recurrent network",
        rows=("R4",),
        reference=(
            'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.8, eq. (49)-(53); '
            'Tallec, Ollivier, "Can recurrent neural networks warp time?", 2018'
        ),
        equation=(
            "h⁽ᵗ⁾ = Γ⁽ᵗ⁾ ⊙ R(z⁽ᵗ⁾, h⁽ᵗ⁻¹⁾) + (1 − Γ⁽ᵗ⁾) ⊙ h⁽ᵗ⁻¹⁾\n"
            "Γ⁽ᵗ⁾ = logistic( W_Γ z⁽ᵗ⁾ + U_Γ h⁽ᵗ⁻¹⁾ + b_Γ )  ≈  dτ/dt\n"
            "R(z, h) = tanh( W z + U h + b )"
        ),
        summary=(
            "The least that a network needs to follow any warp of time: a gate computed from the data that stands for "
            "dτ/dt. Compare recurrent.gate with the slope of the warp. With the gate at 1 it is a SimpleRNN."
        ),
        build=partial(forecast, GatedRNN),
        params=(UNITS, START, PACE, ALPHA),
        source=(GatedRNN, Recurrence, rescaled),
        notes=FIGURES["gated-rnn"],
    ),
)
