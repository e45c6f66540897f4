"""Layers whose own names end in brackets, as text and back."""

from __future__ import annotations

import pytest

from explorer.declare.states.interventions import Intervention, parse_intervention


@pytest.mark.parametrize(
    ("text", "one"),
    [
        ("conv[16]:zero", Intervention("conv", "zero", "", "channel", (16,))),
        ("conv[16][all]:zero", Intervention("conv[16]", "zero")),
        ("conv[16][3]:zero", Intervention("conv[16]", "zero", "", "channel", (3,))),
        ("lstm#2[1][step 4]:scale=0.5", Intervention("lstm#2[1]", "scale", "0.5", "step", (4,))),
        ("conv:freeze", Intervention("conv", "freeze")),
    ],
)
def test_a_whole_layer_and_a_channel_are_told_apart(text: str, one: Intervention) -> None:
    assert parse_intervention(text) == one
    assert str(one) == text
