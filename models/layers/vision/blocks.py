"""A vision transformer: patches, a projection, a class token, blocks of attention and small networks.

Dosovitskiy et al., "An Image is Worth 16x16 Words: Transformers for Image Recognition at Scale", 2021, section 3.1:

    z_0 = [x_class; x_p1 E; ...; x_pN E] + E_pos (1)
    z'_l = MSA(LN(z_{l-1})) + z_{l-1} (2)
    z_l = MLP(LN(z'_l)) + z'_l (3)
    y = LN(z_L^0) (4)

Modules have the names that timm gives them, so that weights trained there fit; those of torchvision are renamed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.types.fields import INVARIANT, FieldType, Scalar
from explorer.spaces.grid.fields import TokenPairs, Tokens
from models.layers.taps import Tap
from models.layers.vision.positions import RelativeBias, Rotary, sinusoids

EPSILON = 1e-6  # of the layer norms, in timm as in torchvision
EXTRA = 1  # the class token


def symmetrised(weight: Tensor) -> Tensor:
    """Return filters as the mean of their four quarter turns, (..., k, k) -> the same."""
    return torch.stack([torch.rot90(weight, r, (-2, -1)) for r in range(4)]).mean(0)


class PatchEmbed(nn.Module):
    """x_p E: every patch through the same linear map, a convolution as wide as its stride; (N, C, H, W) -> tokens.

    With `proj.symmetric` the filters are averaged over quarter turns: a turned patch gives the same token.
    """

    def __init__(self, channels: int, width: int, patch: int, size: tuple[int, int]) -> None:
        super().__init__()
        self.proj = _Patches(channels, width, patch)
        self.tokens = Tap(FieldType(Tokens(size, float(patch))))

    def forward(self, x: Tensor) -> Tensor:
        return self.tokens(self.proj(x).flatten(2).transpose(1, 2))


class _Patches(nn.Conv2d):
    """A convolution whose stride is its width, with filters averaged over quarter turns where asked for."""

    out_rep = Scalar()

    def __init__(self, channels: int, width: int, patch: int) -> None:
        super().__init__(channels, width, patch, stride=patch)
        self.symmetric = False

    def forward(self, input: Tensor) -> Tensor:
        weight = symmetrised(self.weight) if self.symmetric else self.weight
        return F.conv2d(input, weight, self.bias, stride=self.stride)


class ImageAttention(nn.Module):
    """softmax(q k^T / sqrt(d) [+ bias]) v for each head, between all tokens; (N, T, C) -> (N, T, C).

    With `causal` a token attends to itself and to those before it.
    """

    def __init__(self, width: int, heads: int, tokens: Tokens, pairs: TokenPairs, kinds: Sequence[str] = ()) -> None:
        super().__init__()
        self.heads, self.positions, self.causal = heads, "", False
        size, extra = tokens.size, tokens.extra
        self.qkv = nn.Linear(width, 3 * width)
        self.rotary = Rotary(size, width // heads, extra) if "rotary" in kinds else None
        self.bias = RelativeBias(size, heads, extra) if "relative" in kinds else None
        self.logits = Tap(FieldType(pairs))
        self.attention = Tap(FieldType(pairs))
        self.context = Tap(FieldType(tokens))
        self.proj = nn.Linear(width, width)
        self.qkv.out_field = self.proj.out_field = FieldType(tokens)  # type: ignore[assignment]

    def forward(self, x: Tensor) -> Tensor:
        n, t, c = x.shape
        q, k, v = self.qkv(x).reshape(n, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if self.rotary is not None and self.positions == "rotary":
            q, k = self.rotary(q), self.rotary(k)
        logits = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if self.bias is not None and self.positions == "relative":
            logits = logits + self.bias()
        logits = self.logits(logits)
        if self.causal:
            logits = logits.masked_fill(torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1), -math.inf)
        attention = self.attention(logits.softmax(-1))
        return self.proj(self.context((attention @ v).transpose(1, 2).reshape(n, t, c)))


class Mlp(nn.Module):
    """W_2 GELU(W_1 x + b_1) + b_2 at every token alone; (N, T, C) -> the same."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(width, inner)
        self.act = nn.GELU()
        self.fc2 = nn.Linear(inner, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(self.act(self.fc1(x)))


class Block(nn.Module):
    """Equations 2 and 3; (N, T, C) -> the same."""

    def __init__(
        self, width: int, heads: int, inner: int, tokens: Tokens, pairs: TokenPairs, kinds: Sequence[str] = ()
    ) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=EPSILON)
        self.attn = ImageAttention(width, heads, tokens, pairs, kinds)
        self.residual1 = Tap(FieldType(tokens))
        self.norm2 = nn.LayerNorm(width, eps=EPSILON)
        self.mlp = Mlp(width, inner)
        self.residual2 = Tap(FieldType(tokens))

    def forward(self, x: Tensor) -> Tensor:
        x = self.residual1(x + self.attn(self.norm1(x)))
        return self.residual2(x + self.mlp(self.norm2(x)))


