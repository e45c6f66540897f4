"""Find by trial what a network on graphs or sets takes: the widths of x and of edge_attr, a batch axis of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import torch
from torch import Tensor, nn

from explorer.network.input.arguments import needed_arguments, only_by_name
from explorer.network.input.recognise import most_places
from explorer.network.input.ways import AS_ONE, BY_NAME, IN_ORDER, Bag, Way, meant, spellings
from explorer.network.tracing.trials import Counting, answer_of, same_answer
from explorer.network.tracing.walking import attribute, modules_of
from explorer.spaces.graph.network.form import AXES, OF_A_GRAPH, SIGNALS, GraphInput

NODES = 7
MANY = 97  # for networks that look at so many nearest or sampled points
PRESENT = torch.tensor([True, True, False, True, True, False, True], device="cpu")
CHANNELED = ("x", "position", "velocity", "charge", "other")  # what has channels beside its nodes
WIDEST = 16  # of widths that no layer tells

Widths = tuple[int, ...]  # of x, of edge_attr or of a second set, and of a second set where there are both
TRIALS = 400  # of widths of several tables
MOST_ARGUMENTS = 3
BESIDE = ("mask", "other")  # what a network on a set may be given beside its elements


def widths(network: nn.Module) -> list[int]:
    """Return widths to try: those that layers take, in their order, then small numbers."""
    told = (attribute(m, name) for m in modules_of(network) for name in ("in_channels", "in_features"))
    return list(dict.fromkeys([*(w for w in told if isinstance(w, int) and w > 0), *range(1, WIDEST + 1)]))


def taken_widths(
    network: nn.Module, way: Way, channels: int | None = None, axes: str = AXES[0], nodes: int = NODES
) -> Widths | None:
    """Return the widths of x and of edge_attr or other that a network runs with, called this way; None where with none.

    Args:
        channels: of x, where something tells it; it is tried first.
    """
    wide = widths(network)
    first = dict.fromkeys([channels, *wide] if channels else wide) if "x" in way.signals else [1]
    call = Counting(way.call(way.signals))

    def runs(x: int, second: int) -> bool:
        made = trial_graph(x, second, nodes=nodes)
        return answer_of(network, [laid(made[s], axes, s) for s in way.signals], call) is not None

    begun = False
    reached: dict[int, int] = {}
    missing: dict[int, int] = {}
    for x in map(int, first):
        if runs(x, 1):
            return x, 1
        reached[x], missing[x], begun = call.calls, call.missing, begun or call.begun
    if not {"edge_attr", "other"} & set(way.signals):
        return None
    if {"edge_attr", "other"} <= set(way.signals):

        def tried(one: Widths) -> tuple[bool, int, int]:
            made = trial_graph(*one, nodes=nodes)
            done = answer_of(network, [laid(made[s], axes, s) for s in way.signals], call) is not None
            return done, call.calls, call.missing

        return searched(tried, wide, 3)
    # a layer that refuses what both are joined to may tell how wide the second is
    told = [(x, 1 + more) for x, more in missing.items() if more > 0]
    # where none tells, those that got less far are refused whatever the second is
    most = max(reached.values())
    furthest = [x for x, calls in reached.items() if calls == most]
    matters = begun and len(furthest) < len(reached)
    if begun and not matters:  # the first does not help it further: does the second?
        for w in wide:
            if runs(furthest[0], w):
                return furthest[0], w
            matters = matters or call.calls > most
    # where neither does, both may have to be as wide
    rest = ((x, w) for x in furthest for w in ([x, *wide] if matters else [x]) if w > 1)
    return next((pair for pair in dict.fromkeys([*told, *rest]) if runs(*pair)), None)


def searched(
    tried: Callable[[Widths], tuple[bool, int, int]], wide: Sequence[int], count: int, most: int = TRIALS
) -> Widths | None:
    """Return the widths of several tables that a network runs with; None for none.

    Those that come furthest are changed first: as a layer that refuses tells, then one by one.

    Args:
        tried: widths -> whether it runs with them, how far it comes, and how much wider what it refused should be.
        wide: widths to try.
        most: trials.
    """
    seen: dict[Widths, tuple[int, int]] = {}

    def runs(one: Widths) -> bool:
        done, *told = tried(one)
        seen[one] = told[0], told[1]
        return done

    waiting: list[Widths] = [(1,) * count]
    if runs(waiting[0]):
        return waiting[0]
    while waiting and len(seen) < most:
        waiting.sort(key=lambda one: (-seen[one][0], sum(one)))
        here = waiting.pop(0)
        missing = seen[here][1]
        # what a layer is given may hold a table twice, as of both ends of an edge
        changes = [missing // times for times in (1, 2) if missing and missing % times == 0]
        steps = [(k, here[k] + by) for by in changes for k in range(count) if here[k] + by > 0]
        told: list[Widths] = [(*here[:k], w, *here[k + 1 :]) for k, w in steps]
        alone = [(*here[:k], w, *here[k + 1 :]) for k in range(count) for w in wide]
        for one in told or alone:
            if one not in seen and len(seen) < most:
                if runs(one):
                    return one
                waiting.append(one)
    return None


def readings(
    network: nn.Module, way: Way, channels: int | None = None, known: Sequence[str] = AXES, nodes: int = NODES
) -> list[tuple[str, Widths]]:
    """Return the axes with which a network runs and the widths that it takes then, the likeliest first.

    An axis is that of a batch where the answer to one sample is the same beside another; where it is not, it is none.
    """
    found = [(axes, w) for axes in known if (w := taken_widths(network, way, channels, axes, nodes)) is not None]
    batched = [one for one in found if keeps_apart(network, way, *one, nodes)]
    rest = [one for one in found if one not in batched]
    return batched + sorted(rest, key=lambda one: one[0].startswith("1"))


def widths_of(form: GraphInput) -> Widths:
    """Return how wide a network takes what it is given."""
    edge, other = form.edge_channels or 1, form.other_channels or 0
    return (form.channels or 1, edge, other) if "edge_attr" in form.signals else (form.channels or 1, other or edge)


def rows_of_either(network: nn.Module, form: GraphInput) -> bool:
    """Say whether a network that runs with values of edges takes a row a node as gladly: they may be of other nodes."""
    way = Way(form.signals, form.names, form.given)
    made, call = trial_graph(*widths_of(form)), way.call(form.signals)
    for signal in {"edge_attr", "edge_weight"} & set(form.signals):
        by_node = {**made, signal: made[signal][:NODES]}
        if answer_of(network, [laid(by_node[s], form.axes, s) for s in form.signals], call) is not None:
            return True
    return False


def joins_nothing(network: nn.Module, form: GraphInput) -> bool:
    """Say whether a network runs with edges between nodes that are not there as gladly: its numbers are no edges."""
    made, call = trial_graph(*widths_of(form)), form.way.call(form.signals)
    beyond = {**made, "edge_index": made["edge_index"] + NODES}
    return answer_of(network, [laid(beyond[s], form.axes, s) for s in form.signals], call) is not None


def other_axes(network: nn.Module, way: Way, axes: str, widths: Widths, known: Sequence[str]) -> Iterator[str]:
    """Yield each other layout with a batch axis that a network runs with as well, and that is as likely."""
    alike = not axes.startswith("1") or not any(s in CHANNELED for s in way.signals)
    for other in () if alike else known:
        if other not in (axes, AXES[0]) and keeps_apart(network, way, other, widths):
            yield other


def least_nodes(network: nn.Module, way: Way, axes: str, widths: Widths) -> int:
    """Return the smallest number of nodes that a network runs on, which runs on MANY and not on NODES."""
    low, high, call = NODES, MANY, way.call(way.signals)
    while high - low > 1:
        middle = (low + high) // 2
        made = trial_graph(*widths, nodes=middle)
        runs = answer_of(network, [laid(made[s], axes, s) for s in way.signals], call) is not None
        low, high = (low, middle) if runs else (middle, high)
    return high


def keeps_apart(network: nn.Module, way: Way, axes: str, widths: Widths, nodes: int = NODES) -> bool:
    """Say whether a network answers to a sample of a batch as it does to that sample alone."""
    if not axes.startswith("1"):
        return False
    call, pair = way.call(way.signals), []
    for seed in (0, 1):
        made = trial_graph(*widths, seed=seed, nodes=nodes)
        pair.append([laid(made[s], axes, s) for s in way.signals])
    both = [torch.cat(two) for two in zip(*pair, strict=True) if two[0].shape[:1] == (1,)]
    if len(both) < len(pair[0]):
        return False  # a list of edges has no batch axis
    alone = [answer_of(network, one, call) for one in pair]
    together = answer_of(network, both, call)
    one, other = alone
    if one is None or other is None or together is None:
        return False
    # one number for all of a batch, as the sum of energies, is none for each sample
    if not together.ndim or together[:1].shape != one.shape:
        return False
    # an answer that knows nothing of its sample is the same beside any other
    return same_answer(one, together[:1]) and not same_answer(one, other)


def set_inputs(network: nn.Module) -> Iterator[GraphInput]:
    """Yield what a network takes of a set: with the axes on which an element hears of another, the others after it."""
    for way in _set_ways(network):
        signals = way.signals
        number = signals[0] == "number"
        # an image of one channel runs through a convolution without a batch axis too, and is no set
        found: list[tuple[str, Widths]] = []
        for nodes in (NODES, MANY):
            known = readings(network, way, known=("N", "1N") if number else AXES[:3], nodes=nodes)
            found = [one for one in known if not one[0].startswith("1") or keeps_apart(network, way, *one, nodes)]
            if found:
                heard = {axes: number or _hears(network, way, axes, wide, nodes) for axes, wide in found}
                found.sort(key=lambda one: not heard[one[0]])
                break
        for axes, (x, second) in found:
            yield GraphInput(
                channels=None if number else x, signals=signals, axes=axes, given=way.given, names=way.names,
                other_channels=second if "other" in signals else None, most=_most(network, way, axes, x),
                known=known_numbers(network, way, axes, (x, second)),
            )  # fmt: skip
        if found:
            return


def _set_ways(network: nn.Module) -> Iterator[Way]:
    """Yield ways to call a network with a set: by its arguments, or by what it reads off the only one that it takes."""
    needed = needed_arguments(network)
    if len(needed) > MOST_ARGUMENTS or any(set(meant(n, SIGNALS)) & set(OF_A_GRAPH) for n in needed):
        return
    given = BY_NAME if only_by_name(network) else IN_ORDER
    for signals in product(("x", "number"), *[BESIDE] * (len(needed) - 1)):
        if len(set(signals)) == len(signals):
            yield Way(signals, needed if given == BY_NAME else (), given)
    read = [(name, found[0]) for name in _read_off(network) if (found := meant(name, ("x", "number", *BESIDE)))]
    signals = tuple(signal for _, signal in read)
    if signals and signals[0] in ("x", "number") and len(set(signals)) == len(signals) <= MOST_ARGUMENTS:
        yield Way(signals, tuple(name for name, _ in read), AS_ONE)


def _read_off(network: nn.Module) -> tuple[str, ...]:
    """Return what a network reads off its only argument, of a set of any width; () of a tensor."""
    found: tuple[str, ...] = ()
    for width in widths(network) if len(needed_arguments(network)) == 1 else ():
        made = trial_graph(width, 1)
        bag = Bag({name: made[s][None] for s in ("x", "number", *BESIDE) for name in spellings(s)})
        answer_of(network, (), lambda run, _, bag=bag: run(bag))  # type: ignore[misc]
        if not bag.touched:
            return ()
        names = tuple(dict.fromkeys(name for name in bag.asked if isinstance(name, str) and name.isidentifier()))
        found = names if len(names) > len(found) else found
    return found if all(name in bag for name in found) else ()


def known_numbers(network: nn.Module, way: Way, axes: str, widths: Widths) -> int | None:
    """Return how many whole numbers a network has a table for, by trial; None for many, or where it takes none."""
    if "number" not in way.signals:
        return None
    call, made = way.call(way.signals), trial_graph(*widths)

    def runs(below: int) -> bool:
        numbers = {"number": torch.full_like(made["number"], below - 1)}
        return answer_of(network, [laid((made | numbers)[s], axes, s) for s in way.signals], call) is not None

    return most_places(network, runs)


def _most(network: nn.Module, way: Way, axes: str, width: int) -> int | None:
    """Return the largest set that a network on one set has a table for; None where it takes large ones."""
    if len(way.signals) > 1:
        return None
    call, made = way.call(way.signals), trial_graph(width, 1)[way.signals[0]]

    def runs(count: int) -> bool:
        repeated = made.repeat(count // len(made) + 1, *(1 for _ in made.shape[1:]))[:count]
        return answer_of(network, [laid(repeated, axes, way.signals[0])], call) is not None

    return most_places(network, runs)


def laid(values: Tensor, axes: str, signal: str = "x") -> Tensor:
    """Return values with a row for each node on the axes that a network asks for."""
    if axes == AXES[0] or signal in ("edge_index", "edge_attr", "edge_weight", "batch", "frames", "between"):
        return values
    if signal not in CHANNELED:
        return values[None] if axes.startswith("1") else values
    match axes:
        case "1NC":
            return values[None]
        case "1CN":
            return values.t()[None].contiguous()
        case "1N":
            return values[:, 0][None]
        case _:
            return values[:, 0]


def _hears(network: nn.Module, way: Way, axes: str, widths: Widths, nodes: int) -> bool:
    """Return whether an element changes what is said of others, or of all."""
    made = trial_graph(*widths, nodes=nodes)
    other = {**made, "x": made["x"].clone()}
    other["x"][0] += 1.0
    call = way.call(way.signals)
    one, two = (answer_of(network, [laid(m[s], axes, s) for s in way.signals], call) for m in (made, other))
    if one is None or two is None or one.shape != two.shape:
        return False
    changed = one != two
    if nodes not in one.shape:
        return bool(changed.any())
    by_node = changed.movedim(one.shape.index(nodes), 0).reshape(nodes, -1).any(1)
    return bool(by_node[1:].any())


def axis_of(axes: str, signal: str) -> int:
    """Return the axis that counts the nodes of a signal which is laid out so."""
    return axes.index("N") if signal in CHANNELED else int(axes.startswith("1"))


def trial_graph(x: int, second: int, third: int = 0, *, seed: int = 0, nodes: int = NODES) -> dict[str, Tensor]:
    """Return a small graph in space with everything that a graph, a set or points may have, so wide.

    Args:
        third: width of a second set, where it is not the `second`.
    """
    generator = torch.Generator().manual_seed(seed)
    at = torch.arange(nodes, device="cpu")
    index = torch.stack([torch.cat([at, (at + 1) % nodes]), torch.cat([(at + 1) % nodes, at])])
    adjacency = torch.zeros(nodes, nodes, device="cpu")
    adjacency[index[0], index[1]] = 1.0
    number = torch.tensor([3, 1 + seed, 2, 1, 3, 1, 1], device="cpu")  # few, that a small table has
    return {
        "x": torch.randn(nodes, x, generator=generator, device="cpu"),
        "edge_index": index,
        "between": index % torch.tensor([[nodes], [nodes - 2]], device="cpu"),
        "edge_attr": torch.randn(2 * nodes, second, generator=generator, device="cpu"),
        "edge_weight": torch.rand(2 * nodes, generator=generator, device="cpu"),
        "position": torch.randn(nodes, 3, generator=generator, device="cpu"),
        "batch": torch.zeros(nodes, dtype=torch.int64, device="cpu"),
        "adjacency": adjacency,
        "number": number[at % len(number)],
        "mask": PRESENT.roll(seed)[at % len(PRESENT)],
        "other": torch.randn(nodes - 2, third or second, generator=generator, device="cpu"),
        "velocity": torch.randn(nodes, 3, generator=generator, device="cpu"),
        "charge": torch.randn(nodes, 1, generator=generator, device="cpu"),
        "frames": torch.randn(nodes, 72, generator=generator, device="cpu"),
    }
