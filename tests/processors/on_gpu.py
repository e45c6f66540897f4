"""Answer and check every card on the processor and on the GPU, and compare.

`python -m tests.processors.on_gpu [--part K/N] [--device cuda:0] [--brief] [CARD ...]`: per card its report in double
precision, as in `every_report`, its frame in single precision, complete, and those of other layers, interventions,
saliencies and laws. Verdicts, culprits and sentences are the same; figures differ by rounding alone.
"""

from __future__ import annotations

import argparse
import time
import traceback
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import models
from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import NoAction, parse_chain
from explorer.declare.registry import scan
from explorer.declare.states.interventions import parse_interventions
from explorer.declare.states.saliency import METHODS
from explorer.network.tracing.layers import LayerError
from explorer.square.frame import Square
from explorer.state.state import State
from tests.models.program.test_engine import EACH
from tests.processors.every_report import differences, reports

POINTS = 3  # of an orbit
NEAR = 1e-4  # absolute, of relative errors in single precision, beside a hundredth of them


def frame(engine: LocalEngine, state: State) -> tuple[Square, float]:
    """Return the square of a state with all layers measured, and the milliseconds of a forward pass."""
    first = engine.answer(state, lambda: False)
    return list(engine.refine(first))[-1].squares[0], first.forward_milliseconds


def told(name: str, one: Square, other: Square) -> Iterator[str]:
    """Yield a sentence for each verdict or figure that is not the same."""
    if one.verdict != other.verdict or one.guilty != other.guilty:
        yield f"{name}: {one.verdict} {one.guilty} and {other.verdict} {other.guilty}"
    for layer in sorted(one.measures.keys() & other.measures.keys()):
        a, b = one.measures[layer], other.measures[layer]
        if a.verdict != b.verdict:
            yield f"{name}, {layer}: {a.verdict} ({a.cumulative}) and {b.verdict} ({b.cumulative})"
        for what, x, y in (("cumulative", a.cumulative, b.cumulative), ("local", a.local, b.local)):
            if x is not None and y is not None and not abs(x - y) <= NEAR + 0.01 * abs(x):
                yield f"{name}, {layer}: {what} {x} and {y}"


def trial(engine: LocalEngine, name: str, device: str, brief: bool = False) -> Iterator[str]:
    """Yield a sentence for everything of a card that is not the same on that device."""
    yield from differences(reports([name], "cpu"), reports([name], device))
    card = engine.cards[name]
    chain = EACH[card.domain][0]
    if turned := next((claim.removeprefix("gauge-C") for claim in card.groups if claim.startswith("gauge-C")), ""):
        chain = f"{chain},{turned}"
    state = State(name, steps=parse_chain(chain), device="cpu")
    one, cpu = frame(engine, state)
    other, gpu = frame(engine, replace(state, device=device))
    print(f"{name}: a forward pass {cpu:.1f} ms, {gpu:.1f} ms on {device}", flush=True)
    yield from told(name, one, other)
    for what, way in () if brief else ways(state, one):
        here, there = (asked(engine, replace(way, device=d)) for d in ("cpu", device))
        if isinstance(here, str) or isinstance(there, str):
            if here != there:
                yield f"{name}, {what}: " + " and ".join(s if isinstance(s, str) else s.verdict for s in (here, there))
        else:
            yield from told(f"{name}, {what}", here, there)


def ways(state: State, shown: Square) -> Iterator[tuple[str, State]]:
    """Yield other states of a card that a person reaches with a click or two."""
    names = [info.name for info in shown.layers]
    for layer in dict.fromkeys((names[len(names) // 2], names[-1])):
        yield layer, replace(state, layer=layer, untransform=True, gradient="norm", node=1, other=0, channel=0)
        for change in ("zero", "scale=0.5", "freeze"):
            yield f"{layer}:{change}", replace(state, interventions=parse_interventions([f"{layer}:{change}"]))
    for method in METHODS:
        yield method, replace(state, saliency=method)
    yield "laws", replace(state, laws=True)
    yield "double precision", replace(state, dtype="float64")


def asked(engine: LocalEngine, state: State) -> Square | str:
    """Return the square of a state, or why there is none."""
    try:
        square, _ = frame(engine, state)
        for _ in islice(engine.orbit(state), POINTS):
            pass
    except (ValueError, LayerError, NoAction) as error:
        return f"{type(error).__name__}: {error}"
    return square


def main() -> int:
    """Compare a part of the cards."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--brief", action="store_true", help="the report and the first frame alone")
    parser.add_argument("cards", nargs="*")
    args = parser.parse_args()
    k, n = map(int, args.part.split("/"))
    engine, count, start = LocalEngine(scan(models, "CARD")), 0, time.perf_counter()
    wanted = args.cards or sorted(engine.cards)[k - 1 :: n]
    for name in wanted:
        try:
            for sentence in trial(engine, name, args.device, args.brief):
                print("DIFFERS", sentence, flush=True)
                count += 1
        except Exception:  # the other cards are tried all the same
            print("FAILED", name, traceback.format_exc(limit=-6), flush=True)
            count += 1
    engine.close()
    print(f"{len(wanted)} cards on {args.device} in {time.perf_counter() - start:.0f} s: {count} difference(s)")
    return 1 if count else 0


if __name__ == "__main__":
    raise SystemExit(main())
