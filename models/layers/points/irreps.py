"""Values of each degree at points and edges: harmonics of a direction, mixtures, products, gates.

Values lie flat, (places, channels): "8x0e+4x1o" is 8 scalars, then 4 vectors. What the layers of e3nn compute, with
each path of a product a layer of its own, and coupling coefficients in double precision until they are used.

Geiger, Smidt, "e3nn: Euclidean Neural Networks", 2022.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor, nn

from explorer.declare.types.fields import Domain, FieldType
from explorer.spaces.graph.fields import Edges
from explorer.spaces.points.fields import Irreps, edge, irreps, particle
from explorer.spaces.points.harmonics import coupling, spherical

Term = tuple[int, int, str]  # how many, degree, parity


class Harmonics(nn.Module):
    """Y_l(r / |r|) for l = 0 .. `degree`, component by component normalised: (E, 3) -> (E, (degree + 1)²).

    Equal to e3nn's `spherical_harmonics(..., normalization="component")`. A way of length 0 has no direction: its
    values above degree 0 are 0.
    """

    def __init__(self, degree: int) -> None:
        super().__init__()
        self.degree = degree
        self.out_field = edge("+".join(f"1x{k}{'eo'[k % 2]}" for k in range(degree + 1)))

    def forward(self, ways: Tensor) -> Tensor:
        return spherical(list(range(self.degree + 1)), ways)


def split(values: Tensor, rep: Irreps) -> list[Tensor]:
    """Return the values of each term, (places, how many, 2 l + 1)."""
    sizes = [count * (2 * degree + 1) for count, degree, _ in rep.terms]
    parts = values.split(sizes, dim=1)
    return [part.unflatten(1, (count, -1)) for part, (count, _, _) in zip(parts, rep.terms, strict=True)]


def joined(parts: list[Tensor]) -> Tensor:
    """Undo `split`."""
    return torch.cat([part.flatten(1) for part in parts], 1)


class Mix(nn.Module):
    """Mix values of one degree and parity with each other, by the same numbers for each component.

    (places, inputs) -> (places, outputs); scalars get a bias where `bias` says so. Equal to e3nn's o3.Linear.
    """

    def __init__(self, inputs: str, outputs: str, domain: Domain | None = None, bias: bool = False) -> None:
        super().__init__()
        self.inputs, self.outputs = irreps(inputs), irreps(outputs)
        self.out_field = particle(outputs) if domain is None else FieldType(domain, self.outputs)
        self.weights = nn.ParameterList()
        self.pairs: list[tuple[int, int]] = []
        into = [0] * len(self.outputs.terms)
        for j, (_, degree, parity) in enumerate(self.outputs.terms):
            for i, (count, *kind) in enumerate(self.inputs.terms):
                if kind == [degree, parity]:
                    self.pairs.append((i, j))
                    into[j] += count
        for i, j in self.pairs:
            self.weights.append(nn.Parameter(torch.randn(self.inputs.terms[i][0], self.outputs.terms[j][0])))
        self.scale = [1 / math.sqrt(max(1, count)) for count in into]
        scalars = sum(count for count, degree, parity in self.outputs.terms if (degree, parity) == (0, "e"))
        self.bias = nn.Parameter(torch.zeros(scalars)) if bias and scalars else None

    def forward(self, values: Tensor) -> Tensor:
        given, at = split(values, self.inputs), 0
        mixed: dict[int, Tensor] = {}
        for weight, (i, j) in zip(self.weights, self.pairs, strict=True):
            part = torch.einsum("nic,io->noc", given[i], self.scale[j] * weight)
            mixed[j] = mixed[j] + part if j in mixed else part
        parts = [
            mixed[j] if j in mixed else values.new_zeros(len(values), count, 2 * degree + 1)
            for j, (count, degree, _) in enumerate(self.outputs.terms)
        ]
        if self.bias is not None:
            for j, (count, degree, parity) in enumerate(self.outputs.terms):
                if (degree, parity) == (0, "e"):
                    parts[j] = parts[j] + self.bias[at : at + count, None]
                    at += count
        return joined(parts)


def paths_between(one: Irreps, two: Irreps, most: int) -> list[tuple[int, int, int, str]]:
    """Return (term of one, term of two, degree, parity) of every product up to degree `most`."""
    found = []
    for i, (_, a, p) in enumerate(one.terms):
        for j, (_, b, q) in enumerate(two.terms):
            parity = "e" if p == q else "o"
            found += [(i, j, degree, parity) for degree in range(abs(a - b), min(a + b, most) + 1)]
    return found


class Pairs:
    """Products of the components of values and harmonics, shared by the paths of one product while it runs.

    Several products of the same values and harmonics, which only weigh them differently, may have one of these: while
    it is entered around them all, what they couple is made once.
    """

    def __init__(self) -> None:
        self.depth = 0  # 0 while a path is called by itself
        self.known: dict[tuple[int, int, int], tuple[Tensor, Tensor, Tensor]] = {}

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        self.depth -= 1
        if not self.depth:
            self.known = {}

    def of(self, values: Tensor, harmonics: Tensor, key: tuple[int, int, int], make: Callable[[], Tensor]) -> Tensor:
        """Return the product of a (term, harmonic) of these up to a degree, made once while they are shared."""
        if not self.depth:
            return make()
        one, two, found = self.known.get(key, (None, None, None))
        if found is None or one is not values or two is not harmonics:
            found = make()
            self.known[key] = (values, harmonics, found)
        return found


@cache
def _couplings(one: int, two: int, outs: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return the table to all degrees `outs`, ((2 l1 + 1) (2 l2 + 1), components), times sqrt(2 l + 1) of each."""
    with torch.inference_mode(False):  # it is kept, and others take derivatives
        tables = [coupling(one, two, k) * math.sqrt(2 * k + 1) for k in outs]
        return torch.cat(tables, 2).flatten(0, 1).to(device=device, dtype=dtype)


