"""Forward passes of networks on points beside e3nn's and torch_geometric's own parts put together to the same network.

The same sizes, points and edges on both sides, one thread, seconds of the processor, in turns: read the ratios. Where
neither library has the layer (EGNN, LieConv, LieTransformer), the peer is what the authors write in their formulas.

    python -m benchmarks.layers.geometric
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

TARGET = 1.0
AT_MOST = 3.0  # seconds of a peer in all its rounds, of which there are five at least
CLOUDS = {"molecule": (20, 2.0), "cloud": (300, 5.6)}  # points, and half the side of their box in Å
Pair = tuple[nn.Module, nn.Module, tuple[Tensor, ...]]


def edges_within(position: Tensor, reach: float) -> Tensor:
    """Return the edges j -> i between points no further apart than a reach, (2, E)."""
    near = torch.cdist(position, position) <= reach
    target, source = near.fill_diagonal_(False).nonzero().T
    return torch.stack([source, target])


class Called(nn.Module):
    """A function as a module."""

    def __init__(self, call: Callable[..., Tensor], *parts: nn.Module) -> None:
        super().__init__()
        self.call, self.parts = call, nn.ModuleList(parts)

    def forward(self, *given: Tensor) -> Tensor:
        return self.call(*given)


# e3nn ---------------------------------------------------------------------------------------------------------------
HARMONICS = "1x0e+1x1o+1x2e"


def harmonics(position: Tensor) -> Pair:
    from e3nn import o3

    from models.layers.points.irreps import Harmonics

    source, target = edges_within(position, 4.0)
    return Harmonics(2), o3.SphericalHarmonics([0, 1, 2], True, "component"), (position[source] - position[target],)


def _product(inputs: str, most: int) -> Any:
    from e3nn import o3

    one, two = o3.Irreps(inputs), o3.Irreps(HARMONICS)
    outputs: list[Any] = []
    which: list[Any] = []
    for i, (count, a) in enumerate(one):
        for j, (_, b) in enumerate(two):
            for c in a * b:
                if c.l <= most:
                    which.append((i, j, len(outputs), "uvu", True))
                    outputs.append((count, c))
    return o3.TensorProduct(one, two, o3.Irreps(outputs), which, internal_weights=False, shared_weights=False)


def product(position: Tensor) -> Pair:
    from explorer.spaces.points.fields import irreps
    from models.layers.points.irreps import Harmonics, PathProduct

    inputs = "8x0e+8x1o+4x2e"
    source, target = edges_within(position, 4.0)
    ours = PathProduct(inputs, 2, 2)
    ways = position[source] - position[target]
    given = torch.randn(len(source), irreps(inputs).size), Harmonics(2)(ways), torch.randn(len(source), ours.weights)
    return ours, _product(inputs, 2), given


def _gate(outputs: str) -> Any:
    from e3nn import o3
    from e3nn.nn import Gate

    kinds = o3.Irreps(outputs)
    scalars = o3.Irreps([(n, k) for n, k in kinds if (k.l, k.p) == (0, 1)])
    others = o3.Irreps([(n, k) for n, k in kinds if (k.l, k.p) != (0, 1)])
    gates = o3.Irreps([(others.num_irreps, "0e")])
    return Gate(scalars, [F.silu], gates, [torch.sigmoid], others)


class E3nnConvolution(nn.Module):
    """gate(W h_i + W' sum_j R(|r_ij|) C(Y(r_ij), h_j)), as e3nn's convolution on points has it."""

    def __init__(self, inputs: str, outputs: str, basis: int) -> None:
        super().__init__()
        from e3nn import o3

        self.product, self.gate = _product(inputs, 2), _gate(outputs)
        hidden = nn.Linear(basis, 32, bias=False), nn.SiLU(), nn.Linear(32, self.product.weight_numel, bias=False)
        self.radial = nn.Sequential(*hidden)
        self.itself = o3.Linear(inputs, self.gate.irreps_in, biases=True)
        self.mixed = o3.Linear(self.product.irreps_out, self.gate.irreps_in)

    def forward(self, h: Tensor, harmonic: Tensor, basis: Tensor, index: Tensor) -> Tensor:
        messages = self.product(h[index[0]], harmonic, self.radial(basis))
        heard = messages.new_zeros(len(h), messages.shape[1]).index_add_(0, index[1], messages)
        return self.gate(self.itself(h) + self.mixed(heard))


def _of_ways(reach: float, count: int) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Return what makes harmonics and a radial basis of positions and edges, by e3nn."""
    from e3nn import o3
    from e3nn.math import soft_one_hot_linspace

    harmonic = o3.SphericalHarmonics([0, 1, 2], True, "component")

    def made(position: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
        ways = position[index[0]] - position[index[1]]
        basis = soft_one_hot_linspace(ways.norm(dim=1), 0.0, reach, count, basis="bessel", cutoff=True)
        return harmonic(ways), basis

    return made


def tensor_field(position: Tensor) -> Pair:
    from e3nn import o3

    from models.points.tensor_field_network import BASIS, HIDDEN, INPUTS, REACH, TensorFieldNetwork

    first, second = E3nnConvolution("8x0e", HIDDEN[2], BASIS), E3nnConvolution(HIDDEN[2], HIDDEN[2], BASIS)
    head, known = o3.Linear(HIDDEN[2], "1x0e+1x1o"), _of_ways(REACH, BASIS)

    def theirs(x: Tensor, position: Tensor, index: Tensor) -> Tensor:
        harmonic, basis = known(position, index)
        return head(second(first(x, harmonic, basis, index), harmonic, basis, index)).sum(0, keepdim=True)

    given = torch.randn(len(position), INPUTS), position, edges_within(position, REACH)
    return TensorFieldNetwork(), Called(theirs, first, second, head), given


class E3nnAttention(nn.Module):
    """An SE(3)-Transformer's layer, as e3nn's documentation writes one, with four heads."""

    HEADS = 4

    def __init__(self, inputs: str, outputs: str, keys: str, basis: int) -> None:
        super().__init__()
        from e3nn import o3

        self.gate, self.queries = _gate(outputs), o3.Linear(inputs, keys)
        self.keys, self.values = (self._kernel(inputs, keys, basis) for _ in range(2))
        self.kinds = [(count // self.HEADS, kind.dim) for count, kind in o3.Irreps(keys)]
        self.itself = o3.Linear(inputs, self.gate.irreps_in, biases=True)
        self.mixed = o3.Linear(keys, self.gate.irreps_in)

    def _kernel(self, inputs: str, outputs: str, basis: int) -> nn.ModuleList:
        from e3nn import o3

        made = _product(inputs, 2)
        hidden = nn.Linear(basis, 24, bias=False), nn.SiLU(), nn.Linear(24, made.weight_numel, bias=False)
        return nn.ModuleList([made, nn.Sequential(*hidden), o3.Linear(made.irreps_out, outputs)])

    def _heads(self, values: Tensor) -> list[Tensor]:
        parts = values.split([self.HEADS * count * dim for count, dim in self.kinds], 1)
        return [part.unflatten(1, (self.HEADS, -1)) for part in parts]

    def forward(self, h: Tensor, harmonic: Tensor, basis: Tensor, index: Tensor) -> Tensor:
        source, target = index
        keys, values = (k[2](k[0](h[source], harmonic, k[1](basis))) for k in (self.keys, self.values))
        score = sum(
            (q[target] * k).sum(2) for q, k in zip(self._heads(self.queries(h)), self._heads(keys), strict=True)
        )
        assert isinstance(score, Tensor)
        weight = torch.exp(score / math.sqrt(keys.shape[1] / self.HEADS))
        total = weight.new_zeros(len(h), self.HEADS).index_add_(0, target, weight)
        weight = weight / total[target]
        told = torch.cat([(part * weight[:, :, None]).flatten(1) for part in self._heads(values)], 1)
        heard = told.new_zeros(len(h), told.shape[1]).index_add_(0, target, told)
        return self.gate(self.itself(h) + self.mixed(heard))


def transformer(position: Tensor) -> Pair:
    from e3nn import o3

    from models.points.se3_transformer import BASIS, HIDDEN, INPUTS, KEYS, REACH, SE3Transformer

    layers = [E3nnAttention(inputs, HIDDEN, KEYS, BASIS) for inputs in (f"{INPUTS}x0e", HIDDEN)]
    head, known = o3.Linear(HIDDEN, "1x0e+1x1o"), _of_ways(REACH, BASIS)

    def theirs(x: Tensor, position: Tensor, index: Tensor) -> Tensor:
        harmonic, basis = known(position, index)
        for layer in layers:
            x = layer(x, harmonic, basis, index)
        return head(x).sum(0, keepdim=True)

    given = torch.randn(len(position), INPUTS), position, edges_within(position, REACH)
    return SE3Transformer(2), Called(theirs, *layers, head), given


def steerable(side: int) -> Pair:
    """Return a steerable convolution on side³ voxels; both sides make their kernel anew in every pass."""
    from e3nn import o3
    from e3nn.nn.models.v2104.voxel_convolution import Convolution

    from explorer.spaces.points.fields import irreps
    from models.layers.convolution.steerable_volumes import SteerableConv3d

    kinds = "6x0e+4x1o+2x2e"
    theirs = Convolution(kinds, kinds, o3.Irreps("0e+1o+2e"), diameter=5, num_radial_basis=3)
    return SteerableConv3d(kinds, kinds), theirs, (torch.randn(1, irreps(kinds).size, side, side, side),)


# torch_geometric ----------------------------------------------------------------------------------------------------
def schnet(position: Tensor) -> Pair:
    from torch_geometric.nn.models import SchNet as Theirs

    from models.points.schnet import CENTRES, CHANNELS, FILTERS, REACH, SchNet

    index = edges_within(position, REACH)

    def known(place: Tensor, _: Tensor) -> tuple[Tensor, Tensor]:
        return index, (place[index[0]] - place[index[1]]).norm(dim=1)

    theirs = Theirs(CHANNELS, FILTERS, 3, CENTRES, REACH, interaction_graph=known)
    number = torch.randint(1, 9, (len(position),))
    return SchNet(3), Called(lambda place, number, _: theirs(number, place), theirs), (position, number, index)


def dimenet(position: Tensor) -> Pair:
    from torch_geometric.nn.models import dimenet as theirs

    from models.points import dimenet as ours

    channels, radial, degrees = ours.CHANNELS, ours.RADIAL, ours.DEGREES
    along = theirs.BesselBasisLayer(radial, ours.REACH)
    around = theirs.SphericalBasisLayer(degrees, radial, ours.REACH)
    first = theirs.EmbeddingBlock(radial, channels, F.silu)
    rounds = [theirs.InteractionBlock(channels, ours.BILINEAR, degrees, radial, 0, 0, F.silu) for _ in range(2)]
    last = theirs.OutputBlock(radial, channels, 1, 1, F.silu)

    def forward(position: Tensor, number: Tensor, index: Tensor) -> Tensor:
        source, target = index
        lengths = (position[source] - position[target]).norm(dim=1)
        # theirs needs torch_sparse for the pairs of edges; ours are taken on both sides
        inward, outward = ours.turns(index, len(number))
        one = position[source[outward]] - position[target[outward]]
        other = position[source[inward]] - position[target[outward]]
        angle = torch.atan2(torch.linalg.cross(one, other).norm(dim=1), (one * other).sum(1))
        wave, spherical = along(lengths), around(lengths, angle, inward)
        m = first(number, wave, target, source)
        for block in rounds:
            m = block(m, wave, spherical, inward, outward)
        return last(m, wave, target, len(number)).sum(0, keepdim=True)

    number = torch.randint(1, 9, (len(position),))
    given = position, number, edges_within(position, ours.REACH)
    return ours.DimeNet(2), Called(forward, along, around, first, *rounds, last), given


def dgcnn(position: Tensor) -> Pair:
    from torch_geometric.nn import EdgeConv

    from models.points.dgcnn import WIDTHS, DynamicGraphCNN

    neighbours, inputs, layers = 8, 3, []
    for width in WIDTHS:
        layers.append(EdgeConv(nn.Sequential(nn.Linear(2 * inputs, width), nn.LeakyReLU(0.2)), aggr="max"))
        inputs = width
    mix, head = nn.Linear(sum(WIDTHS), 64), nn.Linear(64, 4)

    def theirs(x: Tensor) -> Tensor:
        found = []
        for layer in layers:
            # as the authors write it: the largest of -|x_i|² + 2 x_i x_j - |x_j|²
            square = x.square().sum(1, keepdim=True)
            near = (2 * x @ x.T - square - square.T).topk(neighbours + 1).indices[:, 1:]
            target = torch.arange(len(x), device=x.device).repeat_interleave(neighbours)
            x = layer(x, torch.stack([near.flatten(), target]))
            found.append(x)
        return head(F.relu(mix(torch.cat(found, 1)).amax(0, keepdim=True)))

    return DynamicGraphCNN(neighbours, False), Called(theirs, *layers, mix, head), (position,)


def pointnet(position: Tensor) -> Pair:
    from torch_geometric.nn import MLP, MaxAggregation

    from models.points.pointnet import PointNet

    mlp, largest, head = MLP([3, 32, 64, 64], norm=None), MaxAggregation(), nn.Linear(64, 4)

    def theirs(position: Tensor) -> Tensor:
        whole = torch.zeros(len(position), dtype=torch.long)
        return head(F.relu(largest(mlp(position), whole, dim_size=1)))

    return PointNet(), Called(theirs, mlp, largest, head), (position,)


# by formulas of the authors -----------------------------------------------------------------------------------------
class AuthorsEGNN(nn.Module):
    """E_GCL: messages, the mean of pushes, the sum of messages, with segment sums by scatter_add."""

    def __init__(self, hidden: int) -> None:
        super().__init__()

        def network(inputs: int, outputs: int, act: bool, bias: bool = True) -> nn.Sequential:
            parts = [nn.Linear(inputs, hidden), nn.SiLU(), nn.Linear(hidden, outputs, bias=bias)]
            return nn.Sequential(*parts, *[nn.SiLU()] * act)

        self.edge, self.node = network(2 * hidden + 1, hidden, True), network(2 * hidden, hidden, False)
        self.push = network(hidden, 1, False, bias=False)

    def forward(self, h: Tensor, x: Tensor, row: Tensor, col: Tensor) -> tuple[Tensor, Tensor]:
        difference = x[row] - x[col]
        edge = self.edge(torch.cat([h[row], h[col], (difference**2).sum(1, keepdim=True)], 1))
        pushed = difference * self.push(edge)
        where = row[:, None].expand(-1, 3)
        count = torch.zeros_like(x).scatter_add_(0, where, torch.ones_like(pushed))
        x = x + torch.zeros_like(x).scatter_add_(0, where, pushed) / count.clamp(min=1)
        total = torch.zeros_like(h).scatter_add_(0, row[:, None].expand_as(edge), edge)
        return h + self.node(torch.cat([h, total], 1)), x


def egnn(position: Tensor) -> Pair:
    from models.points.egnn import EGNN, HIDDEN

    start, layers = nn.Linear(8, HIDDEN), [AuthorsEGNN(HIDDEN) for _ in range(3)]
    head = nn.Sequential(nn.Linear(HIDDEN, HIDDEN), nn.SiLU(), nn.Linear(HIDDEN, 1))

    def theirs(x: Tensor, position: Tensor, index: Tensor) -> Tensor:
        h = start(x)
        for layer in layers:
            h, position = layer(h, position, index[1], index[0])
        return head(h).sum(0, keepdim=True)

    given = torch.randn(len(position), 8), position, edges_within(position, 4.0)
    return EGNN(3), Called(theirs, start, *layers, head), given


def lie(position: Tensor, kind: str) -> Pair:
    """Return a convolution or an attention on lifted points beside the authors', who put all pairs first."""
    from models.layers.points.lie import LieConvolution, PairPerceptron
    from models.points.lie_transformer import Layer

    n = min(len(position), 60)
    logs = torch.randn(n, n, 6)
    near = (torch.cdist(position[:n], position[:n]) <= 4.0).float()
    flat, mask = logs.movedim(-1, 0), near[None]
    if kind == "convolution":
        ours, kernel = LieConvolution(8, 8, 8), PairPerceptron((6, 16, 16, 8))
        swishes = [part for k in (6, 16, 16) for part in (nn.Linear(k, 8 if k == 16 else 16), nn.SiLU())]
        swishes[2] = nn.Linear(16, 16)
        weights, last = nn.Sequential(*swishes), nn.Linear(64, 8)

        def theirs(h: Tensor) -> Tensor:
            seen = near[..., None] * weights(logs)  # (n, n, middle)
            partial = torch.einsum("jc,ijm->icm", h[:, 0], seen).flatten(1)
            return (last(partial) / near.sum(1, keepdim=True).clamp(min=1))[:, None]

        made = Called(lambda h: ours(h, kernel(flat), mask), ours, kernel)
        return made, Called(theirs, weights, last), (torch.randn(n, 1, 8),)
    layer = Layer(32, 4)
    heads = [nn.Sequential(nn.Linear(6, 16), nn.SiLU(), nn.Linear(16, 16), nn.SiLU(), nn.Linear(16, 1), nn.SiLU())
             for _ in range(4)]  # fmt: skip
    q, k, v, o = (nn.Linear(32, 32) for _ in range(4))

    def attended(h: Tensor) -> Tensor:
        h = h[:, 0]
        score = torch.stack([head(logs)[..., 0] for head in heads])
        keys, queries, values = (m(h).unflatten(1, (4, -1)) for m in (k, q, v))
        score = score + torch.einsum("ihd,jhd->hij", queries, keys) / math.sqrt(32)
        weight = score.masked_fill(near == 0, -torch.inf).softmax(2)
        return o((values + torch.einsum("hij,jhd->ihd", weight, values)).flatten(1))[:, None]

    made = Called(lambda h: layer(h, flat, mask), layer)
    return made, Called(attended, *heads, q, k, v, o), (torch.randn(n, 1, 32),)


POINTS: dict[str, tuple[Callable[[Tensor], Pair], str]] = {
    "harmonics": (harmonics, "e3nn"),
    "product of irreps": (product, "e3nn"),
    "tensor field network": (tensor_field, "e3nn"),
    "SE(3)-Transformer": (transformer, "e3nn"),
    "SchNet": (schnet, "torch_geometric"),
    "DimeNet": (dimenet, "torch_geometric"),
    "DGCNN": (dgcnn, "torch_geometric"),
    "PointNet": (pointnet, "torch_geometric"),
    "EGNN": (egnn, "authors' formulas"),
    "LieConv's convolution": (lambda position: lie(position, "convolution"), "authors' formulas"),
    "LieTransformer's layer": (lambda position: lie(position, "attention"), "authors' formulas"),
}


def _timed(what: str, peer: str, pair: Pair, rounds: int) -> dict[str, float | str]:
    from benchmarks.parts.timing import interleaved, row

    # e3nn makes the kernels of its convolution on voxels in single precision
    there = torch.get_default_device()
    ours, theirs = (network.float().eval().to(there) for network in pair[:2])
    given = [value.to(there) for value in pair[2]]
    with torch.inference_mode():
        theirs(*given)
        start = time.process_time()
        theirs(*given)
        few = max(5, min(rounds, round(AT_MOST / (time.process_time() - start + 1e-6))))
        times = interleaved({what: lambda: ours(*given), peer: lambda: theirs(*given)}, few, 3, time.process_time)
    return row(times, what, peer, TARGET)


def run(rounds: int = 60) -> list[dict[str, float | str]]:
    """Time every forward beside its peer, on a molecule and on a cloud; return a row for each."""
    return list(rows(rounds))


def rows(rounds: int = 60) -> Iterator[dict[str, float | str]]:
    """Yield the rows one by one."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    for size, (count, half) in CLOUDS.items():
        position = (2 * torch.rand(count, 3, device="cpu") - 1) * half
        for name, (pair, peer) in POINTS.items():
            with torch.device("cpu"):
                made = pair(position)
            yield _timed(f"{name}, {size}", peer, made, rounds)
    for side in (13, 25):
        with torch.device("cpu"):
            made = steerable(side)
        yield _timed(f"steerable convolution, {side}³", "e3nn", made, rounds)


def main() -> None:
    print(f"{'forward pass':<34} {'ms':>9}   {'beside':<18} {'ms':>9}   ratio")
    for r in rows():
        print(f"{r['what']:<34} {r['ms']:>9.3f}   {r['peer']:<18} {r['peer_ms']:>9.3f}   {r['ratio']:.2f}", flush=True)


if __name__ == "__main__":
    main()
