"""The data of an audit in any of the forms that a person gives it in, and one sentence about every other form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from explorer.declare.fields import FieldType, Scalar, domain_word, grid
from explorer.declare.symmetries import Symmetry
from explorer.equivariance.stimulus import stimulus
from explorer.network.inputs import Inputs, graph_inputs

Data = Tensor | Sequence[int] | Sequence[Tensor] | Inputs | Sequence[Inputs]
# of the public library, by domain: what makes inputs of plain tensors
MAKERS = {
    "grid": "equiscope.image(x)",
    "graph": "equiscope.graph(x, edge_index)",
    "set": "equiscope.graph(x)",
    "mesh": "equiscope.mesh(vertices, faces)",
    "time": "equiscope.sequence(x)",
}


def given_inputs(data: object, symmetry: Symmetry, group: str, x_field: FieldType | None, seed: int) -> list[Inputs]:
    """Return the inputs to measure on: one batch of images, or graphs, meshes or sequences one by one.

    Args:
        data: any of `Data`.
        symmetry, group: what acts on them, and what the caller calls it.
        x_field: the field of a tensor alone; a grid of scalars where that is None.

    Raises:
        ValueError: a form that is none of `Data`, or data that the group does not act on.
    """
    field = x_field or grid(Scalar())
    if isinstance(data, Tensor):
        found = [Inputs((data,), (field,))]
        _require(symmetry, group, found[0].domain, f"a tensor of shape {tuple(data.shape)} alone is taken for", data)
        return [_shown(x, seed) for x in found]
    if isinstance(data, Inputs):
        data = [data]
    if isinstance(data, np.ndarray):
        raise ValueError("the data is a NumPy array; give a tensor: torch.from_numpy(x)")
    if not isinstance(data, Sequence) or isinstance(data, str | bytes):
        kind = type(data).__name__
        raise ValueError(f"the data is of type {kind}; give a tensor of images, or make inputs: {_listed(symmetry)}")
    if data and all(isinstance(x, Inputs) for x in data):
        found = [x for x in data if isinstance(x, Inputs)]
        for x in found:
            _require(symmetry, group, x.domain, "the input is", x.x)
        return [_shown(x, seed) for x in found]
    if data and all(isinstance(x, Tensor) for x in data):
        tensors = [x for x in data if isinstance(x, Tensor)]
        _require(symmetry, group, "graph", f"a {type(data).__name__} of tensors is taken for", tensors[0])
        return [graph_inputs(tensors)]
    if all(isinstance(n, int) for n in data):
        shape = [n for n in data if isinstance(n, int)]
        _require(symmetry, group, "grid", "a shape asks for noise in the form of", None)
        return [Inputs((stimulus(shape, seed),), (field,))]
    kinds = ", ".join(dict.fromkeys(type(x).__name__ for x in data))
    raise ValueError(
        f"the data is a {type(data).__name__} of {kinds}; give one tensor, a shape, or inputs, of which there may be "
        f"several: {_listed(symmetry)}"
    )


def _shown(x: Inputs, seed: int) -> Inputs:
    """Return inputs that can show a fault; an image that is constant cannot."""
    return x if x.unbatched else x.with_x(stimulus(x.x, seed))


def _require(symmetry: Symmetry, group: str, domain: str, taken: str, x: Tensor | None) -> None:
    """Raise ValueError, with how to give it, where the group does not act on data of this domain."""
    if domain in symmetry.domains:
        return
    where = " or ".join(map(domain_word, symmetry.domains))
    shape = "" if x is None or "alone" in taken else f" with x of shape {tuple(x.shape)}"
    raise ValueError(f"{group} acts on a {where}, and {taken} a {domain_word(domain)}{shape}; give {_listed(symmetry)}")


def _listed(symmetry: Symmetry) -> str:
    makers = [MAKERS[domain] for domain in symmetry.domains if domain in MAKERS]
    return " or ".join(makers) or "equiscope.Inputs(values, fields)"
