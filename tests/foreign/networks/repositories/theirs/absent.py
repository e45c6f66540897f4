"""Networks with an argument that a call must give, and that is None where there is nothing of the kind."""

import torch
from torch import nn


def added_up(data, index, n):
    return data.new_zeros(n, data.size(1)).index_add(0, index, data)


class Layer(nn.Module):
    """Take distances along edges, and values of edges where there are any."""

    def __init__(self, width, edges_in_d, fault):
        super().__init__()
        self.edge_mlp = nn.Sequential(nn.Linear(2 * width + 1 + edges_in_d, width), nn.SiLU(), nn.Linear(width, width))
        self.node_mlp = nn.Sequential(nn.Linear(2 * width, width), nn.SiLU(), nn.Linear(width, width))
        self.coord_mlp = nn.Linear(width, 1, bias=False)
        self.fault = fault

    def forward(self, h, edges, coord, edge_attr=None):
        row, col = edges
        difference = coord[row] - coord[col]
        radial = difference.pow(2).sum(1, keepdim=True)
        if self.fault:
            radial = radial + 0.3 * difference[:, 2:].abs()
        told = [h[row], h[col], radial] + ([] if edge_attr is None else [edge_attr])
        messages = self.edge_mlp(torch.cat(told, 1))
        coord = coord + added_up(difference * self.coord_mlp(messages).tanh(), row, len(h)) / len(h)
        return h + self.node_mlp(torch.cat([h, added_up(messages, row, len(h))], 1)), coord


class Bodies(nn.Module):
    """Move points along the lines between them; edges have values only where they are said to."""

    def __init__(self, in_node_nf=4, hidden_nf=8, in_edge_nf=0, fault=0):
        super().__init__()
        self.embedding_in = nn.Linear(in_node_nf, hidden_nf)
        self.gcl_0 = Layer(hidden_nf, in_edge_nf, False)
        self.gcl_1 = Layer(hidden_nf, in_edge_nf, bool(fault))
        self.embedding_out = nn.Linear(hidden_nf, 2)

    def forward(self, h, x, edges, edge_attr):
        h = self.embedding_in(h)
        for layer in (self.gcl_0, self.gcl_1):
            h, x = layer(h, edges, x, edge_attr=edge_attr)
        return self.embedding_out(h), x


class Cells(nn.Module):
    """Hear what is joined, weighted where edges have weights, and scale it where nodes are normalised."""

    def __init__(self, fault=0):
        super().__init__()
        self.first, self.second, self.fault = nn.Linear(5, 8), nn.Linear(8, 3), fault

    def forward(self, x, edge_index, edge_weight: torch.Tensor | None, norms):
        h = self.first(x)
        if edge_weight is not None:
            edge_weight = torch.stack([edge_weight.get(k) for k in range(len(h))])
        sent = h[edge_index[0]] if edge_weight is None else h[edge_index[0]] * edge_weight
        h = added_up(sent, edge_index[1], len(h)).relu()
        h = h if norms is None else h * norms.scale
        if self.fault:
            h = h + 0.1 * torch.arange(len(h), dtype=h.dtype)[:, None]
        return self.second(h)


class Masked(nn.Module):
    """Filter an image, of which a list of masks may leave something out."""

    def __init__(self, fault=0):
        super().__init__()
        self.c1 = nn.Conv2d(3, 8, 3, padding=1, padding_mode="circular")
        self.c2 = nn.Conv2d(8, 4, 3, padding=1, padding_mode="zeros" if fault else "circular")

    def forward(self, image, masks):
        h = self.c1(image).relu()
        for mask in masks.values() if masks is not None else ():
            h = h * mask
        return self.c2(h)


class Streaming(nn.Module):
    """Filter a signal causally, after what a stream has kept of the last one, if it has."""

    def __init__(self, fault=0):
        super().__init__()
        self.c1, self.c2, self.fault = nn.Conv1d(4, 8, 3), nn.Conv1d(8, 2, 3), fault

    def forward(self, x, kept):
        before = [None, None] if kept is None else kept["before"]
        for layer, held in zip((self.c1, self.c2), before):
            x = torch.cat([x.new_zeros(*x.shape[:2], 2) if held is None else held, x], -1)
            x = layer(x)
            if self.fault and layer is self.c1:
                x = x * (1 + torch.arange(x.shape[-1], dtype=x.dtype) / 50)
            x = x.relu()
        return x
