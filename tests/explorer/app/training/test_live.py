"""A training steered by lines: what a person changes while it runs is restored, forgotten and recorded step by step."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
import torch
from safetensors import safe_open
from torch import nn

from explorer.app.command.doors import BadInput
from explorer.app.training.driving import Drive
from explorer.app.training.live import Live
from explorer.app.training.settings import Settings, Steered
from explorer.app.training.telling import TimeLeft
from explorer.declare.card import Card
from explorer.work.progress import Cancelled
from explorer.work.training.course import Course
from tests.explorer.app.training.test_from_command_line import CARDS, learn
from tests.explorer.parts.small_cards import card

Script = dict[int, list[dict[str, Any]]]
Trained = tuple[torch.Tensor, dict[str, str], list[Any]]
PLAIN = Settings(1.0, "", 0)


def noisy(epochs: int | None = None, seed: int = 0, progress: Any = None) -> tuple[nn.Module, dict[str, float]]:
    """Learn with noise from torch's own generator, which everybody may draw from."""
    torch.manual_seed(seed)
    with torch.inference_mode(False), torch.enable_grad():
        network = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
        course = Course(
            network, optimizer, None, torch.default_generator, epochs=3, examples=8, batch=2,
            judge=lambda _: {"drawn": torch.rand(1).item()},
        )  # fmt: skip
        for rows in course:
            course.learn((network(torch.randn(len(rows), 2)) - 1).square().mean())
    return network.eval(), {}


def lost(epochs: int | None = None, seed: int = 0, progress: Any = None) -> tuple[nn.Module, dict[str, float]]:
    """Learn so that the loss is no number wherever the weight is large: what is kept then is finite, and lost."""
    with torch.inference_mode(False), torch.enable_grad():
        network = nn.Linear(2, 1)
        nn.init.zeros_(network.weight)
        optimizer = torch.optim.SGD(network.parameters(), lr=1.0)
        course = Course(network, optimizer, epochs=1, steps=12)
        for _ in course:
            gone = float("nan") if float(network.weight.detach().abs().max()) > 1e6 else 1.0
            course.learn(gone * network.weight.sum())
    return network.eval(), {}


def unjudged(epochs: int | None = None, seed: int = 0, progress: Any = None) -> tuple[nn.Module, dict[str, float]]:
    """Learn, and fail when all is learned."""
    noisy()
    raise RuntimeError("linalg.svd: The algorithm failed to converge.\nMore of it.")


class Scripted(Live):
    """Does at the given steps what it is told to, once each, and keeps every step."""

    script: Script

    def stepped(self, drive: Drive) -> None:
        self.keeper.keep(drive)
        super().stepped(drive)

    def _heed(self, drive: Drive) -> None:
        for wish in self.script.pop(drive.step.step, []):
            if wish["do"] == "cut":
                raise Cancelled  # as a kill, which nobody has time to answer
            self._do(drive, wish)
        self._paused = False


@pytest.fixture
def trained(tmp_path: Path) -> Callable[..., Trained]:
    def run(
        script: Script, model: Card = CARDS["course"], resume: bool = False, rate: float = 1.0, loss: str = ""
    ) -> Trained:
        args = argparse.Namespace(
            live=str(tmp_path), epochs=3, seed=0, rate=rate, steps=None, loss=loss, errors=0, transform="",
            resume=resume,
        )  # fmt: skip
        said: list[Any] = []
        path = tmp_path / "w.safetensors"
        live = Scripted(model, args, path, SimpleQueue(), said.append)
        live.script = script
        live.run()
        with safe_open(path, "pt") as file:
            return file.get_tensor("weight"), file.metadata(), said

    return run


def do(what: str, value: object = None, **more: object) -> dict[str, Any]:
    return {"do": what, "value": value, **more}


