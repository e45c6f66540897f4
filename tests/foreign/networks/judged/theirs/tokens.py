"""Somebody's networks on tokens: embeddings, tables of positions, encoders with either axis first."""

import torch
from clouds import maybe
from torch import nn


class Bag(nn.Module):
    """(B, T) numbers of words, no positions."""

    def __init__(self, fault=0):
        super().__init__()
        self.emb, self.enc = nn.Embedding(50, 16), nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
        self.pos = nn.Embedding(512, 16) if fault == 1 else None
        self.last, self.out = maybe(fault, 3, 1), nn.Linear(16, 2)

    def forward(self, tokens):
        h = self.emb(tokens)
        if self.pos is not None:
            h = h + 0.1 * self.pos(torch.arange(tokens.shape[1]))
        return self.out(self.last(self.enc(h)).mean(1))


class SequenceFirst(nn.Module):
    """(T, B, C), as torch's encoders take by default."""

    def __init__(self, fault=0):
        super().__init__()
        self.inp = nn.Linear(5, 16)
        self.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32), 2, enable_nested_tensor=False)
        self.first, self.last, self.out = maybe(fault, 1, 0), maybe(fault, 3, 0), nn.Linear(16, 3)

    def forward(self, src):
        return self.out(self.last(self.enc(self.first(self.inp(src)))))


class Perceiver(nn.Module):
    """Latents that ask a set, several times, with tied weights."""

    def __init__(self, fault=0):
        super().__init__()
        self.latents = nn.Parameter(torch.randn(4, 12))
        self.inp, self.ask = nn.Linear(6, 12), nn.MultiheadAttention(12, 2, batch_first=True)
        self.think, self.out = nn.TransformerEncoderLayer(12, 2, 24, batch_first=True), nn.Linear(12, 2)
        self.first, self.middle = maybe(fault, 1, 1), maybe(fault, 2, 1)

    def forward(self, data):
        x = self.first(self.inp(data))
        z = self.latents.expand(len(x), -1, -1)
        for _ in range(2):
            z = self.think(z + self.ask(z, self.middle(x), x)[0])
        return self.out(z.mean(1))


class Mixer(nn.Module):
    """Mixes tokens by a dense layer: no law unless the mixing is a mean."""

    def __init__(self, fault=0):
        super().__init__()
        self.inp, self.chan, self.out = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 2)
        self.token = nn.Linear(10, 10, bias=False)
        if not fault:
            with torch.no_grad():
                self.token.weight.copy_(torch.full((10, 10), 0.1) + 0.5 * torch.eye(10))

    def forward(self, x):
        h = self.inp(x)
        h = h + self.token(h.transpose(1, 2)).transpose(1, 2)
        return self.out(h + torch.nn.functional.gelu(self.chan(h)))
