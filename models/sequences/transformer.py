"""The Transformer: an encoder that attends to itself, and a decoder that attends to itself and to the encoder.

Vaswani et al., "Attention is all you need", 2017, section 3 and figure 1; every attention in six steps, which are
layers of their own (`models.layers.attention.steps`):

    q, k, v = W_q x, W_k m, W_v m,   logits = q k^T / sqrt(d_k),   mask,   a = softmax,   context = a v (1)
    x <- LayerNorm(x + Attention(x, m))
    x <- LayerNorm(x + W_2 max(0, W_1 x + b_1) + b_2) (2)
    PE(pos, 2i) = sin(pos / 10000^(2i/d)),   PE(pos, 2i+1) = cos(pos / 10000^(2i/d)) (section 3.5)

As in the paper, nothing is normalised after the last layer; nn.Transformer does that too (`final_norm`).
The task is to write letters backwards. The decoder is given the right answer, one step late, as it is while learning;
its mask keeps it from looking ahead. What it reaches when it reads its own output is in the notes of the card.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.declare.telling.equations import Equation, Number, at_step, fixed, given, relu, standardised
from explorer.spaces.sequence.fields import ANSWER, NUMBERS, STEP
from explorer.spaces.sequence.network.form import SequenceInput
from explorer.spaces.sequence.samples import tasks
from models.layers.attention.steps import Attention, Residual
from models.layers.seeded import seeded
from models.layers.taps import Tap
from models.training.learning import Progress
from models.training.sequences.computed import Recipe, judged_by, right, train

WIDTH, HEADS, INNER, DEPTH = 32, 2, 64, 2
LENGTHS = range(4, 13)
JUDGED = (8, 12)
COUNT = 500
LETTERS = tasks.LETTERS
MOST = 16_384  # beyond 2,048 steps attention is not formed as a matrix, and its time still grows with their square


def sinusoids(steps: int, width: int, like: Tensor) -> Tensor:
    """Return PE of section 3.5, (T, d), on the device and in the precision of `like`."""
    rate = torch.exp(torch.arange(0, width, 2, dtype=torch.float64) * (-math.log(10000.0) / width))
    angle = torch.arange(steps, dtype=torch.float64)[:, None] * rate
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1).to(like)


class Positions(nn.Module):
    """PE of as many steps as x has; (..., T, C) -> (T, d)."""

    out_field = STEP

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, x: Tensor) -> Tensor:
        return sinusoids(x.shape[-2], self.width, x)


class Embedding(nn.Module):
    """sqrt(d) W x + PE, or without PE; (..., T, V) -> (..., T, d)."""

    out_field = STEP

    def __init__(self, letters: int, width: int, positions: bool = True) -> None:
        super().__init__()
        self.letter = nn.Linear(letters, width, bias=False)
        nn.init.normal_(self.letter.weight, std=width**-0.5)
        self.positions = Positions(width) if positions else None
        self.add_positions = Residual()
        self.scale = math.sqrt(width)

    @property
    def equations(self) -> tuple[Equation, ...]:
        if self.positions is None:
            return (Equation(at_step("letter", "W x⁽ᵗ⁾"), fixed("W") @ at_step(given(0), "x⁽ᵗ⁾")),)
        letter, position = at_step("letter", "l⁽ᵗ⁾"), at_step("positions", "PE⁽ᵗ⁾")
        return (
            Equation(letter, fixed("W") @ at_step(given(0), "x⁽ᵗ⁾"), "Embed letters"),
            Equation(at_step("add_positions", "h⁽ᵗ⁾"), fixed("√d") * letter + position, "Add the position encoding"),
        )

    @property
    def constants(self) -> Mapping[str, Tensor]:
        """Return W and the square root of d."""
        return {"W": self.letter.weight, "√d": torch.tensor(self.scale)}

    def forward(self, x: Tensor) -> Tensor:
        h = self.letter(x) * self.scale
        return h if self.positions is None else self.add_positions(h, self.positions(x))


class FeedForward(nn.Module):
    """W_2 max(0, W_1 x + b_1) + b_2 at every step alone, equation 2."""

    out_field = STEP

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.linear1 = nn.Linear(width, inner)
        self.relu = nn.ReLU()
        self.linear2 = nn.Linear(inner, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.relu(self.linear1(x)))


def add_and_norm(k: int, x: str, change: str, symbol: str, heading: str = "") -> tuple[Equation, ...]:
    """Return x <- LayerNorm(x + change) as the layers residual<k> and norm<k> of a block."""
    sums, after = at_step(f"residual{k}", f"s_{k}⁽ᵗ⁾"), at_step(f"norm{k}", f"x_{k}⁽ᵗ⁾")
    before = at_step(x, f"x_{k - 1}⁽ᵗ⁾" if k > 1 else "x⁽ᵗ⁾")
    return (
        Equation(sums, before + at_step(change, symbol), heading),
        Equation(after, fixed(f"γ_{k}") * standardised(sums, Number(EPSILON)) + fixed(f"β_{k}")),
    )


def feed_forward(k: int) -> tuple[Equation, ...]:
    """Return equation 2 of a block whose norm<k> comes before it."""
    inner, open_, out = (at_step(f"feed_forward.{n}", s) for n, s in FEED_FORWARD)
    return (
        Equation(inner, fixed("W_1") @ at_step(f"norm{k}", f"x_{k}⁽ᵗ⁾") + fixed("b_1")),
        Equation(open_, relu(inner)),
        Equation(out, fixed("W_2") @ open_ + fixed("b_2")),
    )


def block_constants(block: EncoderLayer | DecoderLayer) -> Mapping[str, Tensor]:
    """Return the weights of the normalisations and of the small network."""
    small = block.feed_forward
    named = {"W_1": small.linear1.weight, "b_1": small.linear1.bias}
    named |= {"W_2": small.linear2.weight, "b_2": small.linear2.bias}
    for name, norm in block.named_children():
        if isinstance(norm, nn.LayerNorm):
            named |= {f"γ_{name[4:]}": norm.weight, f"β_{name[4:]}": norm.bias}
    return named


EPSILON = 1e-5  # of nn.LayerNorm
FEED_FORWARD = (("linear1", "f⁽ᵗ⁾"), ("relu", "r⁽ᵗ⁾"), ("linear2", "u⁽ᵗ⁾"))
SIXTH = "6 Add and normalise, feed forward, add and normalise"


class EncoderLayer(nn.Module):
    """Attention to all steps, then a small network at each; (..., T, C) -> the same."""

    out_field = STEP
    equations = (
        *add_and_norm(1, given(0), "self_attention.out", "o⁽ᵗ⁾", SIXTH),
        *feed_forward(1),
        *add_and_norm(2, "norm1", "feed_forward.linear2", "u⁽ᵗ⁾"),
    )

    @property
    def constants(self) -> Mapping[str, Tensor]:
        """Return what stands in the sixth step."""
        return block_constants(self)

    def __init__(self, width: int, heads: int, inner: int) -> None:
        super().__init__()
        self.self_attention = Attention(width, heads)
        self.residual1 = Residual()
        self.norm1 = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width, inner)
        self.residual2 = Residual()
        self.norm2 = nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm1(self.residual1(x, self.self_attention(x, x)))
        return self.norm2(self.residual2(x, self.feed_forward(x)))


class DecoderLayer(nn.Module):
    """Attention to the steps so far, attention to the encoder, a small network; (..., T, C), (..., S, C)."""

    out_field = STEP
    equations = (
        *add_and_norm(1, given(0), "self_attention.out", "o⁽ᵗ⁾", "6 Add and normalise"),
        *add_and_norm(2, "norm1", "cross_attention.out", "o⁽ᵗ⁾", SIXTH),
        *feed_forward(2),
        *add_and_norm(3, "norm2", "feed_forward.linear2", "u⁽ᵗ⁾"),
    )

    @property
    def constants(self) -> Mapping[str, Tensor]:
        """Return what stands in the sixth step."""
        return block_constants(self)

    def __init__(self, width: int, heads: int, inner: int, masked: bool = True) -> None:
        super().__init__()
        self.self_attention = Attention(width, heads, causal=masked, rows=ANSWER, columns=NUMBERS)
        self.residual1 = Residual()
        self.norm1 = nn.LayerNorm(width)
        self.cross_attention = Attention(width, heads, rows=ANSWER)
        self.residual2 = Residual()
        self.norm2 = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width, inner)
        self.residual3 = Residual()
        self.norm3 = nn.LayerNorm(width)

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        x = self.norm1(self.residual1(x, self.self_attention(x, x)))
        x = self.norm2(self.residual2(x, self.cross_attention(x, memory)))
        return self.norm3(self.residual3(x, self.feed_forward(x)))


class EncoderDecoder(nn.Module):
    """Both stacks of figure 1, without embeddings; (..., S, C), (..., T, C) -> (..., T, C).

    With `final_norm` it computes what nn.Transformer(norm_first=False) does.
    """

    def __init__(
        self, width: int, heads: int, inner: int, depth: int, final_norm: bool = False, masked: bool = True
    ) -> None:
        super().__init__()
        self.encoder = nn.ModuleList(EncoderLayer(width, heads, inner) for _ in range(depth))
        self.decoder = nn.ModuleList(DecoderLayer(width, heads, inner, masked) for _ in range(depth))
        self.encoder_norm = nn.LayerNorm(width) if final_norm else None
        self.decoder_norm = nn.LayerNorm(width) if final_norm else None

    def encode(self, x: Tensor) -> Tensor:
        """Return the memory that the decoder attends to."""
        for layer in self.encoder:
            x = layer(x)
        return x if self.encoder_norm is None else self.encoder_norm(x)

    def decode(self, y: Tensor, memory: Tensor) -> Tensor:
        """Return what the decoder makes of the answer so far."""
        for layer in self.decoder:
            y = layer(y, memory)
        return y if self.decoder_norm is None else self.decoder_norm(y)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return self.decode(y, self.encode(x))


class Late(nn.Module):
    """The right answer one step late, nothing at first; one-hot (..., T, V) -> the same."""

    out_field = STEP

    def forward(self, answer: Tensor) -> Tensor:
        return F.pad(answer[..., :-1, :], (0, 0, 1, 0))


class Backwards(nn.Module):
    """Letters written backwards: what the answer is to be; (..., T, V) -> the same."""

    out_field = STEP

    def forward(self, x: Tensor) -> Tensor:
        return x.flip(-2)


class Transformer(nn.Module):
    """Write letters backwards; one-hot (T, V) -> scores (T, V)."""

    def __init__(self, letters: int, positions: bool = True, masked: bool = True, width: int = WIDTH) -> None:
        super().__init__()
        self.embed_input = Embedding(letters, width, positions)
        self.wanted = Backwards()
        self.late = Late()
        self.embed_output = Embedding(letters, width, positions)
        self.stacks = EncoderDecoder(width, HEADS, INNER, DEPTH, masked=masked)
        self.letter = nn.Linear(width, letters)
        self.output = Tap(STEP)

    def forward(self, x: Tensor) -> Tensor:
        return self.output(self.answer(x, self.late(self.wanted(x))))

    def answer(self, x: Tensor, late: Tensor) -> Tensor:
        """Return the scores of the letters, each made of the answer before it; (..., T, V) twice -> the same."""
        memory = self.stacks.encode(self.embed_input(x))
        return self.letter(self.stacks.decode(self.embed_output(late), memory))

    def written(self, x: Tensor) -> Tensor:
        """Return the letters that it writes when it reads its own output; (B, T, V) -> (B, T)."""
        memory = self.stacks.encode(self.embed_input(x))
        late = torch.zeros_like(x)
        found: list[Tensor] = []
        for i in range(x.shape[-2]):
            scores = self.letter(self.stacks.decode(self.embed_output(late[:, : i + 1]), memory))
            found.append(scores[:, -1].argmax(-1))
            if i + 1 < x.shape[-2]:
                late[:, i + 1] = F.one_hot(found[-1], x.shape[-1]).to(x)
        return torch.stack(found, -1)


def build(positions: float = 0, mask: float = 0) -> Transformer:
    """Build the network, with or without position encodings and the decoder's mask; 0 is with."""
    return seeded(lambda: Transformer(len(LETTERS), positions=not int(positions), masked=not int(mask)))


