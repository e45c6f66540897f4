"""Fit volumes to what a network takes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from explorer.data.kinds import of_another_kind
from explorer.declare.samples import Sample
from explorer.spaces.volume.network.form import Shape
from explorer.spaces.volume.sample import volume_sample


def fit_volume(sample: Sample, shape: Shape) -> Sample:
    """Adapt a volume to a network's input (channels, slices, rows, columns); None accepts any side.

    One channel is repeated, and several become their mean where one is wanted. Another size is interpolated linearly,
    after a mean over what one voxel of the new grid covers, about the same centre. A sample that fits is returned as it
    is; else `notes` gain what was done.

    Raises:
        ValueError: the sample is no volume, or its channels have no obvious conversion.
    """
    if sample.domain != "volume" or sample.x.values.ndim != 4:
        raise of_another_kind(sample, "volume")
    values, notes = np.asarray(sample.x.values, np.float32), list[str]()
    if len(values) != shape[0]:
        if 1 not in (len(values), shape[0]):
            raise ValueError(f"{sample.name!r} has {len(values)} channels and this network takes {shape[0]}")
        values = np.repeat(values, shape[0], 0) if len(values) == 1 else values.mean(0, keepdims=True)
        notes.append(f"grey repeated in {shape[0]} channels" if len(values) > 1 else "the mean of its channels")
    have = values.shape[1:]
    wanted = tuple(side or own for side, own in zip(shape[1:], have, strict=True))
    if wanted != have:
        import torch

        size = (int(wanted[0]), int(wanted[1]), int(wanted[2]))
        fine = torch.from_numpy(values.copy())[None]
        if any(a > b for a, b in zip(have, wanted, strict=True)):
            z, y, x = (min(own, side) for own, side in zip(have, size, strict=True))
            fine = torch.nn.functional.adaptive_avg_pool3d(fine, (z, y, x))
        values = torch.nn.functional.interpolate(fine, size, mode="trilinear", align_corners=False)[0].numpy()
        notes.append(f"{_times(have)} voxels resampled to {_times(wanted)}")
    if float(np.ptp(values)) == 0.0:
        flat = f"every value is {float(values.flat[0]):g}: on a constant volume most laws hold for nothing"
        notes += [] if flat in sample.notes else [flat]
    if not notes:
        return sample
    made = volume_sample(values, sample.name, title=sample.title, label=sample.label, source=sample.source)
    longer = [a / b for a, b in zip(have[::-1], values.shape[:0:-1], strict=True)]  # along x, y and z
    voxel = tuple(long * by for long, by in zip(sample.voxel, longer, strict=False))
    return replace(made, notes=(*sample.notes, *notes), voxel=voxel, ends=sample.ends)


def _times(sides: tuple[int, ...]) -> str:
    return "×".join(map(str, sides))
