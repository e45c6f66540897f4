"""Readers of sequences against files that numpy, scipy and the standard library wrote, and against bad ones."""

from __future__ import annotations

import io
import struct
import warnings
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from explorer.data import in_process
from explorer.data.finding import find_sample
from explorer.data.opening import read_file
from explorer.data.readers import ReadError, readers
from explorer.data.writers import write_file
from explorer.spaces.sequence.network.fit import base_columns
from explorer.spaces.sequence.readers import assembly
from explorer.spaces.sequence.readers.text import text_series
from explorer.spaces.sequence.sample import sequence_sample


def place(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(path: Path) -> str:
    """Return the sentence after checking its form."""
    with pytest.raises(ReadError) as caught:
        read_file(path)
    text = str(caught.value)
    assert text.startswith(f"cannot read {path.name}: ") and text.endswith(".") and ";" in text, text
    assert "\n" not in text and "the reader" not in text and "damaged (" not in text and len(text) < 400, text
    return text


def npz(path: Path, **arrays: Any) -> Path:
    np.savez(path, **arrays)
    return path


# a series or a list of edges


@pytest.mark.parametrize(
    ("name", "text", "domain"),
    [
        ("a.csv", "0.5\n1.5\n", "sequence"), ("a.csv", "5\n7\n", "sequence"), ("a.csv", "a\n5\n7\n", "sequence"),
        ("a.txt", "0.5 1\n1 2\n", "sequence"), ("a.csv", "a,b\n0.5,1\n", "sequence"), ("a.csv", "-1.5,2\n3,4\n",
        "sequence"),
        ("a.csv", "t,a\n0,1\n1,2\n", "sequence"), ("a.csv", "year,spots\n1700,5\n1701,11\n", "sequence"),
        ("a.csv", "# series\na,b\n0,1\n1,2\n", "sequence"), ("a.tsv", "time\ta\n0\t1\n1\t2\n", "sequence"),
        ("a.csv", "date,a\n2024-01-01,1\n2024-01-02,2\n", "sequence"), ("a.csv", "2024-01-01,1\n2024-01-02,2\n",
        "sequence"),
        ("a.csv", "1,2\n,3\n4,5\n", "sequence"), ("a.csv", "1.0,nan\n2.0,1\n", "sequence"), ("a.dat",
        "1 2.5\n2 3.5\n", "sequence"),
        ("a.csv", "0,1\n1,2\n", "graph"), ("a.csv", "a,b\nb,c\n", "graph"), ("a.csv", "who,whom\n1,2\n2,3\n", "graph"),
        ("a.csv", "source,target,weight\n0,1,0.5\n1,2,0.5\n", "graph"), ("a.txt", "0 1\n1 2\n", "graph"),
        ("a.csv", "from,to,time\n0,1,0.5\n1,2,0.5\n", "graph"), ("a.csv", "0,1,0.5\n1,2,0.25\n", "graph"),
        ("a.csv", "# nodes: 9\n0,1\n", "graph"), ("a.csv", "Ann,1.5\nBob,2.5\n", "graph"),
        ("a.txt", "It is a text of one line\n", "sequence"), ("a.txt", "Word", "sequence"),
        ("a.txt", "Hello, world.\nBye!\n", "sequence"),
        ("a.txt", ">one\nACGT\n", "sequence"), ("a.csv", "Type,Source,Target\nDirected,a,b\n", "graph"),
    ],
)  # fmt: skip
def test_the_content_says_what_a_table_is(name: str, text: str, domain: str, tmp_path: Path) -> None:
    assert read_file(place(tmp_path, name, text)).domain == domain


def test_shipped_graphs_are_never_taken_for_series(tmp_path: Path) -> None:
    for name in ("karate", "florentine-families", "flights", "cycles"):
        for ending in (".csv", ".tsv", ".txt"):
            write_file(find_sample(name), tmp_path / f"g{ending}")
            assert read_file(tmp_path / f"g{ending}").domain == "graph"


def test_what_is_ambiguous_is_told(tmp_path: Path) -> None:
    told = read_file(place(tmp_path, "a.csv", "0.5,1\n1,2\n")).notes
    assert any("not as a list of edges" in note for note in told)
    assert not read_file(place(tmp_path, "a.csv", "# series\n0.5,1\n1,2\n")).notes


# tables


def test_a_table_of_pandas_like_programs(tmp_path: Path) -> None:
    sample = read_file(place(tmp_path, "a.csv", ',speed,"height, m"\n0,1.5,2\n1,2.5,3\n'))
    assert sample.channels == ("speed", "height, m") and "numbers the lines" in sample.notes[0]
    assert_array_equal(sample.x.values, [[1.5, 2], [2.5, 3]])
    dated = read_file(place(tmp_path, "b.csv", "\ufeffMonth;n\r\n1949-01;1\r\n1949-02;2\r\n1949-03;3\r\n"))
    assert_array_equal(dated.signals["time"].values, [0, 31, 59])
    assert "time: days since 1949-01-01" in dated.notes and dated.channels == ("n",)
    hours = read_file(place(tmp_path, "c.csv", "when,a\n2024-01-01T00:00:00Z,1\n2024-01-01T00:00:00.25+00:00,2\n"))
    assert_allclose(hours.signals["time"].values, [0, 0.25])
    unix = read_file(place(tmp_path, "d.csv", "timestamp,a\n1700000000.001,1\n1700000000.002,2\n"))
    assert np.diff(unix.signals["time"].values)[0] == pytest.approx(0.001, rel=1e-3)


@pytest.mark.parametrize(("name", "mark", "header"), [("a.csv", ",", ""), ("a.txt", " ", ""), ("a.tsv", "\t", "three")])
def test_tables_of_numpy(name: str, mark: str, header: str, tmp_path: Path) -> None:
    x = np.random.default_rng(0).standard_normal((50, 3))
    np.savetxt(tmp_path / name, x, delimiter=mark, header=header)
    assert_allclose(np.asarray(read_file(tmp_path / name).x.values, np.float64), x, rtol=1e-6)


def test_a_table_as_european_spreadsheets_write_it(tmp_path: Path) -> None:
    lines = "wann;kW;Preis\n1.3.2025 9:30;3,25;-0,5\n01.03.2025 10:00;4;0,25\n01.03.2025 10:30:00;1,5e2;\n"
    (tmp_path / "a.csv").write_text(lines)
    sample = read_file(tmp_path / "a.csv")
    assert_allclose(sample.x.values, [[3.25, -0.5], [4, 0.25], [150, 0.25]])
    assert sample.channels == ("kW", "Preis") and "decimal commas read as points" in sample.notes
    assert_array_equal(sample.signals["time"].values.ravel(), [0, 1800, 3600])


@pytest.mark.parametrize(
    ("text", "values", "note"),
    [
        ('t,a,Volume\n0,1.5,"80,000"\n1,2,"1,234,567.5"\n2,3,7\n', [80_000, 1_234_567.5, 7], "commas of Volume part"),
        ('t,a,Volume\n0,1.5,"80,000"\n1,2,"1,25"\n2,3,7\n', [80, 1.25, 7], "decimal commas read as points"),
        ("t\ta\tVolume\n0\t1.5\t0,500\n1\t2\t2,75\n2\t3\t7\n", [0.5, 2.75, 7], "decimal commas read as points"),
        ("t;a;Volume\n0;1.5;80,000\n1;2;1,250\n2;3;7\n", [80, 1.25, 7], "decimal commas read as points"),
        ("t;a;Volume\n0;1.5;1,234,567\n1;2;80,000\n2;3;7\n", [1_234_567, 80_000, 7], "commas of Volume part"),
    ],
)
def test_commas_in_numbers_are_what_all_of_a_column_say(
    text: str, values: list[float], note: str, tmp_path: Path
) -> None:
    sample = read_file(place(tmp_path, "a.csv", text))
    assert_allclose(sample.x.values[:, 1], values)
    assert [one for one in sample.notes if "comma" in one] and any(one.startswith(note) for one in sample.notes)


@pytest.mark.parametrize("titles", ["Station West;;\n\n", "Station West, 2024\nAll values in kW;;\n"])
def test_titles_above_a_table_are_left_out_and_told(titles: str, tmp_path: Path) -> None:
    rows = "Datum;kW;Ort\n1.3.2025;3,25;Bern\n2.3.2025;4;Basel\n"
    sample = read_file(place(tmp_path, "a.csv", titles + rows))
    assert sample.channels == ("kW",) and sample.x.values.ravel().tolist() == [3.25, 4]
    assert any("above the table left out" in note for note in sample.notes)
    assert not any("above" in note for note in read_file(place(tmp_path, "b.csv", rows)).notes)


def test_gaps_are_filled_by_straight_lines_and_counted(tmp_path: Path) -> None:
    sample = read_file(place(tmp_path, "a.csv", "t,a,b\n0,1,\n1,NaN,5\n4,9,NA\n\n5,,7\n"))
    assert_allclose(sample.x.values, np.array([[1, 5], [3, 5], [9, 6.5], [9, 7]]))
    assert "4 gaps, the first in line 2, column 3," in sample.notes[0]
    parts = read_file(place(tmp_path, "b.csv", "batch,a\n3,1\n3,\n8,5\n8,6\n"))
    assert_array_equal(parts.x.values[:, 0], [1, 1, 5, 6])
    assert_array_equal(parts.signals["batch"].values, [0, 0, 1, 1])
    assert "2 sequences of 2 steps each" in parts.notes
    alone = read_file(place(tmp_path, "c.csv", "batch,a\n3,1.5\n8,5\n9,4\n"))
    assert "3 sequences of 1 step each" in alone.notes


def test_one_step_is_told(tmp_path: Path) -> None:
    sample = read_file(place(tmp_path, "a.csv", "1.5\n"))
    assert sample.x.values.tolist() == [[1.5]] and "one step" in sample.notes[0]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", "t,a\n0,1\n1\n", "line 3 has 1 column(s) in place of 2"),
        ("a.csv", "a,b\n0.5,1\n1,2,3\n", "line 3 has 3 column(s)"),
        ("a.tsv", "a\tb\n80,000\t1.5\n", "line 2, column 1 has '80,000', whose comma may be"),
        ("a.csv", "0.5\n1\nx\n", "line 3, column 1 has 'x' where a number must stand"),
        ("a.csv", "0.5,1\n0.5,inf\n", "line 2, column 2 is infinite"),
        ("a.csv", "a\n1e39\n", "line 2, column 1 is beyond float32"),
        ("a.csv", "t,a\n0,1\n2,1\n1,1\n", "the time in line 4 is not later"),
        ("a.csv", "t,a\n0,1\n,1\n", "line 3, column 1 is empty, and every step needs its time"),
        ("a.csv", "date,a\n2024-01-01,1\nsoon,2\n", "line 3, column 1 has 'soon' where a date must stand"),
        ("a.csv", "label,a\n0.5,1\n", "line 2, column 1 has 0.5 where a whole number (label) must stand"),
        ("a.csv", "batch,a\n0,1.5\n1,2\n0,3\n", "line 4 goes on with series 0"),
        ("a.csv", "0.5\n1_000\n", "line 2, column 1 has '1_000'"),
        ("a.csv", b"a\n0.5\n\xe9\n", "line 3, column 1 has 'é' where a number must stand"),
        ("a.csv", b"a\n0.5\n\x81\n", "line 3, column 1 is not text in UTF-8 (byte 0x81)"),
        ("a.dat", "a,b\n", "line 1 is a heading"), ("a.dat", "# only\n", "no line of numbers"),
        ("a.dat", "t\n0\n1\n", "no column of values"),
        ("a.txt", b"The caf\x81 is closed today\n", "line 1, column 8 is not text in UTF-8 (byte 0x81)"),
        ("a.txt", "One line.\nThe second \u00e9 line".encode() + b"\xc3", "line 2, column 18 is not"),
        ("a.text", b"ab\ncd\x00e\n", "line 2, column 3 holds the control character 0x00"),
        ("a.text", "Hello".encode("utf-16")[:-1], "UTF-16"), ("a.text", "\n", "nothing but"),
        ("a.fa", ">a\nACGT\nAC-T\n", "line 3, column 3 has '-', which is no letter of DNA"),
        ("a.fa", ">a\nACGE\n", "line 2, column 4 has 'E'"), ("a.fa", "ACGT\n", "line 1 comes before"),
        ("a.fa", ">a\n>b\nACGT\n", "the record that begins in line 1 has no letters"),
        ("a.fa", ">a\nACGT\n>b\n", "begins in line 3 has no letters"), ("a.fa", "\n\n", "no record"),
        ("a.fa", b">a\nAC\xffT\n", "line 2, column 3 is not text"),
        ("a.fq", "@a\nACGT\n+\nIII\n", "line 4 has 3 qualities for the 4 letters of line 2"),
        ("a.fq", "@a\nACGT\n+\n", "begins in line 1 is truncated: it has 3 of 4 lines"),
        ("a.fq", "@a\nACGT\n+\nIIII\nACGT\n", "line 5 does not begin with '@'"),
        ("a.fq", "@a\nACGT\nIIII\n+\n", "line 3 does not begin with '+'"),
        ("a.jsonl", '{"a": 1}\n{"a": }\n', "line 2, column 7 is no JSON"),
        ("a.jsonl", '{"a": 1}\n[1]\n', "line 2 holds a list"),
        ("a.jsonl", '{"a": 1}\n{"a": "x"}\n', "line 2, 'a' has 'x' where a number must stand"),
        ("a.jsonl", '{"a": [1, 2], "b": [1]}\n', "line 1 has lists of 1 and of 2 numbers"),
        ("a.jsonl", '{"x": [[1, 2], [3]]}\n', "line 1 has rows of 1 and of 2 numbers at 'x'"),
        ("a.jsonl", '{"x": [1]}\n{"y": [1]}\n', "line 2 has other channels"),
        ("a.jsonl", '{"x": []}\n', "without steps"),
        ("a.jsonl", '{"a": 1e999}\n', "line 1 has an infinite number"), ("a.jsonl", "\n \n", "no line"),
        ("a.jsonl", '{"t": 1, "a": 1}\n{"a": 1}\n', "line 2 has no number for its time"),
        ("a.jsonl", "[" * 100_000, "line 1 is no plain JSON"), ("a.jsonl", '{"a": null}\n', "has no number"),
        ("a.jsonl", '{"x": [true]}\n', "line 1 has true or false"),
        ("a.jsonl", '{"x": [1]}\n{"x": 2}\n', "line 2 has a number"),
    ],
)  # fmt: skip
def test_bad_files_are_refused_with_the_place(name: str, content: str | bytes, says: str, tmp_path: Path) -> None:
    assert says in refused(place(tmp_path, name, content))


