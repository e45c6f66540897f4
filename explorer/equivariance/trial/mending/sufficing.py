"""Find by trial which layers make a fault: those that it takes to mend, for the whole network to keep its law.

A layer f is mended by rho(g) f(rho(g)^-1 .), which is f itself where f keeps the law. With every layer mended a network
answers rho(g) F(x) to rho(g) x. With only some of them it does where these make the fault and no others: two layers
whose faults cancel, as of a series that is read both ways round, are acquitted, and so is what only has a wrong field.
A layer of unknown field is mended by what it gives for x, its slices exchanged as those of what it is given are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import torch
from torch import Tensor, nn

from explorer.declare.elements import NoAction
from explorer.equivariance import measure
from explorer.equivariance.trial.calling import alike, calling
from explorer.equivariance.trial.mending.mends import Given, Mend, Square, by_exchange, conjugated, mended
from explorer.equivariance.verdict.guilt import Finding, around, obedient
from explorer.network.opening.global_state import reseed
from explorer.network.space import inference_of
from explorer.network.tracing.capture import capture
from explorer.network.tracing.layers import Layer, LayerError, Trace
from explorer.network.tracing.walking import named_modules
from explorer.work.progress import waited

TRIALS = 32  # runs of the network at most
HARM = 10.0  # times as large as before is an error that mending a layer makes worse
OTHERS = 2  # unrelated inputs on which it does so too: on one alone the errors of two layers may cancel by chance


class Sufficing:
    """Tells which layers have to be mended.

    Args:
        seed: of each run.
        ends: names of the tensors whose law is asked for.
        rounding: up to which relative error the rounding of a run excuses each layer.
        tolerances: up to which what the layers before it store excuses it too, such as constants in single precision.
    """

    def __init__(
        self, model: nn.Module, trace: Trace, rows: Sequence[Finding], squares: Sequence[Square], seed: int,
        ends: Collection[str], rounding: Mapping[str, float], tolerances: Mapping[str, float] | None = None,
    ) -> None:  # fmt: skip
        self.model, self.trace, self.squares, self.seed = model, trace, squares, seed
        self.limits = {name: rounding[name] for name in ends}
        self.rounding = rounding
        self.modules = dict(named_modules(model))
        self.budget = TRIALS
        self.known: dict[frozenset[str], bool] = {}
        self.errors: dict[tuple[int, frozenset[str]], float | None] = {}
        self.elsewhere: list[Square] | None = None  # the first square on other inputs, once it was asked for
        self.calls: dict[str, list[Layer]] = {}  # of each module that breaks its law when it is fed alone
        for layer, row in zip(trace.layers, rows, strict=True):
            if row.verdict == "broken" and row.local is not None and layer.module in self.modules and layer.module:
                self.calls.setdefault(layer.module, []).append(layer)
        self.clean = obedient(list(zip(trace.layers, rows, strict=True)))
        self.tolerances = tolerances or {}
        self.excused = self._excused(dict(zip((n.name for n in trace.layers), rows, strict=True)), rounding)
        self.exchanged = calling(trace, [(s.fed, s.given) for s in squares if s.whole])
        self.calls = {m: of for m, of in self.calls.items() if not self._is_exchanged(m)}

    def _is_exchanged(self, module: str) -> bool:
        return any(module == m or module.startswith(f"{m}.") for m in self.exchanged)

    def accused(self, guilty: Sequence[str]) -> list[str]:
        """Return these layers but for those in modules that are only called in another order, which do no harm."""
        return [name for name in guilty if not self._is_exchanged(self.trace[name].owner)]

    def _excused(self, rows: Mapping[str, Finding], rounding: Mapping[str, float]) -> list[str]:
        """Return the modules whose law holds only as far as their stored weights go.

        They are mended in every trial: what they add would else be laid to the layers on trial, and a limit that is
        wide enough for it would hide a layer that changes the output by little.
        """
        found: dict[str, bool] = {}
        kept = {""}
        for layer in self.trace.layers:
            row = rows[layer.name]
            if layer.leaf and layer.module in self.modules and row.verdict == "holds" and row.local is not None:
                found[layer.module] = found.get(layer.module, False) or row.local > rounding[layer.name]
            else:
                kept.add(layer.module)
        return [m for m, excused in found.items() if excused and m not in kept]

    def among(self, guilty: Sequence[str]) -> list[str] | None:
        """Return the names of the least layers that have to be mended, first of all among these; None if none do."""
        units = list(dict.fromkeys(self.trace[name].module for name in guilty))
        units = [u for u in units if u in self.calls]
        # where something is cut off, a container mends as well what its parts are given, and would be blamed for it
        whole = all(square.whole for square in self.squares)
        containers = list(dict.fromkeys(c for u in units if whole and (c := self._container(u))))
        cancelling = tuple(dict.fromkeys(c for u in units if whole and (c := self._undoing(u))))
        for lifted in (*filter(None, [cancelling]), (), *_subsets(containers)):
            # instead of the parts, whose fields may be wrong, what they are parts of
            few = [*lifted, *(u for u in units if not any(c in lifted for c in around(u)))]
            if few and self.suffice(few):
                return self._names(next(s for s in _subsets(few) if self.suffice(s)))
        if not whole:
            return None
        leaves_first = sorted(self.calls, key=lambda m: any(other.startswith(f"{m}.") for other in self.calls))
        found = next((s for s in _subsets(leaves_first, 2) if self.suffice(s)), None)
        return None if found is None else self._names(found)

    def _undoing(self, module: str) -> str:
        """Return the innermost container that mending does no harm to, of a module that it does; "" for all others."""
        found = module
        while found and self._harms(found):
            found = self._container(found)
        return found if found != module else ""

    def _harms(self, module: str) -> bool:
        """Say whether mending a module makes the fault much larger: what it breaks, others of its container undo.

        Copies of one layer that see an image turned each by itself do so, and what is left of them is the fault. They
        do so on any input.
        """
        if not self._harms_on(self.squares[:1], module):
            return False
        if self.elsewhere is None:
            self.elsewhere = list(self.others(list(self.limits)))
        return self._harms_on(self.elsewhere, module)

    def _harms_on(self, squares: Sequence[Square], module: str) -> bool:
        found = [(self._error(s, ()), self._error(s, (module,))) for s in squares]
        return bool(found) and all(n is not None and a is not None and a > HARM * n for n, a in found)

    def others(self, names: Sequence[str]) -> Iterator[Square]:
        """Yield the first square with unrelated inputs in place of its own, where the network takes them.

        Args:
            names: of the layers whose values it holds.
        """
        square = self.squares[0]
        for k in range(OTHERS):
            x = inference_of(square.x).others(square.x, self.seed + 1 + k)
            element = square.element.on(x)
            try:
                reseed(self.seed)
                values = capture(self.model, x, names, clone=True, cancelled=waited)[0]
                yield replace(square, element=element, x=x, gx=x.moved(element), values=values)
            except (NoAction, LayerError, ValueError):
                pass

    def _error(self, square: Square, modules: Sequence[str]) -> float | None:
        """Return the largest error of the outputs of a square with these mended; None if it is unknown."""
        key = id(square), frozenset(modules)
        if key not in self.errors:
            try:
                self.errors[key] = self.error(square, self._by_element(square, modules, False))
            except NoAction:
                self.errors[key] = None
        return self.errors[key]

    def error(self, square: Square, mends: Mapping[str, Sequence[Mend]]) -> float | None:
        """Return the largest error of the outputs of a square with modules mended so; None if it is unknown."""
        try:
            with mended({self.modules[m]: mend for m, mend in mends.items()}):
                reseed(self.seed)
                answers = capture(self.model, square.gx, list(self.limits), clone=True, cancelled=waited)[0]
            found = [self._apart(square, name, answers[name]) for name in self.limits]
        except (NoAction, LayerError, ValueError):
            return None
        return max((e for e in found if e is not None), default=None)

    def left(self, guilty: Sequence[str]) -> str:
        """Return the first layer that is given what breaks its law, whether these are mended or not, "" if none is.

        No layer that was found guilty makes that fault: code of a forward does, or a field is a wrong guess.
        """
        units = {self.trace[name].module for name in guilty} & set(self.calls)
        modules = [m for m in units if units.isdisjoint(around(m))]
        names = [layer.name for layer in self.trace.layers]
        for square in (s for s in self.squares if modules and s.whole):
            try:
                mends = self._by_element(square, modules, False)
                with mended({self.modules[m]: mend for m, mend in mends.items()}):
                    reseed(self.seed)
                    _, given = capture(self.model, square.gx, names, clone=True, inputs=True, cancelled=waited)
                found = self._first_off(square, given, modules)
            except (NoAction, LayerError, ValueError):
                return ""
            if found:
                return found
        return ""

    def _first_off(self, square: Square, given: Given, changed: Sequence[str]) -> str:
        for layer in self.trace.layers:
            if layer.part or layer.within is not None or any(m in changed for m in around(layer.module)):
                continue
            if not self.clean.isdisjoint(around(layer.module)):
                continue
            fed, came = square.fed.get(layer.called, ()), given.get(layer.called, ())
            for f, before, after in zip(layer.inputs, fed, came, strict=False):
                if f is not None and before.is_floating_point():
                    expected = f.rep.acted(square.element, before, f)
                    wrong = float((expected - after).norm()) if expected.shape == after.shape else float("inf")
                    limit = max(10 * self.rounding[layer.name], self.tolerances.get(layer.name, 0.0))
                    if wrong > limit * float(expected.norm()):
                        # what mending changes may be wrong for a wrong field of what was mended
                        return layer.name if alike(came, square.given.get(layer.called, ())) else ""
        return ""

    def unknown(self, names: Sequence[str]) -> list[str] | None:
        """Return the one of these layers of unknown fields that has to be mended; None if none does, or two do."""
        layers = [self.trace[name] for name in names]
        # a container can keep exchanged slices where each of its layers gives others, as of a mix of all tokens
        outer = list(dict.fromkeys(m for layer in layers for m in reversed(around(layer.module))))
        for tried in (layers, [self.trace[m] for m in outer if m in self.trace.by_name]):
            found = [layer.name for layer in tried if self._by_itself(layer)]
            if found:
                return found if len(found) == 1 else None
        return None

    def _by_itself(self, layer: Layer) -> bool:
        """Say whether the network keeps its law with this layer mended, of which no field is known."""
        if not layer.module or layer.module not in self.modules or layer.call:
            return False
        if not all(square.whole for square in self.squares):
            return False  # what is given cannot be compared where it was cut off
        return self._holds(lambda square: by_exchange(square, layer), (layer.module,))

    def _container(self, module: str) -> str:
        """Return the innermost container of a module that breaks its law as well, "" where none does."""
        return next((m for m in reversed(around(module)) if m in self.calls), "")

    def _names(self, modules: Sequence[str]) -> list[str]:
        wanted = [layer.name for module in modules for layer in self.calls[module]]
        making = [name for name in wanted if not self._reshapes(self.trace[name])]
        return [layer.name for layer in self.trace.layers if layer.name in (making or wanted)]

    def _reshapes(self, layer: Layer) -> bool:
        """Say whether a layer gives the numbers that it is given in their order: its fault is a wrong field before."""
        x = self.squares[0]
        fed, value = x.fed.get(layer.called, ()), x.values[layer.name]
        return len(fed) == 1 and fed[0].shape != value.shape and torch.equal(fed[0].flatten(), value.flatten())

    def suffice(self, modules: Sequence[str]) -> bool:
        """Say whether the network keeps its law with these modules mended."""
        key = frozenset(modules)
        if any(m in key for module in key for m in around(module)):
            return False
        if key not in self.known:
            others = [m for m in self.excused if not any(c in key for c in around(m))]
            self.known[key] = any(
                self._holds(
                    lambda s, like=like: (
                        self._by_element(s, others, False)  # type: ignore[misc]
                        | self._by_element(s, modules, like)
                    ),
                    modules,
                )
                for like in (False, True)
            )
        return self.known[key]

    def _by_element(self, square: Square, modules: Sequence[str], like: bool) -> dict[str, list[Mend]]:
        """Return how each call of the modules is mended under an element.

        Args:
            like: they give what they are given, where the shapes agree and a field is only a guess.
        """
        back = square.element.inverse()
        found: dict[str, list[Mend]] = {}
        for module in modules:
            parts: dict[int, dict[int, Layer]] = {}
            for layer in self.trace.layers:
                if layer.module == module and layer.within is None:
                    parts.setdefault(layer.call, {})[layer.part] = layer
            mends = []
            for call in sorted(parts):
                of = parts[call]
                if 0 not in of or not of[0].alone:
                    raise NoAction(f"call {call} of {module} cannot be mended")
                fields = {part: layer.field for part, layer in of.items()}
                first = of[0].inputs[0] if of[0].inputs else None
                if like and first is not None and of[0].shape == of[0].shape_in:
                    fields[0] = first
                mends.append(conjugated(square.element, back, of[0].inputs, fields))
            found[module] = mends
        return found

    def _holds(self, mends: Callable[[Square], dict[str, list[Mend]]], modules: Sequence[str]) -> bool:
        for square in self.squares:
            if self.budget <= 0:
                return False
            self.budget -= 1
            try:
                with mended({self.modules[m]: mend for m, mend in mends(square).items()}):
                    reseed(self.seed)
                    answers = capture(self.model, square.gx, list(self.limits), clone=True, cancelled=waited)[0]
                if not all(self._alike(square, name, answers[name]) for name in self.limits):
                    return False
            except (NoAction, LayerError, ValueError):
                return False
        return bool(self.squares) and bool(modules)

    def _alike(self, square: Square, name: str, answer: Tensor) -> bool:
        apart = self._apart(square, name, answer)
        return apart is not None and apart <= self.limits[name]

    def _apart(self, square: Square, name: str, answer: Tensor) -> float | None:
        """Return how far an answer is from what the law asks for, None where that cannot be judged."""
        layer, value = self.trace[name], square.values[name]
        expected = measure.expected_after(square.element, layer, value)
        if expected is None or layer.field is None or expected.shape != answer.shape:
            return None
        where = measure.mask(square.element, value, layer.field, layer.sees)
        if not square.whole and not measure.judged(square.element, square.x, layer, value, where):
            return None
        return float(measure.apart(expected, answer, where, layer.field, square.most.get(name)).max())


def _subsets(units: Sequence[str], most: int = 5) -> Iterator[tuple[str, ...]]:
    """Yield subsets from the least ones on, up to `most` of the units, and then all of them."""
    for size in range(1, min(most, len(units)) + 1):
        yield from combinations(units, size)
    if len(units) > most:
        yield tuple(units)
