"""A reply written word by word from profile and dialogue, which an LSTM has read one after the other.

Zhang et al., "Personalizing dialogue agents: I have a dog, do you have pets too?", 2018, section 4.4, after Sutskever,
Vinyals, Le, "Sequence to sequence learning with neural networks", 2014. The profile is read before the dialogue:

    x = all p in P, then the dialogue,   h_t = LSTM(x_t, h_(t-1)),   d_0 = h_T,   d_t = LSTM(y_(t-1), d_(t-1))
    p(y_t) = softmax(E (W d_t + a) + b), where E are the vectors of the words, the encoder's own
"""

from __future__ import annotations

from functools import partial

from explorer.declare.card import Card
from models.layers.dialogue.citation import OURS, REFERENCE
from models.layers.dialogue.writing import BEAM, INPUT, VOCABULARY, Writer
from models.layers.seeded import seeded
from models.training.dialogue.writing import trained


class DialogueSeq2Seq(Writer):
    """The encoder reads all, the decoder knows its last state alone; one-hot (T, V) -> (T, V)."""


def build(beam: float = 1) -> Writer:
    """Build the network, which keeps the `beam` likeliest beginnings of a reply; 1 is greedy."""
    return seeded(partial(DialogueSeq2Seq, int(beam)))


FIGURES = (
    "18,666 parameters, 30 epochs of 100 steps, 64 turns each, out of 2,000 made-up dialogues. On 176 turns of 40 "
    "others perplexity 1.22; the right reply of 20 is the likeliest in 0.188 of them: it answers the question, and "
    "for somebody else. There are no more than 35 replies, which it knows by heart.",
)

CARD = Card(
    name="persona-seq2seq",
    title="Replies written from profile and dialogue",
    rows=("R7",),
    domain="sequence",
    reference=REFERENCE + '4.4; Sutskever, Vinyals, Le, "Sequence to sequence learning with neural networks", 2014',
    equation=(
        "x = p₁ … p_n ‖ dialogue,   h_t = LSTM(x_t, h_{t−1})\nd₀ = h_T,   d_t = LSTM(y_{t−1}, d_{t−1})\n"
        "p(y_t) = softmax( E (W d_t + a) + b )"
    ),
    summary=(
        "In Timeline encoder_states runs through profile (¶) and dialogue (« », hidden through the blanks, where the "
        "reply is written. Click a blank: Output lists the likeliest words. The facts of the profile would have to fit "
        "into one state with all else: it answers what was asked, and hardly listens to the profile."
    ),
    build=build,
    input=INPUT,
    sample="persona-plain-words",
    labels=VOCABULARY,
    params=(BEAM,),
    weights="persona-seq2seq.safetensors",
    train=partial(trained, build),
    source=(DialogueSeq2Seq, Writer),
    notes=(
        *FIGURES,
        "Published: perplexity 40.53 and hits@1 0.084 with the original persona, 38.08 and 0.092 with none, 40.65 and "
        "0.082 with the revised one. " + OURS,
    ),
)
