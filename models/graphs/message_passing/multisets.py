"""Show what an aggregator can tell apart: sum, mean, max, min and std of the same neighbours, with nothing learned.

Xu, Hu, Leskovec, Jegelka, "How Powerful are Graph Neural Networks?", 2019, section 5.2 and figures 2 and 3:

    sum   the multiset:            {a, b} and {a, a, b, b} differ
    mean  its proportions:         {a, b} and {a, a, b, b} are the same
    max   its underlying set:      {a, b} and {a, a, b} are the same
"""

from __future__ import annotations

from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.spaces.graph.fields import NODE
from explorer.spaces.graph.network.form import GraphInput
from models.layers.graph.aggregation import AGGREGATORS, Aggregate, AtSource, SideBySide, aggregate


class Aggregators(nn.Module):
    """Apply five aggregators to the features of the neighbours, in order; x (N, C), edge_index (2, E) -> (N, 5 C)."""

    def __init__(self) -> None:
        super().__init__()
        self.messages = AtSource()
        for how in AGGREGATORS:
            self.add_module(how, Aggregate(how))
        self.side_by_side = SideBySide(NODE)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        messages = self.messages(x, edge_index)
        found = [self.get_submodule(how)(messages, edge_index, x) for how in AGGREGATORS]
        return self.side_by_side(*found)


CARD = Card(
    name="aggregators",
    title="Aggregators: sum, mean, max, min, std of neighbours",
    rows=("N3",),
    groups=("permutation",),
    reference=(
        'Xu, Hu, Leskovec, Jegelka, "How Powerful are Graph Neural Networks?", 2019, section 5.2, figures 2 and 3; '
        'Corso et al., "Principal Neighbourhood Aggregation for Graph Nets", 2020, section 3.1'
    ),
    equation=(
        "sumᵢ = Σⱼ xⱼ,   meanᵢ = sumᵢ / |N(i)|,   maxᵢ = maxⱼ xⱼ,   minᵢ = minⱼ xⱼ\nstdᵢ = √(meanⱼ xⱼ² − (meanⱼ xⱼ)²)"
    ),
    summary=(
        "The same messages, aggregated in five ways, with nothing learned. Select two nodes whose neighbours carry "
        "the same kinds of values in other numbers: max sees one set and mean the proportions, and only the sum "
        "counts. On the constant column the sum is the number of neighbours; all others are 1, or 0 for std."
    ),
    build=Aggregators,
    input=GraphInput(channels=6),
    domain="graph",
    sample="karate",
    source=(Aggregators, Aggregate, aggregate),
)
