"""Attention over an image: which of its tokens are patches is found by trial, and its matrices move with them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from equiscope import check_equivariance
from explorer.declare.elements import Element, chain_element, parse_chain
from explorer.declare.types.field_text import parse_field
from explorer.network.inner.factors import Factors
from explorer.network.inner.tiled import Tiled
from explorer.network.tracing.trace import trace
from explorer.spaces.grid.fields import TokenPairs, Tokens, grid


class Attention(nn.Module):
    """Attention as people write it by hand, with a bias between tokens where `bias` says so."""

    def __init__(self, width: int, formed: bool, bias: int = 0) -> None:
        super().__init__()
        self.qkv, self.proj, self.formed = nn.Linear(width, 3 * width), nn.Linear(width, width), formed
        self.bias = nn.Parameter(torch.randn(bias, bias)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        n, t, c = x.shape
        q, k, v = self.qkv(x).reshape(n, t, 3, 2, c // 2).permute(2, 0, 3, 1, 4)
        if self.formed:
            logits = q @ k.mT * (c // 2) ** -0.5
            y = (logits if self.bias is None else logits + self.bias).softmax(-1) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v)
        found: Tensor = self.proj(y.transpose(1, 2).reshape(n, t, c))
        return found


class Transformer(nn.Module):
    """A ViT without positions, with extra tokens before and after those of its patches."""

    def __init__(
        self, before: int = 1, after: int = 0, formed: bool = False, unfolded: bool = False, bias: bool = False,
        columns_first: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        torch.manual_seed(0)
        self.embed: nn.Module = nn.Linear(48, 8) if unfolded else nn.Conv2d(3, 8, 4, 4)
        self.before, self.after = nn.Parameter(torch.randn(1, before, 8)), nn.Parameter(torch.randn(1, after, 8))
        self.norm, self.columns_first = nn.LayerNorm(8), columns_first
        self.attn = Attention(8, formed, 16 + before + after if bias else 0)
        self.head = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        n = len(x)
        if isinstance(self.embed, nn.Linear):
            tokens = self.embed(F.unfold(x, 4, stride=4).mT)
        else:
            maps = self.embed(x)
            tokens = (maps.mT if self.columns_first else maps).flatten(2).mT
        tokens = torch.cat([self.before.expand(n, -1, -1), tokens, self.after.expand(n, -1, -1)], 1)
        tokens = tokens + self.attn(self.norm(tokens))
        found: Tensor = self.head(tokens.mean(1))
        return found


WAYS: list[dict[str, Any]] = [
    {}, {"formed": True}, {"before": 0, "after": 1}, {"before": 1, "after": 4, "formed": True},
    {"before": 2, "after": 1, "unfolded": True}, {"before": 0},
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_trial_tells_which_tokens_are_patches(way: dict[str, Any]) -> None:
    model = Transformer(**way)
    traced = trace(model, torch.randn(1, 3, 16, 16), grid())
    tokens = Tokens((4, 4), 4.0, way.get("before", 1), way.get("after", 0))
    for name in ("norm", "attn"):
        assert traced[name].field is not None and traced[name].field.domain == tokens
    assert traced["attn.attention"].field == TokenPairs(tokens) or str(traced["attn.attention"].field) == str(
        parse_field(f"token-pair scalar {str(traced['norm'].field).removeprefix('token scalar ')}")
    )


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("group", ["translation", "D4"])
def test_attention_moves_with_the_patches(way: dict[str, Any], group: str) -> None:
    report = check_equivariance(Transformer(**way), torch.randn(2, 3, 16, 16), group, details=False)
    by_name = {layer.name: layer for layer in report.layers}
    attention = by_name["attn.attention"]
    if group == "translation":
        assert report.holds and attention.verdict == "holds"
        assert attention.chance is not None and attention.chance > 1e-3
    else:  # a patch is turned within itself, which no filter of this network allows
        assert not report.holds and attention.cumulative > 1e-6


def test_a_bias_between_tokens_is_the_fault_of_its_attention() -> None:
    report = check_equivariance(Transformer(formed=True, bias=True), torch.randn(2, 3, 16, 16), "translation")
    assert report.verdict == "broken" and set(report.guilty) <= {"attn", "attn.attention"} and report.guilty


def test_tokens_in_another_order_have_no_field() -> None:
    traced = trace(Transformer(columns_first=True), torch.randn(1, 3, 16, 16), grid())
    assert traced["attn.attention"].field is None


class OverMap(nn.Module):
    """Attention between the places of a map, which no layer has as tokens; `across` reads it column by column."""

    def __init__(self, across: bool = False) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.across, self.stem, self.down = (
            across,
            nn.Conv2d(3, 8, 3, padding=1, padding_mode="circular"),
            nn.AvgPool2d(4),
        )
        self.qkv, self.out = nn.Conv2d(8, 48, 1), nn.Conv2d(16, 8, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.down(self.stem(x).relu())
        made = self.qkv(x)
        made = made.transpose(2, 3) if self.across else made
        q, k, v = (t.flatten(2).unflatten(1, (2, 8)) for t in made.chunk(3, 1))
        y = torch.einsum("bhij,bhdj->bhdi", torch.einsum("bhdi,bhdj->bhij", q, k).softmax(-1), v)
        y = y.flatten(1, 2).unflatten(2, tuple(x.shape[2:]))
        found: Tensor = self.out(y.transpose(2, 3) if self.across else y)
        return found


@pytest.mark.parametrize(("across", "told"), [(False, "token-pair scalar /4 of 7x7"), (True, "unknown")])
def test_attention_between_places_of_a_map_is_told_from_what_the_map_hears(across: bool, told: str) -> None:
    report = check_equivariance(OverMap(across), torch.rand(1, 3, 28, 28), "translation")
    row = report["attention"]
    assert row.field.startswith(told) and row.verdict == ("no law" if across else "holds")


def test_a_table_for_all_images_is_no_field_of_them() -> None:
    class Table(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Parameter(torch.randn(5, 5))

        def forward(self, _: Tensor) -> Tensor:
            return self.table

    class Biased(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bias, self.conv = Table(), nn.Conv2d(3, 5, 1)

        def forward(self, x: Tensor) -> Tensor:
            return torch.einsum("dc,nchw->ndhw", self.bias(x), self.conv(x))

    assert trace(Biased(), torch.randn(1, 3, 8, 8), grid())["bias"].field is None


@pytest.mark.parametrize(
    "text", ["token-pair scalar /4 of 4x4+1+4", "token scalar /4 of 4x4+0+1", "token scalar /2 of 3x5"]
)
def test_fields_are_read_as_they_are_written(text: str) -> None:
    assert str(parse_field(text)) == text


FIELD = parse_field("token-pair scalar /2 of 3x4+1+2")


@pytest.mark.parametrize("text", ["translate:2,4", "rotate:180", "translate:2,0,zero", "translate:3,1"])
def test_rows_and_columns_move_as_tokens_do(text: str) -> None:
    """An outer product of two fields of tokens moves as each of them does."""
    element = _element(text)
    tokens = parse_field("token scalar /2 of 3x4+1+2")
    a, b = (torch.randn(1, 15, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(k)) for k in range(2))
    pairs = (a @ b.mT)[:, None]
    expected = (element.act(a, tokens) @ element.act(b, tokens).mT)[:, None]
    if "zero" in text:  # the tokens without a place stand still on both sides
        assert torch.equal(element.act(pairs, FIELD)[..., :1, :1], pairs[..., :1, :1])
    assert torch.allclose(element.act(pairs, FIELD), expected, atol=1e-12)


def _element(text: str) -> Element:
    return chain_element(parse_chain(text))


def test_a_matrix_that_is_never_formed_moves_by_its_rows() -> None:
    q, k = torch.randn(2, 1, 2, 15, 4, generator=torch.Generator().manual_seed(0))
    factors = Factors(q, k)
    element = _element("translate:2,2")
    moved = element.act(Tiled.of(factors), FIELD)
    whole = element.act(factors.rows(0, 15), FIELD)
    rows = torch.stack([moved.head_rows(h, 0, 15) for h in range(2)])[None]
    assert isinstance(moved, Tiled) and torch.allclose(rows, whole, atol=1e-6)


def test_what_is_drawn_is_what_a_token_attends_to() -> None:
    values = torch.randn(1, 2, 15, 15)
    maps, count = FIELD.domain.picture(values, FIELD.rep, 512)
    assert count == 30 and torch.equal(maps[15 + 3], values[0, 1, 3, 1:13].view(3, 4))
