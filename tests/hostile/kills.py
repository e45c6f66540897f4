"""Kill the program while it writes: what is there afterwards is the old file or the new one, and the next start works.

`python -m tests.hostile.kills --count 500 --seed 0` kills at random moments of writing sessions, settings, exports,
runs, weights, checkpoints, caches and what is trusted. `crash_points` kills before each change of the disk, in turn.
Each kill is of a process that was forked for it, so that it costs milliseconds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHANGES = ("replace", "rename", "link", "unlink", "mkdir", "rmdir", "fsync", "chmod", "close")  # of the disk, in os
WINDOW_S = 0.03  # after the begin of the work, in which it is killed
SIZE = 20_000  # of what is written, so that it takes more than one write


@dataclass(frozen=True, slots=True)
class Work:
    """Something that writes.

    Attributes:
        write: writes a version of it, 0 or 1, into a folder.
        read: returns the versions that are found there; raises where a file is half.
    """

    name: str
    write: Callable[[Path, int], None]
    read: Callable[[Path], set[int]]


# what is written ----------------------------------------------------------------------------------------------
def _save_session(folder: Path, version: int) -> None:
    from explorer.state.session import save_session
    from explorer.state.state import State

    save_session(folder / "a.json", State(seed=version), {"text": str(version) * SIZE})


def _read_session(folder: Path) -> set[int]:
    from explorer.state.session import load_session

    session = load_session(folder / "a.json")
    assert session.text == str(session.state.seed) * SIZE
    return {session.state.seed}


def _report(folder: Path, version: int) -> None:
    import torch

    from explorer.app.command.writing import write_report

    told = {"transform": str(version), "what": str(version) * SIZE}
    write_report(folder / "out", told, {"x": torch.full((SIZE,), float(version))})


def _read_report(folder: Path) -> set[int]:
    from safetensors.torch import load_file

    found = json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))
    assert found["what"] == found["transform"] * SIZE
    values = load_file(folder / "out" / "captures.safetensors")["x"]
    assert len(values) == SIZE and len(values.unique()) == 1
    return {int(found["transform"]), int(values[0])}


def _weights(folder: Path, version: int) -> None:
    import torch

    from explorer.app.command.writing import save_tensors

    save_tensors(folder / "w.safetensors", {"w": torch.full((SIZE,), float(version))}, {})


def _read_weights(folder: Path) -> set[int]:
    from safetensors.torch import load_file

    values = load_file(folder / "w.safetensors")["w"]
    assert len(values) == SIZE and len(values.unique()) == 1
    return {int(values[0])}


def _cache(folder: Path, version: int) -> None:
    import numpy as np

    from explorer.work.files import disk_cache

    os.environ["EQUISCOPE_CACHE"] = str(folder / "cache")
    disk_cache.store("0" * 32, {"x": np.full(SIZE, float(version))}, 9.0)


def _read_cache(folder: Path) -> set[int]:
    from explorer.work.files import disk_cache

    os.environ["EQUISCOPE_CACHE"] = str(folder / "cache")
    values = disk_cache.load("0" * 32)["x"]
    assert len(values) == SIZE and len(set(values)) == 1
    return {int(values[0])}


def _trust(folder: Path, version: int) -> None:
    from explorer.network.opening.files import trust

    os.environ["EQUISCOPE_CONFIG"] = str(folder / "config")
    trust.revoke({str(1 - version) * 64})
    trust.remember([(str(folder / f"net{version}.py"), str(version) * 64)])


def _read_trust(folder: Path) -> set[int]:
    from explorer.network.opening.files import trust

    os.environ["EQUISCOPE_CONFIG"] = str(folder / "config")
    path = folder / "config" / trust.NAME
    assert not path.exists() or isinstance(json.loads(path.read_text(encoding="utf-8")), dict)
    return {int(one.digest[0]) for one in trust.listed()} or {0, 1}  # between the two steps there is none


def _checkpoint(folder: Path, version: int) -> None:
    import torch

    from explorer.work.training.ring import Ring

    ring = Ring(folder / "kept", most=3)
    step = (ring.steps or [0])[-1] + 1
    ring.keep(step, {"step": step, "values": torch.full((SIZE,), float(step))})


def _read_checkpoint(folder: Path) -> set[int]:
    from explorer.work.training.ring import Ring

    ring = Ring(folder / "kept", most=3)
    for step in ring.steps:  # each that is there is whole
        found = ring.load(step)
        assert found["step"] == step and (found["values"] == step).all()
    assert ring.steps
    return {0, 1}


def _settings(folder: Path, version: int) -> None:
    from PySide6.QtCore import QByteArray, QSettings

    settings = QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)
    settings.setValue("version", version)
    settings.setValue("layout", QByteArray(str(version).encode() * SIZE))
    settings.setValue("recent", [f"/a/b/{version}"] * 10)
    settings.sync()


def _read_settings(folder: Path) -> set[int]:
    from PySide6.QtCore import QSettings

    settings = QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)
    assert settings.status() == QSettings.Status.NoError
    version = int(str(settings.value("version")))
    assert bytes(settings.value("layout").data()) == str(version).encode() * SIZE
    assert settings.value("recent") == [f"/a/b/{version}"] * 10
    return {version}


def _figure(folder: Path, version: int) -> None:
    from widgets.figures.export import put

    put(folder / "figure.svg", str(version).encode() * SIZE)


def _read_figure(folder: Path) -> set[int]:
    found = (folder / "figure.svg").read_text(encoding="ascii")
    assert found in ("0" * SIZE, "1" * SIZE)
    return {int(found[0])}


WORKS = (
    Work("session", _save_session, _read_session),
    Work("run", _report, _read_report),
    Work("weights", _weights, _read_weights),
    Work("cache", _cache, _read_cache),
    Work("trust", _trust, _read_trust),
    Work("checkpoint", _checkpoint, _read_checkpoint),
)
WITH_QT = (Work("settings", _settings, _read_settings), Work("figure", _figure, _read_figure))


# killing ------------------------------------------------------------------------------------------------------
def _forked(doing: Callable[[], None]) -> int:
    """Do something in a process of its own; return its id. It ends with 0 when it is done."""
    if pid := os.fork():
        return pid
    code = 1
    try:
        doing()
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


def killed_at_random(work: Work, folder: Path, rng: random.Random) -> None:
    """Let it write again and again, and kill it at a random moment; raise AssertionError for what is half."""
    reading, writing = os.pipe()

    def write() -> None:
        os.write(writing, b"go")
        for turn in range(10**6):
            work.write(folder, turn % 2)

    pid = _forked(write)
    os.close(writing)
    os.read(reading, 2)
    os.close(reading)
    time.sleep(rng.uniform(0, WINDOW_S))
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status), f"{work.name} ended by itself"
    assert work.read(folder) <= {0, 1}


def crash_points(work: Work, folder: Path) -> Iterator[int]:
    """Let it write over the old version and kill it before its first change of the disk, its second, and so on.

    Yields:
        the number of each change, when what is there has been read and found whole.
    """
    number = 0
    while True:
        number += 1
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        work.write(folder, 0)

        def write(number: int = number) -> None:
            _die_before(number)
            work.write(folder, 1)

        _, status = os.waitpid(_forked(write), 0)
        found = work.read(folder)
        if not os.WIFSIGNALED(status):
            assert os.waitstatus_to_exitcode(status) == 0 and 1 in found
            return
        assert found <= {0, 1}
        work.write(folder, 1)  # the next start works
        assert 1 in work.read(folder)
        yield number


def _die_before(number: int) -> None:
    """Kill this process before its change of the disk of that number."""
    left = [number]

    def dying(change: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*given: Any, **named: Any) -> Any:
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            return change(*given, **named)

        return changed

    for name in CHANGES:
        setattr(os, name, dying(getattr(os, name)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    import torch  # noqa: F401  # before the first fork, whose children have it then

    import widgets.figures.export  # noqa: F401

    rng, done, half = random.Random(args.seed), Counter[str](), 0
    works = (*WORKS, *WITH_QT)
    with tempfile.TemporaryDirectory(prefix="equiscope-kills-") as place:
        for work in works:
            Path(place, work.name).mkdir()
            work.write(Path(place, work.name), 0)
        for number in range(args.count):
            work = works[number % len(works)]
            try:
                killed_at_random(work, Path(place, work.name), rng)
            except Exception as error:
                half += 1
                print(f"kill {number}: {work.name}: {type(error).__name__}: {error}", flush=True)
                shutil.rmtree(Path(place, work.name))
                Path(place, work.name).mkdir()
            done[work.name] += 1
            work.write(Path(place, work.name), 0)  # the next start works
        for work in works:
            folder = Path(place, f"{work.name}-points")
            print(f"{work.name}: {done[work.name]} kills, and before each of {len(list(crash_points(work, folder)))}")
    print(f"{args.count} kills, {half} found half")
    return 1 if half else 0


if __name__ == "__main__":
    sys.exit(main())
