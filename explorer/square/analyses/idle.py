"""Make in idle time what comes beside a square, one thing after the other."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.square.analyses.blame import blame
from explorer.square.analyses.latent.making import refine_latent
from explorer.square.analyses.saliency import saliency
from explorer.square.analyses.tied import tied
from explorer.square.frame import Square
from explorer.square.preparing.prepare import Prepared
from explorer.square.space import space_of
from explorer.state.state import State


def beside(p: Prepared, state: State, square: Square) -> Iterator[Square]:
    """Yield the square with ever more of what takes longer than a frame may."""
    for refine in (tied, blame, saliency, space_of(p.inputs).refine, refine_latent):
        for more in refine(p, state, square):
            square = more
            yield square