def test_what_was_changed_is_recorded_and_a_training_left_alone_says_nothing(trained: Any) -> None:
    _, metadata, _ = trained({})
    assert "changes" not in metadata
    script = {5: [do("seed", 7)], 9: [do("loss", "absolute error"), do("rate", 0.5)], 12: [do("seed", 7)]}
    _, metadata, said = trained(script)
    assert metadata["changes"] == (
        "after 5 steps: seed 7; after 9 steps: rate 0.5, loss absolute error; after 12 steps: seed 7"
    )
    assert next(line["now"] for line in said if "now" in line) == {"loss": "squared error", "seed": 7, "drawn": 5}
    heard = [line for line in said if "steps" in line][-1]
    assert heard["changes"] == metadata["changes"], "the window hears of it"
    assert [over for over, _ in heard["turns"]] == [5, 9, 12]


def test_what_a_training_was_started_with_is_recorded(trained: Any) -> None:
    """The weights said that the rate had been changed, and not from which; of the loss they said nothing."""
    _, metadata, _ = trained({4: [do("rate", 0.25)]}, rate=0.5, loss="absolute error")
    assert (metadata["rate"], metadata["loss"]) == ("0.5", "absolute error")
    assert metadata["changes"] == "after 4 steps: rate 0.25"
    _, metadata, _ = trained({})
    assert not {"rate", "loss"} & set(metadata), "those of the recipe"


