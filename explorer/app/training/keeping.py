"""Keep a training on the disk while it runs, as often as costs little, and take it up again."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from explorer.app.command.doors import BadInput
from explorer.app.command.writing import save_weights
from explorer.app.training.driving import Drive
from explorer.work.files.replacing import write_whole
from explorer.work.training.ring import NoRoom, Ring

EVERY_S = 1.0
SHARE = 0.01  # of the time may be spent on writing


@dataclass(frozen=True, slots=True)
class Plan:
    """The settings of a training: with others it cannot be taken up from the same states."""

    model: str
    epochs: int | None
    seed: int

    def differs(self, kept: Mapping[str, Any]) -> str:
        """Return how this plan differs from the one that was kept, as part of a sentence; "" where it does not."""
        for name, value in asdict(self).items():
            if kept.get(name) != value:
                return f"has {name} {kept.get(name)}, not {value}"
        return ""


class Keeper:
    """Keeps the states of one training in a folder.

    Attributes:
        told: the sentence of a disk that takes no more, "" where it does.
    """

    def __init__(self, folder: Path, plan: Plan, every_s: float = EVERY_S) -> None:
        self.ring = Ring(folder)
        self.plan = plan
        self.told = ""
        self._every, self._due = every_s, 0.0

    @property
    def _record(self) -> Path:
        return self.ring.folder / "training.json"

    def found(self) -> Mapping[str, Any] | None:
        """Return the plan of the training that is kept there, None where there is none."""
        try:
            record: Mapping[str, Any] = json.loads(self._record.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return record if self.ring.steps else None

    def begin(self) -> None:
        """Note down what training this is."""
        try:
            self.ring.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._record, json.dumps({**asdict(self.plan), "torch": torch.__version__}).encode())
        except OSError as error:
            self.told = f"{self.ring.folder} cannot be written ({error.strerror}): nothing is kept of this training"

    def due(self) -> bool:
        return time.monotonic() >= self._due

    def keep(self, drive: Drive) -> bool:
        """Keep the present state, of which every parameter is a number; return whether it is kept."""
        if drive.course is None or not drive.course.finite():
            return False
        start = time.monotonic()
        try:
            self.ring.keep(drive.course.at, drive.course.state())
            self.told = ""
        except NoRoom as error:
            sentence = str(error.strerror)
            self.told = sentence[:1].upper() + sentence[1:]
        took = time.monotonic() - start
        self._due = start + (max(self._every, took / SHARE) if self._every else 0.0)
        return not self.told


def save_trained(path: Path, model: nn.Module, metadata: Mapping[str, str]) -> None:
    """Write what a training has led to; where its place takes no more, in the folder for temporary files.

    Raises:
        BadInput: the weights are not where they should be; it says where they are.
    """
    try:
        save_weights(path, model, metadata)
    except OSError as error:
        sentence = f"{path} cannot be written: {(error.strerror or str(error)).lower()}"
        try:
            folder = Path(tempfile.mkdtemp(prefix="equiscope-"))
            save_weights(folder / path.name, model, metadata)
        except OSError:
            raise BadInput(sentence) from None
        raise BadInput(f"{sentence}; the weights are in {folder / path.name}") from None
