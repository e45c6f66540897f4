"""The Transformer against torch's own with the same weights, its masks, its positions, and what it was trained for."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from explorer.app.answering.engine import LocalEngine
from explorer.app.command.audit import audit
from explorer.declare.inputs import Inputs
from explorer.network.tracing.trace import trace
from explorer.spaces.sequence.fields import STEP
from explorer.spaces.sequence.samples import tasks
from explorer.state.state import State
from models.layers.attention.steps import Attention
from models.sequences.transformer import (
    CARD,
    JUDGED,
    DecoderLayer,
    EncoderDecoder,
    EncoderLayer,
    Transformer,
    judge,
    sinusoids,
)
from tests.models.sequences.sequence_layers import layers, trained

TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-12}


def copy_attention(ours: Attention, theirs: nn.MultiheadAttention) -> None:
    assert theirs.in_proj_weight is not None
    parts = (ours.query, ours.key, ours.value)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        theirs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
    theirs.out_proj.load_state_dict(ours.out.state_dict())


def copy_layer(ours: EncoderLayer | DecoderLayer, theirs: nn.Module) -> None:
    copy_attention(ours.self_attention, theirs.self_attn)  # type: ignore[arg-type]
    pairs = [("linear1", ours.feed_forward.linear1), ("linear2", ours.feed_forward.linear2)]
    pairs += [("norm1", ours.norm1), ("norm2", ours.norm2)]  # type: ignore[list-item]
    if isinstance(ours, DecoderLayer):
        copy_attention(ours.cross_attention, theirs.multihead_attn)  # type: ignore[arg-type]
        pairs.append(("norm3", ours.norm3))  # type: ignore[arg-type]
    for name, part in pairs:
        theirs.get_submodule(name).load_state_dict(part.state_dict())


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("causal", [False, True])
def test_attention_is_torchs(dtype: torch.dtype, causal: bool) -> None:
    torch.manual_seed(0)
    ours = Attention(12, 3, causal).to(dtype)
    theirs = nn.MultiheadAttention(12, 3, batch_first=True, dtype=dtype)
    copy_attention(ours, theirs)
    x = torch.randn(9, 12, dtype=dtype)
    memory = x if causal else torch.randn(7, 12, dtype=dtype)
    mask = nn.Transformer.generate_square_subsequent_mask(9, dtype=dtype) if causal else None
    expected, weights = theirs(x, memory, memory, attn_mask=mask, average_attn_weights=False)
    found = layers(ours, x, memory)
    torch.testing.assert_close(found["out"], expected, rtol=0, atol=TOLERANCE[dtype])
    torch.testing.assert_close(found["attention"], weights, rtol=0, atol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("final_norm", [False, True])
def test_the_stacks_are_torchs(dtype: torch.dtype, final_norm: bool) -> None:
    torch.manual_seed(0)
    ours = EncoderDecoder(16, 4, 24, 2, final_norm).to(dtype)
    theirs = nn.Transformer(16, 4, 2, 2, 24, dropout=0.0, batch_first=True, dtype=dtype)
    for mine, other in zip(ours.encoder, theirs.encoder.layers, strict=True):
        copy_layer(mine, other)  # type: ignore[arg-type]
    for mine, other in zip(ours.decoder, theirs.decoder.layers, strict=True):
        copy_layer(mine, other)  # type: ignore[arg-type]
    if final_norm:
        assert ours.encoder_norm is not None and ours.decoder_norm is not None
        with torch.no_grad():
            ours.encoder_norm.weight.mul_(1.5)
        theirs.encoder.norm.load_state_dict(ours.encoder_norm.state_dict())
        theirs.decoder.norm.load_state_dict(ours.decoder_norm.state_dict())
    else:
        theirs.encoder.norm = theirs.decoder.norm = None  # the paper has none
    x, y = torch.randn(3, 8, 16, dtype=dtype), torch.randn(3, 6, 16, dtype=dtype)
    mask = nn.Transformer.generate_square_subsequent_mask(6, dtype=dtype)
    expected = theirs(x, y, tgt_mask=mask, tgt_is_causal=True)
    torch.testing.assert_close(ours(x, y), expected, rtol=0, atol=3 * TOLERANCE[dtype])


def test_positions_are_those_of_the_paper() -> None:
    like = torch.zeros(1, dtype=torch.float64)
    found = sinusoids(50, 8, like)
    for t in (0, 1, 7, 49):
        for i in range(4):
            angle = torch.tensor(t / 10000 ** (2 * i / 8), dtype=torch.float64)
            assert abs(float(found[t, 2 * i] - angle.sin())) < 1e-12
            assert abs(float(found[t, 2 * i + 1] - angle.cos())) < 1e-12


@given(st.integers(0, 40), st.integers(0, 40))
def test_the_product_of_two_positions_depends_on_their_distance(t: int, s: int) -> None:
    found = sinusoids(81, 16, torch.zeros(1, dtype=torch.float64))
    assert abs(float(found[t] @ found[s] - found[abs(t - s)] @ found[0])) < 1e-9


def one_hot(text: str) -> Tensor:
    return torch.tensor(tasks.one_hot(tasks.encode(text, tasks.LETTERS), len(tasks.LETTERS))).double()


def test_all_six_steps_are_layers() -> None:
    found = layers(trained(CARD), one_hot("abcdefgh"))
    for part in ("encoder.0.self_attention", "decoder.1.self_attention", "decoder.1.cross_attention"):
        steps = {name.rpartition(".")[2]: y for name, y in found.items() if name.startswith(f"stacks.{part}.")}
        wanted = {"query", "key", "value", "logits", "attention", "context", "out"}
        assert wanted | {"masked_logits"} == steps.keys() if "decoder.1.self" in part else wanted == steps.keys()
        q, k = (steps[name].unflatten(1, (2, 16)) for name in ("query", "key"))
        logits = torch.einsum("ihd,jhd->hij", q, k) / 4
        torch.testing.assert_close(steps["logits"], logits, rtol=0, atol=1e-12)
        context = torch.einsum("hij,jhd->ihd", steps["attention"], steps["value"].unflatten(1, (2, 16))).flatten(1)
        torch.testing.assert_close(steps["context"], context, rtol=0, atol=1e-12)
    ahead = found["stacks.decoder.0.self_attention.attention"].triu(1)
    assert float(ahead.abs().max()) == 0.0


def changed_before(network: Transformer) -> float:
    """Return how far the scores of the first five letters move when what the decoder is given after them changes."""
    x = one_hot("abcdefgh")
    late = network.late(network.wanted(x))
    other = late.clone()
    other[5:] = other[5:].roll(1, -1)
    with torch.no_grad():
        return float((network.answer(x, late) - network.answer(x, other))[:5].abs().max())


def test_the_mask_keeps_the_decoder_from_looking_ahead() -> None:
    masked, open_ = trained(CARD), trained(CARD, mask=1)
    assert isinstance(masked, Transformer) and isinstance(open_, Transformer)
    assert changed_before(masked) < 1e-9
    assert changed_before(open_) > 1e-3


def test_without_positions_the_encoder_does_not_know_the_order() -> None:
    order = torch.tensor([3, 1, 0, 2, 5, 4])
    x = one_hot("abcdef")
    errors = []
    for positions in (1, 0):
        network = trained(CARD, positions=positions)
        assert isinstance(network, Transformer)
        with torch.no_grad():
            memory, moved = (network.stacks.encode(network.embed_input(v)) for v in (x, x[order]))
        errors.append(float((moved - memory[order]).norm() / memory.norm()))
    assert errors[0] < 1e-9 < 1e-2 < errors[1]


def test_what_is_right_with_the_right_answer_is_written_alone() -> None:
    network = trained(CARD)
    assert isinstance(network, Transformer)
    x = one_hot("hgfaabcd")
    with torch.no_grad():
        assert torch.equal(network.written(x[None])[0], network(x).argmax(-1))
    assert tasks.decode(network(x).argmax(-1).numpy(), tasks.LETTERS) == "dcbaafgh"


def test_the_notes_say_how_many_texts_are_right() -> None:
    network = trained(CARD).float()
    assert isinstance(network, Transformer)
    with torch.no_grad():
        found = judge(network)
    for length in JUDGED:
        assert f"{length}: {100 * found[f'texts_{length}']:.1f} %" in CARD.notes[0], found
    assert f"{sum(p.numel() for p in network.parameters()):,} parameters" in CARD.notes[0]


@pytest.mark.slow
def test_how_far_its_layers_see_is_not_tried_at_full_length() -> None:
    # without its matrix attention has other layers than on the short texts that trials are made with
    steps, passes = 8192, 0
    network = CARD.build()

    def count(_: nn.Module, given: tuple[Tensor, ...]) -> None:
        nonlocal passes
        passes += len(given[0]) == steps

    network.register_forward_pre_hook(count)
    text = tasks.one_hot(tasks.letters(np.random.default_rng(0), 1, steps)[0], len(tasks.LETTERS))[0]
    found = trace(network.eval(), Inputs((torch.tensor(text),), (STEP,)), declared=True)
    assert passes == 1
    # the answer comes one step late and backwards, and the mask lets nothing but the last step pass to the first
    assert found["stacks.decoder.0.self_attention.context"].receptive == steps - 2
    assert found["stacks.encoder.0.self_attention.query"].receptive == 0.0


def test_each_group_that_it_claims_is_checked() -> None:
    """A softmax over pairs has no distance in steps that it sees by; asking for one ended the check."""
    engine = LocalEngine({"transformer": CARD})
    try:
        reports = audit(engine, State(model="transformer", device="cpu"), "", "float64", None, {}, count=1)
    finally:
        engine.close()
    assert reports and all(report.verdict for report in reports)
