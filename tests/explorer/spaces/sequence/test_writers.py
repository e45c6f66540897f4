"""Sequences are read back as they were written."""

from __future__ import annotations

import json
import string
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from explorer.data.finding import find_sample, samples
from explorer.data.opening import read_file
from explorer.data.writers import writable, write_file, writers
from explorer.declare.samples import Sample
from explorer.spaces.sequence.network.fit import base_columns
from explorer.spaces.sequence.sample import sequence_sample

FLOATS = st.floats(-1e6, 1e6, width=32, allow_subnormal=False)
THERE_AND_BACK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def series(draw: st.DrawFn, most_channels: int = 4) -> Sample:
    """Draw a series: with times, labels, a batch and names of the channels or without."""
    steps, channels = draw(st.integers(1, 7)), draw(st.integers(1, most_channels))
    x = draw(st.lists(st.lists(FLOATS, min_size=channels, max_size=channels), min_size=steps, max_size=steps))
    more: dict[str, Any] = {}
    if draw(st.booleans()):
        apart = draw(st.lists(st.floats(1e-3, 1e9), min_size=steps, max_size=steps))
        more["time"] = np.cumsum(apart)
    if draw(st.booleans()):
        more["label"] = np.array(draw(st.lists(st.integers(-1, 99), min_size=steps, max_size=steps)))
    if draw(st.booleans()):
        more["batch"] = np.cumsum([0, *draw(st.lists(st.integers(0, 1), min_size=steps - 1, max_size=steps - 1))])
    if draw(st.booleans()):
        text = st.text(string.ascii_letters + 'ä°,"; #1-', min_size=1, max_size=6)
        more["channels"] = tuple(draw(st.lists(text, min_size=channels, max_size=channels)))
    return sequence_sample("drawn", np.array(x, np.float32), **more)


def same(sample: Sample, again: Sample, signals: tuple[str, ...] = ("x", "time", "label", "batch")) -> None:
    for key in signals:
        assert (key in again.signals) == (key in sample.signals), key
        if key in sample.signals:
            assert_array_equal(again.signals[key].values, sample.signals[key].values)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".npz"])
@THERE_AND_BACK
@given(sample=series())
def test_series_come_back(ending: str, sample: Sample, tmp_path: Path) -> None:
    notes = write_file(sample, tmp_path / f"a{ending}")
    again = read_file(tmp_path / f"a{ending}")
    assert again.domain == "sequence"
    same(sample, again)
    told = any("names of the channels" in note for note in notes)
    assert again.channels == sample.channels or told or not sample.channels


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
@pytest.mark.parametrize("channel", ["1 A", "1 1", '"', "two words"])
def test_one_channel_with_an_odd_name_comes_back(channel: str, ending: str, tmp_path: Path) -> None:
    sample = sequence_sample("s", np.array([[1.5], [2.5]], np.float32), channels=(channel,))
    assert any("names of the channels" in note for note in write_file(sample, tmp_path / f"a{ending}"))
    same(sample, read_file(tmp_path / f"a{ending}"))


@THERE_AND_BACK
@given(sample=series())
def test_json_lines_come_back(sample: Sample, tmp_path: Path) -> None:
    write_file(sample, tmp_path / "a.jsonl")
    again = read_file(tmp_path / "a.jsonl")
    same(sample, again, ("x", "time", "label"))
    batch = sample.signals["batch"].values if "batch" in sample.signals else np.zeros(len(sample.x.values), int)
    assert ("batch" in again.signals) == bool(batch[-1])
    if batch[-1]:
        assert_array_equal(again.signals["batch"].values, batch)
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text("utf-8").splitlines()]
    assert len(lines) == batch[-1] + 1


@THERE_AND_BACK
@given(sample=series(), rate=st.integers(1, 200_000))
def test_sound_comes_back(sample: Sample, rate: int, tmp_path: Path) -> None:
    made = sequence_sample("s", np.array(sample.x.values, np.float32), rate=float(rate))
    write_file(made, tmp_path / "a.wav")
    again = read_file(tmp_path / "a.wav")
    same(made, again, ("x",))
    assert again.rate == rate


@pytest.mark.parametrize(("ending", "near"), [(".aiff", 2**-23), (".flac", 2**-23), (".ogg", 0.1)])
def test_coded_sound_comes_back_as_near_as_it_says(ending: str, near: float, tmp_path: Path) -> None:
    t = np.arange(70_000) / 8000  # longer than what is written at once
    sample = sequence_sample("s", np.stack([np.sin(900 * t), 0.5 * np.cos(700 * t)], 1).astype(np.float32), rate=8000.0)
    notes = write_file(sample, tmp_path / f"a{ending}")
    again = read_file(tmp_path / f"a{ending}")
    assert again.rate == 8000 and again.x.values.shape == sample.x.values.shape and again.channels == ("left", "right")
    assert np.abs(again.x.values - sample.x.values).max() <= near
    assert any("24 bits" in note or "compressed" in note for note in notes)
    loud = sequence_sample("s", 2 * sample.x.values)
    with pytest.raises(ValueError, match=r"values up to 2 and .* choose .wav"):
        write_file(loud, tmp_path / f"a{ending}")
    with pytest.raises(ValueError, match=r"channels and .* at most"):
        write_file(sequence_sample("s", np.zeros((2, 300), np.float32)), tmp_path / f"a{ending}")


