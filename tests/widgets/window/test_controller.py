"""The controller: wishes become states, states become requests, answers become signals. No window needed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtTest import QSignalSpy
from pytestqt.qtbot import QtBot

from explorer.declare.elements import chain_element, chain_text, parse_chain
from explorer.square.frame import Failure
from explorer.state.catalogue import Busy
from explorer.state.session import save_session
from explorer.state.state import State
from tests.widgets.parts.frames.fake_engine import FakeEngine
from widgets.base.view import Wish
from widgets.window.controller import Controller


class Bench:
    """A controller with a fake engine and everything it said."""

    def __init__(self, qtbot: QtBot, state: State, start: Callable[[], Any] | None = None) -> None:
        self.qtbot = qtbot
        self.engine = FakeEngine()
        self.c = Controller(start or (lambda: self.engine), state)
        self.said: dict[str, list[Any]] = {}
        for name in ("frame_ready", "orbit_ready", "catalogue_ready", "failed", "busy", "engine_lost", "played"):
            self.said[name] = []
            getattr(self.c, name).connect(self.said[name].append)
        self.log: list[tuple[str, str]] = []
        self.c.log.connect(lambda level, text: self.log.append((level, text)))
        self.changes: list[tuple[State, State]] = []
        self.c.state_changed.connect(lambda old, new: self.changes.append((old, new)))

    def until(self, condition: Callable[[], Any]) -> None:
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=5000)

    def settle(self) -> None:
        """Wait for the answer to the newest state."""
        self.until(lambda: self.c.frame is not None and not self.c.waiting)

    def begin(self) -> None:
        self.c.begin()
        self.settle()


@pytest.fixture
def fresh(qtbot: QtBot) -> Iterator[Bench]:
    bench = Bench(qtbot, State(sample="digit-3"))
    yield bench
    bench.engine.gate.set()
    assert bench.c.close()


@pytest.fixture
def bench(fresh: Bench) -> Bench:
    fresh.begin()
    return fresh


# ---- starting


def test_the_first_frame_comes_of_itself(fresh: Bench) -> None:
    fresh.begin()
    assert fresh.said["catalogue_ready"][0].devices == ("cpu", "cuda:0")
    assert fresh.said["frame_ready"][0].state == State(sample="digit-3")
    assert ("info", "ready: 4 models, 3 samples; torch 2.13.0, numpy 2.4.6") in fresh.log
    assert not fresh.c.can_undo


def test_what_the_program_was_started_with_is_resolved_and_not_undone(qtbot: QtBot) -> None:
    bench = Bench(qtbot, State(sample="", device="cuda:7", orbit="fly"))
    bench.begin()
    assert (bench.c.state.sample, bench.c.state.device, bench.c.state.orbit) == ("digit-3", "auto", "rotate")
    assert not bench.c.can_undo
    assert bench.c.close()


def test_changes_made_while_loading_are_kept(fresh: Bench) -> None:
    fresh.c.grant(Wish(step=("rotate", (45.0,))))
    fresh.begin()
    assert chain_text(fresh.c.state.steps) == "rotate:45"
    assert [state.steps for state in fresh.engine.asked] == [fresh.c.state.steps]


def test_an_engine_that_does_not_start(qtbot: QtBot) -> None:
    def start() -> Any:
        raise ImportError("No module named 'torch'")

    bench = Bench(qtbot, State(), start)
    bench.c.begin()
    bench.until(lambda: bench.said["engine_lost"])
    assert "No module named 'torch'" in bench.said["engine_lost"][0].sentence
    assert [level for level, _ in bench.log] == ["error", "detail"]
    assert bench.c.close()


def test_what_is_noted_of_a_network_is_logged_once(fresh: Bench) -> None:
    fresh.engine.notes = ("gcn.safetensors fits 2 of 6 tensors",)
    fresh.begin()
    fresh.c.grant(Wish(step=("rotate", (30.0,))))
    fresh.settle()
    assert [line for line in fresh.log if line[0] == "warning"] == [("warning", fresh.engine.notes[0])]


# ---- wishes


def test_a_wish_is_granted_and_answered(bench: Bench) -> None:
    bench.c.grant(Wish(changes={"layer": "block.conv", "channel": 3}, step=("rotate", (30.0,))))
    bench.settle()
    assert bench.c.frame is not None
    state = bench.c.frame.state
    assert (state.layer, state.channel, chain_text(state.steps)) == ("block.conv", 3, "rotate:30")
    assert bench.changes[-1][1] == state


def test_a_drag_is_one_entry_of_the_history(bench: Bench) -> None:
    for angle in range(1, 40):
        bench.c.grant(Wish(step=("rotate", (float(angle),)), tag="ring"))
    bench.c.grant(Wish(step=("rotate", (40.0,)), tag="ring", done=True))
    bench.c.grant(Wish(step=("rotate", (50.0,)), tag="ring"))
    bench.c.undo()
    assert chain_text(bench.c.state.steps) == "rotate:40"
    bench.c.undo()
    assert bench.c.state.steps == ()
    assert not bench.c.can_undo
    bench.c.redo()
    bench.c.redo()
    assert chain_text(bench.c.state.steps) == "rotate:50"
    bench.settle()
    assert bench.c.frame is not None and bench.c.frame.state == bench.c.state


def test_every_change_is_heard_of_once(bench: Bench) -> None:
    bench.changes.clear()
    bench.c.grant(Wish(changes={"layer": "relu1"}))
    bench.c.grant(Wish(changes={"layer": "relu1"}))  # no change
    bench.c.undo()
    bench.c.undo()  # nothing left
    assert [(old.layer, new.layer) for old, new in bench.changes] == [("", "relu1"), ("relu1", "")]


def test_another_layer_forgets_channel_and_pixel(bench: Bench) -> None:
    bench.c.grant(Wish(changes={"layer": "lift", "channel": 4, "pixel": (2, 3)}))
    bench.c.grant(Wish(changes={"layer": "relu1"}))
    assert (bench.c.state.channel, bench.c.state.pixel) == (None, None)
    bench.c.grant(Wish(changes={"layer": "lift", "channel": 5}))
    assert bench.c.state.channel == 5


def test_another_model_forgets_what_belonged_to_the_first(bench: Bench) -> None:
    bench.c.change(
        {"params": (("depth", 3.0),), "layer": "lift", "overrides": (("lift", "invariant"),), "sample": "digit-7"}
    )
    bench.c.change({"latent": "pca@1.5,-2>7"})
    bench.c.set_model("c4-cnn")
    state = bench.c.state
    assert not state.latent, "a place in the plane of another network's codes"
    assert (state.model, state.params, state.layer, state.overrides) == ("c4-cnn", (), "", ())
    assert state.sample == "digit-7", "the same domain can eat the same sample"


def test_another_domain_brings_its_own_sample_and_drops_the_element(bench: Bench) -> None:
    bench.c.change({"sample": "digit-7", "steps": parse_chain("rotate:90"), "compare": "plain-cnn"})
    bench.c.set_model("gcn")
    assert (bench.c.state.sample, bench.c.state.steps, bench.c.state.compare) == ("digit-3", (), "")


def test_other_weights_leave_a_network_what_it_is(bench: Bench) -> None:
    bench.c.set_model("gcn@other.safetensors")
    bench.settle()
    assert bench.c.domain == "graph" and bench.c.info is None


def test_the_content_of_a_file_brings_a_model_that_can_take_it(bench: Bench, tmp_path: Path) -> None:
    edges = tmp_path / "a.csv"  # a name that a series may have as well
    edges.write_text("source,target\n0,1\n1,2\n")
    bench.c.change({"sample": str(edges)})
    assert (bench.c.state.model, bench.c.state.sample) == ("gcn", str(edges))
    bench.c.change({"sample": f"{edges}#1"})
    assert bench.c.state.model == "gcn", "a part is of the same kind"


def test_the_next_of_several_in_the_data_is_shown_round_and_round(bench: Bench) -> None:
    bench.c.go_on(1)
    assert bench.c.state.sample == "digit-3" and bench.c.pieces == 1
    shown = []
    for by in (1, 1, 1, -1):
        assert bench.c.frame is not None
        bench.c.frame = replace(bench.c.frame, state=bench.c.state, sample_parts=3)
        bench.c.go_on(by)
        shown.append(bench.c.state.sample)
    assert shown == [f"digit-3#{k}" for k in (2, 3, 1, 3)]


def test_what_cannot_be_is_clamped(bench: Bench) -> None:
    bench.c.change({"layer": "nowhere", "channel": 4000})
    assert (bench.c.state.layer, bench.c.state.channel) == ("", 4000), "of an unnamed layer nothing is known"
    bench.c.change({"layer": "lift", "channel": 4000})
    assert bench.c.state.channel is None
    bench.c.set_compare("d4-cnn")
    assert bench.c.state.compare == ""


def test_a_number_that_is_none_is_ignored_and_logged(bench: Bench) -> None:
    before = bench.c.state
    bench.c.grant(Wish(step=("rotate", (float("nan"),))))
    bench.c.grant(Wish(step=("fly", (1.0,))))
    assert bench.c.state == before
    assert [level for level, _ in bench.log].count("warning") == 2


# ---- elements


def test_invert_and_reset(bench: Bench) -> None:
    bench.c.set_steps(parse_chain("rotate:30+translate:4,0"))
    bench.c.invert()
    assert chain_text(bench.c.state.steps) == "translate:-4+rotate:-30"
    bench.c.reset()
    assert bench.c.state.steps == ()
    bench.c.undo()
    bench.c.undo()
    assert chain_text(bench.c.state.steps) == "rotate:30+translate:4"


def test_random_elements(bench: Bench) -> None:
    seen = set()
    for _ in range(20):
        bench.c.randomise()
        seen.add(bench.c.state.steps)
        assert not chain_element(bench.c.state.steps).identity
    assert len(seen) > 5
    bench.c.randomise(exact=False)
    assert bench.c.state.steps


def test_the_same_mirror_twice_is_nothing(bench: Bench) -> None:
    bench.c.apply("reflect")
    assert chain_text(bench.c.state.steps) == "reflect:horizontal"
    bench.c.apply("reflect")
    assert bench.c.state.steps == ()
    bench.c.apply("reflect", (0.0,))
    bench.c.apply("reflect", (1.0,))
    assert len(bench.c.state.steps) == 2
    bench.c.set_steps(())
    bench.c.apply("rotate", (90.0,))
    bench.c.apply("rotate", (90.0,))
    assert len(bench.c.state.steps) == 2, "a quarter turn twice is a half turn"


def test_steps_are_added_to(bench: Bench) -> None:
    bench.c.add_to("rotate", 90.0)
    bench.c.add_to("rotate", 90.0)
    bench.c.add_to("translate", 0.0, -1.0)
    assert chain_text(bench.c.state.steps) == "rotate:180+translate:0,-1"


# ---- answers


def test_of_a_frame_with_more_and_more_measured_the_window_draws_what_is_newest(bench: Bench) -> None:
    bench.engine.refinements = 20
    bench.engine.refined.clear()
    bench.said["frame_ready"].clear()
    bench.c.grant(Wish(step=("rotate", (30.0,))))
    assert bench.engine.refined.wait(5.0), "meanwhile the window does something else"
    bench.until(lambda: bench.c.frame is not None and bench.c.frame.milliseconds == 20.0)
    assert len(bench.said["frame_ready"]) <= 2


def test_a_failure_is_said_and_the_last_frame_stays(bench: Bench) -> None:
    good = bench.c.frame
    bench.engine.error = ValueError("the image is too small for this network")
    bench.c.grant(Wish(step=("rotate", (9.0,))))
    bench.until(lambda: bench.said["failed"])
    assert bench.said["failed"][0].sentence == "the image is too small for this network"
    assert bench.c.frame is good and not bench.c.waiting
    assert any(level == "detail" and "Traceback" in text for level, text in bench.log)


def test_a_frame_of_a_stale_epoch_is_not_shown(bench: Bench) -> None:
    stale = bench.c.frame
    bench.c.change({"seed": 5})
    count = len(bench.said["frame_ready"])
    bench.c.take(stale)  # it was on its way already
    assert len(bench.said["frame_ready"]) == count
    bench.settle()
    assert bench.c.frame is not None and bench.c.frame.state.seed == 5


def test_what_fails_of_a_network_that_is_no_longer_wanted_is_logged_and_not_said(bench: Bench) -> None:
    """Its measures may fail while the next network is awaited, and that was taken for the answer."""
    shown = bench.c.state
    bench.engine.gate.clear()
    bench.c.change({"seed": 5})
    bench.c.take(Failure(shown, "layer trap left"))  # it was on its way already
    assert bench.c.waiting and not bench.said["failed"] and ("error", "layer trap left") in bench.log
    bench.engine.gate.set()
    bench.settle()
    assert bench.c.frame is not None and bench.c.frame.state.seed == 5


def test_slow_answers_are_announced_and_the_word_is_taken_back(bench: Bench) -> None:
    bench.said["busy"].clear()
    bench.engine.gate.clear()
    bench.c.grant(Wish(step=("rotate", (9.0,))))
    bench.until(lambda: bench.said["busy"])
    assert bench.said["busy"] == [Busy("Computing…")]
    bench.engine.gate.set()
    bench.settle()
    bench.until(lambda: bench.said["busy"][-1] == Busy(""))


def test_cancel_gives_up_and_the_next_wish_is_answered(bench: Bench) -> None:
    bench.engine.gate.clear()
    bench.c.grant(Wish(step=("rotate", (9.0,))))
    bench.c.cancel()
    assert not bench.c.waiting
    bench.engine.gate.set()
    bench.c.grant(Wish(step=("rotate", (10.0,))))
    bench.settle()
    assert bench.c.frame is not None and chain_text(bench.c.frame.state.steps) == "rotate:10"


def test_refresh_asks_again(bench: Bench) -> None:
    count = len(bench.engine.asked)
    bench.c.refresh()
    bench.settle()
    assert bench.engine.asked[count:] == [bench.c.state]


# ---- orbit


def complete(bench: Bench) -> Callable[[], bool]:
    return lambda: bool(bench.c.curves) and all(c.done == len(c.values) for c in bench.c.curves)


def test_the_orbit_arrives_in_parts(bench: Bench) -> None:
    bench.until(complete(bench))
    parts = [curves for curves in bench.said["orbit_ready"] if curves]
    assert [curves[0].done for curves in parts] == [36, 72]


def test_with_a_second_model_there_are_two_curves_in_order(bench: Bench) -> None:
    bench.c.set_compare("c4-cnn")
    assert bench.said["orbit_ready"][-1] == (), "those of the epoch before are gone"
    bench.until(lambda: len(bench.c.curves) == 2 and complete(bench)())
    assert [curve.model for curve in bench.said["orbit_ready"][-1]] == ["d4-cnn", "c4-cnn"]


def test_the_orbit_runs_over_what_was_put_in_alone(bench: Bench) -> None:
    c = bench.c
    c.set_steps(parse_chain("translate:5"))
    assert c.state.orbit == "translate", "the curve is that of what moves"
    c.set_steps(parse_chain("translate:5+rotate:90"))
    assert c.state.orbit == "translate", "it stays while that is in use"
    c.change({"orbit": "rotate"})
    c.set_steps(parse_chain("translate:6"))
    assert c.state.orbit == "rotate", "what a person has chosen stays"
    c.set_steps(parse_chain("reflect:horizontal"))
    assert c.state.orbit == "rotate", "a mirror has no curve"
    for _ in range(5):
        c.randomise(exact=False)
        assert c.state.orbit == "rotate", "random elements are compared on one curve"
    c.undo()
    c.change({"orbit": "rotate", "steps": parse_chain("translate:1")})
    assert c.state.orbit == "rotate"


def test_the_orbit_survives_its_own_parameter_and_another_layer(bench: Bench) -> None:
    bench.until(complete(bench))
    count = len(bench.said["orbit_ready"])
    bench.c.grant(Wish(step=("rotate", (33.0,)), changes={"layer": "relu1"}))
    bench.settle()
    assert len(bench.said["orbit_ready"]) == count and complete(bench)()
    bench.c.change({"orbit": "translate"})
    bench.until(lambda: complete(bench)() and bench.c.curves[0].transform == "translate")


def test_playing_goes_round_and_is_one_entry(bench: Bench) -> None:
    bench.c.grant(Wish(step=("rotate", (170.0,))))
    bench.settle()
    bench.c.player.speed = 4.0
    bench.c.player.start()
    assert bench.said["played"] == [True]
    seen: list[float] = []
    bench.c.frame_ready.connect(lambda frame: seen.append(frame.state.step("rotate").values[0]))
    bench.until(lambda: len(seen) > 4)
    bench.c.player.stop()
    assert bench.said["played"] == [True, False]
    assert min(seen) < 0 < max(seen), "beyond 180 degrees comes -180"
    assert all(angle == round(angle) for angle in seen), "multiples of the step, so that exact elements are met"
    bench.settle()
    bench.c.undo()
    assert bench.c.state.step("rotate").values == (170.0,)  # type: ignore[union-attr]


def test_playing_what_is_not_periodic_goes_to_and_fro(bench: Bench) -> None:
    bench.c.change({"orbit": "dilate", "steps": parse_chain("dilate:3.9")})
    player, factors = bench.c.player, []
    player.speed = 4.0
    for _ in range(12):
        bench.c.waiting = False
        player.tick()
        factors.append(bench.c.state.step("dilate").values[0])  # type: ignore[union-attr]
    assert factors[0] > 3.9 and max(factors) == 4.0 and factors[-1] < 3.9


def test_playing_waits_for_the_frame(bench: Bench) -> None:
    bench.engine.gate.clear()
    bench.c.grant(Wish(step=("rotate", (9.0,))))
    before = bench.c.state
    bench.c.player.tick()
    assert bench.c.state == before


def test_a_failure_stops_the_play(bench: Bench) -> None:
    bench.c.player.start()
    bench.engine.error = ValueError("no")
    bench.until(lambda: bench.said["failed"])
    assert not bench.c.player.playing


# ---- opening


def test_a_session_is_opened_as_one_entry(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    save_session(path, State(model="plain-cnn", sample="digit-7", steps=parse_chain("rotate:12.5")), {"title": "A"})
    opened = QSignalSpy(bench.c.session_opened)
    bench.c.open_path(str(path))
    assert opened.count() == 1
    assert (bench.c.state.model, chain_text(bench.c.state.steps)) == ("plain-cnn", "rotate:12.5")
    bench.c.undo()
    assert bench.c.state == State(sample="digit-3")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("bad.json", "{", "bad.json cannot be opened: it is not JSON"),
        ("new.json", json.dumps({"equiscope": 9}), "written by a newer Equiscope"),
        ("weights.xyz", "?", "weights.xyz is of no kind that Equiscope opens: .json, .npy, .png."),
        ("missing.png", None, "missing.png does not exist."),
        ("", None, "is a folder."),
    ],
)
def test_what_cannot_be_opened_is_said(bench: Bench, tmp_path: Path, name: str, content: str | None, said: str) -> None:
    path, before = tmp_path / name, bench.c.state
    if content is not None:
        path.write_text(content)
    bench.c.open_path(str(path))
    bench.until(lambda: bench.said["failed"])
    assert said in bench.said["failed"][0].sentence
    assert bench.c.state == before


def test_data_is_opened_by_its_extension_even_before_the_engine_is_there(fresh: Bench, tmp_path: Path) -> None:
    path = tmp_path / "a b.PNG"
    path.write_bytes(b"")
    fresh.c.open_path(str(path))
    fresh.begin()
    fresh.until(lambda: fresh.c.state.sample == str(path))


def test_the_engine_may_open_more(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    path.write_bytes(b"")
    bench.engine.open = lambda p, state: {"model": "c4-cnn"}  # type: ignore[attr-defined]
    bench.c.open_path(str(path))
    bench.until(lambda: bench.c.state.model == "c4-cnn")


def test_one_off_work(bench: Bench) -> None:
    results: list[object] = []
    bench.c.do(lambda engine: engine is bench.engine, "Looking…", results.append)
    bench.c.do(lambda engine: 1 / 0, "Dividing…", results.append)
    bench.until(lambda: bench.said["failed"])
    assert results == [True]
    assert isinstance(bench.said["failed"][0], Failure)


# ---- closing


def test_closing_while_a_request_runs(bench: Bench) -> None:
    bench.engine.gate.clear()
    bench.c.grant(Wish(step=("rotate", (9.0,))))
    bench.c.player.start()
    assert bench.c.close()
    assert bench.engine.closed
