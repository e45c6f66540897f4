"""Attention of somebody else's network is found as it is, whatever it is written with, and nothing is left behind."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import equiscope
from explorer.network.inner.attention import Watch
from explorer.network.tracing.capture import capture
from explorer.network.tracing.trace import trace

STEPS, WIDTH = 7, 8


class Asked(nn.Module):
    """Calls torch's own function with whatever options it was given."""

    def __init__(self, groups: int = 2, **options: object) -> None:
        super().__init__()
        self.groups, self.options = groups, options
        self.q, self.k, self.v = nn.Linear(3, 8), nn.Linear(3, 4 * groups), nn.Linear(3, 4 * groups)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (m(x).unflatten(-1, (-1, 4)).transpose(-2, -3) for m in (self.q, self.k, self.v))
        return F.scaled_dot_product_attention(q, k, v, **self.options).transpose(-2, -3).flatten(-2)  # type: ignore[arg-type]

    def explicit(self, x: Tensor) -> Tensor:
        q, k = (m(x).unflatten(-1, (-1, 4)).transpose(-2, -3) for m in (self.q, self.k))
        k = k.repeat_interleave(2 // self.groups, -3)
        logits = q @ k.transpose(-1, -2) * (self.options.get("scale") or 0.5)
        mask = self.options.get("attn_mask")
        if isinstance(mask, Tensor):
            logits = torch.where(mask, logits, -math.inf) if mask.dtype == torch.bool else logits + mask
        if self.options.get("is_causal"):
            logits = logits.masked_fill(torch.ones(STEPS, STEPS, dtype=torch.bool).triu(1), -math.inf)
        return (logits - logits.logsumexp(-1, keepdim=True)).exp()


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def found(model: nn.Module, x: Tensor, names: list[str]) -> dict[str, Tensor]:
    with torch.no_grad():
        return capture(model, x, names)[0]


@pytest.mark.parametrize(
    "options",
    [
        {}, {"is_causal": True}, {"scale": 0.3}, {"attn_mask": torch.ones(STEPS, STEPS, dtype=torch.bool).tril(2)},
        {"attn_mask": drawn(STEPS, STEPS)}, {"attn_mask": drawn(2, 1, STEPS)}, {"groups": 1, "enable_gqa": True},
        {"groups": 1, "enable_gqa": True, "is_causal": True},
    ],
)  # fmt: skip
def test_it_is_the_explicit_formula(options: dict[str, object]) -> None:
    torch.manual_seed(0)
    model, x = Asked(**options).double().eval(), drawn(1, STEPS, 3)  # type: ignore[arg-type]
    value = found(model, x, ["attention"])["attention"]
    assert value.shape == (1, 2, STEPS, STEPS)
    assert (value - model.explicit(x)).abs().max() < 1e-12


def test_a_row_that_sees_nothing_has_no_weights() -> None:
    mask = torch.ones(STEPS, STEPS, dtype=torch.bool)
    mask[2] = False
    torch.manual_seed(0)
    model, x = Asked(attn_mask=mask).double().eval(), drawn(1, STEPS, 3)
    value = found(model, x, ["attention"])["attention"]
    assert (value[..., 2, :] == 0).all() and value.isfinite().all()
    assert (value.sum(-1)[..., [0, 1, 3]] - 1).abs().max() < 1e-12


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize(
    "options",
    [{}, {"add_bias_kv": True}, {"add_zero_attn": True}, {"kdim": 5, "vdim": 6}, {"bias": False}],
)
@pytest.mark.parametrize("masked", ["", "bool", "float", "padding", "both"])
def test_the_modules_attention_is_what_it_tells_itself(
    options: dict[str, object], masked: str, batch_first: bool
) -> None:
    torch.manual_seed(0)
    attend = nn.MultiheadAttention(WIDTH, 2, batch_first=batch_first, **options).double().eval()  # type: ignore[arg-type]
    if attend.bias_k is not None:
        nn.init.normal_(attend.bias_k)
    own, wide, deep = (drawn(1, STEPS, n) for n in (WIDTH, attend.kdim, attend.vdim))
    given = [v if batch_first else v.transpose(0, 1) for v in (own, wide, deep)]
    barred = torch.ones(STEPS, STEPS, dtype=torch.bool).triu(1)
    padding = torch.zeros(1, STEPS, dtype=torch.bool)
    padding[:, -2:] = True
    masks: dict[str, object] = {
        "": {}, "bool": {"attn_mask": barred}, "float": {"attn_mask": drawn(2, STEPS, STEPS)},
        "padding": {"key_padding_mask": padding}, "both": {"attn_mask": barred, "key_padding_mask": padding},
    }[masked]  # fmt: skip

    class Holder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attend = attend

        def forward(self, x: Tensor) -> Tensor:
            answer: Tensor = self.attend(*given, need_weights=False, **masks)[0]
            return answer

    _, told = attend(*given, need_weights=True, average_attn_weights=False, **masks)  # type: ignore[arg-type]
    value = found(Holder(), own, ["attend.attention"])["attend.attention"]
    assert value.shape == told.shape
    assert (value - told).abs().max() < 1e-12


def test_the_fast_path_hides_nothing_and_nothing_changes() -> None:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(WIDTH, 2, 16, batch_first=True).double()
    model, x = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval(), drawn(1, STEPS, WIDTH)
    with torch.inference_mode():
        plain = model(x)
        names = [f"layers.{k}.self_attn.attention" for k in (0, 1)]
        values, _ = capture(model, x, [*names, "output"])
        told = layer.eval()  # the same weights in both layers at the beginning
        _, weights = told.self_attn(x, x, x, average_attn_weights=False)
    assert (values[names[0]] - weights).abs().max() < 1e-12
    assert (values["output"] - plain).abs().max() < 1e-12
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


class Written(nn.Module):
    """Attention by hand, followed by a softmax that is none."""

    def __init__(self, drop: bool = True) -> None:
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(3, 3) for _ in range(4))
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Tensor) -> Tensor:
        h = x
        for _ in range(2):
            w = F.softmax(self.q(h) @ self.k(h).transpose(-1, -2) / math.sqrt(3), dim=-1)
            h = h + torch.einsum("bts,bsc->btc", self.drop(w), self.v(h))
        return torch.softmax(self.out(h), -1)


