"""Audit a network: every layer's square, over samples and group elements, with a verdict on exact elements."""

from __future__ import annotations

import copy
import hashlib
import math
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from explorer.capture import capture, feed
from explorer.equivariance import measure
from explorer.equivariance.attribution import attributed
from explorer.equivariance.hints import hints
from explorer.equivariance.lie import lie_derivative
from explorer.equivariance.presets import preset_figures
from explorer.fields import FieldType, Grid, Scalar, grid
from explorer.symmetries import Situation, find_symmetry
from explorer.trace import Layer, Trace, evaluating, trace
from explorer.transforms import Element, NoAction


@dataclass(frozen=True, slots=True)
class LayerReport:
    """One layer over all samples and exact elements (`resampled_*`: over the elements that are not exact).

    Medians and 95th percentiles are relative errors; None where the layer's field has no action or no exact element.
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
    lie: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """The answer to "does this network respect this group, and if not, where does it fail?".

    `table[layer][element]` is (cumulative, local), medians over samples; `verdict` is "holds", "broken" or "no law".
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

    @property
    def holds(self) -> bool:
        return self.verdict == "holds"

    def __getitem__(self, layer: str) -> LayerReport:
        return next(row for row in self.layers if row.name == layer)

    def to_json(self) -> dict[str, Any]:
        """Return plain values; infinities and NaN become None."""
        rows = [{name: _plain(getattr(row, name)) for name in row.__dataclass_fields__} for row in self.layers]
        top = {name: _plain(getattr(self, name)) for name in self.__dataclass_fields__ if name != "layers"}
        return {**{k: top[k] for k in ("model", "group", "verdict", "guilty")}, "layers": rows, **top}

    def text(self) -> str:
        """Return the table as text for a terminal."""
        width = max([len(row.name) for row in self.layers] + [5])
        fields = max([len(row.field) + row.guessed for row in self.layers] + [5])
        lines = [
            f"{self.model}  under {self.group}: {len(self.elements)} elements, {self.samples} samples, {self.dtype}",
            f"{'layer':<{width}}  {'field':<{fields}}  {'local':>8}  {'cumul.':>8}  {'attrib.':>8}  {'floor':>8}  "
            f"{'chance':>8}  verdict",
        ]
        for r in self.layers:
            curve = r.cumulative is None and r.resampled_cumulative is not None
            figures = (
                (r.resampled_local, r.resampled_cumulative, None, r.resampled_floor, r.chance)
                if curve
                else (r.local, r.cumulative, r.attributed, r.floor, r.chance)
            )
            mark = "?" if r.guessed else ""
            lines.append(
                f"{r.name:<{width}}  {r.field + mark:<{fields}}  " + "  ".join(_figure(v) for v in figures)
                + f"  {r.verdict}{' (resampled)' if curve else ''}"
            )  # fmt: skip
        guilty = f"; the fault is made in {', '.join(self.guilty)}" if self.guilty else ""
        lines += [f"verdict: {self.verdict}{guilty}", *(f"hint: {h}" for h in self.hints)]
        lines += [f"note: {w}" for w in self.warnings]
        return "\n".join(lines)


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
    """Return a SHA-256 over parameter and buffer names, shapes and bytes (first 16 hex digits)."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name}{tuple(tensor.shape)}{tensor.dtype}".encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:16]


def versions() -> dict[str, str]:
    return {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__}


def noise(shape: Sequence[int], seed: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """Return unit-variance noise of `shape` (batch, channel, h, w), band-limited to half the Nyquist frequency."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(tuple(shape), generator=generator, dtype=torch.float64)
    h, w = values.shape[-2:]
    radius = (torch.fft.fftfreq(h)[:, None].square() + torch.fft.fftfreq(w).square()).sqrt()
    keep = torch.sigmoid((0.25 - radius) * 60)
    values = torch.fft.ifft2(torch.fft.fft2(values) * keep).real
    return (values / values.flatten(1).std(dim=1).view(-1, 1, 1, 1).clamp_min(1e-12)).to(dtype)


