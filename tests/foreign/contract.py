"""Ask Equiscope about a case, and say whether it is right."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor, nn
from torch.utils._pytree import tree_map_only

from equiscope.inputs import points
from explorer.app.answering.engine import LocalEngine
from explorer.app.command.audit import audit
from explorer.equivariance.check import check_equivariance
from explorer.equivariance.verdict.outcome import Report
from explorer.network.tracing.layers import LayerError
from explorer.spaces.sequence.network.inputs import sequence_inputs
from explorer.spaces.sequence.network.layouts import Unclear, sequence_input
from explorer.state.state import State
from tests.foreign.case import HOLDS, REFUSED, Case, Given

RIGHT = "right"
ACCUSED, PASSED, WRONG_LAYER, CRASH = "accused", "passed", "wrong layer", "crash"
NO_VERDICT, WRONG_LAYOUT, NOT_REFUSED, WRONG_ADVICE = "no verdict", "wrong layout", "not refused", "wrong advice"
LONGEST = 400  # characters of one sentence, without the path of its file


@dataclass(frozen=True, slots=True)
class Answer:
    """The judgement of one answer in a word, and what was said."""

    word: str
    said: str


def checked(case: Case, device: str = "cpu") -> Report:
    """Return what `check_equivariance` reports, called as a person calls it, or `check` of a network in a file."""
    if case.door:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            state = State(case.door, sample=case.sample, device=device)
            (report,) = audit(LocalEngine({}, trust=True), state, case.group, "float64", None, {})
        return report
    given = case.given()
    given, network = replace(given, args=tree_map_only(Tensor, lambda t: t.to(device), given.args)), case.network()
    if isinstance(network, nn.Module):
        network = network.to(device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return check_equivariance(
            network, _as_given(case, given, network), case.group, details=case.details, **case.options
        )


class WrongLayout(Exception):
    """Another axis was taken for time than the network takes."""


def _as_given(case: Case, given: Given, network: Any) -> Any:
    if given.form == "mapping":
        return dict(zip(given.names, given.args))
    if given.form == "data":
        from torch_geometric.data import Data

        return Data(**dict(zip(given.names, given.args)))
    if given.layout:
        true = given.layout.removeprefix("?")
        if given.layout.startswith("?") and (found := sequence_input(network, {}).layout).strip("N") != true.strip("N"):
            raise WrongLayout(f"{true} was taken for {found}")
        return sequence_inputs(_steps_and_channels(given.args[0], true), true)
    if given.form == "pair":
        return (given.args[:2], *given.args[2:])
    if given.form == "points":
        return points(**dict(zip(given.names, given.args)))
    return (
        given.args[0]
        if given.acts[0].partition("@")[0] in ("grid", "volume", "places") and len(given.args) == 1
        else given.args
    )


def _steps_and_channels(x: Tensor, layout: str) -> Tensor:
    """Undo a layout: return (steps, channels)."""
    if "N" in layout:
        x, layout = x.squeeze(layout.index("N")), layout.replace("N", "")
    return x if layout == "TC" else x.t()


def answer(case: Case, device: str = "cpu") -> Answer:
    """Return the answer to a case and whether it is right."""
    try:
        report = checked(case, device)
    except WrongLayout as error:
        return Answer(WRONG_LAYOUT, str(error))
    except (ValueError, LayerError, Unclear, TypeError, KeyError) as error:
        said = str(error)
        # what torch or Python says by itself tells nobody what to declare
        sentence = not isinstance(error, TypeError | KeyError) and " raised " not in said
        fine = sentence and "\n" not in said and 20 < len(said.replace(case.door.split(":")[0], "")) < LONGEST
        expected = case.refusable or case.truth == REFUSED
        word = CRASH if not (fine and expected) else RIGHT if re.search(case.tells, said) else WRONG_ADVICE
        return Answer(word, f"{type(error).__name__}: {said}")
    except Exception as error:
        return Answer(CRASH, f"{type(error).__name__}: {error}")
    said = f"{report.verdict} {report.guilty} " + " | ".join(report.warnings)
    if case.truth == REFUSED:
        return Answer(NOT_REFUSED, said)
    if report.verdict == "no law":
        return Answer(NO_VERDICT, said)
    if case.truth == HOLDS:
        return Answer(RIGHT if report.holds else ACCUSED, said)
    if report.holds:
        return Answer(PASSED, said)
    named = not case.culprit or (bool(report.guilty) and set(report.guilty) <= set(case.culprit))
    return Answer(RIGHT if named else WRONG_LAYER, said)
