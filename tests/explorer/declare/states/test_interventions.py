"""Interventions as text: what is written is read back, and what cannot be read is said in one sentence."""

from __future__ import annotations

import pytest

from explorer.declare.states.interventions import (
    Intervention,
    parse_intervention,
    parse_interventions,
    with_intervention,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("conv2:zero", Intervention("conv2", "zero")),
        ("layer1.0.conv1[3]:scale=0.5", Intervention("layer1.0.conv1", "scale", "0.5", "channel", (3,))),
        ("conv1#2[channel 3]:freeze", Intervention("conv1#2", "freeze", "", "channel", (3,))),
        ("attn[head 2/8]:zero", Intervention("attn", "zero", "", "head", (2, 8))),
        ("attn[head 2]:zero", Intervention("attn", "zero", "", "head", (2,))),
        ("gcn[node 4]:replace", Intervention("gcn", "replace", "", "node", (4,))),
        ("conv[pixel 3,5]:zero", Intervention("conv", "zero", "", "pixel", (3, 5))),
        ("fc:replace=random:1x3x8x8", Intervention("fc", "replace", "random:1x3x8x8")),
        ("conv2:symmetrise", Intervention("conv2", "symmetrise")),
        ("conv2:symmetrise=weights,D4", Intervention("conv2", "symmetrise", "weights,D4")),
        (" conv2 : scale = -1e3 ", Intervention("conv2", "scale", "-1000")),
    ],
)
def test_what_is_written_is_read_back(text: str, expected: Intervention) -> None:
    found = parse_intervention(text)
    assert found == expected
    assert parse_intervention(str(found)) == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("conv2", "not LAYER:KIND"),
        (":zero", "not LAYER:KIND"),
        ("conv2:zeros", "did you mean 'zero'"),
        ("conv2:scale", "needs a factor"),
        ("conv2:scale=much", "must be a finite number"),
        ("conv2:scale=nan", "must be a finite number"),
        ("conv2:zero=1", "takes no value"),
        ("conv2[x]:zero", r"\[x 3\]"),
        ("conv2[]:zero", "counted from 0"),
        ("conv2[1,2]:zero", "counted from 0"),
        ("conv2[pixel 3]:zero", r"\[pixel 3,5\]"),
        ("conv2[head 8/8]:zero", "no head 8 of 8"),
        ("conv2[3]:symmetrise", "a whole layer"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as error:
        parse_intervention(text)
    assert "\n" not in str(error.value)


def test_one_spot_has_one_intervention() -> None:
    one, other = parse_interventions(["a:zero", "a[1]:zero"])
    assert with_intervention((one, other), parse_intervention("a:freeze")) == (other, parse_intervention("a:freeze"))
    with pytest.raises(ValueError, match="already one"):
        parse_interventions(["a:zero", "a:freeze"])


def test_the_words_for_a_person() -> None:
    assert parse_intervention("conv2[3]:scale=0.5").told == "conv2, channel 3 times 0.5"
    assert parse_intervention("conv2:symmetrise=weights,D4").told == "conv2 symmetrised by weights (D4)"
    assert parse_intervention("attn[head 2/8]:zero").told == "attn, head 2 of 8 set to zero"