def test_too_many_steps_are_refused_before_they_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembly, "MOST_STEPS", 100)
    np.save(tmp_path / "a.npy", np.zeros(101))
    place(tmp_path, "a.csv", "0.5\n" * 101)
    place(tmp_path, "a.text", "ab" * 51)
    place(tmp_path, "a.fa", ">a\n" + "ACGT" * 26)
    place(tmp_path, "a.jsonl", '{"a": 1}\n' * 101)
    for name in ("a.npy", "a.csv", "a.text", "a.fa", "a.jsonl"):
        with pytest.raises(ReadError, match="the most is 100"):
            in_process.read_file(tmp_path / name)


# arrays


def test_one_axis_is_a_series_and_two_are_an_image(tmp_path: Path) -> None:
    for x in (
        np.arange(7.0),
        np.arange(7),
        np.arange(7, dtype=">u2"),
        np.array([True, False]),
        np.array([1, 2], np.float16),
    ):
        np.save(tmp_path / "a.npy", x)
        assert_array_equal(read_file(tmp_path / "a.npy").x.values[:, 0], x.astype(np.float32))
    np.save(tmp_path / "b.npy", np.random.default_rng(0).random((7, 3)))
    assert read_file(tmp_path / "b.npy").domain == "grid"
    both = npz(tmp_path / "c.npz", x=np.ones((3, 2)), time=np.array([0, 1, 4]))
    assert read_file(both).signals["time"].values.tolist() == [0, 1, 4]
    assert read_file(npz(tmp_path / "d.npz", series=np.ones((3, 2)))).x.values.shape == (3, 2)
    assert read_file(npz(tmp_path / "e.npz", x=np.random.default_rng(0).random((3, 2)))).domain == "grid"
    gaps = read_file(npz(tmp_path / "f.npz", series=np.array([1, np.nan, 3])))
    assert gaps.x.values[:, 0].tolist() == [1, 2, 3] and "1 gap, the first in step 1, channel 0" in gaps.notes[0]


