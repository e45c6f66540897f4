"""From sequence to sequence: through one vector, and with attention to every step of the input.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.8 ("Sequence-to-sequence learning with
RNNs"); Sutskever, Vinyals, Le, "Sequence to sequence learning with neural networks", 2014, section 2, the bottleneck:

    h_t = f(x_t, h_(t-1)),   s_0 = h_T,   s_i = f(y_(i-1), s_(i-1)),   p(y_i) = softmax(W s_i)

Bahdanau, Cho, Bengio, "Neural machine translation by jointly learning to align and translate", 2015, section 3 and
appendix A.1.2, with both directions in h_j:

    e_ij = v . tanh(W_a s_(i-1) + U_a h_j),   a_ij = softmax over j of e_ij (6),   c_i = sum_j a_ij h_j (5)
    s_i = f([y_(i-1), c_i], s_(i-1)),   p(y_i) = softmax(W [s_i, c_i]) (4)

f is a GRU. The decoder writes as many letters as there are in the input; what a text is too short for is blank. It
reads its own output: the likeliest letter of the step before, none at first. While it learns it reads the right one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.telling.equations import (
    Equation,
    Number,
    Term,
    Value,
    at_step,
    beside,
    every,
    first,
    fixed,
    given,
    joined,
    likeliest,
    logistic,
    once,
    projected,
    softmax,
    tanh,
    weighed,
)
from explorer.declare.types.fields import INVARIANT, PAIR
from explorer.spaces.sequence.fields import STEP
from explorer.spaces.sequence.network.form import SequenceInput
from explorer.spaces.sequence.samples import tasks
from models.layers.seeded import seeded
from models.layers.taps import Alignment, Tap
from models.training.learning import Progress
from models.training.sequences.computed import Recipe, judged_by, right, train

WIDTH = 32
LENGTHS = range(2, 25)  # of the letters that are learned from
JUDGED = (8, 16, 24)
COUNT = 500
LETTERS, TEXT = tasks.LETTERS, tasks.TEXT


class Answer(NamedTuple):
    """The answer of a decoder to a batch: scores of letters, its states, and what it attended to, if it did."""

    letters: Tensor  # (B, T, V)
    hidden: Tensor  # (B, T, H)
    scores: Tensor | None = None  # (B, T to, T from)
    alignment: Tensor | None = None
    context: Tensor | None = None  # (B, T, H')


def read_back(scores: Tensor, target: Tensor | None, i: int) -> Tensor:
    """Return y_i, one-hot: the right one while learning, else the likeliest; (B, V), (B, T, V) -> (B, V)."""
    if target is not None:
        return target[:, i]
    return F.one_hot(scores.argmax(-1), scores.shape[-1]).to(scores)


def recur(cell: nn.GRUCell, given: Tensor, state: Tensor) -> Tensor:
    """Return f(given, state), a step of a GRU.

    The cell is not called as a module: a layer that is called at every step would be a hundred layers on the screen.
    """
    return torch.gru_cell(given, state, cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)


def gru_step(left: Value, z: Term, old: Term, name: str, heading: str) -> tuple[Equation, ...]:
    """Return a step of torch's GRU from `old` to `left`, its weights called "W_r <name>" and so on."""

    def made(row: str, gate: Term | None = None) -> Term:
        w, u, b, d = (fixed(f"{n}_{row} {name}", f"{n}_{row}") for n in "WUbd")
        hidden = u @ old + d
        return w @ z + b + (hidden if gate is None else gate * hidden)

    r, u, n = (Value(f"{name} {row}", f"{row}_{left.symbol.partition('_')[2]}") for row in "run")
    return (
        Equation(r, logistic(made("r")), heading),
        Equation(u, logistic(made("u"))),
        Equation(n, tanh(made("n", r))),
        Equation(left, (Number(1.0) - u) * n + u * old),
    )


def gru_constants(parameters: Iterable[Tensor], name: str) -> dict[str, Tensor]:
    """Return the weights of a GRU by the names of `gru_step`; parameters in torch's order."""
    pairs = zip("WUbd", parameters, strict=True)
    return {f"{n}_{row} {name}": p for n, whole in pairs for row, p in zip("run", whole.chunk(3), strict=True)}


