"""Tables besides the usual signals of a graph are found by trial: encodings, globals, values of edges."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.app.answering.engine import LocalEngine
from explorer.declare.telling.asking import Named
from explorer.spaces.graph.network.form import GraphInput
from tests.explorer.parts.own_files import checked_under, written

NETWORKS = """
import torch
from torch import nn

def summed(m, index, n):
    return m.new_zeros(n, m.shape[1]).index_add(0, index, m)

class Net(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        torch.manual_seed(0)
        self.fault = fault
        self.build()

    def order(self, h):
        return h + 0.05 * torch.arange(len(h), dtype=h.dtype)[:, None] if self.fault else h

class Globals(Net):
    def build(self):
        self.edge, self.node = nn.Linear(2 * 5 + 3 + 4, 8), nn.Linear(5 + 8 + 4, 8)
        self.whole = nn.Linear(8 + 4, 6)

    def forward(self, x, edge_index, edge_attr, u, batch):
        i, j = edge_index
        e = self.order(self.edge(torch.cat([x[i], x[j], edge_attr, u[batch[i]]], 1)).relu())
        h = self.node(torch.cat([x, summed(e, j, len(x)), u[batch]], 1)).relu()
        return self.whole(torch.cat([h.mean(0, keepdim=True), u], 1))

class Encoded(Net):
    def build(self):
        self.own, self.norm, self.pe = nn.Linear(6, 10), nn.LayerNorm(7), nn.Linear(7, 4)
        self.edge, self.out = nn.Linear(3, 14), nn.Linear(14, 3)

    def forward(self, x, pe, edge_index, edge_attr):
        h = self.order(torch.cat([self.own(x), self.pe(self.norm(pe))], 1))
        return self.out(h + summed((h[edge_index[0]] + self.edge(edge_attr)).relu(), edge_index[1], len(x)))

class Temporal(Net):
    def build(self):
        self.time, self.message, self.out = nn.Linear(1, 6), nn.Linear(5 + 6 + 3, 8), nn.Linear(5 + 8, 2)

    def forward(self, x, last_update, edge_index, t, msg):
        since = (last_update[edge_index[0]] - t)[:, None]
        m = self.message(torch.cat([x[edge_index[0]], self.time(since).cos(), msg], 1)).relu()
        return self.out(torch.cat([x, summed(self.order(m), edge_index[1], len(x))], 1))

GlobalsSound, GlobalsBroken = Globals, lambda: Globals(True)
EncodedSound, EncodedBroken = Encoded, lambda: Encoded(True)
TemporalSound, TemporalBroken = Temporal, lambda: Temporal(True)
"""
FOUND: dict[str, tuple[int, Named]] = {
    "Globals": (5, (("u", ("1x4",)),)),
    "Encoded": (6, (("pe", ("Nx7",)),)),
    "Temporal": (5, (("last_update", ("N",)), ("t", ("E",)), ("msg", ("Ex3",)))),
}


@pytest.mark.parametrize("name", list(FOUND))
def test_tables_besides_are_found_and_their_networks_judged(tmp_path: Path, name: str) -> None:
    file = written(tmp_path, NETWORKS)
    form = LocalEngine({}, trust=True).card(f"{file}:{name}").input
    assert isinstance(form, GraphInput) and (form.channels, form.beside) == FOUND[name]
    assert checked_under("permutation", f"{file}:{name}Sound", "karate").verdict == "holds"
    assert checked_under("permutation", f"{file}:{name}Broken", "karate").verdict == "broken"
