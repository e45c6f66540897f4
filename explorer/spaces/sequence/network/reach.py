"""Find by trial how far layers see along time: a step is given other values, and it is watched which answers change."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import torch
from torch import Tensor

from explorer.declare.types.fields import FieldType
from explorer.network.tracing.fading import LOUD, heard
from explorer.spaces.sequence.fields import Steps

Run = Callable[[Tensor], Mapping[str, Tensor]]

SHORT = 512  # steps on which layers are tried first in place of a sequence of more than twice as many as MIDDLE
MIDDLE, SHARE = 2304, 6  # steps on which they are tried again, or a sixth of the sequence where that is more
CODES = 3  # other ones that a step is given
LONGER, LONG = 4, 64  # times as many steps tell a long reach from an endless one, for sequences of at most so many


def reaches(run: Run, x: Tensor, field: FieldType, fields: Mapping[str, FieldType]) -> dict[str, float]:
    """Return how many steps to either side the values of layers see: inf where it never ends, NaN where unknown.

    Args:
        run: x -> the values of the layers; what it raises is passed on.
        field: of x.
        fields: of these layers.
    """
    steps = field.domain.places_first(x)
    if not x.is_floating_point() and len(steps.unique()) < 2:
        return {}
    known = _on_fewer(run, steps, field, fields) if len(steps) > 2 * MIDDLE else {}
    fields = {name: of for name, of in fields.items() if name not in known}
    if not fields:
        return known
    found = known | _tried(run, _noise(steps, len(steps)), field, fields)
    endless = {name: of for name, of in fields.items() if math.isinf(found[name])}
    if endless and len(steps) <= LONG:
        try:
            # a filter as long as the sequence ends in a longer one: what rounding leaves behind it counts as heard
            found |= _tried(run, _noise(steps, LONGER * len(steps)), field, endless, ends=False)
        except torch.OutOfMemoryError:
            raise
        except Exception:  # it takes so many steps and no other number
            pass
    return found


def _on_fewer(run: Run, steps: Tensor, field: FieldType, fields: Mapping[str, FieldType]) -> dict[str, float]:
    """Return the reaches that fewer steps tell, twice: seven answers to a long sequence take long.

    They are the same on both, or fall short of both by as much, as where a sequence is written backwards. The second
    are so many that a network which takes another way for long sequences, as attention without its matrix, takes it.
    """
    few, more = SHORT, max(MIDDLE, len(steps) // SHARE)
    try:
        one, two = (_tried(run, _noise(steps, count), field, fields) for count in (few, more))
    except torch.OutOfMemoryError:
        raise
    except Exception:  # it takes so many steps and no other number
        return {}
    known = {name: reach for name, reach in one.items() if reach == two[name]}
    short = {name: few - reach for name, reach in one.items() if few - reach == more - two[name]}
    return known | {name: len(steps) - less for name, less in short.items()}


def _noise(like: Tensor, steps: int) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    if not like.is_floating_point():  # no other codes are known than those that are there
        return like[torch.randint(len(like), (steps,), generator=generator).to(like.device)]
    size = float(like.std()) if like.numel() > 1 else 0.0
    return (
        torch.randn((steps, *like.shape[1:]), generator=generator, device="cpu", dtype=torch.float64) * (size or 1.0)
    ).to(like)


def _tried(
    run: Run, noise: Tensor, field: FieldType, fields: Mapping[str, FieldType], ends: bool = True
) -> dict[str, float]:
    def changed(at: int, value: Tensor | float) -> Mapping[str, Tensor]:
        other = noise.clone()
        other[at] = value
        return run(field.domain.as_given(other))

    given = field.domain.as_given(noise)
    before, again = run(given), run(given)
    found = {n: 0.0 if torch.equal(before[n], again[n]) else math.nan for n in fields}
    # places that padding has added behind the end hear of nothing there
    behind = {n: max(0.0, _places(f, before[n]) * f.spacing - len(noise)) for n, f in fields.items() if _cut(f)}
    found = _heard(changed, noise, before, found, fields, ends)
    if not noise.is_floating_point():  # no code is silence: where all steps are seen, none is left to be compared
        found = {n: reach if math.isfinite(reach) else math.nan for n, reach in found.items()}
    return {n: reach + behind.get(n, 0.0) for n, reach in found.items()}


def _cut(field: FieldType) -> bool:
    return isinstance(field.domain, Steps) and field.domain.cut


def _places(field: FieldType, values: Tensor) -> int:
    return int(field.domain.by_place(values).shape[0])


def _heard(
    changed: Callable[[int, Tensor | float], Mapping[str, Tensor]], noise: Tensor, before: Mapping[str, Tensor],
    found: dict[str, float], fields: Mapping[str, FieldType], sharp: bool,
) -> dict[str, float]:  # fmt: skip
    """Return `found`, 0 or NaN where it is not to be known, with how far changed steps are heard."""
    faint: set[str] = set()
    ends, middle = (0, len(noise) - 1), len(noise) // 2
    for at, value in _others(noise, middle, ends):
        wanted = [n for n, reach in found.items() if math.isfinite(reach)]
        if not wanted:
            return found
        after = changed(at, value)
        for n in wanted:
            # what is no farther round the end than the middle is heard has been wrapped round by circular padding
            within = 0.0 if at == middle else found[n]
            farthest = partial(_farthest, fields[n], at, len(noise), within)
            straight = partial(_farthest, fields[n], at, len(noise), 0.0) if sharp else _nowhere
            reach, fades = heard(before[n], after[n], farthest, straight)
            if fades:
                faint.add(n)
            found[n] = max(found[n], reach)
    faint = {n for n in faint if math.isfinite(found[n])}
    if not noise.is_floating_point():
        return found | dict.fromkeys(faint, math.nan)
    if faint:
        # what is not a number never fades, however far it goes
        for at in ends:
            after = changed(at, math.nan)
            for n in faint:
                found[n] = max(found[n], _farthest(fields[n], at, len(noise), found[n], after[n].isnan()))
    return found


def _others(noise: Tensor, middle: int, ends: tuple[int, int]) -> Iterator[tuple[int, Tensor]]:
    """Yield steps and other values for them: louder ones too, or codes that lie elsewhere."""
    if noise.is_floating_point():
        for at, size in ((middle, LOUD), (ends[0], 1.0), (ends[1], 1.0), (ends[0], LOUD), (ends[1], LOUD)):
            yield at, noise[at].flip(0) * -size + size
        return
    codes = noise.flatten(1).unique(dim=0) if noise.ndim > 1 else noise.unique()
    for at in (middle, *ends):
        others = [code for code in codes if not torch.equal(code.flatten(), noise[at].flatten())]
        yield from ((at, others[k].view_as(noise[at])) for k in range(0, len(others), max(1, len(others) // CODES)))


def _nowhere(_: Tensor) -> float:
    return math.nan


def _farthest(field: FieldType, at: int, steps: int, within: float, changed: Tensor) -> float:
    """Return how far from a step values have changed; inf where that is as far as there are steps.

    Args:
        within: how far values are known to be heard. Where steps are counted round the end of the sequence as well and
            none is farther than that, as behind circular padding, this is the answer; not where it is much of the
            sequence, so that what is heard for ever is not taken for it.
    """
    places = field.domain.by_place(changed).any(dim=1).nonzero().flatten()
    if not len(places):
        return 0.0
    # a pair of steps is left out with either of them
    pairs = field.domain.by_place(changed).shape[0] == steps * steps and steps > 1
    at_steps = places * field.spacing + (field.spacing - 1) / 2
    apart = torch.minimum((places // steps - at).abs(), (places % steps - at).abs()) if pairs else (at_steps - at).abs()
    radius = float(apart.max())
    around = float(torch.minimum(apart, steps - apart).max())
    if around <= within < min(radius, steps / 4):
        return around
    # a kernel without padding leaves fewer places to hear at
    most = min(steps, _places(field, changed) * field.spacing) if _cut(field) else steps
    return radius if radius < most - field.spacing else math.inf
