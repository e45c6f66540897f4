"""Programs that torch writes as one file: torch.export (.pt2), TorchScript, and whole pickled modules.

Each executes what lies in the file while it is loaded, so that a person has to say yes first.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import torch
from torch import nn

from explorer.declare.card import Card
from explorer.declare.states.model_name import PROGRAMS, WEIGHTS_MARK
from explorer.network.input.recognise import Recognised
from explorer.network.opening.files.contents import EXPORTED, SCRIPT, Contents, FileError
from explorer.network.opening.files.looking import code_in, contents
from explorer.network.opening.files.trust import Trust
from explorer.network.opening.helpers import importing_from
from explorer.network.opening.loading import allowed, copied_each_time, own_card
from explorer.network.opening.refusals import ModelError, Untrusted
from explorer.network.opening.scripts import Script
from explorer.network.opening.way import Way
from explorer.work.files.places import at_home
from explorer.work.words import printable

MOST = 6  # names in a sentence
T = TypeVar("T")


@dataclass(frozen=True)
class Programs(Way):
    """Files that hold a network and its code."""

    name = "program"
    form = "net.pt2, script.pt or module.pt, with --trust: torch.export, TorchScript, torch.save(model)"

    def takes(self, base: str) -> bool:
        return base.lower().endswith(PROGRAMS)

    def card(self, base: str, trust: bool | Trust) -> Card:
        path = at_home(base)
        if not path.is_file():
            raise ModelError(base, f"there is no file {path}")
        try:
            found = contents(path)
        except FileError as error:
            raise ModelError(base, str(error)) from None
        if found.tier == "weights":
            raise ModelError(
                base, f"{path.name} holds weights and no network; put a model's name before it, as in "
                f"d4-cnn{WEIGHTS_MARK}{base}",
            )  # fmt: skip
        if found.attacks:
            raise ModelError(
                base, f"{path.name} asks for {_shown(found.attacks)}, which is how a pickle attacks: it is "
                "not opened, not with --trust either; if it is yours, load it in a Python file, net.py:NAME",
            )  # fmt: skip
        if not allowed(path, trust):
            raise Untrusted(
                base, f"{path} is {_article(found)}, which executes what lies in it when it is loaded: add --trust if "
                f"you trust it (sha256 {found.sha256[:16]}…); 'inspect' says what it holds",
            )  # fmt: skip
        made, said = _loaded(path, found)
        own = Recognised(made, said, str(path), lambda: made)
        summary = f"{found.kind} of {path.name}"
        return own_card(own, base, path.name, summary, copied_each_time(made), labels=getattr(said, "LABELS", ()))


WAY = Programs()


def _article(found: Contents) -> str:
    return {EXPORTED: "an exported program", SCRIPT: "a TorchScript program"}.get(found.kind, "a pickled module")


def _loaded(path: Path, found: Contents) -> tuple[nn.Module, ModuleType]:
    """Return the network of a file that may be executed, and what is said of its input."""
    if found.kind == EXPORTED:
        return _exported(path)
    if found.kind == SCRIPT:
        script = _run(path, lambda: torch.jit.load(path, map_location="cpu"))
        return Script(script), _of_weights(script)
    if not found.kind.startswith("checkpoint"):
        raise ModelError(str(path), f"{path.name} is a pickle that torch did not write; torch.save(model, FILE) does")
    with importing_from(path, (file for file, _ in code_in(path))):
        _require_classes(path, found)
        made = _run(path, lambda: torch.load(path, map_location="cpu", weights_only=False))
    if isinstance(made, dict):
        whole = [value for value in made.values() if isinstance(value, nn.Module)]
        made = whole[0] if len(whole) == 1 else made
    if not isinstance(made, nn.Module):
        held = f" of {', '.join(map(str, list(made)[:MOST]))}" if isinstance(made, dict) else ""
        raise ModelError(str(path), f"{path.name} holds a {type(made).__name__}{held}, and no torch.nn.Module")
    return made, sys.modules.get(type(made).__module__, ModuleType("nowhere"))


def _exported(path: Path) -> tuple[nn.Module, ModuleType]:
    from explorer.network.opening.exported import layered, said_of

    program = _run(path, lambda: torch.export.load(path))
    said = said_of(program)
    if taken := getattr(said, "taken", ""):
        raise ModelError(
            str(path), f"{path.name} takes {taken}, of which nothing says what it is; make it in a Python file, "
            "net.py:NAME, which says so",
        )  # fmt: skip
    if (texts := getattr(said, "texts", 1)) > 1:
        raise ModelError(
            str(path), f"{path.name} takes {texts} texts at once and no other number, and is given one at a time; "
            "export it with a batch of one, or with dynamic_shapes of any number",
        )  # fmt: skip
    return layered(program), said


def _run(path: Path, load: Callable[[], T]) -> T:
    try:
        with warnings.catch_warnings():  # of torch about its own formats
            warnings.simplefilter("ignore")
            return load()
    except (torch.OutOfMemoryError, KeyboardInterrupt):
        raise
    except (Exception, SystemExit) as error:
        reason = " ".join(str(error).split())[:200]
        raise ModelError(str(path), f"{path.name} could not be loaded: {type(error).__name__}: {reason}") from error


def _of_weights(network: nn.Module) -> ModuleType:
    """Return what the weights say of the input: a kernel of four axes is that of a convolution on images."""
    said = ModuleType("script")
    kernel = next((p for p in network.parameters() if p.ndim == 4), None)
    if kernel is not None:
        said.INPUT_SHAPE = (kernel.shape[1], None, None)  # type: ignore[attr-defined]
    return said


def _require_classes(path: Path, found: Contents) -> None:
    """Raise where a class that the pickle asks for cannot be imported: which, and from where."""
    asked = [name.name.rpartition(".") for name in found.names if name.verdict != "allowed"]
    of_script = [attribute for module, _, attribute in asked if module == "__main__"]
    if of_script:
        raise ModelError(
            str(path), f"{path.name} asks for {_shown(of_script)} of the script that saved it (__main__), "
            "which nobody can import; import the class there from a file of its own and save again, or save "
            f"model.state_dict() and give net.py:{_shown(of_script[:1])}{WEIGHTS_MARK}{path.name}",
        )  # fmt: skip
    missing = sorted({module for module, _, _ in asked if not _importable(module)})
    if missing:
        raise ModelError(
            str(path), f"{path.name} asks for classes of {_shown(missing)}, which cannot be imported "
            "here; put their files beside it, or install their package",
        )  # fmt: skip


def _shown(names: Sequence[str]) -> str:
    """Return the first of some names that a file gives, as far as a line has room for them and can show them."""
    return ", ".join(printable(name[:60]) for name in names[:MOST])


def _importable(module: str) -> bool:
    if module in sys.modules:
        return True
    try:
        return importlib.util.find_spec(module.partition(".")[0]) is not None
    except (ImportError, ValueError):
        return False
