"""Pictures under shifts: networks as tutorials, libraries and research repositories write them, each with a fault."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.foreign.case import BROKEN, Case, Given, drawn, pair

PICTURE = lambda: Given((drawn(2, 3, 16, 16),), ("grid",))  # noqa: E731


def by(step: int) -> Given:
    return Given((drawn(2, 3, 16, 16),), ("grid",), step=step)


def conv(i: int, o: int, k: int = 3, **more: object) -> nn.Conv2d:
    return nn.Conv2d(i, o, k, padding=k // 2, padding_mode="circular", **more)  # type: ignore[arg-type]


class Double(nn.Sequential):
    def __init__(self, i: int, o: int, mode: str = "circular") -> None:
        super().__init__(
            nn.Conv2d(i, o, 3, padding=1, padding_mode=mode, bias=False), nn.GroupNorm(2, o), nn.SiLU(inplace=True)
        )


class Up(nn.Module):
    def __init__(self, corners: bool) -> None:
        super().__init__()
        self.corners = corners

    def forward(self, x: Tensor) -> Tensor:
        if self.corners:
            return F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True)
        return x.repeat_interleave(2, -1).repeat_interleave(2, -2)


class UNet(nn.Module):
    def __init__(self, corners: bool = False, mode: str = "circular") -> None:
        super().__init__()
        self.down = nn.ModuleList([Double(3, 8), Double(8, 12)])
        self.middle = Double(12, 12)
        self.ups = nn.ModuleList([Up(corners), Up(False)])
        self.joins = nn.ModuleDict({"low": Double(24, 8), "high": Double(16, 8, mode)})
        self.head = nn.Conv2d(8, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        kept = []
        for block in self.down:
            x = block(x)
            kept.append(x)
            x = F.max_pool2d(x, 2)
        x = self.middle(x)
        for up, name in zip(self.ups, ("low", "high")):
            x = self.joins[name](torch.cat([up(x), kept.pop()], 1))
        return self.head(x)


class ConvNeXtBlock(nn.Module):
    def __init__(self, dim: int, over_space: bool) -> None:
        super().__init__()
        self.dwconv = conv(dim, dim, 7, groups=dim)
        self.norm = nn.LayerNorm([dim, 16, 16] if over_space else dim)
        nn.init.normal_(self.norm.weight, 1, 0.2)
        self.over_space = over_space
        self.pwconv1, self.act, self.pwconv2 = nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim)
        self.gamma = nn.Parameter(0.1 * torch.ones(dim))

    def forward(self, x: Tensor) -> Tensor:
        h = self.dwconv(x)
        h = self.norm(h).permute(0, 2, 3, 1) if self.over_space else self.norm(h.permute(0, 2, 3, 1))
        return x + (self.gamma * self.pwconv2(self.act(self.pwconv1(h)))).permute(0, 3, 1, 2)


def convnext(over_space: bool) -> nn.Module:
    return nn.Sequential(
        OrderedDict(stem=conv(3, 8), one=ConvNeXtBlock(8, False), two=ConvNeXtBlock(8, over_space), head=conv(8, 4, 1))
    )


class GlobalFilter(nn.Module):
    """Rao et al., GFNet: a filter as large as the picture, applied by a Fourier transform."""

    def __init__(self, dim: int, real: bool) -> None:
        super().__init__()
        self.complex_weight = nn.Parameter(torch.randn(dim, 16, 9, 2) * 0.2)
        self.real = real

    def forward(self, x: Tensor) -> Tensor:
        spectrum = torch.fft.rfft2(x, norm="ortho")
        if self.real:
            spectrum = spectrum.real
        return torch.fft.irfft2(spectrum * torch.view_as_complex(self.complex_weight), s=(16, 16), norm="ortho")


class GFNet(nn.Module):
    def __init__(self, real: bool) -> None:
        super().__init__()
        self.embed = nn.Conv2d(3, 8, 1)
        self.filters = nn.ModuleList([GlobalFilter(8, False), GlobalFilter(8, real)])
        self.mlps = nn.ModuleList([nn.Sequential(nn.Conv2d(8, 16, 1), nn.Mish(), nn.Conv2d(16, 8, 1)) for _ in "ab"])

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        x = self.embed(x)
        for mix, mlp in zip(self.filters, self.mlps):
            x = x + mix(x)
            x = x + mlp(x)
        return {"features": x, "logits": x.mean((-2, -1))}


class WindowAttention(nn.Module):
    """Swin with windows of four pixels that lie across a torus, without the mask that cuts the torus open."""

    def __init__(self, dim: int, shift: int) -> None:
        super().__init__()
        self.shift = shift
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.relative_position_bias_table = nn.Parameter(0.3 * torch.randn(49))
        at = torch.stack(torch.meshgrid(torch.arange(4), torch.arange(4), indexing="ij"), -1).view(16, 2)
        apart = at[:, None] - at[None] + 3
        self.register_buffer("index", apart[..., 0] * 7 + apart[..., 1])

    def forward(self, x: Tensor) -> Tensor:  # (n, h, w, c)
        n, h, w, c = x.shape
        x = torch.roll(x, (-self.shift, -self.shift), (1, 2))
        windows = x.view(n, h // 4, 4, w // 4, 4, c).transpose(2, 3).reshape(-1, 16, c)
        q, k, v = self.qkv(windows).chunk(3, -1)
        scores = q @ k.transpose(-2, -1) / c**0.5 + self.relative_position_bias_table[self.index]
        out = self.proj(scores.softmax(-1) @ v)
        out = out.view(n, h // 4, w // 4, 4, 4, c).transpose(2, 3).reshape(n, h, w, c)
        return torch.roll(out, (self.shift, self.shift), (1, 2))


class Swin(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Conv2d(3, 8, 1)
        self.attentions = nn.ModuleList([WindowAttention(8, 0), WindowAttention(8, 2)])
        self.norms = nn.ModuleList([nn.LayerNorm(8), nn.LayerNorm(8)])

    def forward(self, x: Tensor) -> Tensor:
        x = self.embed(x).permute(0, 2, 3, 1)
        for attention, norm in zip(self.attentions, self.norms):
            x = x + attention(norm(x))
        return x.permute(0, 3, 1, 2)


class Positions(nn.Module):
    def __init__(self, size: float) -> None:
        super().__init__()
        self.table = nn.Parameter(size * torch.randn(1, 16, 12))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.table


class ViT(nn.Module):
    """No class token; the answer is the states of all patches. The fault: positions of relative size 1e-4."""

    def __init__(self, size: float) -> None:
        super().__init__()
        self.patch_embed = nn.Conv2d(3, 12, 4, 4)
        self.pos_drop = Positions(size)
        layer = nn.TransformerEncoderLayer(12, 2, 24, dropout=0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.encoder(self.pos_drop(self.patch_embed(x).flatten(2).transpose(1, 2)))


class LocalAttention(nn.Module):
    def __init__(self, dim: int, mode: str) -> None:
        super().__init__()
        self.q, self.kv, self.mode = nn.Conv2d(dim, dim, 1), nn.Conv2d(dim, 2 * dim, 1), mode

    def forward(self, x: Tensor) -> Tensor:
        n, c, h, w = x.shape
        around = F.unfold(F.pad(self.kv(x), (1, 1, 1, 1), mode=self.mode), 3).view(n, 2, c, 9, h * w)
        scores = (self.q(x).view(n, c, 1, h * w) * around[:, 0]).sum(1, keepdim=True) / c**0.5
        return (scores.softmax(2) * around[:, 1]).sum(2).view(n, c, h, w)


def local(mode: str) -> nn.Module:
    return nn.Sequential(conv(3, 8), nn.PReLU(8), LocalAttention(8, "circular"), nn.ELU(), LocalAttention(8, mode))


class SqueezeExcite(nn.Module):
    def __init__(self, dim: int, cut: int | None) -> None:
        super().__init__()
        self.fc1, self.fc2, self.cut = nn.Conv2d(dim, 4, 1), nn.Conv2d(4, dim, 1), cut

    def forward(self, x: Tensor) -> Tensor:
        s = x[..., : self.cut].mean((2, 3), keepdim=True)
        return x * F.hardsigmoid(self.fc2(F.relu6(self.fc1(s))))


class InvertedResidual(nn.Module):
    def __init__(self, dim: int, cut: int | None) -> None:
        super().__init__()
        self.block = nn.Sequential(
            nn.Conv2d(dim, 16, 1), nn.BatchNorm2d(16), nn.Hardswish(), conv(16, 16, groups=16), SqueezeExcite(16, cut),
            nn.Conv2d(16, dim, 1),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        return x + self.block(x)


def mobile(cut: int | None) -> nn.Module:
    stem = nn.Conv2d(3, 8, 3, 2, 1, padding_mode="circular")
    return nn.Sequential(stem, InvertedResidual(8, None), InvertedResidual(8, cut))


class ASPP(nn.Module):
    def __init__(self, modes: tuple[str, ...]) -> None:
        super().__init__()
        self.convs = nn.ModuleList(
            nn.Conv2d(8, 4, 3, padding=r, dilation=r, padding_mode=m) for r, m in zip((1, 2, 4), modes)
        )
        self.pool = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(8, 4, 1))

    def forward(self, x: Tensor) -> Tensor:
        parts = [c(x) for c in self.convs]
        return torch.cat([*parts, self.pool(x).expand_as(parts[0])], 1)


def deeplab(*modes: str) -> nn.Module:
    return nn.Sequential(OrderedDict(backbone=conv(3, 8), relu=nn.ReLU(), aspp=ASPP(modes), classifier=conv(16, 2, 1)))


class Blur(nn.Module):
    """Zhang, "Making Convolutional Networks Shift-Invariant Again"."""

    def __init__(self, dim: int, mode: str) -> None:
        super().__init__()
        row = torch.tensor([1.0, 2.0, 1.0])
        self.register_buffer("filt", (row[:, None] * row / 16).expand(dim, 1, 3, 3).clone())
        self.mode = mode

    def forward(self, x: Tensor) -> Tensor:
        return F.conv2d(F.pad(x, (1, 1, 1, 1), mode=self.mode), self.filt, stride=2, groups=x.shape[1])


def blurred(mode: str) -> nn.Module:
    return nn.Sequential(
        nn.utils.parametrizations.weight_norm(conv(3, 8)), nn.Softplus(), Blur(8, "circular"),
        nn.utils.parametrizations.spectral_norm(conv(8, 8)), nn.LeakyReLU(0.1), Blur(8, mode), nn.InstanceNorm2d(8),
    )  # fmt: skip


@dataclass
class Detections:
    classes: Tensor
    boxes: Tensor
    count: Tensor


class Boxes(nn.Module):
    def __init__(self, absolute: bool) -> None:
        super().__init__()
        self.reg, self.absolute = nn.Conv2d(8, 4, 1), absolute

    def forward(self, x: Tensor) -> Tensor:
        out = self.reg(x).exp()
        if self.absolute:  # FCOS: distances become places in the picture
            out = out + torch.arange(x.shape[-1], dtype=x.dtype, device=x.device) * 8
        return out


class FCOS(nn.Module):
    def __init__(self, absolute: bool) -> None:
        super().__init__()
        self.backbone = nn.Sequential(conv(3, 8), nn.ReLU6(), conv(8, 8, 3), nn.CELU())
        self.cls, self.box = nn.Conv2d(8, 5, 1), Boxes(absolute)

    def forward(self, x: Tensor) -> Detections:
        x = self.backbone(x)
        classes = self.cls(x)
        return Detections(classes, self.box(x), classes.sigmoid().sum((1, 2, 3)))


class TopK(nn.Module):
    """The k strongest places; where fewer are positive, zeros tie, and the first ones in the picture are taken."""

    def __init__(self, rectified: bool) -> None:
        super().__init__()
        self.score, self.rectified = nn.Conv2d(8, 1, 1), rectified

    def forward(self, x: Tensor) -> Tensor:
        score = self.score(x).flatten(1)
        if self.rectified:
            score = (score - score.amax(1, keepdim=True) + 0.3).relu()
        at = score.topk(20, 1).indices
        return x.flatten(2).gather(2, at[:, None].expand(-1, 8, -1)).mean(-1)


def keypoints(rectified: bool) -> nn.Module:
    return nn.Sequential(OrderedDict(features=conv(3, 8), act=nn.Tanh(), select=TopK(rectified), fc=nn.Linear(8, 3)))


class Scale(nn.Module):
    """In place, and on the first row alone: a slip of an index."""

    def __init__(self, row: bool) -> None:
        super().__init__()
        self.row = row

    def forward(self, x: Tensor) -> Tensor:
        if self.row:
            x[:, :, 0].mul_(1.0001)
        else:
            x.mul_(1.0001)
        return x


def in_place(row: bool) -> nn.Module:
    return nn.Sequential(conv(3, 6), nn.ReLU(True), Scale(row), conv(6, 4), nn.Threshold(0.1, 0.0, True))


class Tilt(torch.autograd.Function):
    @staticmethod
    def forward(ctx: object, x: Tensor, running: bool) -> Tensor:
        return x.sign() * (x.abs().cumsum(-1) if running else x.abs().mean(-1, keepdim=True))

    @staticmethod
    def backward(ctx: object, *g: Tensor) -> tuple[Tensor, None]:
        return g[0], None


class Binary(nn.Module):
    def __init__(self, running: bool) -> None:
        super().__init__()
        self.conv, self.running = conv(6, 6), running

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(Tilt.apply(x, self.running))


def binary(running: bool) -> nn.Module:
    return nn.Sequential(conv(3, 6), Binary(False), Binary(running), nn.Conv2d(6, 2, 1))


class TimeBlock(nn.Module):
    def __init__(self, dim: int, along_width: bool) -> None:
        super().__init__()
        self.conv, self.emb, self.along = conv(dim, dim), nn.Linear(6, dim), along_width
        self.register_buffer("time", torch.linspace(0.1, 0.6, 6)[None])

    def forward(self, x: Tensor) -> Tensor:
        t = self.emb(F.silu(self.time))
        return self.conv(x) + (t[:, None, None, :] if self.along else t[:, :, None, None])


def diffusion(along_width: bool) -> nn.Module:
    """Sixteen channels on sixteen columns: an embedding that broadcasts along the wrong axis raises no error."""
    return nn.Sequential(conv(3, 16), TimeBlock(16, False), nn.SiLU(), TimeBlock(16, along_width), conv(16, 3))


unet, _ = pair(
    "U-Net, a skip and nearest", UNet, lambda: UNet(True), ["ups.0"], lambda: by(4), ("grid",), "translation"
)
CASES: tuple[Case, ...] = (
    unet,
    unet.broken("align_corners", lambda: UNet(True), "ups.0"),
    unet.broken("one convolution padded with zeros", lambda: UNet(mode="zeros"), "joins.high.0", "joins.high"),
    *pair("ConvNeXt", lambda: convnext(False), lambda: convnext(True), ["two.norm"], PICTURE, ("grid",), "translation",
          hooks=False),
    *pair("GFNet", lambda: GFNet(False), lambda: GFNet(True), ["filters.1"], PICTURE, ("grid", "fixed"), "translation"),
    # windows are four pixels wide, and a shift by one pixel moves what lies in one: both break it
    Case("Swin, by one pixel", Swin, PICTURE, "translation", ("grid",), BROKEN,
         ("attentions.0", "attentions.1"), hooks=False),
    *pair("ViT without positions", lambda: ViT(0), lambda: ViT(1e-4), ["pos_drop"], lambda: by(4), ("patches@4x4x4",),
          "translation", hooks=False),
    *pair("local attention", lambda: local("circular"), lambda: local("reflect"), ["4"], PICTURE, ("grid",),
          "translation"),
    *pair("MobileNet, squeeze and excite", lambda: mobile(None), lambda: mobile(5), ["2.block.4"], lambda: by(2),
          ("grid@2",), "translation"),
    *pair("DeepLab", lambda: deeplab(*["circular"] * 3), lambda: deeplab("circular", "zeros", "circular"),
          ["aspp.convs.1"], PICTURE, ("grid",), "translation"),
    *pair("blur pooling", lambda: blurred("circular"), lambda: blurred("reflect"), ["5"], lambda: by(4), ("grid@4",),
          "translation"),
    *pair("FCOS", lambda: FCOS(False), lambda: FCOS(True), ["box"], PICTURE, ("grid", "grid", "fixed"), "translation"),
    *pair("strongest places", lambda: keypoints(False), lambda: keypoints(True), ["select"], PICTURE, ("fixed",),
          "translation"),
    *pair("in place", lambda: in_place(False), lambda: in_place(True), ["2"], PICTURE, ("grid",), "translation",
          hooks=False),
    *pair("a function of one's own", lambda: binary(False), lambda: binary(True), ["2"], PICTURE, ("grid",),
          "translation"),
    *pair("time of a diffusion", lambda: diffusion(False), lambda: diffusion(True), ["3"], PICTURE, ("grid",),
          "translation"),
)  # fmt: skip
