"""The columns of the tree of layers: what each says of a module or of a call, and how much room it takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from explorer.declare.telling.summaries import COUNTED, ModuleInfo, Statistics
from explorer.square.frame import LayerInfo, Square
from widgets.base.text.words import figure


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a call of a module, or a module that gives no tensor of its own."""

    square: Square
    layer: LayerInfo | None
    module: ModuleInfo | None

    @property
    def values(self) -> Statistics | None:
        """The statistics of F(x), once they are known."""
        figures = self.square.figures
        return figures.values.get(self.layer.name) if figures is not None and self.layer is not None else None

    @property
    def flops(self) -> int | None:
        figures = self.square.figures
        if figures is None or not figures.flops:
            return None
        name = self.module.first or self.module.name if self.module is not None else ""
        if self.module is None and (self.layer is None or self.layer.module):
            return None
        return figures.flops.get(name, 0)


@dataclass(frozen=True, slots=True)
class Column:
    """One column; `text` says what stands in a row, `em` is its width in digits."""

    key: str
    title: str
    em: float
    text: Callable[[Row], str]
    tip: str = ""
    right: bool = True


def counted(number: int | None) -> str:
    """Return a large number in few characters: "36 928", "1.8 G"."""
    if number is None:
        return ""
    if number < 10**6:
        return f"{number:,}".replace(",", " ")
    for power, unit in ((12, "T"), (9, "G"), (6, "M")):
        if number >= 10**power:
            return f"{number / 10**power:.3g} {unit}"
    raise AssertionError


def weight(nbytes: int) -> str:
    """Return a size in memory: "512 B", "3.1 MiB"."""
    size, unit = float(nbytes), "B"
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{size:.3g} {unit}"


def _stat(key: str) -> Callable[[Row], str]:
    def text(row: Row) -> str:
        value = getattr(row.values, key, math.nan)
        return "" if math.isnan(value) else figure(value)

    return text


def _params(row: Row) -> str:
    number = row.layer.params if row.layer is not None else row.module.params if row.module is not None else 0
    return f"{number:,}".replace(",", " ") if number else ""


def _zeros(row: Row) -> str:
    return "" if row.values is None or not row.values.count else f"{row.values.zeros:.1%}".replace("100.0%", "100%")


def _strange(row: Row) -> str:
    return "" if row.values is None else row.values.strange


def _dead(row: Row) -> str:
    figures = row.square.figures
    silent = figures.silent.get(row.layer.name) if figures is not None and row.layer is not None else None
    return "" if silent is None else f"{len(silent.channels)} of {silent.of}"


def _calls(row: Row) -> str:
    if row.module is None:
        return "" if row.layer is None else "1"
    if row.module.first:
        return f"= {row.module.first}"
    if row.module.calls < 0:
        return ""  # it has not run yet
    if row.module.varies:
        return "varies"
    return "never" if not row.module.calls else f"{row.module.calls}×"


def _memory(row: Row) -> str:
    nbytes = row.layer.nbytes if row.layer is not None else 0
    return weight(nbytes) if nbytes else ""


def _difference(row: Row) -> str:
    found = row.square.differences
    one = found.layers.get(row.layer.name) if found is not None and row.layer is not None else None
    return "" if one is None else one.note if one.relative is None else figure(one.relative)


def _kind(row: Row) -> str:
    return row.layer.kind if row.layer is not None else row.module.kind if row.module is not None else ""


COLUMNS = (
    Column("name", "Layer", 24, lambda row: "", right=False),
    Column("error", "Error", 11, lambda row: "", "How far the layer's square is from commuting"),
    Column(
        "field", "Field", 19,
        lambda row: "" if row.layer is None else row.layer.field + (" ?" if row.layer.guessed else ""),
        "Of what the values are a field; a guess has a question mark. Double-click corrects it", False,
    ),
    Column("shape", "Shape", 10, lambda row: row.layer.size_text if row.layer is not None else "", right=False),
    Column("params", "Params", 9, _params, "Numbers that it has learned, its children's included"),
    Column("kind", "Type", 14, _kind, "The module's class", False),
    Column("dtype", "Dtype", 8, lambda row: row.layer.dtype if row.layer is not None else "", right=False),
    Column("flops", "FLOPs", 8, lambda row: counted(row.flops), f"Of all calls in one run: {COUNTED}"),
    Column("memory", "Memory", 9, _memory, "What its values take"),
    Column("calls", "Calls", 10, _calls, "How often it is called in one run; a shared module is named"),
    Column("mean", "Mean", 8, _stat("mean"), "Of the values of F(x) that are finite"),
    Column("std", "Std", 8, _stat("std"), "Standard deviation of the values of F(x)"),
    Column("low", "Min", 8, _stat("low"), "The lowest value of F(x)"),
    Column("high", "Max", 8, _stat("high"), "The highest value of F(x)"),
    Column("zeros", "Zeros", 7, _zeros, "The share of values that are exactly zero"),
    Column("strange", "NaN, inf", 10, _strange, "How many values are NaN or infinite"),
    Column("dead", "Dead", 9, _dead, "Channels that are zero everywhere, for x and along its orbit"),
    Column("difference", "Differs", 8, _difference, "How far its values are from the other run's: ‖a − b‖ / ‖a‖"),
)  # fmt: skip
KEYS = tuple(column.key for column in COLUMNS)
NAME, ERROR, FIELD, SHAPE, PARAMS = range(5)
USUAL = ("error", "field", "shape", "params")  # where nobody has chosen
