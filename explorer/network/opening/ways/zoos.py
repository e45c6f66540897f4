"""Networks of timm and torchvision by name, with random weights: "timm:vit_tiny_patch16_224(img_size=64)"."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from difflib import get_close_matches
from types import ModuleType
from typing import Any

from torch import nn

from explorer.declare.card import Card
from explorer.declare.states.model_name import WEIGHTS_MARK
from explorer.network.input.recognise import Recognised
from explorer.network.opening.files.trust import Trust
from explorer.network.opening.loading import built, own_card
from explorer.network.opening.packages import extra
from explorer.network.opening.refusals import ModelError
from explorer.network.opening.typed_arguments import literals
from explorer.network.opening.way import Way

_NAME = re.compile(r"(?P<name>[A-Za-z0-9_.]+)(?:\((?P<arguments>.*)\))?", re.DOTALL)


@dataclass(frozen=True)
class Zoo(Way):
    """A package that makes networks by name."""

    name = "timm"

    @property
    def package(self) -> str:  # type: ignore[override]
        return self.name

    @property
    def prefix(self) -> str:  # type: ignore[override]
        return f"{self.name}:"

    def takes(self, base: str) -> bool:
        return base.startswith(self.prefix)

    def listed(self) -> tuple[str, ...]:
        return tuple(self.prefix + name for name in self.names(extra(self.package, self.prefix)))

    @property
    def form(self) -> str:  # type: ignore[override]
        return f"{self.name}:NAME or {self.name}:NAME(num_classes=10), with random weights or {WEIGHTS_MARK}FILE"

    def card(self, base: str, trust: bool | Trust) -> Card:
        found = _NAME.fullmatch(base.partition(":")[2])
        if found is None:
            raise ModelError(base, f"{base!r} is no network of {self.name}; write {self.name}:NAME, nothing is fetched")
        package = extra(self.name, base)
        args, named = literals(found["arguments"] or "", base)
        if args:
            raise ModelError(
                base, f"{self.name} takes arguments by name, as in {self.name}:{found['name']}(num_classes=10)"
            )
        known = self.names(package)
        if found["name"] not in known:
            near = get_close_matches(found["name"], known, 3, 0.5)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise ModelError(base, f"{self.name} has no network {found['name']!r}{hint}")

        def build(**_: float) -> nn.Module:
            return self.made(package, found["name"], named)

        network = built(base, build)
        said = self.said(network)
        own = Recognised(network, said, base, lambda: network)
        note = f"{found['name']} has random weights, unless a file is given: {base}{WEIGHTS_MARK}weights.safetensors"
        return own_card(own, base, base, f"{type(network).__name__} of {self.name}", build, notes=(note,))

    def names(self, package: ModuleType) -> list[str]:
        return list(package.list_models())

    def made(self, package: ModuleType, name: str, named: dict[str, Any]) -> nn.Module:
        made: nn.Module = package.create_model(name, pretrained=False, **named)
        return made

    def said(self, network: nn.Module) -> ModuleType:
        """Return what the network says of its input, as a file would."""
        said: Any = ModuleType(self.name)
        told = getattr(network, "pretrained_cfg", None) or {}
        size = getattr(getattr(network, "patch_embed", None), "img_size", None)
        if size is None and told.get("fixed_input_size"):
            size = told["input_size"][1:]
        if size is not None:
            said.INPUT_SHAPE = (_channels(network), *size)
        module: ModuleType = said
        return module


class TorchVision(Zoo):
    """torchvision's own models."""

    name = "torchvision"

    def names(self, package: ModuleType) -> list[str]:
        return list(package.models.list_models())

    def made(self, package: ModuleType, name: str, named: dict[str, Any]) -> nn.Module:
        builder = package.models.get_model_builder(name)
        if "weights_backbone" in inspect.signature(builder).parameters:
            named = {**named, "weights_backbone": None}  # its default is to fetch some
        made: nn.Module = builder(weights=None, **named)
        return made

    def said(self, network: nn.Module) -> ModuleType:
        said: Any = ModuleType(self.name)
        if isinstance(side := getattr(network, "image_size", None), int):
            said.INPUT_SHAPE = (_channels(network), side, side)
        module: ModuleType = said
        return module


WAY = (Zoo(), TorchVision())


def _channels(network: nn.Module) -> int:
    return next((m.in_channels for m in network.modules() if isinstance(m, nn.Conv2d)), 3)
