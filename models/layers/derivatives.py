"""Tell whether anybody asks for derivatives: where nobody does, a quicker way may be taken."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd import forward_ad


def differentiated(*tensors: Tensor) -> bool:
    """Return whether derivatives with respect to some tensors are asked for, in reverse or forward mode."""
    learning = torch.is_grad_enabled() and any(t.requires_grad for t in tensors)
    return learning or any(forward_ad.unpack_dual(t).tangent is not None for t in tensors)
