"""Networks of which nothing says what they take, on the first data that the program itself finds for them."""

import torch
import torch.nn.functional as F
from torch import nn


class Layer(nn.Module):
    """One step of an EGNN; fault 1: places are drawn towards the origin, fault 2: a term turns with the hand."""

    def __init__(self, width, fault=0):
        super().__init__()
        self.edge = nn.Sequential(nn.Linear(2 * width + 1, width), nn.SiLU())
        self.node, self.weigh, self.fault = nn.Linear(2 * width, width), nn.Linear(width, 1), fault

    def forward(self, h, x):
        n, d = len(x), x[:, None] - x[None]
        pairs = torch.cat(
            [h[:, None].expand(-1, n, -1), h[None].expand(n, -1, -1), d.square().sum(-1, keepdim=True)], -1
        )
        m = self.edge(pairs) * (1 - torch.eye(n, dtype=x.dtype))[..., None]
        step = (d * self.weigh(m)).mean(1)
        if self.fault == 1:
            step = step + 0.05 * x
        if self.fault == 2:
            step = step + 0.3 * torch.linalg.cross(d.mean(1), (d * self.weigh(m)).sum(1))
        return h + self.node(torch.cat([h, m.sum(1)], -1)), x + step


class Egnn(nn.Module):
    """Whole numbers come first, real ones after them."""

    def __init__(self, fault=0):
        super().__init__()
        self.emb, self.one, self.two = nn.Embedding(100, 8), Layer(8), Layer(8, fault)

    def forward(self, z, pos):
        h, x = self.one(self.emb(z), pos)
        return self.two(h, x)[1]


class Handed(nn.Module):
    """Adds over the points what tells left from right (fault 1): bodies that are their own mirror image hide it."""

    def __init__(self, fault=0):
        super().__init__()
        self.net, self.fault = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)), fault

    def forward(self, pos):
        arms = pos - pos.mean(0)
        far = arms.square().sum(-1, keepdim=True)
        sides = torch.linalg.cross((far * arms).mean(0).expand_as(arms), (far**2 * arms).mean(0).expand_as(arms))
        volume = (sides * arms).sum(-1, keepdim=True)
        return self.net(torch.cat([far, volume if self.fault else volume.square()], -1)).mean(0)


class Summed(nn.Module):
    """(B, 3, N): vectors whose sum a symmetric molecule makes zero."""

    def __init__(self, fault=0):
        super().__init__()
        self.mix, self.out, self.fault = nn.Linear(1, 6, bias=False), nn.Linear(6, 2, bias=False), fault

    def forward(self, x):
        v = self.mix((x - x.mean(-1, keepdim=True)).permute(0, 2, 1)[..., None])
        v = v * torch.sigmoid(v.norm(dim=-2, keepdim=True) - 1)
        if self.fault:
            v = v * torch.tensor([1.0, 1.0, 1.1], dtype=v.dtype)[:, None]
        return self.out(v).mean(1).transpose(1, 2)


class Partial(nn.Module):
    """A picture and a mask of one channel, which no layer filters."""

    def __init__(self, fault=0):
        super().__init__()
        self.one, self.two, self.fault = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 3, 3), fault

    def forward(self, image, mask):
        x = image * mask
        for layer in (self.one, self.two):
            around = F.pad(mask, (1, 1, 1, 1), mode="circular")
            count = F.conv2d(around, torch.ones(1, 1, 3, 3, dtype=x.dtype))
            x = layer(F.pad(x, (1, 1, 1, 1), mode="circular")) * (9 / count.clamp(min=1))
            if self.fault and layer is self.two:
                x = x * torch.linspace(1, 1.2, x.shape[-2], dtype=x.dtype)[:, None]
            mask = (count > 0).to(x.dtype)
            x = F.elu(x) * mask
        return x


class Table(nn.Module):
    """A table of places with fewer rows than the first data have steps."""

    def __init__(self, fault=0, rows=16):
        super().__init__()
        self.inp, self.out, self.fault = nn.Linear(3, 8), nn.Linear(8, 2), fault
        self.places = nn.Parameter(torch.randn(1, rows, 8))
        self.att = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x):
        h = self.inp(x)
        places = self.places[:, : x.shape[1]]
        h = h + places if self.fault else h + 0 * places
        return self.out(self.att(h, h, h)[0])


class Language(nn.Module):
    """Numbers of tokens, and a table of 32 places."""

    def __init__(self, fault=0):
        super().__init__()
        self.words, self.places, self.fault = nn.Embedding(20, 8), nn.Embedding(32, 8), fault
        self.att, self.head = nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(8, 20)

    def forward(self, ids):
        places = self.places(torch.arange(ids.shape[1]))
        h = self.words(ids) + (places if self.fault else 0 * places)
        return self.head(self.att(h, h, h)[0])


class Inverted(nn.Module):
    """Dense layers over the steps, attention between variables: (B, 24, any), or (B, any, 24)?"""

    def __init__(self, fault=0):
        super().__init__()
        self.inp, self.out = nn.Linear(24, 8), nn.Linear(8, 6)
        self.att = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x):
        h = self.inp(x.transpose(1, 2))
        return self.out(self.att(h, h, h)[0]).transpose(1, 2)


