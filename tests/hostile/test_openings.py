"""Networks of files that nobody has trusted are refused in a sentence that names them, and nothing in them runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.network.opening.loading import find_card
from explorer.network.opening.refusals import ModelError
from tests.hostile.openings import run


@pytest.mark.slow
def test_changed_files_of_networks_are_refused_in_a_sentence() -> None:
    wrong, kinds = run(600, seed=5)
    assert wrong == 0
    assert len(kinds) > 5 and sum(kinds.values()) == 600


@pytest.mark.parametrize("content", [b"import torch\n\0\n", b"import torch\n\xff\xfe\n"])
def test_a_python_file_that_is_no_text_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "net.py"
    path.write_bytes(content)
    with pytest.raises(
        ModelError, match=r"^net\.py cannot be read as a model: it .* text.*; save it as text in UTF-8$"
    ):
        find_card(str(path), {})
