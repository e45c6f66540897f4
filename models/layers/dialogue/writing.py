"""Replies written word by word: an encoder reads the dialogue, a decoder writes, and a beam searches.

Zhang, Dinan, Urbanek, Szlam, Kiela, Weston, "Personalizing dialogue agents: I have a dog, do you have pets too?", 2018,
sections 4.4 and 4.5. The sequence holds the sentences of the profile and what was said, a symbol before each of them,
and blanks (`explorer.spaces.sequence.samples.persona_chat`). The encoder is done before the first blank; at the blanks
the decoder writes, as many words as fit or up to the end it chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence

from explorer.declare.params import Param
from explorer.spaces.sequence.fields import STEP
from explorer.spaces.sequence.network.form import SequenceInput
from explorer.spaces.sequence.samples import personas
from explorer.spaces.sequence.samples.persona_chat import (
    BLANK,
    END,
    OWN,
    PARTNER,
    PROFILE,
    UNKNOWN,
)
from models.layers.taps import Tap

WIDTH, SIZE = 32, 16  # of states and of the vectors of words
VOCABULARY = personas.vocabulary()
AT = {word: k for k, word in enumerate(VOCABULARY)}
INPUT = SequenceInput(len(VOCABULARY), "tokens", most=2000, columns=VOCABULARY, unknown=UNKNOWN)
SILENT = 10.0  # score of the blank where nothing is written
BEAM = Param("beam", "Width of the beam", 1, 1, 10, whole=True)


class Given(NamedTuple):
    """The start of a decoder, of B turns: the encoder's last state and the memory, which may be empty."""

    hidden: Tensor  # (B, H)
    cell: Tensor  # (B, H)
    memory: Tensor  # (B, M, E)
    among: Tensor  # (B, M), 1 where there is a sentence


class Step(NamedTuple):
    """One step of a decoder: scores of words, its state, and the attention paid to the memory."""

    scores: Tensor  # (B, V)
    hidden: Tensor  # (B, H)
    cell: Tensor  # (B, H)
    attention: Tensor  # (B, M)


