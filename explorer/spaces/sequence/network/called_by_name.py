"""Make the arguments of networks of language: numbers of tokens and masks, given by name."""

from __future__ import annotations

import numpy as np
import torch

from explorer.declare.inputs import Inputs
from explorer.declare.samples import Sample
from explorer.declare.types.fields import FieldType
from explorer.network.input.arguments import ByName
from explorer.spaces.sequence.fields import Steps
from explorer.spaces.sequence.network.form import SequenceInput


def id_inputs(sample: Sample, form: SequenceInput, device: torch.device) -> Inputs:
    """Return numbers of tokens, (1, steps), and beside them a mask of ones or another text, as the names say.

    Of another text every token is the next one of the table: of two that are alike much holds for nothing. They are
    (steps, 1) for a network that has steps before the batch.
    """
    time = 0 if form.layout == "TNC" else 1
    ids = torch.from_numpy(np.asarray(sample.x.values)[:, 0].astype(np.int64)).unsqueeze(1 - time).to(device)
    names = form.names or ("x",)
    other = (ids + 1) % (form.channels or int(ids.max()) + 2)
    values = tuple(
        torch.ones_like(ids) if "mask" in name else ids if not k else other.clone() for k, name in enumerate(names)
    )
    call = ByName(names) if form.names else None
    return Inputs(values, (FieldType(Steps(time)),) * len(values), names, call=call)
