"""Exceptions of a network of a person's own are told with the line of their file."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from explorer.app.answering.engine import LocalEngine
from explorer.app.thread.failures import failure_of, relayed
from explorer.state.state import State

NET = """
from torch import nn
import helper
INPUT_SHAPE = (1, 8, 8)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
    def forward(self, x):
        return helper.end(self.conv(x))
"""


@pytest.mark.parametrize(
    ("end", "told"),
    [("x[:, 7]", "(helper.py, line 2)"), ("x.to_sparse()", "make it dense with .to_dense()"), ("'words'", "words")],
)
def test_the_line_is_told_where_there_is_one(end: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET)
    (tmp_path / "helper.py").write_text(f"def end(x):\n    return {end}\n")
    state = State(f"{tmp_path / 'net.py'}:Net", sample="random:1x1x8x8")
    with pytest.raises(Exception) as found:
        LocalEngine({}, trust=True).answer(state, lambda: False)
    text = failure_of(found.value, state).sentence
    crossing = relayed(found.value, (state.model,))[0]
    assert text == crossing and ("line" in text) == ("line" in told)
    assert told in text or told == "words"


def test_a_network_of_the_program_has_no_such_line() -> None:
    try:
        nn.Linear(2, 2)(torch.zeros(3))
    except RuntimeError as error:
        assert ".py" not in failure_of(error, State("plain-cnn")).sentence
