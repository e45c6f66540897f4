"""A training that is killed at any moment and resumed ends with the same bits as one that was not."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from explorer.work.files.places import ROOT

STEPS = 120
LONGEST_S = 240.0


def started(out: Path, log: Path, *more: str) -> subprocess.Popen[bytes]:
    words = [
        "train",
        "gcn",
        "--steps",
        str(STEPS),
        "--out",
        str(out),
        "--log",
        str(log),
        "--errors",
        "20",
        "--seed",
        "4",
    ]
    words += ["--keep-every", "0.05", *more]
    with out.with_suffix(".txt").open("wb") as said:
        return subprocess.Popen([sys.executable, str(ROOT / "main.py"), *words], stderr=said, cwd=ROOT)


def told(log: Path) -> list[bytes]:
    return log.read_bytes().splitlines() if log.exists() else []


@pytest.mark.slow
def test_killed_and_resumed_is_the_same_to_the_bit(tmp_path: Path) -> None:
    unbroken, log = tmp_path / "unbroken.safetensors", tmp_path / "unbroken.jsonl"
    assert started(unbroken, log).wait(LONGEST_S) == 0
    chance = random.Random(time.time_ns())
    moments = sorted(chance.sample(range(1, STEPS - 10), 3))
    out, killed_log = tmp_path / "killed.safetensors", tmp_path / "killed.jsonl"
    for k, moment in enumerate(moments):
        process = started(out, killed_log, *(["--resume"] if k else []))
        end = time.monotonic() + LONGEST_S
        while len(told(killed_log)) < moment and process.poll() is None and time.monotonic() < end:
            pass
        process.send_signal(signal.SIGKILL)
        process.wait(LONGEST_S)
    kept = tmp_path / "killed.safetensors.training"
    assert not out.exists() and list(kept.glob("step-*.pt")), f"nothing was killed at {moments}"
    assert started(out, killed_log).wait(LONGEST_S) == 2  # nobody loses it by forgetting --resume
    assert "cut off after" in out.with_suffix(".txt").read_text()
    assert started(out, killed_log, "--resume").wait(LONGEST_S) == 0 and not kept.exists()
    assert unbroken.read_bytes() == out.read_bytes(), moments
    assert told(log)[:-1] == told(killed_log)[:-1], moments  # the last line names the file
    steps = [json.loads(line) for line in told(killed_log)[:-1]]
    assert [line["step"] for line in steps if "losses" in line] == list(range(1, STEPS + 1))
    assert [line["step"] for line in steps if "errors" in line] == list(range(0, STEPS + 1, 20))
