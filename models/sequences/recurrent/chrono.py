"""An LSTM with chrono initialisation: its units forget at times spread up to the longest dependency that is expected.

Tallec, Ollivier, "Can recurrent neural networks warp time?", 2018, section 4:

    b_f = log u,  u ~ U(1, T_max - 1),    b_i = -b_f
"""

from __future__ import annotations

import torch

from explorer.declare.params import Param
from models.layers.recurrent.chrono import chrono_, forgetting_times
from models.layers.recurrent.forecast import START, UNITS, Forecast, forecast, sequence_card
from models.layers.recurrent.lstm import LSTM
from models.layers.recurrent.recurrence import recurrence_of

LONGEST = Param("longest", "Longest dependency T_max", 200, 3, 2000)  # not whole: its slider runs over factors


def build(units: float = 16, start: float = 1, longest: float = 200) -> Forecast:
    """Build an LSTM whose units forget in 2 to `longest` steps."""
    network = forecast(LSTM, units, start)
    chrono_(recurrence_of(network), longest, torch.Generator().manual_seed(0))
    return network


CARD = sequence_card(
    name="lstm-chrono",
    title="LSTM with chrono initialisation",
    rows=("R4",),
    reference=(
        'Tallec, Ollivier, "Can recurrent neural networks warp time?", 2018, section 4; '
        'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.8'
    ),
    equation="b_f = log u,   u ~ U(1, T_max − 1)\nb_i = −b_f\n1 / (1 − f) = 1 + e^(b_f)   steps until forgotten",
    summary=(
        "The longest dependency that is assumed sets the biases: forget gates lie between 1/2 and 1 − 1/T_max, and the "
        "units forget at different times. Move T_max, and the spectrum of forgetting times in Gates moves with it. "
        "Only the start of a training is changed, no equation: adding-chrono and adding-standard show what comes of it."
    ),
    build=build,
    params=(UNITS, START, LONGEST),
    source=(chrono_, forgetting_times, LSTM),
)
