"""Tell by trial whether data are too few, or too much alike, to say what the law of a network is.

A law may fail only since there are few elements, as where a network samples more than there are.
It takes some twice then, and which ones follows their order. A fault that layers make is there on more elements too,
if not on all of them: who chooses the best by what their order says chooses the same ones on some sets. So several sets
are tried. And it holds of an answer that is the same on all of the data, whatever layers before it do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from torch import Tensor

from explorer.declare.elements import Element
from explorer.declare.inputs import Inputs
from explorer.equivariance import measure
from explorer.equivariance.audit import Audit
from explorer.equivariance.coarser import keeps_alone
from explorer.equivariance.ties import Untied, apart, faults
from explorer.equivariance.trial.precision import rounding
from explorer.equivariance.verdict import sentences
from explorer.network.space import inference_of
from explorer.network.tracing.layers import Layer, LayerError, Trace
from explorer.work.budget import held_bytes

SEEN = 1e-6  # relative error that is no rounding in double precision
ROOM = 256 * 2**20  # bytes of the values of all layers on more elements; lifted points took 22 GB at 512
OTHERS = 5  # more sets, of elements unrelated to these
MORE = (64, 512)  # elements, one after the other, where there are fewer: what samples so many has enough then


def enough(audit: Audit, elements: Sequence[tuple[str, Element]]) -> Untied | None:
    """Return inputs of more elements, where the first layer that shows a fault on those of an audit shows none."""
    first, alone = faults(audit)
    if not first or audit.random or audit.unsteady:
        return None
    x, least, made = audit.cases[0].inputs, audit.rounding[first], dict(elements)
    errors = {label: error or 0.0 for label, (error, _) in audit.table[first].items() if label in made}
    if not errors:
        return None
    worst = max(errors, key=errors.__getitem__)

    def run(of: Inputs) -> Mapping[str, Tensor]:
        return audit.run(of)[0]

    for more in many(x, audit.seed, audit.cases[0].values):
        # one element tells of most faults that more elements do not help
        gone = all(keeps(audit.trace, run, more, [made[n] for n in labels], first, least) for labels in ([worst], made))
        gone = gone and all(
            keeps(audit.trace, run, other, list(made.values()), first, least)
            for other in unrelated(x, more, audit.seed)
        )
        # another layer may make a fault of its own on few, behind one that makes it on many as well
        rest = [] if gone else [n for n in audit.names if n in alone and n != first]
        shown = first if gone else _recovering(audit, rest, list(made.values()), more)
        if shown and not gone:
            more_sets = unrelated(x, more, audit.seed)
            shown = shown if all(_recovering(audit, [shown], list(made.values()), one) for one in more_sets) else ""
        if shown:
            others = (inference_of(c.inputs).grown(c.inputs, more.places, audit.seed) for c in audit.cases)
            told = sentences.few(shown, worst if gone else "", x.places, more.places)
            return Untied([one for one in others if one is not None], told, shown)
    return None


def _recovering(audit: Audit, names: Sequence[str], elements: Sequence[Element], more: Inputs) -> str:
    """Return the first of these layers that by itself keeps the law on more members, "" where none does."""
    try:
        seen = audit.run(more, inputs=True) if names else ({}, {})
    except LayerError:
        return ""

    def keeps_it(name: str) -> bool:
        try:
            return all(keeps_alone(audit, audit.trace[name], element, more, seen) for element in elements)
        except LayerError:
            return False

    return next(filter(keeps_it, names), "")


def beyond(audit: Audit, elements: Sequence[tuple[str, Element]]) -> tuple[int, str]:
    """Return on how many more members a law fails that holds on those of an audit, and the element; (0, "") on none.

    As where a network takes the first so many, and there are no more of them.
    """
    x = audit.cases[0].inputs
    if audit.random or audit.unsteady or not elements or not x.x.is_floating_point():
        return 0, ""  # whole numbers that are drawn alike tie
    (label, element), ends = elements[-1], audit.trace.outputs

    def run(of: Inputs) -> Mapping[str, Tensor]:
        return audit.run(of)[0]

    for more in many(x, audit.seed, audit.cases[0].values):
        try:
            found = apart(audit.trace, run, more, run(more), element, ends)
        except LayerError:  # it takes no more of them
            return 0, ""
        if any(float(error.max()) > SEEN for error in found.values()):
            return more.places, label
    return 0, ""


def many(x: Inputs, seed: int, values: Mapping[str, Tensor]) -> Iterator[Inputs]:
    """Yield inputs of more elements than there are, as far as a network that looks at all pairs has room for them.

    Args:
        values: of all layers on `x`.
    """
    inference, size = inference_of(x), held_bytes([values])
    for count in MORE:
        if size * (count / max(1, x.places)) ** 2 > ROOM:
            return
        if (grown := inference.grown(x, count, seed)) is not None:
            yield grown


def unrelated(x: Inputs, more: Inputs, seed: int) -> Iterator[Inputs]:
    """Yield sets of as many elements as `more`, which was grown from `x`, each grown from what is unrelated to it."""
    for k in range(1, 1 + OTHERS):
        other = inference_of(x).another(x, seed + k)
        if (grown := inference_of(other).grown(other, more.places, seed + k)) is not None:
            yield grown


def keeps(
    trace: Trace, run: Callable[[Inputs], Mapping[str, Tensor]], x: Inputs, elements: Sequence[Element], name: str,
    least: float,
) -> bool:  # fmt: skip
    """Say whether a layer keeps its law under elements; not so where it runs on no such inputs, or has no law there."""
    try:
        values = run(x)
        found = [apart(trace, run, x, values, element, [name]) for element in elements]
    except LayerError:  # as of a table with a row for each of a few elements
        return False
    return all(name in of and float(of[name].max()) <= least for of in found)


def wakened(audit: Audit) -> tuple[list[Inputs], str] | None:
    """Return numbers drawn anew, on which an output differs that is the same on all data of an audit, and its name.

    A code book of which one code is near all of the data, or an answer that saturates, keeps any law there.
    """
    first = audit.cases[0]
    for name in audit.trace.outputs:
        layer, limit = audit.trace[name], audit.rounding[name]
        field, seen = layer.field, [float(e.max()) for e in audit.figures[name].cumulative]
        if field is None or not seen or max(seen) > limit:
            continue
        varies = audit.variation(name)
        # what has no places is the same under all elements by its law
        if (varies is None or varies > limit) and (field.invariant or not _still(audit, layer, limit)):
            continue
        drawn = [x for c in audit.cases if (x := rounding.drawn_anew(c.inputs, audit.seed)) is not None]
        try:
            value, other = first.values[name], audit.run(drawn[0])[0][name] if drawn else first.values[name]
        except LayerError:
            continue
        if other.shape != value.shape or not measure.finite(other):
            continue
        if float(measure.apart(value, other, measure.EVERYWHERE, field).max()) > measure.SIZEABLE:
            return drawn, name
    return None


def _still(audit: Audit, layer: Layer, limit: float) -> bool:
    """Say whether no element that was tried moves what a layer gives, so that its law asks nothing of it."""
    value, field = audit.cases[0].values[layer.name], layer.field
    assert field is not None
    expected = (measure.expected_after(on[0][0], layer, value) for on in audit.acted.values())
    apart = (measure.apart(value, v, measure.EVERYWHERE, field) for v in expected if v is not None)
    return bool(audit.acted) and all(float(a.max()) <= limit for a in apart)
