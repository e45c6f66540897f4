"""Reports of one square: the wanted layers, copies of what was captured, the hash of the parameters."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.network.opening.refusals import ModelError
from explorer.state.state import State
from tests.explorer.parts.small_cards import CARDS, symmetric_net


@pytest.fixture(scope="module")
def engine() -> Iterator[LocalEngine]:
    made = LocalEngine(CARDS)
    yield made
    made.close()


def test_a_capture_is_a_copy(engine: LocalEngine) -> None:
    state = State("fine", sample="digit-3", steps=parse_chain("rotate:90"))
    report, found = engine.report(state, "2, 5,2")
    assert set(found) == {"2", "2@base", "5", "5@base", "input", "input@base"}
    assert [row["name"] for row in report["layers"]] == ["2", "5"]
    found["2@base"].zero_()
    assert engine.prepared(state, "fine").values["2"].any()
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    assert report["model_hash"] and report["exact"] and len(report["output"]) == 10


@pytest.mark.parametrize("layers", ["", "2,,5", "nope", "all,2"])
def test_a_layer_that_is_not_there_is_told(engine: LocalEngine, layers: str) -> None:
    with pytest.raises(ModelError, match="fine has no layer"):
        engine.report(State("fine", sample="digit-3"), layers)


def test_the_hash_is_that_of_the_parameters(engine: LocalEngine) -> None:
    first, _ = engine.report(State("fine", sample="digit-3"), "0")
    again, _ = engine.report(State("modest", sample="digit-1"), "0")
    other, _ = engine.report(State("faulty", sample="digit-3"), "0")
    assert first["model_hash"] == again["model_hash"] != other["model_hash"]
    assert symmetric_net().state_dict().keys() == engine.prepared(State("fine"), "fine").model.state_dict().keys()
