"""Notice what a network has changed in its process that another one would meet: functions of torch, modes, the folder;
and whether it has replaced what it is measured with.

What torch itself calls its settings is put back after each call (`network/opening/global_state.py`).
"""

from __future__ import annotations

import builtins
import errno
import faulthandler
import gc
import json
import math
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from operator import is_
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from explorer.declare.states.model_name import code_of, named_as_shown
from explorer.network.opening.files.importing import FromText

MANY = 500  # open files, and threads, of a process that has left none of a network's behind
# where torch's own compiler, which packages import, puts Python code: shapes without values, and other devices
_OTHER_KEYS = "Meta CUDA MPS XPU HPU MTIA PrivateUse1 Functionalize FuncTorchBatched"
_SHAPES_ONLY = tuple(f"/{key}" for key in _OTHER_KEYS.split())
_OURS = ("explorer.equivariance.", "explorer.square.")
_LIBRARY = sys.stdlib_module_names - {"builtins", "sys", "json", "math"}  # what is looked at besides

_all, _map = all, map  # as they are now: a network may replace those of Python


class Tampered(ValueError):
    """A network has replaced what it is measured with."""

    def __init__(self, network: str, what: str) -> None:
        super().__init__(
            f"{network} has replaced {what}, which errors are worked out or written down with: what is measured then "
            "says nothing. Leave that function as it is, and put what the network needs into the network"
        )


class Emptied(Tampered):
    """A network has taken from a module what is in it."""

    def __init__(self, network: str, what: str) -> None:
        ValueError.__init__(
            self,
            f"{network} has emptied {what}, without which nothing in its process can be measured. Leave modules that "
            "others use as they are, and put what the network needs into the network",
        )


class Damaged(ValueError):
    """A network has taken from its own layers what torch keeps in them, or put one into itself."""


class LeftOpen(ValueError):
    """A network has entered a mode or a transform of torch and not left it."""

    def __init__(self, network: str) -> None:
        super().__init__(
            f"{network} has entered a mode of torch and not left it, so that nothing can be worked out after it. "
            "Enter it by 'with', around what needs it"
        )


@contextmanager
def measured_by_us(model: str) -> Iterator[None]:
    """Refuse what is measured meanwhile where a person's own network has replaced what it is measured with.

    Raises:
        Tampered: it has, whether or not something else went wrong then.
        LeftOpen: something went wrong, and a mode of torch is on that was off before.
    """
    if code_of(model) is None:
        yield
        return
    # what is there before the network cannot be replaced unseen
    from explorer.equivariance import check  # noqa: F401
    from explorer.network.tracing.damage import damage
    from explorer.square import evaluate  # noqa: F401

    before, network = Untouched(), named_as_shown(model)
    try:
        yield
    except Exception as error:
        if emptied := before.refilled():  # first: nothing else can be looked at without what it is looked at with
            before.put_back()
            raise Emptied(network, emptied) from error
        what = before.replaced() or before.gone()
        before.put_back()  # what a sentence is made with, too
        if what:
            raise Tampered(network, what) from error
        if before.entered():
            raise LeftOpen(network) from error
        if told := damage(error):
            raise Damaged(f"{network}: {told}") from error
        raise
    if emptied := before.refilled():
        before.put_back()
        raise Emptied(network, emptied)
    if what := before.replaced():
        before.put_back()
        raise Tampered(network, what)


