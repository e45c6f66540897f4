"""A causal transformer over the words of a caption and the codes of a picture, and how it writes codes.

Ramesh et al., "Zero-Shot Text-to-Image Generation", 2021, section 2.2: words and codes are one sequence, and

    p(words, codes) = prod_t p(token_t | tokens before it).

Only the codes are learned here: a caption is always given. A code is drawn as argmax_k (log p_k / tau + g_k) with
Gumbel noise g of a seed, which has the distribution p^(1 / tau); tau = 0 takes the likeliest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.types.fields import FieldType
from explorer.spaces.grid.fields import TokenPairs, Tokens
from explorer.spaces.grid.samples.captioned import VOCABULARY, WORDS
from models.layers.taps import Tap
from models.layers.vision.blocks import Block
from models.layers.vision.codes import CODES, STRIDE

WIDTH, HEADS, INNER, DEPTH = 64, 4, 128, 3
NO_WORD = len(VOCABULARY)  # stands for every word of no caption


class CaptionTransformer(nn.Module):
    """Scores of the next code at every place; caption (N, words), codes (N, places) of numbers -> (N, places, codes).

    Place t is told apart from place t + 1 by a learned vector; each token sees itself and what came before.
    """

    def __init__(self, side: int) -> None:
        super().__init__()
        size = (side // STRIDE, side // STRIDE)
        self.count = math.prod(size)
        # the sequence is the words, then all codes but the last: it ends where the last code is asked for
        self.word = nn.Embedding(NO_WORD + 1, WIDTH)
        self.code = nn.Embedding(CODES, WIDTH)
        self.place = nn.Parameter(torch.randn(WORDS + self.count, WIDTH) * 0.1)
        tokens = Tokens(size, float(STRIDE), WORDS)
        pairs = TokenPairs(tokens)
        self.embedded = Tap(FieldType(tokens))
        self.blocks = nn.ModuleList(Block(WIDTH, HEADS, INNER, tokens, pairs) for _ in range(DEPTH))
        for block in self.each_block:
            block.attn.causal = True
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, CODES)
        self.next = Tap(FieldType(Tokens(size, float(STRIDE))))

    @property
    def each_block(self) -> list[Block]:
        """Return the blocks in their order."""
        return [block for block in self.blocks if isinstance(block, Block)]

    def embed(self, words: Tensor, codes: Tensor) -> Tensor:
        """Return the sequence with its places, (N, words + codes, width)."""
        sequence = torch.cat([self.word.weight[words], self.code.weight[codes]], 1)
        return sequence + self.place[: sequence.shape[1]]

    def forward(self, words: Tensor, codes: Tensor) -> Tensor:
        x = self.embedded(self.embed(words, codes))
        for block in self.blocks:
            x = block(x)
        # the last word asks for the first code, each code for the next one; nobody is asked after the last
        return self.next(self.head(self.norm(x))[:, WORDS - 1 : -1])

    @torch.no_grad()
    def write(self, words: Tensor, codes: Tensor, first: int, last: int, temperature: float, noise: Tensor) -> Tensor:
        """Draw the codes from `first` to before `last` one by one; (N, places) -> the same.

        Keys and values of what came before are kept, so that each code costs one token. The modules are not called:
        what a hook has on them counts for the pass over the finished sequence alone.

        Args:
            noise: (places, codes) or one for each of the batch.
        """
        codes = codes.clone()
        kept: list[tuple[Tensor, Tensor]] = [(torch.empty(0), torch.empty(0))] * len(self.blocks)
        x = self.embed(words, codes[:, :first])
        for place in range(first, last):
            scores = self._scores(self._through(x, kept)[:, -1])
            if temperature > 0:
                scores = scores / temperature + noise[..., place, :].to(scores)
            codes[:, place] = scores.argmax(-1)
            x = self.code.weight[codes[:, place]][:, None] + self.place[WORDS + place]
        return codes

    def _through(self, x: Tensor, kept: list[tuple[Tensor, Tensor]]) -> Tensor:
        """Return new tokens behind all blocks, (N, new, width) -> the same; keys and values are kept."""
        for k, block in enumerate(self.each_block):
            norm, attention = block.norm1, block.attn
            h = F.layer_norm(x, (WIDTH,), norm.weight, norm.bias, norm.eps)
            q, key, value = F.linear(h, attention.qkv.weight, attention.qkv.bias).chunk(3, -1)
            q, key, value = (v.unflatten(-1, (HEADS, -1)).transpose(1, 2) for v in (q, key, value))
            if kept[k][0].ndim > 1:
                key, value = torch.cat([kept[k][0], key], 2), torch.cat([kept[k][1], value], 2)
            kept[k] = key, value
            logits = q @ key.transpose(-1, -2) / math.sqrt(q.shape[-1])
            if q.shape[2] > 1:
                later = torch.ones(q.shape[2], key.shape[2], dtype=torch.bool, device=x.device)
                logits = logits.masked_fill(later.triu(1 + key.shape[2] - q.shape[2]), -math.inf)
            summed = (logits.softmax(-1) @ value).transpose(1, 2).flatten(2)
            x = x + F.linear(summed, attention.proj.weight, attention.proj.bias)
            norm, mlp = block.norm2, block.mlp
            h = F.layer_norm(x, (WIDTH,), norm.weight, norm.bias, norm.eps)
            h = F.gelu(F.linear(h, mlp.fc1.weight, mlp.fc1.bias))
            x = x + F.linear(h, mlp.fc2.weight, mlp.fc2.bias)
        return x

    def _scores(self, x: Tensor) -> Tensor:
        x = F.layer_norm(x, (WIDTH,), self.norm.weight, self.norm.bias, self.norm.eps)
        return F.linear(x, self.head.weight, self.head.bias)

    @torch.no_grad()
    def score(self, words: Tensor, codes: Tensor, last: int | None = None) -> Tensor:
        """Return log p(codes before `last` | words), by which pictures of one caption are ranked, (N,)."""
        x = self._through(self.embed(words, codes), [(torch.empty(0), torch.empty(0))] * len(self.blocks))
        scores = self._scores(x[:, WORDS - 1 : -1]).log_softmax(-1)
        return scores.gather(-1, codes[..., None]).flatten(1)[:, :last].sum(1)


def caption_tensor(numbers: Sequence[int], count: int, device: torch.device) -> Tensor:
    """Return the same caption for each of a batch, (count, words)."""
    return torch.tensor([list(numbers)] * count, device=device)
