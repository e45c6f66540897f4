"""Encode and decode with a network that has a code: one call each way, on its own device, in plain numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.data.finding import samples
from explorer.declare.examples import Coding, Examples
from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import FieldType, Regular
from explorer.network.tracing.running import evaluating
from explorer.square.analyses.latent.example_checks import own_examples
from explorer.square.preparing.kept import kept
from explorer.square.preparing.prepare import Prepared
from explorer.work.progress import Cancelled

Floats = NDArray[np.float64]
BATCH = 50  # examples that are encoded between two points where newer work may take over
LAYER = "code"
MOST_SAMPLES = 200


@dataclass(slots=True, eq=False)
class Coder:
    """The network's two ways, and all that was encoded with it in this epoch.

    Attributes:
        examples: what its codes are shown of; None where the places of the input are all there is, as nodes are.
        code_field: the field of the code, None where no layer called so gives what the network encodes to.
        codes: of the examples, as far as they are encoded: a list of (n, d).
        posterior: μ and log σ² of the examples, as far; empty where the code is not drawn.
        made: planes, grids, walks, orbits and samples, by what they depend on.
        problem: what is wrong with the network's own examples, in one sentence.
    """

    p: Prepared
    examples: Examples | None
    code_field: FieldType | None
    codes: list[Floats] = field(default_factory=list)
    posterior: list[tuple[Floats, Floats]] = field(default_factory=list)
    made: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    problem: str = ""

    @property
    def _model(self) -> Any:
        return self.p.model

    @property
    def images(self) -> bool:
        """Return whether codes decode to images."""
        return self.p.inputs.batched

    def running(self, work: Callable[[], Any]) -> Any:
        """Run the network within `work` as frames do."""
        with self.p.unrecorded(), evaluating(self.p.model):
            return work()

    def _tensor(self, values: NDArray[Any]) -> Tensor:
        return torch.tensor(np.asarray(values)).to(self.p.x.device, self.p.dtype)

    def encoded(self, inputs: Inputs) -> Floats:
        """Return the codes of the network's inputs, (n, d): one of an image, one for each place elsewhere."""
        found: Floats = self.running(lambda: plain(self._model.encode(*inputs.arguments)))
        return found

    def code_of(self, values: Mapping[str, Tensor], inputs: Inputs) -> Floats:
        """Return the codes that a run has given, or those of its inputs where no layer is the code."""
        code = values.get(LAYER) if self.code_field is not None else None
        if code is None or code.ndim != 2 or len(code) != (1 if self.images else inputs.places):
            return self.encoded(inputs)
        return plain(code)

    def encode(self, values: NDArray[Any]) -> Floats:
        """Return the codes of images, (n, c, h, w) -> (n, d)."""
        found: Floats = self.running(lambda: plain(self._model.encode(self._tensor(values))))
        return found

    def decode(self, codes: Floats) -> NDArray[np.float32]:
        """Return what codes decode to, (n, d) -> (n, h, w), the mean over channels."""
        parts = [self.running(partial(self._model.decode, self._tensor(z))) for z in _parts(codes)]
        return pictures(torch.cat(parts).detach().cpu().float().numpy())

    def asked(self, codes: Floats) -> tuple[str, ...]:
        """Return what codes ask for in words, such as a class; nothing of a network whose codes say none."""
        named = getattr(self.p.model, "code_names", None)
        return () if named is None else tuple(map(str, self.running(partial(named, self._tensor(codes)))))

    def encode_examples(self) -> Iterator[None]:
        """Encode what is not encoded yet, and yield after each batch."""
        if self.examples is None:
            if not self.codes:
                self.codes.append(self.encoded(self.p.inputs))
            return
        inputs = self.examples.inputs
        posterior = getattr(self.p.model, "posterior", None)
        while (done := sum(map(len, self.codes))) < len(inputs):
            batch = inputs[done : done + BATCH]
            if posterior is not None:
                mean, log_variance = self.running(partial(posterior, self._tensor(batch)))
                self.posterior.append((plain(mean), plain(log_variance)))
                self.codes.append(self.posterior[-1][0])
            else:
                self.codes.append(self.encode(batch))
            yield

    @property
    def complete(self) -> bool:
        """Return whether all examples are encoded."""
        if self.examples is None:
            return bool(self.codes)
        return sum(map(len, self.codes)) == len(self.examples.inputs)

    def all_codes(self) -> Floats:
        """Return the codes of all examples, (n, d)."""
        return np.concatenate(self.codes)

    def labels(self) -> NDArray[np.int64]:
        """Return the class of each example; of places that of the sample."""
        if self.examples is not None:
            return self.examples.labels
        known = getattr(self.p.sample, "signals", {}).get("label")
        count = sum(map(len, self.codes))
        if known is None or np.size(known.values) != count:
            return np.zeros(count, np.int64)
        return np.asarray(known.values).reshape(-1).astype(np.int64)

    def arrow(self) -> Floats | None:
        """Return the part of a regular code that turns like an arrow, (2, d): its first frequency; else None.

        Of several fields it is the one that says most of the examples.
        """
        if self.code_field is None or not isinstance(self.code_field.rep, Regular) or self.code_field.domain.placed:
            return None
        group = self.code_field.rep.group
        turns = [m for m in group.matrices if np.linalg.det(m) > 0]
        if len(turns) < 3:
            return None
        # h carries the unit arrow to its first column
        one = np.zeros((2, group.order))
        one[:, : len(turns)] = np.stack([m[:, 0] for m in turns], 1)
        codes = self.all_codes()
        blocks = codes.reshape(len(codes), -1, group.order)
        best = int(((blocks @ one.T) ** 2).sum((0, 2)).argmax())
        arrow = np.zeros((2, codes.shape[1]))
        arrow[:, best * group.order : (best + 1) * group.order] = one
        return arrow


