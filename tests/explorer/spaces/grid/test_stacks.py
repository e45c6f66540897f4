"""Maps with channels on several axes, as capsules have them, or on none, as masks have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from equiscope import check_equivariance
from explorer.declare.elements import NoAction
from explorer.declare.types.field_text import parse_field
from explorer.declare.types.fields import FieldType
from explorer.network.tracing.trace import trace
from explorer.spaces.grid.elements.affine import Affine
from explorer.spaces.grid.fields import grid
from explorer.spaces.grid.stacks import Stack

SHAPES = {Stack(2): (2, 3, 4, 5, 6), Stack(1, 1): (2, 3, 5, 6, 4), Stack(0, 2): (2, 5, 6, 3, 4), Stack(0): (2, 5, 6)}


@pytest.mark.parametrize(("stack", "shape"), SHAPES.items(), ids=str)
def test_places_are_found_on_their_axes_and_put_back(stack: Stack, shape: tuple[int, ...]) -> None:
    values = torch.rand(shape)
    maps = stack.spread(values)
    assert maps.shape == (2, stack.channels(shape), 5, 6)
    assert torch.equal(stack.gathered(maps, values), values)
    places = torch.zeros(5, 6)
    places[1, 2] = 1.0
    assert torch.equal(stack.spread(stack.masked(values, places)), maps * places)


@pytest.mark.parametrize("stack", [*SHAPES, replace(Stack(2), step=2.0)], ids=str)
def test_its_text_is_read_back(stack: Stack) -> None:
    assert parse_field(str(FieldType(stack))) == FieldType(stack)


class Made(nn.Module):
    def __init__(self, form: Callable[[Tensor], Tensor], mode: str = "circular") -> None:
        super().__init__()
        self.conv, self.form = nn.Conv2d(1, 12, 3, padding=1, padding_mode=mode), form

    def forward(self, x: Tensor) -> Tensor:
        return self.form(self.conv(x)[..., ::2, ::2])


FORMS: dict[str, tuple[Callable[[Tensor], Tensor], str]] = {
    "capsules": (lambda h: h.unflatten(1, (3, 4)), "stack scalar /2 2+0"),
    "places before vectors": (lambda h: h.unflatten(1, (3, 4)).permute(0, 1, 3, 4, 2), "stack scalar /2 1+1"),
    "a mask without channels": (lambda h: h.sum(1), "stack scalar /2 0+0"),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_trial_tells_where_the_places_of_an_answer_lie(name: str) -> None:
    form, text = FORMS[name]
    torch.manual_seed(0)
    sound, faulty = Made(form), Made(form, "zeros")
    x = torch.rand(2, 1, 16, 16)
    found = trace(sound.eval(), x, grid())
    assert str(found[found.output].field) == text
    held, broken = (check_equivariance(network, x, "translation", boundary="circular") for network in (sound, faulty))
    # the step between places is known of this very map alone
    assert (broken.verdict, broken.guilty) == ("broken", ("conv",))
    assert held.verdict == "holds"


def test_which_of_several_axes_turns_with_the_image_is_not_guessed() -> None:
    """The orientations of a group convolution may be any of them."""
    turn, values = Affine((0.0, -1.0, 1.0, 0.0)), torch.rand(1, 3, 4, 5, 5)
    with pytest.raises(NoAction, match="may turn with the image"):
        turn.act(values, FieldType(Stack(2), guessed=True))
    turned = turn.act(values, FieldType(Stack(2)))
    assert turned.shape == values.shape and not torch.equal(turned, values)
    shift = Affine(shift=(1.0, 0.0))
    assert not torch.equal(shift.act(values, FieldType(Stack(2), guessed=True)), values)