def test_bad_arrays_are_refused(tmp_path: Path) -> None:
    for name, arrays, says in (
        ("a", {"series": np.ones((2, 2, 2))}, "(2, 2, 2)"), ("b", {"series": np.array(["a"])}, "real numbers"),
        ("c", {"series": np.ones(3), "time": np.ones(2)}, "3 steps"),
        ("d", {"series": np.array([1, np.inf])}, "step 1"),
        ("e", {"series": np.array([{}], object)}, "run code"), ("f", {"series": np.ones(0)}, "no steps"),
        ("g", {"series": np.ones(3), "time": np.array([0, 2, 1])}, "does not ascend"),
        ("h", {"series": np.ones(3), "batch": np.array([0, 2, 2])}, "'batch'"),
        ("i", {"series": np.ones(3), "label": np.array([0, 0.5, 1])}, "not whole"),
        ("j", {"series": np.ones(3), "names": np.array(["a"])}, "3 texts"),
        ("k", {"series": np.ones(3) + 1j}, "complex"),
    ):  # fmt: skip
        assert says in refused(npz(tmp_path / f"{name}.npz", **arrays))
    np.save(tmp_path / "cut.npy", np.arange(9.0))
    place(tmp_path, "cut.npy", (tmp_path / "cut.npy").read_bytes()[:-8])
    assert "takes 72 bytes and 64 are there" in refused(tmp_path / "cut.npy")
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**7,)})
    assert "truncated" in refused(place(tmp_path, "lie.npy", header.getvalue()))
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    assert "the most is" in refused(place(tmp_path, "lie.npy", header.getvalue()))


