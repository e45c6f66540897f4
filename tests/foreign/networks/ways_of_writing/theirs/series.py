"""A file of somebody's networks on sequences."""

import torch
import torch.nn.functional as F
from torch import nn


class Padded(nn.Conv1d):
    def __init__(self, cin, cout, k):
        super().__init__(cin, cout, k)
        self.side = k // 2

    def forward(self, x):
        return super().forward(F.pad(x, (self.side, self.side)))


class TwoConvs(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.one, self.two = Padded(1, 4, 3), Padded(4, 1, 5)
        self.fault = fault

    def forward(self, x):
        x = F.mish(self.one(x))
        if self.fault:
            x = x * torch.linspace(0.5, 1, x.shape[-1]).to(x)
        return self.two(x)


def ramped():
    return TwoConvs(True)


class Last(nn.Module):
    """Answers with the last step alone."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 4, 3, padding=1)
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(self.conv(x)[:, :, -1])


class Chunks(nn.Module):
    """Reads eight steps at a time."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 8, batch_first=True)

    def forward(self, x):
        n, t, c = x.shape
        return self.rnn(x.reshape(n, t // 8, 8 * c))[0].reshape(n, t, c)


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.rnn = nn.Embedding(30, 4), nn.LSTM(4, 5, batch_first=True)
        self.out = nn.Linear(5, 30)

    def forward(self, tokens):
        return self.out(self.rnn(self.table(tokens))[0])


class Recurrent(nn.Module):
    def __init__(self, bias=False, batch_first=True):
        super().__init__()
        self.lstm = nn.LSTM(1, 6, batch_first=batch_first, bias=bias)
        self.out = nn.Linear(6, 1)

    def forward(self, x):
        return self.out(self.lstm(x)[0])


def recurrent_with_bias():
    return Recurrent(True)


def time_first():
    return Recurrent(batch_first=False)
