"""Hold the choices of a person as one frozen value. Undo, sessions and "copy as command" follow from that."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from explorer.declare.elements import Step, chain_text, inverse_steps, transforms
from explorer.declare.registry import PLUGINS
from explorer.declare.states.interventions import Intervention
from explorer.declare.states.model_name import code_of, several
from explorer.state.flags import FLAGS
from explorer.work.files.places import COMMAND


@dataclass(frozen=True, slots=True)
class State:
    """The whole of what a window shows, without any tensor.

    Attributes:
        model: card name, or "file.py:callable".
        params: values of the card's parameters, ((name, value), ...), only those that differ from the default.
        compare: a second model beside the first on the same element and orbit, or ""; on graphs also a third, with a
            comma between the two names.
        sample: sample name, file path, or "random:1x1x29x29".
        steps: the group element, as a chain of transform steps, the first acting first.
        layer: the layer on the stage; "" means the first one worth seeing. With `compare`, the same relative depth.
        channel: the channel enlarged, or None for the whole grid.
        pixel: (row, column) clicked on a map of the layer, whose receptive field is shown, or None.
        node: the selected node of a graph, numbered as in x, or None.
        other: the node at the other end of the selected pair or edge (`other` sends to `node`), or None.
        untransform: pull the answers back: show rho'(g)^-1 F(rho(g) x) beside F(x).
        truncate: after how many steps the state is detached where the gradient through time is taken (truncated
            backpropagation), or None: never.
        gradient: what the gradient by the parameters is taken of: "norm" of the output, the number of one of its
            entries, or "" for none.
        orbit: name of the transform whose parameter the orbit curve runs over.
        device: "auto", "cpu" or "cuda:0".
        dtype: "float32" or "float64".
        seed: for probes, random elements and random data.
        overrides: field types corrected by the person, ((layer, field text), ...).
        interventions: what is changed inside the first model, in the order in which it was done.
        saliency: how it is asked which pixels an entry of the answer depends on: "occlusion", "gradient:3"; "" not.
        watched: layers that the person watches: measured in every frame, and shown alone where that is wished.
        against: another run that the layers are compared with, as `explorer.state.runs` writes it, or "".
        latent: what is looked at in the plane of codes, as `explorer.declare.states.latent` writes it, or "".
        laws: the person has asked which symmetries the network keeps; they are tested in idle time.
    """

    model: str = "d4-cnn"
    params: tuple[tuple[str, float], ...] = ()
    compare: str = ""
    sample: str = ""
    steps: tuple[Step, ...] = ()
    layer: str = ""
    channel: int | None = None
    pixel: tuple[int, int] | None = None
    node: int | None = None
    other: int | None = None
    untransform: bool = False
    truncate: int | None = None
    gradient: str = ""
    orbit: str = "rotate"
    device: str = "auto"
    dtype: str = "float32"
    seed: int = 0
    overrides: tuple[tuple[str, str], ...] = ()
    interventions: tuple[Intervention, ...] = ()
    saliency: str = ""
    watched: tuple[str, ...] = ()
    against: str = ""
    laws: bool = False
    latent: str = ""

    @property
    def compared(self) -> tuple[str, ...]:
        """Return the names of the models beside the first."""
        return several(self.compare)

    @property
    def epoch(self) -> tuple[Any, ...]:
        """Return what F(x) depends on: a frame of another epoch is stale and must not be shown."""
        made = (self.model, self.params, self.compare, self.overrides, self.interventions)
        return (*made, self.sample, self.device, self.dtype, self.seed)

    def step(self, name: str) -> Step | None:
        """Return the last step of that transform, the one that its controls edit."""
        return next((s for s in reversed(self.steps) if s.name == name), None)

    def with_step(self, name: str, values: tuple[float, ...]) -> State:
        """Return the state with that transform's last step replaced, or appended when there is none."""
        transform = transforms()[name]
        clamped = Step(name, tuple(p.clamp(v) for p, v in zip(transform.params, values, strict=True)))
        for i in range(len(self.steps) - 1, -1, -1):
            if self.steps[i].name == name:
                return replace(self, steps=(*self.steps[:i], clamped, *self.steps[i + 1 :]))
        return replace(self, steps=(*self.steps, clamped))

    def inverted(self) -> State:
        """Return the state with the inverse element."""
        return replace(self, steps=inverse_steps(self.steps))

    def command(self) -> str:
        """Return the command line that opens the window on this state."""
        # a space, a model or a transform of one's own is found where its folder is named
        plugins = os.environ.get(PLUGINS, "")
        folders = [str(Path(folder).absolute()) for folder in plugins.split(os.pathsep) if folder]
        words = [
            *(["env", f"{PLUGINS}={os.pathsep.join(folders)}"] if folders else []),
            *COMMAND,
            "--model",
            self.model,
        ]
        for name, value in self.params:
            words += ["--set", f"{name}={value:g}"]
        for one in self.interventions:
            words += ["--intervene", str(one)]
        for flag, text in (
            ("--compare", self.compare),
            ("--data", self.sample),
            ("--transform", chain_text(self.steps)),
            ("--layer", self.layer),
        ):
            if text:
                words += [flag, text]
        told = ("device", "dtype", "seed", "node", "truncate", "saliency")
        if self.orbit != orbit_for(State(), self.steps):  # which it is where nothing is said of it
            words += ["--orbit", self.orbit]
        for f in fields(self):
            if f.name in told and getattr(self, f.name) != f.default:
                words += [f"--{f.name}", str(getattr(self, f.name))]
        defaults = {f.name: f.default for f in fields(self)}
        for own in FLAGS:
            if (value := getattr(self, own.field)) != defaults[own.field]:
                words += own.words(value)
        if any(code_of(name) for name in (self.model, *self.compared)):
            words.append("--trust")  # whoever copies it has said yes to that file
        return shlex.join(words)


def orbit_for(state: State, steps: tuple[Step, ...]) -> str:
    """Name the transform that the orbit runs over with other steps.

    It is one that was just put in where that of `state` is not in use: the curve is then that of what moves.
    """
    before, names = {step.name for step in state.steps}, [step.name for step in steps]
    fresh = [name for name in names if name not in before and transforms()[name].orbit is not None]
    return fresh[-1] if fresh and state.orbit not in names else state.orbit


class History:
    """Undo and redo over States. A drag is one entry: successive changes with the same `tag` are merged."""

    def __init__(self, state: State, limit: int = 500) -> None:
        self._past: list[State] = []
        self._future: list[State] = []
        self._limit = limit
        self._tag: str | None = None
        self.state = state

    def change(self, state: State, tag: str | None = None) -> bool:
        """Make `state` the present; return whether anything changed."""
        if state == self.state:
            return False
        if tag is None or tag != self._tag:
            self._past = [*self._past, self.state][-self._limit :]
        self._tag = tag
        self._future.clear()
        self.state = state
        return True

    def give_up(self, state: State) -> None:
        """Make `state` the present again after what came later could not be shown: no trace of that is left."""
        while self._past and self.state != state:
            self.state = self._past.pop()
        self.state, self._tag = state, None

    def end_gesture(self) -> None:
        """Close a drag: the next change is a new entry even with the same tag."""
        self._tag = None

    @property
    def can_undo(self) -> bool:
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        return bool(self._future)

    def undo(self) -> State:
        if self._past:
            self._future.append(self.state)
            self.state = self._past.pop()
        self._tag = None
        return self.state

    def redo(self) -> State:
        if self._future:
            self._past.append(self.state)
            self.state = self._future.pop()
        self._tag = None
        return self.state
