"""A generator and a discriminator of one or two dimensions, and everything that can be drawn of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from explorer.spaces.graph.fields import NODE
from models.layers.adversarial.losses import FAKE, LOSSES, REAL, SATURATED, SQUARES, generator_loss
from models.layers.adversarial.quadrature import Floats, Mixture, best, jsd, kl, pearson, pushed, value
from models.layers.taps import Tap

REACH = 3.0  # densities are drawn from -REACH to REACH,
FARTHEST = 12.0  # on the line as far as G leads, up to here
CELLS = 240  # of the line between -REACH and REACH, for quadrature
SIDE = 60  # cells of each axis of the plane
FINE = 4001  # values of z on the line that are pushed forward
FINE_SIDE = 401  # on each axis of a plane
SHOWN_Z = 161  # values of z whose way to x is drawn
WIRES = 21  # lines of the net of z, each way
ARROWS = 13  # places on each axis at which it is told where G would be pulled
LEAST = 1e-12  # of 1 - D, where the logarithm ends
CAUGHT = 0.01  # of all that G makes lies near a mode that counts as found


@dataclass(frozen=True, slots=True)
class Drawing:
    """Rows by title, and figures by name."""

    curves: Mapping[str, Floats]
    figures: Mapping[str, float]


def perceptron(given: int, width: int, out: int, activation: type[nn.Module]) -> nn.Sequential:
    """Return two hidden layers and a linear one."""
    return nn.Sequential(
        nn.Linear(given, width), activation(), nn.Linear(width, width), activation(), nn.Linear(width, out)
    )


class Densities(nn.Module):
    """G and D on so many dimensions; z (points, dimensions) -> what D says of G(z), (points, 1).

    Args:
        data: what is to be learned.
        width: of the hidden layers.
        loss: of both; with least squares D has no sigmoid.
    """

    def __init__(self, data: Mixture, width: int = 32, loss: str = SATURATED) -> None:
        super().__init__()
        self.data, self.loss = data, loss
        self.latent = len(data.middles[0])
        self.generator = perceptron(self.latent, width, self.latent, nn.Tanh)
        self.made = Tap(NODE)
        self.discriminator = perceptron(self.latent, width, 1, nn.LeakyReLU)
        self.answer = nn.Identity() if loss == SQUARES else nn.Sigmoid()
        self.believed = Tap(NODE)

    def forward(self, z: Tensor) -> Tensor:
        return self.believed(self.answer(self.discriminator(self.made(self.generator(z)))))

    def figures(self) -> Mapping[str, float]:
        """Return the divergences and how far D is from its optimum."""
        return self.drawing().figures

    @torch.no_grad()
    def drawing(self) -> Drawing:
        """Return densities, the surface of D and the divergences, by quadrature in double precision."""
        return self._line() if self.latent == 1 else self._plane()

    def _of(self, half: nn.Module, values: Floats) -> Floats:
        like = next(self.parameters())
        found: Floats = half(torch.from_numpy(values).to(like)).double().cpu().numpy()
        return found

    def _belief(self, values: Floats) -> Floats:
        """Return D as a share from 0 to 1, whatever its two aims are."""
        score = self._of(self.discriminator, values)[:, 0]
        if self.loss == SQUARES:
            return np.asarray((score - FAKE) / (REAL - FAKE))
        with np.errstate(over="ignore"):  # of a network that has diverged
            return np.asarray(1 / (1 + np.exp(-score)))

    def _told(self, at: Floats, loss: str) -> Floats:
        """Return the gradient of one value of G's loss by x, (n, dimensions)."""
        with torch.inference_mode(False), torch.enable_grad():
            x = torch.from_numpy(at).to(next(self.parameters())).requires_grad_()
            scores = deepcopy(self.discriminator)(x)  # whoever draws may have loaded it where nothing is differentiated
            loss_of = generator_loss(scores, loss) * len(at)
            # D may be silenced, and then leads nowhere
            (gradient,) = torch.autograd.grad(loss_of, x, materialize_grads=True)
        return np.asarray(gradient.double().cpu().numpy())

    def _line(self) -> Drawing:
        z = np.linspace(-1, 1, FINE)
        way = self._of(self.generator, z[:, None])[:, 0]
        edges = _edges(way)
        x, cell = 0.5 * (edges[1:] + edges[:-1]), float(edges[1] - edges[0])
        p, q, d = self.data.density(x[:, None]), pushed(z, way, edges), self._belief(x[:, None])
        few = np.linspace(0, FINE - 1, SHOWN_Z).round().astype(int)
        curves = {
            "x": x, "p_data": p, "p_g": q, "D": d, "D*": best(p, q),
            "z": z[few], "G(z)": way[few], "|dG/dz|": np.abs(np.gradient(way, z))[few],
        }  # fmt: skip
        for loss in LOSSES:
            curves[f"gradient, {loss}"] = self._told(way[few][:, None], loss)[:, 0]
        return Drawing(curves, self._figures(*self._with_beyond(p, q, d, cell, way[:, None], edges), cell))

    def _plane(self) -> Drawing:
        edges = np.linspace(-REACH, REACH, SIDE + 1)
        middles, cell = 0.5 * (edges[1:] + edges[:-1]), float((edges[1] - edges[0]) ** 2)
        at = np.stack(np.meshgrid(middles, middles[::-1]), -1)
        p = self.data.density(at)
        way = self._of(self.generator, net(FINE_SIDE))
        q = np.histogram2d(way[:, 1], way[:, 0], [edges, edges])[0][::-1] / (len(way) * cell)
        d = self._belief(at.reshape(-1, 2)).reshape(SIDE, SIDE)
        wires = self._of(self.generator, net(WIRES)).reshape(WIRES, WIRES, 2)
        figures = self._figures(*self._with_beyond(p, q, d, cell, way, edges), cell)
        near = np.linalg.norm(way[:, None] - np.array(self.data.middles), axis=-1)
        caught = np.bincount(near.argmin(1)[near.min(1) < 3 * self.data.width], minlength=len(self.data.middles))
        figures["modes"] = float((caught > CAUGHT * len(way)).sum())
        curves = {"p_data": p, "p_g": q, "D": d, "D*": best(p, q), "G(z), x": wires[..., 0], "G(z), y": wires[..., 1]}
        places = 0.9 * REACH * net(ARROWS)
        for loss in (SATURATED, SQUARES):
            told = -self._told(places, loss)
            for k, axis in enumerate("xy"):
                curves[f"pull, {loss}, {axis}"] = told[:, k].reshape(ARROWS, ARROWS)
        for k, axis in enumerate("xy"):
            curves[f"pulled at, {axis}"] = places[:, k].reshape(ARROWS, ARROWS)
        return Drawing(curves, figures)

    def _with_beyond(
        self, p: Floats, q: Floats, d: Floats, cell: float, way: Floats, edges: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return densities and D with one more cell for all that G makes where nothing is drawn.

        Without it a G that has run away would be at no distance from the data. D there is the value that costs as much
        as all of its values do.
        """
        beyond = way[((way < edges[0]) | (way > edges[-1])).any(1)]
        if not len(beyond):
            return p, q, d
        belief = self._belief(beyond)
        if self.loss == SQUARES:
            score = math.sqrt(float(np.mean((FAKE + (REAL - FAKE) * belief) ** 2)))
            there = (score - FAKE) / (REAL - FAKE)
        else:
            there = 1 - math.exp(float(np.mean(np.log(np.maximum(1 - belief, LEAST)))))
        left = (max(0.0, 1 / cell - float(one.sum())) for one in (p, q))
        rows = zip((p, q, d), (*left, there), strict=True)
        one, other, belief = (np.append(row.ravel(), last) for row, last in rows)
        return one, other, belief

    def _figures(self, p: Floats, q: Floats, d: Floats, cell: float) -> dict[str, float]:
        both = 0.5 * (p + q)
        away = float((np.abs(d - best(p, q)) * both).sum() / max(both.sum(), 1e-12))
        if self.loss == SQUARES:
            score = FAKE + (REAL - FAKE) * d
            cost = float((0.5 * (p + q) * (score - 0.0) ** 2).sum() * cell)
            return {"Pearson": pearson(p, q, cell), "Pearson from D": 2 * cost, "|D − D*|": away}
        v = value(d, p, q, cell)
        return {
            "V(D, G)": v,
            "JSD": jsd(p, q, cell),
            "JSD from D": 0.5 * (v + math.log(4)),
            "KL(data, g)": min(kl(p, np.maximum(q, 1e-12), cell), 1e3),
            "KL(g, data)": min(kl(q, np.maximum(p, 1e-12), cell), 1e3),
            "|D − D*|": away,
        }


def _edges(way: Floats) -> Floats:
    """Return the ends of cells of the line: from -REACH to REACH, and as far as G leads, up to FARTHEST."""
    there = way[np.isfinite(way)]
    low = max(-FARTHEST, min(-REACH, math.floor(there.min(initial=0.0))))
    high = min(FARTHEST, max(REACH, math.ceil(there.max(initial=0.0))))
    return np.linspace(low, high, round(CELLS * (high - low) / (2 * REACH)) + 1)


def net(side: int) -> Floats:
    """Return evenly spaced places of the square from -1 to 1, (side * side, 2), row by row."""
    line = np.linspace(-1, 1, side)
    return np.stack(np.meshgrid(line, line), -1).reshape(-1, 2)


def matrix(model: nn.Module) -> dict[str, Floats]:
    """Return the rows of a drawing, each as a matrix, and its figures as one entry under their names."""
    assert isinstance(model, Densities)
    drawing = model.drawing()
    found = {name: np.atleast_2d(rows) for name, rows in drawing.curves.items()}
    for name, number in drawing.figures.items():
        found[f"= {name}"] = np.array([[number]])
    return found
