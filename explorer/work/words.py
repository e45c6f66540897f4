"""Put what libraries say in exceptions into a sentence: their first line, or what it means where it tells nobody."""

from __future__ import annotations

import re

_WITHOUT_VALUES = re.compile(r"\bmeta tensors?\b|\bdevices?,? (?:[a-z]+(?::\d+)? and )?meta\b|\bis on meta\b")


def in_our_words(text: str) -> str:
    """Return what to say instead of torch's message; "" for any other."""
    # after an assertion of a kernel every later call of CUDA in the process fails
    if "device-side assert triggered" in text:
        return (
            "the GPU has stopped at an index that is out of range, or at another assertion of its own, and gives no "
            "more answers in this process: start again on the CPU, where the layer is named"
        )
    if _WITHOUT_VALUES.search(text):
        return "it meets a tensor on the meta device, which holds no values: make the network on a real device"
    return ""


def first_line(error: BaseException, most: int = 200) -> str:
    """Return the first line that an exception says, without the full stop, or its class where it says nothing."""
    line = (str(error)[: 100 * most].strip() or type(error).__name__).splitlines()[0].rstrip(" .")
    line = "".join(c if c.isprintable() else "?" for c in line)
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