class Seq2Seq(nn.Module):
    """Read all of x into h_T, and write from that alone; one-hot (T, V) -> scores (T, V)."""

    def __init__(self, letters: int, width: int = WIDTH) -> None:
        super().__init__()
        self.encoder = nn.GRU(letters, width, batch_first=True)
        self.encoder_states = Tap(STEP)
        self.bottleneck = Tap(INVARIANT)
        self.decoder = nn.GRUCell(letters, width)
        self.letter = nn.Linear(width, letters)
        self.hidden = Tap(STEP)
        self.output = Tap(STEP)

    @property
    def equations(self) -> tuple[Equation, ...]:
        h, s, y = at_step("encoder_states", "h_t"), at_step("hidden", "s_t"), at_step("output", "y_t")
        read = Value("read", "y*_{t−1}")
        return (
            *gru_step(
                h, at_step(given(0), "x_t"), beside("encoder_states", "h_{t−1}", -1, fixed("0")), "encoder", "Encoder"
            ),
            Equation(read, likeliest(beside("output", "y_{t−1}", -1, fixed("nothing"))), "Decoder, from one vector"),
            *gru_step(s, read, beside("hidden", "s_{t−1}", -1, once("bottleneck", "h_T")), "decoder", ""),
            Equation(y, fixed("W") @ s + fixed("b")),
        )

    @property
    def constants(self) -> Mapping[str, Tensor]:
        """Return the weights, and what stands before the first step."""
        zeros, nothing = (self.letter.weight.new_zeros(n) for n in self.letter.weight.shape[::-1])
        found = gru_constants(self.encoder.parameters(), "encoder")
        found |= gru_constants(self.decoder.parameters(), "decoder")
        return {**found, "W": self.letter.weight, "b": self.letter.bias, "0": zeros, "nothing": nothing}

    def decode(self, summary: Tensor, steps: int, target: Tensor | None = None) -> Answer:
        """Write `steps` letters from (B, H)."""
        state, scores, states = summary, [], []
        read = summary.new_zeros(len(summary), self.letter.out_features)
        for i in range(steps):
            state = recur(self.decoder, read, state)
            scores.append(F.linear(state, self.letter.weight, self.letter.bias))
            states.append(state)
            read = read_back(scores[-1], target, i)
        return Answer(torch.stack(scores, 1), torch.stack(states, 1))

    def batch(self, x: Tensor, target: Tensor | None = None) -> Tensor:
        """Return the scores of many sequences of one length; (B, T, V) and the right letters -> (B, T, V)."""
        return self.decode(self.encoder(x)[1][0], x.shape[1], target).letters

    def forward(self, x: Tensor) -> Tensor:
        states, last = self.encoder(x)
        self.encoder_states(states)
        answer = self.decode(self.bottleneck(last), len(x))
        self.hidden(answer.hidden[0])
        return self.output(answer.letters[0])


class AdditiveAttention(nn.Module):
    """e_ij = v . tanh(W_a s_(i-1) + U_a h_j); made of (B, H) and U_a h, (B, T, A), -> (B, T)."""

    def __init__(self, state: int, memory: int, inner: int) -> None:
        super().__init__()
        self.query = nn.Linear(state, inner, bias=False)
        self.key = nn.Linear(memory, inner)
        self.vector = nn.Parameter(torch.randn(inner) / inner**0.5)

    def forward(self, state: Tensor, keys: Tensor) -> Tensor:
        return torch.tanh(F.linear(state, self.query.weight)[:, None] + keys) @ self.vector

    def keys(self, memory: Tensor) -> Tensor:
        """Return U_a h, which no step of the decoder changes."""
        return F.linear(memory, self.key.weight, self.key.bias)


