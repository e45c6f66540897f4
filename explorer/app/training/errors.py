"""The error of every layer of a network that learns, again and again, under one element on one sample."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn

from explorer.data.finding import find_sample, fitted
from explorer.declare.card import Card
from explorer.declare.elements import chain_element, chain_text, parse_chain
from explorer.equivariance import measure
from explorer.network.changing.precision import copied
from explorer.network.tracing.capture import capture
from explorer.network.tracing.running import evaluating
from explorer.square.preparing.prepare import prepare
from explorer.square.preparing.shown_first import shown_first


class LayerErrors:
    """Measures on a copy, and draws nothing that the training would: it stays what it is."""

    def __init__(self, card: Card, network: nn.Module, chain: str = "", sample: str = "", seed: int = 0) -> None:
        """Trace the network.

        Args:
            chain: the element, as on the command line; where it is empty or moves nothing, one that shows something of
                the sample.

        Raises:
            ValueError: the card takes no such sample, or its data no such element.
        """
        made = fitted(find_sample(sample or card.sample, seed), card.input)
        moves = chain and not chain_element(parse_chain(chain)).identity  # else every curve would be 0, as if it held
        self.chain = chain if moves else chain_text(shown_first(card, lambda: made))
        with torch.inference_mode(False), torch.random.fork_rng(devices=[]):
            self._p = prepare(card, copied(network), made, device=torch.device("cpu"), dtype=torch.float32, seed=seed)
        self._element = chain_element(parse_chain(self.chain)).on(self._p.inputs)
        self._moved = self._p.inputs.moved(self._element)
        self.layers = tuple(
            w for w in self._p.watched if (w.name in self._p.innermost or w.name == self._p.trace.output) and w.field
        )
        self.floor = {layer.name: self._p.float_floor[layer.name] for layer in self.layers}

    def of(self, network: nn.Module) -> Mapping[str, float]:
        """Return the cumulative error of each layer that has one."""
        model, names = self._p.model, [layer.name for layer in self.layers]
        model.load_state_dict(network.state_dict())
        found: dict[str, float] = {}
        with torch.random.fork_rng(devices=[]), evaluating(model), torch.no_grad():
            model.eval()
            clone = self._p.trace.clones
            values = capture(model, self._p.inputs, names, clone=clone)[0]
            answers = capture(model, self._moved, names, clone=clone)[0]
            for layer in self.layers:
                value = values[layer.name]
                expected = measure.expected_after(self._element, layer, value)
                if expected is None or layer.field is None or expected.shape != answers[layer.name].shape:
                    continue
                where = measure.mask(self._element, value, layer.field, layer.receptive)
                found[layer.name] = float(measure.distance(expected, answers[layer.name], where, layer.field).relative)
        return found
