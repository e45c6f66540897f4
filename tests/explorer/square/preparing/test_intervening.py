"""Interventions in an epoch: both sides of the square, what follows of them, and what a person is told."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from explorer.app.answering.engine import LocalEngine
from explorer.app.answering.experiments import tried
from explorer.app.command.audit import audit
from explorer.app.command.report import capture_report
from explorer.declare.elements import parse_chain
from explorer.declare.states.interventions import parse_interventions
from explorer.network.tracing.layers import LayerError
from explorer.square.analyses.outcome import Outcome
from explorer.state.catalogue import Busy
from explorer.state.session import load_session, save_session
from explorer.state.state import State
from explorer.work import progress
from tests.explorer.parts.answering import complete

NETWORK = """
import torch
from torch import nn

def averaged(w):
    w = torch.stack([torch.rot90(w, k, (-2, -1)) for k in range(4)]).mean(0)
    return (w + w.flip(-1)) / 2

class Even(nn.Conv2d):
    def forward(self, x):
        return self._conv_forward(x, averaged(self.weight), self.bias)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.one = Even(1, 4, 3, padding=1)
        self.two = nn.Conv2d(4, 4, 3, padding=1)
        self.three = Even(4, 4, 3, padding=1)
        self.four = Even(4, 2, 3, padding=1)

    def forward(self, x):
        x = torch.relu(self.one(x))
        x = torch.relu(self.two(x))
        return self.four(torch.relu(self.three(x)))

def net():
    return Net()
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("net") / "faulty.py"
    path.write_text(NETWORK)
    return f"{path}:net"


@pytest.fixture
def engine() -> Iterator[LocalEngine]:
    made = LocalEngine({}, trust=True)
    yield made
    made.close()


def state(file: str, *texts: str, chain: str = "rotate:90", dtype: str = "float64") -> State:
    return State(
        file, sample="random:1x1x9x9", steps=parse_chain(chain), device="cpu", dtype=dtype,
        interventions=parse_interventions(texts),
    )  # fmt: skip


def hooks_on(model: nn.Module) -> int:
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())


def test_a_zeroed_layer_is_measured_as_the_changed_network(engine: LocalEngine, file: str) -> None:
    square = complete(engine, state(file, "two:zero")).squares[0]
    assert square.interventions == parse_interventions(["two:zero"])
    # the fault is made in the layer that is zero now; and behind it nothing depends on the data any more
    assert square.verdict == "no law" and not square.guilty
    assert complete(engine, state(file)).squares[0].guilty == ("two",)
    assert square.changes["one"].on_x == 0.0
    assert square.changes["two"].on_x == square.changes["two"].on_gx == 1.0
    assert 0 < square.changes["four"].on_x < 2


def test_everything_frozen_gives_the_moved_input_the_answer_of_the_unmoved(engine: LocalEngine, file: str) -> None:
    names = ("one", "two", "three", "four")
    wanted = state(file, *(f"{name}:freeze" for name in names))
    p = engine.prepared(wanted, file)
    with torch.no_grad():
        answers = p.run(p.inputs.with_x(torch.rot90(p.x, 1, (-2, -1))))
    assert all(torch.equal(answers[name], p.values[name]) for name in names)
    square = complete(engine, wanted).squares[0]
    assert [square.changes[name].on_x for name in names] == [0.0] * 4
    assert min(square.changes[name].on_gx for name in names) > 0.01
    assert square.verdict == "broken"


def test_a_rectangle_under_a_quarter_turn(engine: LocalEngine, file: str) -> None:
    """Its layers have other sizes there: a part is changed all the same, and what cannot be frozen is told."""
    wide = {"sample": "random:1x1x12x9", "steps": parse_chain("rotate:90"), "orbit": "rotate"}
    zeroed = replace(state(file, "one[3]:zero"), **wide)  # type: ignore[arg-type]
    square = complete(engine, zeroed).squares[0]
    assert square.changes["one"].on_x > 0 and square.changes["four"].on_gx > 0 and square.verdict == "broken"
    assert list(engine.orbit(zeroed))[-1].errors["four"].max() > 0
    frozen = replace(state(file, "one:freeze"), **wide)  # type: ignore[arg-type]
    with pytest.raises(LayerError, match=r"^one cannot be frozen here: it gives 1×4×9×12 on this input"):
        complete(engine, frozen)


