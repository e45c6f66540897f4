"""Binary trees: values at the joints of a complete binary tree, of which no child is the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from equiscope.fields import INVARIANT, Domain, FieldType, Scalar
from equiscope.spaces import Answer, Domains, Form, Inference, Kind, Question, Scene, Space, bare


@dataclass(frozen=True, slots=True)
class Joints(Domain):
    """All joints of the tree, in heap order: the children of k are 2k+1 and 2k+2."""

    name = "joint"
    space = "tree"
    batched = False
    counted = True


@dataclass(frozen=True, slots=True)
class Tips(Domain):
    """The joints without children, from left to right."""

    name = "tip"
    space = "tree"
    batched = False
    counted = True


JOINT = FieldType(Joints())
JOINT_INPUT = FieldType(Joints(), Scalar(intensity=True))
TIP = FieldType(Tips())


@dataclass(frozen=True, slots=True)
class TreeInput(Form):
    """Take x of shape (joints, channels)."""

    space = "tree"
    data = "bintree"
    channels: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class TreePart:
    """The part that a view draws: x, ρ(g)x, and where each joint has gone."""

    data: ClassVar[str] = "bintree"
    x: np.ndarray
    x_g: np.ndarray
    order: np.ndarray


class TreeInference(Inference):
    def __init__(self, joints: int) -> None:
        self.joints = joints
        self.tips = (joints + 1) // 2

    def fits(self, field: FieldType, value: Any) -> bool:
        if isinstance(field.domain, Joints):
            return value.shape[0] == self.joints
        if isinstance(field.domain, Tips):
            return value.shape[0] == self.tips
        return True

    def infer(
        self, module: Any, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...]
    ) -> FieldType | None:
        declared = getattr(module, "out_field", None)
        return declared if isinstance(declared, FieldType) else self.functional(shape)

    def functional(self, shape: tuple[int, ...]) -> FieldType | None:
        if shape[:1] == (self.joints,):
            return JOINT.guess()
        if shape[:1] == (self.tips,):
            return TIP.guess()
        return INVARIANT.guess() if len(shape) < 2 or shape[0] == 1 else None

    def another(self, inputs: Any, seed: int) -> Any:
        import torch

        rng = torch.Generator().manual_seed(seed)
        return inputs.with_x(inputs.x[torch.randperm(len(inputs.x), generator=rng)])


class TreeSpace(Space):
    """Values on binary trees."""

    name = "tree"
    kinds = (
        Kind(
            "bintree",
            word="binary tree",
            group="swaps",
            sample="family",
            title="Binary trees",
            one="a binary tree",
            place=50,
            showcase="swap-children:0",
            move="swap children",
        ),
    )
    rank = 45
    domains: ClassVar[Domains] = {"joint": bare(Joints()), "tip": bare(Tips())}
    examples = ("joint scalar", "tip scalar")
    orbits = ("swap-children",)
    form = TreeInput
    questions = (Question("channels", "Channels", "How many values there are at a joint.", "whole"),)
    scenes = (Scene("tree", "tree-sum", "swap-children:0"),)

    def sample_of(self, text: str, seed: int) -> Any:
        kind, colon, depth = text.partition(":")
        if kind != "bintree" or not colon:
            return None
        if not depth.isdecimal() or not 1 <= int(depth) <= 10:
            raise ValueError(f"{text!r}: write bintree:DEPTH, with a depth from 1 to 10")
        from tree.samples import tree

        return tree(text, int(depth), seed)

    def recognise(self, network: Any) -> Form | None:
        channels = network.said("tree_channels")
        return None if channels is None else TreeInput(channels)

    def takes(self, form: Form) -> tuple[int | str | None, ...]:
        return ("joints", getattr(form, "channels", None))

    def fit(self, sample: Any, form: Form) -> Any:
        sample = super().fit(sample, form)
        wanted = getattr(form, "channels", None)
        if sample.x.values.shape[1] != wanted:
            here = sample.x.values.shape[1]
            raise ValueError(f"{sample.name!r} has {here} values at a joint, and the network takes {wanted}")
        return sample

    def inputs(self, sample: Any, form: Form, device: Any, dtype: Any) -> Any:
        from equiscope.spaces import from_signals

        return from_signals(sample, ("x",), device, dtype)

    def inference(self, inputs: Any) -> Inference:
        return TreeInference(inputs.places)

    def thumbnail(self, sample: Any, side: int) -> np.ndarray:
        picture = np.full((side, side, 3), 255, np.uint8)
        values = np.asarray(sample.x.values)[:, 0]
        levels = int(np.log2(len(values) + 1))
        for k, v in enumerate(values):
            level = int(np.log2(k + 1))
            at = (k - (2**level - 1) + 0.5) / 2**level
            r, c = int((level + 0.5) / levels * side), int(at * side)
            picture[r - 1 : r + 2, c - 1 : c + 2] = (0, 0, int(255 * abs(v)) % 256)
        return picture

    def answer(self, square: Any, place: int | None) -> Answer | None:
        return None if place is None else Answer(square.labels, f"joint {place}")

    def part(self, one: Any) -> TreePart:
        joints = one.p.inputs.places
        order = np.array([one.element.place_of(k, joints) for k in range(joints)])
        x = one.p.x.detach().cpu().numpy().copy()
        moved = np.empty_like(x)
        moved[order] = x
        return TreePart(x, moved, order)


SPACE = TreeSpace()
