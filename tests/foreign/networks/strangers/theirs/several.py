"""Networks with several arguments of names that tell nothing: two images, or two kinds of nodes."""

import torch
from torch import nn


class Siamese(nn.Module):
    """Two images are compared; the fault: zeros at the border of the second."""

    def __init__(self, fault=0):
        super().__init__()
        conv = lambda i, mode="circular": nn.Conv2d(i, 6, 3, padding=1, padding_mode=mode)  # noqa: E731
        self.one, self.two, self.last = conv(1), conv(6), conv(6, "zeros") if fault else None

    def forward(self, a, b):
        x, y = (self.two(torch.relu(self.one(image))) for image in (a, b))
        y = y if self.last is None else y + 0.1 * self.last(y)
        return (x * y).sum(1, keepdim=True)


class Bipartite(nn.Module):
    """Items are told of the users that a list joins them with."""

    def __init__(self, fault=0):
        super().__init__()
        self.users, self.items, self.out = nn.Linear(5, 8), nn.Linear(3, 8), nn.Linear(8, 1)

    def forward(self, users, items, edge_index):
        h = self.users(users)
        told = torch.zeros(len(items), 8, dtype=h.dtype, device=h.device)
        told = told.index_add(0, edge_index[1], h[edge_index[0]])
        return self.out(torch.relu(told + self.items(items)))