def test_the_unmoved_side_of_a_frozen_layer_is_as_it_was(engine: LocalEngine, file: str) -> None:
    wanted = state(file, "three:freeze")
    with_it, without = engine.prepared(wanted, file), engine.prepared(replace(wanted, interventions=()), file)
    assert with_it.base is without
    assert all(torch.equal(with_it.values[n], without.values[n]) for n in without.values)


def test_a_layer_is_replaced_by_what_it_gives_another_input(engine: LocalEngine, file: str) -> None:
    p = engine.prepared(state(file, "two:replace"), file)
    assert p.base is not None
    assert not torch.equal(p.values["two"], p.base.values["two"])
    assert torch.equal(p.values["one"], p.base.values["one"])
    assert torch.equal(p.run(p.inputs.with_x(p.x + 1))["two"], p.values["two"])
    with pytest.raises(ValueError, match="gives two the size"):
        engine.prepared(state(file, "two:replace=random:1x1x8x8"), file)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("twoo:zero", r"no layer 'twoo'; did you mean 'two'"),
        ("nothing_like_it:zero", "it has: one, two, three, four"),
        ("two[9]:zero", "no channel 9; there are 0 to 3"),
        ("two:symmetrise=wights", "did you mean 'weights'"),
        ("two:symmetrise=weights,Q8", "unknown group"),
        ("two:symmetrise=positions", "no table of positions"),
        ("two[node 1]:zero", "no node; its parts are channel, head, grid or place"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(engine: LocalEngine, file: str, text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as error:
        engine.prepared(state(file, text), file)
    assert "\n" not in str(error.value)


def test_the_network_that_others_get_has_no_hooks(engine: LocalEngine, file: str) -> None:
    wanted = state(file, "two[1]:zero", "three:symmetrise=weights,D4")
    weights = [p.clone() for p in engine.network(wanted, file).parameters()]
    complete(engine, wanted)
    plain = engine.network(wanted, file)
    assert hooks_on(plain) == 0
    assert all(torch.equal(a, b) for a, b in zip(weights, plain.parameters(), strict=True))
    assert hooks_on(engine.prepared(replace(wanted, interventions=()), file).model) == 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("way", ["weights", "average", ""])
def test_the_law_comes_back_with_the_faulty_layer_made_symmetric(
    engine: LocalEngine, file: str, way: str, dtype: str
) -> None:
    text = f"two:symmetrise={way},D4" if way else "two:symmetrise"
    square = complete(engine, state(file, text, dtype=dtype)).squares[0]
    assert square.verdict == "holds"
    most = max(m.cumulative for m in square.measures.values() if m.cumulative is not None)
    assert most < (1e-12 if dtype == "float64" else 1e-5)


def test_a_further_change_does_not_wait_for_the_search_for_symmetric_weights_again(
    engine: LocalEngine, file: str
) -> None:
    found = engine.prepared(state(file, "two:symmetrise=weights,D4"), file).model.two.weight
    told: list[str] = []
    with progress.listening(lambda text, _: told.append(text)):
        p = engine.prepared(state(file, "two:symmetrise=weights,D4", "two[1]:zero"), file)
    assert torch.equal(p.model.two.weight, found)
    assert not [text for text in told if "two" in text]
    # another layer made symmetric before it is another network
    with progress.listening(lambda text, _: told.append(text)):
        engine.prepared(state(file, "one:symmetrise=weights,C4", "two:symmetrise=weights,D4"), file)
    assert [text for text in told if "two" in text]


def test_an_orbit_runs_through_the_changed_network(engine: LocalEngine, file: str) -> None:
    wanted = replace(state(file, "two:freeze", "three[0]:zero"), orbit="rotate")
    *_, last = engine.orbit(wanted)
    assert (last.errors["two"][last.exact] > 0.1).sum() >= 3
    assert math.isfinite(last.errors["four"].max())


# experiments --------------------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_each_experiment_says_what_it_would_do(engine: LocalEngine, file: str) -> None:
    wanted = state(file)
    reports = audit(engine, wanted, "D4", "float64", None, {})
    found = {one.intervention: one for one in tried(engine, wanted, reports, "float64", {})}
    weights = found["two:symmetrise=weights,D4"]
    assert weights.mended
    assert weights.verdict == "holds"
    assert weights.was is not None and weights.was > 1e-3
    assert weights.now is not None and weights.now < 1e-12
    assert weights.sentence.startswith("with two symmetrised the law holds at the output (")
    padding = found["two:symmetrise=padding,D4"]
    assert not padding.mended
    assert padding.sentence.startswith("the law still fails in two (")
    assert found["two:symmetrise=positions,D4"].sentence.startswith("not tried: no table of positions")


@pytest.mark.slow
def test_the_window_gets_proposals_a_part_at_a_time(engine: LocalEngine, file: str) -> None:
    *parts, last = engine.proposals(state(file), "two")
    assert len(parts) > 2
    assert any(isinstance(part, Busy) for part in parts)
    shown = [part for part in parts if not isinstance(part, Busy)]
    assert isinstance(last, tuple) and all(set(part) <= set(last) for part in shown), "what was shown stays"
    assert {one.layer for one in last} == {"two"}
    assert any(one.mended for one in last)


def test_a_second_faulty_layer_is_named_next() -> None:
    one = Outcome("a:symmetrise", "a", "D4", "", "", verdict="broken", guilty=("b",), was=0.2, now=0.1, mended=True)
    assert one.sentence == (
        "with a symmetrised the law is still broken at the output (0.1; it was 0.2): the next guilty layer is b"
    )


def test_a_check_is_made_of_the_changed_network_and_says_so(engine: LocalEngine, file: str) -> None:
    report = audit(engine, state(file, "two:symmetrise=weights,D4"), "D4", "float64", None, {})[0]
    assert report.verdict == "holds"
    report = audit(engine, state(file, "two:zero"), "D4", "float64", None, {})[0]
    assert report.verdict == "no law"  # an answer that is the same for all data
    assert any("the network was intervened in: two set to zero" in said for said in report.warnings)
    with pytest.raises(ValueError, match="several inputs"):
        audit(engine, state(file, "two:freeze"), "D4", "float64", None, {})


def test_the_report_of_a_run_has_what_follows(engine: LocalEngine, file: str) -> None:
    wanted = state(file, "two[1]:zero")
    p = engine.prepared(wanted, file)
    report, _ = capture_report(p, engine.sample(wanted, p.card), wanted)
    assert report["interventions"] == ["two[1]:zero"]
    assert report["changes"]["one"] == [0.0, 0.0]
    assert report["changes"]["four"][0] > 0
    plain, _ = capture_report(engine.prepared(state(file), file), engine.sample(wanted, p.card), state(file))
    assert plain["interventions"] == []
    assert plain["changes"] == {}


# the state ----------------------------------------------------------------------------------------------------------
def test_interventions_are_saved_and_copied_as_a_command(tmp_path: Path, file: str) -> None:
    wanted = state(file, "two[1]:scale=0.5", "three:symmetrise=weights,D4")
    save_session(tmp_path / "s.json", wanted)
    assert load_session(tmp_path / "s.json").state == wanted
    assert "--intervene 'two[1]:scale=0.5' --intervene three:symmetrise=weights,D4" in wanted.command()
    assert wanted.epoch != replace(wanted, interventions=()).epoch


def test_a_session_with_a_wrong_intervention_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    for value, said in (('["conv2:zap"]', "there is no 'zap'"), ('"conv2:zero"', "must be a list of texts")):
        path.write_text(f'{{"equiscope": 1, "state": {{"interventions": {value}}}}}')
        with pytest.raises(ValueError, match=said):
            load_session(path)
