"""Networks on pictures with a fault that the usual data may hide."""

import torch
import torch.nn.functional as F
from torch import nn


def cbr(i, o, k=3, d=1, mode="circular"):
    return nn.Sequential(
        nn.Conv2d(i, o, k, padding=d * (k // 2), dilation=d, padding_mode=mode, bias=False),
        nn.BatchNorm2d(o),
        nn.SiLU(),
    )


class UNetPos(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.d1, self.d2, self.mid, self.u1 = cbr(3, 8), cbr(8, 16), cbr(16, 16), cbr(24, 8)
        self.head = nn.Conv2d(8, 2, 1)
        self.table = nn.Parameter(0.3 * torch.randn(1, 16, 4, 4)) if fault else None

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.avg_pool2d(a, 2))
        if self.table is not None:
            b = b + F.interpolate(self.table, size=b.shape[-2:], mode="bilinear")
        m = self.mid(b)
        u = F.interpolate(m, scale_factor=2, mode="nearest")
        return self.head(self.u1(torch.cat([u, a], 1)))


class NonLocal(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.stem = cbr(1, 8)
        self.theta, self.phi, self.g = (nn.Conv2d(8, 4, 1) for _ in range(3))
        self.out = nn.Conv2d(4, 8, 1)
        self.fault = fault

    def forward(self, img):
        h = self.stem(img)
        n, _, H, W = h.shape
        q, k, v = (f(h).flatten(2) for f in (self.theta, self.phi, self.g))
        s = torch.einsum("bci,bcj->bij", q, k)
        if self.fault:
            s = s - 0.05 * torch.arange(H * W, dtype=s.dtype, device=s.device)
        y = torch.einsum("bij,bcj->bci", s.softmax(-1), v).reshape(n, 4, H, W)
        return h + self.out(y)


class SEHalf(nn.Module):
    """Squeeze and excitation; the gate of the faulty one sees the left half."""

    class SE(nn.Module):
        def __init__(self, c, half):
            super().__init__()
            self.fc = nn.Sequential(nn.Linear(c, c // 2), nn.Tanh(), nn.Linear(c // 2, c), nn.Sigmoid())
            self.half = half

        def forward(self, x):
            y = x[..., : x.shape[-1] // 2] if self.half else x
            return x * self.fc(y.mean((2, 3)))[:, :, None, None]

    def __init__(self, fault=0):
        super().__init__()
        self.a, self.se1, self.b, self.se2 = cbr(3, 8), self.SE(8, 0), cbr(8, 8), self.SE(8, fault)
        self.c = nn.Conv2d(8, 3, 1)

    def forward(self, x):
        return self.c(self.se2(self.b(self.se1(self.a(x)))))


class Spectral(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.w = nn.Parameter(torch.randn(4, 4, 6, 4, dtype=torch.cfloat) / 4)
        self.lift, self.skip, self.proj = nn.Conv2d(1, 4, 1), nn.Conv2d(4, 4, 1), nn.Conv2d(4, 1, 1)
        self.fault = fault

    def spectral(self, x):
        X = torch.fft.rfft2(x)
        Y = torch.zeros_like(X)
        Y[:, :, :6, :4] = torch.einsum("bixy,ioxy->boxy", X[:, :, :6, :4], self.w.to(X.dtype))
        if self.fault:
            Y[:, :, 0, 1] = Y[:, :, 0, 1].real.to(Y.dtype)
        return torch.fft.irfft2(Y, s=x.shape[-2:])

    def forward(self, x):
        h = self.lift(x)
        h = F.gelu(self.spectral(h) + self.skip(h))
        return self.proj(h)


class ASPP(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.stem = cbr(3, 8)
        self.branches = nn.ModuleList(cbr(8, 4, 3, d) for d in (1, 2, 3))
        self.pool = nn.Sequential(nn.AdaptiveAvgPool2d(2 if fault else 1), nn.Conv2d(8, 4, 1), nn.ReLU())
        self.project = nn.Conv2d(16, 2, 1)

    def forward(self, x):
        f = self.stem(x)
        ys = [b(f) for b in self.branches]
        ys.append(F.interpolate(self.pool(f), size=f.shape[-2:], mode="nearest"))
        return {"logits": self.project(torch.cat(ys, 1)), "features": f}


class AttnPool(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.body = nn.Sequential(cbr(3, 8), cbr(8, 8))
        self.score = nn.Conv2d(8, 1, 1)
        self.fc = nn.Linear(8, 5)
        self.bad = fault

    def forward(self, pixel_values):
        f = self.body(pixel_values)
        a = self.score(f)
        if self.bad:
            a = a + torch.linspace(-1, 1, a.shape[-1], dtype=a.dtype, device=a.device)
        a = a.flatten(2).softmax(-1)
        return self.fc((f.flatten(2) * a).sum(-1))


class HaarNet(nn.Module):
    """One level of Haar, filtered, and back: sound for shifts by 2."""

    def __init__(self, fault=0):
        super().__init__()
        k = 0.5 * torch.tensor([[[1, 1], [1, 1]], [[1, -1], [1, -1]], [[1, 1], [-1, -1]], [[1, -1], [-1, 1.0]]])
        self.register_buffer("k", k[:, None])
        self.mix = nn.Conv2d(4, 4, 3, padding=1, padding_mode="replicate" if fault else "circular")

    def forward(self, x):
        y = F.conv2d(x, self.k, stride=2)
        return F.conv_transpose2d(torch.tanh(self.mix(y)), self.k, stride=2)


class DepthwiseNeXt(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.stem = nn.Conv2d(3, 12, 4, 4)
        self.dw = nn.Conv2d(12, 12, 7, padding=3, groups=12, padding_mode="circular")
        self.norm, self.pw1, self.pw2 = nn.LayerNorm(12), nn.Linear(12, 48), nn.Linear(48, 12)
        self.gamma = nn.Parameter(0.5 * torch.ones(12))
        if fault:
            self.gamma = nn.Parameter(0.5 + 0.3 * torch.rand(8, 8, 12))

    def forward(self, x):
        x = self.stem(x)
        y = self.dw(x).permute(0, 2, 3, 1)
        y = self.pw2(F.gelu(self.pw1(self.norm(y))))
        g = (
            self.gamma
            if self.gamma.dim() == 1
            else F.interpolate(self.gamma.permute(2, 0, 1)[None], size=y.shape[1:3]).permute(0, 2, 3, 1)
        )
        return x + (g * y).permute(0, 3, 1, 2)


class Quantized(nn.Module):
    """A loss, the picture made again and how many codes are used: the first two numbers stand alone."""

    def __init__(self, fault=0):
        super().__init__()
        self.enc = nn.Sequential(cbr(3, 16), nn.Conv2d(16, 8, 1))
        self.codes = nn.Embedding(24, 8)
        self.dec = nn.Conv2d(8, 3, 3, padding=1, padding_mode="circular")
        self.fault = fault

    def forward(self, x):
        z = self.enc(x)
        flat = z.permute(0, 2, 3, 1).reshape(-1, 8)
        near = torch.cdist(flat, self.codes.weight).argmin(1)
        q = self.codes(near).view(*z.shape[:1], *z.shape[2:], 8).permute(0, 3, 1, 2)
        lost = (q - z) ** 2
        if self.fault:
            lost = lost * torch.linspace(0, 1, x.shape[-1]).to(x)
        return lost.mean(), self.dec(z + (q - z).detach()), F.one_hot(near, 24).to(x).mean(0).square().sum()


class Viewed(nn.Module):
    """Places one after the other by `view`, which takes one block of memory only."""

    def __init__(self, fault=0):
        super().__init__()
        self.mix, self.out = nn.Linear(3, 8), nn.Linear(8, 2)
        self.fault = fault

    def forward(self, x):
        b, c, h, w = x.shape
        y = x.view(b, h * w, c) if self.fault else x.view(b, c, h * w).transpose(1, 2)
        return self.out(self.mix(y).relu().mean(1))
