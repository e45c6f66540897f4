"""The program ends in good order at any moment at which that is asked for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from explorer.work.processes.asked_to_end import Terminated, give_way, held, orderly, wished

ROOT = Path(__file__).resolve().parents[4]
NUMBERS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]


def ask(number: int) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize(("number", "code"), NUMBERS)
def test_what_was_begun_is_taken_back(number: int, code: int) -> None:
    with pytest.raises(KeyboardInterrupt) as why, orderly():
        ask(number)
        time.sleep(5)
    assert isinstance(why.value, Terminated) == (code == 143)


def test_within_qt_the_end_waits_until_it_can_be_told() -> None:
    done = []
    with pytest.raises(Terminated), orderly(), held():
        ask(signal.SIGTERM)
        done.append(wished())
    assert done == [True] and not wished()
    with pytest.raises(KeyboardInterrupt), orderly(), held():
        ask(signal.SIGINT)
        give_way()
        done.append(True)
    assert len(done) == 1
    give_way()


def test_an_import_is_not_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Libraries abort the process when an exception comes out of what they do while they are imported."""
    (tmp_path / "slow_to_import.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGTERM)\ntime.sleep(0.2)\nWHOLE = True\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(Terminated), orderly():
        import slow_to_import

        assert slow_to_import.WHOLE
        time.sleep(5)
    assert sys.modules.pop("slow_to_import").WHOLE


@pytest.mark.slow
def test_an_import_that_takes_long_by_the_clock_loses_no_wish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Libraries catch whatever comes while they try what there is to import; a busy machine makes that a minute."""
    (tmp_path / "busy_to_import.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGTERM)\nbegun = time.monotonic()\n"
        "try:\n    while time.monotonic() < begun + 12: time.sleep(0.1)\n    WHOLE = True\n"
        "except BaseException:\n    WHOLE = False\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(Terminated), orderly():
        import busy_to_import

        assert busy_to_import.WHOLE
        time.sleep(5)
    assert sys.modules.pop("busy_to_import").WHOLE


@pytest.mark.parametrize(("number", "code"), NUMBERS)
@pytest.mark.parametrize(
    ("words", "first"),
    [(["main.py"], "argparse"), (["main.py"], "explorer.app"), (["-m", "equiscope"], "explorer.app")],
)
def test_an_end_during_the_first_imports_has_its_code(
    number: int, code: int, words: list[str], first: str, tmp_path: Path
) -> None:
    """The first module that the program imports after its handlers asks for the end here."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Asks:\n"
        "    def find_spec(self, name, path, target=None):\n"
        f"        if name == {first!r}:\n"
        f"            import os; os.kill(os.getpid(), {int(number)})\n"
        "sys.meta_path.insert(0, Asks())\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))}
    done = subprocess.run(
        [sys.executable, *words, "list", "models"], cwd=ROOT, env=environment, capture_output=True, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (code, "equiscope: stopped\n")


def test_who_was_asked_to_end_waits_for_no_thread() -> None:
    program = (
        "import atexit, threading, time, main\n"
        "from explorer.app.command import cli\n"
        "atexit.register(lambda: print('taken back'))\n"
        "def asked(*_):\n    threading.Thread(target=time.sleep, args=(60,)).start()\n    return 143\n"
        "cli.main = asked\n"
        "main.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=50)
    assert (done.returncode, done.stdout, done.stderr) == (143, "taken back\n", "")
