"""Memory that is not enough for the program itself: one sentence, and the exit code of bad input."""

from __future__ import annotations

import builtins
import errno
import subprocess
import sys
from typing import Any

import pytest

import main
from explorer.app.thread.failures import out_of_memory, sentence
from explorer.work.files.places import ROOT
from explorer.work.processes.no_room import SENTENCE, told

BEGIN = "from explorer.work.processes.no_room import say_no_room\nsay_no_room()\n"
STARVED = {
    "by Python": "raise MemoryError",
    "by the system": "raise OSError(12, 'Cannot allocate memory', 'explorer')",
    "by the loader": "raise ImportError('libtorch_cpu.so: failed to map segment from shared object')",
    "while another is told": "try:\n    raise MemoryError\nexcept MemoryError:\n    raise KeyError('explorer')",
}


@pytest.mark.parametrize("code", STARVED.values(), ids=STARVED)
def test_a_program_that_has_no_room_to_be_imported_says_so_in_one_line(code: str) -> None:
    """It ended with tracebacks, and with the code that means that a law is broken."""
    made = subprocess.run([sys.executable, "-c", BEGIN + code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (made.returncode, made.stderr) == (2, f"equiscope: {SENTENCE}\n")


def test_any_other_exception_is_told_as_python_tells_it() -> None:
    made = subprocess.run(
        [sys.executable, "-c", f"{BEGIN}raise OSError(2, 'gone')"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert made.returncode == 1 and "Traceback" in made.stderr
    with pytest.raises(KeyError):
        told(lambda: str({}["missing"]))


def test_a_command_that_has_no_room_to_tell_what_is_wrong_says_that(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    imported = builtins.__import__

    def none_left(name: str, *rest: Any) -> Any:
        if name.startswith("explorer.app.thread"):
            raise OSError(errno.ENOMEM, "Cannot allocate memory", name)
        return imported(name, *rest)

    def cards() -> Any:
        monkeypatch.setattr(builtins, "__import__", none_left)
        raise MemoryError

    monkeypatch.setattr(main, "cards", cards)
    code = main.main(["train", "d4-cnn"])
    monkeypatch.undo()
    assert code == 2 and capsys.readouterr().err == f"equiscope: {SENTENCE}\n"


def test_a_lack_of_memory_is_known_however_it_is_said() -> None:
    system = OSError(errno.ENOMEM, "Cannot allocate memory", "explorer")
    loader = ImportError("libtorch_cpu.so: failed to map segment from shared object")
    assert out_of_memory(system) and out_of_memory(loader) and "not enough memory" in sentence(loader)
    assert not out_of_memory(OSError(errno.ENOENT, "gone")) and not out_of_memory(ImportError("no module named x"))
