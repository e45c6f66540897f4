"""Hold the findings of an audit: one row per layer, one verdict for the network, as values, JSON or text."""

from __future__ import annotations

import dataclasses
import hashlib
import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from explorer.declare.registry import did_you_mean
from explorer.declare.telling.counting import number_of
from explorer.declare.telling.hints import first, grouped
from explorer.network.tracing.walking import named_modules, named_tensors

NAMED = 12  # guilty layers that the verdict of a report names; the table has all of them
CLEAR = 100.0  # times as large as an error of rounding is one of a fault: what lies between them is neither


@dataclass(frozen=True, slots=True)
class LayerReport:
    """One layer over all samples and exact elements (`resampled_*`: over the elements that are not exact).

    Medians and 95th percentiles are relative errors; None where the layer's field has no action or no exact element.
    `tolerance` is that of the cumulative error, which filters of earlier layers may excuse too, `local_tolerance` that
    of the local error.
    `attributed` is exact, or lies in the interval `attributed_within` with 95 % confidence.
    `variation` is the relative distance of the values on unrelated inputs: small where a constant outweighs them.
    `statistics` are those of the values on the first sample or batch of them: mean, std, low, high, zeros, nan, ...
    """

    name: str
    kind: str
    field: str
    guessed: bool
    shape: tuple[int, ...]
    local: float | None
    local_p95: float | None
    local_max: float | None
    cumulative: float | None
    cumulative_p95: float | None
    cumulative_max: float | None
    attributed: float | None
    floor: float
    chance: float | None
    tolerance: float
    max_abs: float | None
    mean_abs: float | None
    decibel: float | None
    kept: float
    verdict: str
    resampled_cumulative: float | None = None
    resampled_local: float | None = None
    resampled_floor: float | None = None
    variation: float | None = None
    attributed_within: tuple[float, float] | None = None
    local_tolerance: float = math.inf
    lie: Mapping[str, float] = dataclasses.field(default_factory=dict)
    statistics: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def breaks_alone(self) -> bool:
        """Say whether the layer breaks its law on its own transformed inputs."""
        return self.local_max is not None and self.local_max > self.local_tolerance

    @property
    def seen(self) -> bool:
        """Return whether a fault shows in what the layer gives."""
        return self.cumulative_max is not None and self.cumulative_max > self.tolerance

    @property
    def share(self) -> float | None:
        """Return the cumulative error as a share of the variation."""
        error = self.resampled_cumulative if self.cumulative is None else self.cumulative
        return None if error is None or not self.variation else error / self.variation


