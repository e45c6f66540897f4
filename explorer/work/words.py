"""Put what libraries say in exceptions into a sentence: their first line, or what it means where it tells nobody."""

from __future__ import annotations

import re
import sys
from contextlib import suppress

_WITHOUT_VALUES = re.compile(r"\bmeta tensors?\b|\bdevices?,? (?:[a-z]+(?::\d+)? and )?meta\b|\bis on meta\b")
_NO_GPU = re.compile(r"not compiled with CUDA|no NVIDIA driver|No CUDA GPUs|not linked with support for mps|No XPU")


def in_our_words(text: str) -> str:
    """Return what to say instead of torch's message; "" for any other."""
    # after an assertion of a kernel every later call of CUDA in the process fails
    if "device-side assert triggered" in text:
        return (
            "the GPU has stopped at an index that is out of range, or at another assertion of its own, and gives no "
            "more answers in this process: start again on the CPU, where the layer is named"
        )
    if _NO_GPU.search(text):
        return (
            "it asks for a GPU, and torch finds none here: leave out .cuda() and .to('cuda'), and make tensors where "
            "others are, as by device=x.device"
        )
    if text.startswith("attempted relative import with no known"):
        return (
            "a file is run by itself here, as by python FILE, where an import that begins with a dot leads nowhere: "
            "write the module's name without the dot, as in from blocks import Block for blocks.py beside the file"
        )
    if _WITHOUT_VALUES.search(text):
        return "it meets a tensor on the meta device, which holds no values: make the network on a real device"
    return ""


def printable(text: str) -> str:
    """Return a text with a question mark for each sign that cannot be shown, such as colours of a terminal."""
    return "".join(c if c.isprintable() else "?" for c in text)


def first_line(error: BaseException, most: int = 200) -> str:
    """Return the first line that an exception says, without the full stop, or its class where it says nothing."""
    line = (str(error)[: 100 * most].strip() or type(error).__name__).splitlines()[0].rstrip(" .")
    line = printable(line)
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def lacks_something(error: BaseException) -> bool:
    """Say whether an exception is about what is not here, a module or a GPU, which no other input would bring."""
    return isinstance(error, ModuleNotFoundError) or bool(_NO_GPU.search(str(error)[:1000]))


def module_not_found(error: ModuleNotFoundError) -> str:
    """Return which module is missing and what to type, or which package it is missing in; "" where none is named.

    The name of a module need not be that of its package, and nothing here tells what that is.
    """
    from importlib import metadata, util  # a start needs neither

    if not error.name:
        return ""
    top = error.name.partition(".")[0]
    spec = None
    with suppress(ValueError, ImportError):  # of a module that was put in place by hand
        spec = util.find_spec(top)
    if spec is None:
        return (
            f"No module named {error.name!r} beside it or installed; "
            f"{sys.executable} -m pip install {top} adds it, if its package is called so"
        )
    held = ""
    with suppress(metadata.PackageNotFoundError):
        held = f" {metadata.version(top)}"
    where = next(iter(spec.submodule_search_locations or ()), spec.origin or "")
    return f"No module named {error.name!r} in {top}{held}{f' ({where})' if where else ''}"
