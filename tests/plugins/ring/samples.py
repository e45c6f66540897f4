"""Rings to look at."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
from ring.fields import SITE_INPUT

from equiscope.data import Sample, SampleSpec, Signal


def _wave() -> Sample:
    k = np.arange(12)
    values = np.stack([np.sin(2 * np.pi * k / 12), (k == 3).astype(float)], 1).astype(np.float32)
    return Sample("ring-wave", "ring", MappingProxyType({"x": Signal(values, SITE_INPUT)}), "A wave round a ring")


SAMPLES = (SampleSpec("ring-wave", "A wave round a ring", "ring", _wave, "One wave, and one site marked."),)
