"""Write reports, captures, tables and weights: all is made first, written beside its place and then renamed."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from explorer.equivariance.verdict.outcome import Report
from explorer.work.files.begun import begun
from explorer.work.files.replacing import filled, write_whole


def write_report(
    folder: Path,
    report: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    draw: Callable[[Path], list[Path]] | None = None,
) -> None:
    """Write report.json, captures.safetensors and what `draw` makes into `folder`; all of it or none.

    Files that are there already are replaced when all is made, and kept when anything goes wrong.
    """
    with filled(folder.parent):
        try:
            beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(folder)) from None
        try:
            with begun(beside):  # and not while files that were there are moved
                _fill(beside, report, tensors, draw)
            _move_into(folder, beside)
        except OSError as error:
            if error.errno is None or (name := error.filename) is None or folder in Path(name).parents:
                raise
            # nobody asked for the folder beside, and a bare name is of a file in it
            raise OSError(error.errno, error.strerror, str(folder / Path(name).name)) from None
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def _fill(
    beside: Path,
    report: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    draw: Callable[[Path], list[Path]] | None,
) -> None:
    """Make all in the folder beside."""
    text = json.dumps(report, indent=1, ensure_ascii=False, allow_nan=False)
    with _named("report.json"):
        (beside / "report.json").write_text(text, encoding="utf-8")
    _save_file(dict(tensors), beside / "captures.safetensors", {"transform": str(report["transform"])})
    if draw is not None:
        draw(beside)


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Name the file in an OSError within: one of writing, as opposed to opening, has no name."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, name) from None


def _save_file(tensors: dict[str, Tensor], path: Path, metadata: dict[str, str]) -> None:
    """Write tensors; raise OSError where the disk refuses them, instead of safetensors' own error."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    try:
        save_file(tensors, path, metadata)
    except SafetensorError as error:
        if (found := re.search(r"\(os error (\d+)\)", str(error))) is None:
            raise
        number = int(found[1])
        raise OSError(number, os.strerror(number), path.name) from None


def _move_into(folder: Path, beside: Path) -> None:
    """Move what is in `beside` into `folder`: all of it, or none, and what it replaces comes back."""
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(beside, 0o777 & ~mask)  # mkdtemp's are for the owner alone
    if not folder.exists():
        os.rename(beside, folder)
        return
    made = sorted(beside.iterdir())
    old = beside / ".replaced"
    old.mkdir()
    moved: list[Path] = []
    try:
        for path in made:
            target = folder / path.name
            if target.exists():
                _keep(target, old / path.name)
            moved.append(target)
            os.replace(path, target)
    except BaseException:
        for target in moved:
            if (old / target.name).exists():
                os.replace(old / target.name, target)
            else:
                target.unlink(missing_ok=True)
        raise


def _keep(target: Path, kept: Path) -> None:
    """Keep what is about to be replaced under another name too: at every moment its own name leads to a whole file."""
    try:
        os.link(target, kept)
    except OSError:  # a folder, or a disk that knows no second names
        if target.is_dir():
            os.replace(target, kept)
        else:
            shutil.copy2(target, kept)


def save_table(path: Path, reports: Sequence[Report]) -> None:
    """Write layer x element tables as NPZ (arrays per group) or, by the ending, CSV (a row per layer and element)."""
    if path.suffix.lower() == ".csv":
        write_whole(path, _table_csv(reports).encode())
        return
    arrays: dict[str, Any] = {}
    for r in reports:
        names = [row.name for row in r.layers]
        for k, kind in enumerate(("cumulative", "local")):
            arrays[f"{r.group}/{kind}"] = np.array(
                [[_nan(r.table[n].get(e, (None, None))[k]) for e in r.elements] for n in names]
            )
        arrays[f"{r.group}/layers"] = np.array(names)
        arrays[f"{r.group}/elements"] = np.array(r.elements)
        arrays[f"{r.group}/exact"] = np.array(r.exact)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    write_whole(path, buffer.getvalue())


def _table_csv(reports: Sequence[Report]) -> str:
    """Return the tables in long form; an empty cell is what has no action or cannot be fed alone."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["model", "group", "element", "exact", "layer", "field", "cumulative", "local"])
    for r in reports:
        for element, exact in zip(r.elements, r.exact, strict=True):
            for row in r.layers:
                figures = r.table[row.name].get(element, (None, None))
                writer.writerow([r.model, r.group, element, int(exact), row.name, row.field, *figures])
    return text.getvalue()


def save_weights(path: Path, model: nn.Module, metadata: Mapping[str, str]) -> None:
    """Write parameters as safetensors, in half precision where that loses nothing."""
    tensors = {}
    for name, tensor in model.state_dict().items():
        value = tensor.detach().cpu().contiguous()
        half = value.half() if value.is_floating_point() else value
        tensors[name] = half if torch.equal(half.to(value.dtype), value) else value
    save_tensors(path, tensors, metadata)


def save_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str], lasting: bool = True) -> None:
    """Write tensors by name as one safetensors file, as `write_whole` does; the same ones are the same bytes."""
    from safetensors.torch import save

    write_whole(path, _ordered(save(dict(tensors), dict(metadata))), lasting)


def _ordered(data: bytes) -> bytes:
    """Return a safetensors file with its metadata in order: safetensors writes them in another one each time."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    if told := header.pop("__metadata__", None):
        header = {"__metadata__": dict(sorted(told.items())), **header}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text = text.ljust(-(-len(text) // 8) * 8)
    return len(text).to_bytes(8, "little") + text + data[8 + size :]


def _nan(value: float | None) -> float:
    return float("nan") if value is None else value
