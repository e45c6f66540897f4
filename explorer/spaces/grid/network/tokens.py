"""Find by trial which tokens of a network stand for patches of an image: a patch is changed, and it is seen which.

No name and no position tells it: class tokens and registers may come first or last, and stand still.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

import torch
from torch import Tensor

from explorer.network.tracing.layers import LayerError
from explorer.spaces.grid.fields import Tokens

Run = Callable[[Tensor], Mapping[str, Tensor]]

MOST_EXTRA = 64  # tokens that stand for no patch
TILES = 6  # images that are made of equal tiles
APART = 0.5  # share of a change by which numbers change otherwise that are no places of equal tiles
HEARS = 0.1  # of the largest change of a place of a map, squared, from which on it hears of a patch
MOST_HEARING = 1 / 3  # of the places, so that six patches agree by chance once in a thousand times
LEAST = 4  # patches of which a layout can be told


def token_layouts(
    run: Run, x: Tensor, counts: Mapping[str, int], steps: Mapping[tuple[int, int], float] = MappingProxyType({})
) -> dict[int, Tokens]:
    """Return {number of tokens: their layout} as far as a trial tells it.

    Args:
        run: x -> the values of the layers in `counts`, (batch, tokens, channels); what it raises is passed on.
        x: images (batch, channel, y, x).
        counts: {layer: how many tokens it has}, in the order of execution.
        steps: {(rows, columns): pixels between two} of the maps of the network, where sides are no multiple of that.
    """
    noise, size = _noise(x)
    before, again = run(noise), run(noise)
    # what draws random numbers of its own tells nothing
    left = {name: n for name, n in counts.items() if torch.equal(before[name], again[name])}
    found: dict[int, Tokens] = {}
    cut = [(*patch, 0, over) for over in (False, True) for patch in _patches(tuple(x.shape[-2:]), over)]
    # kernels that overlap have their centres on multiples of the stride, or between them as those of patches
    overlapping = [
        (*size, round(step), back, False)
        for size, step in steps.items() if size[0] * size[1] >= LEAST
        for back in (round(step) // 2, 0)
    ]  # fmt: skip
    for height, width, step, back, over in (*overlapping, *cut):
        wanted = {k: n for k, n in left.items() if n not in found and 0 <= n - height * width <= MOST_EXTRA}
        if over and wanted:  # kernels that overlap hear all pixels, and look like patches of other sizes
            beyond = run(_beyond(noise, size, height * step, width * step))
            wanted = {name: n for name, n in wanted.items() if torch.equal(before[name], beyond[name])}
        if not wanted:
            continue
        first: dict[str, int] = {}
        for row, column in _cells(height, width):
            after = run(_changed(noise, size, (row * step - back, column * step - back), step))
            for name, n in list(wanted.items()):
                at = int((after[name][0] - before[name][0]).norm(dim=-1).argmax())
                begins = first.setdefault(name, at)
                if at != begins + row * width + column or n - begins - height * width < 0:
                    del wanted[name]
            if not wanted:  # most layouts are none after two patches
                break
        for name, n in wanted.items():
            begins = first[name]
            found.setdefault(n, Tokens((height, width), float(step), begins, n - begins - height * width))
    return found


def tokens_of_map(run: Run, x: Tensor, pairs: str, over: str, step: float) -> Tokens | None:
    """Return the layout of the tokens that a matrix is between, if they are the places of a map, row by row.

    Behind convolutions a patch of the image does not tell one place: it is asked whether the token that changes most is
    one of the places of the map that change.

    Args:
        run: x -> the values of the matrix, (batch, ..., tokens, tokens), and of the map, (batch, channel, y, x).
        x: images (batch, channel, y, x).
        step: pixels between two places of the map.
    """
    noise, size = _noise(x)
    before, again = run(noise), run(noise)
    if not all(torch.equal(before[name], again[name]) for name in (pairs, over)):
        return None  # what draws random numbers of its own tells nothing
    height, width = before[over].shape[-2:]
    for row, column in _cells(height, width):
        after = run(_changed(noise, size, (round(row * step), round(column * step)), max(1, round(step))))
        change = (after[pairs] - before[pairs])[0]
        # what a token has to do with all others, in either direction
        of_token = sum(change.square().movedim(axis, 0).flatten(1).sum(1) for axis in (-2, -1))
        of_place = (after[over] - before[over])[0].square().sum(0).flatten()
        assert isinstance(of_token, Tensor)
        hears = of_place > HEARS * of_place.max()
        if not hears[of_token.argmax()] or float(hears.double().mean()) > MOST_HEARING:
            return None
    return Tokens((height, width), step, 0, 0)


def _noise(x: Tensor) -> tuple[Tensor, float]:
    """Return one image of noise like these, and their size."""
    x = x[:1]
    generator = torch.Generator().manual_seed(0)
    size = (float(x.std()) if x.numel() > 1 else 0.0) or 1.0
    return (torch.randn(x.shape, generator=generator, device="cpu", dtype=torch.float64) * size).to(x), size


def _beyond(noise: Tensor, size: float, height: int, width: int) -> Tensor:
    """Return the image with other pixels below so many rows and at the right of so many columns."""
    other = noise + size
    other[..., :height, :width] = noise[..., :height, :width]
    return other


def _cells(height: int, width: int) -> tuple[tuple[int, int], ...]:
    """Return the places whose patches are changed, (row, column): corners, the middle, and two neighbours."""
    return ((0, 0), (0, 1), (1, 0), (height // 2, width // 2), (height - 1, 0), (height - 1, width - 1))


def _changed(image: Tensor, size: float, corner: tuple[int, int], side: int) -> Tensor:
    """Return an image with other values in a square whose corner may lie outside of it."""
    changed, (row, column) = image.clone(), corner
    patch = changed[..., max(0, row) : row + side, max(0, column) : column + side]
    patch.copy_(patch.flip(1, 2, 3) * -1.0 + size)
    return changed


def placeless(
    run: Callable[[Tensor, Sequence[str]], Mapping[str, Tensor]],
    x: Tensor,
    side: int,
    shapes: Mapping[str, tuple[int, ...]],
) -> set[str]:
    """Return those layers in which no axis of side x side numbers, or of one more, stands for as many places.

    Such places would answer alike to an image of side x side equal tiles, but for what the border does; channels
    do not. One more is a class token, before them or behind.

    Args:
        run: x, names -> the values of these layers.
        x: images (batch, channel, y, x).
        shapes: of the layers' values.
    """
    x = x[:1]
    high, wide = (n // side for n in x.shape[-2:])
    if not high or not wide:
        return set()
    generator = torch.Generator().manual_seed(0)
    tiles = torch.randn((TILES, *x.shape[:2], high, wide), generator=generator, device="cpu", dtype=torch.float64)
    tiles = (tiles * (float(x.std()) if x.numel() > 1 else 1.0)).to(x)
    try:
        answers = [run(tile.repeat(1, 1, side, side), list(shapes)) for tile in tiles]
    except LayerError:
        return set()
    found = set()
    for name, shape in shapes.items():
        places = [
            (at, k + 1) for k, n in enumerate(shape) if k
            for extra in (0, 1) if n - extra == side * side for at in range(extra + 1)
        ]  # fmt: skip
        change = torch.stack([answer[name] for answer in answers]).double()
        change = change - change.mean(0)  # what tiles do, beside any constant
        if all(_spread(change.narrow(axis, at, side * side), axis) > APART for at, axis in places):
            found.add(name)
    return found


def _spread(values: Tensor, axis: int) -> float:
    """Return how far values differ along an axis, as a share of their size."""
    return float((values - values.mean(axis, keepdim=True)).norm() / values.norm().clamp_min(1e-300))


def _patches(sides: tuple[int, ...], over: bool) -> Iterator[tuple[int, int, int]]:
    """Yield (rows, columns, pixels of a side) of the square patches that an image can be cut into, large ones first.

    Args:
        over: those that leave pixels over below or at the right, which unfolding passes over; else those that do not.
    """
    for step in range(min(sides) // 2, 0, -1):
        rows, columns = sides[0] // step, sides[1] // step
        if (sides[0] % step != 0 or sides[1] % step != 0) == over and rows * columns >= LEAST:
            yield rows, columns, step
