"""Measure symmetry. One definition, used by the window, the command line, the tests and as a library."""

from explorer.equivariance.check import LayerReport, Report, assert_equivariant, check_equivariance
from explorer.equivariance.learned import LearnedAction, learn_action

__all__ = [
    "LayerReport",
    "LearnedAction",
    "Report",
    "assert_equivariant",
    "check_equivariance",
    "learn_action",
]