class Bahdanau(nn.Module):
    """Look at every step of x anew before each letter; one-hot (T, V) -> scores (T, V)."""

    def __init__(self, letters: int, width: int = WIDTH) -> None:
        super().__init__()
        self.encoder = nn.GRU(letters, width, batch_first=True, bidirectional=True)
        self.encoder_states = Tap(STEP)
        self.start = nn.Linear(width, width)
        self.align = AdditiveAttention(width, 2 * width, width)
        self.decoder = nn.GRUCell(letters + 2 * width, width)
        self.letter = nn.Linear(3 * width, letters)
        self.scores = Alignment(PAIR)
        self.alignment = Alignment(PAIR)
        self.context = Tap(STEP)
        self.hidden = Tap(STEP)
        self.output = Tap(STEP)

    @property
    def equations(self) -> tuple[Equation, ...]:
        width = self.decoder.hidden_size
        left, right = (0, width), (width, 2 * width)
        x, memory, zero = at_step(given(0), "x_t"), every("encoder_states", "h_j"), fixed("0")
        start = tanh(fixed("W_s") @ first(every("encoder_states", "←h_j", right)) + fixed("b_s"))
        s, old = at_step("hidden", "s_t"), beside("hidden", "s_{t−1}", -1, start)
        e, a, c = at_step("scores", "e_tj"), at_step("alignment", "a_tj"), at_step("context", "c_t")
        ahead, back, read = Value("ahead", "→h_t"), Value("back", "←h_t"), Value("read", "y*_{t−1}")
        return (
            *gru_step(ahead, x, beside("encoder_states", "→h_{t−1}", -1, zero, left), "ahead", "Encoder, ahead"),
            *gru_step(back, x, beside("encoder_states", "←h_{t+1}", 1, zero, right), "back", "Encoder, backwards"),
            Equation(at_step("encoder_states", "h_t"), joined(ahead, back)),
            Equation(
                e, projected(fixed("v"), tanh(fixed("W_a") @ old + (fixed("U_a") @ memory + fixed("b_a")))), "Alignment"
            ),
            Equation(a, softmax(e)),
            Equation(c, weighed(a, memory)),
            Equation(read, likeliest(beside("output", "y_{t−1}", -1, fixed("nothing"))), "Decoder"),
            *gru_step(s, joined(read, c), old, "decoder", ""),
            Equation(at_step("output", "y_t"), fixed("W") @ joined(s, c) + fixed("b")),
        )

    @property
    def constants(self) -> Mapping[str, Tensor]:
        """Return the weights, and what stands before the first step."""
        weights, align, letter = [*self.encoder.parameters()], self.align, self.letter
        found = gru_constants(weights[:4], "ahead") | gru_constants(weights[4:], "back")
        found |= gru_constants(self.decoder.parameters(), "decoder")
        found |= {"W_a": align.query.weight, "U_a": align.key.weight, "b_a": align.key.bias, "v": align.vector}
        found |= {"W_s": self.start.weight, "b_s": self.start.bias, "W": letter.weight, "b": letter.bias}
        zero, nothing = (letter.weight.new_zeros(n) for n in (self.decoder.hidden_size, letter.out_features))
        return {**found, "0": zero, "nothing": nothing}

    def decode(self, memory: Tensor, target: Tensor | None = None) -> Answer:
        """Write as many letters as there are steps in (B, T, 2H)."""
        batch, steps, width = len(memory), memory.shape[1], self.decoder.hidden_size
        keys = self.align.keys(memory)
        # the backward direction has read all of x when it is at the first step
        state = torch.tanh(F.linear(memory[:, 0, width:], self.start.weight, self.start.bias))
        read = memory.new_zeros(batch, self.letter.out_features)
        made: list[tuple[Tensor, ...]] = []
        for i in range(steps):
            scores = self.align.forward(state, keys)
            alignment = scores.softmax(-1)
            context = (alignment[:, None] @ memory)[:, 0]
            state = recur(self.decoder, torch.cat([read, context], -1), state)
            letters = F.linear(torch.cat([state, context], -1), self.letter.weight, self.letter.bias)
            made.append((letters, state, scores, alignment, context))
            read = read_back(letters, target, i)
        return Answer(*(torch.stack(one, 1) for one in zip(*made, strict=True)))

    def batch(self, x: Tensor, target: Tensor | None = None) -> Tensor:
        """Return the scores of many sequences of one length; (B, T, V) and the right letters -> (B, T, V)."""
        return self.decode(self.encoder(x)[0], target).letters

    def forward(self, x: Tensor) -> Tensor:
        answer = self.decode(self.encoder_states(self.encoder(x)[0])[None])
        assert answer.scores is not None and answer.alignment is not None and answer.context is not None
        self.scores(answer.scores)
        self.alignment(answer.alignment)
        self.context(answer.context[0])
        self.hidden(answer.hidden[0])
        return self.output(answer.letters[0])


