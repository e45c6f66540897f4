"""Read a network as a chain of dense layers, where it is one: then its back-propagation can be written out."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from explorer.declare.inputs import Inputs
from explorer.network.tracing.running import evaluating
from explorer.network.tracing.walking import named_modules
from explorer.work.training.backprop import Chain, Dense, forward

ACTIVATIONS: dict[type[nn.Module], str] = {nn.Sigmoid: "sigmoid", nn.Tanh: "tanh", nn.ReLU: "relu"}
PASSED = (nn.Flatten, nn.Identity, nn.Dropout)  # change nothing of one example
MOST_UNITS, MOST_LAYERS = 64, 12  # that can be read
ROUNDING = 1e-4


def dense_chain(model: nn.Module, given: Inputs, labels: tuple[str, ...]) -> Chain | None:
    """Return the network as a chain; None where the chain does not give the network's own answer."""
    layers = _read(model)
    if not layers or layers[0].weight.shape[1] != given.x[0].numel() or len(given.arguments) != 1:
        return None
    x = given.x[0].detach().flatten().cpu().numpy().astype(np.float64)
    with evaluating(model), torch.no_grad():
        answer = model(given.x)
    found = forward(layers, x)[-1][2]
    if not isinstance(answer, torch.Tensor) or answer.shape != (1, len(found)):
        return None
    if not np.allclose(answer[0].cpu().numpy(), found, rtol=ROUNDING, atol=ROUNDING):
        return None
    return Chain(tuple(layers), x, labels if len(labels) == len(found) else ())


def _read(model: nn.Module) -> list[Dense]:
    """Return the dense layers in the order in which they are made, each with the activation behind it."""
    layers: list[Dense] = []
    for name, module in named_modules(model):
        if module._modules or isinstance(module, PASSED):
            continue
        if type(module) is nn.Linear:
            if max(module.weight.shape) > MOST_UNITS or len(layers) == MOST_LAYERS:
                return []
            weight = module.weight.detach().cpu().numpy().astype(np.float64)
            bias = np.zeros(len(weight)) if module.bias is None else module.bias.detach().cpu().numpy()
            layers.append(Dense(name, weight, bias.astype(np.float64), "none"))
        elif type(module) in ACTIVATIONS and layers and layers[-1].activation == "none":
            last = layers[-1]
            layers[-1] = Dense(last.name, last.weight, last.bias, ACTIVATIONS[type(module)])
        else:
            return []
    return layers
