"""Compare the verdicts on a network that runs with its input laid out in several ways, of which nobody says which."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from explorer.app.command.input_trial import Networks, says_nothing, text_of
from explorer.declare.states.model_name import split_input, with_input
from explorer.declare.symmetries import find_symmetry
from explorer.equivariance.verdict.outcome import Report
from explorer.network.tracing.layers import LayerError
from explorer.square.space import space_of_kind
from explorer.state.state import State


def other_readings(engine: Networks, asked: State, state: State) -> list[State]:
    """Return the state with each other input that a network runs with; [] where somebody says what it takes.

    Args:
        asked: as a person asked.
        state: with what was found out.
    """
    if not says_nothing(asked.model):
        return []
    card = engine.card(state.model)
    space = space_of_kind(card.domain)
    forms = space.readings(engine.network(state, state.model), card.input)
    return [replace(state, model=with_input(state.model, text_of(space, card.domain, form))) for form in forms]


def agreed(
    reports: Sequence[Report], taken: str, others: Sequence[State], check: Callable[[State], Sequence[Report]]
) -> list[Report]:
    """Return the reports, without a verdict where another reading of the input gets another one.

    Args:
        taken: the input that they are of, as somebody would say it.
        check: makes the reports of another reading.
    """
    found = list(reports)
    for other in others:
        try:
            instead = check(other)
        except (LayerError, ValueError):
            continue  # only a small trial runs with it
        said = split_input(other.model)[1]
        for k, (one, two) in enumerate(zip(found, instead, strict=True)):
            if {one.verdict, two.verdict} != {"holds", "broken"}:
                continue
            if find_symmetry(one.group).mixes:
                kept, of, instead_of = (one, taken, said) if one.holds else (two, said, taken)
                note = (
                    f"nothing says how its input is laid out: it is taken for --input '{of}', with which the law holds "
                    f"and not for --input '{instead_of}', with which it is broken"
                )
                found[k] = replace(kept, warnings=(*kept.warnings, note))
                continue
            note = (
                f"nothing says how its input is laid out: the law {_ends(one)} with --input '{taken}' and "
                f"{_ends(two)} with --input '{said}'; say which"
            )
            found[k] = replace(one, verdict="no law", guilty=(), hints=(), warnings=(*one.warnings, note))
    return found


def _ends(report: Report) -> str:
    return "holds" if report.holds else "is broken"
