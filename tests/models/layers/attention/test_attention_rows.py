"""Attention over long sequences: no matrix is formed, and a row made on demand is that of the matrix."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import models
from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.declare.registry import scan
from explorer.spaces.sequence.drawing.values import Attended, TimePart
from explorer.state.state import State
from models.layers.attention import steps as attention_steps
from models.layers.attention.steps import Attention
from tests.models.sequences.sequence_layers import layers
from tests.models.sequences.test_transformer import copy_attention

ROOT = Path(__file__).resolve().parents[4]
STEP = 17
CONTEXT = "stacks.{}.0.self_attention.context"


def attention(causal: bool, dtype: torch.dtype = torch.float64) -> Attention:
    torch.manual_seed(0)
    return Attention(12, 3, causal).to(dtype)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-6), (torch.float64, 1e-14)])
def test_a_row_is_that_of_torchs_matrix(causal: bool, dtype: torch.dtype, tolerance: float) -> None:
    ours, x = attention(causal, dtype), torch.randn(40, 12, dtype=dtype)
    theirs = nn.MultiheadAttention(12, 3, batch_first=True, dtype=dtype)
    copy_attention(ours, theirs)
    mask = nn.Transformer.generate_square_subsequent_mask(40, dtype=dtype) if causal else None
    with torch.no_grad():
        _, matrix = theirs(x, x, x, attn_mask=mask, average_attn_weights=False)
        query, key = ours.query(x), ours.key(x)
        rows = {step: ours.row(query, key, step) for step in (0, STEP, STEP + 1, 39)}
    for step, row in rows.items():
        torch.testing.assert_close(row, matrix[:, step], rtol=0, atol=tolerance)
        assert not causal or not row[:, step + 1 :].any()
    assert float((rows[STEP + 1] - matrix[:, STEP]).abs().max()) > 1e-3  # another step's row would be noticed


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shape", [(40, 12), (2, 40, 12), (2, 3, 40, 12)])
def test_without_the_matrix_the_answer_is_the_same(
    causal: bool, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, x = attention(causal), torch.randn(shape, dtype=torch.float64)
    with torch.no_grad():
        formed = layers(ours, x, x)
        monkeypatch.setattr(attention_steps, "MOST_PAIRS", 40 * 40 - 1)
        found = layers(ours, x, x)
    assert {"logits", "attention"} <= set(formed)
    assert not {"logits", "masked_logits", "attention"} & set(found)
    for name in ("context", "out"):
        torch.testing.assert_close(found[name], formed[name], rtol=0, atol=1e-14)


def test_gradients_flow_without_the_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, x = attention(causal=True), torch.randn(20, 12, dtype=torch.float64)
    formed = torch.autograd.grad(ours(x, x).sum(), list(ours.parameters()))
    monkeypatch.setattr(attention_steps, "MOST_PAIRS", 0)
    found = torch.autograd.grad(ours(x, x).sum(), list(ours.parameters()))
    torch.testing.assert_close(found, formed, rtol=0, atol=1e-12)


LONG = """
import resource, sys
import torch
from models.layers.attention.steps import Attention
torch.manual_seed(0)
attention = Attention(32, 2, {causal}).eval()
with torch.inference_mode():
    attention(*2 * (torch.randn(64, 32),))
    x = torch.randn(16384, 32)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    attention(x, x)
    query, key = attention.query(x), attention.key(x)
    row = attention.row(query, key, 9000)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert row.shape == (2, 16384) and abs(float(row.sum()) - 2) < 1e-4
print((after - before) * (1 if sys.platform == "darwin" else 1024))
"""


@pytest.mark.slow
@pytest.mark.parametrize("causal", [False, True])
def test_16384_steps_take_no_matrix(causal: bool) -> None:
    """The matrix of one head would be 1 GiB."""
    command = [sys.executable, "-c", LONG.format(causal=causal)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 128 * 2**20


# what the window gets ---------------------------------------------------------------------------------------------
def attended(
    monkeypatch: pytest.MonkeyPatch, layer: str, chain: str, most: int | None, node: int | None = 9
) -> Attended | None:
    if most is not None:
        monkeypatch.setattr(attention_steps, "MOST_PAIRS", most)
    engine = LocalEngine(scan(models, "CARD"))
    state = State(
        model="transformer", sample="letters-12", layer=layer, node=node, steps=parse_chain(chain), device="cpu"
    )
    part = engine.answer(state, lambda: False).squares[0].of(TimePart)
    assert part is not None
    return part.attended


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_the_row_of_the_selected_step_is_sent(stack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    layer = f"stacks.{stack}.0.self_attention.attention"
    engine = LocalEngine(scan(models, "CARD"))
    state = State(
        model="transformer", sample="letters-12", layer=layer, node=4, steps=parse_chain("shift:2"), device="cpu"
    )
    part = engine.answer(state, lambda: False).squares[0].of(TimePart)
    assert part is not None and part.kind == "pair" and part.attended is None  # the matrix is a layer
    found = attended(monkeypatch, CONTEXT.format(stack), "shift:2", 0, 4)
    assert found is not None and found.moved is not None
    np.testing.assert_allclose(found.row, part.values[:, 4].T, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.moved, part.moved[:, 6].T, rtol=0, atol=1e-6)


def test_a_step_that_was_cut_off_has_no_moved_row(monkeypatch: pytest.MonkeyPatch) -> None:
    found = attended(monkeypatch, CONTEXT.format("encoder"), "shift:9", 0)
    assert found is not None and found.moved is None


def test_without_a_step_there_is_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    assert attended(monkeypatch, CONTEXT.format("encoder"), "shift:1", 0, None) is None


@pytest.mark.parametrize(
    "layer, name",
    [
        ("embed_input.letter", "encoder.0.self_attention"),
        ("stacks.encoder.1.norm2", "encoder.1.self_attention"),
        ("stacks.decoder.0.cross_attention.query", "decoder.0.cross_attention"),
        ("output", "decoder.1.cross_attention"),
    ],
)
def test_the_nearest_attention_is_shown(layer: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = attended(monkeypatch, layer, "shift:1", 0)
    assert found is not None and found.name == f"stacks.{name}"
