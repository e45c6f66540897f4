"""A honeycomb with an L of cells."""

from types import MappingProxyType

import numpy as np
from honeycomb.space import CELL_INPUT, cells

from equiscope.data import Sample, SampleSpec, Signal


def make() -> Sample:
    at = cells(4)
    marked = {(0, 0), (1, 0), (2, 0), (3, 0), (0, 1), (0, 2)}
    values = np.array([[float(c in marked) for c in at]], np.float32)
    return Sample("bees", "honeycomb", MappingProxyType({"x": Signal(values, CELL_INPUT)}), "Bees")


SAMPLES = (SampleSpec("bees", "Bees", "honeycomb", make, "An L of cells."),)