def check_equivariance(
    model: nn.Module,
    inputs: Tensor | Sequence[int],
    group: str = "D4",
    *,
    x_field: FieldType | None = None,
    overrides: Mapping[str, str] | None = None,
    declared: bool = False,
    boundary: str = "circular",
    dtype: torch.dtype | None = torch.float64,
    tol: float | None = None,
    count: int = 6,
    seed: int = 0,
    name: str = "",
    details: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Measure every layer of `model` under `group` and return a `Report`.

    Args:
        model: any module that maps (batch, channel, height, width) to a tensor; it is left as it was found.
        inputs: real data, (batch, channel, height, width), at least one sample; or a shape, for band-limited noise.
        group: "C4", "D4", "C8", ..., "translation", "SO2", "O2".
        x_field: field type of the input; default: a grid of scalars.
        overrides: {layer: field text} where the inferred field is wrong, as in {"conv1": "grid regular(C4)"}.
        declared: treat inferred fields as declared by the author (no guesses).
        boundary: for shifts: "circular", or "zero" (compared where determined).
        dtype: precision of the measurement (a copy of the model is converted); None keeps the model's own.
        tol: relative tolerance on exact elements; default 64 eps sqrt(weighted layers so far).
        count: number of elements of an infinite group.
        details: also attribute errors to the output and take Lie derivatives.
        progress: called with (done, total) elements.

    Raises:
        ValueError: unknown group, near-constant or non-finite input, a wrong shape.
        LayerError: a layer raised; `.where` names it.
    """
    symmetry = find_symmetry(group)
    model = copy.deepcopy(model)
    # weights that were made in float32 obey a law to float32 rounding, in whatever precision it is measured
    stored = next((p.dtype for p in model.parameters() if p.is_floating_point()), torch.float64)
    if dtype is not None:
        model = model.to(dtype)
    kind = next((p.dtype for p in model.parameters() if p.is_floating_point()), dtype or torch.float32)
    device = next((p.device for p in model.parameters()), torch.device("cpu"))
    x = inputs if isinstance(inputs, Tensor) else noise((max(2, inputs[0]), *inputs[1:]), seed)
    x = x.detach().to(device=device, dtype=kind)
    _admissible(x)
    x_field = x_field or grid(Scalar())
    was_training = [n for n, m in model.named_modules() if m.training and isinstance(m, nn.BatchNorm2d | nn.Dropout)]
    with evaluating(model), torch.no_grad():
        traced = trace(model, x, x_field, overrides=overrides, declared=declared)
        audit = _Audit(model, traced, x, x_field, seed)
        audit.eps_of = max(stored, kind, key=lambda d: torch.finfo(d).eps)
        spacings = [layer.field.spacing for layer in traced.layers if layer.field]
        coarsest = max([1.0, *filter(math.isfinite, spacings)])
        situation = Situation(
            (x.shape[-2], x.shape[-1]), math.ceil(coarsest), boundary, np.random.default_rng(seed), count
        )
        elements = symmetry.elements(group, situation)
        for done, (label, element) in enumerate(elements):
            audit.add(label, element)
            if progress:
                progress(done + 1, len(elements))
        if details:
            audit.attribute()
    lie: dict[str, dict[str, float]] = {}
    if details:
        for along in ("right", "rotation"):
            lie[along] = lie_derivative(model, x, traced, x_field, along)
    return audit.report(name or type(model).__name__, group, tol, kind, seed, lie, was_training)


def _admissible(x: Tensor) -> None:
    if x.ndim != 4:
        raise ValueError(f"the input must be (batch, channel, height, width), got shape {tuple(x.shape)}")
    if not torch.isfinite(x).all():
        raise ValueError("the input holds NaN or infinite values; nothing can be measured on it")
    spread = x.flatten(1).std(dim=1) if x[0].numel() > 1 else torch.zeros(len(x))
    if bool((spread <= 1e-6 * x.flatten(1).abs().amax(dim=1).clamp_min(1e-12)).any()):
        raise ValueError("the input is (nearly) constant, and a constant image looks the same under every element")


@dataclass
class _Figures:
    """What is collected for one layer."""

    cumulative: list[Tensor] = field(default_factory=list)
    local: list[Tensor] = field(default_factory=list)
    soft_cumulative: list[Tensor] = field(default_factory=list)
    soft_local: list[Tensor] = field(default_factory=list)
    floor: list[Tensor] = field(default_factory=list)
    chance: list[Tensor] = field(default_factory=list)
    distances: list[measure.Distance] = field(default_factory=list)
    kept: list[float] = field(default_factory=list)
    worst: tuple[float, Tensor] | None = None


class _Audit:
    def __init__(self, model: nn.Module, traced: Trace, x: Tensor, x_field: FieldType, seed: int) -> None:
        self.model, self.trace, self.x, self.x_field, self.seed = model, traced, x, x_field, seed
        self.names = [layer.name for layer in traced.layers]
        self.values, self.fed = capture(model, x, self.names, clone=True, inputs=True)
        other = noise(x.shape, seed + 1).to(x) * x.std() + x.mean() if len(x) < 2 else x.roll(1, 0)
        self.other = other
        self.figures = {name: _Figures() for name in self.names}
        self.elements: list[tuple[str, bool]] = []
        self.table: dict[str, dict[str, tuple[float | None, float | None]]] = {name: {} for name in self.names}
        self.presets: dict[str, float] = {}
        self.worst_element: dict[str, Element] = {}
        self.float_floor = self._float_floor()
        self.eps_of = x.dtype
        self.attributed: dict[str, float] = {}

    def _float_floor(self) -> dict[str, float]:
        """Return rounding alone: float32 against a float64 rerun, per layer; in float64 eps sqrt(rank)."""
        if self.x.dtype != torch.float32:
            eps = torch.finfo(self.x.dtype).eps
            return {layer.name: eps * math.sqrt(max(layer.rank, 1)) for layer in self.trace.layers}
        reference, _ = capture(copy.deepcopy(self.model).double(), self.x.double(), self.names, clone=True)
        return {
            n: float((self.values[n].double() - reference[n]).norm() / reference[n].norm().clamp_min(1e-300))
            for n in self.names
        }

    def add(self, label: str, element: Element) -> None:
        """Measure every layer under one element."""
        gx = element.act(self.x, self.x_field)
        answers, _ = capture(self.model, gx, self.names, clone=True)
        others, _ = capture(self.model, element.act(self.other, self.x_field), self.names, clone=True)
        everywhere_exact = element.exact(self.x_field, tuple(self.x.shape))
        self.elements.append((label, everywhere_exact))
        for layer in self.trace.layers:
            expected = measure.expected_after(element, layer, self.values[layer.name])
            if expected is None or layer.field is None:
                continue
            f, answer, figures = layer.field, answers[layer.name], self.figures[layer.name]
            exact = everywhere_exact and element.exact(f, tuple(expected.shape))
            where = measure.mask(element, expected, f, layer.receptive)
            d = measure.distance(expected, answer, where, f)
            alone = measure.local_answer(self.model, self.trace, layer, element, self.fed.get(layer.name, ()))
            local = None if alone is None else measure.distance(expected, alone, where, f).relative
            (figures.cumulative if exact else figures.soft_cumulative).append(d.relative)
            if local is not None and alone is not None:
                (figures.local if exact else figures.soft_local).append(local)
                if exact and (figures.worst is None or float(local.max()) > figures.worst[0]):
                    figures.worst = (float(local.max()), alone - expected)
                    self.worst_element[layer.name] = element
            figures.chance.append(measure.distance(expected, others[layer.name], where, f).relative)
            figures.floor.append(measure.there_and_back(element, self.values[layer.name], f, layer.receptive))
            figures.distances.append(d)
            figures.kept.append(where.kept)
            self.table[layer.name][label] = (float(d.relative.median()), None if local is None else float(local.median()))
            if layer.name == self.trace.output:
                for key, value in preset_figures(expected, answer).items():
                    keep = min if key.startswith("eq-") else max
                    self.presets[key] = keep(self.presets.get(key, value), value)

    def attribute(self) -> None:
        """Push each layer's worst local error to the output; one batch of probes per element that was worst."""
        by_element: dict[int, tuple[Element, list[str]]] = {}
        for name, element in self.worst_element.items():
            by_element.setdefault(id(element), (element, []))[1].append(name)
        for element, names in by_element.values():
            errors = {n: w[1] for n in names if (w := self.figures[n].worst) is not None}
            gx = element.act(self.x, self.x_field)
            self.attributed |= attributed(self.model, self.trace, gx, errors, seed=self.seed)

    def report(
        self,
        name: str,
        group: str,
        tol: float | None,
        dtype: torch.dtype,
        seed: int,
        lie: Mapping[str, Mapping[str, float]],
        training: Sequence[str],
    ) -> Report:
        rows, guilty = [], []
        for layer in self.trace.layers:
            row = self._row(layer, tol, {along: v[layer.name] for along, v in lie.items() if layer.name in v})
            rows.append(row)
        broken = {r.name for r in rows if r.verdict == "broken"}
        for layer in self.trace.layers:
            # a container is guilty only of what none of its own layers does
            inner = any(n != layer.name and n.partition("#")[0].startswith(layer.module + ".") for n in broken)
            if layer.name in broken and not inner:
                guilty.append(layer.name)
        last = rows[-1]
        limit = last.tolerance
        broken_output = last.cumulative_max is not None and last.cumulative_max > limit
        declared_broken = any(not r.guessed for r in rows if r.name in guilty)
        judged = any(r.cumulative is not None for r in rows) and last.cumulative is not None
        verdict = "no law" if not judged else "broken" if broken_output or declared_broken else "holds"
        if verdict == "broken" and not guilty:
            first = next((r.name for r in rows if r.cumulative_max is not None and r.cumulative_max > r.tolerance), "")
            guilty = [first] if first else []
        notes = []
        if verdict == "holds" and guilty:
            notes.append(
                f"{', '.join(guilty)} does not follow its guessed field type although the output holds; "
                "correct the guess if the layer has another representation"
            )
            guilty = []
        if training:
            notes.append(f"{training[0]} was in train mode; it was measured in eval mode")
        if verdict == "no law":
            notes.append("no exact element of this group has an action here, so there is a curve but no verdict")
        causes = [h for g in guilty for h in hints(self.model, self.trace, g)] if verdict == "broken" else []
        return Report(
            name, group, verdict, tuple(guilty), tuple(rows), tuple(e for e, _ in self.elements),
            tuple(exact for _, exact in self.elements), self.table, tuple(causes), self.presets, len(self.x), seed,
            str(dtype).removeprefix("torch."), str(self.x.device), model_hash(self.model), versions(), tuple(notes),
        )  # fmt: skip

    def _row(self, layer: Layer, tol: float | None, lie: Mapping[str, float]) -> LayerReport:
        f = self.figures[layer.name]
        limit = measure.tolerance(self.eps_of, layer.rank) if tol is None else tol
        # rounding that this very network shows is never called a fault
        limit = max(limit, 8 * self.float_floor[layer.name]) if tol is None else limit
        local, cumulative = _summary(f.local), _summary(f.cumulative)
        judged = local if local else cumulative
        verdict = "no law" if not judged else "broken" if judged[2] > limit else "holds"
        if verdict == "broken" and not local and layer.leaf is False:
            verdict = "broken" if cumulative and cumulative[2] > limit else "holds"
        floors = torch.cat(f.floor) if f.floor else torch.zeros(1)
        return LayerReport(
            name=layer.name,
            kind=layer.kind,
            field=str(layer.field) if layer.field else "unknown",
            guessed=bool(layer.field and layer.field.guessed),
            shape=layer.shape,
            local=local[0] if local else None,
            local_p95=local[1] if local else None,
            local_max=local[2] if local else None,
            cumulative=cumulative[0] if cumulative else None,
            cumulative_p95=cumulative[1] if cumulative else None,
            cumulative_max=cumulative[2] if cumulative else None,
            attributed=self.attributed.get(layer.name),
            floor=max(self.float_floor[layer.name], 0.0 if f.cumulative else float(floors.median())),
            chance=_summary(f.chance)[0] if f.chance else None,
            tolerance=limit,
            max_abs=max((float(d.max_abs.max()) for d in f.distances), default=None),
            mean_abs=float(np.median([float(d.mean_abs.median()) for d in f.distances])) if f.distances else None,
            decibel=float(np.median([float(d.decibel.median()) for d in f.distances])) if f.distances else None,
            kept=float(np.mean(f.kept)) if f.kept else 0.0,
            verdict=verdict,
            resampled_cumulative=_summary(f.soft_cumulative)[0] if f.soft_cumulative else None,
            resampled_local=_summary(f.soft_local)[0] if f.soft_local else None,
            resampled_floor=float(floors[floors > 0].median()) if f.soft_cumulative and bool((floors > 0).any()) else None,
            lie=lie,
        )


def _summary(parts: Sequence[Tensor]) -> tuple[float, float, float] | tuple[()]:
    """Return (median, 95th percentile, maximum) over samples and elements."""
    if not parts:
        return ()
    values = torch.cat([p.double().flatten().cpu() for p in parts])
    return float(values.median()), float(values.quantile(0.95)), float(values.max())
