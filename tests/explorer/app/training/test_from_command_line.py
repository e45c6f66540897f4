"""`train` with what can go wrong: one sentence, and what was reached is there still."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from explorer.app.command import cli
from explorer.app.command.doors import Doors
from explorer.app.training.driving import Drive, Steers
from explorer.work.training.course import Course
from explorer.work.training.ring import NoRoom, Ring
from tests.explorer.app.answering.test_training import LINE
from tests.explorer.parts.small_cards import card

STEPS = 8  # of an epoch


def learn(
    epochs: int | None = None, seed: int = 0, progress: Any = None, examples: int = 16, fails: int | None = None
) -> tuple[nn.Module, Mapping[str, float]]:
    """Fit a line by a course; step number `fails` takes more memory than there is."""
    epochs = 3 if epochs is None else epochs
    with torch.inference_mode(False), torch.enable_grad():
        network = nn.Linear(2, 1)
        with torch.no_grad():
            network.weight.fill_(0.5)
            network.bias.fill_(0.0)
        chance = torch.Generator().manual_seed(seed)
        x = torch.randn(examples, 2, generator=chance)
        optimizer = torch.optim.Adam(network.parameters(), lr=0.1)
        losses = {"squared error": nn.functional.mse_loss, "absolute error": nn.functional.l1_loss}
        course = Course(network, optimizer, None, chance, epochs=epochs, examples=examples, batch=2, losses=losses)
        for rows in course:
            if course.at == fails:
                raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9")
            course.learn(course.loss(network(x[rows]), x[rows].sum(1, keepdim=True)), parts={"half": course_part()})
    return network.eval(), {"error": course.losses["loss"]}


def course_part() -> torch.Tensor:
    return torch.tensor(0.5)


def loop(epochs: int | None = None, seed: int = 0, progress: Any = None) -> tuple[nn.Module, Mapping[str, float]]:
    """Loop without a course; after six steps there is a number that is none."""
    with torch.inference_mode(False), torch.enable_grad():
        network = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
        for step in range(12):
            loss = network(torch.ones(4, 2)).square().mean() * (float("nan") if step == 6 else 1.0)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return network.eval(), {"error": loss.item()}


CARDS = {
    "line": LINE,
    "loop": card("loop", lambda: nn.Linear(2, 1), train=loop),
    "course": card("course", lambda: nn.Linear(2, 1), train=learn),
    "single": card("single", lambda: nn.Linear(2, 1), train=lambda **given: learn(examples=1, **given)),
    "nothing": card("nothing", lambda: nn.Linear(2, 1), train=lambda **given: learn(examples=0, **given)),
    "hungry": card("hungry", lambda: nn.Linear(2, 1), train=lambda **given: learn(fails=12, **given)),
}


@pytest.fixture
def train(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, Path]]:
    def none(*_: Any) -> Any:
        raise AssertionError

    doors = Doors(lambda: CARDS, none, none, none, none, none)

    def call(name: str | Path, *more: object) -> tuple[int, str, Path]:
        out = tmp_path / f"{Path(name).name}.safetensors"
        code = cli.main(["train", str(name), "--out", str(out), *map(str, more)], doors)
        return code, capsys.readouterr().err, out

    return call


def kept(out: Path) -> list[int]:
    return Ring(out.with_name(f"{out.name}.training")).steps


def test_steps_end_it_and_nothing_is_left_but_weights_and_log(train: Any, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    code, _, out = train("course", "--steps", STEPS + 3, "--log", log, "--loss", "absolute error")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert code == 0 and [line["step"] for line in lines[:-1]] == list(range(1, STEPS + 4))
    assert lines[0]["epochs"] == 2 and lines[0]["losses"]["half"] == 0.5  # two epochs hold so many
    assert sorted(tmp_path.iterdir()) == sorted([log, out])
    assert train("line", "--steps", 4)[0] == 0 and (tmp_path / "line.safetensors").exists()  # its own loop


def test_a_module_of_somebody_else_that_cannot_be_asked_is_left_alone(train: Any) -> None:
    class Deaf(nn.Module):
        def named_modules(self, *_: Any, **__: Any) -> Any:
            raise ZeroDivisionError

    deaf = Deaf()
    assert train("line", "--steps", 4)[0] == 0 and isinstance(deaf, nn.Module)


def test_another_loss_or_none(train: Any) -> None:
    code, said, _ = train("course", "--loss", "hinge")
    assert code == 2 and "has no loss 'hinge'; it has squared error, absolute error" in said
    code, said, _ = train("line", "--loss", "hinge")
    assert code == 2 and "one loss" in said


def test_a_set_of_one_example_is_learned(train: Any) -> None:
    code, _, out = train("single", "--epochs", 4)
    assert code == 0 and out.exists()


OWN = """
from torch import nn
from explorer.declare.card import Card
from explorer.spaces.grid.network.form import InputSpec
from tests.explorer.app.training.test_from_command_line import learn

