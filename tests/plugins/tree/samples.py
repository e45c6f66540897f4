"""A family of four generations."""

from types import MappingProxyType

import numpy as np
from tree.space import JOINT_INPUT

from equiscope.data import Sample, SampleSpec, Signal


def tree(name: str, depth: int, seed: int) -> Sample:
    joints = 2 ** (depth + 1) - 1
    values = np.random.default_rng(seed).normal(size=(joints, 2)).astype(np.float32)
    return Sample(name, "bintree", MappingProxyType({"x": Signal(values, JOINT_INPUT)}), f"Tree of depth {depth}")


def make() -> Sample:
    return tree("family", 3, 0)


SAMPLES = (SampleSpec("family", "A family", "bintree", make, "Fifteen joints, two values at each."),)
