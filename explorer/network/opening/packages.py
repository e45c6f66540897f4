"""Import packages that are extras of ours, without letting them reach the network."""

from __future__ import annotations

import importlib
import os
from importlib import metadata, util
from types import ModuleType

from explorer.network.opening.refusals import ModelError

# read when the packages are imported: nothing is fetched, and nothing is told to anybody
OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY", "DO_NOT_TRACK")


def to_install(package: str) -> str:
    """Return what a person types to install an extra."""
    return f'pip install "equiscope[{package}]"'


def standing(package: str) -> tuple[bool, str]:
    """Return whether an extra is installed and a sentence that says so, or how to install it; it is not imported."""
    if util.find_spec(package) is None:
        return False, f"{package} is not installed: {to_install(package)}"
    try:
        version = f" {metadata.version(package)}"
    except metadata.PackageNotFoundError:  # a folder on the path and no distribution
        version = ""
    return True, f"{package}{version} is installed"


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
            told = f"{where} needs {package}, which is not installed: {to_install(package)}"
            raise ModelError(where, told) from None
        told = f"{package} cannot be loaded without {error.name}: {to_install(package)}"
        raise ModelError(where, told) from error
    except (Exception, SystemExit) as error:
        reason = " ".join(str(error).split())[:160]
        raise ModelError(
            where, f"{package} cannot be loaded ({type(error).__name__}: {reason}); install one that fits your torch"
        ) from error
