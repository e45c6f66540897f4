"""Folders of Hugging Face's layout: config.json beside safetensors, made by classes of `transformers` alone.

Nothing in the folder is executed: no pickle is read, no Python file of its own, and nothing is fetched.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import nn

from explorer.declare.card import Card
from explorer.network.input.recognise import Recognised
from explorer.network.opening.files.contents import FileError
from explorer.network.opening.files.looking import contents
from explorer.network.opening.files.trust import Trust
from explorer.network.opening.loading import built, copied_each_time, own_card
from explorer.network.opening.packages import extra
from explorer.network.opening.refusals import Misfit, ModelError
from explorer.network.opening.way import Way
from explorer.work.files.places import at_home

CONFIG = "config.json"
MOST = 6  # names in a sentence
_SOUNDS = ("input_values", "input_features")
_FRAMES = 64  # of the first sound that a network is shown
_TOKENIZERS = ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "vocab.json", "spiece.model", "tokenizer.model")


@dataclass(frozen=True)
class Folder(Way):
    """A model's folder."""

    name = "folder"
    form = "a folder with config.json and model.safetensors, through transformers"
    package = "transformers"

    def takes(self, base: str) -> bool:
        return (at_home(base) / CONFIG).is_file()

    def card(self, base: str, trust: bool | Trust) -> Card:
        folder = at_home(base)
        transformers = extra(self.package, base)
        notes: list[str] = []
        network = _loaded(transformers, folder, base, notes)
        for module in network.modules():
            if module is network or any(True for _ in module.children()):  # each of them may be run alone
                module.register_forward_pre_hook(in_its_precision)
        said = _said(network, folder, base)
        own = Recognised(network, said, base, lambda: network)
        summary = f"{type(network).__name__} of transformers {transformers.__version__}"
        labels = _labels(network)
        build = copied_each_time(network)
        card = own_card(own, base, folder.resolve().name, summary, build, labels=labels, notes=tuple(notes))
        return replace(card, sample=said.SAMPLE) if hasattr(said, "SAMPLE") else card


WAY = Folder()


def in_its_precision(network: nn.Module, _: object) -> None:
    """Let a network in double precision make its masks there too: the least number of one overflows in the other.

    The code of transformers makes them in the default precision of torch, which whoever calls a network puts back.
    """
    if next((p.dtype for p in network.parameters() if p.is_floating_point()), None) == torch.float64:
        torch.set_default_dtype(torch.float64)


def _loaded(transformers: ModuleType, folder: Path, base: str, notes: list[str]) -> nn.Module:
    """Return the network of a folder with its weights.

    Raises:
        ModelError: the folder has none that can be read, or they do not fit; in one sentence.
    """
    try:
        found = contents(folder)
    except FileError as error:
        raise ModelError(base, str(error)) from None
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    options = {"local_files_only": True, "trust_remote_code": False}
    try:
        config = transformers.AutoConfig.from_pretrained(folder, **options)
    except Exception as error:
        own = next((d for d in found.dangers if "auto_map" in d), "")
        reason = own or f"transformers {transformers.__version__} does not know it ({_first(error)})"
        raise ModelError(base, f"{folder.name} cannot be made: {reason}") from error
    kind = _class(transformers, config)
    if not found.tensors:
        if any(folder.glob("*.bin")):
            raise ModelError(
                base, f"{folder.name} holds its weights as a pickle, which is not read; save it with "
                "model.save_pretrained(FOLDER), which writes safetensors",
            )  # fmt: skip
        notes.append(f"{folder.name} holds no weights, so those of this network are random")
        return built(base, lambda **_: kind._from_config(config) if hasattr(kind, "_from_config") else kind(config))
    state = torch.get_rng_state()
    try:
        torch.manual_seed(0)  # what the file lacks is drawn
        network, told = kind.from_pretrained(
            folder,
            config=config,
            use_safetensors=True,
            ignore_mismatched_sizes=True,
            output_loading_info=True,
            **options,
        )
    except torch.OutOfMemoryError:
        raise
    except Exception as error:
        raise ModelError(base, f"{folder.name} could not be loaded: {_first(error)}") from error
    finally:
        torch.set_rng_state(state)
    _tell(folder, base, told, notes)
    made: nn.Module = network
    for held in {id(c): c for c in (config, made.config)}.values():
        if hasattr(held, "use_cache"):
            held.use_cache = False  # keys and values of earlier calls are no answer
    return made


def _class(transformers: ModuleType, config: Any) -> Any:
    """Return the class of transformers that the folder names, else the bare model of its type."""
    for name in config.architectures or ():
        found = getattr(transformers, name, None)
        if inspect.isclass(found) and issubclass(found, transformers.PreTrainedModel):
            return found
    return transformers.AutoModel


