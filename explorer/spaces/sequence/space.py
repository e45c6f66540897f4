"""Sequences: values at the steps of time, under delays, reversal and warps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from explorer.declare.space import Domains, Kind, Representations, Scene
from explorer.declare.telling.asking import Declared, Question
from explorer.declare.types.written import Written
from explorer.network.space import Inference
from explorer.spaces.sequence.fields import Steps, Strands, parse_steps
from explorer.spaces.sequence.network.form import EXTENTS, IDS, KINDS, LAYOUTS, NAMED, SequenceInput
from explorer.square.space import Space

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray
    from torch import Tensor, nn

    from explorer.declare.card import Form
    from explorer.declare.elements import Step
    from explorer.declare.inputs import Inputs
    from explorer.declare.samples import Sample
    from explorer.network.input.recognise import Recognised
    from explorer.network.tracing.layers import Layer
    from explorer.square.both_ways import BothWays
    from explorer.square.drawing.answer import Answer
    from explorer.square.frame import Square
    from explorer.square.preparing.prepare import Prepared
    from explorer.state.state import State


TEXT = "text:"  # a sample that is written out: "text:The cat sat."
STEPS = 128  # of data that nobody chose
FIRST = {"values": "sine", "tokens": "alice-characters", "dna": "planted-dna", "ids": "alice-characters"}


class SequenceSpace(Space):
    """Sequences, (steps, channels)."""

    name = "sequence"
    kinds = (
        Kind(
            "sequence",
            word="sequence",
            group="shift",
            sample="sine",
            maker="equiscope.sequence(x)",
            title="Sequences",
            one="a sequence",
            place=30,
            showcase="shift:5",
            otherwise=("shift:2", "shift:1", "reverse"),
            move="shift it",
        ),
    )
    rank = 30
    domains: ClassVar[Domains] = {"step": parse_steps}
    representations: ClassVar[Representations] = {"strands": Written(lambda _: Strands())}
    examples = ("step scalar", "step scalar on axis 1")
    orbits = ("shift",)
    scenes = (Scene("timeline", "lstm", "shift:5", node=60),)
    form = SequenceInput
    questions = (
        Question("kind", "Values", "Measured values, one-hot symbols or DNA, or numbers of tokens.", "choice", KINDS),
        Question("channels", "Channels", "The width of x; any takes what the data have.", "whole"),
        Question("layout", "Axes", "The order of axes: N a batch of one, T steps, C channels.", "choice", LAYOUTS),
        Question(
            "names",
            "Beside tokens",
            "Where it takes numbers of tokens and more, each argument as in text:ids,mask:mask, a mask of ones, or "
            "lengths:length, m:validNT, c:vector5, t:number and y:below10.",
            "named",
            unplaced=True,
            words=NAMED,
        ),
        Question("most", "Steps at most", "The largest number of steps that it is made for.", "whole"),
        Question(
            "sequences",
            "Several sequences",
            "Name and width of each, as in audio:8,text:4: given by name, or in a dict "
            "where the network has no such arguments. Beside sequences also c:vector5, t:number, y:below10, a whole "
            "number, n:length, of how many steps count, and m:validNT, a mask of them.",
            "named",
            sides=1,
            unplaced=True,
            words=EXTENTS,
        ),
    )
    parted = True

    def sample_of(self, text: str, seed: int) -> Sample | None:
        if text.startswith(TEXT):
            from explorer.spaces.sequence.samples.tokens import typed_text

            return typed_text(text.removeprefix(TEXT), text)
        from explorer.spaces.sequence.samples.fillings import filled

        return filled(text, seed)

    def fillings(self, sample: Sample) -> tuple[str, ...]:
        from explorer.data.filling import filling_texts

        # numbers of tokens have no ramp
        measured = all(s.values.ndim == 2 and s.values.dtype.kind == "f" for s in sample.signals.values())
        return filling_texts(sample) if measured else ()

    def fit(self, sample: Sample, form: Form) -> Sample:
        from explorer.spaces.sequence.network.fit import fit_sequence

        assert isinstance(form, SequenceInput)
        if form.sequences:
            from explorer.spaces.sequence.network.several import fit_several

            return fit_several(sample, form)
        return fit_sequence(sample, form)

    def parts(self, sample: Sample) -> int:
        from explorer.spaces.sequence.network.fit import sequences_in

        return sequences_in(sample)

    def part_of(self, sample: Sample, part: str) -> Sample | None:
        from explorer.spaces.sequence.network.fit import one_sequence

        return one_sequence(sample, part)

    def thumbnail(self, sample: Sample, side: int) -> NDArray[np.uint8] | None:
        from explorer.spaces.sequence.drawing.thumbnail import sequence_thumbnail

        return sequence_thumbnail(sample, side)

    def recognise(self, network: Recognised) -> Form | None:
        from explorer.network.input.call_forms import asked
        from explorer.spaces.sequence.network.beside_ids import told_names
        from explorer.spaces.sequence.network.layouts import (
            FEW,
            Unclear,
            begins_with_ids,
            declared_input,
            has_table,
            reads_sequences,
            runs_along_none,
            sequence_input,
        )
        from explorer.spaces.sequence.network.several import said_sequences, several_sequences

        if network.said("input_shape") is not None:
            return None
        made = network.network()
        told = declared_input(network.made, network.module)
        named = said_sequences(told.get("channels")) if told.get("kind", "values") == "values" else None
        needed = network.required()
        along = bool(named or {"kind", "layout", "steps"} & set(told) or reads_sequences(made))
        if not along and not has_table(made) and not network.takes_one():
            return None
        read = () if told or named else asked(network, {}) if network.takes_one() else ()
        names = needed if len(needed) > 1 or network.by_keyword() else read
        # attention may be made of dense layers alone: that numbers of tokens are looked up is told by a trial
        ids = told_names(made, names, FEW) if names else ()
        reads_ids = not (along and told) and begins_with_ids(made, named=ids)
        if not along and not reads_ids:
            return None
        reasons = {"data": "its layers run along the steps of a sequence" if along else "it looks numbers of tokens up"}
        reasons |= dict.fromkeys(("channels", "layout"), "found by trying: so a step of x changes the answer at others")
        reasons |= {name: f"the file says INPUT_{name.upper()} = {value!r:.60}" for name, value in told.items()}
        network.why.update(reasons | {"most": reasons.get("steps", "")})
        if ids and reads_ids and not told:
            network.why["names"] = f"its forward {'reads' if read else 'takes'} {', '.join(names)}"
            return sequence_input(made, {"kind": "ids", "names": ids})
        if named or ((len(needed) > 1 or network.by_keyword()) and told.get("kind", "values") == "values"):
            network.why["sequences"] = reasons["channels"] if named else f"its forward takes ({', '.join(needed)})"
            return several_sequences(made, needed, told)
        found = sequence_input(made, told)
        if not told and not network.says_something() and runs_along_none(made, found):
            raise Unclear(
                "its filters take one step at a time, and the order of steps is nothing to it: they may be a sequence, "
                f"a set or points in space; say which by --input KIND, or in the file INPUT_LAYOUT = {found.layout!r}"
            )
        return found

    def attempts(self, network: nn.Module, kind: str) -> Iterator[Form]:
        from explorer.network.input.arguments import needed_arguments
        from explorer.spaces.sequence.network.layouts import sequence_input
        from explorer.spaces.sequence.network.several import with_extents

        # several are recognised, or refused in words about them, but for what goes along steps in dense layers alone
        if len(needed := needed_arguments(network)) < 2:
            yield sequence_input(network, {})
        elif (beside := with_extents(network, needed)) is not None:
            yield beside

    def declared(self, said: Declared) -> Form:
        form = super().declared(said)
        assert isinstance(form, SequenceInput)
        if form.names and (form.kind != "ids" or form.names[0][1] != IDS):
            raise ValueError(
                "names are of a network on numbers of tokens, kind=ids, which are the first of them, NAME:ids"
            )
        if not form.sequences:
            return form
        from dataclasses import replace

        from explorer.spaces.sequence.network.several import declared_sequences

        layout = form.layout if dict(said.answers).get("layout") else "NTC"
        return replace(declared_sequences(form.sequences, layout, form.most), absent=form.absent)

    def completed(self, form: Form, said: Declared, network: Recognised) -> Form:
        from dataclasses import replace

        from explorer.spaces.sequence.network.layouts import Unclear
        from explorer.spaces.sequence.network.several import several_sequences

        assert isinstance(form, SequenceInput)
        if not form.sequences or dict(said.answers).get("layout"):
            return form
        told = {"steps": form.most}
        try:
            return replace(several_sequences(network.network(), (), told, form.sequences), absent=form.absent)
        except Unclear:  # it is shown as it is said, and runs or says why not
            return form

    def proposed(self, network: Recognised) -> Mapping[str, tuple[Any, str]]:
        from explorer.spaces.sequence.network.several import proposed_sequences

        needed = network.required()
        found = proposed_sequences(network.network(), needed) if len(needed) > 1 else None
        return {} if found is None else {"sequences": (found, f"its forward takes ({', '.join(needed)})")}

    def first_sample(self, form: Form) -> str:
        assert isinstance(form, SequenceInput)
        if form.sequences:
            from explorer.spaces.sequence.network.several import first_data

            return first_data(form.sequences, form.most)
        if form.kind == "values" and (form.channels or 1) > 1:  # a sine would leave all channels but one at zero
            return f"random:{min(STEPS, form.most or STEPS)}x{form.channels}"
        return FIRST[form.kind]

    def takes(self, form: Form) -> tuple[int | str | None, ...]:
        assert isinstance(form, SequenceInput)
        return ("steps", form.channels)

    def inputs(self, sample: Sample, form: Form, device: torch.device, dtype: torch.dtype) -> Inputs:
        from dataclasses import replace

        from explorer.network.input.inputs import from_signals
        from explorer.spaces.sequence.network.inputs import sequence_inputs

        assert isinstance(form, SequenceInput)
        if form.kind == "ids":
            from explorer.spaces.sequence.network.called_by_name import id_inputs

            return id_inputs(sample, form, device, dtype)
        if form.sequences:
            from explorer.spaces.sequence.network.several import several_inputs

            return several_inputs(sample, form, device, dtype)
        made = from_signals(sample, (next(iter(sample.signals)),), device, dtype)
        if form.layout == "TC":
            return made
        return replace(sequence_inputs(made.x, form.layout), names=made.names)

    def reads(self, data: Tensor | Sequence[object]) -> str:
        from torch import Tensor

        from explorer.spaces.sequence.network.several import is_sequence

        if isinstance(data, Tensor):
            return "a tensor of whole numbers alone is taken for" if _symbols(data) else ""
        several = len(data) > 1 and all(map(is_sequence, data))
        return f"a {type(data).__name__} of sequences is taken for" if several else ""

    def given(self, data: Tensor | Sequence[object], seed: int) -> Inputs:
        from torch import Tensor

        several = [data] if isinstance(data, Tensor) else [v for v in data if isinstance(v, Tensor)]
        names = ("x", *(f"x{k}" for k in range(1, len(several))))
        found = self.named(dict(zip(names, several, strict=True)))
        assert found is not None
        return found[1]

    def named(self, tensors: Mapping[str, Tensor]) -> tuple[tuple[str, ...], Inputs] | None:
        from explorer.declare.inputs import Inputs
        from explorer.declare.types.fields import FieldType
        from explorer.spaces.sequence.network.several import named_sequences

        if (real := named_sequences(tensors)) is not None:
            return tuple(tensors), real
        values = tuple(tensors.values())
        if not all(map(_symbols, values)) or len({v.shape[-1] for v in values}) > 1:
            return None
        return tuple(tensors), Inputs(values, tuple(FieldType(Steps(v.ndim - 1)) for v in values), tuple(tensors))

    def settled(self, inputs: Inputs, model: nn.Module) -> Inputs:
        from explorer.spaces.sequence.network.several import settled

        return settled(inputs, model)

    def require_taken(self, inputs: Inputs, model: nn.Module) -> None:
        from explorer.spaces.sequence.network.several import require_time

        require_time(inputs, model)

    def inference(self, inputs: Inputs) -> Inference:
        from explorer.spaces.sequence.network.inference import SequenceInference

        return SequenceInference(inputs)

    def hints(self, module: nn.Module, layer: Layer, name: str, group: str) -> list[str]:
        from explorer.spaces.sequence.network.hints import memory

        return memory(module, name) if group == "shift" else []

    def random_steps(
        self, rng: np.random.Generator, size: tuple[int, int], kind: str, exact: bool, chosen: Sequence[Step]
    ) -> tuple[Step, ...]:
        from explorer.declare.elements import Step, transforms
        from explorer.state.random_element import kept

        rest = kept(transforms()["shift"], chosen)[1:]
        return (Step("shift", (float(rng.integers(1, max(2, size[0] // 2))), *rest)),)

    def look_at(self, p: Prepared) -> None:
        from explorer.spaces.sequence.network.equation_finder import find_blocks

        find_blocks(p)

    def answer(self, square: Square, place: int | None) -> Answer | None:
        from explorer.spaces.sequence.drawing.answers import answer_on_sequence

        return answer_on_sequence(square, place)

    def part(self, one: BothWays) -> object | None:
        from explorer.spaces.sequence.drawing.part import time_part

        return time_part(one)

    def refine(self, p: Prepared, state: State, square: Square) -> Iterator[Square]:
        from explorer.spaces.sequence.drawing.part import refine_time

        return refine_time(p, state, square)


def _symbols(values: Tensor) -> bool:
    """Say whether a tensor holds numbers of symbols, (steps,) or (1, steps), or a mask of them."""
    return (
        not values.is_floating_point()
        and not values.is_complex()
        and (values.ndim == 1 or (values.ndim == 2 and len(values) == 1))
    )


SPACE = SequenceSpace()
