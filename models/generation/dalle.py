"""Pictures from captions, code by code: a discrete autoencoder and a causal transformer (row G11).

Ramesh et al., "Zero-Shot Text-to-Image Generation", 2021 (DALL-E). The network that is looked at completes a picture:
of the picture it is given it keeps the first rows of codes, draws the others one after the other from the distribution
that the transformer gives, and decodes them. No rows kept is caption to image. Of several drawn pictures the one with
the largest log p(codes | caption) is the answer: the authors rerank by another network, which compares pictures with
captions (section 2.6); here the transformer itself says which picture it holds for the likeliest.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.grid.drawing.tokens import Candidate, CanvasPart, CodebookPart
from explorer.spaces.grid.fields import grid
from explorer.spaces.grid.network.form import InputSpec
from explorer.spaces.grid.samples.captioned import COLOURS, RELATIONS, SHAPES, SIDE, WORDS, Caption
from models.layers.taps import Tap
from models.layers.vision.captions import NO_WORD, CaptionTransformer, caption_tensor
from models.layers.vision.codes import CODES, STRIDE, WAYS, Choice, Decoder, DiscreteVAE, Encoder, elbo_loss, gumbel
from models.training.images.captions import train_book, train_writer

ROWS = SIDE // STRIDE
PLACES = ROWS * ROWS
MOST_CANDIDATES = 8


class Book(DiscreteVAE):
    """The discrete autoencoder, and what there is to see of its codes."""

    def drawn_part(self, one: Any) -> CodebookPart:
        """Return the codes of x and of rho(g) x with the book."""
        logits, moved = one.p.values["encoder.logits"], one.answers["encoder.logits"]
        return CodebookPart(
            _whole(logits[0].argmax(0)), _whole(moved[0].argmax(0)), _array(logits[0].softmax(0).movedim(0, -1)),
            _array(self.patches), _array(self.usage), self.codes.temperature,
        )  # fmt: skip


class DallE(nn.Module):
    """Complete a picture for a caption; (N, 3, side, side) -> the same.

    Args:
        caption: what is to be seen.
        rows: rows of codes that are kept of the picture.
        made: how many codes there are so far; the others are still to come.
        told: whether the caption is given; else every word is left out.
        temperature: of the distribution that codes are drawn from; 0 takes the likeliest.
        seed: of the noise.
        candidates: how many pictures are drawn, of which the best is the answer.
    """

    def __init__(
        self, caption: Caption, rows: int = 0, made: int = PLACES, temperature: float = 1.0, seed: int = 0,
        candidates: int = 1, told: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.caption, self.temperature, self.told = caption, temperature, told
        self.given = rows * ROWS
        self.done = max(self.given, made)
        self.dvae = DiscreteVAE(SIDE)
        self.writer = CaptionTransformer(SIDE)
        self.completed = Tap(grid(spacing=float(STRIDE)))
        noise = torch.stack([gumbel((PLACES, CODES), 1000 * seed + k) for k in range(candidates)])
        self.register_buffer("noise", noise, persistent=False)

    noise: Tensor

    def forward(self, x: Tensor) -> Tensor:
        own = self.dvae.codes(self.dvae.encoder(x))
        words, codes = self.words(x), own.argmax(1).flatten(1)
        codes = self.completions(words, codes)[0][0]
        self.writer(words, codes)  # once more over the finished sequence, for every layer to be seen
        drawn = self.vectors(codes).to(x)
        kept = (torch.arange(PLACES, device=x.device) < self.given).reshape(ROWS, ROWS)
        return self.dvae.decoder(self.completed(torch.where(kept, own, drawn)))

    def vectors(self, codes: Tensor) -> Tensor:
        """Return codes as vectors over the book, the commonest for those to come; (N, places) -> (N, codes, h, w)."""
        there = torch.arange(PLACES, device=codes.device) < self.done
        shown = torch.where(there, codes, self.dvae.usage.argmax())
        return F.one_hot(shown, CODES).movedim(-1, 1).unflatten(2, (ROWS, ROWS))

    def words(self, x: Tensor) -> Tensor:
        """Return the caption for each picture."""
        numbers = self.caption.numbers if self.told else (NO_WORD,) * WORDS
        return caption_tensor(numbers, len(x), x.device)

    @torch.no_grad()
    def completions(self, words: Tensor, codes: Tensor) -> tuple[Tensor, Tensor]:
        """Return every completion, (candidates, N, places), the best first, and their scores, (candidates, N)."""
        count, batch = len(self.noise), len(codes)
        words, codes = words.repeat(count, 1), codes.repeat(count, 1)
        noise = self.noise.repeat_interleave(batch, 0)
        # whoever watches the network would take the attention of every single step for a layer
        with torch._C.DisableTorchFunction():
            codes = self.writer.write(words, codes, self.given, self.done, self.temperature, noise)
            scores = self.writer.score(words, codes, self.done).unflatten(0, (count, batch))
            ranked, order = torch.sort(scores, dim=0, descending=True, stable=True)
            every = codes.unflatten(0, (count, batch))
            return every.gather(0, order[..., None].expand_as(every)), ranked

    def drawn_part(self, one: Any) -> CanvasPart:
        """Return how the picture is made of x; that does not depend on the element."""
        kept = one.p.kept
        if "canvas" not in kept:
            kept["canvas"] = self._canvas(one.p)
        return kept["canvas"]

    @torch.no_grad()
    def _canvas(self, p: Any) -> CanvasPart:
        own = p.values["dvae.codes"][:1].argmax(1).flatten(1)
        every, scores = self.completions(self.words(own), own)
        codes, answer = every[0][0], p.output[0]
        attention = {
            name: _array(p.values[name][0][:, WORDS - 1 : -1, :WORDS])
            for name in (f"writer.blocks.{k}.attn.attention" for k in range(len(self.writer.blocks)))
        }
        next_code = p.values["writer.next"][0].double()
        if self.temperature > 0:
            next_code = next_code / self.temperature
        pictures = self.dvae.decoder(self.vectors(every[:, 0]).to(answer))
        candidates = tuple(Candidate(_array(v), float(s)) for v, s in zip(pictures, scores[:, 0], strict=True))
        return CanvasPart(
            self.caption.words if self.told else ("…",) * WORDS, _whole(codes.reshape(ROWS, ROWS)), self.given,
            self.done,
            _array(next_code.softmax(-1)), attention, _array(answer), _array(self.dvae.patches),
            candidates if len(candidates) > 1 else (),
        )  # fmt: skip


def _array(values: Tensor) -> Any:
    found = values.detach().to("cpu", torch.float32).numpy().copy()
    found.flags.writeable = False
    return found


def _whole(values: Tensor) -> Any:
    return values.detach().to("cpu", torch.int64).numpy().copy()


def build_book(temperature: float = 0.0, way: float = 0, seed: float = 0) -> Book:
    """Build the autoencoder; `way` is one of WAYS."""
    return Book(SIDE, temperature, WAYS[int(way)], int(seed))


def build(
    colour: float = 0, shape: float = 0, relation: float = 0, other_colour: float = 2, other_shape: float = 1,
    rows: float = 0, made: float = PLACES, temperature: float = 1.0, seed: float = 0, candidates: float = 1,
    caption: float = 0,
) -> DallE:  # fmt: skip
    """Build the network for a caption, which is numbers into COLOURS, SHAPES and RELATIONS."""
    meant = Caption(int(colour), int(shape), int(relation), int(other_colour), int(other_shape))
    return DallE(meant, int(rows), int(made), temperature, int(seed), int(candidates), not int(caption))


REFERENCE = 'Ramesh et al., "Zero-Shot Text-to-Image Generation", 2021, section 2'
TEMPERATURE = Param("temperature", "Temperature", 0.0, 0.0, 2.0, step=0.1)
SEED = Param("seed", "Seed of the noise", 0, 0, 99, whole=True)


def _choice(name: str, title: str, default: int, choices: tuple[str, ...]) -> Param:
    return Param(name, title, default, 0, len(choices) - 1, choices=choices)


CARD = (
    Card(
        name="dvae",
        title="Discrete autoencoder: a picture as codes",
        rows=("G11",),
        reference=REFERENCE + '.1; Jang et al., "Categorical Reparameterization with Gumbel-Softmax", 2017, eq. (2)',
        equation=(
            "k_ij = argmax_k (log q(k | x)_ij + g_k),   g = −log(−log u)\n"
            "y = softmax((log q + g) / τ)   relaxed\n"
            "y_hard + y − stop(y)   straight-through\n"
            "L = −log p(x | y) + β KL(q ‖ 1/K) − λ H(mean q)"
        ),
        summary=(
            "A sprite as 6 x 6 codes out of a book of 64, and back. The Code book view shows what each code stands "
            "for and how often it is used. Raise the temperature to draw codes at random; between straight-through and "
            "relaxed the decoder gets one code or a mixture of several."
        ),
        build=build_book,
        input=InputSpec(shape=(3, SIDE, SIDE)),
        sample="captioned-1",
        weights="dvae.safetensors",
        params=(TEMPERATURE, _choice("way", "Value of a code", 0, WAYS), SEED),
        train=train_book,
        notes=(
            "28,579 parameters, 36 epochs of 50 steps, 32 sprites each. The squared error of a "
            "value in [0, 1] is 0.0029; 63 of 64 codes are used, with a perplexity of 40.",
        ),
        source=(Encoder, Choice, Decoder, DiscreteVAE, elbo_loss),
    ),
    Card(
        name="dalle",
        title="DALL-E in small: a picture from a caption",
        rows=("G11",),
        reference=REFERENCE,
        equation=(
            "p(words, codes) = Π_t p(token_t | tokens before t)\n"
            "code_t = argmax_k (log p_k / τ + g_k),   g = −log(−log u)\n"
            "score = Σ_t log p(code_t | words, codes before t)"
        ),
        summary=(
            "Say what is to be seen with the choices below Model, and how many rows of the picture are kept. The Token "
            "canvas shows the picture code by code, the distribution of the next code and the words that it attends "
            "to. Take fewer codes to see it half made, and several candidates to let the best one be chosen."
        ),
        build=build,
        input=InputSpec(shape=(3, SIDE, SIDE)),
        sample="captioned-1",
        weights="dalle.safetensors",
        params=(
            _choice("colour", "Colour", 0, COLOURS),
            _choice("shape", "Shape", 0, SHAPES),
            _choice("relation", "Where", 0, RELATIONS),
            _choice("other_colour", "Other colour", 2, COLOURS),
            _choice("other_shape", "Other shape", 1, SHAPES),
            Param("rows", "Rows kept of the picture", 0, 0, ROWS, whole=True),
            Param("made", "Codes so far", PLACES, 0, PLACES, whole=True),
            Param("temperature", "Temperature", 1.0, 0.0, 2.0, step=0.1),
            SEED,
            Param("candidates", "Candidates", 1, 1, MOST_CANDIDATES, whole=True),
            _choice("caption", "Caption", 0, ("given", "none")),
        ),
        train=partial(train_writer, build),
        notes=(
            "141,027 parameters; after the autoencoder 40 epochs of 50 steps. Of 200 captions the picture shows all "
            "five facts: the likeliest codes 83 %, drawn once 59 %, the best of eight 78 %, the lower half completed "
            "64 %. The right codes, decoded, are read aright in 83 %.",
            "Codes are drawn with kept keys and values, outside of the layers; the layers then see the finished "
            "sequence, and what is changed in one counts there alone.",
        ),
        source=(DallE, CaptionTransformer, DiscreteVAE),
    ),
)