def test_the_same_sound_gives_the_same_wav(tmp_path: Path) -> None:
    for name in ("a.wav", "b.wav"):
        write_file(find_sample("sine"), tmp_path / name)
    assert (tmp_path / "a.wav").read_bytes() == (tmp_path / "b.wav").read_bytes()
    fast = sequence_sample("s", np.zeros((9, 1), np.float32), rate=2e6)
    with pytest.raises(ValueError, match=r"at 2000000 Hz, is not written as FLAC \(.*\); choose .wav"):
        write_file(fast, tmp_path / "a.flac")


@THERE_AND_BACK
@given(x=st.lists(FLOATS, min_size=1, max_size=20))
def test_one_channel_comes_back_from_an_npy(x: list[float], tmp_path: Path) -> None:
    sample = sequence_sample("s", np.array(x, np.float32))
    write_file(sample, tmp_path / "a.npy")
    same(sample, read_file(tmp_path / "a.npy"))
    assert np.load(tmp_path / "a.npy").shape == (len(x),)


@THERE_AND_BACK
@given(text=st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]) | st.sampled_from("\n\t"), min_size=1))
def test_text_comes_back(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.text"
    letters = sorted(set(text))
    x = np.eye(len(letters))[[letters.index(c) for c in text]]
    sample = sequence_sample("s", x, names=tuple(text), channels=tuple(letters))
    write_file(sample, path)
    assert path.read_bytes() == (text + "\n").encode()
    if text.startswith("\ufeff"):
        return  # a mark at the beginning belongs to the file and not to the text
    again = read_file(path)
    same(sample, again)
    assert (again.names, again.channels) == (sample.names, sample.channels)
    notes = write_file(sample, tmp_path / "a.txt")
    if not any("name it .text" in note for note in notes):
        assert read_file(tmp_path / "a.txt").names == sample.names


@THERE_AND_BACK
@given(records=st.lists(st.text("ACGTNRYSWKMBDHV", min_size=1, max_size=130), min_size=1, max_size=4))
def test_dna_comes_back(records: list[str], tmp_path: Path) -> None:
    text = "".join(records)
    batch = np.repeat(np.arange(len(records)), [len(r) for r in records]) if len(records) > 1 else None
    sample = sequence_sample("s", base_columns(text), names=tuple(text), channels=tuple("ACGT"), batch=batch)
    assert write_file(sample, tmp_path / "a.fa") == ()
    again = read_file(tmp_path / "a.fa")
    same(sample, again)
    assert again.names == sample.names
    assert max(map(len, (tmp_path / "a.fa").read_text().splitlines())) <= 60


@pytest.mark.parametrize("name", sorted(name for name, spec in samples().items() if spec.domain == "sequence"))
def test_every_shipped_sequence_is_kept_whole_by_an_npz(name: str, tmp_path: Path) -> None:
    sample = find_sample(name)
    assert write_file(sample, tmp_path / "a.npz") == ()
    again = read_file(tmp_path / "a.npz")
    same(sample, again)
    assert (again.names, again.channels, again.rate) == (sample.names, sample.channels, sample.rate)


def test_what_cannot_be_written_is_refused_and_nothing_is_left_behind(tmp_path: Path) -> None:
    mixture = sequence_sample("m", [[0.9, 0.1, 0, 0]], channels=tuple("ACGT"))  # type: ignore[arg-type]
    for sample, name, match in (
        (find_sample("sine"), "a.png", "choose one of"), (find_sample("adding-task"), "a.npy", "2 channels"),
        (find_sample("sine"), "a.txt", "no text"), (find_sample("sine"), "a.fa", "no DNA"), (mixture, "a.fa", "step 0"),
    ):  # fmt: skip
        (tmp_path / name).write_text("old")
        with pytest.raises(ValueError, match=match) as caught:
            write_file(sample, tmp_path / name)
        assert "\n" not in str(caught.value) and (tmp_path / name).read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.fa", "a.npy", "a.png", "a.txt"]
    assert "8000 Hz: its rate is not known" in write_file(find_sample("sine"), tmp_path / "a.wav")[0]
    assert "not equally" in write_file(find_sample("irregular-series"), tmp_path / "a.wav")[0]
    endings = [e for writer in writers("sequence").values() for e in writer.extensions]
    assert len(endings) == len(set(endings)) and set(writable("sequence")) == set(endings)
    assert {".csv", ".npy", ".npz", ".fasta", ".txt", ".wav", ".jsonl"} <= set(endings)
