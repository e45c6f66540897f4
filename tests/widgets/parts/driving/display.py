"""A virtual display for this process alone: windows of two test processes must not take the focus from each other."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys

# -noreset keeps the server alive between windows, GLX is what VTK draws with, and the screen is larger than any
# window so that no layout is squeezed.
SCREEN = ("-screen", "0", "2560x1440x24", "-noreset", "-nolisten", "tcp", "+extension", "GLX")


def open_one() -> None:
    """Start an Xvfb that ends with this process, and let Qt and VTK draw on it.

    EQUISCOPE_TEST_DISPLAY=own shows the windows on the display that is there instead.
    """
    if not sys.platform.startswith("linux") or os.environ.get("EQUISCOPE_TEST_DISPLAY") == "own":
        return
    if not (program := shutil.which("Xvfb")):
        raise RuntimeError("The GUI tests need Xvfb (Debian: xvfb).")
    reading, writing = os.pipe()
    server = subprocess.Popen(
        [program, "-displayfd", str(writing), *SCREEN], pass_fds=(writing,), stderr=subprocess.DEVNULL
    )
    os.close(writing)
    atexit.register(server.kill)
    with os.fdopen(reading) as said:
        number = said.readline().strip()  # the server writes it once it listens
    if not number:
        raise RuntimeError("Xvfb did not start; run it by hand to see why.")
    os.environ |= {
        "DISPLAY": f":{number}",
        "QT_QPA_PLATFORM": "xcb",
        "__GLX_VENDOR_LIBRARY_NAME": "mesa",  # a vendor's GLX cannot draw on a virtual display
    }
    os.environ.pop("WAYLAND_DISPLAY", None)
