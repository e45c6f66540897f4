"""Networks on a sequence beside numbers that lie at no place: a speaker, a time, a class."""

import torch
import torch.nn.functional as F
from torch import nn


class Voice(nn.Module):
    """A causal convolution told of a speaker (van den Oord et al. 2016); the fault: steps are weighted."""

    def __init__(self, fault=0):
        super().__init__()
        self.one, self.by, self.two, self.fault = nn.Conv1d(4, 8, 3), nn.Linear(5, 8), nn.Conv1d(8, 2, 3), fault

    def forward(self, speaker, audio):
        h = torch.tanh(self.one(F.pad(audio, (2, 0))) + self.by(speaker)[:, :, None])
        if self.fault:
            h = h * (1 + 0.01 * torch.arange(h.shape[-1], dtype=h.dtype, device=h.device))
        return self.two(F.pad(h, (2, 0)))


class OfClass(nn.Module):
    """A recurrent network whose steps are scaled by a class; the fault: it begins to count the steps."""

    def __init__(self, fault=0):
        super().__init__()
        self.one, self.label, self.fault = nn.Conv1d(3, 6, 5), nn.Embedding(9, 6), fault
        self.two = nn.Conv1d(6, 6, 3)

    def forward(self, x, label):
        h = self.one(F.pad(x, (4, 0))) * self.label(label)[:, :, None]
        if self.fault:
            h = h + 0.01 * torch.arange(h.shape[-1], dtype=h.dtype, device=h.device)
        return self.two(F.pad(torch.sigmoid(h), (2, 0)))