def _tell(folder: Path, base: str, told: Any, notes: list[str]) -> None:
    """Note what the weights lack and have too much; raise Misfit for a tensor of another shape."""

    def listed(what: str) -> list[Any]:
        value = told.get(what, ()) if isinstance(told, dict) else getattr(told, what, ())
        return sorted(value, key=str)

    if misshaped := listed("mismatched_keys"):
        first = misshaped[0]
        shapes = f" has the shape {tuple(first[1])}, and in this network {tuple(first[2])}" if len(first) > 2 else ""
        name = first if isinstance(first, str) else first[0]
        raise Misfit(
            base, f"{folder.name}: the tensor {name!r}{shapes or ' has another shape than in this network'}; "
            f"{len(misshaped)} tensor(s) do not fit",
        )  # fmt: skip
    if missing := listed("missing_keys"):
        notes.append(f"the weights of {folder.name} lack {_some(missing)}, which are untrained here")
    if unexpected := listed("unexpected_keys"):
        notes.append(f"of the weights of {folder.name} this network has no {_some(unexpected)}")


def _some(names: Sequence[Any]) -> str:
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return ", ".join(map(str, names[:MOST])) + more


def _first(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:200] if lines else 'without a message'}"


def _said(network: nn.Module, folder: Path, base: str) -> ModuleType:
    """Return what the network says of its input, as a Python file would.

    Raises:
        ModelError: it takes what no space has.
    """
    said: Any = ModuleType("folder")
    config: Any = network.config
    takes = set(inspect.signature(network.forward).parameters)
    main = str(getattr(network, "main_input_name", ""))
    if {"input_ids", "pixel_values"} <= takes:
        raise ModelError(
            base, f"{type(network).__name__} takes input_ids and pixel_values at once, text and an image; give "
            "one half of it in a Python file, net.py:NAME, such as model.vision_model",
        )  # fmt: skip
    if main == "pixel_values":
        side = getattr(config, "image_size", None)
        size = (side, side) if isinstance(side, int) else tuple(side) if side else (None, None)
        said.INPUT_SHAPE = (getattr(config, "num_channels", 3), *size)
    elif main == "input_ids":
        text = config.get_text_config() if hasattr(config, "get_text_config") else config
        said.INPUT_KIND, said.INPUT_CHANNELS = "ids", int(text.vocab_size)
        said.INPUT_NAMES = tuple(name for name in ("input_ids", "attention_mask") if name in takes)
        # the encoder alone of a pair is stored with the settings of both
        if getattr(config, "is_encoder_decoder", False) and "decoder_input_ids" in takes:
            said.INPUT_NAMES += ("decoder_input_ids", "decoder_attention_mask")
        if (most := _positions(network, text)) is not None:
            said.INPUT_STEPS = most
        if any((folder / name).is_file() for name in _TOKENIZERS):
            said.INPUT_TOKENIZER = str(folder)
    elif main in _SOUNDS and "decoder_input_ids" in takes:
        raise ModelError(
            base, f"{type(network).__name__} takes {main} and decoder_input_ids at once, a sound and a text; give one "
            "half of it in a Python file, net.py:NAME, such as model.encoder",
        )  # fmt: skip
    elif main in _SOUNDS:
        vars(said).update(_of_sound(config))
    else:
        raise ModelError(base, f"{type(network).__name__} takes {main}, which is no image, no text and no sound")
    module: ModuleType = said
    return module


def _of_sound(config: Any) -> dict[str, object]:
    """Return what a network takes of a sound: its spectrogram, or the wave itself, which has no axis of channels."""
    bands, longest = getattr(config, "num_mel_bins", None), getattr(config, "max_length", None)
    if isinstance(bands, int):
        steps = longest if isinstance(longest, int) and longest > 1 else _FRAMES
        most = {"INPUT_STEPS": longest} if steps == longest else {}
        return most | {"INPUT_LAYOUT": "NTC", "INPUT_CHANNELS": bands, "SAMPLE": f"random:{steps}x{bands}"}
    stride = math.prod(getattr(config, "conv_stride", None) or (1,))
    return {"INPUT_LAYOUT": "CT", "INPUT_CHANNELS": 1, "SAMPLE": f"random:{_FRAMES * stride}x1"}


def _positions(network: nn.Module, config: Any) -> int | None:
    """Return how many tokens the network has places for, None where any number will do."""
    found = next(
        (n for name in ("max_position_embeddings", "n_positions") if isinstance(n := getattr(config, name, None), int)),
        None,
    )
    if found is None or found < 1:
        return None
    tables = [m for name, m in network.named_modules() if isinstance(m, nn.Embedding) and "position" in name]
    # some count places from behind the number that stands for no token
    return found - max((m.padding_idx + 1 for m in tables if m.padding_idx is not None), default=0)


def _labels(network: nn.Module) -> tuple[str, ...]:
    named = getattr(network.config, "id2label", None) or {}
    kind = type(network).__name__
    return tuple(str(named[k]) for k in sorted(named)) if kind.endswith("ForImageClassification") else ()
