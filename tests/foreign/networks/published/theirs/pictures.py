"""Networks on images in styles of the literature; with fault=1 one fault is planted."""

import torch
import torch.nn.functional as F
from torch import nn


def conv(i, o, k=3, **kw):
    return nn.Conv2d(i, o, k, padding=k // 2, padding_mode="circular", **kw)


class HyperHead(nn.Module):
    def __init__(self, c, o, corner):
        super().__init__()
        self.gen = nn.Sequential(nn.Linear(c, 16), nn.Tanh(), nn.Linear(16, o * c * 9))
        self.c, self.o, self.corner = c, o, corner

    def forward(self, x):
        code = x[:, :, 0, 0] if self.corner else x.mean((2, 3))
        w = self.gen(code).view(-1, self.c, 3, 3)
        b, c, h, v = x.shape
        y = F.conv2d(F.pad(x, (1, 1, 1, 1), mode="circular").reshape(1, b * c, h + 2, v + 2), w, groups=b)
        return y.view(b, self.o, h, v)


class HyperNet(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.stem = conv(3, 8)
        self.dynamic = HyperHead(8, 8, fault == 1)
        self.out = conv(8, 2)

    def forward(self, x):
        return self.out(F.silu(self.dynamic(F.silu(self.stem(x)))))


class DeformConv(nn.Module):
    def __init__(self, i, o, absolute):
        super().__init__()
        self.offset = conv(i, 18)
        self.weight = nn.Parameter(torch.randn(o, i, 9) * 0.2)
        self.absolute = absolute

    def forward(self, x):
        b, c, h, w = x.shape
        off = self.offset(x).view(b, 9, 2, h, w)
        if self.absolute:
            off = off * torch.linspace(0.5, 1.5, w, dtype=x.dtype, device=x.device)
        ky, kx = torch.meshgrid(torch.arange(-1, 2), torch.arange(-1, 2), indexing="ij")
        out = 0
        yy, xx = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        flat = x.flatten(2)
        for k in range(9):
            dy, dx = off[:, k, 0], off[:, k, 1]
            fy, fx = dy.floor(), dx.floor()
            ay, ax = dy - fy, dx - fx
            value = 0
            for sy, wy in ((0, 1 - ay), (1, ay)):
                for sx, wx in ((0, 1 - ax), (1, ax)):
                    r = (yy + ky.flatten()[k] + fy.long() + sy) % h
                    q = (xx + kx.flatten()[k] + fx.long() + sx) % w
                    index = (r * w + q).flatten(1)[:, None].expand(-1, c, -1)
                    value = value + flat.gather(2, index).view(b, c, h, w) * (wy * wx)[:, None]
            out = out + torch.einsum("oc,bchw->bohw", self.weight[:, :, k], value)
        return out


class DeformNet(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.c1, self.c2, self.c3 = conv(1, 6), DeformConv(6, 6, fault == 1), conv(6, 2)

    def forward(self, x):
        return self.c3(torch.relu(self.c2(torch.relu(self.c1(x)))))


class CorrBlock(nn.Module):
    def __init__(self, radius, zeros):
        super().__init__()
        self.radius, self.zeros = radius, zeros

    def forward(self, f1, f2):
        r = self.radius
        mode = "constant" if self.zeros else "circular"
        p = F.pad(f2, (r, r, r, r), mode=mode)
        h, w = f1.shape[-2:]
        return torch.stack(
            [(f1 * p[..., i : i + h, j : j + w]).mean(1) for i in range(2 * r + 1) for j in range(2 * r + 1)], 1
        )


class SmallRAFT(nn.Module):
    """Flow from two frames: shared features, a local correlation volume, a recurrent update."""

    def __init__(self, fault=0):
        super().__init__()
        self.fnet = nn.Sequential(conv(3, 8), nn.ReLU(), conv(8, 8))
        self.corr = CorrBlock(2, fault == 1)
        self.convz, self.convq = conv(8 + 25 + 2, 8), conv(8 + 25 + 2, 8)
        self.flow_head = conv(8, 2)

    def forward(self, image1, image2):
        f1, f2 = self.fnet(image1), self.fnet(image2)
        corr = self.corr(f1, f2)
        net, flow = torch.tanh(f1), torch.zeros_like(f1[:, :2])
        for _ in range(3):
            inp = torch.cat([net, corr, flow], 1)
            z = torch.sigmoid(self.convz(inp))
            net = (1 - z) * net + z * torch.tanh(self.convq(inp))
            flow = flow + self.flow_head(net)
        return flow


class SpectralConv2d(nn.Module):
    def __init__(self, i, o, m):
        super().__init__()
        self.weights1 = nn.Parameter(torch.randn(i, o, m, m, dtype=torch.cfloat) / (i * o))
        self.weights2 = nn.Parameter(torch.randn(i, o, m, m, dtype=torch.cfloat) / (i * o))
        self.m, self.o = m, o

    def forward(self, x):
        f = torch.fft.rfft2(x)
        out = torch.zeros(len(x), self.o, x.shape[-2], x.shape[-1] // 2 + 1, dtype=f.dtype, device=x.device)
        m = self.m
        out[:, :, :m, :m] = torch.einsum("bixy,ioxy->boxy", f[:, :, :m, :m], self.weights1.to(f.dtype))
        out[:, :, -m:, :m] = torch.einsum("bixy,ioxy->boxy", f[:, :, -m:, :m], self.weights2.to(f.dtype))
        return torch.fft.irfft2(out, s=x.shape[-2:])


class FNO2d(nn.Module):
    """Fourier neural operator; its published form adds the grid of places to what it lifts."""

    def __init__(self, fault=0, width=8, modes=4):
        super().__init__()
        self.fault = fault
        self.fc0 = nn.Linear(1 + 2 * (fault == 1), width)
        self.conv0, self.conv1 = SpectralConv2d(width, width, modes), SpectralConv2d(width, width, modes)
        self.w0, self.w1 = nn.Conv2d(width, width, 1), nn.Conv2d(width, width, 1)
        self.fc1, self.fc2 = nn.Linear(width, 16), nn.Linear(16, 1)

    def get_grid(self, x):
        h, w = x.shape[1:3]
        y, u = (torch.linspace(0, 1, n, dtype=x.dtype, device=x.device) for n in (h, w))
        return torch.stack(torch.meshgrid(y, u, indexing="ij"), -1).expand(len(x), h, w, 2)

    def forward(self, x):
        x = x.permute(0, 2, 3, 1)
        if self.fault:
            x = torch.cat([x, self.get_grid(x)], -1)
        x = self.fc0(x).permute(0, 3, 1, 2)
        x = F.gelu(self.conv0(x) + self.w0(x))
        x = self.conv1(x) + self.w1(x)
        x = F.gelu(self.fc1(x.permute(0, 2, 3, 1)))
        return self.fc2(x).permute(0, 3, 1, 2)


class Modulated(nn.Module):
    def __init__(self, i, o, style):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(1, o, i, 3, 3) * 0.2)
        self.affine = nn.Linear(style, i)

    def forward(self, x, w):
        b, i, h, v = x.shape
        weight = self.weight * (self.affine(w).view(b, 1, i, 1, 1) + 1)
        weight = weight * torch.rsqrt(weight.pow(2).sum((2, 3, 4), keepdim=True) + 1e-8)
        x = F.pad(x.reshape(1, b * i, h, v), (1, 1, 1, 1), mode="circular")
        return F.conv2d(x, weight.reshape(-1, i, 3, 3), groups=b).view(b, -1, h, v)


class NoiseInjection(nn.Module):
    def __init__(self, fixed):
        super().__init__()
        self.strength = nn.Parameter(torch.full((1,), 0.3))
        self.register_buffer("noise_const", torch.randn(32, 32) if fixed else torch.randn(1, 1))

    def forward(self, x):
        n = self.noise_const
        return x + self.strength * (n[: x.shape[2], : x.shape[3]] if n.numel() > 1 else n)


class StyleTransfer(nn.Module):
    """Modulated convolutions of an image by a style vector."""

    def __init__(self, fault=0):
        super().__init__()
        self.mapping = nn.Sequential(nn.Linear(12, 12), nn.LeakyReLU(0.2), nn.Linear(12, 12))
        self.conv1, self.noise1 = Modulated(3, 8, 12), NoiseInjection(False)
        self.conv2, self.noise2 = Modulated(8, 8, 12), NoiseInjection(fault == 1)
        self.to_rgb = Modulated(8, 3, 12)

    def forward(self, x, style):
        w = self.mapping(style)
        x = F.leaky_relu(self.noise1(self.conv1(x, w)), 0.2)
        x = F.leaky_relu(self.noise2(self.conv2(x, w)), 0.2)
        return self.to_rgb(x, w)


class DEQBlock(nn.Module):
    def __init__(self, c, fault):
        super().__init__()
        self.conv1 = nn.utils.parametrizations.spectral_norm(conv(c, c))
        self.conv2 = nn.Conv2d(c, c, 3, padding=1, padding_mode="replicate" if fault else "circular")
        with torch.no_grad():
            self.conv2.weight *= 0.3

    def forward(self, z, x):
        return torch.tanh(self.conv2(F.relu(self.conv1(z))) + x)


class DEQ(nn.Module):
    """Deep equilibrium: the fixed point of one block by plain iteration."""

    def __init__(self, fault=0):
        super().__init__()
        self.inject, self.f, self.out = conv(3, 8), DEQBlock(8, fault == 1), nn.Conv2d(8, 2, 1)

    def forward(self, x):
        x = self.inject(x)
        z = torch.zeros_like(x)
        for _ in range(12):
            z = self.f(z, x)
        return self.out(z)


class Coupling(nn.Module):
    def __init__(self, c, checkerboard):
        super().__init__()
        self.net = nn.Sequential(conv(c, 8), nn.ReLU(), conv(8, 2 * c))
        self.checkerboard, self.c = checkerboard, c

    def mask(self, x):
        if self.checkerboard:
            i, j = (torch.arange(n, device=x.device) for n in x.shape[-2:])
            return ((i[:, None] + j) % 2).to(x.dtype)
        m = torch.zeros(self.c, 1, 1, dtype=x.dtype, device=x.device)
        m[: self.c // 2] = 1
        return m

    def forward(self, x):
        m = self.mask(x)
        s, t = self.net(x * m).chunk(2, 1)
        s, t = torch.tanh(s) * (1 - m), t * (1 - m)
        return x * s.exp() + t, s.sum((1, 2, 3))


class RealNVP(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.first = nn.Conv2d(3, 4, 1)
        self.couplings = nn.ModuleList([Coupling(4, False), Coupling(4, fault == 1), Coupling(4, False)])

    def forward(self, x):
        x, logdet = self.first(x), 0
        for c in self.couplings:
            x, d = c(x)
            x, logdet = x.flip(1), logdet + d
        return x, logdet


class Stage(nn.Sequential):
    """A convolution that halves the sides, and a rectifier."""

    def __init__(self, i, o):
        super().__init__(nn.Conv2d(i, o, 4, 2, 1, padding_mode="circular"), nn.ReLU())


class Codes(nn.Module):
    """The nearest of a few codes for every place."""

    def __init__(self, n, d):
        super().__init__()
        self.embedding = nn.Embedding(n, d)

    def forward(self, z):
        flat = z.permute(0, 2, 3, 1)
        near = (flat[..., None, :] - self.embedding.weight).pow(2).sum(-1).argmin(-1)
        return z + (self.embedding(near).permute(0, 3, 1, 2) - z).detach()


class CodeBook(nn.Module):
    """An autoencoder with a code book, with as many channels as there are places of a side."""

    def __init__(self, fault=0):
        super().__init__()
        self.encoder = nn.Sequential(Stage(3, 16), Stage(16, 32), conv(32, 8))
        self.codes = Codes(16, 8)
        with torch.no_grad():  # of codes far from all places every place takes the same one, and the answer is constant
            self.codes.embedding.weight.mul_(0.1)
        up = {"scale_factor": 2, "mode": "nearest"}
        middle = nn.Conv2d(16, 16, 3, padding=1, padding_mode="zeros" if fault == 1 else "circular")
        self.decoder = nn.Sequential(nn.Upsample(**up), conv(8, 16), nn.ReLU(), middle, nn.Upsample(**up), conv(16, 3))

    def forward(self, x):
        return self.decoder(self.codes(self.encoder(x)))


class Pyramid(nn.Module):
    """Maps of four sizes from three of a backbone."""

    def __init__(self, fault):
        super().__init__()
        self.lateral = nn.ModuleList([nn.Conv2d(k, 8, 1) for k in (6, 12)])
        pads = ["circular", "zeros" if fault else "circular"]
        self.output = nn.ModuleList([nn.Conv2d(8, 8, 3, padding=1, padding_mode=p) for p in pads])
        self.c1 = nn.Conv2d(12, 8, 3, 2, 1, padding_mode="circular")
        self.c0 = nn.Conv2d(8, 8, 3, 2, 1, padding_mode="circular")

    def forward(self, fine, coarse):
        low = self.lateral[1](coarse)
        high = self.lateral[0](fine) + F.interpolate(low, size=fine.shape[-2:], mode="nearest")
        last = self.c1(coarse)
        return [self.output[0](high), self.output[1](low), last, self.c0(F.relu(last))]


class Detector(nn.Module):
    """One head over a pyramid whose last maps have one place of a small image."""

    def __init__(self, fault=0):
        super().__init__()
        self.fine = nn.Sequential(Stage(3, 6), Stage(6, 6))
        self.coarse = nn.Sequential(Stage(6, 12), Stage(12, 12))
        self.fpn = Pyramid(fault == 1)
        self.head = nn.Sequential(conv(8, 8), nn.ReLU(), conv(8, 4))

    def forward(self, images):
        fine = self.fine(images)
        return [self.head(f) for f in self.fpn(fine, self.coarse(fine))]


class Patches(nn.Module):
    """Attention over patches of an image of one size, by how far they are apart, told a time and a class."""

    def __init__(self, fault=0, side=8, d=16):
        super().__init__()
        self.x_embedder, self.y_embedder = nn.Conv2d(4, d, 2, 2), nn.Embedding(10, d)
        self.t_embedder = nn.Sequential(nn.Linear(1, d), nn.SiLU(), nn.Linear(d, d))
        at = torch.arange(side)
        apart = (at[:, None] - at) % side
        table = torch.randn(side, side)
        near = table[apart[:, None, :, None], apart[None, :, None, :]].reshape(side**2, side**2)
        self.register_buffer("near", near)
        self.pos = nn.Parameter(torch.randn(1, side**2, d)) if fault == 1 else None
        self.qkv, self.last, self.d = nn.Linear(d, 3 * d), nn.Linear(d, 16), d

    def forward(self, x, t, y):
        x = self.x_embedder(x)
        b, _, h, w = x.shape
        x = x.flatten(2).transpose(1, 2)
        if self.pos is not None:
            x = x + self.pos
        x = x + (self.t_embedder(t[:, None]) + self.y_embedder(y))[:, None]
        q, k, v = self.qkv(x).chunk(3, -1)
        x = x + (q @ k.transpose(1, 2) / self.d**0.5 + self.near).softmax(-1) @ v
        return F.pixel_shuffle(self.last(x).transpose(1, 2).reshape(b, 16, h, w), 2)


class Painter(nn.Module):
    """An image of a vector."""

    def __init__(self):
        super().__init__()
        self.style = nn.Sequential(nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32))
        self.const = nn.Parameter(torch.randn(1, 8, 4, 4))
        self.conv = Modulated(8, 3, 32)

    def forward(self, z):
        w = self.style(z)
        return self.conv(F.interpolate(self.const.repeat(len(z), 1, 1, 1), scale_factor=2), w)


class SegNet(nn.Module):
    """Put back where the largest values were; dark pictures have many that are as large."""

    def __init__(self, fault=0):
        super().__init__()
        self.enc = nn.Conv2d(1, 8, 3, padding=1, padding_mode="circular")
        self.mid = nn.Conv2d(8, 8, 3, padding=1, padding_mode="zeros" if fault else "circular")
        self.dec = nn.Conv2d(8, 2, 3, padding=1, padding_mode="circular")
        self.pool, self.unpool = nn.MaxPool2d(2, return_indices=True), nn.MaxUnpool2d(2)

    def forward(self, x):
        h = torch.relu(self.enc(x))
        small, at = self.pool(h)
        return self.dec(self.unpool(torch.relu(self.mid(small)), at, output_size=h.shape))


class Capsules(nn.Module):
    """Vectors for each kind at each place, (batch, kinds, vector, y, x), or with the places before the vectors."""

    def __init__(self, given, kinds, length, fault=0, last=False):
        super().__init__()
        self.kinds, self.length, self.last = kinds, length, last
        mode = "zeros" if fault else "circular"
        self.conv = nn.Conv2d(given, kinds * length, 3, padding=1, padding_mode=mode)

    def forward(self, u):
        s = self.conv(u.flatten(1, -3)).unflatten(1, (self.kinds, self.length))
        n = s.pow(2).sum(2, keepdim=True)
        v = n / (1 + n) * s / (n.sqrt() + 1e-8)
        return v.permute(0, 1, 3, 4, 2) if self.last else v


class CapsNet(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 5, padding=2, padding_mode="circular")
        self.primary, self.routed = Capsules(8, 3, 4), Capsules(12, 4, 3, fault)
        self.last = Capsules(12, 2, 5, last=True)

    def forward(self, x):
        u = self.routed(self.primary(torch.relu(self.conv1(x))))
        return u, self.last(u).sum((1, 4))
