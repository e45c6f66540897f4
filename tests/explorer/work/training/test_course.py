"""A course: the same numbers as a loop written out, and the same again from any state that was kept."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.work.training.course import Course, driven_by, first_strange
from explorer.work.training.losses import CLASSES
from explorer.work.training.ring import NoRoom, Ring

EPOCHS, EXAMPLES, BATCH = 4, 37, 8
STEPS = 5


class Noisy(nn.Module):
    """Draws from a generator of its own, and from the global one."""

    def __init__(self) -> None:
        super().__init__()
        self.chance = torch.Generator().manual_seed(5)
        self.layers = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Dropout(0.3), nn.Linear(8, 4))

    def forward(self, x: Tensor) -> Tensor:
        answer: Tensor = self.layers(x + 0.1 * torch.randn(x.shape, generator=self.chance))
        return answer


def begun() -> tuple[Noisy, Any, Tensor, Tensor]:
    torch.manual_seed(1)
    network = Noisy().train()
    x, y = torch.randn(EXAMPLES, 3), torch.randint(4, (EXAMPLES,))
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-2)
    return network, optimizer, x, y


def scheduled(optimizer: torch.optim.Optimizer, steps: int) -> torch.optim.lr_scheduler.LRScheduler:
    return torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=steps)


def learn(driver: Any = None, judge: Any = None) -> tuple[Noisy, list[tuple[int, int, str]]]:
    network, optimizer, x, y = begun()
    told: list[tuple[int, int, str]] = []
    chances = torch.Generator().manual_seed(3), np.random.default_rng(3)

    def loop() -> None:
        course = Course(
            network, optimizer, scheduled, *chances, epochs=EPOCHS, examples=EXAMPLES, batch=BATCH,
            losses=CLASSES, judge=judge, progress=lambda *said: told.append(said),
        )  # fmt: skip
        for rows in course:
            shift = float(chances[1].normal())
            course.learn(course.loss(network(x[rows] + shift), y[rows]), weight=len(rows), clip=1.0)

    if driver is None:
        loop()
    else:
        with driven_by(driver):
            loop()
    return network, told


def written_out() -> Noisy:
    """The same without a course."""
    network, optimizer, x, y = begun()
    schedule = scheduled(optimizer, EPOCHS * STEPS)
    order, chance = torch.Generator().manual_seed(3), np.random.default_rng(3)
    for _ in range(EPOCHS):
        for rows in torch.randperm(EXAMPLES, generator=order).split(BATCH):
            loss = F.cross_entropy(network(x[rows] + float(chance.normal())), y[rows])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
    return network


class Steered:
    """Calls a function between two steps."""

    def __init__(self, between: Callable[[Course], None], begin: Callable[[Course], None] = lambda _: None) -> None:
        self.begun, self.stepped = begin, between


def same(one: nn.Module, other: nn.Module) -> bool:
    mine, yours = one.state_dict(), other.state_dict()
    return all(torch.equal(mine[name], yours[name]) for name in mine)


def test_a_course_is_the_loop_written_out() -> None:
    network, told = learn()
    assert same(network, written_out())
    assert [said[:2] for said in told] == [(k + 1, EPOCHS) for k in range(EPOCHS)] and told[0][2].startswith("loss ")


@pytest.mark.parametrize("at", [1, STEPS, 2 * STEPS + 3])
def test_from_every_state_the_same_numbers_follow(tmp_path: Path, at: int) -> None:
    """Also in another process: everything is read from the file."""
    ring = Ring(tmp_path / "ring")

    def keep(course: Course) -> None:
        if course.at == at:
            ring.keep(at, course.state())

    whole, told = learn(Steered(keep))
    state = ring.load(at)
    again, told_again = learn(Steered(lambda _: None, begin=lambda course: course.restore(state)))
    assert same(whole, again) and told_again == told[at // STEPS :]


@pytest.mark.parametrize("left_out", ["optimizer", "schedule", "chances", "chance", "order"])
def test_all_of_the_state_is_needed(tmp_path: Path, left_out: str) -> None:
    """The test before this one fails as soon as a part of the state is forgotten."""
    ring = Ring(tmp_path)
    whole, _ = learn(Steered(lambda course: ring.keep(7, course.state()) if course.at == 7 else None))

    def begin(course: Course) -> None:
        course.restore(
            {**ring.load(7), left_out: course.state()[left_out] if left_out != "order" else torch.arange(37)}
        )

    assert not same(whole, learn(Steered(lambda _: None, begin=begin))[0])


def test_a_course_can_go_back_and_forth_while_it_runs(tmp_path: Path) -> None:
    ring, gone = Ring(tmp_path), []

    def wander(course: Course) -> None:
        ring.keep(course.at, course.state())
        if course.at == 12 and not gone:
            gone.append(12)
            course.restore(ring.load(4))

    network, _ = learn(Steered(wander))
    assert gone == [12] and same(network, written_out())


def test_a_course_ends_early_and_takes_another_loss_and_seed() -> None:
    seen: list[int] = []

    def end(course: Course) -> None:
        seen.append(course.at)
        course.over = course.at == 6

    learn(Steered(end))
    assert seen == [1, 2, 3, 4, 5, 6]
    with pytest.raises(ValueError, match="no loss 'hinge'; it has cross-entropy, squared error"):
        learn(Steered(lambda course: course.choose("hinge")))
    other, _ = learn(Steered(lambda course: course.choose("squared error")))
    seeded, _ = learn(Steered(lambda course: course.reseed(9) if course.at == STEPS else None))
    plain = written_out()
    assert not same(other, plain) and not same(seeded, plain)
    assert all(bool(CLASSES[name](torch.randn(5, 4), torch.arange(5) % 4) > 0) for name in CLASSES)


def test_the_state_of_another_training_is_refused() -> None:
    network = nn.Linear(2, 2)
    other = Course(network, torch.optim.SGD(network.parameters()), epochs=1, steps=1)
    with pytest.raises(ValueError, match="another training"):
        learn(Steered(lambda _: None, begin=lambda course: course.restore(other.state())))


def test_a_step_that_is_not_told_is_a_defect() -> None:
    network = nn.Linear(2, 2)
    with pytest.raises(RuntimeError, match="not told"):
        for _ in Course(network, torch.optim.SGD(network.parameters()), epochs=1, steps=2):
            pass


def test_the_first_strange_parameter_is_named() -> None:
    network = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    assert first_strange(network) == ""
    with torch.no_grad():
        network[1].weight[0, 0] = torch.inf
    assert first_strange(network) == "1.weight"


# the ring -----------------------------------------------------------------------------------------------------
def test_a_ring_is_bounded_and_keeps_first_and_last(tmp_path: Path) -> None:
    ring = Ring(tmp_path, most=6)
    for step in range(0, 400, 10):
        ring.keep(step, {"at": step})
    steps = ring.steps
    assert len(steps) == 6 == len(list(tmp_path.iterdir())) and steps[0] == 0 and steps[-1] == 390
    gaps = [b - a for a, b in itertools.pairwise(steps)]
    assert gaps[0] > gaps[-1]  # old ones are farther apart
    assert Ring(tmp_path).steps == steps and ring.load(390) == {"at": 390}
    small = Ring(tmp_path / "small", most_bytes=3 * (tmp_path / "step-00000000.pt").stat().st_size)
    for step in range(8):
        small.keep(step, {"at": step})
    assert len(small.steps) == 3
    ring.drop_after(steps[2])
    assert ring.steps == steps[:3]
    ring.clear()
    assert not tmp_path.exists() or not list(tmp_path.glob("step-*"))


def test_what_was_cut_off_is_passed_over(tmp_path: Path) -> None:
    ring = Ring(tmp_path)
    ring.keep(3, {"at": 3})
    ring.keep(5, {"at": 5})
    (tmp_path / "step-00000005.pt").write_bytes(b"PK no")
    (tmp_path / "step-00000007.part").write_bytes(b"half")
    again = Ring(tmp_path)
    assert again.newest() == {"at": 3} and not list(tmp_path.glob("*.part*"))
    with pytest.raises(ValueError, match="step 5 cannot be read"):
        again.load(5)


def test_a_full_disk_is_one_sentence_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = Ring(tmp_path)
    ring.keep(3, {"at": 3})

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(NoRoom) as refused:
        ring.keep(9, {"at": 9})
    assert "is full: the training goes on without new checkpoints, the last one kept is of step 3" in str(refused.value)
    assert ring.steps == [3] and ring.newest() == {"at": 3} and not list(tmp_path.glob("*.part*"))
