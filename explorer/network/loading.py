"""Make networks: from cards with their shipped weights, or from a person's own file when they have said so.

A Python file is code: it runs only with `trust`. Weights are read as safetensors, or with
`torch.load(weights_only=True)`; a full pickle, TorchScript or .pt2 archive is never opened.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import importlib.util
import inspect
import itertools
import math
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from explorer.data.finding import InputShape
from explorer.declare.card import Card, GraphInput, InputSpec, MeshInput, ModelInfo, SequenceInput
from explorer.spaces.sequence.layouts import Unclear, declared_input, reads_sequences, sequence_input
from explorer.work.limits import MAX_SIDE
from explorer.work.places import RESOURCES

WEIGHTS_MARK = "@"  # "d4-cnn@my.safetensors": that card with the parameters of that file
WEIGHTS = RESOURCES / "weights"
# what a file's network lives on, and what it is shown on first
_DATA = {
    InputSpec: ("grid", "digit-3"),
    GraphInput: ("graph", "karate"),
    SequenceInput: ("time", "sine"),
    MeshInput: ("mesh", "body"),
}
_SEQUENCES = {"values": "sine", "tokens": "alice-characters", "dna": "planted-dna"}
# a folder's name may hold an @ as well
SIGNALS = ("x", "edge_index", "edge_attr", "edge_weight", "position", "batch")
# what a surface alone has; whoever asks for one of these is called with a mesh
OF_A_SURFACE = ("radius", "angle", "transport", "cotan", "mass", "patch_index", "patch_weight")
MESH_SIGNALS = ("x", "edge_index", *OF_A_SURFACE, "position")
GAUGES = ("edge", "principal", "gradient")
_NAME = re.compile(r"(?P<base>.+\.py:[^@:/\\]*|[^@/\\]+)(?:@(?P<weights>.+))?", re.DOTALL)


class ModelError(ValueError):
    """A model that cannot be made; one sentence, with `where`: the card, file or parameter."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(message)
        self.where = where


def split_name(name: str) -> tuple[str, str]:
    """Return (model, weights file or "") of a model's name: "d4-cnn@my.safetensors" or "net.py:Net@my.safetensors"."""
    found = _NAME.fullmatch(name)
    return (found["base"], found["weights"] or "") if found else (name, "")


def find_card(name: str, cards: Mapping[str, Card], trust: bool = False) -> Card:
    """Return the card called `name`, or one made for "file.py:callable"; with "@file", with the weights of that file.

    Raises:
        ModelError: unknown, or a file without `trust`.
    """
    if name in cards:
        return cards[name]
    base, weights = split_name(name)
    if weights:
        card = find_card(base, cards, trust)
        return replace(
            card, name=name, title=f"{card.title}, {Path(weights).name}", weights=str(Path(weights).resolve())
        )
    path, colon, attribute = base.rpartition(":")
    if colon and path.endswith(".py"):
        return replace(file_card(Path(path).expanduser(), attribute, trust), name=name)
    if base.endswith(".py") and Path(base).is_file():
        names = _defined(Path(base))
        hint = f": it defines {', '.join(names[:8])}{', …' if len(names) > 8 else ''}" if names else ""
        raise ModelError(name, f"say what in {base} makes the network, {Path(base).name}:NAME{hint}")
    if base.endswith((".pt2", ".pt", ".pth", ".pkl", ".ts", ".torchscript")):
        how = f"give file.py:callable with --trust, and file.py:callable{WEIGHTS_MARK}{base} if it holds weights alone"
        raise ModelError(name, f"{name} may hold code, so it is not opened as a model; {how}")
    if base.endswith(".safetensors"):
        how = f"put a model's name before it, as in d4-cnn{WEIGHTS_MARK}{base}"
        raise ModelError(name, f"{name} holds weights and no network; {how}")
    if Path(name).expanduser().exists():
        raise ModelError(
            name, f"{name} is no model; give a card's name ('list models' names them all) or file.py:callable"
        )
    near = get_close_matches(name, cards, 1, 0.5)
    hint = f"did you mean {near[0]!r}?" if near else "'list models' names them all"
    raise ModelError(name, f"there is no model {name!r}; {hint}")