# audio


def riff(code: int, channels: int, bits: int, data: bytes, rate: int = 8000, length: int | None = None) -> bytes:
    form = struct.pack("<HHIIHH", code, channels, rate, rate * channels * bits // 8, channels * bits // 8, bits)
    size = struct.pack("<I", len(data) if length is None else length)
    body = b"WAVE" + b"LIST\x03\0\0\0abc\0" + b"fmt \x10\0\0\0" + form + b"data" + size + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


@pytest.mark.parametrize(("width", "least", "most"), [(1, -1, 127 / 128), (2, -1, 1 - 2**-15), (4, -1, 1 - 2**-31)])
def test_sound_of_the_standard_library(width: int, least: float, most: float, tmp_path: Path) -> None:
    top = 2 ** (8 * width - 1)
    whole = np.array([[-top, 0], [top - 1, top // 2], [0, -top // 2]])
    stored = (whole + 128).astype("u1") if width == 1 else whole.astype(f"<i{width}")
    with wave.open(str(tmp_path / "a.wav"), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(width)
        file.setframerate(44100)
        file.writeframes(stored.tobytes())
    sample = read_file(tmp_path / "a.wav")
    assert sample.rate == 44100 and sample.channels == ("left", "right") and f"{8 * width}-bit" in sample.notes[0]
    assert_allclose(sample.x.values, [[least, 0], [most, 0.5], [0, -0.5]], rtol=1e-7)


@pytest.mark.parametrize("dtype", ["u1", "<i2", "<i4", "<f4", "<f8"])
def test_sound_of_scipy(dtype: str, tmp_path: Path) -> None:
    wavfile = pytest.importorskip("scipy.io.wavfile")
    generator = np.random.default_rng(0)
    if dtype[1] == "f":
        x = generator.uniform(-1, 1, (99, 3)).astype(dtype)
    else:
        limits = np.iinfo(dtype)
        x = generator.integers(limits.min, limits.max, (99, 3), dtype=dtype, endpoint=True)
    wavfile.write(tmp_path / "a.wav", 22050, x)
    half = {"u1": 2**7, "<i2": 2**15, "<i4": 2**31}.get(dtype, 1)
    expected = (x.astype(np.float64) - (128 if dtype == "u1" else 0)) / half
    sample = read_file(tmp_path / "a.wav")
    assert_allclose(sample.x.values, expected, atol=1e-7)
    write_file(sample, tmp_path / "b.wav")
    rate, again = wavfile.read(tmp_path / "b.wav")
    assert rate == 22050 and again.dtype == np.float32
    assert_array_equal(again, sample.x.values)


SUBFORMAT = bytes.fromhex("000000001000800000aa00389b71")  # of every format in WAVE_FORMAT_EXTENSIBLE


def test_sound_of_24_bits(tmp_path: Path) -> None:
    whole = [-(2**23), -1, 0, 1, 2**22, 2**23 - 1]
    data = b"".join(v.to_bytes(3, "little", signed=True) for v in whole)
    sample = read_file(place(tmp_path, "a.wav", riff(1, 1, 24, data)))
    assert_array_equal(sample.x.values[:, 0], np.array(whole) / 2**23)
    extended = struct.pack("<HHIIHHHHI", 0xFFFE, 1, 8000, 24000, 3, 24, 22, 24, 4) + b"\x01\0" + SUBFORMAT
    body = b"WAVEfmt " + struct.pack("<I", len(extended)) + extended + b"data" + struct.pack("<I", len(data)) + data
    again = read_file(place(tmp_path, "b.wav", b"RIFF" + struct.pack("<I", len(body)) + body))
    assert_array_equal(again.x.values, sample.x.values)


def test_bad_sound_is_refused(tmp_path: Path) -> None:
    ten = b"\1\2" * 10
    for content, says in (
        (riff(1, 1, 16, ten)[:-3], "truncated: it claims 20 bytes and 17 are there"), (riff(1, 1, 16, b""), "no steps"),
        (riff(1, 2, 16, ten[:-2]), "no whole number of steps"),
        (riff(85, 1, 16, ten), "MP3"), (riff(7, 1, 8, ten), "mu-law"),
        (riff(1, 1, 12, ten), "12 bits"), (riff(1, 0, 16, ten), "0 channels"),
        (riff(3, 1, 32, b"\0\0\xc0\x7f"), "step 0"),
        (b"RIFF\4\0\0\0WAVE", "neither a format nor sound"), (b"RIFX" + bytes(60), "RIFX"),
        (riff(1, 1, 16, ten)[:48], "no sound"), (b"ID3\3" + bytes(60), "no WAV"),
    ):  # fmt: skip
        assert says in refused(place(tmp_path, "a.wav", content))
    stream = read_file(place(tmp_path, "b.wav", riff(1, 1, 16, ten, length=0xFFFFFFFF)))
    assert len(stream.x.values) == 10 and "not told" in stream.notes[1]


@pytest.mark.parametrize("ending", [".aiff", ".flac", ".ogg"])
def test_sound_of_other_formats_is_found_by_its_content_and_refused_cut(ending: str, tmp_path: Path) -> None:
    t = np.arange(4000) / 8000
    made = sequence_sample("s", np.sin(900 * t)[:, None].astype(np.float32), rate=8000.0)
    write_file(made, tmp_path / f"a{ending}")
    whole = (tmp_path / f"a{ending}").read_bytes()
    lying = read_file(place(tmp_path, "lying.wav", whole))
    assert lying.x.values.shape == (4000, 1) and lying.rate == 8000 and "8000 Hz" in lying.notes[0]
    for cut in (3, 400, len(whole) // 2, len(whole) - 50):
        text = refused(place(tmp_path, f"cut{ending}", whole[:-cut]))
        assert "truncated" in text or "damaged" in text


def test_claims_of_compressed_sound_are_not_believed(tmp_path: Path) -> None:
    write_file(sequence_sample("s", np.zeros((999, 1), np.float32), rate=8000.0), tmp_path / "a.flac")
    whole = bytearray((tmp_path / "a.flac").read_bytes())
    for steps, says in ((2**23, "damaged"), (2**31, "74 h 33 min 55 s long"), (0, "does not say how long it is")):
        whole[22:26] = steps.to_bytes(4, "big")
        assert says in refused(place(tmp_path, "b.flac", bytes(whole)))
    video = b"OggS\0\2" + bytes(20) + b"\1\x2a\x80theora" + bytes(60)
    assert "no WAV, AIFF, FLAC or OGG" in refused(place(tmp_path, "a.ogg", video))


def test_ten_hours_of_sound_are_refused_at_once(tmp_path: Path) -> None:
    length = 10 * 3600 * 8000
    head = riff(1, 1, 8, b"", length=length)
    path = place(tmp_path, "long.wav", head)
    with path.open("r+b") as file:
        file.truncate(len(head) + length)  # a hole: nothing is stored
    text = refused(path)
    assert "10 h 0 min 0 s long" in text and "at most 34 min 57 s" in text


# text, DNA, JSON Lines


def test_a_letter_that_comes_again_is_held_once() -> None:
    names = text_series("жу" * 50).names
    assert "".join(names) == "жу" * 50 and len({id(name) for name in names}) == 2


def test_text_keeps_every_character(tmp_path: Path) -> None:
    sample = read_file(place(tmp_path, "a.text", "\ufeffÄh, naïve 日本\r\n🙂 b\r\n"))
    assert "".join(sample.names) == "Äh, naïve 日本\n🙂 b"
    assert sample.channels == tuple(sorted(set("Äh, naïve 日本\n🙂 b")))
    assert_array_equal(sample.x.values.argmax(1), [sample.channels.index(c) for c in sample.names])


def test_dna_with_many_records_and_unknown_letters(tmp_path: Path) -> None:
    sample = read_file(place(tmp_path, "a.fasta", "; old remark\n>one x\nACgt\nnRu\n\n>two\nTT\n"))
    assert "".join(sample.names) == "ACGTNRTTT" and sample.channels == tuple("ACGT")
    assert_array_equal(sample.x.values, base_columns("ACGTNRTTT"))
    assert_array_equal(sample.signals["batch"].values, [0] * 7 + [1] * 2)
    assert any("2 of 9 letters are not known" in n for n in sample.notes) and "one x, two" in sample.notes
    reads = read_file(place(tmp_path, "b.fastq", "@r1\nACGT\n+\nIIII\n@r2\nNN\n+r2\n!!\n"))
    assert "".join(reads.names) == "ACGTNN" and any("26.7 on average" in note for note in reads.notes)


def test_json_lines_by_step_and_by_series(tmp_path: Path) -> None:
    steps = read_file(
        place(tmp_path, "a.jsonl", '{"t": 0, "a": 1, "b": 5}\n{"t": 2, "b": 6}\n\n{"t": 3, "a": 4, "b": 7}\n')
    )
    assert steps.channels == ("a", "b") and steps.signals["time"].values.tolist() == [0, 2, 3]
    assert_allclose(steps.x.values, [[1, 5], [3, 6], [4, 7]])
    assert "the first in line 2, 'a'" in steps.notes[0]
    series = read_file(
        place(tmp_path, "b.jsonl", '{"x": [[1, 2], [3, 4]], "label": [0, 1]}\n{"x": [[5, 6]], "label": [2]}\n')
    )
    assert_array_equal(series.x.values, [[1, 2], [3, 4], [5, 6]])
    assert_array_equal(series.signals["batch"].values, [0, 0, 1])
    assert_array_equal(series.signals["label"].values, [0, 1, 2])
    assert "2 sequences of 2, 1 steps" in series.notes


# damage


@pytest.mark.parametrize("shape", [(200, 3), (60, 5), (40, 60)])
def test_the_only_array_of_an_archive_is_read_as_an_array_alone(tmp_path: Path, shape: tuple[int, int]) -> None:
    values = np.random.default_rng(0).random(shape)
    np.save(tmp_path / "a.npy", values)
    archive = npz(tmp_path / "a.npz", temperatures=values)
    kinds = [[(r.domain, rank) for r, rank in in_process.readings(path)] for path in (tmp_path / "a.npy", archive)]
    assert kinds[0] == kinds[1] and "sequence" in dict(kinds[1])
    assert_allclose(find_sample(f"{archive}?as=series-array", 0).x.values, values, rtol=1e-6)


@pytest.mark.parametrize("ending", [".csv", ".npz", ".npy", ".wav", ".flac", ".jsonl", ".text", ".fasta"])
def test_cut_and_damaged_files_are_refused_or_read(ending: str, tmp_path: Path) -> None:
    """Whatever is in a file: a sample or one sentence; never another error, never a warning."""
    path = tmp_path / f"a{ending}"
    write_file(find_sample({".text": "alice-characters", ".fasta": "dna-records"}.get(ending, "unequal-lengths")), path)
    content, generator = path.read_bytes(), np.random.default_rng(0)
    versions = [content[: int(cut)] for cut in generator.integers(1, len(content), 25)]
    for _ in range(40):
        damaged = bytearray(content)
        for at in generator.integers(0, len(content) if generator.random() < 0.5 else 60, 3):
            damaged[at] = int(generator.integers(0, 256))
        versions.append(bytes(damaged))
    versions += [generator.bytes(300), b"\0" * 300]
    own = next(r.read for r in readers().values() if r.domain == "sequence" and ending in r.extensions)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for version in versions:
            place(tmp_path, path.name, version)
            for read in (read_file, own):
                try:
                    sample = read(path)
                except ReadError as error:
                    assert "\n" not in str(error) and "the reader" not in str(error), str(error)
                else:
                    assert np.isfinite(sample.x.values).all() and len(sample.x.values)


@pytest.mark.slow
def test_a_million_steps_take_seconds(tmp_path: Path) -> None:
    import time

    x = np.random.default_rng(0).standard_normal((1_000_000, 1)).astype(np.float32)
    np.savetxt(tmp_path / "a.csv", x, "%.6g", delimiter=",")
    start = time.process_time()
    assert read_file(tmp_path / "a.csv").x.values.shape == (1_000_000, 1)
    assert time.process_time() - start < 6
