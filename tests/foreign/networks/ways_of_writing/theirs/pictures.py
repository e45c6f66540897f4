"""A file of somebody's networks on images."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.a = nn.Conv2d(1, 4, 3, padding=1, padding_mode="circular")
        self.b = nn.Conv2d(4, 4, 3, padding=1, padding_mode="zeros" if fault else "circular")
        self.act, self.fc = nn.Mish(), nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(self.act(self.b(self.act(self.a(x)))).mean((2, 3)))


def broken_classifier():
    return Classifier(True)


network = Classifier()


class Dense(nn.Module):
    """Takes an image of one size, and says nowhere of which: its first layer tells."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(29 * 29, 8), nn.ReLU(), nn.Linear(8, 2))

    def forward(self, x):
        return self.net(x)


class Two(nn.Module):
    """Compares two images."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1, padding_mode="circular")

    def forward(self, left, right):
        return (self.conv(left) - self.conv(right)).abs().mean((1, 2, 3))


class Several(nn.Module):
    """Answers with a map beside its classes."""

    def __init__(self, fault=False):
        super().__init__()
        self.body = nn.Conv2d(1, 4, 5, padding=2, padding_mode="circular")
        self.side = nn.Conv2d(4, 1, 3, padding=1, padding_mode="zeros" if fault else "circular")
        self.fc = nn.Linear(4, 2)

    def forward(self, image):
        h = torch.relu(self.body(image))
        return {"classes": self.fc(h.amax((2, 3))), "map": self.side(h)}


def several_with_a_border():
    return Several(True)
