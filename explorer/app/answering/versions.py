"""Keep the last version of a network that ran, until the next one made from its changed file has run too."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from torch import nn

from explorer.app.thread.failures import is_kind, sentence
from explorer.declare.card import Card, Form
from explorer.declare.states.model_name import code_of, files_of, in_training
from explorer.network.opening.files.trust import Trust
from explorer.network.opening.helpers import forget, helpers, place_of, remember
from explorer.network.opening.refusals import ModelError
from explorer.network.tracing.layers import Trace
from explorer.square.frame import Failure, Measure, Square
from explorer.square.preparing.prepare import Prepared
from explorer.state.state import State
from explorer.work.files.places import at_home
from explorer.work.files.stamps import stamp

# by which element on which data, what was found, and the layers that made the fault
Measured = tuple[object, Mapping[str, Measure], tuple[str, ...]]
MOST = 4  # names in a sentence


@dataclass(slots=True)
class Version:
    """Card, networks and results of a file before it changed."""

    card: Card
    models: dict[Any, tuple[nn.Module, tuple[str, ...]]]
    prepared: dict[Any, Prepared]
    modules: dict[str, ModuleType]
    measured: Measured | None


@dataclass(slots=True)
class Versions:
    """Knows of each network the files that it was made of, and what changed when they did.

    Attributes:
        former: versions that are kept until the next one has run.
        stale: what is wrong with the file of a network of which the last good version is shown.
        measured, before: the measures of a network, and those of its former version.
        again: names of networks that were made again.
    """

    former: dict[str, Version] = field(default_factory=dict)
    stale: dict[str, Failure] = field(default_factory=dict)
    measured: dict[str, Measured] = field(default_factory=dict)
    before: dict[str, Measured] = field(default_factory=dict)
    again: set[str] = field(default_factory=set)
    _stamps: dict[str, dict[str, object]] = field(default_factory=dict)
    _complete: set[str] = field(default_factory=set)  # networks all of whose files are known

    def changed(self, name: str, trust: Trust) -> bool:
        """Say whether a file that a network was made of has changed since, or may run now and might not before."""
        stale, path = self.stale.get(name), _code(name)
        if stale is not None and stale.untrusted and path is not None and trust.allows(path):
            return True
        return any(stamp(file) != then for file, then in self._stamps.get(name, {}).items())

    def files(self, names: Iterable[str]) -> tuple[tuple[str, object], ...]:
        """Return the files that networks are made of, each as it was when it was read."""
        return tuple({file: then for name in names for file, then in self._stamps.get(name, {}).items()}.items())

    def begin(self, name: str) -> None:
        """Note how the files of a network are now, before they are read."""
        self._complete.discard(name)
        known = [*files_of(name), *self._stamps.get(name, ())]
        self._stamps[name] = {file: stamp(file) for file in known}

    def put_aside(self, name: str, version: Version) -> None:
        """Keep a version until the next one has run; one that never ran is no version to go back to."""
        self.again.add(name)
        self.former.setdefault(name, version)
        if path := _code(name):
            version.modules.update(forget(path))
        self.measured.pop(name, None)

    def took(self, name: str) -> Form | None:
        """Return what the version of a network that ran last takes; None where there is none."""
        former = self.former.get(name)
        return None if former is None else former.card.input

    def traced(self, name: str, key: object) -> Trace | None:
        """Return the trace of a network in training as it was before, with other weights; None of any other."""
        former = self.former.get(name) if in_training(name) else None
        made = former.prepared.get(key) if former is not None else None
        return None if made is None or made.trouble else made.trace

    def go_back(self, name: str, error: BaseException, state: State) -> Version | None:
        """Return the version to go back to after an error, None where there is none; say what the error was."""
        former = self.former.pop(name, None)
        if former is None:
            return None
        told = told_of(error, name)
        if path := _code(name):
            remember(path, former.modules)
            if at := place_of(error, path):
                self._stamps[name].setdefault(str(Path(at[0]).resolve()), stamp(at[0]))
        untrusted = name if is_kind(error, "Untrusted") else ""
        if untrusted:
            told = f"{title(name)} was saved with other code than you have allowed. It runs when you allow it."
        self.stale[name] = Failure(state, told, "", "".join(traceback.format_exception(error)), untrusted)
        if former.measured is not None:
            self.measured[name] = former.measured
        return former

    def ran(self, name: str, network: Callable[[], nn.Module]) -> str:
        """Take the present version of a network for good; return what became of its weights if it is a new one."""
        path = _code(name)
        if path is not None and name not in self._complete:
            self._complete.add(name)
            for module in helpers(path).values():
                file = str(Path(str(module.__file__)).resolve())
                if file != str(path.resolve()):
                    self._stamps[name].setdefault(file, stamp(file))
        former = self.former.pop(name, None)
        if former is None:
            return ""
        self.stale.pop(name, None)
        if in_training(name):  # its page tells of it, several times a second
            return ""
        if former.measured is not None:
            self.before[name] = former.measured
        old = next((model for model, _ in former.models.values()), None)
        return f"{title(name)} was run again{'' if old is None else ': ' + difference(old, network())}."

    def with_before(self, key: object, here: Square) -> Square:
        """Keep what was measured; return it with what was measured the same way on the former version.

        Args:
            key: by which element, on which data.
        """
        kept = self.measured.get(here.model)
        then, made = ({}, ()) if kept is None or kept[0] != key else kept[1:]
        self.measured[here.model] = (key, {**then, **here.measures}, here.guilty if here.verdict else made)
        before = self.before.get(here.model)
        if before is None or before[0] != key:
            return here
        return replace(here, before=before[1], guilty_before=before[2])


def told_of(error: BaseException, name: str) -> str:
    """Return what is wrong with a network's file as one sentence, with the file and line where they are known."""
    root, told = error, sentence(error)
    if isinstance(error, ModelError) and error.__cause__ is not None:
        root = error.__cause__
        told = f"{type(root).__name__}: {root.msg if isinstance(root, SyntaxError) else root}"
    path = _code(name)
    at = place_of(error, path) if path is not None else None
    where = f"{Path(at[0]).name}, line {at[1]}: " if at is not None else ""
    return f"{where}{' '.join(told.split()).rstrip('.')}. The last good network stays until the file is mended."


def difference(old: nn.Module, new: nn.Module) -> str:
    """Return which tensors of a network made again are as before, new, or gone."""
    was, now = old.state_dict(), new.state_dict()
    kept = [k for k, v in now.items() if k in was and was[k].shape == v.shape and bool((was[k] == v).all())]
    fresh = [k for k in now if k not in kept]
    gone = [k for k in was if k not in now]
    parts = [f"{len(kept)} of {len(now)} tensors are as before"]
    if fresh:
        parts.append(f"other values have {_some(fresh)}")
    if gone:
        parts.append(f"gone are {_some(gone)}")
    return "; ".join(parts)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:MOST]) + (f" and {len(names) - MOST} more" if len(names) > MOST else "")


def title(name: str) -> str:
    """Return the file of a network, in short."""
    return Path(next(iter(files_of(name)), name)).name


def _code(name: str) -> Path | None:
    """Return the Python file of a network's name."""
    path = code_of(name)
    return at_home(path) if path is not None and path.suffix == ".py" else None
