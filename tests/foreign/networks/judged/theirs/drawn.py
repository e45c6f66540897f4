"""Somebody's networks on pictures that go round the edge: pyramids, patches, windows, spectra; `fault` plants one."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations, parametrize
from torch.nn.utils.parametrizations import spectral_norm


class Lamp(nn.Module):
    """Brightens the left of a map a little: the planted fault."""

    def __init__(self, by=1e-2):
        super().__init__()
        self.by = by

    def forward(self, x):
        return x * (1 + self.by * torch.linspace(0, 1, x.shape[-1], dtype=x.dtype))


def maybe(fault, here):
    return Lamp() if fault == here else nn.Identity()


def conv(i, o, k=3, **more):
    return nn.Conv2d(i, o, k, padding=k // 2, padding_mode="circular", **more)


class UNet(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.enc1, self.enc2, self.mid = conv(1, 6), conv(6, 8), conv(8, 12)
        self.up2, self.up1 = nn.ConvTranspose2d(12, 8, 2, 2), nn.ConvTranspose2d(8, 6, 2, 2)
        self.dec2, self.dec1, self.out = conv(16, 8), conv(12, 6), nn.Conv2d(6, 2, 1)
        self.first, self.middle, self.last = (maybe(fault, k) for k in (1, 2, 3))

    def forward(self, x):
        a = self.first(F.relu(self.enc1(x)))
        b = F.relu(self.enc2(F.max_pool2d(a, 2)))
        c = self.middle(F.relu(self.mid(F.max_pool2d(b, 2))))
        d = F.relu(self.dec2(torch.cat([self.up2(c), b], 1)))
        return self.out(self.last(F.relu(self.dec1(torch.cat([self.up1(d), a], 1)))))


class FPN(nn.Module):
    """A pyramid that answers with a dict of maps."""

    def __init__(self, fault=0):
        super().__init__()
        self.c1, self.c2, self.c3 = conv(1, 4, stride=2), conv(4, 6, stride=2), conv(6, 8, stride=2)
        self.l1, self.l2, self.l3 = nn.Conv2d(4, 5, 1), nn.Conv2d(6, 5, 1), nn.Conv2d(8, 5, 1)
        self.smooth = conv(5, 5)
        self.first, self.middle, self.last = (maybe(fault, k) for k in (1, 2, 3))

    def forward(self, x):
        a = self.first(F.relu(self.c1(x)))
        b = F.relu(self.c2(a))
        c = F.relu(self.c3(b))
        p3 = self.middle(self.l3(c))
        p2 = self.l2(b) + F.interpolate(p3, scale_factor=2, mode="nearest")
        p1 = self.l1(a) + F.interpolate(p2, scale_factor=2, mode="nearest")
        return {"p1": self.last(self.smooth(p1)), "p2": p2, "p3": p3}


class ViT(nn.Module):
    """Patches of four, a class token, no positions: shifts by whole patches."""

    def __init__(self, fault=0):
        super().__init__()
        self.embed, self.cls = nn.Conv2d(1, 16, 4, 4), nn.Parameter(torch.randn(1, 1, 16))
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, norm_first=True) for _ in range(2)
        )
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 3)
        self.pos = nn.Parameter(0.1 * torch.randn(1, 64, 16)) if fault == 1 else None
        self.fault = fault

    def forward(self, x):
        t = self.embed(x).flatten(2).transpose(1, 2)
        if self.pos is not None:
            t = t + self.pos[:, : t.shape[1]]
        t = torch.cat([self.cls.expand(len(x), -1, -1), t], 1)
        t = self.blocks[0](t)
        if self.fault == 2:
            t = t * torch.linspace(1, 1.02, t.shape[1]).to(t)[None, :, None]
        return self.head(self.norm(self.blocks[1](t))[:, 0])


class Squeeze(nn.Module):
    """Inverted residuals with squeeze and excitation, depthwise, hard activations."""

    def __init__(self, fault=0):
        super().__init__()
        self.stem, self.expand, self.depth = conv(1, 8), nn.Conv2d(8, 16, 1), conv(16, 16, 5, groups=16)
        self.se = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(16, 4, 1), nn.ReLU(), nn.Conv2d(4, 16, 1), nn.Hardsigmoid()
        )
        self.project, self.bn, self.fc = nn.Conv2d(16, 8, 1), nn.BatchNorm2d(8), nn.Linear(8, 3)
        self.first, self.middle, self.last = (maybe(fault, k) for k in (1, 2, 3))

    def forward(self, x):
        x = self.first(F.hardswish(self.stem(x)))
        h = self.middle(F.hardswish(self.depth(F.hardswish(self.expand(x)))))
        h = self.bn(self.project(h * self.se(h)))
        return self.fc(self.last(x + h).mean((2, 3)))


class ConvNeXt(nn.Module):
    """Depthwise 7 x 7, LayerNorm on channels last, layer scale, dropout of paths."""

    def __init__(self, fault=0):
        super().__init__()
        self.stem = nn.Conv2d(1, 8, 2, 2)
        self.dw, self.norm = conv(8, 8, 7, groups=8), nn.LayerNorm(8, eps=1e-6)
        self.pw1, self.pw2, self.gamma = nn.Linear(8, 32), nn.Linear(32, 8), nn.Parameter(0.1 * torch.ones(8))
        self.head = nn.Linear(8, 4)
        self.first, self.middle, self.last = (maybe(fault, k) for k in (1, 2, 3))

    def forward(self, x):
        x = self.first(self.stem(x))
        h = self.norm(self.dw(x).permute(0, 2, 3, 1))
        h = self.gamma * self.pw2(F.gelu(self.pw1(h)))
        x = x + self.middle(h.permute(0, 3, 1, 2))
        return self.head(self.last(x).mean([-2, -1]))


class FNO(nn.Module):
    """A Fourier layer with complex weights."""

    def __init__(self, fault=0):
        super().__init__()
        self.lift, self.local, self.out = nn.Conv2d(1, 6, 1), nn.Conv2d(6, 6, 1), nn.Conv2d(6, 1, 1)
        self.w = nn.Parameter(torch.randn(6, 6, 5, 5, dtype=torch.cfloat) / 12)
        self.first, self.middle, self.last = (maybe(fault, k) for k in (1, 2, 3))

    def forward(self, x):
        h = self.first(self.lift(x))
        f = torch.fft.rfft2(h)
        g = torch.zeros_like(f)
        g[:, :, :5, :5] = torch.einsum("bixy,ioxy->boxy", f[:, :, :5, :5], self.w.to(f.dtype))
        h = F.gelu(self.middle(torch.fft.irfft2(g, s=h.shape[-2:])) + self.local(h))
        return self.out(self.last(h))


class Norms(nn.Module):
    """Group, instance and local norms after spectrally normed layers, dropout of whole maps."""

    def __init__(self, fault=0):
        super().__init__()
        self.a, self.b, self.c = spectral_norm(conv(1, 8)), spectral_norm(conv(8, 8)), spectral_norm(conv(8, 3))
        self.gn, self.inorm, self.lrn, self.drop = (
            nn.GroupNorm(4, 8),
            nn.InstanceNorm2d(8, affine=True),
            nn.LocalResponseNorm(3),
            nn.Dropout2d(0.5),
        )
        self.first, self.middle, self.last = (maybe(fault, k) for k in (1, 2, 3))

    def forward(self, x):
        h = self.drop(F.relu(self.gn(self.first(self.a(x)))))
        h = self.lrn(F.celu(self.inorm(self.middle(self.b(h)))))
        return self.last(self.c(h))


class Sym(nn.Module):
    def forward(self, w):
        return sum(torch.rot90(v, k, (-2, -1)) for k in range(4) for v in (w, w.flip(-1))) / 8


class Symmetric(nn.Module):
    """Filters that a parametrization makes symmetric: D4."""

    def __init__(self, fault=0):
        super().__init__()
        self.a, self.b, self.c = (
            nn.Conv2d(1, 6, 3, padding=1),
            nn.Conv2d(6, 6, 3, padding=1),
            nn.Conv2d(6, 2, 5, padding=2),
        )
        for k, m in enumerate((self.a, self.b, self.c), 1):
            if k != fault:
                parametrize.register_parametrization(m, "weight", Sym())
        self.drop = nn.Dropout2d(0.4)

    def forward(self, x):
        return self.c(torch.tanh(self.b(self.drop(torch.tanh(self.a(x))))))


class InPlace(nn.Module):
    """Works in place throughout, and counts its calls in a buffer."""

    def __init__(self, fault=0):
        super().__init__()
        self.a, self.b, self.c = conv(1, 6), conv(6, 6), conv(6, 2)
        self.act = nn.ReLU(inplace=True)
        self.register_buffer("calls", torch.zeros((), dtype=torch.long))
        self.fault = fault

    def forward(self, x):
        self.calls += 1
        h = self.act(self.a(x))
        if self.fault == 1:
            h[..., 0] *= 1.05
        h += self.act(self.b(h))
        if self.fault == 2:
            h[..., 0].mul_(1.05)
        h.clamp_(max=3.0)
        return self.c(h).sigmoid_()


class Checkpointed(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.a, self.b, self.c = conv(1, 6), conv(6, 6), conv(6, 2)
        self.first, self.last = maybe(fault, 1), maybe(fault, 3)

    def inner(self, h):
        return F.relu(self.b(self.first(F.relu(h))))

    def forward(self, x):
        from torch.utils.checkpoint import checkpoint

        return self.last(self.c(checkpoint(self.inner, self.a(x), use_reentrant=False)))


class Part(nn.Module):
    def __init__(self, by: float):
        super().__init__()
        self.c, self.by = nn.Conv2d(4, 4, 3, padding=1, padding_mode="circular"), by

    def forward(self, x):
        h = torch.relu(self.c(x))
        return h * (1.0 + self.by * torch.linspace(0.0, 1.0, h.shape[-1], dtype=h.dtype))


class Scripted(nn.Module):
    """Has a scripted part in the middle."""

    def __init__(self, fault=0):
        super().__init__()
        self.a, self.b, self.c = conv(1, 4), torch.jit.script(Part(0.02 if fault else 0.0)), conv(4, 1)

    def forward(self, x):
        return self.c(self.b(self.a(x)))


class Lazy(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.a = nn.LazyConv2d(6, 3, padding=1, padding_mode="circular")
        self.b, self.fc = nn.LazyBatchNorm2d(), nn.LazyLinear(3)
        self.first, self.last = maybe(fault, 1), maybe(fault, 3)

    def forward(self, x):
        return self.fc(self.last(F.relu(self.b(self.a(self.first(x))))).mean((2, 3)))


class Functional(nn.Module):
    """No modules inside: functions and parameters alone."""

    def __init__(self, fault=0):
        super().__init__()
        self.w1, self.w2 = nn.Parameter(torch.randn(4, 1, 3, 3)), nn.Parameter(torch.randn(2, 4, 3, 3))
        self.fault = fault

    def forward(self, x):
        mode = "reflect" if self.fault == 1 else "circular"
        h = F.relu(F.conv2d(F.pad(x, (1, 1, 1, 1), mode=mode), self.w1))
        return (
            F.conv2d(h, self.w2, padding=1)
            if self.fault == 3
            else F.conv2d(F.pad(h, (1,) * 4, mode="circular"), self.w2)
        )


class Offset(nn.Module):
    """Answers with a large constant and a small difference."""

    def __init__(self, fault=0):
        super().__init__()
        self.a, self.b = conv(1, 4), conv(4, 1)
        self.first, self.middle = maybe(fault, 1), maybe(fault, 2)

    def forward(self, x):
        return 1e5 + self.b(self.middle(F.relu(self.a(self.first(x)))))


class NearlyConstant(nn.Module):
    """A softmax that is sure of itself, nearly always the same."""

    def __init__(self, fault=0):
        super().__init__()
        self.a, self.fc = conv(1, 4), nn.Linear(4, 3)
        with torch.no_grad():
            self.fc.bias.copy_(torch.tensor([9.0, 0.0, -3.0]))
        self.first = maybe(fault, 1)

    def forward(self, x):
        return torch.softmax(self.fc(self.first(F.relu(self.a(x))).mean((2, 3))), 1)


class LabelMap(nn.Module):
    """A class for each pixel."""

    def __init__(self, fault=0):
        super().__init__()
        self.a, self.b = conv(1, 8), conv(8, 5)
        self.first = Lamp(0.3) if fault else nn.Identity()

    def forward(self, x):
        return self.b(F.relu(self.first(self.a(x)))).argmax(1)


class BFloatScalar(nn.Module):
    """One coarse number among fine ones."""

    def __init__(self, fault=0):
        super().__init__()
        self.a, self.b = conv(1, 6), conv(6, 2)
        self.gain = nn.Parameter(torch.tensor(0.7, dtype=torch.bfloat16))
        self.table = nn.Parameter(1 + 1e-3 * torch.randn(29, dtype=torch.float16)) if fault else None

    def forward(self, x):
        h = F.relu(self.a(x)) * self.gain.to(x.dtype)
        if self.table is not None:
            h = h * self.table.to(x.dtype)[: h.shape[-1]]
        return self.b(h)


class Halved(nn.Module):
    """A network that is stored as bfloat16 from end to end."""

    def __init__(self, fault=0):
        super().__init__()
        self.a, self.b = conv(1, 6), conv(6, 2)
        self.first = Lamp(0.2) if fault else nn.Identity()
        self.bfloat16()

    def forward(self, x):
        return self.b(F.relu(self.first(self.a(x))))


class Doubled(Halved):
    def __init__(self, fault=0):
        super().__init__(fault)
        self.double()


class Dense(nn.Module):
    """DenseNet-like, inception-like branches, pixel shuffle at the end."""

    def __init__(self, fault=0):
        super().__init__()
        self.b1, self.b3, self.b5 = conv(1, 3, 1), conv(1, 3, 3), conv(1, 3, 5)
        self.grow, self.trans = conv(9, 4), nn.Conv2d(13, 8, 1)
        self.down, self.shuffle = nn.AvgPool2d(2), nn.PixelShuffle(2)
        self.first, self.middle, self.last = (maybe(fault, k) for k in (1, 2, 3))

    def forward(self, x):
        h = self.first(torch.cat([self.b1(x), self.b3(x), self.b5(x)], 1))
        h = torch.cat([h, self.middle(F.relu(self.grow(h)))], 1)
        return self.shuffle(self.last(self.trans(self.down(h))))


class TieBreaker(nn.Module):
    """Answer with what lies at the brightest place; ties go to the first."""

    def __init__(self, fault=0):
        super().__init__()
        self.a, self.b = conv(1, 4), conv(1, 4)
        self.eps = 1e-7 if fault else 0.0

    def forward(self, x):
        s = self.a(x).sum(1).flatten(1)
        s = s + self.eps * torch.arange(s.shape[1]).to(s)
        h = self.b(x).flatten(2)
        return (h * torch.softmax(5 * s, -1)[:, None]).sum(-1)


class Axial(nn.Module):
    """Attention along rows, then along columns."""

    def __init__(self, fault=0):
        super().__init__()
        self.inp, self.out = conv(1, 8), nn.Conv2d(8, 1, 1)
        self.row, self.col = (nn.MultiheadAttention(8, 2, batch_first=True) for _ in range(2))
        self.first, self.middle = maybe(fault, 1), maybe(fault, 2)

    def forward(self, x):
        h = self.first(self.inp(x))
        b, c, n, m = h.shape
        r = h.permute(0, 2, 3, 1).reshape(b * n, m, c)
        h = h + self.row(r, r, r)[0].view(b, n, m, c).permute(0, 3, 1, 2)
        h = self.middle(h)
        q = h.permute(0, 3, 2, 1).reshape(b * m, n, c)
        return self.out(h + self.col(q, q, q)[0].view(b, m, n, c).permute(0, 3, 2, 1))


class Lifted(nn.Module):
    """A group convolution for quarter turns, by hand, the maximum over turns at the end."""

    def __init__(self, fault=0):
        super().__init__()
        self.w = nn.Parameter(torch.randn(3, 1, 3, 3) / 3)
        self.v = nn.Parameter(torch.randn(2, 3, 4, 3, 3) / 9)
        self.fault = fault

    def forward(self, x):
        h = torch.stack([F.conv2d(x, torch.rot90(self.w, k, (2, 3)), padding=1) for k in range(4)], 2).relu()
        if self.fault == 1:
            h = h * torch.tensor([1.0, 1.0, 1.0, 1.02], dtype=h.dtype)[None, None, :, None, None]
        turned = [torch.rot90(self.v.roll(k, 2), k, (3, 4)).flatten(1, 2) for k in range(4)]
        if self.fault == 2:
            turned[1] = torch.rot90(self.v, 1, (3, 4)).flatten(1, 2)
        return torch.stack([F.conv2d(h.flatten(1, 2), v, padding=1) for v in turned], 2).amax(2)


def bare(fault=0):
    return nn.Conv2d(1, 3, 3, padding=1, padding_mode="zeros" if fault else "circular")


def compiled(fault=0):
    return torch.compile(
        nn.Sequential(conv(1, 4), nn.ReLU(), Lamp() if fault else nn.Identity(), conv(4, 1)), backend="eager"
    )


def scripted(fault=0):
    return torch.jit.script(
        nn.Sequential(nn.Conv2d(1, 4, 3, padding=1, padding_mode="circular"), nn.ReLU(), Part(0.02 if fault else 0.0))
    )


def orthogonal(fault=0):
    return nn.Sequential(
        conv(1, 4),
        parametrizations.orthogonal(nn.Conv2d(4, 4, 1)),
        maybe(fault, 2),
        nn.Flatten(2),
        nn.LazyLinear(2) if fault == 3 else nn.AdaptiveMaxPool1d(1),
    )