def test_the_time_that_is_left_counts_no_pause(trained: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pause of a minute was taken for a step that lasts a minute: hours were left."""
    now = [0.0]
    monkeypatch.setattr("explorer.app.training.telling.time.monotonic", lambda: now[0])
    left = TimeLeft()
    assert left.seconds(0, 100) is None
    now[0] = 1.0
    assert left.seconds(10, 100) == pytest.approx(9.0)
    now[0] = 61.0
    left.rest()
    assert left.seconds(11, 100) == pytest.approx(8.9), "what was known before"
    now[0] = 62.0
    assert left.seconds(21, 100) == pytest.approx(7.9)


def test_a_training_that_stands_rests(trained: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rested: list[int] = []
    monkeypatch.setattr(TimeLeft, "rest", lambda _: rested.append(1))
    trained({5: [do("pause"), do("play")]})
    assert rested


def test_going_back_restores_seed_and_loss_and_what_followed_leaves_no_trace(trained: Any) -> None:
    plain, _, _ = trained({})
    script = {5: [do("seed", 7), do("loss", "absolute error")], 9: [do("back", step=3)]}
    found, metadata, said = trained(script)
    (back,) = [line for line in said if "back" in line]
    assert back["now"] == {"loss": "squared error", "seed": 0, "drawn": None}
    assert torch.equal(found, plain) and "changes" not in metadata
    kept, metadata, _ = trained({5: [do("seed", 7)], 9: [do("back", step=6)]})
    assert not torch.equal(kept, plain) and metadata["changes"] == "after 5 steps: seed 7"
    again, metadata, _ = trained({9: [do("back", step=0), do("seed", 7)]})
    assert not torch.equal(again, plain) and metadata["changes"] == "after 0 steps: seed 7"


def test_the_settings_of_a_step_are_those_that_it_was_made_with() -> None:
    steered = Steered(PLAIN)
    other = Settings(1.0, "", 7, 4)
    for step in range(1, 9):
        steered.made(step, other if step > 4 else PLAIN)
    assert [steered.at(step) == other for step in (0, 4, 5, 8)] == [False, False, True, True]
    steered.cut(5)
    assert steered.at(8) == other
    steered.cut(4)
    assert steered.at(8) == PLAIN and steered.words == ""


def test_looks_and_ways_back_change_nothing_of_a_training_that_draws_from_torch_itself(
    trained: Any,
) -> None:
    plain = noisy()[0].get_parameter("weight")
    model = card("noisy", lambda: nn.Linear(2, 1), train=noisy)  # to build it draws as well
    looked, _, _ = trained({}, model)
    back, _, said = trained({5: [do("back", step=0)]}, model)
    assert torch.equal(looked, plain) and torch.equal(back, plain)
    assert any("live" in line for line in said) and any("back" in line for line in said)


def test_a_state_from_which_the_loss_is_lost_at_once_is_not_gone_back_to_twice(trained: Any) -> None:
    model = card("lost", lambda: nn.Linear(2, 1), train=lost)
    script = {5: [do("rate", 1e7)], 6: [do("rate", 1.0)]}
    weight, _, said = trained(script, model)
    stood = [line["back"] for line in said if "trouble" in line]
    assert stood == [6, 5], "of step 6 every number is one, and the next loss is none again"
    assert weight.tolist() == [[-12.0, -12.0]]


def hungry(step: int) -> Card:
    """Run out of memory at a step, once: then somebody has made room."""
    fails = [step]

    def train(**asked: Any) -> Any:
        return learn(fails=fails.pop() if fails else None, **asked)

    return card("hungry", lambda: nn.Linear(2, 1), train=train)


def test_where_memory_runs_out_it_stands_at_the_last_kept_step_and_goes_on_to_the_same_weights(trained: Any) -> None:
    found, metadata, said = trained({}, hungry(12))
    (stood,) = [line for line in said if "trouble" in line]
    assert stood["trouble"] == (
        "Memory has run out after step 12, while hungry was trained. "
        "It stands at step 12 again, the last kept one before it."
    )
    assert stood["back"] == 12 and stood["kept"][-1] == 12
    assert sum("began" in line for line in said) == 1
    plain, _, _ = trained({})
    assert torch.equal(found, plain) and "changes" not in metadata


def test_what_was_changed_outlives_a_lack_of_memory(trained: Any) -> None:
    script = {5: [do("seed", 7)], 9: [do("loss", "absolute error"), do("rate", 0.5)]}
    found, metadata, said = trained(dict(script), hungry(12))
    assert [line["back"] for line in said if "trouble" in line] == [12]
    plain, told, _ = trained(dict(script))
    assert torch.equal(found, plain) and metadata["changes"] == told["changes"]


def test_no_room_even_to_go_on_ends_it_and_the_network_is_written(trained: Any, tmp_path: Path) -> None:
    def never(**asked: Any) -> Any:
        begun.append(1)
        if len(begun) > 1:
            raise MemoryError
        return learn(fails=12, **asked)

    begun: list[int] = []
    with pytest.raises(
        BadInput, match=r"memory has run out while hungry was trained; .* is written to .*w\.safetensors"
    ):
        trained({}, card("hungry", lambda: nn.Linear(2, 1), train=never))
    assert len(begun) == 2
    with safe_open(tmp_path / "w.safetensors", "pt") as file:
        assert file.metadata()["model"] == "hungry" and file.get_tensor("weight").shape == (1, 2)


def test_a_network_that_cannot_be_judged_is_written_all_the_same(trained: Any) -> None:
    weight, metadata, said = trained({}, card("unjudged", lambda: nn.Linear(2, 1), train=unjudged))
    assert torch.equal(weight, noisy()[0].get_parameter("weight")) and set(metadata) == {"model", "seed"}
    sentence = "the trained network could not be judged: linalg.svd: The algorithm failed to converge"
    assert {"refused": sentence} in said and said[-1]["figures"] == {}


def test_what_was_cut_off_goes_on_from_the_last_kept_step_to_the_same_weights(trained: Any) -> None:
    """A training of the window that was killed was lost, though its steps were kept."""
    with pytest.raises(Cancelled):
        trained({3: [do("rate", 0.5)], 7: [do("seed", 5)], 9: [do("cut")]})
    again, record, heard = trained({}, resume=True)
    weight, told, _ = trained({3: [do("rate", 0.5)], 7: [do("seed", 5)]})
    assert next(line["back"] for line in heard if "back" in line) == 9
    assert torch.equal(again, weight) and record == told and "rate 0.5" in told["changes"]
