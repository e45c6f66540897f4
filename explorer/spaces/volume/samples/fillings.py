"""Volumes of a shape, 1 x channels x slices x rows x columns, from a text: "random:1x1x16x16x16", "zeros:..."."""

from __future__ import annotations

import re

from explorer.data.filling import KINDS, filling
from explorer.declare.samples import Array, Sample
from explorer.spaces.volume.sample import volume_sample

MOST = 2**26  # numbers
_TEXT = re.compile(rf"(?P<kind>{KINDS}):1x(?P<shape>[0-9]{{1,9}}(x[0-9]{{1,9}}){{3}})", re.ASCII)


def filled(text: str, seed: int) -> Sample | None:
    """Return the volume that a text describes; None where it describes none, as where it has other axes than five.

    Raises:
        ValueError: it would be empty, or too large.
    """
    found = _TEXT.fullmatch(text)
    if found is None:
        return None
    shape = tuple(map(int, found["shape"].split("x")))

    def noise() -> Array:
        from explorer.spaces.volume.network.stimulus import noise

        made: Array = noise((1, *shape), seed)[0].float().numpy()
        return made

    x, source = filling(text, found["kind"], shape, seed, MOST, noise)
    return volume_sample(x, text, title=f"{found['kind'].capitalize()}, {found['shape']}", source=source)