def file_card(path: Path, attribute: str, trust: bool) -> Card:
    """Return a card for a callable in a Python file: a function or class that makes an nn.Module, or a module.

    The file may say INPUT_SHAPE = (channels, height, width), None for any size, and LABELS, the names of the outputs.
    A network on graphs says INPUT_SIGNALS = ("x", "edge_index", ...), in the order of its arguments, and may say
    INPUT_CHANNELS, the width of x; one whose forward has an argument called edge_index needs not say it.
    A network on sequences may say INPUT_KIND ("values", "tokens", "dna"), INPUT_LAYOUT ("NTC", ...), INPUT_CHANNELS and
    INPUT_STEPS; one with recurrent layers, attention or temporal convolutions needs not say it (`sequence_layouts`).
    One that names what only a surface has, "radius", "angle", "transport", "cotan", "mass", "patch_index" or
    "patch_weight", is called with a mesh; INPUT_FEATURES, what x is made of, and INPUT_GAUGE are those of `MeshInput`.
    """
    where = str(path)
    if not path.is_file():
        raise ModelError(where, f"there is no file {path}")
    if not trust:
        raise ModelError(where, f"{path} is Python code, which would be executed: add --trust if you trust it")
    if not attribute.isidentifier():
        raise ModelError(where, f"{attribute!r} after the colon must be the name of a callable in {path}")
    module = _executed(path)
    if not hasattr(module, attribute):
        near = get_close_matches(attribute, _defined(path), 1, 0.5)
        raise ModelError(where, f"{path} defines no {attribute!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    made = getattr(module, attribute)
    if not isinstance(made, nn.Module) and not callable(made):
        kind = type(made).__name__
        raise ModelError(
            where, f"{attribute} in {path} is of type {kind}, neither a network nor something that makes one"
        )

    def build(**_: float) -> nn.Module:
        network = copy.deepcopy(made) if isinstance(made, nn.Module) else made()
        if not isinstance(network, nn.Module):
            kind = type(network).__name__
            raise ModelError(where, f"{attribute} in {path} returned {kind}, not a torch.nn.Module")
        return network

    name = f"{path}:{attribute}"
    declared = getattr(made, "input_shape", getattr(module, "INPUT_SHAPE", None))
    spec: InputSpec | GraphInput | SequenceInput | MeshInput | None
    spec = _mesh_input(made, module, where, lambda: _built(name, build))
    if spec is None:
        spec = _graph_input(made, module, where, lambda: _built(name, build))
    if spec is None and declared is None:
        spec = _sequence_input(made, module, where, _built(name, build))
    if spec is None:
        spec = InputSpec(
            _input_shape(_built(name, build), where) if declared is None else _declared_shape(declared, where)
        )
    domain, sample = _DATA[type(spec)]
    if isinstance(spec, SequenceInput):
        sample = _SEQUENCES[spec.kind]
    labels = getattr(module, "LABELS", ())
    if isinstance(labels, str) or not isinstance(labels, list | tuple) or not all(isinstance(n, str) for n in labels):
        raise ModelError(where, f"{path}: LABELS must be a list of texts, not {labels!r:.60}")
    return Card(
        name=name, title=f"{attribute} ({path.name})", rows=(), reference=where, equation="",
        summary=(inspect.getdoc(made) or "Your own model.").split("\n\n")[0], build=build, input=spec,
        domain=domain, sample=sample,
        labels=tuple(labels), source=(made if inspect.isclass(made) or inspect.isfunction(made) else type(made),),
    )  # fmt: skip


def _sequence_input(made: object, module: ModuleType, where: str, network: nn.Module) -> SequenceInput | None:
    """Return what a network on sequences eats, or None for one that takes images."""
    try:
        told = declared_input(made, module)
        if not {"kind", "layout", "steps"} & set(told) and not reads_sequences(network):
            return None
        return sequence_input(network, told)
    except Unclear as error:
        raise ModelError(where, f"{where}: {error}") from None


def _mesh_input(made: object, module: ModuleType, where: str, network: Callable[[], nn.Module]) -> MeshInput | None:
    """Return what a network on meshes eats, or None for one that asks for nothing that only a surface has."""
    signals = getattr(made, "input_signals", getattr(module, "INPUT_SIGNALS", None))
    forward = getattr(made, "forward", None)
    if signals is None and forward is not None and (isinstance(made, nn.Module) or inspect.isclass(made)):
        names = [p.name for p in inspect.signature(forward).parameters.values() if p.name != "self"]
        signals = list(itertools.takewhile(lambda n: n in MESH_SIGNALS, names))
    if not isinstance(signals, list | tuple) or not any(s in OF_A_SURFACE for s in signals):
        return None
    if not all(s in MESH_SIGNALS for s in signals) or signals[0] != "x":
        raise ModelError(where, f"{where}: INPUT_SIGNALS must begin with 'x' and name {', '.join(MESH_SIGNALS)}")
    channels = getattr(made, "input_channels", getattr(module, "INPUT_CHANNELS", None))
    if channels is not None and (not isinstance(channels, int) or isinstance(channels, bool) or channels < 1):
        raise ModelError(where, f"{where}: INPUT_CHANNELS must be a whole number above 0, not {channels!r:.60}")
    features = getattr(made, "input_features", getattr(module, "INPUT_FEATURES", "hks"))
    if not isinstance(features, str):
        raise ModelError(where, f"{where}: INPUT_FEATURES must be a text, not {features!r:.60}")
    gauge = getattr(made, "input_gauge", getattr(module, "INPUT_GAUGE", "edge"))
    if gauge not in GAUGES:
        raise ModelError(where, f"{where}: INPUT_GAUGE must be one of {', '.join(GAUGES)}, not {gauge!r:.60}")
    width = _first_width(network()) if channels is None and features == "hks" else channels
    return MeshInput(channels=width, signals=tuple(signals), features=features, gauge=gauge)


def _graph_input(made: object, module: ModuleType, where: str, network: Callable[[], nn.Module]) -> GraphInput | None:
    """Return what a network on graphs eats, or None for one that takes images."""
    signals = getattr(made, "input_signals", getattr(module, "INPUT_SIGNALS", None))
    channels = getattr(made, "input_channels", getattr(module, "INPUT_CHANNELS", None))
    forward = getattr(made, "forward", None)
    if signals is None and forward is not None and (isinstance(made, nn.Module) or inspect.isclass(made)):
        names = [p.name for p in inspect.signature(forward).parameters.values() if p.name != "self"]
        # the leading ones that a graph has; what follows must have defaults, or the call says what is missing
        known = list(itertools.takewhile(lambda n: n in SIGNALS, names))
        signals = known if "edge_index" in known else None
    if signals is None:
        return None
    listed = isinstance(signals, list | tuple)
    if not listed or not all(s in SIGNALS for s in signals) or tuple(signals)[:1] != ("x",):
        raise ModelError(where, f"{where}: INPUT_SIGNALS must begin with 'x' and name {', '.join(SIGNALS)}")
    if channels is not None and (not isinstance(channels, int) or isinstance(channels, bool) or channels < 1):
        raise ModelError(where, f"{where}: INPUT_CHANNELS must be a whole number above 0, not {channels!r:.60}")
    if channels is None:
        channels = _first_width(network())
    return GraphInput(channels=channels, signals=tuple(signals))


def _first_width(network: nn.Module) -> int | None:
    """Return how many channels the first layer of a network takes, where it says so."""
    for m in network.modules():
        if isinstance(width := getattr(m, "in_channels", getattr(m, "in_features", None)), int) and width > 0:
            return width
    return None


def _executed(path: Path) -> ModuleType:
    """Run a Python file as a module of its own, with its folder importable, as `python file.py` has it."""
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]
    name = "equiscope_user_" + re.sub(r"\W", "_", path.stem) + "_" + digest
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and inspect look there
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        told = f"{path} could not be run: {type(error).__name__}: {error}"
        raise ModelError(str(path), told + _line(error, path)) from error
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
    return module


