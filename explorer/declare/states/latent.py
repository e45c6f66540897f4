"""Hold what a person looks at in a plane of codes, as a state writes it: "tsne@0.5,-1.2>17"."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from explorer.declare.registry import did_you_mean
from explorer.declare.types.fields import shortest

PIXELS = "x-"  # before the name of a projection of the inputs themselves
PROJECTIONS = {
    "axes": "Two numbers of the code",
    "turning": "Arrow of the code",
    "pca": "PCA of codes",
    "lda": "LDA of codes",
    "tsne": "t-SNE of codes",
    "isomap": "Isomap of codes",
    "lle": "LLE of codes",
    "umap": "UMAP of codes",
    "x-pca": "PCA of inputs",
    "x-lda": "LDA of inputs",
    "x-tsne": "t-SNE of inputs",
    "x-isomap": "Isomap of inputs",
    "x-lle": "LLE of inputs",
    "x-umap": "UMAP of inputs",
}
_TEXT = re.compile(r"(?P<name>[a-z-]*)(?:@(?P<at>[^>]*))?(?:>(?P<other>[0-9]{1,9}))?")


@dataclass(frozen=True, slots=True)
class LatentChoice:
    """A projection of codes to the plane, a place in it, and an example that is walked to.

    Attributes:
        projection: one of PROJECTIONS; "" leaves it to the network.
        at: where in the plane something is decoded, or None.
        other: the number of an example, or None.
    """

    projection: str = ""
    at: tuple[float, float] | None = None
    other: int | None = None

    def __str__(self) -> str:
        at = "" if self.at is None else "@" + ",".join(shortest(round(v, 4)) for v in self.at)
        return f"{self.projection}{at}{'' if self.other is None else f'>{self.other}'}"


def parse_latent(text: str) -> LatentChoice:
    """Read what `str` of a choice gives; raise ValueError with one clear sentence."""
    found = _TEXT.fullmatch(text)
    if found is None:
        raise ValueError(f"--latent {text!r:.60} is not PROJECTION@X,Y>EXAMPLE, such as pca@0.5,-1>17")
    if found["name"] and found["name"] not in PROJECTIONS:
        known = ", ".join(PROJECTIONS)
        raise ValueError(
            f"there is no projection {found['name']!r}, only {known}{did_you_mean(found['name'], PROJECTIONS)}"
        )
    at = None
    if found["at"] is not None:
        try:
            x, y = (float(word) for word in found["at"].split(","))
        except ValueError:
            raise ValueError(f"--latent {text!r:.60}: a place in the plane is two numbers, as in @0.5,-1") from None
        if not (math.isfinite(x) and math.isfinite(y)):
            raise ValueError(f"--latent {text!r:.60}: a place in the plane is two finite numbers")
        at = (x, y)
    return LatentChoice(found["name"], at, None if found["other"] is None else int(found["other"]))


def checked_latent(text: str) -> str:
    """Return the text as it is written; raise ValueError with one clear sentence."""
    return str(parse_latent(text))
