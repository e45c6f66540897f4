"""Find by trial what a network on graphs is given besides the usual: encodings of nodes, values of edges, of the whole.

Such a table is written as its axes: N for a row a node, E for a row an edge, numbers for sizes, "Nx7", "1x4", "E".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np
import torch
from torch import Tensor, nn

from explorer.declare.samples import Signal
from explorer.declare.telling.asking import Named
from explorer.declare.types.fields import FieldType
from explorer.network.input.arguments import needed_arguments
from explorer.network.input.ways import BY_NAME, Way, meant
from explorer.network.tracing.trials import Counting, answer_of
from explorer.spaces.graph.fields import EDGE_INPUT, GRAPH, NODE_INPUT
from explorer.spaces.graph.network.attempts import NODES, TRIALS, searched, trial_graph, widths
from explorer.spaces.graph.network.form import SIGNALS, GraphInput

MOST = 3  # tables besides the usual
FEW = 24  # trials of widths with which most are found; of forms that are wrong all are spent
MANY = 30_000  # trials of widths for all forms together
FORMS = ("Nx{c}", "Ex{c}", "1x{c}", "N", "E", "{c}")
OTHER_NODES = 9
FIELDS: Mapping[str, FieldType] = {"N": NODE_INPUT, "E": EDGE_INPUT}

Widths = tuple[int, ...]


def beside_inputs(network: nn.Module, sparing: bool = False) -> Iterator[GraphInput]:
    """Yield what a network takes with tables besides the usual signals, if it is found: a row of each is heard.

    Args:
        sparing: whether few trials of each form must do.
    """
    known, extra = _told(needed_arguments(network))
    signals = tuple(known.values())
    if not 0 < len(extra) <= MOST or not {"x", "edge_index"} <= set(signals):
        return
    way = Way((*signals, *extra), (*known, *extra), BY_NAME)
    every = list(product(FORMS, repeat=len(extra)))
    rounds = (FEW,) if sparing else (FEW, min(TRIALS, MANY // len(every)))
    for most, forms in product(rounds, every):
        wide = _taken(network, way, signals, extra, forms, most)
        if wide is None:
            continue
        texts = [form.format(c=w) for form, w in zip(forms, wide[2:], strict=True)]
        if all(_hears(network, way, wide[:2], extra, texts, k) for k in range(len(extra))):
            yield GraphInput(
                channels=wide[0], signals=signals, given=BY_NAME, names=way.names[: len(signals)],
                edge_channels=wide[1] if "edge_attr" in signals and wide[1] > 1 else None,
                beside=tuple((name, (text,)) for name, text in zip(extra, texts, strict=True)),
            )  # fmt: skip
            return


def beside_told(needed: Sequence[str]) -> str:
    """Return how a person says what a network is given besides the usual; "" where nothing else has a name."""
    signals, extra = _told(needed)
    if not extra or not {"x", "edge_index"} <= set(signals.values()):
        return ""
    names = f" names={','.join(signals)}" if list(signals) != list(signals.values()) else ""
    tables = ",".join(f"{name}:Nx7" for name in extra)
    return f"--input 'graph signals={','.join(signals.values())}{names} beside={tables}'"


def beside_way(form: GraphInput, held: Sequence[str]) -> tuple[tuple[str, ...], Way]:
    """Return the names of all that a network is given, and how: signals without names of their own go by theirs."""
    extra = tuple(name for name, _ in form.beside)
    return (*held, *extra), Way((*form.signals, *extra), (*(form.names or form.signals), *extra), BY_NAME)


def signals_beside(beside: Named, nodes: int, edges: int) -> dict[str, Signal]:
    """Return random numbers for each table."""
    made = {}
    for seed, (name, sizes) in enumerate(beside):
        text = "x".join(map(str, sizes))
        values = _table(text, nodes, edges, 1 + seed).numpy().astype(np.float32)
        made[name] = Signal(values, FIELDS.get(text[:1], GRAPH))
    return made


def require_beside(beside: Named) -> None:
    """Raise ValueError where a table has other axes than those of nodes, edges or the whole."""
    for name, sizes in beside:
        axes = "x".join(map(str, sizes)).split("x")
        if not (axes[0] in FIELDS or axes[0].isdigit()) or not all(axis.isdigit() for axis in axes[1:]):
            raise ValueError(
                f"{name} has the axes {'x'.join(axes)}: N stands first for a row a node, E for a row an edge, and "
                "numbers are sizes, as in pe:Nx7,time:E,u:1x4"
            )


def _told(needed: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return the arguments that are signals of a graph by their names, and the others."""
    known: dict[str, str] = {}
    for name in needed:
        if signal := next((s for s in meant(name, SIGNALS) if s not in known.values()), ""):
            known[name] = signal
    return known, [name for name in needed if name not in known]


def _taken(
    network: nn.Module, way: Way, signals: Sequence[str], extra: Sequence[str], forms: Sequence[str], most: int
) -> Widths | None:
    """Return the widths of x, of edge_attr and of the tables that a network runs with, on graphs of two sizes.

    Args:
        most: trials.
    """
    counting = Counting(way.call(way.signals))
    free = [k for k, form in enumerate(("x", "edge_attr", *forms)) if k == 0 or "{c}" in form or form in signals]

    def whole(one: Widths) -> Widths:
        found = [1] * (2 + len(extra))
        for k, w in zip(free, one, strict=True):
            found[k] = w
        return tuple(found)

    def runs(one: Widths, nodes: int) -> bool:
        w = whole(one)
        texts = [form.format(c=c) for form, c in zip(forms, w[2:], strict=True)]
        return answer_of(network, _given(way, w[:2], extra, texts, nodes), counting) is not None

    def tried(one: Widths) -> tuple[bool, int, int]:
        done = runs(one, NODES)
        calls, missing = counting.calls, counting.missing
        return done and runs(one, OTHER_NODES), calls, missing

    found = searched(tried, widths(network), len(free), most)
    return None if found is None else whole(found)


def _given(way: Way, wide: Widths, extra: Sequence[str], texts: Sequence[str], nodes: int) -> list[Tensor]:
    made = trial_graph(*wide, nodes=nodes)
    for k, (name, text) in enumerate(zip(extra, texts, strict=True)):
        made[name] = _table(text, nodes, 2 * nodes, 1 + k)
    return [made[s] for s in way.signals]


def _table(text: str, nodes: int, edges: int, seed: int) -> Tensor:
    """Return positive and negative numbers for a table."""
    shape = [{"N": nodes, "E": edges}.get(axis) or int(axis) for axis in text.split("x")]
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), device="cpu")


def _hears(
    network: nn.Module, way: Way, wide: Widths, extra: Sequence[str], texts: Sequence[str], at: int
) -> bool:  # fmt: skip
    """Say whether the last row of a table changes the answer: of one for the whole that is taken by row it does not."""
    given = _given(way, wide, extra, texts, NODES)
    call, k = way.call(way.signals), way.signals.index(extra[at])
    other = given[k].clone()
    other[-1] = _table(texts[at], NODES, 2 * NODES, 99)[-1]  # no constant alone is added, which a norm takes away
    one, two = (answer_of(network, [*given[:k], v, *given[k + 1 :]], call) for v in (given[k], other))
    return one is not None and two is not None and (one.shape != two.shape or not torch.equal(one, two))
