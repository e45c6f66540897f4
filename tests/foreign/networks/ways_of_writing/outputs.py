"""Networks that return more than one tensor: tuples, lists, dicts, dataclasses, layers with two states."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import Case, Given, drawn
from tests.foreign.networks.on_graphs.graphs import graph, scatter
from tests.foreign.networks.on_sequences.sequences import series


@dataclass
class Answer:
    logits: torch.Tensor
    features: torch.Tensor


class Named(NamedTuple):
    logits: torch.Tensor
    features: torch.Tensor


FORMS = {
    "tuple": lambda a, b: (a, b), "list": lambda a, b: [a, b], "dict": lambda a, b: {"logits": a, "features": b},
    "ordered dict": lambda a, b: OrderedDict(out=a, aux=b), "dataclass": Answer, "named tuple": Named,
    "nested": lambda a, b: (a, [None, {"deep": b}]), "with words": lambda a, b: {"name": "net", "y": a, "z": (b,)},
}  # fmt: skip


def pictures(side=8):
    return Given((drawn(2, 1, side, side),), ("grid",))


class Images(nn.Module):
    """Two answers of one trunk; the fault is in the branch of one."""

    def __init__(self, form, fault="", swap=False):
        super().__init__()
        kw = {"padding": 1, "padding_mode": "circular"}
        self.trunk = nn.Sequential(nn.Conv2d(1, 4, 3, **kw), nn.Mish(), nn.Conv2d(4, 4, 3, **kw), nn.ReLU())
        self.fc = nn.Linear(4, 3)
        self.side = nn.Conv2d(4, 2, 3, padding=1, padding_mode="zeros" if fault == "side" else "circular")
        self.form, self.fault, self.swap = form, fault, swap

    def forward(self, x):
        h = self.trunk(x)
        if self.fault == "code":
            m = self.side(h) * torch.linspace(0, 1, x.shape[-1], dtype=x.dtype)
        else:
            m = self.side(h)
        y = self.fc(h.mean((2, 3)))
        return FORMS[self.form](m, y) if self.swap else FORMS[self.form](y, m)


class Graphs(nn.Module):
    def __init__(self, form, fault="", swap=False):
        super().__init__()
        self.enter, self.mix, self.head = nn.Linear(3, 5), nn.Linear(5, 5), nn.Linear(5, 2)
        self.form, self.fault, self.swap = form, fault, swap

    def forward(self, x, edge_index):
        h = torch.tanh(self.enter(x))
        h = F.silu(self.mix(h + scatter(h[edge_index[0]], edge_index[1], len(h))))
        if self.fault == "nodes":
            h = h * torch.linspace(1, 2, len(h), dtype=h.dtype)[:, None]
        e = h[edge_index[0]] - h[edge_index[1]]
        if self.fault == "edges":
            e = torch.cat([e[1:], e[:1]])
        y = self.head(h)
        return FORMS[self.form](e, y) if self.swap else FORMS[self.form](y, e)


def form_cases():
    found = []
    for k, form in enumerate(FORMS):
        if k % 2 == 0:
            sound = Case(f"{form} of images", partial(Images, form), pictures, "translation", ("fixed", "grid"))
            found += [
                sound, sound.broken("zeros in the second", partial(Images, form, "side"), "side"),
                sound.broken("code in the second", partial(Images, form, "code")),
            ]  # fmt: skip
        else:
            sound = Case(f"{form} of a graph", partial(Graphs, form), graph, "permutation", ("nodes", "edges"))
            found += [
                sound, sound.broken("edges", partial(Graphs, form, "edges")),
                sound.broken("nodes", partial(Graphs, form, "nodes")),
            ]  # fmt: skip
    turned = Case("edges before nodes", partial(Graphs, "tuple", swap=True), graph, "permutation", ("edges", "nodes"))
    maps = Case("map before vector", partial(Images, "dict", swap=True), pictures, "translation", ("grid", "fixed"))
    return [
        *found, turned, turned.broken("nodes", partial(Graphs, "tuple", "nodes", True)),
        maps, maps.broken("zeros in the first", partial(Images, "dict", "side", True), "side"),
    ]  # fmt: skip


class Levels(nn.Module):
    """A backbone that returns its maps at every size."""

    def __init__(self, at=-1):
        super().__init__()
        self.stages = nn.ModuleList(
            nn.Sequential(
                nn.Conv2d(4 if k else 1, 4, 3, padding=1, padding_mode="zeros" if k == at else "circular"), nn.GELU(),
                nn.AvgPool2d(2) if k else nn.Identity(),
            )
            for k in range(3)
        )  # fmt: skip

    def forward(self, x):
        found = []
        for stage in self.stages:
            x = stage(x)
            found.append(x)
        return found


class Heads(nn.Module):
    """An attention layer that returns its weights as well."""

    def __init__(self, fault=""):
        super().__init__()
        self.q, self.v = nn.Linear(4, 4), nn.Linear(4, 4)
        self.fault = fault

    def forward(self, x):
        w = (self.q(x) @ self.q(x).t()).softmax(-1)
        if self.fault == "weights":
            return w @ self.v(x), w * torch.arange(1, len(x) + 1, dtype=x.dtype)
        if self.fault == "mixed":
            w = w.tril()
        return w @ self.v(x), w


class Looks(nn.Module):
    def __init__(self, fault="", at=1, read="both"):
        super().__init__()
        self.blocks = nn.ModuleList(Heads(fault if k == at else "") for k in range(2))
        self.read = read

    def forward(self, x):
        seen = []
        for block in self.blocks:
            y, w = block(x)
            x = x + y
            seen.append(w)
        return (x, seen) if self.read == "both" else x if self.read == "nodes" else torch.stack(seen)


class TwoStates(nn.Module):
    """Nodes and edges in a dict, handed from layer to layer."""

    def __init__(self, fault=""):
        super().__init__()
        self.node, self.edge = nn.Linear(4, 4), nn.Linear(8, 4)
        self.fault = fault

    def forward(self, state, edge_index):
        i, j = edge_index
        x, e = state["nodes"], state["edges"]
        e = torch.tanh(self.edge(torch.cat([x[i] + x[j], e], 1)))
        if self.fault == "edges":
            e = e.flip(0)
        elif self.fault == "some edges":
            e = torch.cat([e[:2] * 1.5, e[2:]])
        x = torch.relu(self.node(x + scatter(e, j, len(x))))
        return {"nodes": x, "edges": e}


class StateNet(nn.Module):
    def __init__(self, fault="", at=1, read="nodes"):
        super().__init__()
        self.enter = nn.Linear(3, 4)
        self.layers = nn.ModuleList(TwoStates(fault if k == at else "") for k in range(3))
        self.read = read

    def forward(self, x, edge_index):
        state = {"nodes": self.enter(x), "edges": torch.zeros(edge_index.shape[1], 4, dtype=x.dtype)}
        for layer in self.layers:
            state = layer(state, edge_index)
        return state if self.read == "state" else state[self.read]


class Series(nn.Module):
    """A recurrent network with its last state, and a reconstruction."""

    def __init__(self, fault=""):
        super().__init__()
        self.conv = nn.Conv1d(2, 4, 3, padding=1)
        self.a, self.b = nn.Conv1d(4, 2, 1), nn.Conv1d(4, 2, 1)
        self.fault = fault

    def forward(self, x):
        h = torch.relu(self.conv(x))
        b = self.b(h)
        if self.fault:
            b = b + 0.1 * torch.arange(b.shape[-1], dtype=b.dtype)
        return {"forecast": self.a(h), "again": b}


def points():
    return Given((drawn(9, 4),), ("nodes",))


def other_cases():
    levels = Case("maps of three sizes", Levels, pictures_of_four, "translation", ("grid", "grid@2", "grid@4"))
    found = [levels]
    for at in (0, 1, 2):
        found.append(levels.broken(f"zeros at {at}", partial(Levels, at), f"stages.{at}.0"))
    for read, out in (("both", ("nodes", "pairs", "pairs")), ("nodes", ("nodes",)), ("weights", ("pairs",))):
        sound = Case(f"attention with its weights, {read}", partial(Looks, read=read), points, "permutation", out)
        found += [sound, sound.broken("mixed in 0", partial(Looks, "mixed", 0, read), "blocks.0")]
        if read != "nodes":
            found.append(sound.broken("weights in 1", partial(Looks, "weights", 1, read), "blocks.1", hooks=False))
    for read, out in (("nodes", ("nodes",)), ("edges", ("edges",)), ("state", ("nodes", "edges"))):
        sound = Case(f"two states, {read}", partial(StateNet, read=read), graph, "permutation", out)
        found += [sound, sound.broken("some edges in 1", partial(StateNet, "some edges", 1, read), "layers.1")]
        if read != "nodes":
            found.append(sound.broken("edges in 2", partial(StateNet, "edges", 2, read), "layers.2", hooks=False))
    two = Case("two series", Series, series, "shift", ("steps@2", "steps@2"), inside=2)
    found += [two, two.broken("a ramp on the second", partial(Series, "ramp"))]
    found.append(replace(two, name="two series, short", given=partial(series, steps=24)))
    return found


def pictures_of_four():
    return Given((drawn(2, 1, 8, 8),), ("grid",), step=4)


CASES = (*form_cases(), *other_cases())
