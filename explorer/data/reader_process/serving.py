"""The process that reads files: it answers one request after the other, each within its bounds."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from explorer.data.reader_process.bounds import Bounds, peak, watch_peak
from explorer.data.reader_process.carrying import receive, send
from explorer.work.processes.birth import born
from explorer.work.processes.footprint import footprint


def main(words: list[str]) -> None:
    """Serve until the line is closed."""
    end = born(words, tied=False)
    from explorer.data.readers import readers

    readers()
    connection = end.connection
    send(connection, "ready")
    while True:
        try:
            (memory, seconds), what, path, *given = receive(connection)
        except (EOFError, OSError):
            return
        before, began = footprint().resident, time.process_time()
        watch_peak()
        Bounds(memory, seconds).apply()
        answer = _answered(what, path, given)
        spent = max(0, peak() - before), time.process_time() - began
        try:
            send(connection, (*answer, spent))
        except MemoryError:
            send(connection, ("full", "", spent))


def _answered(what: str, path: str, given: list[Any]) -> tuple[str, object]:
    from explorer.data import in_process
    from explorer.data.formats.checks import reason, refusal
    from explorer.data.readers import ReadError

    asked: dict[str, Callable[..., object]] = {
        "read": in_process.read_file,
        "readings": in_process.named_readings,
        "reader": lambda path, name: in_process.reader_of(path, name).name,
        "choices": in_process.choices,
    }
    try:
        return "done", asked[what](Path(path), *given)
    except ReadError as error:
        return "refused", str(error)
    except MemoryError:
        return "full", ""
    except OSError as error:  # somebody has removed it meanwhile, or the disk has gone
        told = reason(error) or "it cannot be read"
        return "refused", str(refusal(Path(path), told, "check the disk and try again"))
    except Exception as error:  # a defect; files are refused by ReadError
        return "failed", type(error).__name__
