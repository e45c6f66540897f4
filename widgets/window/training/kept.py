"""Keep what there is of a training that ended unfinished beside its weights: a later start goes on from there.

It is the folder that `train --resume` takes up, with the settings of each step and the curves so far in it.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QCheckBox, QComboBox

from explorer.app.training.channel import RECORD
from widgets.window.training.fields import Weights
from widgets.window.training.told import Series, Told, Wanted

ENDING = ".training"  # of the folder, behind the name of the weights
PLAN, SETTINGS, CURVES = "training.json", "steered.json", "curves.json"
KEPT = "kept"  # of the folder of one that runs
SERIES = "losses", "errors", "figures"


def folder_of(path: Path) -> Path:
    """Return the folder of what is kept of a training whose weights are to be in a file."""
    return path.parent / f"{path.name}{ENDING}"  # also while the first letter is typed


def plan_of(folder: Path) -> Mapping[str, Any]:
    """Return what training is kept in a folder, with the last step in it; {} where there is none."""
    try:
        plan = json.loads((folder / PLAN).read_text(encoding="utf-8"))
        steps = [int(path.stem.partition("-")[2]) for path in folder.glob("step-*.pt")]
    except (OSError, ValueError):
        return {}
    return {**plan, "step": max(steps)} if isinstance(plan, dict) and steps else {}


def keep(folder: Path, wanted: Wanted, told: Told) -> bool:
    """Put what is kept of a training that ended unfinished beside its weights; say whether there is anything."""
    made = folder / KEPT
    if not plan_of(made):
        return False
    try:
        _write(made, told, wanted.examples)
    except OSError:  # a disk that is full has been told of before
        return False
    return put_beside(folder, wanted.path)


def recover(folder: Path, examples: str) -> None:
    """Draw the curves of a training whose window was killed from what is on record of it."""
    told, made = Told(), folder / KEPT
    _read(made, told)  # of one that had been gone on with there are those until then
    with contextlib.suppress(OSError), (folder / RECORD).open(encoding="utf-8") as lines:
        for line in lines:
            with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):  # the last one may be cut off
                told.hear(json.loads(line))
    with contextlib.suppress(OSError):
        _write(made, told, examples)


def put_beside(folder: Path, path: Path) -> bool:
    """Put what is kept in the folder of a training beside its weights; say whether it is there."""
    made, found = folder / KEPT, folder_of(path)
    if not plan_of(made) or (found.exists() and not plan_of(found)):  # what lies there is no training
        return False
    try:
        if (settings := made.parent / SETTINGS).is_file():
            shutil.copyfile(settings, made / SETTINGS)
        shutil.rmtree(found, ignore_errors=True)
        shutil.move(made, found)
    except OSError:
        return False
    return True


def take_up(folder: Path, wanted: Wanted, told: Told) -> bool:
    """Give a training that is about to start what is kept of an earlier one; say whether it goes on from that."""
    made, found = folder / KEPT, folder_of(wanted.path)
    if not (wanted.goes_on and plan_of(found)):
        return False
    shutil.copytree(found, made, dirs_exist_ok=True)
    if (made / SETTINGS).is_file():
        shutil.move(made / SETTINGS, made.parent / SETTINGS)
    _read(made, told)
    return True


def as_kept(wanted: Wanted) -> Wanted:
    """Return the settings with those that the kept training was begun with: with others it could not go on."""
    found = folder_of(wanted.path)
    if not wanted.goes_on or not (plan := plan_of(found)):
        return wanted
    try:
        examples = str(json.loads((found / CURVES).read_text(encoding="utf-8"))["examples"])
    except (OSError, ValueError, KeyError, TypeError):
        examples = wanted.examples
    return replace(wanted, epochs=plan["epochs"] or 0, seed=plan["seed"], examples=examples)


def forget(path: Path) -> None:
    """Take away what was kept of a training that is over: its weights are written."""
    if plan_of(folder_of(path)):
        shutil.rmtree(folder_of(path), ignore_errors=True)


def _read(made: Path, told: Told) -> None:
    try:
        curves = json.loads((made / CURVES).read_text(encoding="utf-8"))
        for name in SERIES:
            for key, points in curves.get(name, {}).items():
                told.add(name, key, *points)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass  # they are drawn from there on


def _write(made: Path, told: Told, examples: str) -> None:
    curves = {name: _written(getattr(told, name)) for name in SERIES}
    (made / CURVES).write_text(json.dumps({**curves, "examples": examples}), encoding="utf-8")


def _written(curves: Mapping[str, Series]) -> dict[str, list[list[float]]]:
    return {name: [points.x.tolist(), points.y.tolist()] for name, points in curves.items()}


class GoOn(QCheckBox):
    """Offered where an unfinished training of the chosen network is kept beside the weights that are named."""

    def __init__(self, path: Weights, card: QComboBox) -> None:
        super().__init__()
        self.setToolTip("Off, it begins anew, and what is kept goes when that one is over")
        self.hide()
        self._weights, self._card = path, card
        path.textChanged.connect(self.look)

    def look(self, *_: object) -> None:
        """Look for one beside the file that is named; what runs is not offered to another one."""
        path = self._weights.path
        plan = {} if path.absolute() in self._weights.taken else plan_of(folder_of(path))
        there = bool(plan) and plan.get("model") == self._card.currentData()
        if there:
            self.setText(f"Go on from step {plan['step']:,}, which is kept")
        if there != self.wished:
            self.setChecked(there)
        self.setVisible(there)

    @property
    def wished(self) -> bool:
        """Return whether it is offered and ticked."""
        return not self.isHidden() and self.isChecked()
