"""Fit functions on the sphere to what a network takes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from explorer.data.kinds import of_another_kind
from explorer.declare.samples import Sample
from explorer.spaces.sphere.network.form import SphereInput
from explorer.spaces.sphere.sample import sphere_sample

MOST_DEGREE, MOST_ROWS = 10, 96  # of a panorama that is expanded


def _of_panorama(sample: Sample, degree: int) -> Sample:
    """Return an equirectangular picture, twice as wide as it is high, as the function that is nearest to it.

    Raises:
        ValueError: it has other proportions.
    """
    import torch

    from explorer.spaces.sphere.harmonics import analysed

    pixels = np.asarray(sample.x.values, np.float32)
    _, rows, columns = pixels.shape
    if columns != 2 * rows or rows < 2 * (degree + 1):
        raise ValueError(
            f"{sample.name!r} is {columns}x{rows}, and a panorama is twice as wide as it is high, "
            f"from {4 * (degree + 1)}x{2 * (degree + 1)} on"
        )
    if rows > MOST_ROWS:
        whole = torch.from_numpy(pixels.copy())
        pixels = torch.nn.functional.adaptive_avg_pool2d(whole, (MOST_ROWS, 2 * MOST_ROWS)).numpy()
    made = sphere_sample(analysed(pixels, degree), sample.name, title=sample.title, source=sample.source)
    return replace(made, notes=(*sample.notes, f"a panorama of {columns}x{rows}, expanded up to degree {degree}"))


def fit_sphere(sample: Sample, form: SphereInput) -> Sample:
    """Adapt a function to a network's degree and channels; `notes` gain what was left out.

    Raises:
        ValueError: it is none on the sphere, or its channels have no obvious conversion.
    """
    if sample.domain == "grid" and sample.x.values.ndim == 3:
        sample = _of_panorama(sample, max(form.degree, MOST_DEGREE))
    if sample.domain != "sphere":
        raise of_another_kind(sample, "sphere")
    values, notes = np.asarray(sample.x.values, np.float32), list[str]()
    if len(values) != form.channels:
        if form.channels != 1 and len(values) != 1:
            raise ValueError(f"{sample.name!r} has {len(values)} channels and this network takes {form.channels}")
        values = values.mean(0, keepdims=True) if form.channels == 1 else np.repeat(values, form.channels, 0)
        notes.append("the mean of its channels" if form.channels == 1 else f"repeated in {form.channels} channels")
    count, power = (form.degree + 1) ** 2, float(np.square(values).sum()) or 1.0
    if values.shape[1] > count:
        left = float(np.square(values[:, count:]).sum()) / power
        notes.append(f"degrees above {form.degree} left out, {left:.1%} of its power")
        values = values[:, :count]
    elif values.shape[1] < count:
        values = np.pad(values, ((0, 0), (0, count - values.shape[1])))
    if values is sample.x.values:
        return sample
    made = sphere_sample(values, sample.name, title=sample.title, label=sample.label, source=sample.source)
    return replace(made, notes=(*sample.notes, *notes))
