"""Remember which arguments a network refuses whatever stands beside them, so that they are not tried once more."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

Call = Callable[[nn.Module, tuple[Tensor, ...]], Any]


class Nothing:
    """A stand-in in the place of an argument that a network is thought not to look at."""


class Refusals:
    """Combinations of arguments that a network has refused.

    A wrong width of the first argument is refused hundreds of times over, beside all that the others could be, and
    each refusal of torch takes milliseconds. So each is asked once which arguments it is about: where a network says
    the same of what stands in the place of an argument that is nothing at all, it did not look at that one.
    """

    def __init__(self) -> None:
        self._known: list[tuple[tuple[int, Hashable], ...]] = []

    def know(self, forms: Sequence[Hashable]) -> bool:
        """Return whether such arguments will be refused, as others with a part of them were."""
        return any(all(forms[k] == form for k, form in one) for one in self._known)

    def heard(self, call: Call, forms: Sequence[Hashable]) -> Call:
        """Return a call that remembers why it is refused.

        Args:
            forms: what each argument is.
        """

        def hearing(network: nn.Module, given: tuple[Tensor, ...]) -> Any:
            try:
                return call(network, given)
            except (torch.OutOfMemoryError, KeyboardInterrupt):
                raise
            except Exception as error:  # a forward of somebody else's may raise anything
                about = _about(call, network, given, error)
                self._known.append(tuple((k, forms[k]) for k in about))
                raise

        return hearing


def _about(call: Call, network: nn.Module, given: Sequence[Any], error: Exception) -> list[int]:
    """Return the places of the arguments without which a network refuses otherwise."""
    held, about = list(given), []
    for k in range(len(given)):
        instead = [*held[:k], Nothing(), *held[k + 1 :]]
        if _said(call, network, instead) == (type(error), str(error)):
            held = instead
        else:
            about.append(k)
    return about


def _said(call: Call, network: nn.Module, given: Sequence[Any]) -> tuple[type[Exception], str] | None:
    try:
        call(network, tuple(given))
    except (torch.OutOfMemoryError, KeyboardInterrupt):
        raise
    except Exception as error:  # as above
        return type(error), str(error)
    return None
