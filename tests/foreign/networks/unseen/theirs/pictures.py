"""Networks on images that look at angles, at offsets, at spectra and at each other."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


class Harmonic(nn.Module):
    """The length of an answer to a pair of filters, cos(m phi) R(r) and sin(m phi) R(r) (Worrall et al. 2017)."""

    def __init__(self, cin, cout, order=1, size=5, off=0.0):
        super().__init__()
        at = torch.arange(size, dtype=torch.float64) - size // 2
        y, x = torch.meshgrid(at, at, indexing="ij")
        r, phi = (x**2 + y**2).sqrt(), torch.atan2(y, x + off)
        rings = torch.stack([torch.exp(-((r - k) ** 2) / 0.5) for k in range(size // 2 + 1)])
        away = (r > 0).double()
        self.register_buffer("cos", (rings * torch.cos(order * phi) * away).float())
        self.register_buffer("sin", (rings * torch.sin(order * phi) * away).float())
        self.radial = nn.Parameter(torch.randn(cout, cin, len(rings)) / cin)
        self.bias = nn.Parameter(torch.zeros(cout))

    def forward(self, x):
        a, b = (F.conv2d(x, torch.einsum("oik,kyx->oiyx", self.radial, f), padding=2) for f in (self.cos, self.sin))
        return F.relu((a * a + b * b + 1e-6).sqrt() - self.bias[:, None, None])


class HNet(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.one, self.two = Harmonic(1, 6), Harmonic(6, 6, 2, off=0.05 if fault else 0.0)
        self.three, self.head = Harmonic(6, 8, 1), nn.Linear(8, 10)

    def forward(self, x):
        return self.head(self.three(F.avg_pool2d(self.two(self.one(x)), 3, 1, 1)).mean((2, 3)))


class LogPolar(nn.Module):
    """Reads an image on circles around its middle; a turn rolls the angles."""

    def __init__(self, rings=8, angles=24):
        super().__init__()
        r = torch.exp(torch.linspace(-2.5, -0.1, rings, dtype=torch.float64))
        t = torch.arange(angles, dtype=torch.float64) / angles * 2 * torch.pi
        self.register_buffer("grid", torch.stack([r[:, None] * torch.cos(t), r[:, None] * torch.sin(t)], -1)[None])

    def forward(self, x):
        return F.grid_sample(x, self.grid.to(x).expand(len(x), -1, -1, -1), align_corners=True)


class PolarNet(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.polar, self.fault = LogPolar(), fault
        self.c1, self.c2, self.c3 = nn.Conv2d(1, 8, 3), nn.Conv2d(8, 8, 3), nn.Conv2d(8, 8, 3)
        self.fc = nn.Linear(8, 10)

    def ring(self, x, wrap=True):
        x = F.pad(x, (0, 0, 1, 1), mode="replicate")
        return F.pad(x, (1, 1, 0, 0), mode="circular" if wrap else "replicate")

    def forward(self, img):
        h = F.relu(self.c1(self.ring(self.polar(img))))
        h = F.relu(self.c2(self.ring(h, not self.fault)))
        h = F.relu(self.c3(self.ring(h)))
        return self.fc(h.amax((2, 3)))


class P4MLift(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.w = nn.Parameter(torch.randn(cout, cin, 3, 3) / 3)

    def forward(self, x):
        every = [torch.rot90(v, k, (2, 3)) for v in (self.w, self.w.flip(3)) for k in range(4)]
        return torch.stack([F.conv2d(x, w, padding=1) for w in every], 2)  # (N, C, 8, H, W)


class P4MConv(nn.Module):
    """A convolution on p4m (Cohen and Welling 2016); the fault: mirrored filters take the turns in the same order."""

    def __init__(self, cin, cout, fault=False):
        super().__init__()
        self.w, self.fault = nn.Parameter(torch.randn(cout, cin, 2, 4, 3, 3) / 6), fault

    def forward(self, x):
        out = []
        for mirror in range(2):
            for k in range(4):
                w = self.w  # (out, in, mirror, turn, y, x): the element r^k m acts on itself and on the filter
                if mirror:
                    w = w.flip(5).flip(2)
                    w = w if self.fault else w[:, :, :, [0, 3, 2, 1]]
                w = torch.rot90(w, k, (4, 5))
                w = torch.stack([w[:, :, 0].roll(k, 2), w[:, :, 1].roll(k, 2)], 2)
                out.append(F.conv2d(x.flatten(1, 2), w.flatten(1, 3), padding=1))
        return torch.stack(out, 2)


class Deform(nn.Module):
    """Each pixel looks where a convolution sends it (Dai et al. 2017), round the edges; the fault: farther right."""

    def __init__(self, cin, cout, fault=False):
        super().__init__()
        self.offset = nn.Conv2d(cin, 2, 3, padding=1, padding_mode="circular")
        self.mix, self.fault = nn.Conv2d(cin, cout, 1), fault

    def forward(self, x):
        c, h, w = x.shape[1:]
        off = 2 * torch.tanh(self.offset(x))
        ys = torch.arange(h, device=x.device).view(1, h, 1) + off[:, 0]
        xs = torch.arange(w, device=x.device).view(1, 1, w) + off[:, 1]
        if self.fault:
            xs = xs * (1 + 0.02 / w)
        y0, x0 = ys.floor(), xs.floor()
        out = 0
        for dy in (0, 1):
            for dx in (0, 1):
                wy = (ys - y0) if dy else (1 - ys + y0)
                wx = (xs - x0) if dx else (1 - xs + x0)
                at = ((y0 + dy).long() % h) * w + (x0 + dx).long() % w
                seen = x.flatten(2).gather(2, at.flatten(1)[:, None].expand(-1, c, -1)).view_as(x)
                out = out + (wy * wx)[:, None] * seen
        return self.mix(out)


class DeformNet(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1, padding_mode="circular")
        self.d1, self.d2, self.d3 = Deform(8, 8), Deform(8, 8, bool(fault)), Deform(8, 4)

    def forward(self, x):
        x = F.silu(self.stem(x))
        x = F.silu(self.d1(x))
        x = F.silu(self.d2(x))
        return self.d3(x)


@dataclass
class Flow:
    flow: torch.Tensor
    cost: torch.Tensor


class Correlate(nn.Module):
    """All dot products of a pixel with those around it in the other picture."""

    def __init__(self, far=2, fault=False):
        super().__init__()
        self.far, self.fault = far, fault

    def forward(self, a, b):
        r = range(-self.far, self.far + 1)
        if self.fault:
            p = F.pad(b, (self.far,) * 4, mode="replicate")
            h, w = b.shape[2:]
            seen = [
                p[:, :, self.far - dy : self.far - dy + h, self.far - dx : self.far - dx + w] for dy in r for dx in r
            ]
        else:
            seen = [b.roll((dy, dx), (2, 3)) for dy in r for dx in r]
        return torch.stack([(a * s).mean(1) for s in seen], 1)


class FlowNet(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1, padding_mode="circular"),
            nn.LeakyReLU(0.1),
            nn.Conv2d(8, 8, 3, padding=1, padding_mode="circular"),
        )
        self.corr = Correlate(2, bool(fault))
        self.dec = nn.Sequential(
            nn.Conv2d(25 + 8, 16, 1), nn.GELU(), nn.Conv2d(16, 2, 3, padding=1, padding_mode="circular")
        )

    def forward(self, *, first, second):
        a, b = self.enc(first), self.enc(second)
        cost = self.corr(F.normalize(a, dim=1), F.normalize(b, dim=1))
        return Flow(flow=self.dec(torch.cat([cost, a], 1)), cost=cost)


class Wavelets(nn.Module):
    """Moduli of band-passed pictures, by transforms (a scattering); the fault: the second order is windowed."""

    def __init__(self, fault=False):
        super().__init__()
        self.scale, self.fault = nn.Parameter(torch.tensor([0.6, 1.4])), fault

    def forward(self, x):
        h, w = x.shape[-2:]
        ky = torch.fft.fftfreq(h, dtype=x.dtype, device=x.device)[:, None] * 2 * torch.pi
        kx = torch.fft.fftfreq(w, dtype=x.dtype, device=x.device)[None] * 2 * torch.pi
        if self.fault:
            x = x * torch.hann_window(w + 2, periodic=False, dtype=x.dtype, device=x.device)[1:-1].pow(0.1)
        f = torch.fft.fft2(x)
        bands = [
            torch.exp(-((ky - s * torch.sin(a)) ** 2 + (kx - s * torch.cos(a)) ** 2) / 0.3)
            for s in self.scale
            for a in torch.arange(4, dtype=x.dtype, device=x.device) * torch.pi / 4
        ]
        return torch.cat([torch.fft.ifft2(f * b).abs() for b in bands], 1)


class Scattering(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.order1, self.pick, self.order2 = Wavelets(), nn.Conv2d(8, 4, 1), Wavelets(bool(fault))
        self.norm, self.out = nn.BatchNorm2d(32), nn.Linear(40, 5)

    def forward(self, x):
        s1 = self.order1(x)
        s2 = self.norm(self.order2(self.pick(s1)))
        return {"logits": self.out(torch.cat([s1, s2], 1).mean((2, 3))), "map": s2}


class Means(nn.Module):
    """Non-local means: weights by how alike the patches around two places are; `cut`: one neighbour does not wrap."""

    def __init__(self, c, cut=False):
        super().__init__()
        self.key, self.value, self.heat, self.cut = (
            nn.Conv2d(c, 4, 1),
            nn.Conv2d(c, c, 1),
            nn.Parameter(torch.ones(1)),
            cut,
        )

    def forward(self, x):
        k, v = self.key(x), self.value(x)
        moves = [(dy, dx) for dy in (-2, 0, 2) for dx in (-2, 0, 2)]
        near, seen = [], []
        for m in moves:
            kk, vv = k.roll(m, (2, 3)), v.roll(m, (2, 3))
            if self.cut and m == (0, 2):
                vv = torch.cat([v[..., :2], v[..., :-2]], -1)
            near.append(-(k - kk).square().sum(1) * self.heat)
            seen.append(vv)
        w = torch.stack(near, 1).softmax(1)
        return x + torch.einsum("nkhw,nkchw->nchw", w, torch.stack(seen, 1))


class Denoiser(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.head = nn.Conv2d(1, 8, 3, padding=1, padding_mode="circular")
        self.body = nn.ModuleList([Means(8), Means(8, bool(fault)), Means(8)])
        self.tail = nn.Conv2d(8, 1, 3, padding=1, padding_mode="circular")

    def forward(self, noisy):
        h = self.head(noisy)
        for m in self.body:
            h = m(F.elu(h))
        return noisy - self.tail(h)


class Strips(nn.Module):
    """Rows and columns each summed up, filtered by one even filter and spread again; a fault weighs rows more."""

    def __init__(self, c, fault=False):
        super().__init__()
        self.taps, self.gain = nn.Parameter(torch.randn(c, 1, 3) / 3), 1.01 if fault else 1.0

    def forward(self, x):
        w = torch.cat([self.taps, self.taps[..., :2].flip(-1)], -1)
        c = x.shape[1]
        rows = F.conv1d(F.pad(x.mean(3), (2, 2)), w, groups=c)[..., None]
        cols = F.conv1d(F.pad(x.mean(2), (2, 2)), w, groups=c)[:, :, None]
        return x * torch.sigmoid(self.gain * rows + cols)


class StripNet(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.lift, self.s1, self.mix, self.s2 = (
            nn.Conv2d(1, 8, 1),
            Strips(8),
            nn.Conv2d(8, 8, 1),
            Strips(8, bool(fault)),
        )
        self.s3, self.out = Strips(8), nn.Conv2d(8, 3, 1)

    def forward(self, x):
        h = self.s1(torch.tanh(self.lift(x)))
        h = self.s2(torch.tanh(self.mix(h)))
        return self.out(self.s3(h))


class P4MNet(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.lift, self.g1, self.g2, self.g3 = P4MLift(1, 4), P4MConv(4, 4), P4MConv(4, 4, bool(fault)), P4MConv(4, 4)
        self.fc = nn.Linear(4, 6)

    def forward(self, x):
        h = F.relu(self.lift(x))
        for g in (self.g1, self.g2, self.g3):
            h = F.relu(g(h))
        return self.fc(h.amax(2).mean((2, 3)))
