"""One command of the command line in this process: what it returned and printed."""

from __future__ import annotations

import json
from typing import Any

HEAD = "import torch\nfrom torch import nn\n\n"


class Said:
    """The exit code and the output of one command."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        def no_constant(text: str) -> Any:
            raise AssertionError(f"{text} is no JSON")

        return json.loads(self.out, parse_constant=no_constant)


def refused(said: Said, *parts: str) -> None:
    """Assert exit code 2, nothing on stdout, and one line on stderr that has all of `parts`."""
    assert said.code == 2, said.out
    assert said.out == ""
    assert said.err.startswith("equiscope: ") and said.err.count("\n") == 1, said.err
    assert "Traceback" not in said.err and len(said.err) < 320
    for part in parts:
        assert part in said.err, said.err
