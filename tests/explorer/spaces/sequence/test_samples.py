"""Shipped sequences against what they are said to be; fitting them to networks; their thumbnails."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from explorer.data.finding import find_sample, fitted, samples
from explorer.declare.samples import Sample
from explorer.spaces.grid.sample import image_sample
from explorer.spaces.sequence.drawing.thumbnail import sequence_thumbnail
from explorer.spaces.sequence.fields import STEP, STEP_INPUT
from explorer.spaces.sequence.network.fit import IUPAC, base_columns, fit_sequence, is_one_hot, kind_of
from explorer.spaces.sequence.network.form import SequenceInput
from explorer.spaces.sequence.sample import sequence_sample
from explorer.spaces.sequence.samples import dna as dna_module
from explorer.spaces.sequence.samples import series as series_module
from explorer.spaces.sequence.samples import tokens as tokens_module

ROOT = Path(__file__).resolve().parents[4]
MINE = [spec.name for module in (series_module, tokens_module, dna_module) for spec in module.SAMPLES]
TIMED = sorted(name for name, spec in samples().items() if spec.domain == "sequence")
FLOATS = st.floats(-1e3, 1e3, width=32)


def values(name: str) -> np.ndarray:
    return np.asarray(find_sample(name).x.values, np.float64)


@pytest.mark.parametrize("name", TIMED)
def test_every_sequence_keeps_its_word(name: str) -> None:
    spec = samples()[name]
    assert spec.title and spec.summary and name == name.lower() and not set(" :/") & set(name)
    sample = spec.make()
    x = sample.x.values
    assert (sample.name, sample.domain) == (name, "sequence") and sample.title and sample.source
    assert x.dtype == np.float32 and x.ndim == 2 and x.flags.c_contiguous and not x.flags.writeable
    assert np.isfinite(x).all() and np.abs(x).max() <= 3 and np.ptp(x) > 0.3 and sample.x.field == STEP_INPUT
    assert_array_equal(spec.make().x.values, x)
    assert not sample.names or len(sample.names) == len(x)
    for key, signal in sample.signals.items():
        assert key == "x" or (len(signal.values) == len(x) and signal.field == STEP)


def test_the_promised_sequences_are_there_and_cost_nothing_to_list() -> None:
    promised = {
        "sine", "chirp", "square-steps", "damped-oscillation", "random-walk", "sunspots", "ecg", "adding-task",
        "copy-task", "warp-base", "warp-uniform", "warp-variable", "irregular-series", "spoken-tones",
        "alice-characters", "alice-words", "sorting-set", "dna-motif", "dna-motif-reversed", "phix174",
        "dna-unknown", "dna-records", "unequal-lengths",
    }  # fmt: skip
    assert promised == set(MINE)
    code = (
        "import sys\nfrom explorer.data.finding import samples\n"
        f"[samples()[name].make() for name in {sorted(promised)!r}]\n"
        "heavy = {'torch', 'PIL', 'sklearn', 'scipy', 'PySide6'} & set(sys.modules)\nassert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, timeout=60)


def peak(x: np.ndarray) -> float:
    """Return the frequency, in cycles a step, that has the most power."""
    power = np.abs(np.fft.rfft(x - x.mean())) ** 2
    return float(np.fft.rfftfreq(len(x))[power.argmax()])


def test_waves_have_the_frequencies_that_are_told() -> None:
    assert peak(values("sine")[:, 0]) == 1 / 32
    chirp = values("chirp")[:, 0]
    crossings = np.flatnonzero(np.diff(np.signbit(chirp)))
    assert crossings[1] - crossings[0] > 4 * (crossings[-1] - crossings[-2])
    swing = values("damped-oscillation")[:, 0]
    assert not swing[:8].any() and swing[8] == 1
    assert_allclose(swing[8 + 40] / swing[8], np.exp(-1), rtol=1e-6)
    assert 1 / 13 < peak(values("sunspots")[:, 0]) < 1 / 9 and values("sunspots").min() >= 0
    ecg = values("ecg")[:, 0]
    beats = np.flatnonzero((ecg[1:-1] > 0.6) & (ecg[1:-1] >= ecg[:-2]) & (ecg[1:-1] > ecg[2:]))
    assert 4 <= len(beats) <= 6 and len(set(np.diff(beats).tolist())) > 1
    # a walk forgets nothing: its increments are white and it wanders far beyond one of them
    increments = np.diff(values("random-walk")[:, 0])
    assert abs(np.corrcoef(increments[1:], increments[:-1])[0, 1]) < 0.2
    assert np.ptp(values("random-walk")) > 4 * increments.std()


def test_the_shipped_sound_is_made_by_its_own_program(tmp_path: Path) -> None:
    series_module.write_sound(tmp_path / "tones.wav")
    assert (tmp_path / "tones.wav").read_bytes() == series_module.TONES.read_bytes()
    sample = find_sample("spoken-tones")
    assert sample.rate == 8000 and len(sample.x.values) == 4000
    assert sum(p.stat().st_size for p in series_module.FOLDER.iterdir()) < 20_000
    told = (series_module.FOLDER.parent / "README.md").read_text("utf-8")
    assert all(f"`sequences/{p.name}`" in told for p in series_module.FOLDER.iterdir())


def test_the_adding_task_has_one_mark_in_each_half() -> None:
    chance = np.random.default_rng(3)
    totals = []
    for _ in range(2000):
        x, total = series_module.adding(10, chance)
        marks = np.flatnonzero(x[:, 1])
        assert len(marks) == 2 and marks[0] < 5 <= marks[1]
        assert total == pytest.approx(float(x[marks, 0].sum()))
        totals.append(total)
    # the published error of always saying the mean: the variance of a sum of two uniform numbers
    assert np.var(totals) == pytest.approx(1 / 6, rel=0.1)
    assert "0.7029" in find_sample("adding-task").notes[0]
    x = values("adding-task")
    assert x[x[:, 1] == 1, 0].sum() == pytest.approx(0.7029, abs=1e-4) and x.shape == (200, 2)


def test_the_copy_task_is_that_of_the_paper() -> None:
    given, wanted = tokens_module.copy_task(20, np.random.default_rng(0))
    assert len(given) == len(wanted) == 20 + 20
    assert (given[:10] < 8).all() and (given[10:29] == 8).all() and given[29] == 9 and (given[30:] == 8).all()
    assert (wanted[:30] == 8).all()
    assert_array_equal(wanted[30:], given[:10])


def runs(tokens: np.ndarray) -> tuple[list[int], list[int]]:
    starts = np.flatnonzero(np.concatenate([[True], np.diff(tokens) != 0]))
    return tokens[starts].tolist(), np.diff([*starts, len(tokens)]).tolist()


def test_warped_symbols_are_the_base_repeated() -> None:
    base, uniform, variable = (values(f"warp-{kind}").argmax(1) for kind in ("base", "uniform", "variable"))
    letters, lengths = runs(base)
    assert lengths == [1] * 25
    assert runs(uniform) == (letters, [4] * 25)
    bent, lengths = runs(variable)
    shared = min(len(bent), len(letters))
    assert bent[:shared] == letters[:shared] and 1 < max(lengths) <= 8 and len(set(lengths)) > 3
    assert len(uniform) == len(variable) == 100
    for name in ("uniform", "variable"):
        sample = find_sample(f"warp-{name}")
        tokens, label = sample.x.values.argmax(1), sample.signals["label"].values
        for t in range(len(tokens)):  # the definition, step by step
            earlier = tokens[:t].tolist()
            while earlier and earlier[-1] == tokens[t]:
                earlier.pop()
            assert label[t] == (earlier[-1] if earlier else -1)


def test_text_is_read_back_from_its_columns() -> None:
    sample = find_sample("alice-characters")
    text = "".join(sample.channels[k] for k in sample.x.values.argmax(1))
    assert text == "".join(sample.names) == tokens_module.TEXT.read_text("utf-8").strip()
    words = find_sample("alice-words").names
    assert words[:4] == ("alice", "was", "beginning", "to") and words.count("book") == 2 and words.count(",") > 2


def test_dna_has_its_motifs_on_both_strands() -> None:
    here, other = find_sample("dna-motif"), find_sample("dna-motif-reversed")
    text = "".join(here.names)
    found = [k for k in range(len(text)) if text.startswith("TTGACA", k)]
    back = [k for k in range(len(text)) if text.startswith("TGTCAA", k)]
    assert (found, back) == ([20, 84], [51])
    for label, places in ((1, found), (2, back)):
        at = np.flatnonzero(here.signals["label"].values == label)
        assert_array_equal(at, np.concatenate([np.arange(k, k + 6) for k in places]))
    # the columns are A, C, G, T: the complement turns their order round, and reading back that of the steps
    assert_array_equal(other.x.values, here.x.values[::-1, ::-1])
    assert "".join(other.names) == dna_module.reverse_complement(text)


def test_the_genome_is_that_of_phix174() -> None:
    text = "".join(find_sample("phix174").names)
    assert len(text) == 500 and set(text) == set("ACGT")
    # gene C lies at bases 133 to 393 and overlaps with the first codon of gene D at 390 (NC_001422.1)
    gene = text[132:393]
    codons = [gene[k : k + 3] for k in range(0, len(gene), 3)]
    assert codons[0] == "ATG" and codons[-1] == "TGA" and not {"TAA", "TAG", "TGA"} & set(codons[:-1])
    assert text[389:392] == "ATG"
    assert text[100:150] == "CGAATTAAATCGAAGTGGACTGCTGGCGGAAAATGAGAAAATTCGACCTA"


def test_letters_that_leave_it_open_are_spread_evenly() -> None:
    rows = dict(zip(IUPAC, base_columns("".join(IUPAC))))
    assert rows["N"].tolist() == [0.25] * 4 and rows["R"].tolist() == [0.5, 0, 0.5, 0]
    assert_allclose(np.sum(list(rows.values()), 1), 1, atol=1e-6)
    pairs = {"R": "Y", "S": "S", "W": "W", "K": "M", "B": "V", "D": "H", "N": "N", "A": "T", "C": "G"}
    for letter, other in pairs.items():  # the complements by IUPAC
        assert_array_equal(rows[letter][::-1], rows[other])
    assert_array_equal(base_columns("acgtn"), base_columns("ACGTN"))
    for bad in ("ACE", "AC-", "é"):
        with pytest.raises(ValueError, match=f"at place {len(bad)} is no letter"):
            base_columns(bad)


# the constructor


def test_what_does_not_fit_together_is_refused() -> None:
    x = np.zeros((3, 2))
    for wrong, says in (
        ({"time": np.arange(4.0)}, "time has shape"), ({"time": np.array([0.0, 2, 1])}, "from step 1 to step 2"),
        ({"time": np.array([0, np.nan, 1])}, "not finite"), ({"label": np.zeros((3, 1), int)}, "label has shape"),
        ({"batch": np.array([0, 2, 2])}, "batch must"), ({"batch": np.array([1, 1, 2])}, "batch must"),
        ({"names": ("a",)}, "1 names"), ({"channels": ("a", "b", "c")}, "3 channels"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=says) as caught:
            sequence_sample("s", x, **wrong)
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="channel 1 at step 2"):
        sequence_sample("s", np.array([[0, 0], [0, 0], [0, np.inf]]))
    with pytest.raises(ValueError, match=r"\(steps, channels\)"):
        sequence_sample("s", np.zeros((2, 2, 2)))
    # each sequence of a batch has its own time
    both = sequence_sample("s", np.zeros(4), time=np.array([0.0, 1, 0, 1]), batch=np.array([0, 0, 1, 1]))
    assert both.signals["time"].values.dtype == np.float64 and both.x.values.shape == (4, 1)


# fitting


def test_what_fits_is_left_alone() -> None:
    for name, wanted in (
        ("sine", SequenceInput(1)), ("adding-task", SequenceInput(2)), ("warp-base", SequenceInput(10, "tokens")),
        ("phix174", SequenceInput(4, "dna")), ("sine", SequenceInput()), ("dna-motif", SequenceInput(4, "tokens")),
    ):  # fmt: skip
        sample = find_sample(name)
        assert fit_sequence(sample, wanted) is sample
        assert fitted(sample, wanted) is sample


def test_width_and_kind_are_fitted_and_told() -> None:
    sine = find_sample("sine")
    wide = fit_sequence(sine, SequenceInput(3))
    assert_array_equal(wide.x.values, np.pad(sine.x.values, ((0, 0), (0, 2))))
    assert "zeros to 3" in wide.notes[-1] and wide.x.field == STEP_INPUT and not wide.x.values.flags.writeable
    adding = fit_sequence(find_sample("adding-task"), SequenceInput(1))
    assert_array_equal(adding.x.values[:, 0], find_sample("adding-task").x.values[:, 0])
    assert adding.channels == ("value",) and adding.notes[-1] == "column 1 of 2 (value)"
    cut = fit_sequence(sine, SequenceInput(5, "tokens"))
    assert is_one_hot(cut.x.values) and cut.x.values.shape == (128, 5) and "5 levels" in cut.notes[-1]
    order = np.argsort(sine.x.values[:, 0], kind="stable")
    assert (np.diff(cut.x.values.argmax(1)[order]) >= 0).all() and set(cut.x.values.argmax(1)) == set(range(5))
    fewer = fit_sequence(find_sample("alice-characters"), SequenceInput(6, "tokens"))
    assert is_one_hot(fewer.x.values) and fewer.channels[-1] == "other" and "22 of 27 symbols" in fewer.notes[-1]
    assert_array_equal(fewer.x.values.argmax(1), find_sample("alice-characters").x.values.argmax(1).clip(0, 5))
    number = fit_sequence(find_sample("warp-base"), SequenceInput(1))
    assert_allclose(number.x.values[:, 0] * 9, find_sample("warp-base").x.values.argmax(1), atol=1e-6)
    spelled = sequence_sample("s", np.eye(3)[[0, 1, 2, 0]], names=("A", "C", "G", "A"), channels=("A", "C", "G"))
    assert_array_equal(fit_sequence(spelled, SequenceInput(4, "dna")).x.values, base_columns("ACGA"))


def test_a_batch_and_a_long_sequence_are_cut() -> None:
    batch = find_sample("unequal-lengths")
    first = fit_sequence(batch, SequenceInput(1))
    assert_array_equal(first.x.values, batch.x.values[:20])
    assert first.title.endswith(", 1 of 4")
    assert "the first of 4 sequences, 20 steps" in first.notes[-1] and len(first.signals["batch"].values) == 20
    short = fit_sequence(find_sample("alice-characters"), SequenceInput(27, "tokens", 8))
    assert "".join(short.names) == "Alice wa" and "the first 8 of 301" in short.notes[-1]
    both = fit_sequence(find_sample("dna-records"), SequenceInput(4, "dna", 10))
    assert len(both.x.values) == len(both.names) == 10


def test_what_cannot_be_fitted_is_refused_in_one_sentence() -> None:
    sine = find_sample("sine")
    empty = sequence_sample("e", np.zeros((0, 1)))
    for sample, wanted, says in (
        (image_sample(np.zeros((1, 3, 3)), "i"), SequenceInput(), "lies on a grid"),
        (find_sample("karate"), SequenceInput(), "lies on a graph"),
        (empty, SequenceInput(), "no steps"), (sequence_sample("c", np.zeros((3, 0))), SequenceInput(), "no channels"),
        (sine, SequenceInput(4, "dna"), "no DNA"), (find_sample("alice-words"), SequenceInput(4, "dna"), "no DNA"),
        (sine, SequenceInput(5, "dna"), "5 columns"), (sine, SequenceInput(1, "words"), "'words'"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=says) as caught:
            fit_sequence(sample, wanted)
        assert "\n" not in str(caught.value)
    from explorer.spaces.graph.network.form import GraphInput
    from explorer.spaces.grid.network.form import InputSpec

    for other in (GraphInput(), InputSpec()):
        with pytest.raises(ValueError, match="lies on a sequence"):
            fitted(sine, other)


@given(
    x=st.lists(st.lists(FLOATS, min_size=2, max_size=2), min_size=1, max_size=9), width=st.integers(1, 5),
    kind=st.sampled_from(["values", "tokens"]), most=st.none() | st.integers(1, 5),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_a_fitted_sequence_fits(x: list[list[float]], width: int, kind: str, most: int | None) -> None:
    wanted = SequenceInput(width, kind, most)
    sample = sequence_sample("s", np.array(x, np.float32), channels=("a", "b"))
    made = fit_sequence(sample, wanted)
    again = fit_sequence(made, wanted)
    assert made.x.values.shape == (min(len(x), most or len(x)), width) and np.isfinite(made.x.values).all()
    assert_array_equal(again.x.values, made.x.values)
    if kind == "tokens" and width > 1 and not is_one_hot(sample.x.values):
        assert is_one_hot(made.x.values)


def test_kinds_are_told_apart() -> None:
    expected = {"sine": "values", "adding-task": "values", "warp-base": "tokens", "copy-task": "tokens",
                "alice-words": "tokens", "phix174": "dna", "dna-unknown": "dna"}  # fmt: skip
    assert {name: kind_of(find_sample(name)) for name in expected} == expected
    dna = find_sample("phix174")
    assert kind_of(replace(dna, channels=())) == "dna" and kind_of(replace(dna, channels=(), names=())) == "tokens"


# thumbnails


@pytest.mark.parametrize("name", TIMED)
def test_thumbnails(name: str) -> None:
    picture = sequence_thumbnail(find_sample(name))
    assert picture.shape == (48, 48, 3) and picture.dtype == np.uint8
    assert_array_equal(sequence_thumbnail(find_sample(name)), picture)
    assert (picture != 250).any(2).mean() > 0.02, "something is drawn"
    assert sequence_thumbnail(find_sample(name), 20).shape == (20, 20, 3)


def test_a_line_is_where_the_values_are() -> None:
    ramp = sequence_thumbnail(sequence_sample("r", np.linspace(0, 1, 300)))
    dark = (ramp.astype(int).sum(2) < 600).nonzero()
    assert np.corrcoef(*dark)[0, 1] < -0.99, "time runs to the right and values upwards"
    spike = np.zeros(100_000)
    spike[70_000:70_004] = 1
    picture = sequence_thumbnail(sequence_sample("s", spike)).astype(int).sum(2)
    assert abs(int(picture[5].argmin()) - 0.7 * 48) <= 1
    late = sequence_thumbnail(sequence_sample("t", np.array([0, 1.0, 0]), time=np.array([0, 9.0, 10])))
    assert int(late[2].astype(int).sum(1).argmin()) > 38, "irregular steps stand where their time is"


def test_a_bar_has_its_symbols_colour() -> None:
    picture = sequence_thumbnail(sequence_sample("d", base_columns("ACGT"), channels=tuple("ACGT")))
    middle = [tuple(picture[24, k].tolist()) for k in (6, 18, 30, 42)]
    assert len(set(middle)) == 4
    unknown = sequence_thumbnail(sequence_sample("d", base_columns("N"), channels=tuple("ACGT")))
    assert_allclose(unknown[24, 24], np.mean(middle, 0), atol=1)


@pytest.mark.parametrize("x", [np.zeros((0, 1)), np.zeros((1, 1)), np.zeros((1, 3)), np.ones((5, 9)), np.eye(30)])
def test_odd_sequences_have_thumbnails(x: np.ndarray) -> None:
    assert sequence_thumbnail(sequence_sample("o", x)).shape == (48, 48, 3)


def test_thumbnails_take_less_than_five_milliseconds() -> None:
    long: list[Sample] = [sequence_sample("l", np.random.default_rng(0).standard_normal(1_000_000))]
    for sample in [*map(find_sample, ("sine", "alice-characters", "phix174", "spoken-tones")), *long]:
        took = []
        for _ in range(7):
            start = time.perf_counter()
            sequence_thumbnail(sample)
            took.append(time.perf_counter() - start)
        assert min(took) < 0.005, (sample.name, took)
