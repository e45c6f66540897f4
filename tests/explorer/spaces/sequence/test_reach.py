"""Reaches of layers along a long sequence, found on short ones."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from equiscope.inputs import sequence
from explorer.declare.types.fields import FieldType
from explorer.network.tracing.trace import trace
from explorer.spaces.sequence.fields import STEP
from explorer.spaces.sequence.network.reach import MIDDLE, SHORT, reaches

STEPS = 8192
FIELDS: dict[str, FieldType] = dict.fromkeys(("near", "all", "share", "turned"), STEP)


def tried(length: int, *, only: int = 0) -> tuple[dict[str, float], list[int]]:
    """Return the reaches, and how long the sequences were on which layers were tried."""
    lengths: list[int] = []

    def run(x: Tensor) -> Mapping[str, Tensor]:
        line = x.reshape(1, 1, -1)
        lengths.append(line.shape[-1])
        if only and line.shape[-1] != only:
            raise ValueError("another number of steps")
        window = line.shape[-1] // 8
        near, share = (F.avg_pool1d(line, 2 * r + 1, 1, r, count_include_pad=False) for r in (3, window))
        turned = line.flip(-1).roll(1, -1)
        return {
            "turned": turned.reshape(x.shape),
            "near": near.reshape(x.shape),
            "share": share.reshape(x.shape),
            "all": (line + line.mean()).reshape(x.shape),
        }

    x = torch.randn(length, 1, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    return reaches(run, STEP.domain.as_given(x), STEP, FIELDS), lengths


def test_what_is_the_same_on_short_sequences_is_not_tried_on_a_long_one() -> None:
    found, lengths = tried(STEPS)
    assert found["near"] == 3.0 and math.isinf(found["all"])
    assert found["turned"] == STEPS - 2, "as far as the sequence is long, but for two steps"
    # a window that grows with the sequence is tried as long as it is
    assert found["share"] == STEPS // 8
    assert set(lengths) == {SHORT, MIDDLE, STEPS} and lengths.count(STEPS) <= 7


def test_a_network_of_one_length_is_tried_at_that_length() -> None:
    found, lengths = tried(STEPS, only=STEPS)
    assert found == tried(STEPS)[0] and lengths.count(STEPS) >= 5


def wrapped(x: Tensor, ends: float = 0.0) -> Tensor:
    """Return means of five steps, counted round the end; `ends` lets the last one hear the first besides."""
    line = F.avg_pool1d(F.pad(x.reshape(1, 1, -1), (2, 2), mode="circular"), 5, 1)
    far = torch.zeros_like(line)
    far[..., -9] = ends * line[..., 0]
    return (line + far).reshape(x.shape)


def test_steps_behind_circular_padding_are_counted_round_the_end() -> None:
    x = torch.randn(40, 1, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    fields: dict[str, FieldType] = dict.fromkeys(("round", "far"), STEP)
    found = reaches(lambda x: {"round": wrapped(x), "far": wrapped(x, 1.0)}, x, STEP, fields)
    assert found["round"] == 2.0
    assert found["far"] > 30, "one step that hears the other end is no padding"


def test_rounding_of_sums_that_cancel_is_not_heard_and_a_state_that_fades_is() -> None:
    fields: dict[str, FieldType] = dict.fromkeys(("mean", "state"), STEP)

    def run(x: Tensor) -> Mapping[str, Tensor]:
        line = x.reshape(-1)
        sums = F.pad(line.cumsum(0), (1, 0))
        mean = (sums[1:] - F.pad(sums, (3, 0))[: len(line)]) / 4
        state, states = torch.zeros((), dtype=x.dtype), []
        for value in line:
            state = 0.5 * state + value
            states.append(state)
        return {"mean": mean.reshape(x.shape), "state": torch.stack(states).reshape(x.shape)}

    x = torch.randn(128, 1, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    found = reaches(run, STEP.domain.as_given(x), STEP, fields)
    assert found["mean"] == 3.0 and math.isinf(found["state"])


@pytest.mark.parametrize("share", [1e-3, 0.0])
def test_what_is_heard_faintly_from_everywhere_is_no_rounding_in_single_precision(share: float) -> None:
    """Attention of fresh weights adds a thousandth to what it is added to: it was taken for rounding."""

    class Faint(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + share * x.mean(1, keepdim=True)

    values = torch.randn(40, 3, generator=torch.Generator().manual_seed(1))
    network = nn.Sequential(nn.Linear(3, 3), Faint())
    found = trace(network, sequence(values, "NTC"))["1"].receptive
    assert found == (math.inf if share else 0.0)