def drawn(chance: np.random.Generator, count: int) -> tuple[Tensor, Tensor]:
    """Draw letters of one length out of LENGTHS, one-hot, with what they are backwards; (B, T, V), (B, T)."""
    given, wanted = tasks.letters(chance, count, int(chance.integers(LENGTHS.start, LENGTHS.stop)))
    return torch.tensor(tasks.one_hot(given, len(LETTERS))), torch.tensor(wanted)


def loss(network: Transformer, x: Tensor, wanted: Tensor) -> Tensor:
    """Return the mean cross-entropy of the letters, each given the right ones before it."""
    return F.cross_entropy(network(x).flatten(0, 1), wanted.flatten())


def judge(network: Transformer) -> dict[str, float]:
    """Return by length how many letters, and how many whole texts, are right when it reads its own output."""
    found: dict[str, float] = {}
    for length in JUDGED:
        given, wanted = tasks.letters(judged_by(), COUNT, length)
        answer = network.written(torch.tensor(tasks.one_hot(given, len(LETTERS))))
        found[f"letters_{length}"], found[f"texts_{length}"] = right(answer, torch.tensor(wanted))
    return found


RECIPE = Recipe(epochs=16, rate=3e-3)


def trained(
    epochs: int | None = None, seed: int = 0, progress: Progress | None = None
) -> tuple[nn.Module, Mapping[str, float]]:
    """Train the network to write letters backwards."""
    return train(build, drawn, loss, judge, RECIPE, epochs, seed, progress)


