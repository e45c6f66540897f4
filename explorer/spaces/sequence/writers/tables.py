"""Series as tables (CSV), arrays (NPY, NPZ) and JSON Lines."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

from explorer.data.formats.tables import BATCHES, GAPS, LABELS, REMARKS, TIMES, moment_of, number_of
from explorer.data.writers import Writer
from explorer.declare.samples import Sample
from explorer.spaces.graph.writers.records import left_out, number

_TAKEN = frozenset((*TIMES, *LABELS, *BATCHES, *GAPS))
TIME = ("sequence",)
_CHUNK = 100_000  # lines at a time
_MARKS = frozenset("\t;,")  # one of them decides what stands between the columns


def headings(sample: Sample) -> tuple[str, ...]:
    """Return the names of the channels where they are read back as such, else x0, x1, ..."""
    names = sample.channels
    plain = len(set(names)) == len(names) and all(
        name == name.strip() and name.isprintable() and name.lower() not in _TAKEN and number_of(name) is None
        and moment_of(name) is None and not name.startswith(REMARKS) and not set(name) & _MARKS
        for name in names
    )  # fmt: skip
    return names if names and plain else tuple(f"x{k}" for k in range(sample.x.values.shape[1]))


def _lost(sample: Sample, heads: tuple[str, ...], held: tuple[str, ...]) -> tuple[str, ...]:
    notes = left_out(sample, held)
    if sample.channels and heads != sample.channels:
        notes += ("left out: the names of the channels, which a heading cannot hold",)
    return notes


def _write_csv(sample: Sample, path: Path) -> tuple[str, ...]:
    signals, heads = sample.signals, headings(sample)
    extra = [name for name in ("time", "batch", "label") if name in signals]
    # a heading alone in its line is parted at spaces, and its quotation marks are kept
    if not extra and len(heads) == 1 and set(heads[0]) & {" ", '"'}:
        heads = ("x0",)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("# series\n")
        mark = "\t" if path.suffix.lower() == ".tsv" else ","
        table = csv.writer(file, delimiter=mark, lineterminator="\n")
        table.writerow([*extra, *heads])
        columns = [signals[name].values.tolist() for name in extra]
        for start in range(0, len(sample.x.values), _CHUNK):
            # NumPy writes the shortest text that reads as the same float32
            texts = sample.x.values[start : start + _CHUNK].astype(np.str_).tolist()
            table.writerows([*(repr(column[start + t]) for column in columns), *row] for t, row in enumerate(texts))
    return _lost(sample, heads, ("x", "time", "batch", "label"))


def _write_npy(sample: Sample, path: Path) -> tuple[str, ...]:
    """Write one channel as a 1-D array: with two axes it would be read as an image."""
    if (width := sample.x.values.shape[1]) != 1:
        raise ValueError(f"{sample.name!r} has {width} channels and an NPY holds one series; choose .npz or .csv")
    with path.open("wb") as file:
        np.save(file, np.ascontiguousarray(sample.x.values[:, 0]), allow_pickle=False)
    return left_out(sample, ("x",))


def _write_npz(sample: Sample, path: Path) -> tuple[str, ...]:
    arrays: dict[str, Any] = {name: signal.values for name, signal in sample.signals.items()}
    arrays["series"] = arrays.pop("x")
    lost = []
    for name, texts in (("names", sample.names), ("channels", sample.channels)):
        # NumPy strips NULs from the end of a text
        if texts and not any("\0" in text for text in texts):
            arrays[name] = np.array(texts, dtype=np.str_)
        elif texts:
            lost.append(f"left out: {name} with a NUL")
    if sample.rate:
        arrays["rate"] = np.array(sample.rate)
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)
    return tuple(lost)


def _write_jsonl(sample: Sample, path: Path) -> tuple[str, ...]:
    """Write an object for each series; lengths may differ."""
    steps, heads = len(sample.x.values), headings(sample)
    batch = sample.signals["batch"].values if "batch" in sample.signals else np.zeros(steps, np.int64)
    with path.open("w", encoding="utf-8") as file:
        for one in range(int(batch[-1]) + 1):
            rows = np.flatnonzero(batch == one)
            whole: dict[str, Any] = {}
            for name in ("time", "label"):
                if name in sample.signals:
                    whole[name] = sample.signals[name].values[rows].tolist()
            for k, head in enumerate(heads):
                whole[head] = [number(v) for v in sample.x.values[rows, k]]
            file.write(json.dumps(whole, ensure_ascii=False, allow_nan=False) + "\n")
    return _lost(sample, heads, ("x", "time", "batch", "label"))


WRITER = (
    Writer("series", "Series (CSV, TSV)", (".csv", ".tsv"), _write_csv, TIME),
    Writer("series-npy", "Series of one channel (NPY)", (".npy",), _write_npy, TIME),
    Writer("series-npz", "Series with all that belongs to it (NPZ)", (".npz",), _write_npz, TIME),
    Writer("series-jsonl", "Series (JSON Lines)", (".jsonl", ".ndjson"), _write_jsonl, TIME),
)
