"""The command that is copied opens the window on the same State, whichever field differs from its default."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from explorer.app.command import cli
from explorer.app.command.doors import Doors
from explorer.declare.elements import parse_chain
from explorer.declare.states.interventions import parse_interventions
from explorer.state.state import State
from explorer.work.files.places import COMMAND
from tests.explorer.parts.small_cards import CARDS

OTHER: dict[str, Any] = {
    "model": "faulty",
    "params": (("gain", 2.0),),
    "compare": "faulty",
    "sample": "random:1x1x9x9",
    "steps": parse_chain("rotate:90+translate:1,2"),
    "layer": "2",
    "channel": 0,
    "pixel": (3, 0),
    "node": 0,
    "other": 4,
    "untransform": True,
    "truncate": 5,
    "gradient": "norm",
    "orbit": "translate",
    "device": "cpu",
    "dtype": "float64",
    "seed": 7,
    "overrides": (("0", "grid scalar"), ("2", "invariant")),
    "interventions": parse_interventions(["2:zero", "0[1]:scale=0.5"]),
    "saliency": "gradient:3",
    "watched": ("0", "2"),
    "against": "sample=digit-5",
    "laws": True,
    "latent": "tsne@0.5,1>3",
}


def opened(words: list[str]) -> State:
    """Return the State that a command line opens the window on."""
    found: list[State] = []

    def window(start: Callable[[], object], state: State, args: Namespace) -> int:
        found.append(state)
        return 0

    def none(*_: object) -> Any:
        raise AssertionError("only the window is opened")

    cards = {**CARDS, State().model: CARDS["fine"]}
    assert cli.main(words, Doors(lambda: cards, window, none, none, none, none, "main")) == 0
    return found[0]


def test_every_field_is_tried() -> None:
    assert set(OTHER) == {f.name for f in fields(State)}
    assert all(value != getattr(State(), name) for name, value in OTHER.items())


@pytest.mark.parametrize("name", [name for name in OTHER if name != "params"])
def test_a_command_opens_the_same(name: str) -> None:
    state = replace(State("fine", sample="digit-3", steps=parse_chain("rotate:90")), **{name: OTHER[name]})
    words = shlex.split(state.command())
    assert words[: len(COMMAND)] == list(COMMAND)
    assert opened(words[len(COMMAND) :]) == state


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--gradient", "much"], "neither norm nor the number"),
        (["--pixel", "3"], "not ROW,COLUMN"),
        (["--channel", "-1"], "--channel"),
        (["--field", "conv"], "not LAYER=FIELD"),
    ],
)
def test_what_is_wrong_is_said(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    cards = {**CARDS, State().model: CARDS["fine"]}
    doors = Doors(lambda: cards, *[lambda *_: 0] * 5, "main")  # type: ignore[arg-type, misc]
    assert cli.main(["--model", "fine", *words], doors) == 2
    assert said in capsys.readouterr().err
