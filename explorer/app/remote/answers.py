"""Say what each request is answered with: the window believes nothing else of the process that runs networks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from explorer.app.answering.importing import Look
from explorer.app.remote.movable import Sent
from explorer.declare.card import ModelInfo
from explorer.declare.elements import Step
from explorer.square.analyses.outcome import Outcome
from explorer.square.frame import Frame, Glimpse, OrbitCurve, Outline
from explorer.state.catalogue import Busy

ANSWERS: Mapping[str, Any] = {
    "answer": Frame,
    "outline": Outline | None,
    "next": tuple[()] | tuple[Frame | OrbitCurve | Busy | tuple[Outcome, ...]],
    "movable": Sent,
    "look": Look,
    "nearest_exact": tuple[Step, ...] | None,
    "open": dict[str, object],
    "open_model": dict[str, object],
    "info": ModelInfo,
    "tried": str,
    "hold": str,
    "export_data": tuple[str, ...],
    "report": tuple[dict[str, Any], bytes],
    **dict.fromkeys(("trust", "settled", "refine", "orbit", "proposals", "drop", "export_captures"), None),
}


@cache
def said(answer: Any) -> Any:
    """Return what may be said while an answer of that kind is awaited."""
    return (
        tuple[Literal["done"], answer]
        | tuple[Literal["failed"], str, str, str, tuple[str, ...]]
        | tuple[Literal["cancelled"]]
        | tuple[Literal["changed"], str]
        | tuple[Literal["told"], str, float]
        | tuple[Literal["seen"], Glimpse]
    )
