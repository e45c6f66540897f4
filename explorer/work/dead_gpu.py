"""Say that a GPU answers nothing more: after an assertion of a kernel every later call of CUDA in the process fails."""

from __future__ import annotations


def gpu_gone(text: str) -> str:
    """Return what to say instead of CUDA's message; "" for any other."""
    if "device-side assert triggered" not in text:
        return ""
    return (
        "the GPU has stopped at an index that is out of range, or at another assertion of its own, and gives no more "
        "answers in this process: start again on the CPU, where the layer is named"
    )
