"""Ways of writing networks: scripted and compiled, normalised weights, shared and bare layers, work in place, hooks."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations, parametrize

from tests.foreign.case import BROKEN, Case, Given, drawn
from tests.foreign.networks.on_graphs.graphs import graph


def pictures(side=8, channels=1):
    return Given((drawn(2, channels, side, side),), ("grid",))


def points(count=9, channels=4):
    return Given((drawn(count, channels),), ("nodes",))


def conv(cin, cout, mode="circular", k=3):
    return nn.Conv2d(cin, cout, k, padding=k // 2, padding_mode=mode)


class Chain(nn.Module):
    def __init__(self, wrap=lambda m: m, fault=-1, act=nn.ReLU, depth=3):
        super().__init__()
        self.layers = nn.ModuleList(
            wrap(conv(4 if k else 1, 4, "zeros" if k == fault else "circular")) for k in range(depth)
        )
        self.act = act()
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        for layer in self.layers:
            x = self.act(layer(x))
        return self.head(x.mean((2, 3)))


def old_weight_norm(module):
    return nn.utils.weight_norm(module)


def old_spectral_norm(module):
    return nn.utils.spectral_norm(module)


class Symmetric(nn.Module):
    def forward(self, w):
        return sum(torch.rot90(w, k, (-2, -1)) for k in range(4)) / 4


def symmetric(module):
    parametrize.register_parametrization(module, "weight", Symmetric())
    return module


def hooked(module):
    module.register_forward_hook(lambda m, args, out: out * 1.5)
    module.register_forward_pre_hook(lambda m, args: (args[0] + 0.1,))
    return module


def slanted(module):
    module.register_forward_hook(lambda m, args, out: out * torch.linspace(0.5, 1, out.shape[-1], dtype=out.dtype))
    return module


WRAPS = {
    "old weight norm": old_weight_norm,
    "weight norm": parametrizations.weight_norm,
    "old spectral norm": old_spectral_norm,
    "spectral norm": parametrizations.spectral_norm,
    "hooks of its own": hooked,
}


def wrapped_cases():
    found = []
    for k, (name, wrap) in enumerate(WRAPS.items()):
        sound = Case(name, partial(Chain, wrap), pictures, "translation", ("fixed",))
        at = k % 3
        found += [sound, sound.broken(f"zeros at {at}", partial(Chain, wrap, at), f"layers.{at}")]
    plain = replace(found[0], name="a chain", make=Chain)
    turned = Case("parametrised filters", partial(Chain, symmetric), partial(pictures, 9), "C4", ("fixed",))
    return [
        *found,
        plain,
        plain.broken(
            "a hook that slants",
            partial(Chain, lambda m: slanted(m) if m.in_channels > 1 else m),
            "layers.1",
            "layers.2",
        ),
        turned,
        turned.broken("one without", partial(Chain, lambda m: symmetric(m) if m.in_channels > 1 else m), "layers.0"),
    ]


class InPlace(nn.Module):
    def __init__(self, how, fault=-1):
        super().__init__()
        self.convs = nn.ModuleList(conv(4 if k else 1, 4, "zeros" if k == fault else "circular") for k in range(3))
        self.norm = nn.BatchNorm2d(4)
        self.relu = nn.ReLU(inplace=True)
        self.act = {"leaky": nn.LeakyReLU(0.1, True), "elu": nn.ELU(inplace=True), "swish": nn.SiLU(True),
                    "mish": nn.Mish(True), "dropout": nn.Dropout(0.3, True)}.get(how, nn.Identity())  # fmt: skip
        self.how = how

    def forward(self, x):
        x = self.relu(self.norm(self.convs[0](x)))
        y = self.convs[1](x)
        if self.how == "add":
            y += x
        elif self.how == "slice":
            y[:, :2] = y[:, :2].relu()
        elif self.how == "clamp":
            y.clamp_(-0.5, 0.5)
        elif self.how == "input":
            x.mul_(0.5)
            y = y + x
        y = self.act(y)
        return self.convs[2](y)


def in_place_cases():
    found = []
    for k, how in enumerate(("leaky", "elu", "swish", "mish", "dropout", "add", "slice", "clamp", "input")):
        sound = Case(f"in place, {how}", partial(InPlace, how), pictures, "translation", ("grid",))
        found.append(sound)
        if k % 2 == 0:
            found.append(sound.broken(f"zeros at {k % 3}", partial(InPlace, how, k % 3), f"convs.{k % 3}"))
    return found


class Plain(nn.Module):
    """Simple enough to be scripted, traced, compiled."""

    def __init__(self, fault=False):
        super().__init__()
        self.a = conv(1, 3)
        self.b = nn.Conv2d(3, 3, 3, padding=1, padding_mode="zeros" if fault else "circular")
        self.c = nn.Conv2d(3, 2, 1)

    def forward(self, x):
        return self.c(torch.relu(self.b(torch.tanh(self.a(x)))))


class Messages(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.a, self.b = nn.Linear(3, 4), nn.Linear(4, 2)
        self.fault = fault

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        h = torch.tanh(self.a(x))
        if self.fault:
            h = h * torch.arange(h.shape[0]).to(h.dtype).unsqueeze(1)
        h = h + torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])
        return self.b(h)


def script(make, fault=False):
    return torch.jit.script(make(fault))


def traced(fault=False):
    return torch.jit.trace(Plain(fault).eval(), torch.zeros(2, 1, 8, 8))


def compiled(make, fault=False):
    torch._dynamo.reset()  # what other tests left decides otherwise how much is compiled
    return torch.compile(make(fault), backend="eager")


def symbolic(fault=False):
    return torch.fx.symbolic_trace(Plain(fault))


def made_cases():
    scripted = Case("scripted", partial(script, Plain), pictures, "translation", ("grid",), refusable=True)
    nodes = Case("scripted graph network", partial(script, Messages), graph, "permutation", ("nodes",), refusable=True)
    shaped = replace(scripted, name="traced", make=traced, precision=torch.float32, limit=1e-4)
    image = replace(scripted, refusable=False)
    made = replace(image, name="compiled", make=partial(compiled, Plain))
    nodes_made = replace(nodes, name="compiled graph network", make=partial(compiled, Messages), refusable=False)
    fx = replace(image, name="symbolic", make=symbolic)
    return [
        scripted, scripted.broken("zeros", partial(script, Plain, True), "b", hooks=False),
        nodes, nodes.broken("numbers", partial(script, Messages, True)),
        shaped, shaped.broken("zeros", partial(traced, True), "b", hooks=False),
        made, made.broken("zeros", partial(compiled, Plain, True), "b", "_orig_mod.b", hooks=False),
        nodes_made, nodes_made.broken("numbers", partial(compiled, Messages, True), hooks=False),
        fx, fx.broken("zeros", partial(symbolic, True), "b"),
        replace(image, name="copied", make=lambda: copy.deepcopy(Plain())),
    ]  # fmt: skip


class OnlyCode(nn.Module):
    """No layers at all."""

    def __init__(self, fault=False):
        super().__init__()
        self.w = nn.Parameter(torch.randn(3, 1, 3, 3))
        self.v = nn.Parameter(torch.randn(3, 2))
        self.fault = fault

    def forward(self, x):
        x = F.pad(x, [1] * 4, mode="constant" if self.fault else "circular")
        return torch.relu(F.conv2d(x, self.w)).mean((-1, -2)) @ self.v


class OnlyCodeOnNodes(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.w = nn.ParameterDict({"a": torch.randn(4, 5), "b": torch.randn(5, 2)})
        self.fault = fault

    def forward(self, x):
        h = torch.tanh(x @ self.w["a"])
        h = h - (h[0] if self.fault else h.mean(0))
        return h @ self.w["b"]


class Shared(nn.Module):
    """One layer called three times, with something else between."""

    def __init__(self, fault=""):
        super().__init__()
        self.enter, self.conv = conv(1, 4), conv(4, 4)
        self.norms = nn.ModuleList(nn.GroupNorm(2, 4) for _ in range(3))
        self.mid = conv(4, 4, "reflect" if fault else "circular")

    def forward(self, x):
        x = self.enter(x)
        for k, norm in enumerate(self.norms):
            x = x + torch.tanh(norm(self.conv(x)))
            if k == 1:
                x = self.mid(x)
        return x


class Wrapper(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.module = nn.ModuleDict({"output": Plain(fault), "final": nn.Conv2d(2, 2, 1)})

    def forward(self, *args, **kwargs):
        return self.module["final"](self.module["output"](*args, **kwargs))


class Norms(nn.Module):
    """A buffer for each place, filled in training."""

    def __init__(self, fault=False):
        super().__init__()
        self.a, self.b = conv(1, 2), conv(2, 2)
        self.register_buffer("mean", 0.3 * torch.randn(1, 2, 8, 8) if fault else torch.full((1, 2, 1, 1), 0.2))

    def forward(self, x):
        return self.b(torch.relu(self.a(x) - self.mean))


class Noise(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.a, self.b = nn.Linear(4, 6), nn.Linear(6, 2)
        self.fault = fault

    def forward(self, x):
        h = torch.relu(self.a(x)).mean(0)
        h = h + (0.1 * torch.randn_like(h) if self.fault else 0)
        return self.b(h)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.square()

    @staticmethod
    def backward(ctx, grad):
        return 2 * grad * ctx.saved_tensors[0]


class OwnFunction(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.a, self.b = conv(1, 3), nn.Conv2d(3, 2, 3, padding=1, padding_mode="replicate" if fault else "circular")

    def forward(self, x):
        return self.b(Square.apply(self.a(x)))


class Checkpointed(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.a, self.b = conv(1, 3), conv(3, 2, "zeros" if fault else "circular")

    def forward(self, x):
        return torch.utils.checkpoint.checkpoint(lambda v: self.b(torch.relu(self.a(v))), x, use_reentrant=False)


class Lazy(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.a = nn.LazyConv2d(3, 3, padding=1, padding_mode="circular")
        self.b = nn.LazyConv2d(2, 3, padding=1, padding_mode="zeros" if fault else "circular")
        self(torch.zeros(1, 1, 8, 8))

    def forward(self, x):
        return self.b(F.hardswish(self.a(x)))


class Mapped(nn.Module):
    """Runs a function of one node over all of them."""

    def __init__(self, fault=False):
        super().__init__()
        self.a, self.b = nn.Linear(4, 5), nn.Linear(5, 2)
        self.fault = fault

    def forward(self, x):
        h = torch.vmap(lambda row: torch.sin(self.a.weight @ row + self.a.bias))(x)
        h = torch.stack([row * (k + 1 if self.fault else 1) for k, row in enumerate(h.unbind(0))])
        return self.b(h + torch.einsum("nc,mc->nm", h, h) @ h / len(h))


class Sparse(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.a, self.b = nn.Linear(3, 4), nn.Linear(4, 2)
        self.fault = fault

    def forward(self, x, edge_index):
        n, h = len(x), self.a(x)
        values = torch.ones(edge_index.shape[1], dtype=h.dtype)
        if self.fault:
            values = values * (edge_index[0] > 1)
        a = torch.sparse_coo_tensor(edge_index.flip(0), values, (n, n))
        return self.b(torch.relu(torch.sparse.mm(a, h) + h))


def simple(name, network, data, group, out, *culprit, **more):
    """Return a sound network and its twin."""
    sound = Case(name, network, data, group, (out,), **more)
    return [sound, sound.broken("a fault", partial(network, True), *culprit)]


class Fork(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.wide = nn.ModuleList(conv(1, 2, "zeros" if fault and k == 5 else "circular", k) for k in (1, 3, 5))

    def forward(self, x):
        return torch.cat([branch(x) for branch in self.wide], 1).sort(1).values


def bare_cases():
    return [
        Case("a bare convolution", lambda: conv(1, 3), pictures, "translation", ("grid",)),
        Case(
            "a bare convolution, zeros",
            lambda: conv(1, 3, "zeros"),
            pictures,
            "translation",
            ("grid",),
            truth=BROKEN,
            hooks=False,
        ),
        Case("a bare linear layer", lambda: nn.Linear(4, 3), points, "permutation", ("nodes",)),
        Case("a bare norm", lambda: nn.LayerNorm([9, 4]), points, "permutation", ("nodes",)),
        Case(
            "a bare convolution over nodes",
            lambda: nn.Conv1d(9, 9, 1),
            points,
            "permutation",
            ("nodes",),
            truth=BROKEN,
            hooks=False,
            refusable=True,
        ),
        Case("a bare identity", nn.Identity, points, "permutation", ("nodes",)),
        Case("a bare softmax of nodes", lambda: nn.Softmax(0), points, "permutation", ("nodes",)),
    ]


_ALL = (
    *wrapped_cases(), *in_place_cases(), *made_cases(), *bare_cases(),
    *simple("only code", OnlyCode, pictures, "translation", "fixed"),
    *simple("only code on nodes", OnlyCodeOnNodes, points, "permutation", "nodes"),
    *simple("a shared layer", Shared, pictures, "translation", "grid", "mid"),
    *simple("a wrapper", Wrapper, pictures, "translation", "grid", "module.output.b"),
    *simple("buffers by place", Norms, pictures, "translation", "grid"),
    *simple("a function of its own", OwnFunction, pictures, "translation", "grid", "b"),
    *simple("checkpointed", Checkpointed, pictures, "translation", "grid", "b"),
    *simple("lazy layers", Lazy, pictures, "translation", "grid", "b"),
    *simple("mapped over nodes", Mapped, points, "permutation", "nodes"),
    *simple("a sparse matrix", Sparse, graph, "permutation", "nodes"),
    *simple("a fork", Fork, pictures, "translation", "grid", "wide.2"),
    Case("noise of one's own", partial(Noise, True), points, "permutation", ("fixed",)),
    Case("messages by scatter", Messages, graph, "permutation", ("nodes",)),
)  # fmt: skip

CASES = tuple(replace(case, details="compiled" not in case.name) for case in _ALL)