@dataclass(frozen=True, slots=True)
class Report:
    """The answer to "does this network respect this group, and if not, where does it fail?".

    `table[layer][element]` is (cumulative, local), medians over samples; `verdict` is "holds", "broken" or "no law".
    `made` is False where the fault only shows in the guilty layers, as trials found. `beyond` counts members of a set
    on which the law fails that holds on those of the data; 0 where none are known.
    """

    model: str
    group: str
    verdict: str
    guilty: tuple[str, ...]
    layers: tuple[LayerReport, ...]
    elements: tuple[str, ...]
    exact: tuple[bool, ...]
    table: Mapping[str, Mapping[str, tuple[float | None, float | None]]]
    hints: tuple[str, ...]
    presets: Mapping[str, float]
    samples: int
    seed: int
    dtype: str
    device: str
    model_hash: str
    versions: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    made: bool = True
    beyond: int = 0

    @property
    def holds(self) -> bool:
        return self.verdict == "holds"

    def __contains__(self, layer: object) -> bool:
        """Say whether there is a row of that name."""
        return any(row.name == layer for row in self.layers)

    def __getitem__(self, layer: str) -> LayerReport:
        """Return the row of a layer by its name, as `model.named_modules()` has it.

        Raises:
            KeyError: there is no such layer; it says which there are.
        """
        for row in self.layers:
            if row.name == layer:
                return row
        names = [row.name for row in self.layers]
        hint = did_you_mean(str(layer), names, f"; there are {', '.join(map(repr, names[:12])) or 'none'}")
        raise KeyError(f"{self.model} has no layer {layer!r}{hint}")

    @property
    def first_broken(self) -> LayerReport | None:
        """Return the first layer, in the order of execution, that breaks its law; else the first where a fault shows.

        None where the law holds, or nothing could be judged.
        """
        if self.verdict != "broken":
            return None
        rows = [row for row in self.layers if row.name in self.guilty] or [row for row in self.layers if row.seen]
        return next(iter(rows), None)

    def _makes(self, name: str) -> bool:
        """Say whether it is known that a guilty layer makes the fault, and not only that it first shows there."""
        row = self[name]
        if row.local_max is None:  # nothing stands before the first one
            return name == self.layers[0].name
        return row.local_max > row.local_tolerance

    def sentence(self) -> str:
        """Return the outcome in one line: what fails first, by how much, and what rounding and chance would give."""
        under = f"{self.model} under {self.group}"
        if self.holds:
            return f"{under}: the law holds"
        first = self.first_broken
        if first is None:
            return f"{under}: {'no law could be tested' if self.verdict == 'no law' else self.verdict}"
        own = first.local_max is not None and first.local_max > first.local_tolerance
        kind, error, limit = (
            ("local error", first.local_max, first.local_tolerance) if own
            else ("error", first.cumulative_max, first.tolerance)
        )  # fmt: skip
        figures = {kind: error, "tolerance": limit, "floor": first.floor, "chance": first.chance}
        said = ", ".join(f"{name} {value:.2g}" for name, value in figures.items() if value is not None)
        return f"{under}: the law is broken, first in layer {first.name!r} ({first.kind}): {said}"

    def to_json(self) -> dict[str, Any]:
        """Return plain values; infinities and NaN become None."""
        names = [*(f.name for f in fields(LayerReport)), "share"]
        rows = [{name: _plain(getattr(row, name)) for name in names} for row in self.layers]
        top = {f.name: _plain(getattr(self, f.name)) for f in fields(self) if f.name != "layers"}
        return {**{k: top[k] for k in ("model", "group", "verdict", "guilty")}, "layers": rows, **top}

    def text(self) -> str:
        """Return the table as text for a terminal."""
        width = max([len(row.name) for row in self.layers] + [5])
        wide = max([len(row.field) + row.guessed for row in self.layers] + [5])
        lines = [
            f"{self.model}  under {self.group}: {number_of(len(self.elements), 'element')}, "
            f"{number_of(self.samples, 'sample')}, {self.dtype}",
            f"{'layer':<{width}}  {'field':<{wide}}  {'local':>8}  {'cumul.':>8}  {'attrib.':>8}  {'floor':>8}  "
            f"{'chance':>8}  {'of var.':>8}  verdict",
        ]
        worst = False  # whether a figure is not the median
        for r in self.layers:
            curve = r.cumulative is None and r.resampled_cumulative is not None
            figures = (
                (r.resampled_local, r.resampled_cumulative, None, r.resampled_floor, r.chance, r.share)
                if curve
                else (r.local, r.cumulative, r.attributed, r.floor, r.chance, r.share)
            )
            texts = [_figure(v) for v in figures]
            if not curve and (r.verdict == "broken" or r.seen):
                for k, (middle, most, limit) in enumerate(
                    ((r.local, r.local_max, r.local_tolerance), (r.cumulative, r.cumulative_max, r.tolerance))
                ):
                    if middle is not None and most is not None and limit < most and middle <= min(limit, most / CLEAR):
                        texts[k], worst = f"{f'^{most:.1e}':>8}", True
            if not curve and r.attributed is not None and r.attributed_within is not None:
                texts[2] = f"{f'~{r.attributed:.0e}':>8}"
            mark = "?" if r.guessed else ""
            lines.append(
                f"{r.name:<{width}}  {r.field + mark:<{wide}}  " + "  ".join(texts)
                + f"  {r.verdict}{' (resampled)' if curve and r.resampled_floor else ''}"
            )  # fmt: skip
        if any(r.attributed and r.attributed_within for r in self.layers):
            lines.append(
                "~: an estimate of the effect on the output; with 95 % confidence the exact one is 0.67 to 1.9 times it"
            )
        if worst:
            lines.append("^: the largest one found; at least half of the elements and samples show no error")
        where = "is made" if self.made and all(map(self._makes, self.guilty)) else "first shows"
        guilty = f"; the fault {where} in {first(self.guilty, NAMED)}" if self.guilty else ""
        lines += [f"verdict: {self.verdict}{guilty}", *(f"hint: {h}" for h in grouped(self.hints))]
        lines += [f"note: {w}" for w in self.warnings]
        return "\n".join(lines)


def in_turn(reports: Sequence[Report], moved: Sequence[str]) -> Report:
    """Return the report of a network on what elements move in turn: the first that is broken, else that has no law.

    Args:
        moved: the name of the argument that each report is of.
    """
    order = ("broken", "no law", "holds")
    k = min(range(len(reports)), key=lambda k: order.index(reports[k].verdict))
    told = ", ".join(f"{name}: {report.verdict}" for name, report in zip(moved, reports, strict=True))
    note = f"{', then '.join(moved)} is moved while all else stays as it is ({told}); the table is that of {moved[k]}"
    return dataclasses.replace(reports[k], warnings=(*reports[k].warnings, note))


def _figure(value: float | None) -> str:
    return f"{'-':>8}" if value is None else f"{value:8.1e}"


def _plain(value: Any) -> Any:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case np.floating() | np.integer() | np.bool_():
            return _plain(value.item())
        case Mapping():
            return {str(k): _plain(v) for k, v in value.items()}
        case tuple() | list():
            return [_plain(v) for v in value]
        case _:
            return value


def model_hash(model: nn.Module) -> str:
    """Return a SHA-256 over parameter and buffer names, shapes and bytes (first 16 hex digits).

    Raises:
        ValueError: a module contains itself since it has run; torch would look into it without end.
    """
    named_modules(model, each_name=True)
    digest = hashlib.sha256()
    told = model.state_dict()  # a method of theirs, which may give anything
    state: Mapping[str, Any] = told if isinstance(told, Mapping) else dict(named_tensors(model))
    for name, tensor in sorted(state.items()):
        if not isinstance(tensor, Tensor):  # what a layer keeps in a form of its own, as quantised ones do
            digest.update(f"{name}{tensor}".encode())
            continue
        if tensor.is_quantized:
            tensor = tensor.int_repr()
        tensor = tensor.to_dense() if tensor.layout != torch.strided else tensor
        digest.update(f"{name}{tuple(tensor.shape)}{tensor.dtype}".encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:16]


def versions() -> dict[str, str]:
    return {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__}
