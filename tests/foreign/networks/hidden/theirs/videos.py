"""Networks on videos, (batch, frames, channels, height, width)."""

import torch
import torch.nn.functional as F
from torch import nn


class FrameCNN(nn.Module):
    """Every frame alone as a sample of its own, then a mean over time."""

    def __init__(self, fault=0):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1, padding_mode="circular")
        self.conv2 = nn.Conv2d(8, 8, 3, padding=1, padding_mode="zeros" if fault else "circular")
        self.fc = nn.Linear(8, 5)

    def forward(self, clip):
        b, t, c, h, w = clip.shape
        x = clip.reshape(b * t, c, h, w)
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = x.mean((2, 3)).view(b, t, -1)
        return self.fc(x.mean(1))


class VideoConvLSTM(nn.Module):
    """A state that goes on from frame to frame."""

    def __init__(self, fault=0):
        super().__init__()
        self.gates = nn.Conv2d(1 + 8, 32, 3, padding=1, padding_mode="zeros" if fault else "circular")
        self.out = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        B, T, _, H, W = x.shape
        h = c = x.new_zeros(B, 8, H, W)
        ys = []
        for t in range(T):
            i, f, o, g = self.gates(torch.cat([x[:, t], h], 1)).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            ys.append(self.out(h))
        return torch.stack(ys, 1)
