"""Every reader refuses files of a corpus in one sentence that says what is wrong, and takes no memory for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.data.reader_process.asking import Process
from explorer.data.reader_process.bounds import MB
from explorer.data.readers import ReadError, readers
from tests.explorer.parts.hostile.refused import refused_files
from tests.explorer.parts.hostile.trying import fault_of

LEAST = 2  # files for each reader
MOST = 64 * MB
CASES = [(reader, k) for reader, files in refused_files().items() for k in range(len(files))]


def test_there_are_some_for_every_reader() -> None:
    assert refused_files().keys() == set(readers())
    assert all(len(files) >= LEAST for files in refused_files().values())


@pytest.fixture(scope="module")
def process() -> Iterator[Process]:
    made = Process()
    yield made
    made.kill()


@pytest.mark.parametrize(("reader", "k"), CASES)
def test_a_file_of_the_corpus_is_refused(reader: str, k: int, process: Process, tmp_path: Path) -> None:
    name, content, says = refused_files()[reader][k]
    path = tmp_path / name
    path.write_bytes(content)
    for _ in range(2):  # the first time, libraries are loaded
        with pytest.raises(ReadError) as caught:
            process.ask("read", path, "", {})
    text = str(caught.value)
    assert not fault_of(text, path), text
    assert re.search(says, text), text
    assert process.alive and process.spent[0] < MOST, f"{process.spent[0] // MB} MB"
