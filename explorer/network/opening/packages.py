"""Import packages that are extras of ours, without letting them reach the network."""

from __future__ import annotations

import importlib
import os
from types import ModuleType

from explorer.network.opening.refusals import ModelError

# read when the packages are imported: nothing is fetched, and nothing is told to anybody
OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY", "DO_NOT_TRACK")


def extra(package: str, where: str) -> ModuleType:
    """Return a package that this program works without.

    Raises:
        ModelError: it is not installed, with what to type; or it cannot be loaded.
    """
    for name in OFFLINE:
        os.environ.setdefault(name, "1")
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name == package:
            told = f'{where} needs {package}, which is not installed: pip install "equiscope[{package}]"'
            raise ModelError(where, told) from None
        told = f'{package} cannot be loaded without {error.name}: pip install "equiscope[{package}]"'
        raise ModelError(where, told) from error
    except (Exception, SystemExit) as error:
        reason = " ".join(str(error).split())[:160]
        raise ModelError(
            where, f"{package} cannot be loaded ({type(error).__name__}: {reason}); install one that fits your torch"
        ) from error