Network = Seq2Seq | Bahdanau


def build(kind: type[Seq2Seq] | type[Bahdanau], letters: int) -> Network:
    """Build a network that reads and writes that many different letters."""
    return seeded(lambda: kind(letters))


def drawn_letters(chance: np.random.Generator, count: int) -> tuple[Tensor, Tensor]:
    """Draw letters of one length out of LENGTHS, one-hot, with what they are backwards; (B, T, V), (B, T)."""
    given, wanted = tasks.letters(chance, count, int(chance.integers(LENGTHS.start, LENGTHS.stop)))
    return torch.tensor(tasks.one_hot(given, len(LETTERS))), torch.tensor(wanted)


def drawn_dates(chance: np.random.Generator, count: int) -> tuple[Tensor, Tensor]:
    """Draw dates, one-hot, with what they are to become; (B, T, V), (B, T)."""
    given, wanted = tasks.dates(chance, count)
    return torch.tensor(tasks.one_hot(given, len(TEXT))), torch.tensor(wanted)


def loss(network: Network, x: Tensor, wanted: Tensor) -> Tensor:
    """Return the mean cross-entropy of the letters, each given the right ones before it."""
    scores = network.batch(x, F.one_hot(wanted, x.shape[-1]).to(x))
    return F.cross_entropy(scores.flatten(0, 1), wanted.flatten())


def judge_letters(network: Network) -> dict[str, float]:
    """Return by length how many letters, and how many whole texts, are written backwards; it reads its own output."""
    found: dict[str, float] = {}
    for length in JUDGED:
        given, wanted = tasks.letters(judged_by(), COUNT, length)
        answer = network.batch(torch.tensor(tasks.one_hot(given, len(LETTERS)))).argmax(-1)
        found[f"letters_{length}"], found[f"texts_{length}"] = right(answer, torch.tensor(wanted))
    return found


def judge_dates(network: Network) -> dict[str, float]:
    """Return how many letters, and how many whole dates, are written as they should be; it reads its own output."""
    x, wanted = drawn_dates(judged_by(), COUNT)
    letters, texts = right(network.batch(x).argmax(-1), wanted)
    return {"letters": letters, "dates": texts}


BUILDS: dict[str, Callable[[], Network]] = {
    "seq2seq": partial(build, Seq2Seq, len(LETTERS)),
    "bahdanau": partial(build, Bahdanau, len(LETTERS)),
    "seq2seq-dates": partial(build, Seq2Seq, len(TEXT)),
    "bahdanau-dates": partial(build, Bahdanau, len(TEXT)),
}
RECIPES = {
    "seq2seq": Recipe(epochs=60),
    "bahdanau": Recipe(epochs=30),
    "seq2seq-dates": Recipe(epochs=60),
    "bahdanau-dates": Recipe(epochs=30),
}


def trained(
    name: str, epochs: int | None = None, seed: int = 0, progress: Progress | None = None
) -> tuple[nn.Module, Mapping[str, float]]:
    """Train the network of one card on its task."""
    dates = name.endswith("dates")
    draw, judge = (drawn_dates, judge_dates) if dates else (drawn_letters, judge_letters)
    return train(BUILDS[name], draw, loss, judge, RECIPES[name], epochs, seed, progress)


