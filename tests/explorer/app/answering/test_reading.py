"""Files are read once for all that is made of them, and large ones are shown before a network answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from torch import Tensor, nn

from explorer.app.answering import reading
from explorer.app.answering.engine import LocalEngine
from explorer.app.answering.reading import Readings
from explorer.declare.samples import Sample
from explorer.square.frame import Glimpse
from explorer.state.state import State
from explorer.work.budget import Shared
from explorer.work.progress import listening
from tests.explorer.parts.small_cards import card


class Plain(nn.Module):
    """A convolution that is made for any size."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 1, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(x)  # type: ignore[no-any-return]


def image(folder: Path, side: int, name: str = "large.npy") -> str:
    path = folder / name
    np.save(path, np.random.default_rng(side).random((side, side), np.float32))
    return str(path)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Count what is read from a file or made by name, in this order."""
    texts: list[str] = []
    find = reading.find_sample

    def counted(text: str, seed: int = 0) -> Sample:
        texts.append(text)
        return find(text, seed)

    monkeypatch.setattr(reading, "find_sample", counted)
    return texts


def seen_while(make: object) -> list[object]:
    """Return what is shown before the work has ended."""
    found: list[object] = []
    assert callable(make)
    with listening(lambda *_: None, viewer=found.append):
        make()
    return found


def test_a_file_is_read_once_until_it_changes(tmp_path: Path, read: list[str]) -> None:
    readings, path = Readings(Shared(2**24)), image(tmp_path, 20)
    assert readings.sample(path, 0) is readings.sample(path, 0)
    assert read == [path]
    image(tmp_path, 24)
    assert readings.sample(path, 0).x.values.shape[-2:] == (24, 24)
    assert read == [path, path]


def test_what_is_not_of_a_file_is_made_each_time(read: list[str]) -> None:
    readings = Readings(Shared(2**24))
    for _ in range(2):
        readings.sample("random:1x1x9x9", 3)
    assert read == ["random:1x1x9x9"] * 2


def test_large_data_are_seen_once_and_small_ones_not_at_all(tmp_path: Path) -> None:
    readings, path = Readings(Shared(2**24)), image(tmp_path, 256)
    (glimpse,) = seen_while(lambda: readings.sample(path, 0))
    assert isinstance(glimpse, Glimpse) and "large" in glimpse.title and glimpse.picture.dtype == np.uint8
    assert np.ptp(glimpse.picture) > 0
    assert not seen_while(lambda: readings.sample(path, 0))
    small = image(tmp_path, 16, "small.npy")
    assert not seen_while(lambda: readings.sample(small, 0))
    other = image(tmp_path, 256, "other.npy")
    assert not seen_while(lambda: readings.sample(other, 0, quietly=True))


def test_an_engine_shows_large_data_before_its_answer_whoever_asks_first(tmp_path: Path, read: list[str]) -> None:
    path = image(tmp_path, 256)
    state = State("plain", sample=path, device="cpu")
    for ask in (
        lambda engine: engine.answer(state, lambda: False),
        lambda engine: engine.first_taking(["plain"], state),
        lambda engine: engine.open_model("plain", state),
    ):
        engine = LocalEngine({"plain": card("plain", Plain, "D4")})
        read.clear()
        (glimpse,) = seen_while(lambda ask=ask, engine=engine: ask(engine))
        assert isinstance(glimpse, Glimpse)
        engine.answer(state, lambda: False)
        assert read.count(path) == 1
        engine.close()


def test_a_file_larger_than_what_may_be_kept_is_let_go_of(tmp_path: Path, read: list[str]) -> None:
    readings, path = Readings(Shared(1000)), image(tmp_path, 20)
    for _ in range(2):
        readings.sample(path, 0)
    assert read == [path] * 2