class ClassToken(nn.Module):
    """Take the first token, which has no place; (N, T, C) -> (N, C)."""

    out_field = INVARIANT

    def forward(self, x: Tensor) -> Tensor:
        return x[:, 0]


class VisionTransformer(nn.Module):
    """Equations 1 to 4 and a linear classifier; (N, channels, side, side) -> (N, classes).

    Args:
        kinds: which of `positions.KINDS` it has parameters for; the first is in use until `use` says otherwise.
    """

    waves: Tensor

    def __init__(
        self,
        side: int,
        patch: int,
        channels: int,
        classes: int,
        width: int,
        depth: int,
        heads: int,
        inner: int,
        kinds: Sequence[str] = ("learned",),
    ) -> None:
        super().__init__()
        size = (side // patch, side // patch)
        tokens = Tokens(size, float(patch), EXTRA)
        pairs = TokenPairs(tokens)
        self.kinds = tuple(kinds)
        spread = 0.02 if width > 128 else 0.3  # a narrow network on little data is long at a loss with less
        self.patch_embed = PatchEmbed(channels, width, patch, size)
        self.cls_token = nn.Parameter(torch.randn(1, 1, width) * spread)
        self.with_class = Tap(FieldType(tokens))
        count = math.prod(size) + EXTRA
        self.pos_embed = nn.Parameter(torch.randn(1, count, width) * spread) if "learned" in kinds else None
        self.register_buffer("waves", F.pad(sinusoids(size, width), (0, 0, EXTRA, 0))[None], persistent=False)
        self.with_position = Tap(FieldType(tokens))
        self.blocks = nn.ModuleList(Block(width, heads, inner, tokens, pairs, kinds) for _ in range(depth))
        self.norm = nn.LayerNorm(width, eps=EPSILON)
        self.first = ClassToken()
        self.head = nn.Linear(width, classes)
        self.apply(_started)
        self.use(self.kinds[0])

    def use(self, positions: str, symmetric: bool = False) -> Self:
        """Say where patches lie in this way, and average the patch embedding over quarter turns or not."""
        if positions not in self.kinds:
            raise ValueError(f"positions are one of {', '.join(self.kinds)}, not {positions!r}")
        self.positions, self.patch_embed.proj.symmetric = positions, symmetric
        for module in self.modules():
            if isinstance(module, ImageAttention):
                module.positions = positions
        return self

    def forward(self, x: Tensor) -> Tensor:
        x = self.patch_embed(x)
        x = self.with_class(torch.cat([self.cls_token.expand(len(x), -1, -1), x], 1))
        if self.positions == "learned" and self.pos_embed is not None:
            x = x + self.pos_embed
        elif self.positions == "sinusoidal":
            x = x + self.waves.to(x)
        x = self.with_position(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.first(self.norm(x)))

    def own_names(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return tensors that torchvision has named by the names that they have here; others as they are."""
        return {_own(name): value for name, value in tensors.items()}


def _started(module: nn.Module) -> None:
    if isinstance(module, nn.Linear):
        nn.init.trunc_normal_(module.weight, std=0.02 if module.in_features > 128 else module.in_features**-0.5)
        nn.init.zeros_(module.bias)


_TORCHVISION: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"^class_token$", "cls_token"),
    (r"^conv_proj\.", "patch_embed.proj."),
    (r"^encoder\.pos_embedding$", "pos_embed"),
    (r"^encoder\.ln\.", "norm."),
    (r"^heads\.head\.", "head."),
    (r"^encoder\.layers\.encoder_layer_(\d+)\.ln_([12])\.", r"blocks.\1.norm\2."),
    (r"^encoder\.layers\.encoder_layer_(\d+)\.self_attention\.in_proj_(weight|bias)$", r"blocks.\1.attn.qkv.\2"),
    (r"^encoder\.layers\.encoder_layer_(\d+)\.self_attention\.out_proj\.", r"blocks.\1.attn.proj."),
    (r"^encoder\.layers\.encoder_layer_(\d+)\.mlp\.(?:0|linear_1)\.", r"blocks.\1.mlp.fc1."),
    (r"^encoder\.layers\.encoder_layer_(\d+)\.mlp\.(?:3|linear_2)\.", r"blocks.\1.mlp.fc2."),
)


def _own(name: str) -> str:
    for theirs, ours in _TORCHVISION:
        if re.match(theirs, name):
            return re.sub(theirs, ours, name)
    return name
