"""Numbers of a view as files: CSV with a row for each layer (or entry of the first axis), or NPZ.

A stage of a large network has millions of numbers. They are written part by part, so that whoever drives the writing
can do something else between two parts, tell how far it is, or end it: then the file is as it was before.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Generator, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.state.catalogue import Busy
from explorer.work.files.replacing import replacing
from widgets.base.view import View
from widgets.figures.export import ExportError, checked_folder, checked_kind, reason

NUMBERS = (".csv", ".npz")
Numbers = Mapping[str, NDArray[Any]]
_PER_NUMBER = {"f4": 13, "f8": 19, "i": 5, "u": 5, "b": 5}  # bytes of a number in text; texts have their own length
_PART = 5_000  # numbers that are written between two answers: a few milliseconds as text
_PART_BYTES = 2**18  # of a packed file
_WRITING = "Writing numbers…"


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
    return sum(_text_bytes(name, without_ones(array)) for name, array in numbers.items())


def _text_bytes(name: str, array: NDArray[Any]) -> int:
    kind = array.dtype.kind
    each = _PER_NUMBER.get(f"{kind}{array.dtype.itemsize}", _PER_NUMBER.get(kind, array.dtype.itemsize // 4 + 1))
    place = sum(len(str(n)) + 1 for n in array.shape[1:])
    return int(array.size * each + math.prod(array.shape[1:]) * (len(name) + place + 4))


def write_numbers(numbers: Numbers, path: str | Path) -> None:
    """Write named arrays, on any thread. Raise ExportError."""
    for _ in writing_numbers(numbers, path):
        pass


def writing_numbers(numbers: Numbers, path: str | Path) -> Generator[Busy, None, None]:
    """Write named arrays part by part; yield how far it is. Raise ExportError."""
    path = Path(path)
    packed = checked_kind(path, NUMBERS, "numbers") == ".npz"
    checked_folder(path)
    whole = max(1, sum(array.size for array in numbers.values()))
    done = 0
    try:
        with replacing(path) as beside:
            for some in _packing(numbers, beside) if packed else _tabling(numbers, beside):
                done += some
                yield Busy(_WRITING, min(1.0, done / whole))
    except OSError as error:
        raise ExportError(f"Cannot write {path.name}: {reason(error)}.") from error


def _packing(numbers: Numbers, path: Path) -> Iterator[int]:
    """Write arrays as NumPy does, compressed; yield how many numbers were written since."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in numbers.items():
            array = np.asarray(array, order="C")
            if array.dtype.hasobject:
                raise ExportError(f"{name} holds what is no number.")
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array_header_2_0(file, np.lib.format.header_data_from_array_1_0(array))
                flat = array.reshape(-1)
                part = max(1, _PART_BYTES // max(1, array.itemsize))
                for begin in range(0, flat.size, part):
                    file.write(flat[begin : begin + part].tobytes())
                    yield min(part, flat.size - begin)


def _tabling(numbers: Numbers, path: Path) -> Iterator[int]:
    """Write tables as text; yield how many numbers were written since."""
    numbers = {name: without_ones(array) for name, array in numbers.items()}
    with path.open("w", encoding="utf-8", newline="") as file:
        for k, (rows, names) in enumerate(_tables(numbers)):
            file.write("\nrow" if k else "row")
            for name in names:
                for titles in _parts(_titles(name, numbers[name])):
                    file.write("".join(f",{_cell(title)}" for title in titles))
                    yield 0
            columns = [numbers[name].reshape(rows, numbers[name].size // max(rows, 1)) for name in names]
            some = 0
            for row in range(rows):
                file.write(f"\n{row}")
                for column in columns:
                    for begin in range(0, column.shape[1], _PART):
                        values = column[row, begin : begin + _PART]
                        file.write("".join(f",{text}" for text in _written(values)))
                        some += values.size
                        if some >= _PART:
                            yield some
                            some = 0
            file.write("\n")
            yield some


def _written(values: NDArray[Any]) -> list[str]:
    """Return numbers in as many digits as they have, and texts as cells."""
    if values.dtype == np.float32:
        return [f"{v:.9g}" for v in values.tolist()]
    made = map(str, values.tolist())
    return list(made) if values.dtype.kind in "fiub" else [_cell(text) for text in made]


def _cell(text: str) -> str:
    """Return a text as a cell of a table: class labels and layer names may hold commas and quotes."""
    if any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _parts(titles: Iterator[str]) -> Iterator[list[str]]:
    """Return titles, as many at a time as are written between two answers."""
    while part := list(islice(titles, _PART // 8)):
        yield part


def _tables(numbers: Numbers) -> list[tuple[int, list[str]]]:
    """Return the arrays that have as many rows as each other, in one table for each number of rows."""
    found: dict[int, list[str]] = {}
    for name, array in numbers.items():
        found.setdefault(array.shape[0] if array.ndim else 1, []).append(name)
    return list(found.items())


def _titles(name: str, array: NDArray[Any]) -> Iterator[str]:
    """Return the heading of each column of an array: its name, with the place along the further axes."""
    if array.ndim < 2:
        return iter([name])
    return (f"{name}[{','.join(map(str, place))}]" for place in np.ndindex(array.shape[1:]))
