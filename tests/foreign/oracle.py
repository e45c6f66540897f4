"""The truth about a network, by hand: move the input, run, move the output, compare. Nothing of Equiscope is used."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from tests.foreign.case import Case, Given

Element = dict[str, Any]


def elements(case: Case, given: Given) -> list[Element]:
    """Return a few elements of a group: turns and mirrors, shifts, renumberings, delays."""
    group, first = case.group, given.args[0]
    if group in ("C2", "C4", "D4"):
        turns = [{"turn": k} for k in ((2,) if group == "C2" else (1, 2, 3))]
        return turns + [{"turn": k, "flip": True} for k in range(4)] if group == "D4" else turns
    if group == "translation":
        s = given.step
        return [{"shift": (s, 0)}, {"shift": (0, s)}, {"shift": (-s, 2 * s)}]
    if group == "permutation":
        return [_renumbering(given, seed) for seed in (1, 2)]
    if group == "shift":
        return [{"delay": k * given.step} for k in (1, 2, 5)]
    if group == "circular-shift":
        return [{"round": k * given.step} for k in (1, 2, 5)]
    if group == "reversal":
        return [{"backwards": True}]
    if group == "reverse-complement":
        return [{"backwards": True, "complement": True}]
    if group in ("SO3", "O3", "SE3", "E3"):
        return [_motion(group, seed) for seed in (1, 2, 3)]
    if group in ("O", "Oh"):
        turns = [{"axes": (0, 2, 1), "flips": (1,)}, {"axes": (2, 1, 0), "flips": (0,)}, {"axes": (1, 2, 0)}]
        return [*turns, {"axes": (0, 1, 2), "flips": (0,)}] if group == "Oh" else turns
    if group == "sphere-SO3":
        return [_motion("SO3", seed) for seed in (1, 2, 3)]
    if group == "gauge":
        index = given.args[given.acts.index("index")]
        turns = [3 * torch.randn(len(first), generator=torch.Generator().manual_seed(s)).double() for s in (1, 2)]
        return [{"frames": turn, "from": index[0], "to": index[1]} for turn in turns]
    if group == "Z3":
        s = given.step
        return [{"rolls": (s, 0, 0)}, {"rolls": (0, s, 0)}, {"rolls": (0, -s, 2 * s)}]
    raise ValueError(f"no oracle for {group} on {tuple(first.shape)}")


def _motion(group: str, seed: int) -> Element:
    generator = torch.Generator().manual_seed(seed)
    turn = torch.linalg.qr(torch.randn(3, 3, generator=generator, dtype=torch.float64))[0]
    turn = turn * torch.linalg.det(turn).sign()
    if group in ("O3", "E3") and seed % 2:
        turn = -turn
    far = torch.randn(3, generator=generator, dtype=torch.float64) if group.endswith("E3") else torch.zeros(3)
    return {"turn": turn, "far": far}


def _renumbering(given: Given, seed: int) -> Element:
    generator = torch.Generator().manual_seed(seed)
    found: Element = {}
    for value, act in zip(given.args, given.acts):
        kind, _, axis = act.partition("@")
        if kind in ("nodes", "pairs"):
            at = -1 if kind == "pairs" else int(axis or 0)
            found.setdefault("nodes", torch.randperm(value.shape[at], generator=generator))
        elif kind == "others":
            found["others"] = torch.randperm(value.shape[int(axis or 0)], generator=generator)
        elif kind in ("index", "between", "ends"):
            found["edges"] = torch.randperm(value.shape[kind != "ends"], generator=generator)
    return found


def act(value: Tensor, how: str, g: Element) -> Tensor:
    """Return rho(g) of a value.

    `how` is "fixed", "grid", "grid@2" (a coarser grid, 2 pixels a place), "regular" (blocks of four channels for the
    quarter turns), "flat@3x3" (a map flattened with its channels), "patches@3x3" (tokens of an image, row by row),
    "nodes", "nodes@1", "edges", "edges@1", "index" (numbers of nodes, one column an edge), "ends" (one row an edge),
    "pairs", "others" (members of a second set), "between" (numbers of nodes and of others, one column an edge),
    "places@1" and "arrows@1" (whose components x, y, z lie on axis 1, moved or turned), "volume" (slices, rows,
    columns last; "volume@2" is coarser), "steps@1", "strands@1" (channels exchanged with their mirror on axis 1, time
    on the other), "harmonic@4" (coefficients of spherical harmonics up to that degree, last), "angle" and "transport"
    (of each edge, in frames at nodes that turn).
    """
    kind, _, told = how.partition("@")
    if kind == "fixed":
        return value
    if kind in ("grid", "regular"):
        moved = _on_grid(value, g, float(told or 1))
        return moved.unflatten(1, (-1, 4)).roll(g["turn"], 2).flatten(1, 2) if kind == "regular" else moved
    if kind == "flat":
        h, w = map(int, told.split("x"))
        return _on_grid(value.unflatten(1, (-1, h, w)), g, 1.0).flatten(1)
    if kind == "patches":
        h, w, size = map(int, told.split("x"))
        maps = value.transpose(1, 2).unflatten(2, (h, w))
        return _on_grid(maps, g, float(size)).flatten(2).transpose(1, 2)
    if kind in ("angle", "transport"):
        source = g["frames"][g["from"]] if kind == "transport" else 0.0
        return value + (source - g["frames"][g["to"]]).to(value)
    if kind == "harmonic":
        return value @ _wigner(int(told), g["turn"]).t().to(value)
    if kind in ("places", "arrows"):
        last = value.movedim(int(told), -1) @ g["turn"].t().to(value)
        return (last + g["far"].to(value) if kind == "places" else last).movedim(-1, int(told))
    if kind == "volume":
        return _on_volume(value, g, int(told or 1))
    if kind in ("nodes", "edges", "others"):
        return value.index_select(int(told or 0), g[kind]) if kind in g else value
    if kind == "index":
        if "nodes" not in g:
            return value
        back = torch.empty_like(g["nodes"])
        back[g["nodes"]] = torch.arange(len(back))
        return back[value][:, g["edges"]]
    if kind == "between":
        ends = [torch.argsort(g[of])[end] for of, end in zip(("nodes", "others"), value)]
        return torch.stack(ends)[:, g["edges"]]
    if kind == "ends":
        return act(value.t(), "index", g).t()
    if kind == "pairs":
        return value.index_select(-2, g["nodes"]).index_select(-1, g["nodes"])
    if kind in ("steps", "strands"):
        return _on_steps(value, g, int(told or 0), kind == "strands")
    raise ValueError(how)


def _wigner(degree: int, turn: Tensor) -> Tensor:
    """Return what turns coefficients: D Y(p) = Y(R p), solved from e3nn's harmonics at random places."""
    from e3nn import o3

    places = torch.randn(400, 3, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    parts = []
    for k in range(degree + 1):
        here, there = (o3.spherical_harmonics(k, p, normalize=True) for p in (places, places @ turn.t()))
        parts.append(torch.linalg.lstsq(here, there).solution.t())
    return torch.block_diag(*parts)


def _on_volume(value: Tensor, g: Element, spacing: int) -> Tensor:
    if "rolls" in g:
        assert not any(s % spacing for s in g["rolls"]), "the shift is no whole number of places"
        return value.roll([s // spacing for s in g["rolls"]], (-3, -2, -1))
    moved = value.permute([*range(value.ndim - 3), *(value.ndim - 3 + a for a in g["axes"])])
    return moved.flip([a - 3 for a in g.get("flips", ())]) if g.get("flips") else moved


def _on_grid(value: Tensor, g: Element, spacing: float) -> Tensor:
    if "shift" in g:
        down, right = (s / spacing for s in g["shift"])
        assert down == int(down) and right == int(right), "the shift is no whole number of places"
        return value.roll((int(down), int(right)), (-2, -1))
    value = value.flip(-1) if g.get("flip") else value
    return torch.rot90(value, g["turn"], (-2, -1))


def _on_steps(value: Tensor, g: Element, axis: int, strands: bool) -> Tensor:
    if "delay" in g:
        kept = value.narrow(axis, 0, value.shape[axis] - g["delay"])
        empty = torch.zeros_like(value.narrow(axis, 0, g["delay"]))
        return torch.cat([empty, kept], axis)
    if "round" in g:
        return value.roll(g["round"], axis)
    moved = value.flip(axis)
    if g.get("complement") and strands:
        others = [k for k in range(value.ndim) if k != axis and value.shape[k] > 1]
        moved = moved.flip(others[-1])
    return moved


def inside(value: Tensor, how: str, g: Element, margin: int) -> Tensor:
    """Return the values that no border reaches."""
    kind, _, told = how.partition("@")
    if kind in ("steps", "strands"):
        axis, late = int(told or 0), g.get("delay", 0)
        steps = value.shape[axis]
        return value.narrow(axis, late + margin, max(steps - late - 2 * margin, 0))
    if kind == "grid" and margin:
        return value[..., margin:-margin, margin:-margin]
    return value


def tensors(result: Any) -> Iterator[Tensor]:
    """Yield every tensor of a result, in the order in which a person would read them."""
    if isinstance(result, Tensor):
        yield result
    elif dataclasses.is_dataclass(result):
        for part in dataclasses.fields(result):
            yield from tensors(getattr(result, part.name))
    elif isinstance(result, Mapping):
        for value in result.values():
            yield from tensors(value)
    elif isinstance(result, list | tuple):
        for value in result:
            yield from tensors(value)


def call(network: nn.Module, given: Given, args: tuple[Tensor, ...]) -> Any:
    """Return what the network says to these arguments."""
    torch.manual_seed(0)
    if given.form == "mapping":
        return network(**dict(zip(given.names, args)))
    if given.form == "data":
        from torch_geometric.data import Data

        return network(Data(**dict(zip(given.names, args))))
    return network(args[:2], *args[2:]) if given.form == "pair" else network(*args)


@contextmanager
def plain_attention() -> Iterator[None]:
    """Keep torch from its fast path of encoders, which takes real-valued masks for boolean ones."""
    was = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(was)


class Oracle:
    """One case, run by hand: `share` of chance at the output, `first` layer whose output leaves its law."""

    def __init__(self, case: Case) -> None:
        self.case, self.given = case, case.given()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            network = case.network().eval()
            # not .to(dtype), which takes the imaginary part from complex weights
            self.network = network.double() if case.precision == torch.float64 else network.float()
        self.args = tuple(v.to(case.precision) if v.is_floating_point() else v for v in self.given.args)
        self.found = elements(case, self.given)

    def moved(self, args: tuple[Tensor, ...], g: Element) -> tuple[Tensor, ...]:
        """Return rho(g) of all the arguments; what zero padding lets in from outside is zero."""
        return tuple(self._input(v, how, g) for v, how in zip(args, self.given.acts))

    def _input(self, value: Tensor, how: str, g: Element) -> Tensor:
        moved = act(value, how, g)
        if "shift" in g and self.given.boundary == "zero":
            down, right = g["shift"]
            known = act(torch.ones_like(value), how, g)
            rows, columns = torch.arange(value.shape[-2]), torch.arange(value.shape[-1])
            known = ((rows - down >= 0) & (rows - down < len(rows)))[:, None]
            known = known & ((columns - right >= 0) & (columns - right < len(columns)))
            moved = moved * known
        return moved

    def run(self, args: tuple[Tensor, ...]) -> list[Tensor]:
        with torch.no_grad(), warnings.catch_warnings(), plain_attention():
            warnings.simplefilter("ignore")
            result = call(self.network, self.given, tuple(v.clone(memory_format=torch.contiguous_format) for v in args))
        return [v.clone() for v in tensors(result)]

    def unrelated(self) -> tuple[Tensor, ...]:
        """Return other data of the same shapes."""
        generator = torch.Generator().manual_seed(77)
        return tuple(
            v + v.std() * torch.randn(v.shape, generator=generator, dtype=v.dtype)
            if v.is_floating_point() and how not in ("pairs", "edges")  # weights stay weights
            else v
            for v, how in zip(self.args, self.given.acts)
        )

    def share(self) -> float:
        """Return the largest error over elements and outputs, as a share of the distance to an unrelated answer."""
        plain, other = self.run(self.args), self.run(self.unrelated())
        assert len(plain) == len(self.case.out), f"{len(plain)} outputs, and actions of {len(self.case.out)}"
        worst = 0.0
        for g in self.found:
            answers = self.run(self.moved(self.args, g))
            for y, unlike, answer, how in zip(plain, other, answers, self.case.out):
                expected = act(y, how, g)
                margin = self.case.inside + (max(map(abs, g.get("shift", (0,)))) if self._cut else 0)
                e, a, u = (inside(v, how, g, margin) for v in (expected, answer, act(unlike, how, g)))
                assert e.numel(), "nothing is left to compare"
                size = float((u - e).abs().double().norm()) or float(e.abs().double().norm()) or 1.0
                error = float((a - e).abs().double().norm()) / size
                worst = max(worst, error if math.isfinite(error) else math.inf)
        return worst

    @property
    def _cut(self) -> bool:
        return self.given.boundary == "zero" and self.case.group == "translation"

    def first(self) -> str:
        """Return the first module, in order of completion, whose output leaves the law that its shape stands for."""
        before = self._layers(self.args)
        after = [(g, self._layers(self.moved(self.args, g))) for g in self.found]
        return next((name for name, y in before.items() if any(self._leaves(name, y, g, a) for g, a in after)), "")

    def _leaves(self, name: str, value: Tensor, g: Element, answers: dict[str, Tensor]) -> bool:
        how, answer = self._by_shape(value), answers.get(name)
        if not how or answer is None or answer.shape != value.shape:
            return False
        margin = self.case.inside + (max(map(abs, g.get("shift", (0,)))) if self._cut else 0)
        e, a = (inside(v, how, g, margin) for v in (act(value, how, g), answer))
        return float((e - a).abs().double().norm()) > self.case.limit * max(float(e.abs().double().norm()), 1e-30)

    def _layers(self, args: tuple[Tensor, ...]) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {}

        def keep(name: str) -> Callable[..., None]:
            def hook(_: nn.Module, __: Any, result: Any) -> None:
                first = next(tensors(result), None)
                if first is not None:
                    found.setdefault(name, first.clone())

            return hook

        handles = [m.register_forward_hook(keep(n)) for n, m in self.network.named_modules() if n]
        try:
            self.run(args)
        finally:
            for handle in handles:
                handle.remove()
        return found

    def _by_shape(self, value: Tensor) -> str:
        """Return the action that a shape alone suggests, "" where it suggests none."""
        shape, x = tuple(value.shape), self.args[0]
        if self.given.acts[0] == "grid":
            if len(shape) == 2:
                return "fixed"
            if len(shape) == 3 and math.isqrt(shape[1]) ** 2 == shape[1] and self.case.group == "translation":
                side = math.isqrt(shape[1])
                size = x.shape[-1] // side
                return f"patches@{side}x{side}x{size}" if self.given.step == size and size * side == x.shape[-1] else ""
            if len(shape) != 4:
                return ""
            if shape[-1] == 1:
                return "fixed"
            spacing = x.shape[-1] / shape[-1]
            whole = self.given.step % spacing == 0
            return "grid" if self.case.group != "translation" else f"grid@{spacing}" if whole else ""
        kind, _, axis = self.given.acts[0].partition("@")
        places = x.shape[int(axis or 0)]
        if self.case.group == "reversal" and len(shape) == x.ndim:
            return self.given.acts[0]
        if kind in ("steps", "strands"):
            return f"steps@{shape.index(places)}" if places in shape and kind == "steps" else ""
        if shape[-2:] == (places, places):
            return "pairs"
        if places in shape:
            return f"nodes@{shape.index(places)}"
        index = next((v for v, how in zip(self.args, self.given.acts) if how == "index"), None)
        if index is not None and index.shape[1] in shape[:2]:
            return f"edges@{shape.index(index.shape[1])}"
        return "fixed" if len(shape) < 3 else ""


def blamed(first: str, case: Case) -> bool:
    """Say whether the first layer that leaves its law is a culprit or a part of one."""
    return any(first == name or first.startswith(f"{name}.") for name in case.culprit)
