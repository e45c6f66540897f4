"""Deep and bidirectional recurrent networks: the summaries of one layer are the input of the next.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.7 (Depth in RNNs); Schuster, Paliwal,
"Bidirectional Recurrent Neural Networks", 1997:

    h_k(t) = R_k(h_(k-1)(t), h_k(t-1)),    h_0 = z
    bidirectional: h_k(t) is a pair; its second half reads from the last step to the first

A stack of causal layers that start from fixed points commutes with shifts: the input of layer k before the first step
is then the fixed point of layer k - 1 and not zero. A layer that reads backwards knows the future that a shift pushes
out.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from explorer.declare.fields import STEP
from explorer.declare.params import Param
from models.layers.recurrent.forecast import START, Forecast, sequence_card
from models.layers.recurrent.gru import GRU
from models.layers.recurrent.lstm import LSTM
from models.layers.recurrent.recurrence import FIXED, STARTS, ZERO, Recurrence
from models.layers.recurrent.simple_rnn import SimpleRNN
from models.layers.seeded import seeded


class BothWays(nn.Module):
    """One layer read in both directions; (T, inputs) -> (T, 2 units), the forward half first."""

    out_field = STEP

    def __init__(self, kind: type[Recurrence], inputs: int, units: int, start: str) -> None:
        super().__init__()
        self.left_to_right = kind(inputs, units, start)
        self.right_to_left = kind(inputs, units, start, reverse=True)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([self.left_to_right(x), self.right_to_left(x)], -1)

    def batched(self, x: Tensor) -> Tensor:
        """Return the same for many sequences; (B, T, inputs) -> (B, T, 2 units)."""
        return torch.cat([self.left_to_right.batched(x), self.right_to_left.batched(x)], -1)


class Stacked(nn.Module):
    """Layers layer1, layer2, ... of one kind; (T, inputs) -> (T, units), or (T, 2 units) in both directions."""

    out_field = STEP

    def __init__(
        self,
        kind: type[Recurrence],
        inputs: int,
        units: int,
        depth: int = 1,
        bidirectional: bool = False,
        start: str = FIXED,
    ) -> None:
        super().__init__()
        self.depth, self.width = depth, units * (2 if bidirectional else 1)
        below: tuple[Recurrence, ...] = ()
        for k in range(1, depth + 1):
            given = inputs if k == 1 else self.width
            layer = BothWays(kind, given, units, start) if bidirectional else kind(given, units, start)
            self.add_module(f"layer{k}", layer)
            here = tuple(m for m in layer.modules() if isinstance(m, Recurrence))
            for part in here:
                part.fed_by = below
            below = here

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.children():  # in the order in which they were added
            x = layer(x)
        return x

    def batched(self, x: Tensor) -> Tensor:
        """Return the same for many sequences, for training; (B, T, inputs) -> (B, T, width)."""
        for layer in self.children():
            assert isinstance(layer, Recurrence | BothWays)
            x = layer.batched(x)
        return x


def copied(peer: nn.RNNBase, start: str = ZERO) -> Stacked:
    """Return our network with the weights of an nn.RNN, nn.LSTM or nn.GRU, which starts from zero.

    Raises:
        TypeError: it is none of these three.
        ValueError: it has a projection or no biases.
    """
    kinds: dict[type[nn.RNNBase], type[Recurrence]] = {nn.RNN: SimpleRNN, nn.LSTM: LSTM, nn.GRU: GRU}
    if type(peer) not in kinds:
        raise TypeError(f"{type(peer).__name__} is neither nn.RNN nor nn.LSTM nor nn.GRU")
    if peer.proj_size or not peer.bias:
        raise ValueError("a network with a projection or without biases has no counterpart here")
    kind = kinds[type(peer)]
    found = Stacked(kind, peer.input_size, peer.hidden_size, peer.num_layers, peer.bidirectional, start)
    found.to(peer.get_parameter("weight_ih_l0"))
    for k in range(peer.num_layers):
        layer = found.get_submodule(f"layer{k + 1}")
        parts = [layer] if isinstance(layer, Recurrence) else [layer.left_to_right, layer.right_to_left]
        for part, suffix in zip(parts, ("", "_reverse"), strict=False):
            assert isinstance(part, Recurrence)
            names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            part.load_state_dict({n: getattr(peer, f"{n}_l{k}{suffix}") for n in names})
            if isinstance(part, SimpleRNN):
                part.activation = str(getattr(peer, "nonlinearity", "tanh"))
    return found


def build(units: float = 8, depth: float = 1, start: float = 1) -> Forecast:
    """Build a bidirectional LSTM of `depth` layers, `units` in each direction."""

    def network() -> Forecast:
        stack = Stacked(LSTM, 1, int(units), int(depth), True, STARTS[int(start)])
        return Forecast(stack, stack.width)

    return seeded(network)


CARD = sequence_card(
    name="bidirectional-lstm",
    title="Bidirectional LSTM",
    rows=("R3",),
    groups=(),
    reference=(
        'Schuster, Paliwal, "Bidirectional Recurrent Neural Networks", 1997; Bronstein, Bruna, Cohen, Veličković, '
        '"Geometric Deep Learning", 2021, section 5.7 (Depth in RNNs) and 5.8'
    ),
    equation=("→h⁽ᵗ⁾ = R( z⁽ᵗ⁾, →h⁽ᵗ⁻¹⁾ )\n←h⁽ᵗ⁾ = R′( z⁽ᵗ⁾, ←h⁽ᵗ⁺¹⁾ )\ny⁽ᵗ⁾ = V [ →h⁽ᵗ⁾ ‖ ←h⁽ᵗ⁾ ] + a"),
    summary=(
        "Two LSTMs, one of which reads from the end: every step knows the whole sequence. Compare the gates of "
        "left_to_right and right_to_left. No law of shifts is claimed: what a shift pushes out at the end is missing "
        "in the second half, unless there is one layer and the sequence ends in zeros."
    ),
    build=build,
    params=(
        Param("units", "Units in each direction", 8, 4, 32, whole=True),
        Param("depth", "Layers", 1, 1, 4, whole=True),
        START,
    ),
    source=(BothWays, Stacked, LSTM),
)