def _line(error: BaseException, path: Path) -> str:
    """Return " (line n)" for the innermost line of a file that an exception came through."""
    steps = [step for step in traceback.extract_tb(error.__traceback__) if Path(step.filename) == path]
    return f" (line {steps[-1].lineno})" if steps else ""


def _defined(path: Path) -> list[str]:
    """Return the functions and classes of a Python file, which is read and not executed."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return []
    kinds = (ast.FunctionDef, ast.ClassDef)
    return [node.name for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_")]


def _declared_shape(shape: object, where: str) -> InputShape:
    if not isinstance(shape, list | tuple) or len(shape) != 3 or not isinstance(shape[0], int):
        raise ModelError(where, f"{where}: INPUT_SHAPE must be (channels, height, width), not {shape!r:.60}")
    channels, height, width = shape
    for side in (channels, *(s for s in (height, width) if s is not None)):
        if not isinstance(side, int) or isinstance(side, bool) or not 1 <= side <= MAX_SIDE:
            raise ModelError(
                where, f"{where}: INPUT_SHAPE must hold whole numbers from 1 to {MAX_SIDE}, not {side!r:.60}"
            )
    return (channels, height, width)


def _input_shape(model: nn.Module, where: str) -> InputShape:
    """Return what the first convolution eats: its input channels, any size.

    Raises:
        ModelError: there is none, and a dense layer eats vectors, whose image size nobody knows.
    """
    for module in model.modules():
        # 0 is what a lazy convolution says
        if isinstance(channels := getattr(module, "in_channels", None), int) and channels > 0:
            return (channels, None, None)
    dense = next((m for m in model.modules() if isinstance(m, nn.Linear)), None)
    if dense is None:
        return (1, None, None)
    side = math.isqrt(dense.in_features)
    example = f"(1, {side}, {side})" if side**2 == dense.in_features else "(channels, height, width)"
    raise ModelError(
        where,
        f"{where}: the first layer takes {dense.in_features} numbers, and an image is given; say in the file of what "
        f"size, INPUT_SHAPE = {example}",
    )


def load_model(
    card: Card,
    params: Mapping[str, float] | None = None,
    weights: Path | None = None,
    tell: Callable[[str], object] = lambda note: None,
) -> nn.Module:
    """Build the card's network with its shipped weights (or those of a file), in eval mode.

    Args:
        tell: hears of the shipped weights that a parameter has left without a place.

    Raises:
        ModelError: an unknown parameter, or weights that do not fit.
    """
    values = {p.name: p.default for p in card.params}
    for name, value in (params or {}).items():
        if name not in values:
            known = ", ".join(values) or "none"
            raise ModelError(card.name, f"{card.name} has no parameter {name!r}; it has: {known}")
        values[name] = value
    model = _built(card.name, partial(card.build, **values))
    path = weights or (WEIGHTS / card.weights if card.weights else None)
    if path is not None:
        # a person's own file has to fit; shipped weights may leave what a parameter has reshaped as it is
        for note in load_weights(model, path, strict=path.parent != WEIGHTS):
            tell(note)
    return model.eval()


def _built(name: str, build: Callable[[], nn.Module]) -> nn.Module:
    """Build a network; an untrained one must be the same every time."""
    state = torch.get_rng_state()
    try:
        torch.manual_seed(0)
        return build()
    except (ModelError, torch.OutOfMemoryError):
        raise
    except (Exception, SystemExit) as error:
        told = f"{name} could not be built: {type(error).__name__}: {error}"
        raise ModelError(name, told + _line(error, Path(name.rpartition(":")[0]))) from error
    finally:
        torch.set_rng_state(state)


def load_weights(model: nn.Module, path: Path, strict: bool = True) -> tuple[str, ...]:
    """Read safetensors (or a weights-only checkpoint) into the model.

    Args:
        strict: refuse a file that does not fit in every tensor; else what fits is loaded, and the rest left fresh.

    Returns:
        one sentence about what was left fresh, or nothing.

    Raises:
        ModelError: no readable file, or with `strict` one that does not fit.
    """
    tensors = read_weights(path)
    own = model.state_dict()
    misfits = [k for k, v in tensors.items() if k not in own or own[k].shape != v.shape]
    missing = [k for k in own if k not in tensors]
    if strict and (misfits or missing):
        first = (misfits or missing)[0]
        what = "does not fit" if misfits else "is missing"
        counts = f"{len(misfits)} misfit(s), {len(missing)} missing"
        raise ModelError(str(path), f"{path.name}: the tensor {first!r} {what} this network ({counts})")
    fitting = {k: v for k, v in tensors.items() if k not in misfits}
    model.load_state_dict(fitting, strict=False)
    fresh = [k for k in own if k not in fitting]
    if not fresh:
        return ()
    names = ", ".join(fresh[:6]) + (", …" if len(fresh) > 6 else "")
    return (f"{path.name} fits {len(fitting)} of {len(own)} tensors; untrained are {names}",)


def read_weights(path: Path) -> dict[str, Tensor]:
    """Return {name: float tensor} of a safetensors file or a weights-only checkpoint; nothing is executed."""
    if not path.is_file():
        hint = "; 'train' makes shipped weights again" if path.parent == WEIGHTS else ""
        raise ModelError(str(path), f"there is no weights file {path}{hint}")
    tensors: Any
    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            tensors = load_file(path)
        else:
            tensors = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ModelError(str(path), f"{path.name} is no readable weights file: {reason[:200]}") from error
    if not isinstance(tensors, dict):
        raise ModelError(str(path), f"{path.name} holds a {type(tensors).__name__}, not tensors by name")
    if "state_dict" in tensors and isinstance(tensors["state_dict"], dict):
        tensors = tensors["state_dict"]
    # weights are stored in half precision to stay small; networks are built in float32
    return {k: v.float() if v.is_floating_point() else v for k, v in tensors.items() if isinstance(v, Tensor)}


def source_of(objects: tuple[Any, ...]) -> str:
    """Return the source of classes and functions, one after the other; what has none is left out."""
    texts = []
    for item in objects:
        try:
            texts.append(inspect.getsource(item))
        except (OSError, TypeError):
            continue
    return "\n\n".join(text.rstrip() for text in texts)


def _shape_of(spec: InputSpec | GraphInput | SequenceInput | MeshInput) -> tuple[int | str | None, ...]:
    """Return what a network takes, for reading: (channels, height, width), or what of a graph."""
    if isinstance(spec, InputSpec):
        return spec.shape
    if isinstance(spec, SequenceInput):
        return ("steps", spec.channels)
    places = "vertices" if isinstance(spec, MeshInput) else "nodes"
    return (places, spec.channels, *(name for name in spec.signals if name != "x"))


def model_info(card: Card) -> ModelInfo:
    """Return what of a card crosses to the window."""
    builder: Callable[..., Any] = card.build
    return ModelInfo(
        name=card.name, title=card.title, domain=card.domain, groups=card.groups, rows=card.rows,
        reference=card.reference, equation=card.equation, summary=card.summary, notes=card.notes, params=card.params,
        sample=card.sample, labels=card.labels, input_shape=_shape_of(card.input),
        trained=card.weights is not None and (WEIGHTS / card.weights).is_file(), trainable=card.train is not None,
        source=source_of(card.source or (builder,)),
    )  # fmt: skip
