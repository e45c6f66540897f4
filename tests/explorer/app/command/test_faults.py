"""Try faults of the world: signals, a full disk, no home, odd names, another language, a clock set back."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.explorer.parts.misbehaving import network, ramp
from tests.explorer.parts.process_program import PROGRAM

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="limits and processes of Linux")]
LONGEST = 60.0  # seconds; only ever reached by a test that fails
SCRIPT = f"import sys; from {PROGRAM} import main; sys.exit(main())"
NAMES = ("with spaces", "Übermaß", "한글", "two\nlines", "percent %s {0}", "quote'\"")


def command(
    folder: Path, *words: object, before: Callable[[], Any] | None = None, **environment: str | None
) -> subprocess.Popen[str]:
    """Start the program on the small cards; an environment of None takes that variable away."""
    place = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "EQUISCOPE_CACHE": str(folder / "cache"), "TMPDIR": str(folder / "tmp"), **environment,
    }  # fmt: skip
    (folder / "tmp").mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="surrogateescape",
        env={name: value for name, value in place.items() if value is not None}, preexec_fn=before,
    )  # fmt: skip


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    with process:
        out, err = process.communicate(timeout=LONGEST)
    return process.returncode, out, err


def in_one_sentence(end: tuple[int, str, str], *parts: str) -> None:
    code, out, err = end
    assert (code, out) == (2, ""), end
    assert err.startswith("equiscope: ") and err.count("\n") == 1 and len(err) < 320, err
    for part in parts:
        assert part in err


WAITS = "print('there', flush=True); threading.Event().wait()"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("apart", ["0", "1"])
def test_a_signal_ends_it_and_nothing_is_left(tmp_path: Path, number: int, code: int, apart: str) -> None:
    out = tmp_path / "out"
    words = ["run", network(tmp_path, WAITS), "--trust", "--data", ramp(tmp_path), "--out", out, "--no-pictures"]
    # a shell lets what runs in the background ignore the interrupt
    listens = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    process = command(
        tmp_path, *words, "--transform", "rotate:180", before=listens, EQUISCOPE_PROCESS=apart,
    )  # fmt: skip
    assert process.stderr is not None and process.stderr.readline() == "there\n"
    before = sorted(path.name for path in tmp_path.iterdir())
    process.send_signal(number)
    assert ended(process) == (code, "", "equiscope: stopped\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert not out.exists() and not list((tmp_path / "tmp").iterdir())


def test_a_network_that_ends_itself_by_a_signal_is_named(tmp_path: Path) -> None:
    heard = partial(signal.signal, signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
    for name in ("SIGTERM", "SIGINT"):
        model = network(tmp_path, f"os.kill(os.getpid(), signal.{name}); time.sleep(60)")
        words = ["check", model, "--trust", "--group", "C4", "--data", ramp(tmp_path)]
        in_one_sentence(ended(command(tmp_path, *words, before=heard)), f"Net in net.py was ended by {name}")


def test_a_full_disk_is_told_and_what_was_there_stays(tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["run", "fine", "--out", out, "--no-pictures"]
    assert ended(command(tmp_path, *words))[0] == 0
    first = {path.name: path.read_bytes() for path in out.iterdir()}

    def full() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))

    in_one_sentence(ended(command(tmp_path, *words, before=full)), f"File too large: {out / 'report.json'}")
    assert {path.name: path.read_bytes() for path in out.iterdir()} == first
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize(
    "environment",
    [
        {"HOME": None},
        {"HOME": "/no/such/home", "XDG_CACHE_HOME": None, "XDG_CONFIG_HOME": None, "EQUISCOPE_CACHE": None},
        {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"TZ": "Asia/Kathmandu", "LC_ALL": "tr_TR.UTF-8"},
        {"COLUMNS": "0", "TERM": "dumb"},
    ],
    ids=["no home", "a home that is not there", "C", "another language", "no terminal"],
)
def test_another_place_to_run_in(tmp_path: Path, environment: dict[str, str | None]) -> None:
    out = tmp_path / "Größe 한글"
    code, said, err = ended(command(tmp_path, "run", "fine", "--out", out, "--no-pictures", **environment))
    assert (code, err) == (0, "") and (out / "report.json").is_file(), said
    assert "report.json" in said


@pytest.mark.parametrize("name", NAMES)
def test_names_of_folders_and_files(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    words = ["run", network(folder), "--trust", "--data", ramp(folder), "--out", folder / name, "--no-pictures"]
    code, _, err = ended(command(tmp_path, *words))
    assert (code, err) == (0, "") and (folder / name / "report.json").is_file()
    gone = ended(command(tmp_path, "run", "fine", "--data", folder / f"{name}.npy", "--out", folder / "x"))
    in_one_sentence(gone)


def test_two_at_once_on_one_cache(tmp_path: Path) -> None:
    outs = [tmp_path / f"out {k}" for k in range(3)]
    started = [command(tmp_path, "run", "fine", "--out", out, "--no-pictures") for out in outs]
    assert [ended(one)[0] for one in started] == [0, 0, 0]
    same = {(out / "captures.safetensors").read_bytes() for out in outs}
    assert len(same) == 1


def test_a_clock_that_was_set_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    from explorer.work.files import disk_cache

    monkeypatch.setenv("EQUISCOPE_CACHE", str(tmp_path))
    for key, when in (("a" * 32, 4e9), ("b" * 32, 1.0)):
        disk_cache.store(key, {"x": np.arange(3)}, 9.0)
        os.utime(tmp_path / f"{key}.safetensors", (when, when))
    disk_cache.store("c" * 32, {"x": np.arange(3)}, 9.0)
    assert all(len(disk_cache.load(key * 32)["x"]) == 3 for key in "abc")


@pytest.mark.parametrize("word", ["tests/" * 20_000, "a.py:" * 20_000, "a " * 50_000])
def test_a_name_of_a_hundred_thousand_characters_is_told_in_brief_and_at_once(tmp_path: Path, word: str) -> None:
    for verb in ("check", "inspect"):
        code, out, err = ended(command(tmp_path, verb, word))
        assert (code, out) == (2, "") and err.startswith("equiscope: ") and len(err) < 600, err[:700]


BEFORE_IT_LISTENS = """
import os, runpy, signal, sys

class Pressed:
    def find_spec(self, name, *_):
        if name == "explorer.work.crumbs":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Pressed())
signal.signal(signal.SIGINT, signal.default_int_handler)
"""


@pytest.mark.parametrize(
    "how", ["runpy.run_path('main.py', run_name='__main__')", "import equiscope.__main__"], ids=["file", "module"]
)
def test_an_interrupt_before_it_listens_leaves_no_traceback(how: str) -> None:
    started = [sys.executable, "-c", f"{BEFORE_IT_LISTENS}\n{how}"]
    done = subprocess.run(started, capture_output=True, text=True, timeout=LONGEST, cwd=Path(__file__).parents[4])
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize("words", ["check c4-cnn", "run c4-cnn --out out", "--screenshot a.png"])
def test_a_folder_that_is_gone_is_told(tmp_path: Path, words: str) -> None:
    """torch's library ends the process there with a line of its own."""
    gone, program = tmp_path / "gone", Path(__file__).parents[4] / "main.py"
    gone.mkdir()
    calls = f"cd '{gone}' && rmdir '{gone}' && exec '{sys.executable}' '{program}' {words}"
    place = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(["sh", "-c", calls], capture_output=True, text=True, timeout=LONGEST, env=place)
    in_one_sentence((done.returncode, done.stdout, done.stderr), "the folder that this was called in is gone")
