"""Numbers: half precision, complex weights, large constants, faint faults, dtypes fixed in a forward."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import Case, Given, drawn
from tests.foreign.networks.on_graphs.graphs import graph, scatter
from tests.foreign.networks.on_sequences.sequences import series


def pictures(side=9, channels=1):
    return Given((drawn(2, channels, side, side),), ("grid",))


def points(count=10, channels=4):
    return Given((drawn(count, channels),), ("nodes",))


class Mixed(nn.Module):
    """A set network; some of its parameters are stored in half precision."""

    def __init__(self, half=None, where=(), fault="", size=0.0, offset=0.0, read="each"):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(4, 6), nn.Linear(6, 6), nn.Linear(6, 3)
        self.scale = nn.Parameter(torch.tensor(1.3))
        self.table = nn.Parameter(size * torch.randn(10, 6)) if fault == "table" else None
        if half is not None:
            for name, p in self.named_parameters():
                if name.split(".")[0] in where:
                    p.data = p.data.to(half)
        self.fault, self.size, self.offset, self.read = fault, size, offset, read

    def lin(self, layer, x):
        return F.linear(x, layer.weight.to(x.dtype), layer.bias.to(x.dtype))

    def forward(self, x):
        h = torch.relu(self.lin(self.first, x)) * self.scale.to(x.dtype)
        if self.fault == "table":
            h = h + self.table.to(x.dtype)
        elif self.fault == "ties":
            h = h + self.size * torch.arange(len(h), dtype=x.dtype)[:, None]
        h = h + h.mean(0)
        h = F.mish(self.lin(self.second, h))
        if self.fault == "late ties":
            h = h + self.size * torch.arange(len(h), dtype=x.dtype)[:, None]
        y = self.lin(self.last, h) + self.offset
        return y if self.read == "each" else y.sum(0)


class Ties(nn.Module):
    """A layer of its own that breaks ties by the number of a node."""

    def __init__(self, size=1e-7):
        super().__init__()
        self.size = size

    def forward(self, x):
        return x + self.size * torch.arange(len(x), dtype=x.dtype)[:, None]


class Layers(nn.Module):
    def __init__(self, extra=None, at=0, dtype=None, tail=None):
        super().__init__()
        self.net = nn.Sequential()
        for k in range(3):
            self.net.append(nn.Linear(4, 4))
            self.net.append(extra() if extra is not None and k == at else nn.Mish())
        self.tail = tail
        if dtype is not None:
            self.net[4].weight.data = self.net[4].weight.data.to(dtype).to(torch.float32)
            self.spare = nn.Parameter(torch.ones((), dtype=dtype))

    def forward(self, x):
        y = self.net(x)
        return y if self.tail is None else self.tail(y)


def half_cases():
    each = Case("sets, float32", Mixed, points, "permutation", ("nodes",))
    found = [each]
    for half in (torch.bfloat16, torch.float16):
        word = str(half).removeprefix("torch.")
        for where in (("scale",), ("second",), ("first", "second", "last", "scale")):
            named = "+".join(where) if len(where) < 3 else "all"
            sound = Case(f"sets, {word} {named}", partial(Mixed, half, where), points, "permutation", ("nodes",))
            size = {1: 0.03, 4: 0.2}[len(where)]
            found += [sound, sound.broken(f"a table of {size}", partial(Mixed, half, (*where, "table"), "table", size))]
    for size in (1e-7, 1e-5):
        found.append(each.broken(f"ties by {size:g}", partial(Mixed, None, (), "ties", size)))
        found.append(each.broken(f"late ties by {size:g}", partial(Mixed, None, (), "late ties", size)))
    plain = Case("layers", Layers, points, "permutation", ("nodes",))
    found.append(plain)
    for at in (0, 2):
        found.append(plain.broken(f"ties after {at}", partial(Layers, Ties, at), f"net.{2 * at + 1}"))
    spare = Case(
        "layers, a spare bfloat16 number", partial(Layers, dtype=torch.bfloat16), points, "permutation", ("nodes",)
    )
    found += [spare, spare.broken("ties of 1e-3", partial(Layers, partial(Ties, 1e-3), 1, torch.bfloat16), "net.3")]
    return found


def far(y, offset=1e6):
    return y + offset


def tiny(y):
    return y * 1e-9


def squashed(y):
    return 5.0 + 1e-6 * torch.tanh(y)


def offset_cases():
    found = []
    for name, tail in (("a large constant", far), ("tiny", tiny), ("squashed", squashed)):
        sound = Case(f"answers with {name}", partial(Layers, tail=tail), points, "permutation", ("nodes",), limit=1e-6)
        found += [sound, sound.broken("ties of 0.1", partial(Layers, partial(Ties, 0.1), 1, tail=tail), "net.3")]
    pooled = Case(
        "a sum with a large constant",
        partial(Mixed, offset=1e8, read="sum"),
        points,
        "permutation",
        ("fixed",),
        limit=1e-5,
    )
    big = Case("images with a large constant", partial(Bright, 1e7), pictures, "C4", ("fixed",), limit=1e-6)
    return [
        *found, pooled, pooled.broken("a table", partial(Mixed, None, (), "table", 0.2, 1e8, "sum")),
        big, big.broken("a plain filter", partial(Bright, 1e7, True), "conv"),
    ]  # fmt: skip


class Bright(nn.Module):
    def __init__(self, offset, fault=False):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        if not fault:
            w = self.conv.weight.data
            self.conv.weight.data = sum(torch.rot90(w, k, (-2, -1)) for k in range(4)) / 4
        self.fc = nn.Linear(4, 2)
        self.offset = offset

    def forward(self, x):
        return self.fc(F.celu(self.conv(x)).amax((2, 3))) + self.offset


class Rounded(nn.Module):
    """Filters made symmetric, then stored in half precision, one of them plain."""

    def __init__(self, dtype, fault=None, depth=3):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(3 if k else 1, 3, 3, padding=1) for k in range(depth))
        for k, conv in enumerate(self.convs):
            w = conv.weight.data.to(dtype)
            turned = sum(torch.rot90(w, n, (-2, -1)) for n in range(4)) / 4
            conv.weight.data = (w if k == fault else turned).float()

    def forward(self, x):
        for conv in self.convs:
            x = F.mish(conv(x))
        return x


class CastConv(nn.Conv2d):
    def forward(self, x):
        return self._conv_forward(x, self.weight.to(x.dtype), self.bias.to(x.dtype))


class Symmetrised(nn.Module):
    """The same with parameters that stay in half precision."""

    def __init__(self, dtype, fault=None, depth=3):
        super().__init__()
        self.convs = nn.Sequential()
        for k in range(depth):
            conv = CastConv(3 if k else 1, 3, 3, padding=1, dtype=dtype)
            if k != fault:
                w = conv.weight.data
                # one by one, so that each sum is rounded
                conv.weight.data = (w + w.rot90(1, (2, 3)) + w.rot90(2, (2, 3)) + w.rot90(3, (2, 3))) / 4
            self.convs.extend([conv, nn.GELU()])

    def forward(self, x):
        return self.convs(x)


def rounded_cases():
    found = []
    for dtype, slack in ((torch.bfloat16, 0.05), (torch.float16, 5e-3)):
        word = str(dtype).removeprefix("torch.")
        made = partial(Symmetrised, dtype)
        sound = Case(f"filters symmetric up to {word}", made, pictures, "C4", ("grid",), limit=slack)
        found += [sound, sound.broken("a plain filter in 1", partial(Symmetrised, dtype, 1), "convs.2")]
    single = Case(
        "filters symmetric up to float32", partial(Rounded, torch.float32), pictures, "C4", ("grid",), limit=1e-6
    )
    return [*found, single, single.broken("a plain filter in 2", partial(Rounded, torch.float32, 2), "convs.2")]


class Spectral(nn.Module):
    """A Fourier layer with complex weights."""

    def __init__(self, fault=False, modes=4, width=3):
        super().__init__()
        self.enter = nn.Conv2d(1, width, 1)
        self.weight = nn.Parameter(torch.randn(width, width, 9, 5, dtype=torch.cfloat) / 3)
        self.mask = nn.Parameter(0.4j * torch.randn(9, 9).to(torch.cfloat)) if fault else None
        self.leave = nn.Conv2d(width, 2, 1)

    def forward(self, x):
        h = self.enter(x)
        f = torch.einsum("bchw,cdhw->bdhw", torch.fft.rfft2(h), self.weight)
        y = torch.fft.irfft2(f, s=x.shape[-2:])
        if self.mask is not None:
            y = y + (self.mask * 1j).real
        return self.leave(torch.tanh(y + h))


class Phases(nn.Module):
    """Complex numbers inside of a set network; the fault is in their imaginary parts alone."""

    def __init__(self, fault=False):
        super().__init__()
        self.w = nn.Parameter(torch.randn(4, 5, dtype=torch.cfloat) / 2)
        self.places = nn.Parameter(1j * torch.randn(10, 5).to(torch.cfloat)) if fault else None
        self.out = nn.Linear(5, 2)

    def forward(self, x):
        z = x.to(self.w.dtype) @ self.w
        if self.places is not None:
            z = z + self.places
        z = z * torch.exp(-(z.mean(0).abs()))
        return self.out(z.abs().to(x.dtype))


class Oscillators(nn.Module):
    """A diagonal state space, its poles complex: y_t = Re C h_t, h_t = a h_(t-1) + B x_t."""

    def __init__(self, fault=False):
        super().__init__()
        self.pole = nn.Parameter(torch.polar(torch.rand(6) * 0.5 + 0.3, torch.rand(6) * 3))
        self.b, self.c = (nn.Parameter(torch.randn(6, 2, dtype=torch.cfloat)) for _ in range(2))
        self.fault = fault

    def forward(self, x):
        h, found = torch.zeros(6, dtype=self.pole.dtype), []
        for t, step in enumerate(x):
            pole = self.pole * (1 if not self.fault else 0.5 + 0.5 * t / len(x))
            h = pole * h + self.b @ step.to(self.b.dtype)
            found.append((self.c.t() @ h).real)
        return torch.stack(found).to(x.dtype)


def complex_cases():
    fourier = Case("Fourier layer", Spectral, pictures, "translation", ("grid",), limit=1e-4, precision=torch.float32)
    phases = Case("phases", Phases, points, "permutation", ("nodes",), limit=1e-5)
    state = Case("complex poles", Oscillators, partial(series, "TC", 20), "shift", ("steps@0",), limit=1e-5)
    return [
        fourier, fourier.broken("an imaginary mask of places", partial(Spectral, True)),
        phases, phases.broken("imaginary places", partial(Phases, True)),
        state, state.broken("poles that move", partial(Oscillators, True)),
    ]  # fmt: skip


class Fixed(nn.Module):
    """Makes tensors of float32 in its forward, whatever comes in."""

    def __init__(self, how="zeros", fault=False):
        super().__init__()
        self.enter, self.leave = nn.Linear(3, 4), nn.Linear(4, 2)
        self.how, self.fault = how, fault

    def forward(self, x, edge_index):
        h = torch.tanh(self.enter(x))
        if self.how == "zeros":
            out = torch.zeros(len(x), 4)
            out.index_add_(0, edge_index[1], h[edge_index[0]])
        elif self.how == "slices":
            out = torch.zeros(len(x), 4)
            for i, j in edge_index.t().tolist():
                out[j] += h[i]
        elif self.how == "adjacency":
            a = torch.zeros(len(x), len(x))
            a[edge_index[1], edge_index[0]] = 1.0
            out = a @ h
        elif self.how == "numpy":
            a = torch.from_numpy(h.detach().float().numpy() * 2)
            out = scatter(a[edge_index[0]], edge_index[1], len(x))
        else:
            out = scatter(h.float()[edge_index[0]], edge_index[1], len(x))
        if self.fault:
            out = out * torch.arange(1, len(x) + 1)[:, None]
        return self.leave(out if self.how != "float" else out.to(self.leave.weight.dtype))


class FixedSteps(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.cell, self.out = nn.GRUCell(2, 4, bias=False), nn.Linear(4, 2)
        self.fault = fault

    def forward(self, x):
        h, out = torch.zeros(1, 4), torch.empty(len(x), 2)
        for t in range(len(x)):
            h = self.cell(x[t : t + 1], h)
            out[t] = self.out(h)[0] * (1 + 0.1 * t if self.fault else 1)
        return out


def fixed_cases():
    found = []
    for how in ("zeros", "slices", "adjacency", "numpy", "float"):
        sound = Case(
            f"float32 in the forward, {how}",
            partial(Fixed, how),
            graph,
            "permutation",
            ("nodes",),
            precision=torch.float32,
            limit=1e-4,
        )
        found += [sound, sound.broken("numbers of nodes", partial(Fixed, how, True))]
    steps = Case(
        "float32 in the forward, steps",
        FixedSteps,
        partial(series, "TC", 20),
        "shift",
        ("steps@0",),
        precision=torch.float32,
        limit=1e-4,
    )
    return [*found, steps, steps.broken("grows with time", partial(FixedSteps, True))]


CASES = tuple(
    replace(case, details=True)
    for case in (*half_cases(), *offset_cases(), *rounded_cases(), *complex_cases(), *fixed_cases())
)