class Path(nn.Module):
    """One path of a product: w_c sqrt(2 l + 1) C(Y_l2, h_l1)_l for each channel c, of all values and harmonics.

    It takes what all paths take, and reads its own part: (E, inputs), (E, (degree + 1)²), (E, weights) -> (E, C (2 l +
    1)). Equal to the "uvu" paths of e3nn's TensorProduct with irrep_normalization="component",
    path_normalization="none".
    """

    def __init__(
        self, term: Term, harmonic: int, out: int, parity: str, starts: tuple[int, int, int], pairs: Pairs, most: int
    ) -> None:
        super().__init__()
        self.pairs = pairs
        self.outs = tuple(range(abs(term[1] - harmonic), min(term[1] + harmonic, most) + 1))
        self.channels, degree, _ = term
        self.degrees, self.starts = (degree, harmonic, out), starts
        self.out_field = edge(f"{self.channels}x{out}{parity}")

    def forward(self, values: Tensor, harmonics: Tensor, weights: Tensor) -> Tensor:
        one, two, out = self.degrees
        first, second, third = self.starts
        given = values[:, first : first + self.channels * (2 * one + 1)].unflatten(1, (self.channels, -1))
        weight = weights[:, third : third + self.channels, None]
        if two == 0:  # the harmonic of degree 0 is 1, and couples a value with nothing
            return (given * weight).flatten(1)
        harmonic = harmonics[:, second : second + 2 * two + 1]
        if one == 0:  # a number times the harmonic
            return ((given * weight) * harmonic[:, None]).flatten(1)
        # a path that is called by itself couples to its own degree, and all paths of a product to all at once
        outs = self.outs if self.pairs.depth else (out,)

        def coupled() -> Tensor:
            # one product of matrices for all edges: a small one at each edge takes twice as long
            each = (given[..., None] * harmonic[:, None, None]).flatten(2)
            return each @ _couplings(one, two, outs, values.dtype, values.device)

        found = self.pairs.of(values, harmonics, (first, second, outs[-1]), coupled)
        at = sum(2 * k + 1 for k in outs if k < out)
        return (found[:, :, at : at + 2 * out + 1] * weight).flatten(1)


class PathProduct(nn.Module):
    """Products of the values at edges with harmonics, weighted path by path and channel by channel.

    Values (E, inputs), harmonics (E, (degree + 1)²), weights (E, `weights`) -> (E, `outputs`), path after path. Every
    path is a layer called after its degrees: "1o_x_2e_to_1o". `pairs` is given where several products share it.
    """

    def __init__(self, inputs: str, degree: int, most: int, pairs: Pairs | None = None) -> None:
        super().__init__()
        one, two = irreps(inputs), irreps("+".join(f"1x{k}{'eo'[k % 2]}" for k in range(degree + 1)))
        starts = [0]
        for count, k, _ in one.terms:
            starts.append(starts[-1] + count * (2 * k + 1))
        self.paths = nn.ModuleDict()
        self.weights, made, self.pairs = 0, [], pairs or Pairs()
        for i, j, out, parity in paths_between(one, two, most):
            (count, a, p), (_, b, q) = one.terms[i], two.terms[j]
            path = Path(one.terms[i], b, out, parity, (starts[i], j * j, self.weights), self.pairs, most)
            self.paths[f"{a}{p}_x_{b}{q}_to_{out}{parity}"] = path
            self.weights += count
            made.append(f"{count}x{out}{parity}")
        self.outputs = "+".join(made)
        self.out_field = FieldType(Edges(), irreps(self.outputs))

    def forward(self, values: Tensor, harmonics: Tensor, weights: Tensor) -> Tensor:
        with self.pairs:
            return torch.cat([path(values, harmonics, weights) for path in self.paths.values()], 1)


class Gate(nn.Module):
    """σ on scalars; values of higher degree times the sigmoid of a scalar of their own.

    "8x0e+4x1o" needs 8 + 4 scalars and 4 vectors: (N, `needed`) -> (N, outputs). Pseudo-scalars are gated as well.
    Source: Weiler et al., "3D Steerable CNNs", 2018, section 4.3.
    """

    def __init__(self, outputs: str) -> None:
        super().__init__()
        self.outputs = irreps(outputs)
        self.out_field = particle(outputs)
        self.scalars = sum(c for c, degree, parity in self.outputs.terms if (degree, parity) == (0, "e"))
        self.gates = sum(c for c, *_ in self.outputs.terms) - self.scalars
        rest = [t for t in self.outputs.terms if t[1:] != (0, "e")]
        first = f"{self.scalars + self.gates}x0e"
        self.needed = "+".join([first, *(f"{c}x{degree}{parity}" for c, degree, parity in rest)])

    def forward(self, values: Tensor) -> Tensor:
        scalars, *others = split(values, irreps(self.needed))
        gate = torch.sigmoid(scalars[:, self.scalars :])
        own, at = torch.nn.functional.silu(scalars[:, : self.scalars]), 0
        gated = []
        for part in others:
            gated.append(part * gate[:, at : at + part.shape[1]])
            at += part.shape[1]
        return joined([own, *gated])


def merged(text: str) -> str:
    """Return the same values with those of one degree and parity in one term, by degree: "2x0e+1x1o+3x0e"."""
    counts: dict[tuple[int, str], int] = {}
    for count, degree, parity in irreps(text).terms:
        counts[degree, parity] = counts.get((degree, parity), 0) + count
    return "+".join(f"{count}x{degree}{parity}" for (degree, parity), count in sorted(counts.items()))