class Untouched:
    """The state of the process before it ran any network."""

    def __init__(self) -> None:
        import numpy
        import torch  # which takes a second: a command on a network of ours has no use for it here
        from torch import nn

        of_torch = (nn.functional, torch.fft, nn.Module, nn.Conv2d, nn.Linear)
        # without those of Python's library neither the line to the parent nor anything else goes on
        of_python = [m for name, m in sorted(dict(sys.modules).items()) if name.partition(".")[0] in _LIBRARY]
        self._functions = [_Held(holder) for holder in (*of_torch, *of_python)]
        # networks may have functions of torch.nn of their own; errors are worked out with the others
        ours = [m for name, m in sorted(dict(sys.modules).items()) if f"{name}.".startswith(_OURS)]
        # Python's own first: nothing else can be compared without them
        measures = (builtins, *ours, torch, torch.linalg, torch.Tensor, numpy, numpy.linalg, math, json)
        self._measures = [_Held(holder) for holder in measures]
        self._library, self._operations = torch.library, _operations(torch.library)
        self._listed = frozenset(getattr(torch.library, "_impls", ()))
        self._core, self._modes = torch._C, _modes(torch._C)
        self._places = [list(held) for held in _places()]
        self._modules = {name: module for name, module in dict(sys.modules).items() if not _of_a_person(module)}
        self._around = _around()
        self._whole = [
            (vars(module), dict(vars(module)))
            for module in self._modules.values()
            if type(module) is ModuleType and "__name__" in vars(module)
        ]

    def refilled(self) -> str:
        """Put back what was in modules that have been emptied; return which the first was, "" where none was."""
        first = ""
        for now, held in self._whole:  # by names of this function alone: this module may have been emptied too
            if "__name__" not in now:
                now.update(held)
                first = first or f"the module {held['__name__']}"
        # what was imported since, and what is made of it, is imported anew when it is asked for
        for name in sys.modules.keys() - self._modules.keys():
            module = sys.modules[name]
            if type(module) is ModuleType and "__name__" not in module.__dict__:
                del sys.modules[name]
        return first

    def changed(self) -> str:
        """Return what is not as it was, "" where all is."""
        if what := self.refilled():
            return what
        if what := _other(self._functions) or self.replaced():
            return what
        if what := self.gone():
            return what
        now_around = _around()
        return next((name for name, value in self._around.items() if now_around[name] != value), "")

    def replaced(self) -> str:
        """Return which function is another one that errors are worked out with, "" where none is."""
        if what := _other(self._measures):
            return what
        held = getattr(self._library, "_impls", None)
        if held == self._listed:  # as sets of texts are compared: the operations are looked for among thousands
            return ""
        new = sorted(_operations(self._library) - self._operations)
        return f"torch.ops.{new[0].partition('/')[2].partition('/')[0]}" if new else ""

    def entered(self) -> bool:
        """Say whether modes and transforms of torch are on that were off before."""
        return _modes(self._core) != self._modes

    def gone(self) -> str:
        """Return which module is imported no more, or is another one, or that none can be found; "" where none is."""
        found = sys.modules
        for name, before, now in zip(("path", "meta_path", "path_hooks"), self._places, _places(), strict=True):
            if any(one not in now for one in before):
                return f"sys.{name}"
        for name, module in self._modules.items():
            if isinstance(module, ModuleType) and found.get(name) is not module:
                return f"the module {name}"
        return ""

    def put_back(self) -> None:
        """Put back the modules, and Python's own functions: without them nothing can be said any more."""
        for held in self._measures:
            if held.holder is builtins:
                vars(builtins).update(held.functions)
        sys.modules.update(self._modules)
        sys.path, sys.meta_path, sys.path_hooks = (list(held) for held in self._places)


def _of_a_person(module: object) -> bool:
    """Say whether a module is a person's own file or folder, which is made anew whenever the file is read."""
    spec = getattr(module, "__spec__", None)
    return isinstance(getattr(spec, "loader", None), FromText) or (spec is not None and spec.origin is None)


class _Held:
    """The functions of a module or a class as they were.

    They are looked through after every answer, so what is untouched is told without a step of Python for each.
    """

    def __init__(self, holder: Any) -> None:
        self.holder = holder
        # libraries with modules of their own, such as that of the window, put another import in the place of Python's
        self.functions = {n: one for n, one in _held(holder).items() if callable(one) and n != "__import__"}
        classes = holder.__mro__ if isinstance(holder, type) else ()
        # what a class inherits can be hidden by any new name in it
        self._names = [(vars(one), frozenset(vars(one))) for one in classes]
        self._parts = []
        for one in classes or (holder,):
            own = {n: f for n, f in vars(one).items() if callable(f) and n != "__import__"}
            self._parts.append((vars(one), tuple(own), tuple(own.values())))

    def other(self) -> str:
        """Return the name of one that is another one now, "" where none is."""
        if _all(now.keys() == names for now, names in self._names) and _all(
            _all(_map(is_, _map(now.get, names), functions)) for now, names, functions in self._parts
        ):
            return ""
        held = _held(self.holder)
        for name, value in self.functions.items():
            found = held.get(name)
            of_others = self.holder is not builtins and (wrapped_by_torch(found, value) or of_a_package(found))
            if found is not value and not of_others:
                return f"{self.holder.__name__}.{name}"
        return ""


def _held(holder: Any) -> dict[str, Any]:
    """Return what a module or a class has by name; what a class inherits can be hidden by what is put into it."""
    if not isinstance(holder, type):
        held: dict[str, Any] = vars(holder)
        return held
    return {name: value for one in reversed(holder.__mro__) for name, value in vars(one).items()}


def _operations(library: ModuleType) -> set[str]:
    """Return the operations of torch itself of which Python code works out the values."""
    names: set[str] = getattr(library, "_impls", set())
    return {name for name in names if name.startswith("aten/") and not name.endswith(_SHAPES_ONLY)}


def _modes(core: Any) -> list[object]:
    """Return how many modes and transforms torch is in."""
    asked = ("_len_torch_dispatch_stack", "_len_torch_function_stack"), ("maybe_current_level",)
    holders = core, getattr(core, "_functorch", None)
    return [getattr(one, name)() for one, names in zip(holders, asked) for name in names if hasattr(one, name)]


def _places() -> tuple[Any, Any, Any]:
    """Return where Python looks for modules."""
    return tuple(one if isinstance(one, list) else [] for one in (sys.path, sys.meta_path, sys.path_hooks))  # type: ignore[return-value]


