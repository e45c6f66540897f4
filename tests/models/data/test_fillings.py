"""Texts of numbers in the shape of a sample: they are read as what they say, whatever the kind of data."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from explorer.data.finding import find_sample, samples
from explorer.declare.samples import Sample, Signal
from explorer.declare.space import spaces
from explorer.square.space import space_of_kind

FIRST = {spec.domain: name for name, spec in reversed(samples().items())}


def shapes(sample: Sample) -> dict[str, tuple[int, ...]]:
    return {name: signal.values.shape for name, signal in sample.signals.items()}


@pytest.mark.parametrize("domain", FIRST)
def test_a_filling_has_the_shape_that_it_is_offered_for(domain: str) -> None:
    sample = samples()[FIRST[domain]].make()
    for text in space_of_kind(domain).fillings(sample):
        found = find_sample(text)
        assert found.domain == domain
        assert list(shapes(found).values()) == list(shapes(sample).values())


def test_spaces_of_tensors_offer_some() -> None:
    offering = {name for name, space in spaces().items() if (d := FIRST.get(name)) and space.fillings(find_sample(d))}
    assert {"grid", "volume"} <= offering


@pytest.mark.parametrize("text", ["image=random:1x3x9x9,mask=ramp:1x1x9x9", "audio=random:40x8,text=ones:12x4"])
def test_each_of_several_inputs_is_filled(text: str) -> None:
    sample = find_sample(text)
    offered = space_of_kind(sample.domain).fillings(sample)
    assert offered[1].startswith(f"{next(iter(sample.signals))}=ramp:")
    assert all(shapes(find_sample(one)) == shapes(sample) for one in offered)


def test_numbers_of_tokens_have_none() -> None:
    sample = find_sample("text:to be")
    numbers = Signal(sample.x.values.argmax(1, keepdims=True).astype(np.int64), sample.x.field)
    sample = replace(sample, signals=MappingProxyType({"x": numbers}))
    assert space_of_kind(sample.domain).fillings(sample) == ()