def plain(values: Tensor) -> Floats:
    """Return codes as numbers, (n, d)."""
    found: Floats = values.detach().cpu().double().numpy()
    return found.reshape(len(found), -1)


def pictures(values: NDArray[Any]) -> NDArray[np.float32]:
    """Return images of one channel, (n, c, h, w) -> (n, h, w)."""
    return np.ascontiguousarray(values.mean(1) if values.ndim == 4 else values, np.float32)


def _parts(codes: Floats) -> list[Floats]:
    return [codes[k : k + BATCH] for k in range(0, len(codes), BATCH)]


@kept()
def coder(p: Prepared) -> Coder | None:
    """Return what encodes and decodes with a network; None where it has no code."""
    model: Any = p.model
    if not isinstance(model, Coding):
        return None
    layer = p.trace.by_name.get(LAYER)
    found = Coder(p, None, None)
    try:
        z = found.encoded(p.inputs)
        if layer is not None and LAYER in p.values and plain(p.values[LAYER]).shape == z.shape:
            found.code_field = layer.field  # else a part of the code is called so
        if not p.inputs.batched:
            return found if z.ndim == 2 and len(z) == p.inputs.places else None
        decoded = found.running(lambda: model.decode(found._tensor(z)))
        if len(z) != 1 or tuple(decoded.shape) != tuple(p.x.shape) or not np.isfinite(z).all():
            return None
    except Cancelled:
        raise
    except Exception:  # methods of these names do something else in somebody's own network
        return None
    examples = own_examples(model, tuple(p.x.shape[1:])) if hasattr(model, "examples") else _samples(p)
    if examples is None:
        return None
    if isinstance(examples, str):
        found.problem = examples
    else:
        found.examples = examples
    return found


def _samples(p: Prepared) -> Examples | None:
    """Return the program's own samples of that size, by their first tag, for a network without examples of its own."""
    found: list[tuple[NDArray[np.float32], str]] = []
    for spec in samples().values():
        if spec.domain == p.card.domain and len(found) < MOST_SAMPLES:
            values = spec.make().x.values
            if values.shape == tuple(p.x.shape[1:]):
                found.append((np.asarray(values, np.float32), spec.tags[0] if spec.tags else spec.domain))
    if not found:
        return None
    names = tuple(dict.fromkeys(tag for _, tag in found))
    labels = np.array([names.index(tag) for _, tag in found])
    return Examples(np.stack([v for v, _ in found]), labels, names, f"{len(found)} samples of the program")
