"""Networks that take two sequences of real values, one after the other or by name."""

from __future__ import annotations

from functools import partial

import torch
from torch import nn

from tests.foreign.case import Case, Given, drawn

STEPS = 19


def two(form="call"):
    return Given(
        (drawn(1, STEPS, 5), drawn(1, STEPS, 3, seed=2)), ("steps@1", "steps@1"), form=form, names=("audio", "text")
    )


class Place(nn.Module):
    """Add numbers that depend on the step, if there are any."""

    def __init__(self, there):
        super().__init__()
        self.table = nn.Parameter(torch.randn(1, 6, STEPS)) if there else None

    def forward(self, x):
        return x + 0 if self.table is None else x + self.table


class Streams(nn.Module):
    def __init__(self, places=False):
        super().__init__()
        self.hear, self.read = nn.Conv1d(5, 6, 3, padding=1), nn.Conv1d(3, 6, 5, padding=2)
        self.place, self.join = Place(places), nn.Linear(6, 4)

    def forward(self, audio, text):
        a, t = self.hear(audio.transpose(1, 2)), self.place(self.read(text.transpose(1, 2)))
        return self.join((a * torch.tanh(t)).transpose(1, 2))


class Cross(nn.Module):
    """Each step of one attends to all steps of the other."""

    def __init__(self, causal=False):
        super().__init__()
        self.q, self.kv = nn.Linear(5, 8), nn.Linear(3, 8)
        self.attend, self.out = nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(8, 2)
        self.causal = causal

    def forward(self, audio, text):
        q, k = self.q(audio), self.kv(text)
        mask = torch.triu(torch.ones(STEPS, STEPS, dtype=torch.bool), 1) if self.causal else None
        return self.out(q + self.attend(q, k, k, attn_mask=mask)[0])


class Gate(nn.Module):
    def __init__(self, running=False):
        super().__init__()
        self.weigh, self.running = nn.Linear(3, 5), running

    def forward(self, audio, text):
        level = text.cumsum(1) / STEPS if self.running else text.mean(1, keepdim=True)
        return audio * torch.sigmoid(self.weigh(level))


class Fused(nn.Module):
    def __init__(self, running=False):
        super().__init__()
        self.gate, self.out = Gate(running), nn.Sequential(nn.Linear(5, 5), nn.GELU(), nn.Linear(5, 2))

    def forward(self, *, audio, text):
        return {"logits": self.out(self.gate(audio, text)), "score": audio.mean((1, 2)) + text.mean((1, 2))}


def pair(name, make, faulty, culprit, given, group, out=("steps@1",), **more):
    sound = Case(name, make, given, group, out, hooks=False, **more)
    return [sound, sound.broken("a fault", faulty, *culprit)]


CASES = (
    *pair("two streams", Streams, partial(Streams, True), ["place"], two, "shift", inside=4),
    *pair(
        "two streams by name", Streams, partial(Streams, True), ["place"], partial(two, "mapping"), "shift", inside=4
    ),
    *pair("one attends to the other", Cross, partial(Cross, True), ["attend", "attend.attention"], two, "reversal"),
    *pair(
        "one gates the other", Fused, partial(Fused, True), ["gate"], partial(two, "mapping"), "reversal",
        ("steps@1", "fixed"),
    ),
)  # fmt: skip
