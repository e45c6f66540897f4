"""Make the arguments of networks of language: numbers of tokens and masks, given by name."""

from __future__ import annotations

import numpy as np
import torch

from explorer.declare.inputs import Inputs
from explorer.declare.samples import Sample
from explorer.declare.types.fields import INVARIANT, FieldType
from explorer.network.input.arguments import ByName
from explorer.network.input.inputs import from_signals
from explorer.spaces.sequence.fields import Steps
from explorer.spaces.sequence.network.beside_ids import arguments
from explorer.spaces.sequence.network.form import IDS, ONES, SequenceInput, is_beside


def id_inputs(sample: Sample, form: SequenceInput, device: torch.device, dtype: torch.dtype) -> Inputs:
    """Return numbers of tokens, (1, steps), and beside them masks, other texts or numbers, as the names say.

    Of another text every token is the next one of the table: of two that are alike much holds for nothing. They are
    (steps, 1) for a network that has steps before the batch.
    """
    time = 0 if form.layout == "TNC" else 1
    ids = torch.from_numpy(np.asarray(sample.x.values)[:, 0].astype(np.int64)).unsqueeze(1 - time).to(device)
    named = form.names or (("x", IDS),)
    other = (ids + 1) % (form.channels or int(ids.max()) + 2)
    values = list(arguments(named, ids, "TN" if time == 0 else "NT", [other.clone() for _ in named]))
    fields = [FieldType(Steps(time)) if one in (IDS, ONES) else INVARIANT for _, one in named]
    beside = tuple(name for name, one in named if is_beside(one))
    own = from_signals(sample, beside, device, dtype).values if beside else ()
    for name, value in zip(beside, own, strict=True):
        values[[n for n, _ in named].index(name)] = value
    values = [v.to(dtype) if v.is_floating_point() else v for v in values]
    names = tuple(name for name, _ in named)
    return Inputs(tuple(values), tuple(fields), names, call=ByName(names) if form.names else None)