def test_attention_by_hand_is_found_and_counted() -> None:
    torch.manual_seed(0)
    model = Written().double().eval()
    x = equiscope.sequence(drawn(STEPS, 3), layout="NTC")
    with torch.no_grad():
        traced = trace(model, x)
        values, _ = capture(model, x, ["attention", "attention#2"])
    inner = [n for n in traced.layers if n.within is not None]
    assert [(n.name, str(n.field)) for n in inner] == [("attention", "pair scalar"), ("attention#2", "pair scalar")]
    h = x.x
    explicit = torch.softmax(model.q(h) @ model.k(h).transpose(-1, -2) / math.sqrt(3), -1)
    assert (values["attention"] - explicit).abs().max() < 1e-12
    assert (values["attention#2"] - explicit).abs().max() > 1e-3


def test_a_module_of_that_name_keeps_it() -> None:
    class Named(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.Linear(3, 8)

        def forward(self, x: Tensor) -> Tensor:
            q = self.attention(x)[:, None]
            return F.scaled_dot_product_attention(q, q, q)[:, 0]

    with torch.no_grad():
        traced = trace(Named().eval(), equiscope.sequence(torch.randn(STEPS, 3), layout="NTC"))
    assert [n.name for n in traced.layers][:2] == ["attention", "attention_values"]


def test_a_mask_that_comes_from_the_input_is_not_taken_for_constant() -> None:
    class Padded(nn.Module):
        def __init__(self, own: bool) -> None:
            super().__init__()
            self.own, self.q = own, nn.Linear(3, 8)

        def forward(self, x: Tensor) -> Tensor:
            q = self.q(x)[:, None]
            mask = (x[..., 0] > 0)[:, None, None] if self.own else torch.ones(STEPS, STEPS, dtype=torch.bool)
            return F.scaled_dot_product_attention(q, q, q, mask)[:, 0]

    x = equiscope.sequence(drawn(STEPS, 3).float(), layout="NTC")
    with torch.no_grad():
        alone = {own: trace(Padded(own).eval(), x)["attention"].alone for own in (True, False)}
    assert alone == {True: False, False: True}


def test_nothing_is_watched_after_a_network_has_raised() -> None:
    class Raises(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            q = x[:, None]
            F.scaled_dot_product_attention(q, q, q)
            raise RuntimeError("no")

    model = Raises()
    with pytest.raises(RuntimeError, match="no"):
        found(model, torch.randn(1, STEPS, 3), ["attention"])
    assert not model._forward_hooks
    assert not isinstance(torch.overrides._get_current_function_mode(), Watch)  # type: ignore[attr-defined]


@pytest.mark.parametrize("extra", [{}, {"add_bias_kv": True}])
def test_a_causal_hint_counts_as_torch_takes_it(extra: dict[str, bool]) -> None:
    """With the hint torch hides the key of `bias_k` too, which its own weights do not tell."""
    torch.manual_seed(0)
    attend = nn.MultiheadAttention(WIDTH, 2, batch_first=True, **extra).double().eval()
    x = drawn(1, STEPS, WIDTH)
    barred = torch.ones(STEPS, STEPS, dtype=torch.bool).triu(1)

    class Holder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attend = attend

        def forward(self, x: Tensor) -> Tensor:
            answer: Tensor = self.attend(x, x, x, attn_mask=barred, is_causal=True, need_weights=False)[0]
            return answer

    values = found(Holder(), x, ["attend.attention", "output"])
    w, b = attend.in_proj_weight[-WIDTH:], attend.in_proj_bias[-WIDTH:]
    v = F.linear(x, w, b)
    v = v if attend.bias_v is None else torch.cat([v, attend.bias_v], 1)
    heads = v.unflatten(-1, (2, -1)).transpose(1, 2)
    summed = (values["attend.attention"] @ heads).transpose(1, 2).flatten(2)
    assert (attend.out_proj(summed) - values["output"]).abs().max() < 1e-12
