"""Choice of the reader that a file is opened with, where its name alone does not say; text in other encodings."""

from __future__ import annotations

import io
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.data import in_process
from explorer.data.formats.texts import PLAIN, encoding_of
from explorer.data.opening import domain_of, read_file, reader_of
from explorer.data.readers import ReadError, readers
from explorer.declare.samples import Sample


def array(values: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def archive(**values: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **values)
    return file.getvalue()


FILES: dict[str, tuple[str, bytes, str]] = {
    "series": ("a.csv", b"t,a\n0,1.5\n1,2.5\n", "sequence"),
    "edges": ("a.csv", b"source,target\n0,1\n1,2\n", "graph"),
    "matrix": ("a.csv", b"0,1,1,0\n1,0,0,1\n1,0,0,1\n0,1,1,0\n", "graph"),
    "four steps": ("a.csv", b"0.5,1,1,0\n1,0,0,1\n1,2,0,1\n0,1,1,0\n", "sequence"),
    "prose": ("a.txt", b"It was the best of times, it was the worst of times.\n", "sequence"),
    "table": ("a.txt", b"0.5\n1.5\n", "sequence"),
    "pairs": ("a.txt", b"0 1\n1 2\n", "graph"),
    "one axis": ("a.npy", array(np.arange(5.0)), "sequence"),
    "two axes": ("a.npy", array(np.ones((5, 5))), "grid"),
    "archive of a series": ("a.npz", archive(series=np.ones((4, 2))), "sequence"),
    "archive of a graph": ("a.npz", archive(edge_index=np.array([[0, 1], [1, 0]])), "graph"),
    "lines": ("a.jsonl", b'{"x": [1, 2]}\n', "sequence"),
    "nodes": ("a.json", b'{"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1}]}', "graph"),
    "letters": ("a.fa", b">a\nACGT\n", "sequence"),
}


@pytest.mark.parametrize("case", FILES)
def test_the_content_says_what_a_file_holds(case: str, tmp_path: Path) -> None:
    name, content, domain = FILES[case]
    path = tmp_path / name
    path.write_bytes(content)
    assert domain_of(path) == reader_of(path).domain == domain
    read: Sample = read_file(path)
    assert read.domain == domain


def test_what_does_not_open_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    (tmp_path / "a.unknown").write_bytes(b"\x01\x02\x03")
    for path in (tmp_path, tmp_path / "no.csv", tmp_path / "empty.csv", tmp_path / "a.unknown", Path("random:1x1x9x9")):
        assert domain_of(path) == ""


def test_the_domain_of_a_large_file_is_told_without_reading_it(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    with path.open("wb") as file:
        file.write(b"t,a\n" + b"".join(b"%d,1.5\n" % k for k in range(40_000)))
        file.truncate(2**30)
    tracemalloc.start()
    try:
        assert domain_of(path) == "sequence"
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


WIDE = ["utf-16", "utf-16-le", "utf-16-be", "utf-32"]


@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "t,Höhe\n0,2.5\n1,3\n"), ("a.tsv", "source\ttarget\nü\tb\nb\tc\n"),
        ("a.text", "first, second.\r\nthird."), ("a.jsonl", '{"a": 1.5}\n{"a": 2}\n'), ("a.fa", ">a\nACGT\n"),
    ],
)  # fmt: skip
def test_wide_text_is_read_as_what_it_says(encoding: str, name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / f"wide_{name}").write_bytes(text.encode(encoding))
    (tmp_path / f"plain_{name}").write_bytes(text.encode())
    wide, plain = (read_file(tmp_path / f"{how}_{name}") for how in ("wide", "plain"))
    np.testing.assert_array_equal(wide.x.values, plain.x.values)
    assert wide.channels == plain.channels and wide.domain == plain.domain
    told = [note for note in wide.notes if note not in plain.notes]
    assert told == ([f"text in {encoding[:6].upper()}"] if name.endswith(("sv", ".text")) else [])


@pytest.mark.parametrize("encoding", WIDE)
def test_wide_text_of_another_kind_is_told_as_such(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.gml"
    path.write_bytes("graph [ node [ id 0 ] ]".encode(encoding))
    with pytest.raises(ReadError, match=r"it is text in UTF-(16|32); save it as text in UTF-8\.$"):
        read_file(path)


def test_tables_of_old_spreadsheets_are_read_and_that_is_told(tmp_path: Path) -> None:
    told = "not text in UTF-8: read as Windows-1252"
    (tmp_path / "a.csv").write_bytes("t;Höhe\n0;1\n1;2\n".encode("cp1252"))
    sample = read_file(tmp_path / "a.csv")
    assert sample.channels == ("Höhe",) and told in sample.notes
    (tmp_path / "b.csv").write_bytes("source,target\nMüller,Özil\nÖzil,Bär\n".encode("cp1252"))
    sample = read_file(tmp_path / "b.csv")
    assert sample.names == ("Müller", "Özil", "Bär") and told in sample.notes
    (tmp_path / "c.txt").write_bytes("Über allen Gipfeln\nist Ruh,\n".encode("cp1252"))
    sample = read_file(tmp_path / "c.txt")
    assert "".join(sample.names) == "Über allen Gipfeln\nist Ruh," and told in sample.notes


@pytest.mark.parametrize(
    "content", [b"", b"a,b\n1,2\n", b"\x89PNG\r\n", b"\x00\x00\x00\x00\x00\x00", array(np.ones(3))[:64]]
)
def test_other_files_are_not_taken_for_wide_text(content: bytes) -> None:
    assert encoding_of(content) == PLAIN


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("a.fa", ">é\nACGT\n", "line 1, column 2"),
        ("a.jsonl", '{"a": 1}\n{"ä": 1}\n', "line 2, column 3"),
    ],
)
def test_latin_letters_are_told_with_their_place(name: str, text: str, place: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ReadError, match=place) as caught:
        read_file(path)
    assert "UTF-8" in str(caught.value)


def test_a_file_that_is_removed_while_it_is_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    path.write_text("0,1\n")

    def removed(path: Path) -> Sample:
        path.unlink(missing_ok=True)
        raise AssertionError(path.read_bytes())

    reader = replace(readers()["edges"], read=removed)
    monkeypatch.setattr(in_process, "reader_of", lambda path, name: reader)
    with pytest.raises(ReadError, match=r"cannot read a\.csv: no such file or directory; check the disk"):
        in_process.read_file(path)