FIGURES = (
    "43,528 parameters, 16 epochs of 100 steps, 64 texts of 4 to 12 letters each. Reading its own output it writes "
    "whole texts backwards: of 8: 100.0 %, of 12: 100.0 % of 500 new ones. Of 13, one more than it has seen: 35 %, "
    "of 14: none.",
)

SWITCH = ("with", "without")
CARD = Card(
    name="transformer",
    title="Transformer: encoder and decoder",
    rows=("R6",),
    domain="sequence",
    reference=(
        'Vaswani et al., "Attention is all you need", 2017, section 3, eq. (1) and (2), figure 1; Bronstein et al., '
        '"Geometric Deep Learning", 2021, section 5.4'
    ),
    equation=(
        "q, k, v = W_q x, W_k m, W_v m\na = softmax(mask(q kᵀ / √d_k)),   context = a v   (1)\n"
        "x ← LayerNorm(x + W_o context)\nx ← LayerNorm(x + W₂ max(0, W₁ x + b₁) + b₂)   (2)\n"
        "PE(t, 2i) = sin(t / 10000^(2i/d)),   PE(t, 2i+1) = cos(t / 10000^(2i/d))"
    ),
    summary=(
        "Every attention in six steps, a layer each: query, key and value, logits, masked_logits (in the decoder), "
        "attention, context. In a cross_attention of the decoder see the other diagonal: letters are written "
        "backwards. The decoder is given the right answer one step late. Leave out the positions: without them the "
        "order of the letters is lost."
    ),
    build=build,
    input=SequenceInput(channels=len(LETTERS), kind="tokens", most=MOST),
    sample="letters-12",
    labels=tuple(LETTERS),
    params=(
        Param("positions", "Position encodings", 0, 0, 1, choices=SWITCH),
        Param("mask", "Mask of the decoder", 0, 0, 1, choices=SWITCH),
    ),
    weights="transformer.safetensors",
    train=trained,
    source=(Attention, EncoderLayer, DecoderLayer, EncoderDecoder),
    notes=FIGURES,
)