def _other(held: list[_Held]) -> str:
    return next((what for one in held if (what := one.other())), "")


def wrapped_by_torch(found: Any, value: Any) -> bool:
    """Say whether torch's compiler, which some packages import, has put its own wrapper round a function."""
    from torch._compile import _disable_dynamo

    whole: Any = _disable_dynamo
    own = [const for const in whole.__code__.co_consts if isinstance(const, CodeType)]
    held = [cell.cell_contents for cell in getattr(found, "__closure__", None) or ()]
    return any(getattr(found, "__code__", None) is code for code in own) and any(one is value for one in held)


def of_a_package(found: Any) -> bool:
    """Say whether a function stands, as it is and at the top, in a file of an installed package.

    Some packages put functions of their own in the place of torch's when they are imported, for kinds of tensors of
    their own (torch_geometric does with torch.index_select). What a person's file makes, or wraps by a package's
    decorator, is none of these.
    """
    code, module = getattr(found, "__code__", None), sys.modules.get(getattr(found, "__module__", None) or "")
    if not isinstance(code, CodeType) or found.__closure__ or vars(module or builtins).get(found.__name__) is not found:
        return False
    return not {"site-packages", "dist-packages"}.isdisjoint(Path(code.co_filename).resolve().parts)


def _limits() -> list[tuple[int, int]]:
    if sys.platform == "win32":
        return []
    import resource

    return [resource.getrlimit(kind) for name, kind in sorted(vars(resource).items()) if name.startswith("RLIMIT_")]


def _whose() -> list[object]:
    """Return what the system knows of the process and another network would find changed."""
    if sys.platform == "win32":
        return []
    root, told = os.stat("/"), ""
    # the mask of new files is asked for by setting it, or by reading what there is about a process
    with suppress(OSError):  # not on this system; or no file can be opened any more, which is told by its limits
        told = Path("/proc/self/status").read_text("ascii", "replace")
    masks = [line for line in told.splitlines() if line.startswith(("Umask", "SigBlk", "Groups", "Uid", "Gid"))]
    timers = [signal.getitimer(one)[1] for one in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)]
    priority = os.getpriority(os.PRIO_PROCESS, 0)
    return [os.getuid(), os.geteuid(), os.getgid(), os.getegid(), priority, (root.st_dev, root.st_ino), timers, masks]


def _tables() -> list[Any]:
    from torch.nn.modules import module as every

    return [value for name, value in sorted(vars(every).items()) if name.startswith("_global_") and "hooks" in name]


def _many_files() -> bool:
    try:
        return len(os.listdir("/dev/fd")) > MANY
    except OSError as error:  # none is left for the list, or the system has no such list
        return error.errno in (errno.EMFILE, errno.ENFILE)


def _unwaiting() -> list[int]:
    """Return the open files that are not waited for, as those of a line must be."""
    found = list[int]()
    with suppress(OSError, AttributeError):  # none is left for the list, or the system has no such list
        for number in map(int, os.listdir("/dev/fd")):
            with suppress(OSError):
                found += [] if os.get_blocking(number) else [number]
    return sorted(found)


def _closed(stream: object) -> bool:
    return bool(getattr(stream, "closed", False))


def _around() -> dict[str, object]:
    import numpy as np
    import torch

    try:
        folder = os.getcwd()
    except OSError:  # it was removed
        folder = ""
    return {
        "the mode of torch": (torch._C._len_torch_dispatch_stack(), torch.is_inference_mode_enabled()),
        "the anomaly mode of torch": torch.is_anomaly_enabled(),
        "what NumPy does about errors": np.geterr(),
        "how signals are handled": [signal.getsignal(one) for one in sorted(signal.valid_signals())],
        "what the system lets it have": _limits(),
        "the folder": folder,
        "the environment": dict(os.environ),
        "the tracing of Python": (sys.gettrace(), sys.getprofile()),
        "how deep Python may go": sys.getrecursionlimit(),
        "how threads take turns": sys.getswitchinterval(),
        "the collector of Python": (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count() > 0, gc.get_debug()),
        "what is called by the collector of Python": list(gc.callbacks),
        "how crashes are told": faulthandler.is_enabled(),
        "which warnings are errors": [one[0] for one in warnings.filters if one[0] == "error"],
        "how many files are open": _many_files(),
        "which files are waited for": _unwaiting(),
        "how many threads there are": threading.active_count() > MANY,
        "where output goes": (sys.stdout, sys.stderr, sys.excepthook, _closed(sys.stdout), _closed(sys.stderr)),
        "the hooks of all networks": [tuple(table) for table in _tables()],
        # which torch can be told and not be asked
        "what becomes of tiny numbers": bool((torch.full((1,), 1e-310, dtype=torch.float64) * 1.0).item()),
        "the precision of products": (torch.get_float32_matmul_precision(), torch.backends.mkldnn.enabled),
        "whom it belongs to": _whose(),
    }
