"""Somebody's network of e3nn's layers."""

import torch
from e3nn import o3
from torch import nn


class Harmonic(nn.Module):
    """One convolution of tensor products; a fault turns the second components."""

    def __init__(self, fault=0):
        super().__init__()
        self.sh = o3.Irreps("1x0e+1x1o+1x2e")
        self.lin_in = o3.Linear("4x0e", "4x0e+2x1o")
        self.tp = o3.FullyConnectedTensorProduct("4x0e+2x1o", self.sh, "4x0e+2x1o", shared_weights=False)
        self.fc = nn.Sequential(nn.Linear(1, 8), nn.SiLU(), nn.Linear(8, self.tp.weight_numel))
        self.lin_out = o3.Linear("4x0e+2x1o", "1x0e+1x1o")
        self.fault = fault

    def forward(self, x, pos, edge_index):
        src, dst = edge_index
        away = pos[dst] - pos[src]
        y = o3.spherical_harmonics(self.sh, away, True, normalization="component")
        h = self.lin_in(x)
        m = self.tp(h[src], y, self.fc(away.norm(dim=1, keepdim=True)))
        h = h.index_add(0, dst, m)
        if self.fault == 2:
            h = torch.cat([h[:, :5], 1.05 * h[:, 5:6], h[:, 6:]], 1)
        out = self.lin_out(h)
        out = out * out.new_tensor([1.0, 1.0, 1.0, 1.1]) if self.fault == 3 else out
        return out[:, :1], out[:, 1:]