CARD = Card(name="own", title="Own", rows=(), reference="", equation="", summary="", build=lambda: nn.Linear(2, 1),
            input=InputSpec(shape=(1, 1, 2)), train=learn)
"""


def test_a_card_of_ones_own_is_trained_when_it_is_trusted(train: Any, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    code, said, out = train(tmp_path / "own.py")
    assert code == 2 and "add --trust" in said and not out.exists()
    code, said, out = train(tmp_path / "own.py", "--trust")
    assert code == 0 and out.exists(), said


BARE = """
from torch import nn
INPUT_SHAPE = (1, 4, 4)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, 2)
    def forward(self, x):
        return self.fc(x.flatten(1))
"""


def test_a_network_of_ones_own_learns_examples_of_its_file_or_of_another(train: Any, tmp_path: Path) -> None:
    bare, told = tmp_path / "bare.py", tmp_path / "told.py"
    bare.write_text(BARE, encoding="utf-8")
    told.write_text(f"{BARE}\nimport torch\nEXAMPLES = torch.ones(9, 1, 4, 4), torch.arange(9) % 2\n", encoding="utf-8")
    np.savez(tmp_path / "own.npz", x=np.ones((9, 1, 4, 4), np.float32), y=np.arange(9) % 2)
    code, said, _ = train(f"{bare}:Net", "--trust")
    assert code == 2 and "Net in bare.py brings no training: give a file of examples" in said
    code, said, out = train(f"{told}:Net", "--trust", "--epochs", 2)
    assert code == 0 and out.exists(), said
    code, said, other = train(f"{bare}:Net", "--trust", "--epochs", 2, "--examples", tmp_path / "own.npz")
    assert code == 0 and torch.equal(load_file(other)["fc.weight"], load_file(out)["fc.weight"]), said
    first = load_file(out)["fc.weight"]
    for name, more in ((f"{told}:Net", ()), (f"{bare}:Net", ("--examples", tmp_path / "own.npz"))):
        code, said, other = train(name, "--trust", "--steps", 1, "--seed", 5, *more)
        assert code == 0 and (load_file(other)["fc.weight"] - first).abs().max() > 0.05, said  # drawn from the seed
    code, said, _ = train(f"{bare}:Net", "--trust", "--examples", tmp_path / "none.npz")
    assert code == 2 and "there is no file" in said


def test_examples_of_another_file_are_learned_by_the_loss_of_the_network_s_own(train: Any, tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    told = "LOSS = lambda answer, y: (answer.sum(1) - y).square().mean()\nTRAINING = {'epochs': 3, 'batch': 4}\n"
    own.write_text(f"{BARE}\n{told}", encoding="utf-8")
    np.savez(tmp_path / "own.npz", x=np.ones((9, 1, 4, 4), np.float32), y=np.arange(9) % 2)
    code, said, out = train(f"{own}:Net", "--trust", "--examples", tmp_path / "own.npz")
    assert code == 0 and out.exists() and "step 6/6" in said, said


def test_no_example_is_refused(train: Any) -> None:
    code, said, out = train("nothing")
    assert code == 2 and "there is no example to learn from" in said and not out.exists()


def test_no_memory_is_a_sentence_and_what_was_reached_is_kept(train: Any) -> None:
    code, said, out = train("hungry", "--keep-every", 0)
    assert code == 2 and not out.exists() and kept(out)[-1] == 12
    assert "memory has run out while hungry was trained; what was reached is kept" in said and "--resume" in said
    code, said, _ = train("hungry")
    assert code == 2 and "cut off after 12 steps: add --resume" in said and kept(out)[-1] == 12
    code, said, _ = train("hungry", "--resume", "--seed", 5)
    assert code == 2 and "has seed 0, not 5" in said


def test_a_full_disk_is_said_once_and_the_training_goes_on(train: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Ring, step: int, state: Any) -> None:
        raise NoRoom(28, f"the disk of {self.folder} is full: the training goes on without new checkpoints")

    monkeypatch.setattr(Ring, "keep", full)
    code, said, out = train("course", "--keep-every", 0)
    assert code == 0 and said.count("is full: the training goes on without new checkpoints.") == 1 and out.exists()


def test_what_was_learned_is_not_lost_where_its_place_takes_no_more(
    train: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    (tmp_path / "course.safetensors").mkdir()  # nothing can be renamed to this
    code, said, _ = train("course")
    (written,) = elsewhere.rglob("course.safetensors")
    assert code == 2 and f"cannot be written: is a directory; the weights are in {written}" in said
    assert set(load_file(written)) == {"weight", "bias"}


def test_a_training_of_which_nothing_is_kept_leaves_no_folder(
    train: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Ring, step: int, state: Any) -> None:
        raise NoRoom(28, f"the disk of {self.folder} is full: the training goes on without new checkpoints")

    monkeypatch.setattr(Ring, "keep", full)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    (tmp_path / "course.safetensors").mkdir()
    code, said, _ = train("course", "--keep-every", 0)
    assert code == 2 and "cannot be written: is a directory" in said
    assert not list(tmp_path.rglob("*.training"))


def test_a_diverging_loss_names_step_and_parameter_and_can_be_resumed(train: Any, monkeypatch: Any) -> None:
    learned = Course.learn

    def poisoned(self: Course, loss: torch.Tensor, *given: Any, **more: Any) -> None:
        learned(self, loss * torch.nan if self.at == 10 else loss, *given, **more)

    monkeypatch.setattr(Course, "learn", poisoned)
    code, said, out = train("course", "--keep-every", 0)
    assert code == 2 and not out.exists()
    assert "the loss is not a number after 10 steps, so the training has stopped: the gradient of weight is" in said
    assert "step 10 is kept: --resume --rate 0.1 goes on from there" in said
    monkeypatch.undo()
    assert train("course", "--resume", "--rate", "0.1")[0] == 0 and out.exists()


def test_a_trainer_that_loops_by_itself_is_stopped_too(train: Any) -> None:
    code, said, out = train("loop")
    assert code == 2 and not out.exists()
    assert "the loss is not a number after 6 steps, so the training has stopped: the gradient of weight is" in said


def test_a_cut_off_training_resumes_to_the_bit(train: Any, tmp_path: Path, monkeypatch: Any) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    _, _, out = train("course", "--log", one)
    whole = load_file(out)
    out.unlink()
    stepped = Drive.stepped

    def cut(self: Drive, course: Course) -> None:
        stepped(self, course)
        if course.at == 13:
            raise KeyboardInterrupt

    monkeypatch.setattr(Drive, "stepped", cut)
    train("course", "--log", two, "--keep-every", 0)
    monkeypatch.undo()
    assert kept(out)[-1] == 13
    with two.open("a") as file:
        file.write('{"step": 14, "epo')  # cut off in the middle of a line
    assert train("course", "--log", two, "--resume")[0] == 0
    assert all(torch.equal(whole[name], value) for name, value in load_file(out).items())
    assert one.read_text().splitlines()[:-1] == two.read_text().splitlines()[:-1]


def test_a_training_of_a_network_as_it_was_is_not_resumed_as_it_is(train: Any, monkeypatch: Any) -> None:
    stepped = Drive.stepped

    def cut(self: Drive, course: Course) -> None:
        stepped(self, course)
        raise KeyboardInterrupt

    monkeypatch.setattr(Drive, "stepped", cut)
    _, _, out = train("course", "--keep-every", 0)
    monkeypatch.undo()
    for path in out.with_name(f"{out.name}.training").glob("*.pt"):
        state = torch.load(path, weights_only=True)
        state["network"]["weight"] = torch.zeros(1, 5)
        torch.save(state, path)
    code, said, _ = train("course", "--resume")
    assert code == 2 and not out.exists()
    assert f"{out}.training does not fit course as it is now" in said and "remove that folder to train it" in said


def test_whoever_steers_hears_of_a_loss_that_grows() -> None:
    class Hears(Steers):
        def __init__(self) -> None:
            self.heard = ""

        def begun(self, drive: Drive) -> None:
            drive.rate = 1.0

        def stepped(self, drive: Drive) -> None:
            if drive.step.step == 5:
                with torch.no_grad():
                    drive.course.network.weight.fill_(1e4)  # type: ignore[union-attr, operator]

        def diverged(self, drive: Drive, error: Exception) -> None:  # type: ignore[override]
            self.heard = self.heard or str(error)
            drive.finish()

    steers = Hears()
    Drive(CARDS["course"], 20, 0, 1.0, steers).run()
    assert steers.heard.startswith("the loss has grown to") and "times the first, after" in steers.heard
