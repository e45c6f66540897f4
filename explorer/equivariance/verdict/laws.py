"""Test the candidate groups of a space on a network, one after the other, and say of each how far its law holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import nn

from explorer.declare.inputs import Inputs
from explorer.declare.symmetries import symmetries
from explorer.declare.telling.summaries import Law
from explorer.equivariance.check import check_equivariance
from explorer.equivariance.verdict.outcome import LayerReport, Report
from explorer.network.space import space_of
from explorer.network.tracing.layers import LayerError

COUNT = 4  # elements of a group that has endless ones
ALL = "all"  # in place of a group's name

Candidate = tuple[str, str]  # a group, and its elements in words


def candidates(kind: str) -> tuple[Candidate, ...]:
    """Return the groups that are tried on networks on a kind of data."""
    return tuple(c for s in symmetries().values() if kind in s.domains for c in s.trials or ((s.typed, s.title),))


def laws(
    model: nn.Module,
    inputs: Inputs,
    *,
    tell: Callable[[str, float], None] | None = None,
    known: Mapping[str, Law] | None = None,
    **options: Any,
) -> Iterator[Law]:
    """Yield the law of each candidate group of the space that the inputs live in.

    Args:
        tell: called with what is tested and the share that is done, between two elements; it may raise.
        known: laws that were tested before, which are not tested again.
        options: of `check_equivariance`.
    """
    found = candidates(space_of(inputs).kinds[0].name)
    for k, (group, title) in enumerate(found):
        if known is not None and group in known:
            yield known[group]
            continue

        def progress(done: int, total: int, k: int = k, title: str = title) -> None:
            if tell is not None:
                tell(f"Testing {title}", (k + done / total) / len(found))

        yield tested(model, inputs, group, title, progress, **options)


def tested(
    model: nn.Module, inputs: Inputs, group: str, title: str, progress: Callable[[int, int], None], **options: Any
) -> Law:
    """Return the law of one group; what cannot be tested says why."""
    try:
        report = check_equivariance(
            model, [inputs], group, count=COUNT, details=False, progress=progress, **options
        )  # fmt: skip
    except torch.OutOfMemoryError:
        raise
    except (ValueError, TypeError, LayerError) as error:
        return Law(group, title, "no law", None, "", "", 0, f"{title}: cannot be tested: {_clause(str(error))}.")
    return law_of(report, title)


def law_of(report: Report, title: str) -> Law:
    """Return what a report says of its group: exact elements only, a verdict and never a guess."""
    exact = sum(report.exact)
    judged = [row for row in report.layers if row.verdict in ("holds", "broken") and row.cumulative_max is not None]
    why = _clause(next(iter(report.warnings), "no element of it is exact on this input"))
    if not judged:
        return Law(report.group, title, "no law", None, "", "", exact, f"{title}: cannot be tested: {why}.")
    first = next((k for k, r in enumerate(judged) if r.seen or r.verdict == "broken"), len(judged))
    before = judged[:first]
    error, upto = _worst(before), before[-1].name if before else ""
    held = "exactly" if not error else f"to {error:.1e}"
    if report.verdict == "holds":
        error = _worst(judged)
        return Law(report.group, title, "holds", error, judged[-1].name, "", exact, _kept(title, judged, held))
    if report.verdict == "no law" and first == len(judged):
        sentence = f"{title}: holds {held} up to {upto}; further on it cannot be tested: {why}."
        return Law(report.group, title, "no law", error, upto, "", exact, sentence)
    guilty = next((r for r in report.layers if r.name in report.guilty), None)
    makes = guilty is not None and guilty.breaks_alone
    row = guilty if makes and guilty is not None else judged[min(first, len(judged) - 1)]
    size = row.local_max if makes else row.cumulative_max
    what = f"{row.name} breaks it" if makes else f"the fault shows at {row.name}"
    told = next((t for t in (*report.hints, *report.warnings) if guilty is not None and t.startswith(guilty.name)), "")
    because = f" ({_clause(told.removeprefix(row.name + ': '))})" if told else ""
    start = f"holds {held} up to {upto}, then" if before else "from the start"
    sentence = f"{title}: {start} {what} by {size or 0.0:.2g}{because}."
    return Law(report.group, title, "broken", error, upto, row.name, exact, sentence)


def _worst(rows: list[LayerReport]) -> float | None:
    return max((r.cumulative_max for r in rows if r.cumulative_max is not None), default=None)


def _kept(title: str, judged: list[LayerReport], held: str) -> str:
    broken = [r.name for r in judged if r.verdict == "broken"]
    if broken:
        return f"{title}: the output keeps it; {broken[0]} does not follow its guessed field."
    return f"{title}: holds {held} at every layer that has a law, up to the output."


def _clause(text: str) -> str:
    return text.strip().rstrip(".")


def table(found: list[Law]) -> str:
    """Return the laws as text for a terminal: one line each, and the sentences below."""
    wide = max(len(law.group) for law in found)
    width = max(len(law.upto) for law in found) if found else 0
    lines = [f"{'group':<{wide}}  verdict  {'error':>8}  {'holds up to':<{max(width, 11)}}  broken by"]
    for law in found:
        error = f"{law.error:8.1e}" if law.error is not None else f"{'-':>8}"
        upto = law.upto or "-"
        lines.append(f"{law.group:<{wide}}  {law.verdict:<7}  {error}  {upto:<{max(width, 11)}}  {law.breaker or '-'}")
    return "\n".join([*lines, "", *(law.sentence for law in found)])
