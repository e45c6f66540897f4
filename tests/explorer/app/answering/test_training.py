"""A training step by step: the same network as in one go, stopped where one likes, and told when it diverges."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from explorer.app.answering.training import Diverged, training
from tests.explorer.parts.small_cards import card

EPOCHS, STEPS = 3, 5


def learn(
    epochs: int | None = None, seed: int = 0, progress: Callable[[int, int, str], None] | None = None
) -> tuple[nn.Module, Mapping[str, float]]:
    """Fit a line."""
    epochs = EPOCHS if epochs is None else epochs
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = nn.Linear(2, 1)
        x = torch.randn(20, 2)
    y = x @ torch.tensor([[1.0], [2.0]])
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    for epoch in range(epochs):
        for _ in range(STEPS):
            loss = (network(x) - y).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if progress is not None:
            progress(epoch + 1, epochs, "loss")
    return network, {"error": loss.item()}


LINE = card("line", lambda: nn.Linear(2, 1), train=learn)


def whole(steps: Any) -> tuple[list[Any], Any]:
    found = []
    while True:
        try:
            found.append(next(steps))
        except StopIteration as end:
            return found, end.value


def same(one: nn.Module, other: nn.Module) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def test_step_by_step_is_the_same_training() -> None:
    backward = Tensor.backward
    steps, (network, figures) = whole(training(LINE, seed=3))
    assert same(network, learn(seed=3)[0]) and figures == {"error": steps[-1].losses["loss"]}
    assert [s.step for s in steps] == list(range(1, EPOCHS * STEPS + 1))
    assert steps[-1].epoch == EPOCHS - 1 and steps[-1].epochs == EPOCHS and steps[-1].total == EPOCHS * STEPS
    assert steps[0].losses["loss"] > steps[-1].losses["loss"]
    assert Tensor.backward is backward  # nothing is left behind


def test_the_learning_rate_is_multiplied() -> None:
    start = learn(epochs=1)[1]["error"]  # of the last step of five
    steps, _ = whole(training(LINE, epochs=1, rate=1e-9))
    assert steps[0].losses["loss"] == pytest.approx(steps[-1].losses["loss"], rel=1e-6)
    assert start < 0.5 * steps[-1].losses["loss"]


def test_a_training_that_is_closed_ends() -> None:
    before = threading.active_count()
    steps = training(LINE, epochs=10**6)
    for _ in range(7):
        step = next(steps)
    assert step.step in (6, 7) and threading.active_count() == before + 1
    steps.close()
    assert threading.active_count() == before


def test_a_loss_that_is_no_number_is_one_sentence() -> None:
    with pytest.raises(Diverged, match=r"the loss is (infinite|not a number) after [0-9]+ steps, so the training has"):
        whole(training(LINE, epochs=200, rate=1e5))


def test_other_networks_of_the_process_are_not_asked() -> None:
    """A network that is alive beside the one in training may have walks of its own, which may end the program."""

    class Odd(nn.Module):
        def named_modules(self, *_: Any, **__: Any) -> Any:
            raise SystemExit(3)

    class Bare(nn.Module):
        def __init__(self) -> None: ...

    beside = [Odd(), Bare()]
    with pytest.raises(Diverged, match="after"):  # it looks for the network whose gradient is not finite
        whole(training(LINE, epochs=200, rate=1e5))
    assert len(beside) == 2


def test_what_a_trainer_raises_is_heard() -> None:
    def broken(**_: Any) -> Any:
        raise RuntimeError("planted")

    with pytest.raises(RuntimeError, match="planted"):
        whole(training(card("broken", lambda: nn.Linear(1, 1), train=broken)))


def test_the_verb_logs_its_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from explorer.app.command import cli
    from explorer.app.command.doors import Doors

    def none(*_: Any) -> Any:
        raise AssertionError

    doors = Doors(lambda: {"line": LINE}, none, none, none, none, none)
    out, log = tmp_path / "w.safetensors", tmp_path / "log.jsonl"
    assert cli.main(["train", "line", "--epochs", "2", "--out", str(out), "--log", str(log)], doors) == 0
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert out.is_file() and lines[-1]["written"] == str(out)
    assert [line["step"] for line in lines[:-1]] == list(range(1, 2 * STEPS + 1))
    assert all(line["losses"]["loss"] > 0 for line in lines[:-1])
    capsys.readouterr()
    bad = tmp_path / "bad.safetensors"
    assert cli.main(["train", "line", "--rate", "1e5", "--epochs", "99", "--out", str(bad)], doors) == 2
    said = capsys.readouterr().err
    assert "equiscope: the loss is" in said and not bad.exists()
