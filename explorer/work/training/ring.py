"""Keep states of a training on the disk: so many and so large at most, old ones ever farther apart."""

from __future__ import annotations

import errno
import io
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from explorer.work.files.replacing import HALF, replacing

MOST = 40
MOST_BYTES = 512 * 2**20
_NAME = re.compile(r"step-(\d+)\.pt")


class NoRoom(OSError):
    """The disk takes no further state; one sentence."""


class Ring:
    """States in a folder, one file each, by the number of the step that they follow.

    A file is written under another name and renamed: one that is there is whole. When there are too many, the one goes
    whose neighbours in time are closest compared with its age; the first and the last stay.
    """

    def __init__(self, folder: Path, most: int = MOST, most_bytes: int = MOST_BYTES) -> None:
        self.folder, self._most, self._most_bytes = folder, most, most_bytes
        self._sizes: dict[int, int] = {}
        if folder.is_dir():
            for path in folder.iterdir():
                if found := _NAME.fullmatch(path.name):
                    self._sizes[int(found[1])] = path.stat().st_size
                elif HALF in path.name:  # of a process that was killed
                    path.unlink(missing_ok=True)

    @property
    def steps(self) -> list[int]:
        """Return the steps that are kept, in order."""
        return sorted(self._sizes)

    def keep(self, step: int, state: Mapping[str, Any]) -> None:
        """Write a state.

        Raises:
            NoRoom: the disk is full, or the folder cannot be written; what was kept before is there still.
        """
        buffer = io.BytesIO()
        torch.save(dict(state), buffer)
        data = buffer.getbuffer()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with replacing(self._path(step)) as beside:
                beside.write_bytes(data)
        except OSError as error:
            kept = f"the last one kept is of step {self.steps[-1]:,}" if self._sizes else "none is kept"
            why = "is full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "cannot be written"
            raise NoRoom(
                error.errno, f"the disk of {self.folder} {why}: the training goes on without new checkpoints, {kept}"
            ) from error
        self._sizes[step] = len(data)
        self._thin()

    def load(self, step: int) -> dict[str, Any]:
        """Return a state.

        Raises:
            ValueError: it is not there, or cannot be read.
        """
        try:
            found: dict[str, Any] = torch.load(self._path(step), weights_only=True)
        except Exception as error:  # of torch's reader, of many kinds
            raise ValueError(f"the checkpoint of step {step:,} cannot be read") from error
        return found

    def newest(self) -> dict[str, Any] | None:
        """Return the last state that can be read; None where there is none."""
        for step in reversed(self.steps):
            try:
                return self.load(step)
            except ValueError:
                continue
        return None

    def drop_after(self, step: int) -> None:
        """Take away what followed a step: the training goes on from there in another way."""
        for later in [s for s in self.steps if s > step]:
            self._drop(later)

    def clear(self) -> None:
        """Take away everything."""
        for step in self.steps:
            self._drop(step)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, step: int) -> Path:
        return self.folder / f"step-{step:08d}.pt"

    def _drop(self, step: int) -> None:
        self._path(step).unlink(missing_ok=True)
        del self._sizes[step]

    def _thin(self) -> None:
        while len(self._sizes) > 2 and (len(self._sizes) > self._most or sum(self._sizes.values()) > self._most_bytes):
            steps = self.steps
            last = steps[-1]
            gaps = {
                here: (after - before) / (last - before)
                for before, here, after in zip(steps, steps[1:], steps[2:], strict=False)
            }
            self._drop(min(gaps, key=gaps.__getitem__))