class Mixer(nn.Module):
    """24 steps and 3 channels, or 24 channels and 3 steps?"""

    def __init__(self, fault=0):
        super().__init__()
        self.time, self.channels = nn.Linear(24, 24), nn.Linear(3, 3)

    def forward(self, x):
        x = x + self.time(x.transpose(1, 2)).transpose(1, 2)
        return x + F.gelu(self.channels(x))


class Normed(nn.Module):
    """Normalised over the steps, (B, T, C): with one sequence and steps before it there is no deviation."""

    def __init__(self, fault=0):
        super().__init__()
        self.one = nn.Conv1d(3, 8, 3, padding=1, padding_mode="circular")
        self.two = nn.Conv1d(8, 3, 3, padding=1, padding_mode="circular")
        self.fault = fault

    def forward(self, x):
        mean, spread = (x[:, -1:] if self.fault else x.mean(1, keepdim=True)), x.std(1, keepdim=True) + 1e-5
        h = ((x - mean) / spread).transpose(1, 2)
        return self.two(F.gelu(self.one(h))).transpose(1, 2) * spread + mean


class Pooled(nn.Module):
    """Five channels, as a class token and four patches would be, and an axis more."""

    def __init__(self, fault=0):
        super().__init__()
        self.conv = nn.Conv2d(1, 5, 3, padding=1, padding_mode="zeros" if fault else "circular")
        self.pool = nn.AdaptiveMaxPool1d(1)

    def forward(self, x):
        return self.pool(torch.tanh(self.conv(x)).flatten(2))


class Corner(nn.Module):
    """Looks at one pixel (fault 1), which is blank in pictures of digits wherever they are moved."""

    def __init__(self, fault=0):
        super().__init__()
        self.conv, self.fault = nn.Conv2d(1, 4, 3, padding=1, padding_mode="circular", bias=False), fault

    def forward(self, x):
        return self.conv(x) * (1 + (x[:, :, :1, :1] if self.fault else x.mean((2, 3), keepdim=True)))


class Types(nn.Module):
    """Places with numbers of types, of which its table has five."""

    def __init__(self, fault=0):
        super().__init__()
        self.emb, self.net, self.fault = (
            nn.Embedding(5, 6),
            nn.Sequential(nn.Linear(7, 8), nn.SiLU(), nn.Linear(8, 1)),
            fault,
        )

    def forward(self, z, pos):
        far = torch.cdist(pos, pos).sum(1, keepdim=True)
        return self.net(torch.cat([self.emb(z), far + 0.1 * pos[:, 2:] if self.fault else far], 1)).sum()


class NodeTypes(nn.Module):
    """Nodes of four types, under a name that nobody knows."""

    def __init__(self, fault=0):
        super().__init__()
        self.emb, self.mix, self.out, self.fault = nn.Embedding(4, 6), nn.Linear(6, 6), nn.Linear(6, 2), fault

    def forward(self, node_type, edge_index):
        h = self.emb(node_type)
        heard = torch.zeros_like(h).index_add(0, edge_index[1], self.mix(h)[edge_index[0]])
        if self.fault:
            heard = torch.cat([heard[:1] * 1.5, heard[1:]])
        return self.out(torch.tanh(h + heard))


class Places(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.table, self.fault = nn.Parameter(torch.randn(16, 16)), fault

    def forward(self, h):
        return h + self.table if self.fault else h + 0 * self.table


class Square(nn.Module):
    """As many tokens as channels: (B, 16, 16) looks like pairs of tokens."""

    input_shape = (1, 16, 16)

    def __init__(self, fault=0):
        super().__init__()
        self.cut, self.places, self.att = (
            nn.Conv2d(1, 16, 4, 4),
            Places(fault),
            nn.MultiheadAttention(16, 2, batch_first=True),
        )
        self.mix, self.out = nn.Linear(16, 16), nn.Linear(16, 3)

    def forward(self, x):
        h = self.places(self.cut(x).flatten(2).transpose(1, 2))
        h = h + self.att(h, h, h)[0]
        return self.out(torch.tanh(self.mix(h)).mean(1))


class Rows(nn.Module):
    """Reads an image row by row; 32 steps of a sequence without a batch would run too, and no other number."""

    def __init__(self, fault=0):
        super().__init__()
        self.embed, self.head = nn.Linear(28, 32), nn.Linear(32, 10)
        self.mix = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)

    def forward(self, x):
        return self.head(self.mix(self.embed(x[:, 0])).mean(1))


class Kernel(nn.Module):
    """A long filter of (B, 1, T) by Fourier transforms, of parameters alone: an image would run through it as well."""

    def __init__(self, fault=0):
        super().__init__()
        self.rate, self.read = nn.Parameter(-torch.rand(8)), nn.Parameter(torch.randn(8))

    def forward(self, x):
        steps = x.shape[-1]
        filters = (self.read * torch.exp(self.rate * torch.arange(steps).to(x)[:, None])).sum(-1)
        both = torch.fft.rfft(x, 2 * steps) * torch.fft.rfft(filters, 2 * steps)
        return torch.fft.irfft(both, 2 * steps)[..., :steps]


class Blocks(nn.Module):
    """Dense layers over time, of which the first is made for as many numbers as come."""

    def __init__(self, fault=0):
        super().__init__()
        self.net = nn.Sequential(nn.LazyLinear(32), nn.ReLU(), nn.Linear(32, 8))

    def forward(self, x):
        return self.net(x.flatten(1))
