"""A discrete variational autoencoder: a picture as codes of a book, and back.

Ramesh et al., "Zero-Shot Text-to-Image Generation", 2021, section 2.1: the encoder gives a distribution over the codes
at every place, q(k | x), which is relaxed while it learns (Jang et al., "Categorical Reparameterization with
Gumbel-Softmax", 2017, eq. 2):

    y_k = softmax_k((log q_k + g_k) / tau), g_k = -log(-log u_k)

Straight through, the value is the one-hot vector of the largest y and the derivative that of y (Jang et al., section
2.2). tau = 0 takes the likeliest code and draws nothing.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.types.fields import Scalar

CODES = 64
STRIDE = 4  # pixels of a code's side
BOOK = 24  # channels of an entry of the book
RELAXED, STRAIGHT = "relaxed", "straight-through"
WAYS = (STRAIGHT, RELAXED)


def gumbel(shape: tuple[int, ...], seed: int) -> Tensor:
    """Return Gumbel noise of a seed, the same on every machine's processor."""
    u = torch.rand(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).clamp(1e-12, 1 - 1e-12)
    return -(-u.log()).log()


class Choice(nn.Module):
    """The codes as vectors over the book: relaxed, or one-hot with the derivative of the relaxed ones.

    (N, codes, rows, columns) of log q -> the same.
    """

    out_rep = Scalar()
    noise: Tensor

    def __init__(self, places: int, temperature: float = 0.0, way: str = STRAIGHT, seed: int = 0) -> None:
        super().__init__()
        self.temperature, self.way = temperature, way
        self.register_buffer("noise", gumbel((CODES, places, places), seed), persistent=False)

    def forward(self, logits: Tensor, noise: Tensor | None = None) -> Tensor:
        tau = self.temperature
        noise = self.noise if noise is None else noise
        soft = logits.softmax(1) if tau <= 0 else ((logits + noise.to(logits)) / tau).softmax(1)
        if self.way == RELAXED and tau > 0:
            return soft
        hard = F.one_hot(soft.argmax(1), soft.shape[1]).movedim(-1, 1).to(soft)
        # where nobody differentiates the sum would only round
        return hard + (soft - soft.detach()) if soft.requires_grad else hard


class Encoder(nn.Module):
    """log q(k | x) up to a constant at every fourth pixel; (N, 3, H, W) -> (N, codes, H / 4, W / 4)."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 4, stride=2, padding=1)
        self.relu1 = nn.ReLU()
        self.conv2 = nn.Conv2d(16, 32, 4, stride=2, padding=1)
        self.relu2 = nn.ReLU()
        self.logits = nn.Conv2d(32, CODES, 1)
        nn.init.normal_(self.logits.weight, std=0.4)  # else the Gumbel noise is all there is at first

    def forward(self, x: Tensor) -> Tensor:
        return self.logits(self.relu2(self.conv2(self.relu1(self.conv1(x)))))


class Decoder(nn.Module):
    """A picture of vectors over the book; (N, codes, h, w) -> (N, 3, 4 h, 4 w) in [0, 1]."""

    def __init__(self) -> None:
        super().__init__()
        self.book = nn.Conv2d(CODES, BOOK, 1, bias=False)
        self.conv1 = nn.Conv2d(BOOK, 32, 3, padding=1)
        self.relu1 = nn.ReLU()
        self.up1 = nn.ConvTranspose2d(32, 16, 4, stride=2, padding=1)
        self.relu2 = nn.ReLU()
        self.up2 = nn.ConvTranspose2d(16, 3, 4, stride=2, padding=1)
        self.picture = nn.Sigmoid()

    def scores(self, codes: Tensor) -> Tensor:
        """Return the log odds of every value, before the sigmoid."""
        h = self.relu1(self.conv1(self.book(codes)))
        return self.up2(self.relu2(self.up1(h)))

    def forward(self, codes: Tensor) -> Tensor:
        return self.picture(self.scores(codes))


class DiscreteVAE(nn.Module):
    """Picture -> codes -> picture; (N, 3, H, W) -> the same."""

    usage: Tensor
    patches: Tensor

    def __init__(self, side: int, temperature: float = 0.0, way: str = STRAIGHT, seed: int = 0) -> None:
        super().__init__()
        self.encoder = Encoder()
        self.codes = Choice(side // STRIDE, temperature, way, seed)
        self.decoder = Decoder()
        # of what it has learned: the share of each code, and the mean of the pixels that it stood for
        self.register_buffer("usage", torch.full((CODES,), 1 / CODES))
        self.register_buffer("patches", torch.zeros(CODES, 3, STRIDE, STRIDE))

    def forward(self, x: Tensor) -> Tensor:
        return self.decoder(self.codes(self.encoder(x)))


def elbo_loss(
    network: DiscreteVAE, x: Tensor, noise: Tensor, temperature: float, beta: float, spread: float = 0.0
) -> tuple[Tensor, Tensor, Tensor]:
    """Return reconstruction plus beta times KL(q || uniform), and both terms alone, a mean over pictures.

    `spread` weighs the entropy of the usage, the mean of q over places and pictures, which is taken off: without it a
    few codes do all the work, and the others are never tried.

    The reconstruction is -log p(x | codes) of a Bernoulli distribution for every value: under a squared error a sigmoid
    that has gone to 0 for the black ground learns nothing more.
    """
    logits = network.encoder(x)
    soft = ((logits + noise) / temperature).softmax(1)
    scores = network.decoder.scores(soft)
    missed = F.binary_cross_entropy_with_logits(scores, x, reduction="none").flatten(1).sum(1).mean()
    log_q = logits.log_softmax(1)
    kl = (log_q.exp() * (log_q + math.log(CODES))).flatten(1).sum(1).mean()
    usage = log_q.exp().mean((0, 2, 3))
    entropy = -(usage * usage.clamp_min(1e-9).log()).sum()
    return missed + beta * kl - spread * logits.shape[-1] * logits.shape[-2] * entropy, missed, kl
