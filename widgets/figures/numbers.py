"""Numbers of a view as files: CSV with a row for each layer (or entry of the first axis), or NPZ."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widgets.base.view import View
from widgets.figures.export import ExportError, checked_kind, put

NUMBERS = (".csv", ".npz")
Numbers = Mapping[str, NDArray[Any]]
_PER_NUMBER = {"f": 12, "i": 5, "u": 5, "b": 5}  # bytes of a number in text; texts have their own length


def export_numbers(view: View, path: str | Path) -> None:
    """Write what `view` shows as numbers, .csv or .npz. Raise ExportError."""
    write_numbers(numbers_of(view), path)


def numbers_of(view: View) -> dict[str, NDArray[Any]]:
    """Return what a view shows; raise ExportError where that is nothing."""
    view.catch_up()
    if not (numbers := view.numbers()):
        raise ExportError("There are no numbers in this view yet.")
    return {name: np.asarray(array) for name, array in numbers.items()}


def without_ones(array: NDArray[Any]) -> NDArray[Any]:
    """Leave out leading axes of one entry, such as that of a batch, which make no rows."""
    while array.ndim > 1 and array.shape[0] == 1:
        array = array[0]
    return array


def expected_bytes(numbers: Numbers, kind: str) -> int:
    """Return about how large a file of numbers will be."""
    if kind == ".npz":
        return sum(array.nbytes for array in numbers.values())
    return sum(
        array.size * _PER_NUMBER.get(array.dtype.kind, array.dtype.itemsize // 4 + 1) for array in numbers.values()
    )


def write_numbers(numbers: Numbers, path: str | Path) -> None:
    """Write named arrays, on any thread. Raise ExportError."""
    path = Path(path)
    if checked_kind(path, NUMBERS, "numbers") == ".npz":
        packed = io.BytesIO()
        np.savez_compressed(packed, allow_pickle=False, **numbers)
        put(path, packed.getvalue())
        return
    numbers = {name: without_ones(array) for name, array in numbers.items()}
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")  # class labels and layer names may hold commas and quotes
    for k, (rows, names) in enumerate(_tables(numbers)):
        if k:
            table.writerow([])
        table.writerow(["row", *(title for name in names for title in _titles(name, numbers[name]))])
        columns = [numbers[name].reshape(rows, numbers[name].size // max(rows, 1)) for name in names]
        for row in range(rows):
            table.writerow([row, *(value for column in columns for value in _written(column[row]))])
    put(path, text.getvalue().encode())


def _written(values: NDArray[Any]) -> list[Any]:
    """Return numbers in as many digits as they have."""
    return [f"{v:.9g}" for v in values.tolist()] if values.dtype == np.float32 else list(values.tolist())


def _tables(numbers: Numbers) -> list[tuple[int, list[str]]]:
    """Return the arrays that have as many rows as each other, in one table for each number of rows."""
    found: dict[int, list[str]] = {}
    for name, array in numbers.items():
        found.setdefault(array.shape[0] if array.ndim else 1, []).append(name)
    return list(found.items())


def _titles(name: str, array: NDArray[Any]) -> list[str]:
    """Return the heading of each column of an array: its name, with the place along the further axes."""
    if array.ndim < 2:
        return [name]
    return [f"{name}[{','.join(map(str, place))}]" for place in np.ndindex(array.shape[1:])]
