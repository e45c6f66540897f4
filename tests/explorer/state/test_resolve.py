"""Resolving clamps what cannot be, leaves alone what can be, and changes nothing the second time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.declare.card import ModelInfo
from explorer.declare.elements import Step, chain_element, parse_chain, transforms
from explorer.declare.params import Param
from explorer.square.frame import LayerInfo
from explorer.state.catalogue import Catalogue, SampleInfo
from explorer.state.random_element import random_steps
from explorer.state.resolve import resolve
from explorer.state.state import State

DEPTH = Param("depth", "Depth", 2, 1, 8, whole=True)
WIDTH = Param("width", "Width", 16, 4, 64)


def model(name: str, domain: str = "grid", params: tuple[Param, ...] = ()) -> ModelInfo:
    return ModelInfo(name, name, domain, (), (), "", "", "", (), params, "digit-3", (), (1, None, None), True, False)


CATALOGUE = Catalogue(
    models=(model("d4-cnn", params=(DEPTH, WIDTH)), model("plain-cnn"), model("gcn", "graph")),
    samples=(SampleInfo("digit-3", "3", "grid"),),
    devices=("cpu", "cuda:0"),
    versions=(),
    extensions=(".png",),
)
LAYERS = (
    LayerInfo("conv", "Conv2d", (1, 8, 12, 10), 0, "grid scalar", False),
    LayerInfo("head", "Linear", (1, 10), 0, "invariant", False),
)


def fixed(**fields: Any) -> State:
    return resolve(State(**fields), CATALOGUE, LAYERS)


def test_what_is_fine_stays() -> None:
    state = State(
        model="d4-cnn",
        params=(("depth", 3.0),),
        compare="plain-cnn",
        sample="/home/me/x.png",
        steps=parse_chain("rotate:30+translate:4,0,zero"),
        layer="conv",
        channel=7,
        pixel=(11, 9),
        untransform=True,
        orbit="translate",
        device="cuda:0",
        dtype="float64",
        seed=3,
        overrides=(("conv", "grid scalar"),),
    )
    assert resolve(state, CATALOGUE, LAYERS) == state


@pytest.mark.parametrize(
    ("given_", "field", "mended"),
    [
        ({"layer": "conv9"}, "layer", ""),
        ({"layer": "conv", "channel": 8}, "channel", None),
        ({"layer": "conv", "channel": -1}, "channel", None),
        ({"layer": "conv", "pixel": (12, 0)}, "pixel", None),
        ({"layer": "conv", "pixel": (0, 10)}, "pixel", None),
        ({"layer": "conv", "pixel": (-1, 0)}, "pixel", None),
        ({"layer": "head", "pixel": (0, 0)}, "pixel", None),
        ({"layer": "head", "channel": 9}, "channel", 9),
        ({"compare": "d4-cnn"}, "compare", ""),
        ({"compare": "gcn"}, "compare", ""),
        ({"compare": "mine.py:net"}, "compare", "mine.py:net"),
        ({"sample": ""}, "sample", "digit-3"),
        ({"model": "unknown", "sample": ""}, "sample", ""),
        ({"params": (("depth", 99.0),)}, "params", (("depth", 8.0),)),
        ({"params": (("depth", 2.4),)}, "params", ()),
        ({"params": (("depth", math.nan), ("speed", 2.0))}, "params", ()),
        ({"params": (("width", 8.0), ("depth", 3.0))}, "params", (("depth", 3.0), ("width", 8.0))),
        ({"model": "mine.py:net", "params": (("speed", 2.0),)}, "params", (("speed", 2.0),)),
        ({"steps": (Step("fly", ()),)}, "steps", ()),
        ({"steps": (Step("rotate", (270.0,)),)}, "steps", (Step("rotate", (-90.0,)),)),
        ({"steps": (Step("rotate", (math.inf,)),)}, "steps", (Step("rotate", (0.0,)),)),
        ({"steps": (Step("translate", (3.0,)),)}, "steps", (Step("translate", (3.0, 0.0, 0.0)),)),
        ({"steps": (Step("rotate", (1.0, 2.0)),)}, "steps", (Step("rotate", (1.0,)),)),
        ({"model": "gcn", "steps": (Step("rotate", (90.0,)),)}, "steps", ()),
        ({"orbit": "reflect"}, "orbit", "rotate"),
        ({"orbit": "fly"}, "orbit", "rotate"),
        ({"device": "cuda:3"}, "device", "auto"),
        ({"dtype": "float8"}, "dtype", "float32"),
        ({"seed": -1}, "seed", 0),
        (
            {"overrides": (("conv", "grid nonsense"), ("head", "invariant"))},
            "overrides",
            (("head", "invariant"),),
        ),
    ],
)
def test_what_cannot_be_is_mended(given_: dict[str, Any], field: str, mended: object) -> None:
    assert getattr(fixed(**given_), field) == mended


def test_while_the_layers_are_not_known_they_are_believed() -> None:
    state = State(sample="digit-3", layer="conv9", channel=500, pixel=(400, 3))
    assert resolve(state, CATALOGUE) == state


numbers = st.floats() | st.sampled_from([math.nan, math.inf, 1e308])
states = st.builds(
    State,
    model=st.sampled_from(["d4-cnn", "gcn", "?"]),
    params=st.lists(st.tuples(st.sampled_from(["depth", "width", "x"]), numbers), max_size=3).map(tuple),
    compare=st.sampled_from(["", "d4-cnn", "gcn", "plain-cnn"]),
    steps=st.lists(
        st.builds(Step, st.sampled_from([*transforms(), "fly"]), st.lists(numbers, max_size=4).map(tuple)),
        max_size=4,
    ).map(tuple),
    layer=st.sampled_from(["", "conv", "head", "x"]),
    channel=st.none() | st.integers(),
    pixel=st.none() | st.tuples(st.integers(), st.integers()),
    orbit=st.sampled_from([*transforms(), ""]),
    device=st.text(max_size=4),
    dtype=st.text(max_size=4),
    seed=st.integers(),
    overrides=st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["invariant", "?"])), max_size=4).map(tuple),
)


@given(states)
def test_what_is_resolved_can_be_used_and_stays(state: State) -> None:
    once = resolve(state, CATALOGUE, LAYERS)
    assert resolve(once, CATALOGUE, LAYERS) == once
    chain_element(once.steps)
    assert once.command()


# ---- random elements


@pytest.mark.parametrize("size", [(29, 29), (1, 1), (3, 200)])
def test_random_exact_elements_are_exact_and_never_nothing(size: tuple[int, int]) -> None:
    from explorer.spaces.grid.fields import grid

    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(200):
        steps = random_steps(rng, size, "grid")
        element = chain_element(steps)
        assert steps and not element.identity
        assert element.exact(grid(), (1, 1, *size))
        seen.add(tuple(step.name for step in steps))
    assert len(seen) >= 6, "rotations, mirrors and shifts, alone and together"


def test_random_elements_of_any_angle() -> None:
    rng = np.random.default_rng(0)
    angles = {
        s.values[0] for _ in range(50) for s in random_steps(rng, (29, 29), "grid", exact=False) if s.name == "rotate"
    }
    assert len(angles) > 40 and any(angle % 90 for angle in angles)


def test_random_elements_keep_the_boundary() -> None:
    state = State(steps=parse_chain("translate:1,1,zero"))
    rng = np.random.default_rng(0)
    steps = [s for _ in range(50) for s in random_steps(rng, (29, 29), "grid", state=state) if s.name == "translate"]
    assert steps and all(s.values[2] == 1.0 for s in steps)


def test_no_transforms_no_element() -> None:
    assert random_steps(np.random.default_rng(0), (29, 29), domain="nowhere") == ()


def test_on_graphs_a_third_model_finds_room_and_on_images_a_second_alone() -> None:
    graphs = Catalogue(
        models=(*CATALOGUE.models, *(model(name, "graph") for name in ("gat", "mpnn", "gin"))),
        samples=CATALOGUE.samples, devices=("cpu",), versions=(), extensions=(),
    )  # fmt: skip
    assert resolve(State(model="gcn", compare="gat,mpnn"), graphs).compared == ("gat", "mpnn")
    assert resolve(State(model="gcn", compare="gat,mpnn,gin"), graphs).compared == ("gat", "mpnn")
    assert resolve(State(model="gcn", compare="gat,gcn,d4-cnn,gat"), graphs).compared == ("gat",)
    assert resolve(State(model="d4-cnn", compare="plain-cnn,net.py:Net"), graphs).compared == ("plain-cnn",)


def test_a_truncation_is_at_least_one_step() -> None:
    assert [fixed(truncate=k).truncate for k in (None, -3, 0, 1, 40)] == [None, None, None, 1, 40]
