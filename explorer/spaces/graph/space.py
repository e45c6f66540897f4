"""Graphs and sets: values on nodes, on listed edges, on pairs of nodes, under renumbering."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

from explorer.declare.space import Domains, Kind, Representations, Scene
from explorer.declare.telling.asking import Declared, Question
from explorer.declare.types.written import Written, bare
from explorer.network.input.ways import QUESTIONS
from explorer.network.space import Inference
from explorer.spaces.graph.fields import ENDS, Adjacency, Edges, Graphs, NodeIndex, Nodes, Pairwise, numbered
from explorer.spaces.graph.network.form import AXES, DRAWN, FEATURES, SIGNALS, GraphInput
from explorer.square.space import Space

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray
    from torch import Tensor, nn

    from explorer.declare.card import Card, Form
    from explorer.declare.elements import Step
    from explorer.declare.inputs import Inputs
    from explorer.declare.samples import Sample
    from explorer.network.input.recognise import Recognised
    from explorer.square.both_ways import BothWays
    from explorer.square.drawing.answer import Answer
    from explorer.square.frame import Square
    from explorer.square.preparing.prepare import Prepared
    from explorer.state.state import State


ALIKE = "ring-16"  # of which all nodes are alike: eigenvectors, and what else is chosen among equals, are free there
NODES = 34  # of the graph that a network is shown first
OTHERWISE = tuple(f"permute:{seed}" for seed in range(4, 12))  # of two nodes every other order is the one there was


class GraphSpace(Space):
    """Graphs, (nodes, channels) with edge_index (2, edges), and sets, which have no edges by nature."""

    name = "graph"
    kinds = (
        Kind(
            "graph", group="permutation", sample="karate", maker="equiscope.graph(x, edge_index)", title="Graphs",
            one="a graph", lessons="Graphs, sets and attention", place=10, showcase="permute:3",
            otherwise=OTHERWISE,
            move="renumber it", numbered=True,
        ),
        Kind(
            "set", group="permutation", sample="karate", maker="equiscope.graph(x)", title="Sets", one="a set",
            lessons="Graphs, sets and attention", place=11, showcase="permute:3",
            otherwise=OTHERWISE,
            move="renumber it", numbered=True,
        ),
    )  # fmt: skip
    rank = 20
    domains: ClassVar[Domains] = {
        "node": numbered(Nodes),
        "pairwise": numbered(Pairwise),
        "edge": numbered(Edges),
        "graph": bare(Graphs()),
    }
    representations: ClassVar[Representations] = {
        "index": Written(
            lambda _: NodeIndex(), ("edge", "face"),
            refusal="only edges are given by indices of nodes, and faces by their corners",
        ),
        **{
            f"index {ENDS[end]}": Written(
                lambda _, end=end: NodeIndex(end), ("edge",),  # type: ignore[misc]
                refusal="only edges between two sets have nodes of one set at one of their ends",
            )
            for end in (0, 1)
        },
    }  # fmt: skip
    examples = ("node scalar", "edge scalar")
    orbits = ("permute",)
    scenes = (
        Scene("graph", "gat", "permute:3", "karate", node=0),
        Scene("attention", "graph-transformer", "permute:3", "karate", node=11, large=True),
    )

    form = GraphInput
    parted = True
    questions = (
        Question(
            "signals", "Arguments", "What its forward is called with, in this order.", "ordered",
            SIGNALS,
        ),
        Question("channels", "Channels of x", "The width of x at a node; any takes what the data have.", "whole"),
        Question("edge_channels", "Channels of edge_attr", "The width of edge_attr, where it is asked for.", "whole"),
        Question("other_channels", "Channels of other", "The width of the second set, where there is one.", "whole"),
        Question(
            "features", "Made of", "What x is made of where the data have no attributes of that width.", "choice",
            FEATURES,
        ),
        Question("axes", "Axes of x", "N nodes, C channels, with a batch of one where it takes one.", "choice", AXES),
        Question("most", "Nodes at most", "The largest number of nodes that it is made for.", "whole"),
        Question("known", "Numbers below", "How many whole numbers its table has, modulo which they are.", "whole"),
        Question(
            "tables", "Tables", "NAME:AXES of each, of which a letter counts the members of a set: x:1xAx3,y:1xAx1.",
            "named", lettered=True,
        ),
        Question(
            "beside", "Besides", "NAME:AXES of what else it is given: pe:Nx7 a row a node, t:E one an edge, u:1x4.",
            "named", lettered=True,
        ),
        *QUESTIONS,
    )  # fmt: skip

    def sample_of(self, text: str, seed: int) -> Sample | None:
        from explorer.spaces.graph.samples.texts import graph_sample_text, is_graph_text

        if is_graph_text(text):
            return graph_sample_text(text, seed)
        if not text.startswith("smiles:"):
            return None
        from explorer.spaces.graph.readers.molecules.smiles import smiles_sample

        return smiles_sample(text)

    def fit(self, sample: Sample, form: Form) -> Sample:
        from explorer.spaces.graph.network.features import fit_graph
        from explorer.spaces.graph.network.tables import fit_tables

        assert isinstance(form, GraphInput)
        if form.tables:
            return fit_tables(sample, form)
        return fit_graph(sample, form)

    def several(self, card: Card, count: int) -> list[str]:
        from explorer.data.choosing import others_that_fit, taken
        from explorer.data.finding import samples

        found = [card.sample, *others_that_fit(card, count - 1)]
        if card.own and count > 1 and ALIKE not in found and taken(samples()[ALIKE].make(), card):
            found = [*found[: count - 1], ALIKE]
        return found

    def part_of(self, sample: Sample, part: str) -> Sample | None:
        from explorer.spaces.graph.sample import one_graph

        return one_graph(sample, part)

    def thumbnail(self, sample: Sample, side: int) -> NDArray[np.uint8] | None:
        from explorer.spaces.graph.drawing.thumbnail import graph_thumbnail

        return graph_thumbnail(sample, side)

    def recognise(self, network: Recognised) -> Form | None:
        from explorer.spaces.graph.network.recognise import graph_input

        return graph_input(network)

    def first_sample(self, form: Form) -> str:
        assert isinstance(form, GraphInput)
        if form.most is None or form.most >= NODES:
            return super().first_sample(form)
        return f"graph:{form.most}x{min(2 * form.most, form.most * (form.most - 1) // 2)}"

    def takes(self, form: Form) -> tuple[int | str | None, ...]:
        assert isinstance(form, GraphInput)
        if form.tables:
            return tuple(name for name, _ in form.tables)
        return ("nodes", form.channels, *(name for name in form.signals if name != "x"))

    def inputs(self, sample: Sample, form: Form, device: torch.device, dtype: torch.dtype) -> Inputs:
        from explorer.network.input.inputs import from_signals
        from explorer.spaces.graph.network.attempts import axis_of, laid
        from explorer.spaces.graph.network.beside import beside_way
        from explorer.spaces.graph.network.members import with_turn
        from explorer.spaces.graph.network.tables import table_inputs

        assert isinstance(form, GraphInput)
        if form.tables:
            return table_inputs(sample, form, device, dtype)
        held, way = form.held, form.way
        if form.beside:
            held, way = beside_way(form, held)
        made = replace(from_signals(sample, held, device, dtype), call=way.call(held))
        if not made.field.domain.space:  # pairs may be of steps as well
            made = replace(made, fields=(replace(made.field, domain=Adjacency()), *made.fields[1:]))
        if form.axes == AXES[0] and "other" not in held:
            return made
        values = tuple(laid(v, form.axes, name) for name, v in zip(held, made.values, strict=True))
        fields = tuple(
            replace(f, domain=Nodes(axis_of(form.axes, name))) if type(f.domain) is Nodes else f
            for name, f in zip(held, made.fields, strict=True)
        )
        return with_turn(replace(made, values=values, fields=fields), form.axes)

    def attempts(self, network: nn.Module, kind: str) -> Iterator[Form]:
        from explorer.spaces.graph.network.attempts import set_inputs
        from explorer.spaces.graph.network.tables_trial import tables_inputs

        return chain(set_inputs(network), tables_inputs(network)) if kind == "set" else iter(())

    def readings(self, network: nn.Module, form: Form) -> Iterator[Form]:
        from explorer.spaces.graph.network.attempts import other_axes, widths_of

        assert isinstance(form, GraphInput)
        if form.tables:
            return
        for axes in other_axes(network, form.way, form.axes, widths_of(form), AXES[:3]):
            yield replace(form, axes=axes)

    def left_open(self, form: Form) -> list[str]:
        from explorer.spaces.graph.network.tables import loose

        assert isinstance(form, GraphInput)
        return list(loose(form.tables))

    def declared(self, said: Declared) -> Form:
        form = super().declared(said)
        assert isinstance(form, GraphInput)
        if form.tables:
            from explorer.spaces.graph.network.tables import require_tables

            require_tables(form.tables)
            return replace(form, signals=())
        if form.beside:
            from explorer.spaces.graph.network.beside import require_beside

            require_beside(form.beside)
        if not set(form.signals) & set(DRAWN):
            raise ValueError(f"signals are one or more of {', '.join(SIGNALS)}, with {' or '.join(DRAWN)} among them")
        bare = said.kind == "set" and "signals" not in dict(said.answers)
        return replace(form, signals=("x",)) if bare else form

    def inference(self, inputs: Inputs) -> Inference:
        from explorer.spaces.graph.network.inference import GraphInference

        return GraphInference(inputs)

    def reads(self, data: Tensor | Sequence[object]) -> str:
        from torch import Tensor

        if isinstance(data, Tensor):
            return f"a tensor of shape {tuple(data.shape)} alone is taken for" if 0 < data.ndim < 4 else ""
        if not data or not all(isinstance(v, Tensor) and v.ndim < 4 for v in data):
            return ""
        return f"a {type(data).__name__} of tensors is taken for"

    def given(self, data: Tensor | Sequence[object], seed: int) -> Inputs:
        from torch import Tensor

        from explorer.spaces.graph.network.inputs import ordered_graph, unsettled_set, with_edges
        from explorer.spaces.graph.network.joined import may_be_joined

        values = [data] if isinstance(data, Tensor) else [v for v in data if isinstance(v, Tensor)]
        if not with_edges(values):
            return unsettled_set(values)
        try:
            return ordered_graph(values)
        except ValueError:
            if not may_be_joined(values):
                raise
            return unsettled_set(values)  # of several kinds of nodes, which a trial tells

    def named(self, tensors: Mapping[str, Tensor]) -> tuple[tuple[str, ...], Inputs] | None:
        from explorer.spaces.graph.network.inputs import named_graph, unsettled_set, with_edges
        from explorer.spaces.graph.network.joined import may_be_joined

        values = tuple(tensors.values())
        if with_edges(values) or not all(v.ndim < 4 for v in values):
            try:
                return named_graph(tensors)
            except ValueError:
                if not may_be_joined(values):
                    raise
        return tuple(tensors), unsettled_set(values, tuple(tensors))

    def settled(self, inputs: Inputs, model: nn.Module) -> Inputs:
        from explorer.spaces.graph.network.nodes_or_edges import settled

        return settled(inputs, model)

    def random_steps(
        self, rng: np.random.Generator, size: tuple[int, int], kind: str, exact: bool, chosen: Sequence[Step]
    ) -> tuple[Step, ...]:
        from explorer.declare.elements import Step

        return (Step("permute", (float(rng.integers(1, 10_000)), 0.0)),)

    def answer(self, square: Square, place: int | None) -> Answer | None:
        from explorer.spaces.graph.drawing.answers import answer_on_graph

        return answer_on_graph(square, place)

    def part(self, one: BothWays) -> object | None:
        from explorer.spaces.graph.drawing.part import graph_part

        return graph_part(one)

    def refine(self, p: Prepared, state: State, square: Square) -> Iterator[Square]:
        from explorer.spaces.graph.drawing.part import refine_graph

        return refine_graph(p, state, square)


SPACE = GraphSpace()