FIGURES = {
    "seq2seq": (
        "8,328 parameters, 60 epochs of 100 steps, 64 texts of 2 to 24 letters each. Whole texts written backwards, "
        "of 500 new ones of each length: 8: 93.8 %, 16: 0.0 %, 24: 0.0 %; single letters: 97.0 %, 55.3 %, 40.4 %.",
    ),
    "bahdanau": (
        "23,208 parameters, 30 epochs of 100 steps, 64 texts of 2 to 24 letters each. Whole texts written "
        "backwards, of 500 new ones of each length: 8: 100.0 %, 16: 100.0 %, 24: 100.0 %.",
    ),
    "seq2seq-dates": (
        "15,078 parameters, 60 epochs of 100 steps, 64 dates each. 74.0 % of 500 new dates are right from end to "
        "end, and 97.2 % of the letters.",
    ),
    "bahdanau-dates": (
        "34,758 parameters, 30 epochs of 100 steps, 64 dates each. 100.0 % of 500 new dates are right from end to end.",
    ),
}

_REFERENCES = {
    "seq2seq": (
        'Sutskever, Vinyals, Le, "Sequence to sequence learning with neural networks", 2014, section 2; Bronstein '
        'et al., "Geometric Deep Learning", 2021, section 5.8'
    ),
    "bahdanau": (
        'Bahdanau, Cho, Bengio, "Neural machine translation by jointly learning to align and translate", 2015, '
        'section 3, eq. (4) to (6), and appendix A.1.2; Bronstein et al., "Geometric Deep Learning", 2021, section 5.8'
    ),
}
_EQUATIONS = {
    "seq2seq": "h_t = GRU(x_t, h_{t−1}),   s_0 = h_T\ns_i = GRU(y_{i−1}, s_{i−1}),   p(y_i) = softmax(W s_i + b)",
    "bahdanau": (
        "e_ij = v · tanh(W_a s_{i−1} + U_a h_j)\nα_ij = exp(e_ij) / Σ_k exp(e_ik)   (6),   c_i = Σ_j α_ij h_j   (5)\n"
        "s_i = GRU([y_{i−1}, c_i], s_{i−1}),   p(y_i) = softmax(W [s_i, c_i] + b)   (4)"
    ),
}
_WORDS = {
    "seq2seq": (
        "All that the decoder knows is one vector, bottleneck, whatever the length of the input. Load 8, 12, then 24 "
        "letters: the first ones written are right, and the longer the text, the fewer."
    ),
    "bahdanau": (
        "Before each letter the decoder looks at all states of the encoder: a row of alignment says where. Letters "
        "written backwards give the other diagonal, at 8 letters as at 24."
    ),
    "seq2seq-dates": (
        "A date goes through one vector and comes out in another form. Compare it with attention, which has to carry "
        "nothing that it can look up."
    ),
    "bahdanau-dates": (
        "The alignment shows which letters each digit comes from: the month is read from its name, the year is copied "
        "digit by digit."
    ),
}
_TITLES = {
    "seq2seq": "Sequence to sequence through one vector",
    "bahdanau": "Additive attention (Bahdanau)",
    "seq2seq-dates": "Dates rewritten through one vector",
    "bahdanau-dates": "Dates rewritten with additive attention",
}


def _card(name: str) -> Card:
    kind, _, dates = name.partition("-")
    letters = TEXT if dates else LETTERS
    return Card(
        name=name,
        title=_TITLES[name],
        rows=("R5",),
        domain="sequence",
        reference=_REFERENCES[kind],
        equation=_EQUATIONS[kind],
        summary=_WORDS[name],
        build=BUILDS[name],
        input=SequenceInput(channels=len(letters), kind="tokens"),
        sample="date" if dates else "letters-12",
        labels=tuple("blank" if letter == tasks.BLANK else letter for letter in letters),
        weights=f"{name}.safetensors",
        train=partial(trained, name),
        source=(Seq2Seq,) if kind == "seq2seq" else (AdditiveAttention, Bahdanau),
        notes=FIGURES[name],
    )


CARD = tuple(_card(name) for name in BUILDS)