def spoken(tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Return which steps are of the profile, and the number of the sentence each is in, from 0; (..., T) of words."""
    own = tokens == AT[PROFILE]
    starts = own | (tokens == AT[PARTNER]) | (tokens == AT[OWN])
    places = torch.arange(tokens.shape[-1], device=tokens.device).expand_as(tokens)
    last = torch.where(starts, places, -1).cummax(-1).values
    inside = (last >= 0) & own.gather(-1, last.clamp_min(0))
    return inside, (own.cumsum(-1) - 1).clamp_min(0)


class Writer(nn.Module):
    """Read, then write at the blanks; one-hot (T, V) -> scores of words (T, V)."""

    def __init__(self, beam: int = 1, width: int = WIDTH, size: int = SIZE) -> None:
        super().__init__()
        self.beam = beam
        self.embedding = nn.Linear(len(VOCABULARY), size, bias=False)
        self.encoder = nn.LSTM(size, width, batch_first=True)
        self.decoder = nn.LSTMCell(size, width)
        self.word = nn.Linear(width, size)  # then as near as may be to the vector of a word
        self.prior = nn.Parameter(torch.zeros(len(VOCABULARY)))
        nn.init.normal_(self.embedding.weight, std=size**-0.5)
        self.encoder_states = Tap(STEP)
        self.hidden = Tap(STEP)
        self.written = Tap(STEP)
        self.output = Tap(STEP)
        self.remember()

    def remember(self) -> None:
        """Make what a memory needs, of a network that has one."""

    def reads(self, tokens: Tensor) -> Tensor:
        """Return which steps before the blanks the encoder reads; (..., T) -> (..., T)."""
        return tokens != AT[BLANK]

    def memory(self, x: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Return the sentences of the profile, and which there are; (B, T, V), (B, T) -> (B, M, E), (B, M)."""
        return x.new_zeros(len(x), 1, self.embedding.out_features), x.new_zeros(len(x), 1)

    def attend(self, given: Given, hidden: Tensor) -> Tensor:
        """Return the attention that a state pays to each sentence; (B, H) -> (B, M)."""
        return given.among * 0

    def feed(self, word: Tensor, context: Tensor) -> Tensor:
        """Return what the decoder reads; (B, E), (B, E) -> (B, E)."""
        return word

    def begin(self, x: Tensor, tokens: Tensor, lengths: Tensor | None = None) -> tuple[Given, Tensor]:
        """Read (B, T, V): what the decoder starts from, and the encoder's states, 0 where it does not read."""
        vectors, wanted = F.linear(x, self.embedding.weight), self.reads(tokens)
        if lengths is not None:
            wanted = wanted & (torch.arange(tokens.shape[1], device=tokens.device) < lengths[:, None])
        counts = wanted.sum(1)
        states = x.new_zeros(*tokens.shape, self.encoder.hidden_size)
        last = (x.new_zeros(len(x), self.encoder.hidden_size),) * 2
        if int(counts.min()) > 0:
            order = (
                wanted.logical_not().to(torch.int8).argsort(dim=1, stable=True)
            )  # what is read comes first, in order
            packed = vectors.gather(1, order[..., None].expand_as(vectors))[:, : int(counts.max())]
            if len(x) == 1:
                # one at a time without packing, which knows no forward-mode derivatives
                found, (h, c) = self.encoder.forward(packed)
                states = states.masked_scatter(wanted[..., None], found)
            else:
                _, (h, c) = self.encoder.forward(
                    pack_padded_sequence(packed, counts.cpu(), batch_first=True, enforce_sorted=False)
                )
            last = (h[0], c[0])
        return Given(*last, *self.memory(x, tokens)), states

    def step(self, given: Given, word: Tensor, hidden: Tensor, cell: Tensor) -> Step:
        """Return the next scores; `word` is the number of the word before, (B,)."""
        attention = self.attend(given, hidden)
        context = (attention[:, None] @ given.memory)[:, 0]
        read = self.feed(self.embedding.weight.t()[word], context)
        d = self.decoder
        hidden, cell = torch.lstm_cell(read, (hidden, cell), d.weight_ih, d.weight_hh, d.bias_ih, d.bias_hh)
        near = F.linear(hidden, self.word.weight, self.word.bias) @ self.embedding.weight + self.prior
        return Step(near, hidden, cell, attention)

    def follow(self, given: Given, words: Tensor) -> Step:
        """Return all steps of writing `words` (B, R), each given the right ones before it; with an axis R after B."""
        before = F.pad(words.clamp_min(0), (1, -1), value=AT[OWN])
        hidden, cell, made = given.hidden, given.cell, []
        for now in before.unbind(1):
            made.append(self.step(given, now, hidden, cell))
            hidden, cell = made[-1].hidden, made[-1].cell
        return Step(*(torch.stack(values, 1) for values in zip(*made, strict=True)))

    @torch.no_grad()
    def search(self, given: Given, steps: int) -> Tensor:
        """Return the likeliest reply of at most `steps` words that a beam finds, blanks after its end; -> (steps,)."""
        words, scores = given.hidden.new_full((1, 0), 0, dtype=torch.int64), given.hidden.new_zeros(1)
        hidden, cell = given.hidden, given.cell
        for _ in range(steps):
            last = words[:, -1] if words.shape[1] else words.new_full((1,), AT[OWN])
            many = Given(hidden, cell, *(v.expand(len(words), *v.shape[1:]) for v in given[2:]))
            made = self.step(many, last.where(last != AT[BLANK], AT[END]), hidden, cell)
            found = made.scores.log_softmax(-1)
            found[:, AT[BLANK]] = -torch.inf
            ended = (last == AT[END]) | (last == AT[BLANK])
            found[ended] = -torch.inf
            found[ended, AT[BLANK]] = 0.0
            total = (scores[:, None] + found).flatten()
            scores, best = total.topk(min(self.beam, int(torch.isfinite(total).sum())))
            rows, chosen = best // found.shape[1], best % found.shape[1]
            words = torch.cat([words[rows], chosen[:, None]], 1)
            hidden, cell = made.hidden[rows], made.cell[rows]
        return words[0]

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.argmax(-1)
        blank = (tokens == AT[BLANK]) & (x[:, AT[BLANK]] > 0)
        steps = blank.nonzero()[:, 0]
        given, states = self.begin(x[None], tokens[None])
        self.embedding(x)
        self.encoder_states(states[0])
        hidden = x.new_zeros(len(x), self.decoder.hidden_size)
        written, scores = torch.zeros_like(x), torch.zeros_like(x)
        scores[:, AT[BLANK]] = SILENT
        attention = x.new_zeros(len(x), given.memory.shape[1])
        if len(steps):
            words = self.search(given, len(steps))
            made = self.follow(given, words[None])
            said = (words != AT[BLANK])[:, None]
            hidden = hidden.index_copy(0, steps, made.hidden[0] * said)
            attention = attention.index_copy(0, steps, made.attention[0] * said)
            written = written.index_copy(0, steps, F.one_hot(words, x.shape[1]).to(x))
            scores = scores.index_copy(0, steps, torch.where(said, made.scores[0], scores[steps]))
        self.hidden(hidden)
        self.written(written)
        self.look(attention, x, tokens)
        return self.output(scores)

    def look(self, attention: Tensor, x: Tensor, tokens: Tensor) -> None:
        """Pass the attention of every step through its layer, of a network that has one; (T, M)."""


def numbers(words: Sequence[str]) -> list[int]:
    """Return the numbers of words, that of UNKNOWN for those that are not known."""
    return [AT.get(word, AT[UNKNOWN]) for word in words]
